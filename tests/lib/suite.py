# SPDX-License-Identifier: MIT
"""How a script runs its unit tests: the last line is "N passed, N failed", each skip says why."""

import sys
import unittest


def of(source):
    """The tests of a module, or of a class."""
    loader = unittest.defaultTestLoader
    return loader.loadTestsFromTestCase(source) if isinstance(source, type) else loader.loadTestsFromModule(source)


def run(tests):
    """Run them; the exit status of the script.  That there are none is a failure."""
    result = unittest.TextTestRunner(verbosity=1, stream=sys.stdout).run(tests)
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    passed = max(result.testsRun - failed - skipped, 0)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if failed == 0 and result.testsRun else 1
