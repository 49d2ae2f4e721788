# SPDX-License-Identifier: MIT
"""gtu/_abi.py matches the headers, as compiled and as text."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from gtu import _abi
from support import ROOT

HEADERS = ("gtu/error.h", "gtu/graph.h", "uapi/gtu/hw.h", "gtu/gtu.h", "gtu/gpu.h", "gtu/hash.h")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
OPEN = ("gtu_device", "gtu_graph_backing")

KINDS = {ctypes.c_uint64: "u64", ctypes.c_uint32: "u32", ctypes.c_int32: "i32", ctypes.c_double: "f64",
         ctypes.c_char: "char"}
NAMES = {ctypes.c_uint64: "uint64_t", ctypes.c_uint32: "uint32_t", ctypes.c_int32: "int", ctypes.c_double: "double",
         ctypes.c_bool: "bool", ctypes.c_char_p: "char *", ctypes.c_void_p: "void *", None: "void"}


def kind(ctype):
    """The kind of a type, or of an array's elements."""
    while isinstance(ctype, type) and issubclass(ctype, ctypes.Array):
        ctype = ctype._type_
    return KINDS.get(ctype, "other")


def dimensions(ctype):
    return 1 + dimensions(ctype._type_) if issubclass(ctype, ctypes.Array) else 0


def in_c(ctype):
    """A ctypes type as the headers write it, without const."""
    if ctype in NAMES:
        return NAMES[ctype]
    for name, struct in _abi.STRUCTS.items():
        if ctype is struct:
            return "struct " + name
    return re.sub(r"\* *$", "* *", in_c(ctype._type_)) if "*" in in_c(ctype._type_) else in_c(ctype._type_) + " *"


def text_of_headers():
    text = "".join((ROOT / "include" / h).read_text() for h in HEADERS)
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^#.*?(?<!\\)$", " ", text, flags=re.M | re.S)


def plain(declaration):
    """A parameter or result without const, its name and superfluous blanks; size_t is 8 bytes here."""
    declaration = re.sub(r"\bconst\b", " ", declaration).replace("size_t", "uint64_t")
    declaration = re.sub(r"(\w+)\s*\[[^]]*\]", r"* \1", declaration)
    tokens = re.findall(r"\w+|\*", declaration)
    words = [t for t in tokens if t != "*"]
    length = 2 if words[0] == "struct" else 1
    return " ".join(words[:length] + ["*"] * tokens.count("*"))


@unittest.skipUnless((ROOT / "include/gtu/gtu.h").exists(), "no headers: not the source tree")
class Abi(unittest.TestCase):
    def compiled(self):
        lines = [f"#include <{h}>" for h in HEADERS]
        lines += ["#include <stdio.h>", "#include <stddef.h>",
                  '#define KIND(x) _Generic((x), uint64_t: "u64", uint32_t: "u32", int32_t: "i32", double: "f64", '
                  'char: "char", default: "other")', "int main(void) {"]
        for name, struct in _abi.STRUCTS.items():
            if name in OPEN:
                continue
            lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
            for field, ctype in struct._fields_:
                element = f"((struct {name} *)0)->{field}" + "[0]" * dimensions(ctype)
                lines.append(f'printf("{name}.{field} %zu %zu %s\\n", offsetof(struct {name}, {field}), '
                             f'sizeof(((struct {name} *)0)->{field}), KIND({element}));')
        phase = "((struct gtu_algorithm_stats *)0)->phase[0]"
        lines.append(f'printf("phase %zu %zu %zu\\n", sizeof({phase}), (size_t)&{phase}.name - (size_t)&{phase}, '
                     f'(size_t)&{phase}.seconds - (size_t)&{phase});')
        for name in _abi.CONSTANTS:
            lines.append(f'printf("GTU_{name} %lld\\n", (long long)(GTU_{name}));')
        for name in ("FOREVER", "UNREACHED", "NOT_FOUND"):
            lines.append(f'printf("GTU_{name} %llu\\n", (unsigned long long)GTU_{name});')
        lines.append("return 0; }")
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "abi.c"
            source.write_text("\n".join(lines))
            subprocess.run([COMPILER, "-std=gnu11", "-w", "-I", str(ROOT / "include"), str(source), "-o",
                            folder + "/abi"], check=True)
            return subprocess.run([folder + "/abi"], check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()

    @unittest.skipUnless(COMPILER, "no compiler")
    def test_structs_and_constants_match_the_compiled_headers(self):
        expected = []
        for name, struct in _abi.STRUCTS.items():
            if name in OPEN:
                continue
            expected.append(f"{name} {ctypes.sizeof(struct)}")
            for field, ctype in struct._fields_:
                at = getattr(struct, field)
                expected.append(f"{name}.{field} {at.offset} {at.size} {kind(ctype)}")
        phase = _abi.PhaseStruct
        expected.append(f"phase {ctypes.sizeof(phase)} {phase.name.offset} {phase.seconds.offset}")
        expected += [f"GTU_{name} {value}" for name, value in _abi.CONSTANTS.items()]
        expected += [f"GTU_{name} {_abi.ALL_ONES}" for name in ("FOREVER", "UNREACHED", "NOT_FOUND")]
        self.assertEqual(self.compiled(), expected)

    def test_structs_have_the_fields_of_the_headers(self):
        text = text_of_headers()
        for name, struct in _abi.STRUCTS.items():
            body = re.search(r"\bstruct " + name + r" \{(.*?)\n\};", text, re.S)
            if name in OPEN:
                self.assertIsNone(body, name)
                continue
            fields = []
            flat = re.sub(r"struct \{[^}]*\}", "unnamed", body.group(1))
            for declaration in flat.split(";"):
                if "(*" in declaration:
                    fields.append(re.search(r"\(\*(\w+)\)", declaration).group(1))
                else:
                    fields += [re.findall(r"\w+", re.sub(r"\[[^]]*\]", "", part))[-1]
                               for part in declaration.split(",") if part.strip()]
            self.assertEqual(fields, [f for f, _ in struct._fields_], name)

    def test_prototypes_match_the_headers(self):
        text = text_of_headers()
        for name, (result, arguments) in _abi.PROTOTYPES.items():
            found = re.search(r"([\w \*]+?)\b" + name + r"\(([^()]*)\);", text)
            self.assertTrue(found, f"no header declares {name}")
            self.assertEqual([plain(found.group(1))] + [plain(p) for p in found.group(2).split(",")],
                             [in_c(result)] + [in_c(a) for a in arguments], name)
        for name, ours in (("tick", _abi.TICK), ("iteration", _abi.ITERATION)):
            theirs = re.search(r"(\w+) \(\*" + name + r"\)\(([^()]*)\);", text)
            self.assertEqual([theirs.group(1)] + [plain(p) for p in theirs.group(2).split(",")],
                             [in_c(ours._restype_)] + [in_c(a) for a in ours._argtypes_])

    def test_the_library_names_as_many_generators_as_declared(self):
        for i in range(_abi.CONSTANTS["GENERATORS"]):
            self.assertTrue(_abi.lib.gtu_generator_name(i))
        self.assertIsNone(_abi.lib.gtu_generator_name(_abi.CONSTANTS["GENERATORS"]))


class Environment(unittest.TestCase):
    def test_nvlink_multicast_is_off_unless_the_user_sets_it(self):
        for chosen in (None, "", "1"):
            environment = {k: v for k, v in os.environ.items() if k != "NCCL_NVLS_ENABLE"}
            if chosen is not None:
                environment["NCCL_NVLS_ENABLE"] = chosen
            print_it = "import os, sys; sys.path[:] = sys.argv[1:]; import gtu; print(os.environ['NCCL_NVLS_ENABLE'])"
            out = subprocess.run([sys.executable, "-c", print_it, *sys.path], env=environment, capture_output=True, text=True)
            self.assertEqual(out.stdout.strip(), chosen or "0", out.stderr)


if __name__ == "__main__":
    unittest.main()
