# SPDX-License-Identifier: MIT
"""
Prints the loops of scripts over what a program, a pattern or a file gave, whose body makes a check, and near which the
script does not require a minimum (at_least): with fewer rounds they would check less. A file that a here-document of the
script wrote has as many lines as it says.

  loops.py FUNCTION|FUNCTION... SCRIPT...     exit status 1 if there is one
"""
import re
import sys

NEAR = 8	# lines
check = re.compile(r"(^|[;&|){]|do |then |else |if |elif |! )\s*(" + sys.argv[1] + r")\s+[^\s=(]")


def loops(lines):
    """(first line, last line, whether it is over found things, whether it checks), from 0."""
    inside, open_loops = None, []
    for n, line in enumerate(lines):
        if inside:
            inside = None if re.match(r"\t*" + inside + "$", line) else inside
            continue
        begin = re.search(r"<<-?'?([A-Z]+)'?", line)
        inside = begin and begin[1]
        plain = re.sub(r"'[^']*'|\"[^\"$]*\"", "", line)
        if re.match(r"\s*done\b", line) and open_loops:
            first, found, checks = open_loops.pop()
            checks = checks or any(check.search(x) for x in lines[first:n])
            yield first, n, found, checks
        elif re.search(r"(^|[;&|]\s*|\s)(while|until|for)\s", plain) and not line.lstrip().startswith("#"):
            found = re.search(r"while .*\bread\b|for \w+ in .*(\$\(|\*|\$\{\w+\[)", plain) is not None
            if re.search(r";\s*done\b", line):
                yield n, n, found, check.search(line) is not None
            else:
                open_loops.append((n, found, False))


bad = 0
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for first, last, found, checks in loops(lines):
        around = "\n".join(lines[max(0, first - NEAR):last + NEAR + 1])
        source = re.search(r"done <(\w+)", lines[last])
        written = source and re.search(r">" + source[1] + r"\b.*<<|<<.*>" + source[1] + r"\b", "\n".join(lines[:first]))
        if found and checks and not written and "at_least " not in around:
            print(f"{path}:{first + 1}: {lines[first].strip()}")
            bad = 1
sys.exit(bad)
