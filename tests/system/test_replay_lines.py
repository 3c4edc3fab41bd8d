#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that the replay line of a finding, typed as printed, reproduces it, whatever options the cases were drawn with.

    tests/system/test_replay_lines.py O2PROPS_MUTANTS   Last line "N passed, N failed".
"""

import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import suite  # noqa: E402

PROGRAM = suite.program()
MUTANT = ["--mutant", "fmr-page-order"]
SHRINK = ["--shrink-calls", "20"]
RUN = ["run", "transfer", *MUTANT, *SHRINK, "--cases", "200", "--seed", "5", "--findings", "1", "--device", "loop"]


def again(line):
    """The words of a replay line, with options that limit the time of shrinking."""
    words = shlex.split(line)
    return words + (SHRINK if words[0] == "run" else [])


def started(words, **how):
    done = subprocess.run([Path(PROGRAM).absolute(), *words], capture_output=True, text=True, errors="surrogateescape", timeout=120, check=False,
                          **how)
    return done.returncode, done.stdout + done.stderr


def line_after(text, words):
    return next(line.split(words, 1)[1] for line in text.splitlines() if line.startswith(words))


def replay_line(text):
    return line_after(text, "  replay: o2props-mutants ")


def wrong_bytes(text):
    """The lines on bytes that are wrong, with the bytes that were found."""
    return [line for line in text.splitlines() if re.match(r" +sink fragment \d+ .*: expected .*, found ", line)]


def no_room():
    """No more data can be written into a file, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def no_descriptors():
    """Besides the standard streams only one file can be open, enough for the program to be loaded."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))


class ReplayLines(unittest.TestCase):
    def repeats(self, *options, **how):
        """Both forms of the line: with the case's number, and with the file of the shrunk case."""
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            for more in ([], ["--out", folder]):
                status, text = started([*RUN, *options, *more], **how)
                self.assertEqual(status, 1, text)
                line = replay_line(text)
                for name, value in zip(options[::2], options[1::2]):
                    self.assertIn(f" {name} {value}", line)
                wrong = wrong_bytes(text)
                status, text = started(again(line), **how)
                self.assertEqual(status, 1, f"{line}\n{text}")
                self.assertIn("wrong-bytes", text)
                self.assertEqual(wrong_bytes(text), wrong)
        return line

    def test_nothing_chosen(self):
        self.assertRegex(self.repeats(), r" --device loop --mutant fmr-page-order$")

    def test_same_bytes(self):
        """Two bytes that change places could by chance be equal: a replay moves the very bytes of the finding."""
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            text = started([*RUN, "--shrink-calls", "2000", "--out", folder])[1]
            self.assertRegex("\n".join(wrong_bytes(text)), r"found other bytes \(first 0x[0-9a-f]{2}\)$", text)
            for _ in range(3):
                self.assertEqual(wrong_bytes(started(again(replay_line(text)))[1]), wrong_bytes(text))

    def test_modes(self):
        self.repeats("--modes", "global,fmr")

    def test_sizes(self):
        self.repeats("--max-bytes", "4096")

    def test_kind(self):
        self.repeats("--only", "wrong-bytes")
        run = ["run", "codec", "--mutant", "without/wire/header/magic", *SHRINK, "--cases", "200", "--seed", "5", "--only"]
        self.assertRegex(started([*run, "codec/"])[1], r"(?m)^FINDING codec on \S+: codec/.*(?s:.*) --only codec/ --seed")
        for words in ([*run, "sim/"], ["run", "sim", "--mutant", "parked-not-freed", "--cases", "200", "--only", "judge/"],
                      ["run", "sim", "--mutant", "descriptor-not-freed", "--seed", "1", "--cases", "1", "--only", "judge/"]):
            status, text = started(words)
            self.assertEqual(status, 0, text)

    if Path(f"{PROGRAM}-verbs").exists():  # not in a build without libibverbs
        def test_device_and_gid(self):
            """With loopverbs in place of the machine's devices."""
            library = Path(PROGRAM).resolve().with_name("libloopverbs.so")
            self.repeats("--device", "loop0,loop1", "--gid-index", "0", env={**os.environ, "LD_PRELOAD": str(library)})

    def test_connect(self):
        self.repeats("--connect", "cm")

    def test_folder_with_blanks(self):
        with tempfile.TemporaryDirectory(prefix="o2ref replay's ") as folder:
            text = started([*RUN, "--out", folder])[1]
            self.assertEqual(started(again(replay_line(text)))[0], 1, text)
            words = shlex.split(line_after(text, "  explain: o2props-mutants "))
            self.assertTrue(Path(words[1]).is_file(), text)
            status, text = started([*words[:2], "--svg", f"{folder}/picture.svg", *words[4:]])
            self.assertEqual(status, 1, text)

    def test_program_in_a_folder_with_blanks(self):
        """That of explore names the program as it was started."""
        with tempfile.TemporaryDirectory(prefix="o2ref replay's ") as folder:
            program = Path(folder) / "o2props-mutants"
            program.symlink_to(Path(PROGRAM).resolve())
            words = [program, "explore", "--peer-tx-credits", "8", "--mutant", "high-water-unscaled"]
            for _ in range(2):
                done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn("sim/high-water\n", done.stdout)
                words = shlex.split(line_after(done.stdout + f"  again: {shlex.join(map(str, words))}\n", "  again: "))

    def test_folder_that_is_not_utf8(self):
        """The printed lines have the very bytes of a name, JSON only what it can hold."""
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-\udcff") as folder:
            text = started([*RUN, "--out", folder, "--json"])[1]
            self.assertEqual(started(again(replay_line(text)))[0], 1, text)
            self.assertTrue(Path(shlex.split(line_after(text, "  explain: o2props-mutants "))[1]).is_file(), text)
            shown = folder.replace("\udcff", "?")
            for member in ("case_file", "scenario_file", "replay"):
                self.assertRegex(text, rf'"{member}": ".*{re.escape(shown)}/transfer-')

    def test_folder_that_looks_like_an_option(self):
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            text = started([*RUN, "--out", "-x"], cwd=folder)[1]
            self.assertEqual(started(again(replay_line(text)), cwd=folder)[0], 1, text)
            words = shlex.split(line_after(text, "  explain: o2props-mutants "))
            status, text = started([*words[:2], "--all", *words[4:]], cwd=folder)
            self.assertEqual(status, 1, text)

    def test_exhaustive(self):
        """The line visits the same cases again, up to the one that failed."""
        run = ["run", "codec", "--mutant", "without/wire/header/magic", "--findings", "1"]
        status, text = started([*run, "--exhaustive", "2"])
        self.assertEqual(status, 1, text)
        line = replay_line(text)
        case = int(re.search(r"\(exhaustive 2, case (\d+)\)$", text, re.MULTILINE).group(1))
        self.assertRegex(line, rf" --exhaustive 2 --cases {case + 1}$")
        self.assertEqual(started(shlex.split(line))[0], 1)
        self.assertEqual(started([*shlex.split(line)[:-1], str(case)])[0], 0)

    def test_judge(self):
        self.assertIn(" --no-judge", replay_line(started([*RUN, "--no-judge"])[1]))

    def test_long_options(self):
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            out = "/".join([folder, *["."] * 400, "cases"])
            line = replay_line(started([*RUN, "--out", out])[1])
            self.assertEqual(started(again(line))[0], 1, line)

    def no_file(self, names, out, reason, run, **how):
        """If its file could not be written, the case is replayed by its number, and the user is told so."""
        status, text = started([*run, "--out", out], **how)
        self.assertEqual(status, 2, text)
        for name in names:
            self.assertRegex(text, rf"(?m)^o2props-mutants: cannot write {out}/{name}: {reason}$")
        self.assertNotIn("explain: ", text)
        line = replay_line(text)
        self.assertRegex(line, rf"^run {run[1]} .* --seed 0x5 --first \d+ --cases 1$")
        status, text = started(again(line))
        self.assertEqual(status, 1, f"{line}\n{text}")

    def test_no_folder_for_cases(self):
        names = ("transfer-[0-9a-f]{16}", r"transfer-[0-9a-f]{16}\.json")
        self.no_file(names, "/dev/null/cases", "Not a directory", RUN)

    def test_no_room_for_cases(self):
        run = ["run", "codec", "--mutant", "without/wire/header/magic", *SHRINK, "--cases", "200", "--seed", "5", "--findings", "1"]
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            self.no_file(["codec-[0-9a-f]{16}"], folder, "File too large", run, restore_signals=False, preexec_fn=no_room)
            self.assertEqual(list(Path(folder).iterdir()), [])


class Export(unittest.TestCase):
    def test_its_seed(self):
        """What was exported from a new seed can be exported again."""
        for options in (["--cases", "3"], ["--property", "keys"]):
            with tempfile.TemporaryDirectory(prefix="o2ref-export-") as folder:
                first, second = f"{folder}/first", f"{folder}/second"
                status, text = started(["export", first, *options])
                self.assertEqual(status, 0, text)
                seed = re.fullmatch(r"o2props: export, seed (0x[0-9a-f]+)\n", text)
                self.assertTrue(seed, text)
                self.assertEqual(started(["export", second, *options, "--seed", seed[1]])[0], 0)
                one, two = ({file.name: file.read_bytes() for file in Path(path).iterdir()} for path in (first, second))
                self.assertEqual(one, two)


class Refused(unittest.TestCase):
    """Options that cannot be used are refused, with the reason."""

    def refuses(self, path, reason, *options):
        status, text = started(["run", "codec", "--cases", "10", "--seed", "1", *options, path])
        self.assertEqual(status, 2, text)
        self.assertRegex(text, rf"(?m)^o2props: cannot write {path}: {reason}$")
        return text

    def test_current_case(self):
        for path, reason in (("/dev/null/case", "Not a directory"), ("/dev/full", "No space left on device")):
            text = self.refuses(path, reason, "--current-case")
            self.assertNotIn("codec on", text.splitlines()[-1])  # nothing was run

    def test_result(self):
        self.refuses("/dev/null/result", "Not a directory", "--json-file")
        self.refuses("/dev/full", "No space left on device", "--json-file")

    def test_what_would_be_ignored(self):
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            file = f"{folder}/result"
            for words, why in (
                    (["replay", "x.json", "--json-file", file], "--json-file is for run, not for replay"),
                    (["replay", "codec-1", "--json"], "--json is for run, not for replay"),
                    (["replay", "codec-1", "--out", folder], "--out is for run, not for replay"),
                    (["export", folder, "--current-case", file], "--current-case is for run, not for export"),
                    (["replay", "codec-1", "--seconds", "1"], "--seconds is for run, not for replay"),
                    (["export", folder, "--first", "7"], "--first is for run, not for export"),
                    (["replay", "codec-1", "--exhaustive", "2"], "--exhaustive is for run, not for replay"),
                    (["run", "codec", "--exhaustive", "2", "--first", "7"], "--first is for random cases, not for --exhaustive"),
                    (["run", "codec", "--exhaustive", "2", "--seed", "7"], "--seed is for random cases, not for --exhaustive"),
                    (["replay", "codec-1", "--seed", "7"], "--seed is for run and for export, not for replay"),
                    (["replay", "codec-1", "--moved", "7"], "--moved is for run, not for replay"),
                    (["replay", "codec-1", "--min-per-pair", "7"], "--min-per-pair is for --moved"),
                    (["run", "transfer", "--min-per-pair", "7"], "--min-per-pair is for --moved"),
                    (["run", "codec", "--moved", "7"], "--moved is for properties transfer and sim, not for codec"),
                    (["run", "transfer", "--property", "codec"], "--property is for replay and export, not for run"),
                    (["replay", "codec-1", "--progress", "7"], "--progress is for run, not for replay"),
                    (["replay", "codec-1", "--findings", "1"], "--findings is for run, not for replay"),
                    (["export", folder, "--shrink-calls", "7"], "--shrink-calls is for run, not for export"),
                    (["replay", "codec-1", "--cases", "7"], "--cases is for run and for export of transfers, not for replay"),
                    (["replay", "codec-1", "--cases", "1000"], "--cases is for run and for export of transfers, not for replay"),
                    (["export", folder, "--property", "codec", "--cases", "7"],
                     "--cases is for run and for export of transfers, not for export of codec"),
                    (["replay", "codec-1", "--gid-index", "3"], "--gid-index is for an RDMA device, not for loop"),
                    (["replay", "x.json", "--gid-index", "0"], "--gid-index is for an RDMA device, not for loop"),
                    (["run", "transfer", "--device", "model", "--gid-index", "1"], "--gid-index is for an RDMA device, not for model"),
                    (["run", "transfer", "--far-program", "x"], "--far-program is for --far"),
                    (["run", "transfer", "--far-timeout", "7"], "--far-timeout is for --far"),
                    (["replay", "x.json", "--far-side", "source"], "--far-side is for --far"),
                    (["list", "extra"], "unexpected argument 'extra'"),
                    (["list", "--json"], "--json is for run, not for list"),
                    (["list", "--cases", "4"], "--cases is for run and for export of transfers, not for list"),
                    (["list", "--modes", "fmr"], "--modes is for property transfer, not for list"),
                    (["run", "codec", "--out", ""], "--out is '', not a directory"),
                    (["run", "codec", "--far", "env"], "--far is for property transfer, not for codec"),
                    (["run", "nodes", "--connect", "cm"], "--connect is for property transfer, not for nodes"),
                    (["run", "endpoint", "--modes", "fmr"], "--modes is for property transfer, not for endpoint"),
                    (["export", folder, "--property", "codec", "--max-bytes", "7"], "--max-bytes is for property transfer, not for codec"),
                    (["replay", "codec-1", "--device", "nope"], "--device is 'nope', and property codec needs none"),
                    (["run", "codec", "--device", ""], "--device is '', not a device"),
                    (["run", "transfer", "--device", ""], "--device is '', not a device")):
                with self.subTest(words=words):
                    status, text = started(words)
                    self.assertEqual((status, text), (2, f"o2props: {why} (see: o2props --help)\n"))
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_hostile_refuses_what_it_would_ignore(self):
        for words, why in ((["--gid-index", "3", "stump"], "--gid-index is for --device"),
                           (["--some", "3"], "--some is for --device"),
                           (["--peer", "192.0.2.1@o2ib", "--all"], "--peer is for --device"),
                           (["--victim", "--liar", "192.0.2.1@o2ib"], "--victim is for --device"),
                           (["--seed", "3", "--all"], "--seed is for --some"),
                           (["--port", "987", "--all"], "--port is for --peer"),
                           (["--patience", "75", "--all"], "--patience is for --peer"),
                           (["--portal", "0", "--all"], "--portal is for --peer"),
                           (["--match-bits", "0", "--all"], "--match-bits is for --portal"),
                           (["--profile", "strict", "--all"], "--profile is for --peer"),
                           (["--tell", "stump"], "--tell is for --peer"),
                           (["--liar", "192.0.2.1@o2ib", "--all"], "--liar is for --victim")):
            with self.subTest(words=words):
                status, text = started(["hostile", *words])
                self.assertEqual(status, 2, text)
                self.assertRegex(text, rf"\A(\S+): {why} \(see: \1 hostile --help\)\n\Z")

    def test_a_scenario_is_of_property_transfer(self):
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            path = Path(folder) / "s.json"
            path.write_text("{}")
            self.assertEqual(started(["replay", str(path), "--property", "codec"]),
                             (2, f"o2props: {path}: property codec has no .json cases, only those of bytes\n"))

    def test_a_member_that_stands_twice(self):
        """No value of the two is run; explain says the same."""
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            path = Path(folder) / "s.json"
            path.write_text('{"version": 1, "version": 1}')
            for command in ("replay", "explain"):
                status, text = started([command, str(path)])
                self.assertEqual(status, 2, text)
                self.assertRegex(text, rf"^o2props\S*: {path}: duplicate object key near '\"version\"' \(line 1\)$")

    def test_no_case(self):
        """What is not tried has not held."""
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            path = Path(folder) / "verbs-1"
            path.write_bytes(b"\xff" * 8192)
            self.assertEqual(started(["replay", str(path)]), (2, f"o2props: {path}: not tried: it is not a case of the property\n"))

    def test_nothing_to_run_on(self):
        """A run that could not try a case does not hold."""
        status, text = started(["run", "lst", "--cases", "200", "--seed", "1"], restore_signals=False, preexec_fn=no_descriptors)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"(?m)^FINDING lst on model: lst/cannot-run .*\n  what a case .*: Too many open files$")

    def test_no_findings(self):
        status, text = started(["run", "codec", "--cases", "10", "--findings", "0"])
        self.assertEqual(status, 2, text)
        self.assertRegex(text, r"^o2props: --findings is '0', not a number of 1 to 5\b")


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
