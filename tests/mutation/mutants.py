# SPDX-License-Identifier: MIT
"""Makes copies of C sources that contain many small mutations, of which one is chosen at run time.

A mutation changes one line: a condition, a bound, a returned error code or truth value, a call or an assignment that is
left out. Both versions are compiled, as `gtu_mutant == N ? mutated : original`, so one build serves all mutants.
"""
import hashlib
import re

CALL = re.compile(r"^(\t+)((?!return\b|if\b|for\b|while\b|switch\b|else\b|do\b|goto\b|case\b)[a-z_]\w*\(.*\);)$")
ASSIGN = re.compile(r"^(\t+)([a-z_]\w*(?:(?:->|\.)\w+|\[[^\]]*\])+ (?:[|&+-]|<<|>>)?= [^;{]*;)$")
FLAGS = re.compile(r"^(\t+)([a-z_]\w* [|&]= [^;{]*;)$")
COND = re.compile(r"^(\t+(?:\} else )?(?:else )?if )\((.*)\)( \{)?$")
RETURN = re.compile(r"^(\t+)return (.*);$")
# macros whose argument is a type, a declaration or control flow, and checks that stop the program
NOT_CALLS = re.compile(r"^(static_assert|_Static_assert|lockdep_assert\w*|WARN\w*|BUILD_BUG\w*|va_(start|end|copy)|"
                       r"MODULE_\w+|EXPORT_\w+|module_\w+|might_sleep|assert|INIT_\w+|init_\w+|memset|list_del\w*)\(")


def balanced(text):
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return depth == 0


def conditions(text):
    """Yields (kind, mutated) for a condition."""
    yield "negated condition", "!(%s)" % text
    for pattern, kind, replacement in (
            (r"(?<![<>=!\-])<(?![<=])", "bound", "<="), (r"<=", "bound", "<"),
            (r"(?<![<>=!\-])>(?![>=])", "bound", ">="), (r"(?<!>)>=", "bound", ">"),
            (r"&&", "condition", "||"), (r"\|\|", "condition", "&&")):
        for m in re.finditer(pattern, text):
            yield kind, text[:m.start()] + replacement + text[m.end():]


def values(text):
    """Yields (kind, mutated) for a returned value."""
    if re.fullmatch(r"-E[A-Z0-9]+", text):
        yield "error code", "0"
        yield "error code", "-EINVAL" if text != "-EINVAL" else "-EIO"
    elif text in ("true", "false"):
        yield "truth value", "false" if text == "true" else "true"
    elif re.fullmatch(r"GTU_(CPL|MBOX)_(?!(?:E_)?OK$)[A-Z_0-9]+", text):
        yield "status", "0"
    elif re.search(r"(?<![<>=!\-])[<>]=?(?![<>=])|[=!]=|&&|\|\|", text) and "?" not in text:
        yield "negated value", "!(%s)" % text


class Mutant:
    def __init__(self, file, line, kind, before, after):
        self.file, self.line, self.kind, self.before, self.after = file, line, kind, before.strip(), after.strip()
        self.id = self.twin = 0

    @property
    def name(self):
        """Stable while the line does not change, so that results of earlier runs stay valid. Equal lines are counted."""
        text = "\0".join((self.file, self.kind, self.before, self.after, str(self.twin)))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def __str__(self):
        return "%s:%d: %s: %s  ->  %s" % (self.file, self.line, self.kind, self.before, self.after)


def mutate(file, text, first):
    """Returns the source with its mutants, numbered from @first, and their list."""
    lines, found, out, in_macro = text.split("\n"), [], [], False

    def chosen(kind, before, after):
        mutant = Mutant(file, number, kind, before, after)
        mutant.id = first + len(found)
        mutant.twin = sum(str(m).split(":", 2)[2] == str(mutant).split(":", 2)[2] for m in found)
        found.append(mutant)
        return "GTU_MUTANT(%d)" % mutant.id

    for number, line in enumerate(lines, 1):
        macro, in_macro = in_macro or line.startswith("#"), line.endswith("\\") and (in_macro or line.startswith("#"))
        # the rest of a statement that began on an earlier line is none
        begins = lines[number - 2].rstrip() if number > 1 else ""
        begins = re.search(r"(^|[;{})]|[^?]:|\belse|\*/)$", begins)
        # the compiler must still see that code without its configuration is dead
        if macro or not begins or "IS_ENABLED(" in line:
            out.append(line)
            continue
        m = COND.match(line)
        if m and balanced(m[2]) and "=" not in re.sub(r"[<>=!]=", "", m[2]):
            expression = "!!(%s)" % m[2]
            for kind, mutated in conditions(m[2]):
                expression = "(%s ? (%s) : %s)" % (chosen(kind, line, m[1] + "(" + mutated + ")"), mutated, expression)
            out.append(m[1] + "(" + expression + ")" + (m[3] or ""))
            continue
        m = RETURN.match(line)
        if m and balanced(m[2]):
            expression = m[2]
            for kind, mutated in values(m[2]):
                expression = "%s ? (%s) : (%s)" % (chosen(kind, line, m[1] + "return " + mutated + ";"), mutated, expression)
            out.append(m[1] + "return " + expression + ";")
            continue
        m = CALL.match(line) or ASSIGN.match(line) or FLAGS.match(line)
        if m and balanced(m[2]) and not NOT_CALLS.match(m[2]):
            kind = "call left out" if CALL.match(line) else "assignment left out"
            out.append("%sdo { if (!%s) %s } while (0);" % (m[1], chosen(kind, line, ""), m[2]))
            continue
        out.append(line)
    return "\n".join(out), found
