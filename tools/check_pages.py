#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens reports in a browser and checks their layout.

Nothing may be wider than the window, on a telephone (400 pixels) and on a desk (1400); a reader who prefers dark pages gets one. On paper
a statement without its appendix takes at most two pages.

    tools/check_pages.py COMMAND        exit 1 and one line for each fault; COMMAND is the built command line
    tools/check_pages.py --self-test    proves on seeded faults that the check can fail
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTHS = (400, 1400)
PLANS = {
    "training": ["gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)"],
    "compared": ["laplace(scale=1)", "--compare", "dp(epsilon=1, delta=1e-5)", "--compare", "gaussian(sigma=2) | repeat(3)"],
    "long": ["; ".join(f"gaussian(sigma={n}.{'123456789' * 3})" for n in range(1, 9)), "--title", "W" * 200, "--unit", "x" * 200],
}

FRONTS = ("training", "compared", "good", "too long")  # statements of an ordinary length

# The page stands in a frame of each width; what its script measures is left in the document for us to read.
PROBE = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const page = PAGE, widths = WIDTHS, found = [];
function measure(width) {
  return new Promise(resolve => {
    const frame = document.createElement('iframe');
    frame.style.cssText = `width:${width}px;height:900px;border:0`;
    frame.onload = () => {
      const root = frame.contentDocument.documentElement;
      const paper = frame.contentWindow.getComputedStyle(frame.contentDocument.body).backgroundColor;
      found.push({width, shown: root.clientWidth, needed: root.scrollWidth, paper});
      resolve();
    };
    frame.srcdoc = page;
    document.body.append(frame);
  });
}
(async () => {
  for (const width of widths) await measure(width);
  document.body.textContent = 'measured ' + JSON.stringify(found);
})();
</script></body>"""


def browser():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def measure(page, folder, dark):
    """What the browser says about the page, one entry a width."""
    probe = Path(folder, "probe.html")
    text = json.dumps(page).replace("</", "<\\/")
    probe.write_text(PROBE.replace("PAGE", text, 1).replace("WIDTHS", json.dumps(WIDTHS), 1), encoding="utf-8")
    arguments = [browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--virtual-time-budget=10000"]
    arguments += [f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--window-size=1600,1000", "--dump-dom", probe.as_uri()]
    run = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    found = re.search(r"measured (\[.*?\])<", run.stdout)
    return json.loads(html.unescape(found.group(1))) if found else []


def printed_pages(page, folder):
    """How many sheets of paper the page takes without its appendix."""
    front = page.replace("</style>", ".appendix,.appendix~*{display:none}</style>", 1)
    source, target = Path(folder, "print.html"), Path(folder, "print.pdf")
    source.write_text(front, encoding="utf-8")
    arguments = [browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--no-pdf-header-footer"]
    subprocess.run([*arguments, f"--print-to-pdf={target}", source.as_uri()], capture_output=True, timeout=120)
    return len(re.findall(rb"/Type\s*/Page\b", target.read_bytes())) if target.exists() else 0


def is_dark(colour):
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) < 3 * 96


def page_faults(name, page):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for dark in (False, True):
            found = measure(page, folder, dark)
            if len(found) != len(WIDTHS):
                yield f"{name}: the browser did not show the page"
                return
            for one in found:
                if one["needed"] > one["shown"]:
                    yield f"{name}: {one['needed']} pixels wide in a window of {one['width']}"
            if is_dark(found[0]["paper"]) != dark:
                yield f"{name}: {'light' if dark else 'dark'} paper for a reader who prefers the other"
        sheets = printed_pages(page, folder)
        if name in FRONTS and not 1 <= sheets <= 2:
            yield f"{name}: {sheets} pages in print before the appendix, instead of one or two"
    if re.search(r"<script|<link|\bsrc=|@import|url\(", page):
        yield f"{name}: the page needs something from outside"


def reports(command):
    for name, arguments in PLANS.items():
        run = subprocess.run([command, "report", "--format", "html", *arguments], capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            raise SystemExit(f"{name}: {run.stderr}")
        yield name, run.stdout


def self_test():
    style = "<style>:root{color-scheme:light dark}body{background:#fff}@media(prefers-color-scheme:dark){body{background:#000}}</style>"
    good = "<!DOCTYPE html><html><head><title>x</title>" + style + "</head><body>text</body></html>"
    cases = {
        "good": (good, 0),
        "too wide": (good.replace("text", "<div style='width:600px'>text</div>"), 2),
        "never dark": (good.replace("background:#000", "background:#fff"), 1),
        "too long": (good.replace("text", "<p>text</p>" * 400), 1),
        "from outside": (good.replace("text", "<img src='https://example.org/x.png' width=1>"), 1),
    }
    for name, (page, wanted) in cases.items():
        faults = list(page_faults(name, page))
        if len(faults) != wanted:
            yield f"{name}: {len(faults)} faults instead of {wanted}: {faults}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if browser() is None:
        print("pages: no browser here, nothing checked")
        sys.exit(0)
    if sys.argv[1] == "--self-test":
        faults = list(self_test())
    else:
        faults = [fault for name, page in reports(sys.argv[1]) for fault in page_faults(name, page)]
    print("\n".join(faults) if faults else "pages: clean")
    sys.exit(1 if faults else 0)
