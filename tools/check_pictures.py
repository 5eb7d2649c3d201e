#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares how statements and pages of the site look with stored pictures.

Each page is shown in Chromium in a window of 1300 pixels and, beside it, in one of 400, light and dark, at a quarter of its size. Pictures are
compared by the mean colours of cells of eight by eight pixels: small changes of a few words pass, a moved table, a lost picture or a wrong
colour does not. On a machine with other fonts every line breaks elsewhere, so nothing is compared there.

    tools/check_pictures.py COMMAND SITE              exit 1 and one line for each page that looks different; the new pictures are in build/pictures
    tools/check_pictures.py --update COMMAND SITE     stores the pictures of today in tests/pictures; look at them before you commit them
    tools/check_pictures.py --self-test               proves on seeded faults that the check can fail
"""

import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "tests" / "pictures"
SHOWN = ROOT / "build" / "pictures"
WIDTHS = (1300, 400)
HEIGHT = 1600
CELL = 8
FAR = 20  # a larger difference of a mean colour, of 255, is seen
MOST = 0.02  # of the cells may look different: a sentence more or less
FONTS = ("16px sans-serif", "16px monospace", "16px system-ui")

SITE_PAGES = (
    "index.html", "tutorials/census.html", "theory/index.html", "theory/gaussian-profile.html", "reference/verbs.html", "reference/python.html",
    "notebooks/training_run.html", "figures/index.html",
)  # fmt: skip
TRAINING = "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)"
TABLE = "region,count\nNorth,1203\nSouth,877\nEast,1541\nWest,96\n"
STATEMENTS = {
    "statement-training": ["--unit", "one picture", TRAINING],
    "statement-table": ["--title", "Population counts 2026", "--unit", "one person", "--neighbours", "add-remove", "--date", "2026-11-17",
                        "--contact", "privacy@office.example", "--released", "published.csv", "--rows", "disjoint", "gaussian(sigma=2)"],
    "statement-compared": ["laplace(scale=1)", "--compare", "dp(epsilon=1, delta=1e-5)", "--compare", "gaussian(sigma=2) | repeat(3)"],
}  # fmt: skip


def browser():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def run_browser(folder, page, *more, profile="light"):
    wrapper = Path(folder, "wrapper.html")
    wrapper.write_text(page, encoding="utf-8")
    arguments = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/{profile}"]
    arguments += ["--allow-file-access-from-files", "--virtual-time-budget=8000", *more, wrapper.as_uri()]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120).stdout


def picture_of(folder, page, dark):
    """Both widths side by side, as (width, height, rows of RGB)."""
    frames = "".join(f'<iframe src="{page.as_uri()}" style="width:{width}px;height:{HEIGHT}px;border:0;float:left"></iframe>' for width in WIDTHS)
    target = Path(folder, "shot.png")
    target.unlink(missing_ok=True)
    size = f"--window-size={sum(WIDTHS)},{HEIGHT}"
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    shown = f"<!doctype html><style>body{{margin:0}}</style>{frames}"
    profile = "dark" if dark else "light"  # the site remembers what it showed last
    run_browser(folder, shown, scheme, size, "--force-device-scale-factor=0.25", f"--screenshot={target}", profile=profile)
    return read_png(target.read_bytes()) if target.exists() else None


def fonts(folder):
    """The widths of a sentence in the fonts of this machine."""
    script = "const c = document.createElement('canvas').getContext('2d'); document.body.textContent = 'measured ' + JSON.stringify(FONTS.map(f => { c.font = f; return Math.round(c.measureText('Sphinx of black quartz, judge my vow: 0.123456789').width * 10); }));"
    found = re.search(r"measured (\[[^\]]*\])", run_browser(folder, f"<!doctype html><body><script>{script.replace('FONTS', json.dumps(FONTS))}</script></body>", "--dump-dom"))
    return json.loads(found.group(1)) if found else []


def read_png(data):
    """An 8-bit RGB or RGBA picture without interlacing, which is what Chromium and write_png write."""
    position, packed, size, channels = 8, b"", None, 3
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position : position + 8])
        chunk = data[position + 8 : position + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunk)
            if depth != 8 or colour not in (2, 6) or interlaced:
                raise SystemExit("pictures: an unknown kind of PNG")
            size, channels = (width, height), 3 if colour == 2 else 4
        elif kind == b"IDAT":
            packed += chunk
        position += 12 + length
    raw, stride, rows, above = zlib.decompress(packed), size[0] * channels, [], bytearray(size[0] * channels)
    for y in range(size[1]):
        filtered = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for i in range(stride if filtered else 0):
            left, up = row[i - channels] if i >= channels else 0, above[i]
            corner = above[i - channels] if i >= channels else 0
            if filtered == 1:
                guess = left
            elif filtered == 2:
                guess = up
            elif filtered == 3:
                guess = (left + up) // 2
            else:
                slope = left + up - corner
                guess = min((left, up, corner), key=lambda one: (abs(slope - one), (left, up, corner).index(one)))
            row[i] = (row[i] + guess) & 255
        rows.append(bytes(row) if channels == 3 else bytes(value for i, value in enumerate(row) if i % 4 != 3))
        above = row
    return (*size, rows)


def write_png(picture):
    """With 16 shades of a colour, which the comparison cannot tell from 256, and which take less space."""
    width, height, rows = picture
    shade = bytes(min(255, (value + 8) // 16 * 16) for value in range(256))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    raw = b"".join(b"\0" + row.translate(shade) for row in rows)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def cells(picture):
    width, height, rows = picture
    means = []
    for top in range(0, height - CELL + 1, CELL):
        for left in range(0, width - CELL + 1, CELL):
            part = b"".join(row[3 * left : 3 * (left + CELL)] for row in rows[top : top + CELL])
            means.append(tuple(sum(part[channel::3]) / CELL**2 for channel in range(3)))
    return means


def difference(one, other):
    """The fraction of the cells that look different."""
    if one[:2] != other[:2]:
        return 1.0
    pairs = list(zip(cells(one), cells(other)))
    return sum(any(abs(a - b) > FAR for a, b in zip(first, second)) for first, second in pairs) / len(pairs)


def pages(command, site, folder):
    Path(folder, "published.csv").write_text(TABLE, encoding="utf-8")
    for name, arguments in STATEMENTS.items():
        page = Path(folder, name + ".html")
        run = subprocess.run([command, "report", "--out", page.name, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            raise SystemExit(f"{name}: {run.stderr}")
        yield name, page
    for name in SITE_PAGES:
        yield "site-" + name.removesuffix(".html").replace("/", "-").lower(), (Path(site) / name).resolve()


def faults(command, site, update):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        mine, record = fonts(folder), STORED / "fonts.json"
        if not update and (not record.exists() or json.loads(record.read_text(encoding="utf-8")) != mine):
            print("pictures: this machine has other fonts than the stored pictures, nothing compared")
            return
        SHOWN.mkdir(parents=True, exist_ok=True)
        STORED.mkdir(parents=True, exist_ok=True)
        wanted = set()
        for name, page in pages(Path(command).resolve(), site, folder):
            if not page.exists():
                yield f"{name}: there is no {page}"
                continue
            for scheme in ("light", "dark"):
                file = f"{name}-{scheme}.png"
                wanted.add(file)
                picture = picture_of(folder, page, scheme == "dark")
                if picture is None:
                    yield f"{file}: the browser did not show the page"
                    continue
                (SHOWN / file).write_bytes(write_png(picture))
                if update:
                    (STORED / file).write_bytes(write_png(picture))
                elif not (STORED / file).exists():
                    yield f"{file}: no stored picture"
                elif (part := difference(picture, read_png((STORED / file).read_bytes()))) > MOST:
                    yield f"{file}: {part:.1%} of it looks different; compare build/pictures/{file} with tests/pictures/{file}"
        for file in STORED.glob("*.png"):
            if file.name not in wanted and update:
                file.unlink()
            elif file.name not in wanted:
                yield f"{file.name}: stored, but no page is shown so"
        if update:
            record.write_text(json.dumps(mine) + "\n", encoding="utf-8")


def self_test():
    text = "<p>" + "A statement about privacy, with several words. " * 3 + "</p>"
    style = "<style>:root{color-scheme:light dark}body{font:16px sans-serif;background:#fff}@media(prefers-color-scheme:dark){body{background:#000;color:#fff}}</style>"
    good = f"<!doctype html><html><head>{style}</head><body><h1>Title</h1>{text * 6}<table border=1>{'<tr><td>cell<td>1.25' * 20}</table></body></html>"
    changed = {
        "the same": (good, False, True),
        "another word": (good.replace("several", "many", 1), False, True),
        "a moved table": (good.replace("<table", "<div style='height:300px'></div><table"), False, False),
        "a lost table": (re.sub(r"<table.*</table>", "", good), False, False),
        "dark for light": (good, True, False),
        "wider than the window": (good.replace("<td>1.25", "<td><div style='width:900px;background:#c00'>1.25</div>"), False, False),
    }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder, "page.html")

        def shown(text, dark):
            page.write_text(text, encoding="utf-8")
            return picture_of(folder, page, dark)

        stored = read_png(write_png(shown(good, False)))
        for name, (text, dark, alike) in changed.items():
            part = difference(shown(text, dark), stored)
            if (part <= MOST) != alike:
                yield f"{name}: {part:.1%} of it looks different, and that is {'too much' if alike else 'not found'}"
        if len(fonts(folder)) != len(FONTS):
            yield "the fonts were not measured"


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if browser() is None:
        print("pictures: no browser here, nothing checked")
        sys.exit(0)
    if sys.argv[1:] == ["--self-test"]:
        found = list(self_test())
    elif len(given) == 2:
        found = list(faults(given[0], given[1], "--update" in sys.argv))
    else:
        sys.exit(__doc__)
    print("\n".join(found) if found else "pictures: clean")
    sys.exit(1 if found else 0)
