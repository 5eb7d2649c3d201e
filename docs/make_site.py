# SPDX-License-Identifier: Apache-2.0
"""Prepares the documentation site: the pages of docs/, the reference made from the program, and formulas set as formulas.

    make_site.py COMMAND FOLDER     writes FOLDER/source and FOLDER/mkdocs.yml; run by docs/build
    make_site.py --finish FOLDER    puts the formulas into the built site
"""

import html
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from formulas import Formulas, finish

ROOT = Path(__file__).resolve().parent.parent

# The topics of the index, by the folder of the first file that a page names; the first match counts.
TOPICS = [
    ("Trade-off functions and curves", ("src/curve/", "src/operators/duality", "src/operators/invert", "src/loss/", "src/analyze/")),
    ("Mechanisms", ("src/mechanism/",)),
    ("Sampling, groups, mixtures and other operators", ("src/operators/",)),
    ("Composition by contours", ("src/engine/contour/", "src/engine/hyperbolic/", "src/transform/")),
    ("Composition, exact and on lattices", ("src/engine/",)),
    ("Gaussian differential privacy and mu", ("src/gdp/",)),
    ("Limit theorems and other accountants", ("src/limit/",)),
    ("Calibration", ("src/calibrate/",)),
    ("Exact noise, releases and training", ("src/noise/", "src/train/")),
    ("Budgets", ("src/ledger/",)),
    ("Risk and statements", ("src/report/", "src/ask/")),
    ("Certified arithmetic", ("src/numeric/",)),
]
OTHER_TOPIC = "Other"


def link_theorems(text, known, own):
    """`[gaussian-profile]` becomes a link to its page."""
    cited = lambda m: f"[{m.group(1)}]({m.group(1)}.md)" if m.group(1) in known and m.group(1) != own else m.group(0)
    return re.sub(r"(?<!\])\[([a-z0-9]+(?:-[a-z0-9]+)+)\](?!\()", cited, text)


def ask(command, *arguments):
    return subprocess.run([command, *arguments], capture_output=True, text=True, check=True, timeout=60).stdout


def verbs_page(command):
    names = re.findall(r"^  ([a-z]+) {2,}", ask(command, "--help"), re.MULTILINE)
    parts = [f"## {name}\n\n```text\n{ask(command, name, '--help').strip()}\n```\n" for name in names]
    return "# Verbs\n\nWhat `tradeoff VERB --help` prints.\n\n" + "\n".join(parts)


def mechanisms_page(command):
    titles = {"source": "Sources: what can be run on the data", "operator": "Operators: what can follow after a `|`", "tail": "Tails of a profile"}
    words = json.loads(ask(command, "mechanisms", "--json"))
    text = "# Mechanisms\n\nThe words of the plan language, as `tradeoff mechanisms` lists them.\n"
    for role, title in titles.items():
        text += f"\n## {title}\n"
        for word in (word for word in words if word["role"] == role):
            whose = f" ({word['neighbours']} neighbours)" if word["neighbours"] != "unstated" else ""
            text += f"\n### {word['name']}\n\n`{word['usage']}`: {word['meaning']}{whose}.\n\n"
            for argument in word["arguments"]:
                default = f" (default `{argument['default']}`)" if "default" in argument else ""
                text += f"- `{argument['name']}`: {argument['meaning']}{default}\n"
    return text


def normalised_lists(text):
    """Lists as Python-Markdown reads them: a blank line before a list, four blanks before what belongs to an item."""
    lines, offset, fenced, loose = [], 0, False, False  # loose: the item has several paragraphs
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        start = re.match(r"([-*] +|[0-9]+\. +)\S", line)
        if fenced or not line.strip():
            lines.append(line)
            loose = loose or offset > 0
            continue
        if start:
            if (not offset or loose) and lines and lines[-1].strip():
                lines.append("")
            loose = False
            offset = len(start.group(1))
            lines.append(line)
            continue
        indent = len(line) - len(line.lstrip())
        if offset and indent >= offset:
            lines.append(" " * 4 + line[offset:])
            continue
        if offset and lines[-1].strip():  # the rest of an item, not indented
            lines.append(line)
            continue
        offset = 0
        lines.append(line)
    return "\n".join(lines)


def topic_of(page):
    code = re.search(r"^- Code: (\S+)", page, re.MULTILINE)
    first = code.group(1) if code else ""
    return next((topic for topic, folders in TOPICS if first.startswith(folders)), OTHER_TOPIC)


def topic_index(theorems, topics):
    text = ""
    for topic in [*(name for name, _ in TOPICS), OTHER_TOPIC]:
        members = [one for one in theorems if topics[one["id"]] == topic]
        if members:
            text += f"\n### {topic}\n\n| theorem | what it says |\n|---|---|\n"
            text += "".join(f"| [{one['id']}]({one['id']}.md) | {one['title']} |\n" for one in members)
    return text


def read_literature(text):
    """(the name under which a work is cited, the work, its links), longer names first, so that they are found first."""
    rows = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in text.splitlines() if line.startswith("| ") and "](" in line]
    return sorted(rows, key=lambda row: -len(row[0]))


STATEMENT = r"(?:Theorem|Proposition|Lemma|Corollary|Definition|Algorithm|Conjecture|equation|section)s? [0-9][0-9.]*(?:(?:,| and| to)? ?[0-9][0-9.]*)*"


def citations(source, names):
    """Which works a source line cites, each with the statements named after it."""
    places = []
    for name in names:
        for match in re.finditer(re.escape(name), source):
            if not any(start <= match.start() < end for start, end, _ in places):
                places.append((match.start(), match.end(), name))
    places.sort()
    found = {}
    for i, (_, end, name) in enumerate(places):
        until = places[i + 1][0] if i + 1 < len(places) else len(source)
        part = source[end:until].split("; ")[0]
        found.setdefault(name, []).extend(one.rstrip(".") for one in re.findall(STATEMENT, part))
    return found


def paper_index(theorems, literature):
    """One table for each cited work: its statements and the pages that use them."""
    names = [row[0] for row in literature]
    cited = {}
    for one in theorems:
        for name, statements in citations(one["source"], names).items():
            cited.setdefault(name, []).append((", ".join(statements), one))
    text = ""
    for name, work, links in sorted(literature, key=lambda row: (-len(cited.get(row[0], [])), row[0])):
        if name not in cited:
            continue
        rows = sorted(cited[name], key=lambda row: [int(n) for n in re.findall(r"[0-9]+", row[0])] or [10**6])
        text += f"\n### {name}\n\n{work}. {links}\n\n| statement | page |\n|---|---|\n"
        text += "".join(f"| {statements or 'cited'} | [{one['id']}](theory/{one['id']}.md): {one['title']} |\n" for statements, one in rows)
    return text


def link_source(page, literature):
    """The names of cited works in the line `- Source:` become links."""
    line = re.search(r"^- Source: .*$", page, re.MULTILINE)
    if line is None:
        return page
    text, done = line.group(0), set()
    for name, _, links in literature:
        address = re.search(r"\]\(([^)]*)\)", links).group(1)
        if name in text and not any(name in longer for longer in done):
            text = text.replace(name, f"[{name}]({address})", 1)
            done.add(name)
    return page[: line.start()] + text + page[line.end() :]


def fence_examples(text):
    """Examples in docstrings, from `>>>` to a blank line or the end, as code blocks."""
    return re.sub(r'((?:^ *>>> .*\n(?:^ *(?!""")\S.*\n)*)+)', lambda m: fenced_example(m.group(1)), text, flags=re.MULTILINE)


def fenced_example(block):
    indent = re.match(r" *", block).group(0)
    return f"{indent}```pycon\n{block}{indent}```\n"


def python_page():
    return "# Python\n\n::: tradeoff\n    options:\n      show_root_heading: false\n      show_source: false\n      members_order: alphabetical\n      heading_level: 2\n"


STYLE = """.formula .katex{font-size:1.08em}
.formula-line{display:block;margin:.6em 0 .6em 2em;overflow-x:auto}
.formula-line .katex-display{margin:0;text-align:left}
.formula-line .katex-display>.katex{text-align:left}
.md-grid{max-width:78rem}
.md-typeset pre>code{line-height:1.25;white-space:pre}
.md-typeset img[src$=".svg"]{max-width:100%}
.output{border-left:3px solid var(--md-default-fg-color--lightest);padding-left:1rem;overflow-x:auto}
"""

CONFIG = {
    "site_name": "tradeoff",
    "docs_dir": "source",
    "site_dir": "site",
    "use_directory_urls": False,
    "extra_css": ["katex/katex.min.css", "style.css"],
    "theme": {
        "name": "material",
        "font": False,
        "features": ["navigation.tabs", "navigation.indexes", "content.code.copy", "search.suggest", "toc.follow"],
        "palette": [
            {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "blue grey", "toggle": {"icon": "material/weather-night", "name": "Dark"}},
            {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "blue grey", "toggle": {"icon": "material/weather-sunny", "name": "Light"}},
        ],
    },
    "markdown_extensions": ["tables", "attr_list", "md_in_html", "admonition", {"toc": {"permalink": True, "toc_depth": 2}}, "pymdownx.superfences"],
    "validation": {"links": {"unrecognized_links": "ignore", "not_found": "ignore", "anchors": "ignore"}, "nav": {"omitted_files": "ignore"}},
}


def navigation(theorems, topics):
    tutorials = ["training", "counts", "choosing", "meaning", "gaussian", "risk", "vendors", "tuning", "keys", "telemetry", "opacus", "census", "curves"]
    by_topic = [
        {topic: [f"theory/{one['id']}.md" for one in theorems if topics[one["id"]] == topic]}
        for topic in [*(name for name, _ in TOPICS), OTHER_TOPIC]
        if any(topics[one["id"]] == topic for one in theorems)
    ]
    return [
        {"Start": ["index.md", {"Install": "install.md"}]},
        {"Tutorials": [f"tutorials/{name}.md" for name in tutorials] + [{"Notebooks": ["notebooks/README.md", "notebooks/training_run.md", "notebooks/risk_of_a_release.md"]}]},
        {"How to": [{"How batches are drawn": "sampling.md"}, "howto/check.md", "howto/compare.md", "howto/correlated_noise.md", "howto/sparse_vector.md", "howto/secure_aggregation.md", "howto/own_curve.md", "howto/release.md", "howto/audit.md", "howto/opinion.md", {"The power of audits": "audit_power.md"}, {"Answers that fail": "peers_answers.md"}, "howto/ledger.md", "howto/scale.md", "howto/certify.md", "howto/programs.md", {"The page for browsers": "page.md"}, {"Train privately": "training/README.md"}, {"Train with PyTorch": "howto/torch.md"}, {"Use Python": "python.md"}]},
        {"Reference": ["reference/verbs.md", "reference/mechanisms.md", "reference/python.md", {"Security of noise": "security.md"}, {"When the environment fails": "faults.md"}, {"For packagers": "packaging.md"}, {"Adding a mechanism": "adding.md"}, {"Fuzzing": "fuzzing.md"}, "architecture.md", "assurance.md", "witness.md", "breaker.md", {"Mutation": "mutation.md"}, {"Coverage": "coverage.md"}, {"Beside other accountants": "benchmarks.md"}, {"Where the time goes": "performance.md"}]},
        {"Theory": [{"Theorems": "theory/README.md"}, {"By paper": "literature.md"}, {"Errata of the literature": "errata.md"}, {"How a page is written": "theory_pages.md"}] + by_topic},
        {"Gallery": "figures/README.md"},
    ]


def with_pictures(text, command, folder, name):
    """Terminal pictures of `curve --format term` become SVG files."""

    def draw(match):
        words = shlex.split(match.group(2).replace("\\\n", " "))
        if "curve" not in words or "term" not in words:
            return match.group(0)
        words = ["svg" if word == "term" else word for word in words[words.index("curve") :]]
        picture = folder / f"{name}-{match.start()}.svg"
        picture.write_text(ask(command, *words), encoding="utf-8")
        return f"{match.group(1)}$ {match.group(2)}\n```\n\n![{html.escape(' '.join(words[1:]))}]({picture.name})\n"

    return re.sub(r"(```[a-z]*\n)\$ ((?:[^\n]*\\\n)*[^\n]*)\n.*?```\n", draw, text, flags=re.DOTALL)


def notebook_page(path, folder):
    """A notebook with its stored outputs as a page; pictures go into files beside it."""
    text = ""
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text += source + "\n\n"
            continue
        text += f"```python\n{source}\n```\n\n"
        for part, output in enumerate(cell["outputs"]):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                picture = folder / f"{path.stem}-{number}-{part}.svg"
                picture.write_text("".join(data["image/svg+xml"]), encoding="utf-8")
                text += f"![output of the cell]({picture.name})\n\n"
            elif "text/html" in data:
                shown = re.sub(r"\n\s*\n", "\n", "".join(data["text/html"]))
                text += f'<div class="output">{shown}</div>\n\n'
            else:
                shown = "".join(output.get("text", data.get("text/plain", [])))
                text += f"```text\n{shown.rstrip()}\n```\n\n"
    return text


def main(command, folder):
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("build", "*.py", "__pycache__", "*.ipynb"))
    theorems = json.loads(ask(command, "theorems", "--json"))
    known = {one["id"] for one in theorems}
    literature = read_literature((source / "literature.md").read_text(encoding="utf-8"))
    formulas, topics = Formulas(), {}
    for page in [*sorted((source / "theory").glob("*.md")), source / "errata.md"]:
        text = page.read_text(encoding="utf-8")
        topics[page.stem] = topic_of(text)
        text = link_theorems(link_source(text, literature), known, page.stem)
        page.write_text(normalised_lists(formulas.set(text)), encoding="utf-8")
    rendered = formulas.render(folder)
    (folder / "formulas.json").write_text(json.dumps([[plain for plain, _, _ in formulas.found], rendered]), encoding="utf-8")
    refused = [plain for (plain, _, _), one in zip(formulas.found, rendered) if one is None]
    if len(refused) > len(formulas.found) / 100:
        sys.exit(f"KaTeX refuses {len(refused)} of {len(formulas.found)} formulas: {refused[:5]}")
    index = source / "theory" / "README.md"
    # What a reader looks for comes first; how pages are written is for contributors.
    introduction, form, rest = split_theory_readme(index.read_text(encoding="utf-8"))
    index.write_text(introduction + "\n## By topic\n" + topic_index(theorems, topics) + "\n" + rest, encoding="utf-8")
    (source / "theory_pages.md").write_text("# How a theory page is written\n\n" + form, encoding="utf-8")
    papers = source / "literature.md"
    papers.write_text(papers.read_text(encoding="utf-8").split("\n| cited as")[0] + "\n" + paper_index(theorems, literature), encoding="utf-8")
    for page in [*(source / "tutorials").glob("*.md"), *(source / "howto").glob("*.md")]:
        page.write_text(with_pictures(page.read_text(encoding="utf-8"), command, page.parent, page.stem), encoding="utf-8")
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        page = source / "notebooks" / f"{notebook.stem}.md"
        page.write_text(notebook_page(notebook, page.parent), encoding="utf-8")
    listed = source / "notebooks" / "README.md"
    listed.write_text(listed.read_text(encoding="utf-8").replace(".ipynb)", ".md)"), encoding="utf-8")
    shutil.copytree(folder / "node_modules" / "katex" / "dist" / "fonts", source / "katex" / "fonts", ignore=shutil.ignore_patterns("*.ttf", "*.woff"))
    shutil.copy(folder / "node_modules" / "katex" / "dist" / "katex.min.css", source / "katex" / "katex.min.css")
    (source / "reference").mkdir()
    (source / "reference" / "verbs.md").write_text(verbs_page(command), encoding="utf-8")
    (source / "reference" / "mechanisms.md").write_text(mechanisms_page(command), encoding="utf-8")
    (source / "reference" / "python.md").write_text(python_page(), encoding="utf-8")
    package = folder / "python" / "tradeoff"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "python" / "tradeoff", package)
    for module in package.rglob("*.py"):
        module.write_text(fence_examples(module.read_text(encoding="utf-8")), encoding="utf-8")
    (source / "style.css").write_text(STYLE, encoding="utf-8")
    python = {"mkdocstrings": {"handlers": {"python": {"paths": [str(folder.resolve() / "python")]}}}}
    config = {**CONFIG, "nav": navigation(theorems, topics), "plugins": ["search", python]}
    (folder / "mkdocs.yml").write_text(json.dumps(config, indent=1), encoding="utf-8")  # JSON is YAML


def split_theory_readme(text):
    """The introduction, the form of a page, and the tables of statements."""
    before, _, after = text.partition("\n## The form of a page\n")
    form, separator, rest = after.partition("\n## Statements of")
    return before, form, separator.lstrip("\n") + rest


if __name__ == "__main__":
    if sys.argv[1] == "--finish":
        plain, rendered = json.loads(Path(sys.argv[2], "formulas.json").read_text(encoding="utf-8"))
        finish(Path(sys.argv[2], "site"), plain, rendered)
    else:
        main(sys.argv[1], Path(sys.argv[2]))
