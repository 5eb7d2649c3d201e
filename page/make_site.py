#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the page together:  page/make_site.py COMPILED SITE   (by Debian's Python, which has fontTools; WOFF2 needs brotli)

Copies the static files of page/site and the compiled library of COMPILED into SITE, with the characters of Debian's Inter typeface that the
page uses, and writes into the service worker which files there are and a
digest of them all, so that a browser that was here before takes the new ones.
"""

import gzip
import hashlib
import pathlib
import shutil
import subprocess
import sys

MOST = 1_000_000  # bytes of all files, compressed by gzip, which every web server has
TYPEFACE = pathlib.Path("/usr/share/fonts/opentype/inter")
LICENCE = pathlib.Path("/usr/share/doc/fonts-inter/copyright")
# The letters of English, the Greek and mathematical signs of the field, superscripts, punctuation, arrows. Others come from the reader's system.
CHARACTERS = (
    "U+20-7E,U+A0,U+A7,U+B0-B7,U+D7,U+E4,U+E9,U+F6-F7,U+FC,U+394,U+3A6,U+3B1,U+3B2,U+3B4,U+3B5,U+3BC,U+3C1,U+3C3,"
    "U+2010-2014,U+2018,U+2019,U+201C,U+201D,U+2026,U+2070-207F,U+2080-2089,U+2190-2193,U+2212,U+221E,U+2248,U+2260,U+2264,U+2265,U+22C5"
)


def add_typeface(folder):
    folder.mkdir()
    shutil.copy(LICENCE, folder / "licence.txt")
    for weight, name in (("400", "Regular"), ("600", "SemiBold")):
        file = folder / f"inter-{weight}.woff2"
        command = [sys.executable, "-m", "fontTools.subset", str(TYPEFACE / f"Inter-{name}.otf"), f"--unicodes={CHARACTERS}", "--flavor=woff2", f"--output-file={file}"]
        subprocess.run([*command, "--layout-features=kern,tnum,cv05,ss03", "--no-hinting", "--desubroutinize"], check=True)


def main(compiled, site):
    source = pathlib.Path(__file__).resolve().parent / "site"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(source, site)
    for name in ("tradeoff.js", "tradeoff.wasm"):
        shutil.copy(compiled / name, site / name)
    add_typeface(site / "fonts")
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file() and path.name != "service_worker.js")
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + b"\0" + (site / name).read_bytes())
    worker = site / "service_worker.js"
    text = worker.read_text().replace("@VERSION@", digest.hexdigest()[:16]).replace('"@FILES@"', ", ".join(f'"{name}"' for name in names))
    worker.write_text(text)
    size = sum(len(gzip.compress((site / name).read_bytes(), 9)) for name in [*names, "service_worker.js"])
    print(f"{site}: {len(names) + 1} files, {size / 1000:.0f} kB compressed by gzip")
    if size > MOST:
        sys.exit(f"the page has {size} bytes compressed; at most {MOST} are allowed")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
