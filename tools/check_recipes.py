#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the recipes of packaging/ as their own tools do, without building them:  tools/check_recipes.py [TREE]

conda: rendered by rattler-build's parser (PyPI: py-rattler-build) with conda-forge's C library, for this machine and for others. vcpkg: the port is run by CMake with
functions that record what vcpkg's own would be given. Container file: parsed (PyPI: dockerfile-parse), and its packages looked up in apt.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import dockerfile_parse
import rattler_build

# Each function of vcpkg prints its name and arguments; the options are those of a build with both features.
RECORDER = """cmake_minimum_required(VERSION 3.25)
function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "OUT_FEATURE_OPTIONS" "FEATURES")
  set(found)
  list(LENGTH given_FEATURES length)
  math(EXPR last "${length} - 1")
  foreach(i RANGE 1 ${last} 2)
    list(GET given_FEATURES ${i} option)
    list(APPEND found -D${option}=ON)
  endforeach()
  set(${given_OUT_FEATURE_OPTIONS} ${found} PARENT_SCOPE)
endfunction()
foreach(name IN ITEMS cmake_configure cmake_install cmake_config_fixup fixup_pkgconfig copy_tools install_copyright)
  cmake_language(EVAL CODE "function(vcpkg_${name})
  list(JOIN ARGN \\" \\" words)
  message(\\"vcpkg_${name} \\${words}\\")
endfunction()")
endforeach()
"""


def check(condition, message):
    if not condition:
        sys.exit(f"check_recipes: {message}")


def check_conda(tree, version):
    variants = rattler_build.VariantConfig({"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]})
    for target in ("linux-64", "linux-aarch64", "osx-arm64"):
        platforms = rattler_build.PlatformConfig(target_platform=target, build_platform="linux-64", host_platform=target)
        stage = rattler_build.Stage0Recipe.from_file(str(tree / "packaging/conda/recipe.yaml"))
        (rendered,) = stage.render(variants, render_config=rattler_build.RenderConfig(platform=platforms))
        recipe = rendered.recipe.to_dict()
        check((recipe["package"]["name"], str(recipe["package"]["version"])) == ("tradeoff", version), "conda: another name or version")
        contents = next(one["package_contents"]["files"] for one in recipe["tests"] if "package_contents" in one)
        # A cross build has no manual page, because the program writes it and does not run there.
        check(("share/man/man1/tradeoff.1" in contents) == (target == "linux-64"), f"conda: the files for {target} are {contents}")
    return f"conda: {recipe['package']['name']} {version}"


def check_vcpkg(tree, version):
    port = tree / "packaging/vcpkg/tradeoff"
    manifest = json.loads((port / "vcpkg.json").read_text(encoding="utf-8"))
    check(manifest["version"] == version, "vcpkg: another version")
    options = set(re.findall(r"^option\((\w+)", (tree / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE))
    with tempfile.TemporaryDirectory() as place:
        script = pathlib.Path(place, "run.cmake")
        script.write_text(
            f"{RECORDER}\nset(CURRENT_PORT_DIR {port})\nset(CURRENT_PACKAGES_DIR {place}/packages)\nset(FEATURES ledger tools)\n"
            f"include({port}/portfile.cmake)\n",
            encoding="utf-8",
        )
        done = subprocess.run(["cmake", "-P", str(script)], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"vcpkg: {done.stderr}")
    calls = dict(line.split(" ", 1) for line in done.stderr.splitlines() if " " in line)
    check(pathlib.Path(calls["vcpkg_cmake_configure"].split()[1]).resolve() == tree, "vcpkg: SOURCE_PATH is not the tree")
    given = set(re.findall(r"-D(TRADEOFF_\w+)=", calls["vcpkg_cmake_configure"]))
    check(given and given <= options, f"vcpkg: options {given - options} do not exist")
    check(set(manifest["features"]) == {"ledger", "tools"}, "vcpkg: other features")
    return f"vcpkg: {len(calls)} calls, options {' '.join(sorted(given))}"


def check_container(tree):
    parser = dockerfile_parse.DockerfileParser(fileobj=(tree / "packaging/Containerfile").open("rb+"))
    lines = [(one["instruction"], one["value"]) for one in parser.structure if one["instruction"] != "COMMENT"]
    known = {"FROM", "RUN", "COPY", "USER", "WORKDIR", "ENTRYPOINT"}
    check({name for name, _ in lines} <= known, f"container: {({name for name, _ in lines}) - known}")
    check(json.loads(dict(lines)["ENTRYPOINT"]) == ["tradeoff"], "container: another entry point")
    packages = {word for name, value in lines if name == "RUN" for part in re.findall(r"--no-install-recommends ([^&]*)", value) for word in part.split()}
    missing = [one for one in sorted(packages) if subprocess.run(["apt-cache", "show", one], capture_output=True, check=False).returncode != 0]
    check(packages and not missing, f"container: Debian has no package {missing}")
    return f"container: {len(lines)} instructions, {len(packages)} packages"


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parents[1]
    stated = re.search(r'TRADEOFF_VERSION "([^"]+)"', (root / "include/tradeoff/version.h").read_text(encoding="utf-8"))[1]
    print(check_conda(root, stated), check_vcpkg(root, stated), check_container(root), sep="\n")
