# SPDX-License-Identifier: MIT
"""The examples in Documentation/python.md and in the module's docstring work."""

import inspect
import re
import subprocess
import sys
import unittest

import gtu
from support import ROOT

PAGE = ROOT / "Documentation/python.md"


@unittest.skipUnless(PAGE.exists(), "no Documentation/python.md: not the source tree")
class Documents(unittest.TestCase):
    def blocks(self, language):
        return re.findall(r"^```" + language + r"\n(.*?)^```$", PAGE.read_text(), re.S | re.M)

    def test_the_example_prints_the_documented_output(self):
        (program,), (expected,) = self.blocks("python"), self.blocks("text")
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout.decode(), expected)

    def test_the_laboratory_example_runs_and_prints_lines(self):
        lines = re.search(r"^## The laboratory\n\n((?:    .*\n)+)", PAGE.read_text(), re.M).group(1)
        program = "import gtu\n" + re.sub(r"^    ", "", lines, flags=re.M).replace("scale=12", "scale=8")
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
        self.assertGreater(len(done.stdout.decode().splitlines()), 3)

    def test_documented_names_exist_in_the_module(self):
        names = re.findall(r"`gtu\.(\w+(?:\.\w+)?)", PAGE.read_text())
        self.assertGreater(len(names), 5)
        for name in names:
            thing = gtu
            for part in name.split("."):
                thing = getattr(thing, part)

    def test_public_classes_and_functions_have_docstrings(self):
        for name in gtu.__all__:
            thing = getattr(gtu, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                self.assertTrue(thing.__doc__ and "(" != thing.__doc__[len(name)], name)
                members = vars(thing).items() if inspect.isclass(thing) else ()
                for member, value in members:
                    if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                        self.assertTrue(value.__doc__, f"{name}.{member}")

    def test_the_docstring_example_finds_its_source_at_0_hops(self):
        lines = [line.strip() for line in gtu.__doc__.splitlines() if line.startswith("    ")]
        names = {}
        exec("\n".join(lines), names)  # pylint: disable=exec-used
        self.assertEqual(names["result"].values[0], 0)


if __name__ == "__main__":
    unittest.main()
