#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test bash completion of o2ref and o2props (ref/cli/completion.bash): exactly the commands and options of --help, the names
that a value may have, and files.

usage: test_completion.py [BUILD]
BUILD: a build folder in which everything was built; default build/gcc.  Last line "N passed, N failed".
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import suite  # noqa: E402

BUILD = suite.build()
SCRIPT = ROOT / "ref" / "cli" / "completion.bash"
O2REF, O2PROPS = BUILD / "o2ref", BUILD / "o2props"


def printed(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def completed(*words, folder=ROOT):
    """The words that bash offers for the last word; its function is called with COMP_WORDS and COMP_CWORD."""
    # bash splits --name=value into three words.
    split = [part for word in words for part in (re.split("(=)", str(word)) if "=" in str(word) else [str(word)])]
    script = (f"source {shlex.quote(str(SCRIPT))}\nCOMP_WORDS=({' '.join(map(shlex.quote, split))})\n"
              f"COMP_CWORD={len(split) - 1}\n"
              "function=$(complete -p \"${COMP_WORDS[0]##*/}\" | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
              "$function\n[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' \"${COMPREPLY[@]}\"\n")
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60, check=True, cwd=folder)
    if done.stderr:
        raise AssertionError(done.stderr)
    return done.stdout.splitlines()


def options_of(text):
    return {f"--{name}" for name in re.findall(r"^  (?:-\w, )?--([a-z][a-z-]*)", text, re.M)}


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class Completion(unittest.TestCase):
    def commands(self):
        return [(O2REF, name) for name in completed(O2REF, "") if name != "check"] + [
            (O2REF, "check"), *((O2PROPS, name) for name in completed(O2PROPS, ""))]

    def test_the_commands_are_those_of_help(self):
        self.assertEqual(completed(O2REF, ""), re.findall(r"^  ([a-z]+)  ", printed(O2REF, "--help"), re.M))
        usage = printed(O2PROPS, "--help")
        self.assertEqual(set(completed(O2PROPS, "")), set(re.findall(r"^(?:usage:|      ) o2props ([a-z]+)", usage, re.M)))

    def test_the_options_of_every_command_are_those_of_its_help(self):
        self.assertGreater(len(self.commands()), 15)
        for program, command in self.commands():
            with self.subTest(f"{program.name} {command}"):
                self.assertEqual(set(completed(program, command, "--")), options_of(printed(program, command, "--help")))
        for program in (O2REF, O2PROPS):
            self.assertEqual(set(completed(program, "--")), options_of(printed(program, "--help")))

    def test_what_has_begun_is_completed(self):
        self.assertEqual(completed(O2REF, "de"), ["decode"])
        self.assertEqual(completed(O2REF, "decode", "--hex-"), ["--hex-input"])
        self.assertEqual(completed(O2REF, "decode", "--no-such"), [])
        self.assertEqual(completed(O2REF, "no-such-command", "--"), [])

    def test_names_that_a_value_may_have(self):
        self.assertEqual(completed(O2REF, "decode", "--color", ""), ["auto", "always", "never"])
        self.assertEqual(completed(O2REF, "decode", "--color", "al"), ["always"])
        self.assertEqual(completed(O2REF, "decode", "--color=al"), ["always"])
        self.assertEqual(completed(O2REF, "decode", "--color="), ["auto", "always", "never"])
        self.assertEqual(completed(O2PROPS, "run", "--modes", "fmr,glo"), ["fmr,global"])
        self.assertEqual(completed(O2PROPS, "run", "--seed", ""), [])

    def test_properties_and_files(self):
        names = [line.split("\t")[0] for line in printed(O2PROPS, "list").splitlines()]
        self.assertEqual(completed(O2PROPS, "run", ""), names)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a capture.pcap", "b.pcap"):
                Path(folder, name).touch()
            self.assertEqual(sorted(completed(O2REF, "judge", "", folder=folder)), ["a capture.pcap", "b.pcap"])
            self.assertEqual(completed(O2REF, "judge", "--html", "b", folder=folder), ["b.pcap"])

    def test_it_is_asked_of_the_program_that_is_typed(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(O2REF, Path(folder) / "o2ref")
            self.assertEqual(completed(f"{folder}/o2ref", "encod"), ["encode"])


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
