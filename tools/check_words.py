#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what is written by hand about the words of the plan language agrees with the library's own table.

The table is what `tradeoff mechanisms --json` prints. Held against it: the functions of the Python package and its exports, the methods of its
plans, the builder of plans in C++, the dictionary of the plan fuzzer, and the arguments that the checker of certificates knows.

    tools/check_words.py COMMAND [TREE]   exit 1 and one line for each fault; COMMAND is the built command line
    tools/check_words.py --self-test      proves on seeded faults that the check can fail
"""

import ast
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS = "python/tradeoff/_plan.py"
EXPORTS = "python/tradeoff/__init__.py"
BUILDER = "include/tradeoff/builder.h"
DICTIONARY = "assurance/fuzz/plan.dict"
CHECKER = "assurance/checker/check_certificate.py"

PARTS_OF_CALLS = {"tail", "law"}  # roles of words that are arguments of others
# Their arguments are plans, lists, files or words: Builder::of_text.
WRITTEN_OUT = {
    "mixture",
    "strongest",
    "weakest",
    "profile",
    "curve",
    "matrix",
    "sparse_vector",
    "threshold",
    "partition_selection",
    "shuffled_reports",
}
NO_WORDS = {"of_text", "then", "then_text", "beside"}  # members of the builder that stand for no word


def parsed(tree, name):
    return ast.parse((tree / name).read_text(encoding="utf-8"))


def value_of(module, name):
    """The value of a constant at the top of a module."""
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in node.targets):
            return ast.literal_eval(node.value)
    raise SystemExit(f"no constant {name}")


def functions_of(body):
    """The parameters of each function, without `self`."""
    return {node.name: [one.arg for one in node.args.args + node.args.kwonlyargs if one.arg != "self"] for node in body if isinstance(node, ast.FunctionDef)}


def arguments_of(word):
    return [argument["name"] for argument in word["arguments"]]


def faults_of_functions(words, functions, where):
    for word in words:
        expected, found = arguments_of(word), functions.get(word["name"])
        if found is None:
            yield f"{where}: no {word['name']}"
        elif sorted(found) != sorted(expected):
            yield f"{where}: {word['name']} takes {', '.join(found) or 'nothing'}; the word has {', '.join(expected) or 'no arguments'}"


def builder_functions(text):
    """The parameters of each function that gives a builder, as a usage shows them: `sensitivity=1`."""
    found = {}
    for name, parameters in re.findall(r"\bBuilder (\w+)\(([^)]*)\)(?: const)? ?[{;]", text):
        each = [one.rpartition("& ")[2] for one in re.split(r",\s+", parameters) if one]
        found[name] = ", ".join(one.replace(" = ", "=") for one in each)
    return found


def faults_of_builder(words, text):
    found = builder_functions(text)
    for word in words:
        name = word["name"]
        forms = [re.sub(r"(, )?\[\w+\]", "", form.partition("(")[2].rstrip(")")) for form in word["usage"].split(" or ")]
        if name in found and found[name] not in forms:
            yield f"{BUILDER}: {name}({found[name]}); the word is {word['usage']}"
        elif name not in found and name not in WRITTEN_OUT:
            yield f"{BUILDER}: no {name}"
    yield from (f"{BUILDER}: {name} is no word" for name in sorted(found.keys() - NO_WORDS - {word["name"] for word in words}))


def faults_of_dictionary(words, text):
    entries = re.findall(r'^"(.*)"$', text, re.MULTILINE)
    for word in words:
        bare = word["role"] == "tail" and not word["arguments"]
        if not any(entry == word["name"] if bare else entry.startswith(word["name"] + "(") for entry in entries):
            yield f"{DICTIONARY}: no {word['name']}"
    for name in sorted({name for word in words for name in arguments_of(word)}):
        if not any(entry.startswith(name + "=") for entry in entries):
            yield f"{DICTIONARY}: no {name}="


def faults_of_checker(words, known):
    """It knows all arguments of a word, but for those that may be left out: of a call with one of these that it does not know it is undecided."""
    rows = {word["name"]: word["arguments"] for word in words if word["role"] not in PARTS_OF_CALLS}
    for name, arguments in known.items():
        row = {one["name"]: one.get("default", "") for one in rows.get(name, []) if not one.get("optional") or one["name"] in arguments}
        if row != arguments:
            yield f"{CHECKER}: {name} has the arguments {arguments}; the word has {row}"


def faults_in(words, tree):
    calls = [word for word in words if word["role"] not in PARTS_OF_CALLS]
    module = parsed(tree, FUNCTIONS)
    plan = next(node for node in module.body if isinstance(node, ast.ClassDef) and node.name == "Plan")
    yield from faults_of_functions(calls, functions_of(module.body), FUNCTIONS)
    yield from faults_of_functions([word for word in calls if word["role"] == "operator"], functions_of(plan.body), f"{FUNCTIONS}, class Plan")
    exports = value_of(parsed(tree, EXPORTS), "__all__")
    yield from (f"{EXPORTS}: {word['name']} is not exported" for word in calls if word["name"] not in exports)
    yield from faults_of_builder(calls, (tree / BUILDER).read_text(encoding="utf-8"))
    yield from faults_of_dictionary(words, (tree / DICTIONARY).read_text(encoding="utf-8"))
    yield from faults_of_checker(words, value_of(parsed(tree, CHECKER), "ARGUMENTS"))


SEEDED_WORDS = [
    {
        "name": "gaussian",
        "role": "source",
        "usage": "gaussian(sigma, sensitivity=1)",
        "arguments": [{"name": "sigma"}, {"name": "sensitivity", "default": "1"}],
    },
    {"name": "repeat", "role": "operator", "usage": "repeat(times)", "arguments": [{"name": "times"}]},
    {"name": "zero", "role": "tail", "usage": "zero", "arguments": []},
]
SEEDED_TREE = {
    FUNCTIONS: "class Plan:\n    def repeat(self, times): pass\ndef gaussian(sigma, *, sensitivity=None): pass\ndef repeat(times): pass\n",
    EXPORTS: '__all__ = ["gaussian", "repeat"]\n',
    BUILDER: "class Builder {\n  [[nodiscard]] Builder repeat(const Amount& times) const { return then(); }\n};\n"
    "[[nodiscard]] inline Builder gaussian(const Amount& sigma, const Amount& sensitivity = 1) {\n}\n",
    DICTIONARY: '# words\n"gaussian("\n"repeat("\n"zero"\n"sigma="\n"sensitivity="\n"times="\n',
    CHECKER: 'ARGUMENTS = {"gaussian": {"sigma": "", "sensitivity": "1"}}\n',
}
SEEDED_FAULTS = {
    "a function is missing": (FUNCTIONS, "def gaussian(", "def gausian("),
    "a function lacks an argument": (FUNCTIONS, "*, sensitivity=None", "*"),
    "a method is missing": (FUNCTIONS, "    def repeat(self, times): pass", "    pass"),
    "a function is not exported": (EXPORTS, '"gaussian", ', ""),
    "the builder lacks an operator": (BUILDER, "Builder repeat(const Amount& times) const", "Builder then(const Amount& times) const"),
    "the builder lacks an argument": (BUILDER, "const Amount& sigma, ", ""),
    "the builder has another default": (BUILDER, "sensitivity = 1", "sensitivity = 2"),
    "the builder has more than the words": (BUILDER, "};\n", "Builder noise(const Amount& sigma);\n};\n"),
    "the dictionary lacks a word": (DICTIONARY, '"repeat("\n', ""),
    "the dictionary lacks a tail": (DICTIONARY, '"zero"\n', ""),
    "the dictionary lacks an argument": (DICTIONARY, '"times="\n', ""),
    "the checker has another default": (CHECKER, '"1"', '"2"'),
    "the checker lacks an argument": (CHECKER, '"sigma": "", ', ""),
}


def faults_of_seeded(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("(sigma, *)", "(sigma)"), encoding="utf-8")
        return list(faults_in(SEEDED_WORDS, Path(folder)))


def self_test():
    yield from (f"refused what is allowed: {fault}" for fault in faults_of_seeded(SEEDED_TREE))
    for name, (file, old, new) in SEEDED_FAULTS.items():
        changed = {**SEEDED_TREE, file: SEEDED_TREE[file].replace(old, new, 1)}
        if changed == SEEDED_TREE or len(faults_of_seeded(changed)) != 1:
            yield f"missed: {name}"


def main(arguments):
    if arguments == ["--self-test"]:
        subject, faults = "words (self-test)", list(self_test())
    else:
        printed = subprocess.run([arguments[0], "mechanisms", "--json"], check=True, capture_output=True, text=True).stdout
        subject, faults = "words", list(faults_in(json.loads(printed), Path(arguments[1]) if len(arguments) > 1 else ROOT))
    print("\n".join(faults) if faults else f"{subject}: clean")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
