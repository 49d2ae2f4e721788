# SPDX-License-Identifier: MIT
"""
Runs every test of this directory, or those named, and prints a line "ok NAME", "not ok NAME" or
"skip NAME: REASON" for each, for tests/cli/python.sh. To run them by hand: `python3 -m unittest` in this
directory with PYTHONPATH=.. set.
"""

import sys
import unittest
import warnings
from pathlib import Path


class Lines(unittest.TestResult):
    def say(self, verdict, test, more=""):
        name = test.id().replace("support.", "").split("(")[0].strip()
        print(f"{verdict} {name}{more}", flush=True)

    def explain(self, test, error):
        for line in self._exc_info_to_string(error, test).splitlines():
            print("# " + line)

    def addSuccess(self, test):
        super().addSuccess(test)
        # report a test with subtests only if none of them was reported
        if not any(t is test or getattr(t, "test_case", None) is test for t, _ in self.failures + self.errors):
            self.say("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("skip", test, ": " + reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.explain(test, err)
        self.say("not ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.explain(test, err)
        self.say("not ok", test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.explain(subtest, err)
            self.say("not ok", subtest, " " + subtest._subDescription())


def main():
    here = str(Path(__file__).resolve().parent)
    sys.path.insert(0, here)
        # warnings of the reference library, not of the module
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="networkx")
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(here)
    result = Lines()
    suite.run(result)
    return not result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
