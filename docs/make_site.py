# SPDX-License-Identifier: Apache-2.0
"""Prepares the documentation site: the pages of docs/, the reference made from the program, and formulas set as formulas.

    make_site.py COMMAND FOLDER     writes FOLDER/source and FOLDER/mkdocs.yml; run by docs/build
"""

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eps": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "infinity": "∞", "Int": "∫", "Sum": "Σ", "Prod": "Π", "sqrt": "√",
}  # fmt: skip
FUNCTIONS = {"exp", "log", "sup", "inf", "max", "min", "lim", "limsup", "erfc", "tanh", "cosh", "sinh", "sum", "prod", "sqrt", "if", "for", "all",
             "and", "or", "else", "mod", "of", "over", "where", "at", "in", "with", "is", "Re", "Im", "Var", "Pr", "dx", "dm"}  # fmt: skip
SIGNS = [("<=", "≤"), (">=", "≥"), ("->", "→"), ("+-", "±"), ("!=", "≠"), ("...", "…"), (" - ", " − "), (" * ", " · ")]
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*'?")


def is_symbol(word):
    base, *subscripts = word.rstrip("'").split("_")
    known = lambda part: part in GREEK or part in FUNCTIONS or re.fullmatch(r"[A-Za-z]{1,2}[0-9]*|[0-9]+", part)
    return len(subscripts) <= 1 and all(known(part) for part in (base, *subscripts))


def is_formula(text):
    """Mathematics, not code: every word is a symbol, and something beyond a name is said."""
    if re.search(r"::|->\w|[{};\"`#]|/\*|\w\.\w*[a-z]|//|--", text):
        return False
    return all(is_symbol(word) for word in WORD.findall(text)) and re.search(r"[=<>^+(\[]|_|\b(?:" + "|".join(GREEK) + r")\b", text) is not None


def set_word(match):
    base, *subscript = match.group(0).split("_")
    shown = GREEK.get(base.rstrip("'"), base.rstrip("'")) + ("′" if base.endswith("'") else "")
    if base in FUNCTIONS and base not in GREEK:
        shown = f'<span class="upright">{shown}</span>'
    return shown + (f"<sub>{GREEK.get(subscript[0], subscript[0])}</sub>" if subscript else "")


def set_formula(text):
    """HTML of a formula written in plain text: Greek letters, sub- and superscripts, signs."""
    for plain, sign in SIGNS:
        text = text.replace(plain, sign)
    shown = WORD.sub(set_word, html.escape(text, quote=False).replace("&lt;", "\x01").replace("&gt;", "\x02").replace("&amp;", "\x03"))
    power = r"\^(\([^()]*\)|-?(?:[A-Za-z0-9.]|[^\x00-\x7f]|<sub>[^<]*</sub>)+)"
    shown = re.sub(power, lambda m: "<sup>" + m.group(1).removeprefix("(").removesuffix(")") + "</sup>", shown)
    shown = re.sub(r"(?<!\w)-(?=[\w(])", "−", shown)
    return shown.replace("\x01", "&lt;").replace("\x02", "&gt;").replace("\x03", "&amp;")


def set_formulas(text):
    """The page with its formulas set. Fenced blocks stay; of indented blocks and code in running text, those that are formulas change."""
    lines, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        if fenced or line.startswith("- Code:") or line.startswith("- Tests:"):
            lines.append(line)
        elif line.startswith("    ") and not line.strip().startswith(("-", "*", "1", "`")) and is_formula(line.strip()):
            lines += [f'<div class="formula">{set_formula(line.strip())}</div>', ""]
        else:
            inline = lambda m: f'<span class="formula">{set_formula(m.group(1))}</span>' if is_formula(m.group(1)) else m.group(0)
            lines.append(re.sub(r"`([^`]+)`", inline, line))
    return "\n".join(lines)


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


def theory_index(theorems):
    rows = "".join(f"| [{one['id']}]({one['id']}.md) | {one['title']} |\n" for one in theorems)
    return "| theorem | what it says |\n|---|---|\n" + rows


def fence_examples(text):
    """Examples in docstrings, from `>>>` to a blank line or the end, as code blocks."""
    return re.sub(r'((?:^ *>>> .*\n(?:^ *(?!""")\S.*\n)*)+)', lambda m: fenced_example(m.group(1)), text, flags=re.MULTILINE)


def fenced_example(block):
    indent = re.match(r" *", block).group(0)
    return f"{indent}```pycon\n{block}{indent}```\n"


def python_page():
    return "# Python\n\n::: tradeoff\n    options:\n      show_root_heading: false\n      show_source: false\n      members_order: alphabetical\n      heading_level: 2\n"


STYLE = """.formula{font-family:'STIX Two Text','Latin Modern Math',Georgia,'DejaVu Serif',serif;font-style:italic;white-space:normal}
.formula .upright,.formula sub,.formula sup{font-style:normal}
.formula sub,.formula sup{font-size:.72em;line-height:0}
div.formula{margin:.5em 0 .5em 2em;overflow-x:auto}
.md-grid{max-width:78rem}
.md-typeset pre>code{line-height:1.25}
@media (min-width:60em){.md-typeset pre>code{white-space:pre-wrap}}
.md-typeset img[src$=".svg"]{max-width:100%}
"""

CONFIG = {
    "site_name": "tradeoff",
    "docs_dir": "source",
    "site_dir": "site",
    "use_directory_urls": False,
    "extra_css": ["style.css"],
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


def navigation(theorems):
    tutorials = ["training", "counts", "choosing", "meaning", "gaussian", "risk", "vendors"]
    return [
        {"Start": "index.md"},
        {"Tutorials": [f"tutorials/{name}.md" for name in tutorials]},
        {"How to": [{"How batches are drawn": "sampling.md"}, "howto/check.md", "howto/compare.md", "howto/correlated_noise.md", "howto/sparse_vector.md", "howto/secure_aggregation.md", "howto/own_curve.md", "howto/release.md", "howto/audit.md", "howto/opinion.md", {"The power of audits": "audit_power.md"}, {"Answers that fail": "peers_answers.md"}, "howto/ledger.md", "howto/certify.md", "howto/programs.md", {"The page for browsers": "page.md"}, {"Train privately": "training/README.md"}, {"Use Python": "python.md"}]},
        {"Reference": ["reference/verbs.md", "reference/mechanisms.md", "reference/python.md", {"Security of noise": "security.md"}, {"When the environment fails": "faults.md"}, {"Adding a mechanism": "adding.md"}, {"Fuzzing": "fuzzing.md"}, "architecture.md", "assurance.md", "witness.md", "breaker.md", {"Mutation": "mutation.md"}, {"Coverage": "coverage.md"}, {"Beside other accountants": "benchmarks.md"}, {"Where the time goes": "performance.md"}]},
        {"Theory": [{"Theorems": "theory/README.md"}, {"Errata of the literature": "errata.md"}] + [f"theory/{one['id']}.md" for one in theorems]},
        {"Gallery": "figures/README.md"},
    ]


def main(command, folder):
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("build", "*.py", "__pycache__", "*.ipynb"))
    theorems = json.loads(ask(command, "theorems", "--json"))
    known = {one["id"] for one in theorems}
    for page in [*sorted((source / "theory").glob("*.md")), source / "errata.md"]:
        page.write_text(set_formulas(link_theorems(page.read_text(encoding="utf-8"), known, page.stem)), encoding="utf-8")
    index = source / "theory" / "README.md"
    index.write_text(index.read_text(encoding="utf-8") + "\n## All theorems\n\n" + theory_index(theorems), encoding="utf-8")
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
    config = {**CONFIG, "nav": navigation(theorems), "plugins": ["search", python]}
    (folder / "mkdocs.yml").write_text(json.dumps(config, indent=1), encoding="utf-8")  # JSON is YAML


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
