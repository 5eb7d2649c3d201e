#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every #include obeys the order of the rooms, and that private headers declare in tradeoff::detail.

A file may include its own room, the rooms before it, and the public headers. Public headers include only each other.
The library uses the standard library alone; the front ends may use what OUTSIDE lists for them.

    tools/check_layers.py [TREE]        exit 1 and one line for each fault
    tools/check_layers.py --self-test   proves on seeded faults that the check can fail
"""

import re

import checking

ROOMS = ["numeric", "plan", "loss", "transform", "mechanism", "engine", "operators", "curve", "gdp", "analyze", "limit", "calibrate", "noise", "c", "report", "ledger", "audit", "ask", "figures", "train", "cli"]

# Headers from outside the standard library, by the room that may use them; the reasons are in docs/adr/0005.
OUTSIDE = {
    "noise": ("sys/random.h", "sys/mman.h", "unistd.h", "windows.h", "bcrypt.h", "cpuid.h", "immintrin.h"),  # entropy, pages cleared on fork, vector instructions
    "report": ("nlohmann/",),
    "ledger": ("sqlite3.h", "dlfcn.h", "fcntl.h", "sys/mount.h", "sys/vfs.h", "unistd.h"),  # the stores; libpq is loaded, its header is not needed
    "train": ("Eigen/",),
    "cli": ("nlohmann/", "CLI/", "fcntl.h", "poll.h", "spawn.h", "unistd.h", "sys/", "io.h", "windows.h", "mach-o/dyld.h"),  # the terminal, pipes and other programs are POSIX
}

# Standard headers that the compilers we support do not have (docs/adr/0001), or that certify nothing (docs/adr/0002).
BANNED = {"format", "ranges", "source_location", "expected", "print", "stacktrace", "cfenv", "fenv.h"}

# The one place that undoes another rounding mode than the usual one, rather than using any.
# The header for C has C's own names of the standard headers. An instruction replaces a wrong function of another C library.
# The locale of a thread, for an older C++ library, is POSIX.
EXCEPTIONS = {
    ("src/numeric/floating_point_guard.cpp", "cfenv"), ("include/tradeoff/c.h", "stddef.h"), ("src/numeric/windows_libm.cpp", "immintrin.h"),
    ("src/numeric/conversions.h", "locale.h"), ("src/numeric/conversions.h", "xlocale.h"),
}

# The operators on Interval, which argument-dependent lookup must find beside the type.
OUTSIDE_DETAIL = {"src/numeric/arithmetic.h"}
NAMESPACE = re.compile(r"^namespace tradeoff(?!::detail\b)[\w:]* \{", re.MULTILINE)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
STANDARD = re.compile(r"[a-z0-9_]+")


def fault_of(room, bracket, header):
    """Why a file of `room` ('public' for include/) may not include `header`, or None."""
    if header.startswith("tradeoff/"):
        return None
    if bracket == "<":
        if any(header.startswith(name) for name in OUTSIDE.get(room, ())):
            return None
        if header in BANNED:
            return f"<{header}> is not available everywhere or not sound (docs/adr)"
        return None if STANDARD.fullmatch(header) else f"<{header}> is not the standard library"
    target = header.split("/")[0] if "/" in header else room
    if room == "public":
        return f'a public header includes the private "{header}"'
    if target not in ROOMS:
        return f'"{header}" names no room (use <> for what is not ours)'
    if ROOMS.index(target) > ROOMS.index(room):
        return f"room {room} comes before {target} and may not know it"
    return None


def room_of(path):
    """'public', a room, or None for a file that lies in no room."""
    if path.parts[:2] == ("include", "tradeoff"):
        return "public"
    room = path.parts[1] if path.parts[0] == "src" and len(path.parts) > 2 else path.parts[0]
    return room if room in ROOMS else None


def faults_in(tree):
    for file in checking.source_files(tree, "include", "src", "cli"):
        path = file.relative_to(tree)
        room = room_of(path)
        if room is None:
            yield f"{path}: lies in no room"
            continue
        text = file.read_text(encoding="utf-8")
        for include in INCLUDE.finditer(text):
            fault = fault_of(room, include[1], include[2])
            if fault and (path.as_posix(), include[2]) not in EXCEPTIONS:
                line = text.count("\n", 0, include.start(2)) + 1
                yield f"{path}:{line}: {fault}"
        if room != "public" and file.suffix == ".h" and path.as_posix() not in OUTSIDE_DETAIL:
            for opened in NAMESPACE.finditer(text):
                yield f"{path}:{text.count(chr(10), 0, opened.start()) + 1}: a private header declares outside tradeoff::detail"


ALLOWED = {
    "include/tradeoff/curve.h": '#include <vector>\n#include "tradeoff/interval.h"\n',
    "src/operators/duality.cpp": '#include "operators/duality.h"\n#include "numeric/root.h"\n#include "tradeoff/curve.h"\n#include <cmath>\n',
    "src/operators/duality.h": "namespace tradeoff::detail {\n",
    "src/numeric/arithmetic.h": "namespace tradeoff {\n",
    "src/report/json.cpp": "#include <nlohmann/json.hpp>\n",
    "src/numeric/floating_point_guard.cpp": "#include <cfenv>\n",
    "src/train/model.cpp": '#include <Eigen/Core>\n#include "noise/grid_noise.h"\n',
    "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "report/json.h"\n#include "verbs.h"\n',
}
REFUSED = {
    "a later room": {"src/numeric/root.cpp": '#include "operators/duality.h"\n'},
    "the command line from a room": {"src/report/svg.cpp": '#include "cli/verbs.h"\n'},
    "json in the library": {"src/curve/parse.cpp": "#include <nlohmann/json.hpp>\n"},
    "matrices in the library": {"src/noise/release.cpp": "#include <Eigen/Core>\n"},
    "a foreign library": {"src/engine/lattice/lattice.cpp": "#include <fftw3.h>\n"},
    "rounding modes": {"src/gdp/measure.cpp": "  #  include <cfenv>\n"},
    "a private header in a public one": {"include/tradeoff/plan.h": '#include "plan/lexer.h"\n'},
    "private code in the public namespace": {"src/limit/renyi.h": "namespace tradeoff {\n"},
    "a private namespace beside detail": {"src/noise/coin.h": "namespace tradeoff::noise {\n"},
    "a file in no room": {"src/cellar/wine.cpp": ""},
    "a header in no room": {"src/limit/clt.cpp": '#include "attic/trunk.h"\n'},
}

if __name__ == "__main__":
    checking.run("layers", faults_in, ALLOWED, REFUSED)
