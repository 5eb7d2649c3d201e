#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the built documentation site: no dead link, nothing from another host, every formula set, a search index that finds.

    tools/check_site.py FOLDER          exit 1 and one line for each fault
    tools/check_site.py --self-test     proves on seeded faults that the check can fail
"""

import json
import re
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

WANTED = ("gaussian-profile", "opacus", "calibrate", "install")  # words that a reader looks for


class Page(HTMLParser):
    """The links of a page, the files that it loads, and the places that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        for name in ("id", "name"):
            if given.get(name):
                self.places.add(given[name])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "link" and given.get("href") and given.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(given["href"])
        if tag in ("img", "script", "iframe", "source") and given.get("src"):
            self.loads.append(given["src"])


def faults_of(site):
    pages = {page.resolve(): Page(page.read_text(encoding="utf-8")) for page in site.rglob("*.html") if "page" not in page.relative_to(site).parts[:1]}
    for path, page in sorted(pages.items()):
        name = path.relative_to(site.resolve())
        is_root = name.name == "404.html"  # it is served for any address, so its addresses are those of the root
        for address in page.loads:
            if urlsplit(address).netloc:
                yield f"{name}: loads {address} from another host"
            elif not address.startswith("data:") and not is_root and not _file(path, address).exists():
                yield f"{name}: loads {address}, which is not there"
        if not is_root:
            yield from (f"{name}: {fault}" for fault in _dead_links(path, page, pages, site))
        text = path.read_text(encoding="utf-8")
        if re.search(r"xformula\d+x", text):
            yield f"{name}: a formula was not set"
    for style in site.rglob("*.css"):
        for address in re.findall(r"url\(([^)]*)\)", style.read_text(encoding="utf-8")):
            address = address.strip("'\" ")
            if re.match(r"https?:|//", address):
                yield f"{style.relative_to(site)}: loads {address} from another host"
            elif not address.startswith(("data:", "#")) and "katex" in style.parts and address.endswith(".woff2") and not _file(style, address).exists():
                yield f"{style.relative_to(site)}: loads {address}, which is not there"
    yield from _search_faults(site)


def _file(page, address):
    return (page.parent / unquote(urlsplit(address).path)).resolve()


def _dead_links(path, page, pages, site):
    for address in page.links:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = _file(path, address) if parts.path else path
        if parts.path and target.is_dir():
            target = target / "index.html"
        if parts.path.split("/")[0] == "page" or (site / "page").resolve() in target.parents:
            continue  # the page for browsers is built where its compiler is installed
        if not target.exists():
            yield f"dead link {address}"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places | {"__skip", "top"}:
            yield f"link {address} to a place that is not on that page"


def _search_faults(site):
    index = site / "search" / "search_index.json"
    if not index.exists():
        yield "no index for the search"
        return
    text = index.read_text(encoding="utf-8")
    if re.search(r"xformula\d+x", text):
        yield "a mark of a formula is in the index of the search"
    found = " ".join(one["title"] + " " + one["text"] for one in json.loads(text)["docs"]).lower()
    yield from (f"the search does not find {word}" for word in WANTED if word not in found)


def self_test():
    index = json.dumps({"docs": [{"title": "x", "text": " ".join(WANTED)}]})
    good = {"index.html": '<html><body><h1 id="a">x</h1><a href="b.html#c">y</a><img src="x.svg"></body></html>',
            "b.html": '<p id="c"></p>', "x.svg": "<svg/>", "search/search_index.json": index}  # fmt: skip
    cases = {
        "good": ({}, 0),
        "dead link": ({"index.html": '<a href="no.html">'}, 1),
        "dead place": ({"index.html": '<a href="b.html#d">'}, 1),
        "missing picture": ({"index.html": '<img src="no.svg">'}, 1),
        "another host": ({"index.html": '<script src="https://example.org/x.js"></script>'}, 1),
        "formula left": ({"b.html": '<p id="c">xformula3x</p>'}, 1),
        "search without words": ({"search/search_index.json": '{"docs": []}'}, len(WANTED)),
    }
    for name, (changed, wanted) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {**good, **changed}.items():
                path = Path(folder, file)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found = list(faults_of(Path(folder)))
            if len(found) != wanted:
                yield f"{name}: {len(found)} faults instead of {wanted}: {found}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    faults = list(self_test() if sys.argv[1] == "--self-test" else faults_of(Path(sys.argv[1])))
    print("\n".join(faults) if faults else "site: clean")
    sys.exit(1 if faults else 0)
