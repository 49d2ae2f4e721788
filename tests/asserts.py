# SPDX-License-Identifier: MIT
"""
Prints the tests of Python files that make no check: no assertion, nor a call of a function of the same file that makes one,
nor of one of these names. A test is a method whose name begins with test_, or a function that a decorator of that name marks.

  asserts.py [--checks NAME]... FILE...     exit status 1 if there is one, 2 if there is no test
"""
import ast
import sys

words, names, tests, bad = sys.argv[1:], set(), 0, []
while words[:1] == ["--checks"]:
    names.add(words[1])
    words = words[2:]


def name_of(node):
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def checks(function, checking):
    return any(isinstance(node, ast.Assert) or isinstance(node, ast.Call) and
               (name_of(node).lower().startswith("assert") or name_of(node) in checking) for node in ast.walk(function))


for path in words:
    with open(path, encoding="utf-8") as file:
        functions = [f for f in ast.walk(ast.parse(file.read(), path)) if isinstance(f, ast.FunctionDef)]
    checking, before = set(names), None
    while before != len(checking):
        before = len(checking)
        checking |= {f.name for f in functions if checks(f, checking)}
    for f in functions:
        # decorators of tests have such names, too, but take a function
        if any(name_of(d).startswith("test") for d in f.decorator_list) or \
                f.name.startswith("test_") and [a.arg for a in f.args.args] == ["self"]:
            tests += 1
            if not checks(f, checking):
                bad.append(f"{path}:{f.lineno}: {f.name}")
print("\n".join(bad) or f"{tests} tests")
sys.exit(1 if bad else 0 if tests else 2)
