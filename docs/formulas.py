# SPDX-License-Identifier: Apache-2.0
"""Formulas in plain text, as the theory pages write them, turned into TeX for KaTeX.

A formula is code in backquotes or an indented line in which every word is a symbol, or a run of symbols with sub- or superscripts in
running text. The page gets a mark in its place; `Formulas.finish` puts what KaTeX made of it there, and the plain text into the index of
the search. What KaTeX refuses stays plain text.
"""

import html
import json
import re
import subprocess

GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau",
    "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Pi", "Sigma", "Phi", "Psi", "Omega",
}  # fmt: skip
NAMES = {**{name: f"\\{name} " for name in GREEK}, "epsilon": "\\varepsilon ", "eps": "\\varepsilon ", "phi": "\\varphi ", "infinity": "\\infty ",
         "Int": "\\int ", "Sum": "\\sum ", "Prod": "\\prod "}  # fmt: skip
FUNCTIONS = {"exp", "log", "sup", "inf", "max", "min", "lim", "limsup", "tanh", "cosh", "sinh", "Pr"}
OPERATORS = {"erfc", "Re", "Im", "Var", "sum", "prod", "mod"}
WORDS = {"if", "for", "all", "and", "or", "else", "of", "over", "where", "at", "in", "with", "is"}
SIGNS = {
    "<=": "\\le ", ">=": "\\ge ", "->": "\\to ", "+-": "\\pm ", "!=": "\\ne ", "...": "\\dots ", "*": "\\cdot ", "≤": "\\le ", "≥": "\\ge ",
    "→": "\\to ", "±": "\\pm ", "≠": "\\ne ", "…": "\\dots ", "·": "\\cdot ", "−": "-", "∞": "\\infty ", "∘": "\\circ ", "∫": "\\int ",
    "Σ": "\\sum ", "Π": "\\prod ", "√": "\\surd ", "∈": "\\in ", "×": "\\times ", "⊗": "\\otimes ", "′": "'", "%": "\\%", "&": "\\&", "#": "\\#", "~": "\\sim ",
    "²": "^{2}", "³": "^{3}", "₀": "_{0}", "₁": "_{1}", "₂": "_{2}", "₃": "_{3}", "∂": "\\partial ", "∅": "\\emptyset ", "≈": "\\approx ",
}  # fmt: skip
TOKEN = re.compile(r"\.\.\.|<=|>=|->|\+-|!=|[A-Za-z]+'*|[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?|\s+|.", re.DOTALL)
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*'?")


class Refused(ValueError):
    """Text that is no formula."""


def _group(tokens, at):
    """The TeX of what follows ^ or _: a group in brackets, or a sign and one symbol; and where it ends."""
    if at >= len(tokens):
        raise Refused("nothing to raise")
    if tokens[at] in "({":
        close, depth, end = {"(": ")", "{": "}"}[tokens[at]], 1, at + 1
        while end < len(tokens) and depth:
            depth += (tokens[end] == tokens[at]) - (tokens[end] == close)
            end += 1
        if depth:
            raise Refused("open bracket")
        return _tex(tokens[at + 1 : end - 1]), end
    start = at
    if tokens[at] in "+-−":
        at += 1
    if at >= len(tokens) or tokens[at].isspace():
        raise Refused("nothing to raise")
    end = at + 1
    while end + 1 < len(tokens) and tokens[end] == "_":  # e^mu_1
        end += 2
    if end < len(tokens) and re.match(r"[A-Za-z0-9]", tokens[end]) and re.match(r"[A-Za-z0-9.]", tokens[end - 1][-1]):
        end += 1  # e^2t
    return _tex(tokens[start:end]), end


def _symbol(token, as_subscript=False):
    base, primes = token.rstrip("'"), "'" * (len(token) - len(token.rstrip("'")))
    if base in NAMES:
        return NAMES[base] + primes
    if base in FUNCTIONS:
        return f"\\{base} "
    if base in OPERATORS:
        return f"\\operatorname{{{base}}}"
    if base in WORDS:
        return f"\\text{{ {base} }}"
    if base == "sqrt":
        return "\\sqrt"
    if len(base) <= 2:
        return base + primes
    if as_subscript:
        return f"\\mathrm{{{base}}}" + primes
    raise Refused(f"the word {base}")


def _tex(tokens, as_subscript=False):
    out, at = [], 0
    while at < len(tokens):
        token = tokens[at]
        if token in "^_" and token:
            if at == 0:
                raise Refused("a sign without a base")
            inner = [tokens[at + 1]] if token == "_" and at + 1 < len(tokens) and tokens[at + 1] not in "({" else None
            if inner is not None:
                body, at = _tex(inner, as_subscript=True), at + 2
            else:
                body, at = _group(tokens, at + 1)
            out.append(f"{token}{{{body}}}")
            continue
        if token.rstrip("'") == "sqrt":
            following = at + 1
            if following < len(tokens) and tokens[following] in "({":
                body, at = _group(tokens, following)
                out.append(f"\\sqrt{{{body}}}")
                continue
            raise Refused("a root of nothing")
        if token.isspace():
            out.append(" ")
        elif token in SIGNS:
            out.append(SIGNS[token])
        elif token[0].isalpha() and token.isascii():
            out.append(_symbol(token, as_subscript))
        elif token in "{}":
            out.append("\\" + token)
        elif token in "\\$`\"@;":
            raise Refused(f"the sign {token}")
        else:
            out.append(token)
        at += 1
    return "".join(out)


def to_tex(text):
    """The formula in TeX; Refused if it is none."""
    return _tex(TOKEN.findall(text.strip()))


def is_symbol(word):
    base, *subscripts = word.rstrip("'").split("_")
    known = lambda part: part in NAMES or part in FUNCTIONS | OPERATORS | WORDS | {"sqrt"} or re.fullmatch(r"[A-Za-z]{1,2}[0-9]*|[0-9]+", part)
    return len(subscripts) <= 1 and all(known(part) for part in (base, *subscripts))


def is_formula(text):
    """Mathematics, not code: every word is a symbol, and something beyond a name is said."""
    bare = re.sub(r"[\^_]\{[^{}]*\}", "", text)
    if re.search(r"::|->\w|[{};\"`#]|/\*|\w\.\w*[a-z]|//|--", bare):
        return False
    if not all(is_symbol(word) for word in WORD.findall(re.sub(r"[{}]", " ", text).replace("_ ", "_"))):
        return False
    return re.search(r"[=<>^+(\[]|_|[≤≥−·∞]|\b(?:" + "|".join(GREEK) + r")\b", text) is not None


# A word of running text that belongs to a formula: Greek letters, single letters, numbers, functions, operators, brackets.
_MATH = r"[A-Za-z0-9α-ωΑ-Ω(){}\[\]|^_+*/=<>≤≥−·∘∞…'′²³₀-₉,.:√∫∈×~-]"


def _is_mathy(word):
    word = word.rstrip(";")
    core = word.strip("()[]{},.;:|")
    if re.search(r"[\^_=<>≤≥−·∘∞√∫∈×]|[α-ωΑ-Ω]", word) and re.fullmatch(_MATH + "+", word):
        return all(is_symbol(one) for one in WORD.findall(re.sub(r"[\^_]\{[^{}]*\}", "", word)))
    return bool(re.fullmatch(r"[0-9.]+|[b-zB-HJ-Z]|[-+/*=]|log|exp|min|max|sup|inf", core)) and re.fullmatch(_MATH + "+", word) is not None


def _balanced(text):
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))


class Formulas:
    """The formulas of all pages, each under a mark."""

    def __init__(self):
        self.found = []  # (plain text, TeX, whether it stands alone)

    def _mark(self, plain, display=False):
        try:
            tex = to_tex(plain)
        except Refused:
            return None
        self.found.append((plain.strip(), tex, display))
        return f"xformula{len(self.found) - 1}x"

    def _inline_code(self, match):
        text = match.group(1)
        return (self._mark(text) if is_formula(text) else None) or match.group(0)

    def _in_prose(self, line):
        """Runs of mathematical words with a sub- or superscript among them; what is in backquotes, links or HTML stays."""
        parts = re.split(r"(`[^`]*`|\[[^\]]*\]\([^)]*\)|<[^>]*>|xformula\d+x)", line)
        return "".join(part if i % 2 else self._in_plain(part) for i, part in enumerate(parts))

    def _in_plain(self, text):
        words = re.split(r"( +)", text)
        out, run = [], []

        def flush():
            while run and (run[-1].isspace() or run[-1] in "-+/*="):
                out_tail.insert(0, run.pop())
            joined = "".join(run)
            tail = re.search(r"[,.;:]*$", joined).group(0)
            body = joined[: len(joined) - len(tail)] if tail else joined
            mark = self._mark(body) if re.search(r"[\^_][{(A-Za-z0-9α-ωΑ-Ω]|[₀-₉²³∘]", body) and _balanced(body) else None
            out.append((mark + tail) if mark else joined)
            out.extend(out_tail)
            run.clear()
            out_tail.clear()

        out_tail = []
        for word in words:
            if run and word.isspace():
                run.append(word)
            elif word and not word.isspace() and _is_mathy(word):
                run.append(word)
                if word[-1] in ",.;:" and len(word) > 1:
                    flush()
            else:
                flush()
                out.append(word)
        flush()
        return "".join(out)

    def set(self, text):
        """The page with marks for its formulas. Fenced blocks, headings and tables of files stay."""
        lines, fenced = [], False
        for line in text.split("\n"):
            fenced ^= line.lstrip().startswith("```")
            if fenced or line.startswith(("- Code:", "- Tests:", "- Id:", "- Source:", "    - ")):
                lines.append(line)
                continue
            stripped = line.strip()
            indent = len(line) - len(line.lstrip())
            if indent >= 4 and stripped and not stripped.startswith(("-", "*", "1", "`", "|")) and is_formula(stripped.rstrip(",.")):
                mark = self._mark(stripped, True)
                if mark:
                    # A line of its own; inside a list it stays inside.
                    lines += ["", " " * (indent - 4) + f'<span class="formula-line">{mark}</span>', ""]
                    continue
            marked = re.sub(r"`([^`]+)`", self._inline_code, line)
            bullet = re.match(r" *(?:[-*] |[0-9]+\. )?", marked).group(0)
            plain = line.startswith(("#", "|", "    "))
            lines.append(marked if plain else bullet + self._in_prose(marked[len(bullet) :]))
        return "\n".join(lines)

    def render(self, folder):
        """Lets KaTeX set all formulas; `folder` holds node_modules/katex. None where it refuses."""
        program = """
const katex = require('katex');
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(input.map(([tex, displayMode]) => {
  try { return katex.renderToString(tex, {displayMode, output: 'html', strict: 'ignore'}); } catch (error) { return null; }
})));"""
        asked = json.dumps([[tex, display] for _, tex, display in self.found])
        run = subprocess.run(["node", "-e", program], input=asked, capture_output=True, text=True, check=True, cwd=folder, timeout=120)
        return json.loads(run.stdout)


def finish(site, plain, rendered):
    """Puts the set formulas into the pages of a built site, and their plain text into its index of the search and into titles."""

    def in_page(match):
        number = int(match.group(1))
        if rendered[number] is None:
            return f"<code>{html.escape(plain[number], quote=False)}</code>"
        return f'<span class="formula" role="math" aria-label="{html.escape(plain[number])}">{rendered[number]}</span>'

    def in_text(match):
        return plain[int(match.group(1))]

    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if "xformula" in text:
            head, body, rest = text.partition("<body")
            page.write_text(re.sub(r"xformula(\d+)x", in_text, head) + body + re.sub(r"xformula(\d+)x", in_page, rest), encoding="utf-8")
    for index in site.rglob("search_index.json"):
        quoted = lambda match: json.dumps(in_text(match))[1:-1]
        index.write_text(re.sub(r"xformula(\d+)x", quoted, index.read_text(encoding="utf-8")), encoding="utf-8")
