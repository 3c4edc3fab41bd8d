#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test the output of o2ref judge for other programs: JUnit and SARIF agree with --json, and write errors are reported.

usage: test_judge_out.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import json
import os
import resource
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import unquote

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from cli.judge_cases import GET_DONE, GET_REQ, IMMEDIATE, PROGRAM, THERE, Files, crowd, judge, lost, message, rules, wrong_status  # noqa: E402
from cli.pcap_cases import pcap, send  # noqa: E402
from test_judge import FOLDER, HELD, MESSAGE, USAGE, Capture, suite  # noqa: E402

LEVELS = {"must": "error", "should": "warning", "note": "note"}


class JUnit(Files):
    def junit(self, *files):
        out = self.path / "junit.xml"
        done = judge("--junit", out, *files)
        return done, ElementTree.parse(out).getroot()

    def test_a_case_for_each_rule(self):
        done, root = self.junit(FOLDER / "ping.plain.pcap")
        self.assertEqual(done.returncode, HELD)
        suite, = root.findall("testsuite")
        self.assertEqual([case.get("name") for case in suite], ["capture"] + [rule for rule, _, _ in rules()])
        self.assertEqual(suite.attrib, {"name": str(FOLDER / "ping.plain.pcap"), "tests": str(len(suite)), "failures": "0",
                                        "errors": "0", "skipped": "0"})
        self.assertEqual([list(case) for case in suite if len(case)], [])

    def test_it_says_what_json_says(self):
        files = self.several()
        done, root = self.junit(*files)
        self.assertEqual(done.returncode, USAGE)
        reports = self.reports(files)
        self.assertEqual([suite.get("name") for suite in root], [str(path) for path in files])
        for suite in root:
            report = reports.get(suite.get("name"))
            failed = {case.get("name") for case in suite if case.find("failure") is not None}
            noted = {case.get("name") for case in suite if case.find("system-out") is not None}
            found = [] if report is None else report["findings"]
            self.assertEqual(failed, {row["rule"] for row in found if row["severity"] != "note"})
            self.assertEqual(noted, {row["rule"] for row in found if row["severity"] == "note"})
            self.assertEqual(suite.get("failures"), str(len(failed)))
            self.assertEqual(suite.get("errors"), str(len(suite.findall("testcase/error"))))
            self.assertEqual(suite.get("errors"), str(int(report is None)))

    def test_more_than_fit(self):
        """Findings without a row are of a rule whose case passes: the case of the capture does not."""
        for nodes, more in ((256, 0), (300, 44)):
            path = self.put("crowd.pcap", crowd(nodes))
            done, root = self.junit(path)
            self.assertEqual(json.loads(judge("--json", path).stdout)["more"], more)
            self.assertEqual([case.get("name") for case in root[0] if case.find("failure") is not None],
                             ["capture"] * bool(more) + ["message/wire"])
            self.assertEqual(root[0].get("failures"), str(1 + bool(more)))
            said = [(failure.get("type"), failure.get("message")) for failure in root[0][0]]
            self.assertEqual(said, [("should", f"{more} more findings did not fit into this report")] * bool(more))
            self.assertEqual(f"{more} more findings did not fit into this report\n" in judge(path).stdout.decode(), bool(more))

    def test_more_notes_than_fit(self):
        """If only notes have no row, the case of the capture passes."""
        _, root = self.junit(self.put("crowd.pcap", crowd(300, noted=True)))
        self.assertEqual([(told.tag, told.text) for told in root[0][0]],
                         [("system-out", "44 more findings did not fit into this report")])
        self.assertEqual(root[0].get("failures"), "1")

    def test_a_failure_says_where_and_what(self):
        capture, number = wrong_status()
        _, root = self.junit(self.put("broken.pcap", capture.bytes()))
        failure, = root.iter("failure")
        self.assertEqual(failure.get("type"), "must")
        self.assertRegex(failure.get("message"), rf"^10\.77\.0\.1@o2ib \(to 10\.77\.0\.2@o2ib\): packet {number}, about packet "
                                                 r"\d+: bytes written is 3977, expected 3976$")
        self.assertIn('(docs/mapping.md, "rdma_plan")', failure.text)

    def test_a_name_that_is_no_text(self):
        path = os.path.join(os.fsencode(self.path), b"a\xff\x07\xed\xa0\x80\xc3\xa4.pcap")
        with open(path, "wb") as file:
            file.write(lost())
        out = self.path / "junit.xml"
        subprocess.run([PROGRAM, "judge", "--junit", out, path], capture_output=True, timeout=60, check=False)
        self.assertEqual(ElementTree.parse(out).getroot()[0].get("name"), str(self.path / "a????ä.pcap"))


class Sarif(Files):
    def sarif(self, *files):
        out = self.path / "out.sarif"
        done = judge("--sarif", out, *files)
        return done, json.loads(out.read_text(encoding="utf-8"))

    def text(self, message):
        self.assertEqual(set(message), {"text"})
        self.assertIsInstance(message["text"], str)
        self.assertNotEqual(message["text"], "")

    def location(self, location, artifacts):
        """Check the members that the schema requires, and the artifact that is named.  Returns (path, packet)."""
        artifact = location["physicalLocation"]["artifactLocation"]
        self.assertEqual(artifacts[artifact["index"]]["location"]["uri"], artifact["uri"])
        self.assertRegex(artifact["uri"], r"^(file:///)?[A-Za-z0-9._~/%-]+$")
        logical = location.get("logicalLocations", [{"name": "packet 0", "kind": "packet"}])
        self.assertEqual([(place["kind"], place["name"].split()[0]) for place in logical], [("packet", "packet")])
        if "message" in location:
            self.text(location["message"])
        return unquote(artifact["uri"].removeprefix("file://")), int(logical[0]["name"].split()[1])

    def check(self, log):
        """Check what SARIF 2.1.0 requires of our output.  Returns the run."""
        self.assertEqual((log["version"], len(log["runs"])), ("2.1.0", 1))
        self.assertRegex(log["$schema"], r"^https://.*/sarif-schema-2\.1\.0\.json$")
        run = log["runs"][0]
        driver, artifacts = run["tool"]["driver"], run["artifacts"]
        self.assertEqual(driver["name"], "o2ref judge")
        self.assertEqual([(rule["id"], rule["defaultConfiguration"]["level"], rule["shortDescription"]["text"])
                          for rule in driver["rules"]],
                         [(rule, LEVELS[severity], sentence) for rule, severity, sentence in rules()])
        for rule in driver["rules"]:
            self.text(rule["shortDescription"])
            self.text(rule["help"])
            self.assertRegex(rule["help"]["text"], r"Source: docs/[a-z]+\.md, \"")
        for result in run["results"]:
            self.text(result["message"])
            self.assertEqual(driver["rules"][result["ruleIndex"]]["id"], result["ruleId"])
            # A result whose kind is not "fail", the default, has no level.
            self.assertNotIn("kind", result)
            self.assertIn(result["level"], LEVELS.values())
            self.assertGreaterEqual(result["occurrenceCount"], 1)
            self.assertEqual(len(result["locations"]), 1)
        for invocation in run["invocations"]:
            self.assertIsInstance(invocation["executionSuccessful"], bool)
            for told in invocation.get("toolExecutionNotifications", []):
                self.assertEqual(told["level"], "warning" if invocation["executionSuccessful"] else "error")
                self.text(told["message"])
                self.location(told["locations"][0], artifacts)
        return run

    def test_nothing_found(self):
        done, log = self.sarif(FOLDER / "ping.plain.pcap")
        run = self.check(log)
        self.assertEqual((done.returncode, run["results"], run["invocations"]), (HELD, [], [{"executionSuccessful": True}]))
        version = subprocess.run([PROGRAM, "--version"], capture_output=True, timeout=60, check=True).stdout.decode().split()[1]
        self.assertEqual(run["tool"]["driver"]["version"], version)

    def test_more_than_fit(self):
        run = self.check(self.sarif(self.put("crowd.pcap", crowd(300)))[1])
        told, = run["invocations"][0]["toolExecutionNotifications"]
        self.assertEqual(told["message"]["text"], "44 more findings did not fit into this report")
        self.assertEqual(len(run["results"]), 256)

    def test_it_says_what_json_says(self):
        files = self.several()
        done, log = self.sarif(*files)
        self.assertEqual(done.returncode, USAGE)
        run = self.check(log)
        expected, found = [], []
        for name, report in self.reports(files).items():
            expected += [(name, row["packet"], row.get("earlier_packet", 0), row["rule"], LEVELS[row["severity"]], row["times"])
                         for row in report["findings"]]
        for result in run["results"]:
            path, packet = self.location(result["locations"][0], run["artifacts"])
            earlier = [self.location(place, run["artifacts"])[1] for place in result.get("relatedLocations", [])]
            found.append((path, packet, sum(earlier), result["ruleId"], result["level"], result["occurrenceCount"]))
        self.assertGreaterEqual(len(expected), 2)
        self.assertEqual(found, expected)
        self.assertEqual([unquote(artifact["location"]["uri"].removeprefix("file://")) for artifact in run["artifacts"]],
                         [str(path) for path in files])
        self.assertEqual([invocation["executionSuccessful"] for invocation in run["invocations"]],
                         [True, True, True, False, False])


class Unproven(Files):
    def test_what_waits_at_the_end_is_a_note(self):
        """The last answer has the cookie of no request, and the side that might have sent the request sends nothing more."""
        capture = Capture("get_nomatch_big.plain.pcap")
        number = capture.of_type(GET_DONE)[-1]
        capture.at(number)[MESSAGE + 48] ^= 0x40
        cut = capture.bytes(without=range(number + 1, len(capture.packets) + 1))
        path = self.put("cut.pcap", cut)
        done = judge("--json", path)
        found, = json.loads(done.stdout)["findings"]
        self.assertEqual((done.returncode, found["rule"], found["severity"], found["proven"], found["packet"]),
                         (HELD, "transfer/unasked", "note", False, number))
        self.assertIn(b"not proven", judge(path).stdout)

    def test_whose_packets_may_be_missing(self):
        """A GET has no answer: nothing of the other side's is in question, but the answer of who seems to be late."""
        capture = Capture("get_nomatch_big.plain.pcap")
        _, late = capture.of_type(GET_REQ)
        for number in range(late, len(capture.packets) + 1):
            head = capture.packets[number - 1][0]
            capture.packets[number - 1][0] = struct.pack("<I", struct.unpack_from("<I", head)[0] + 60) + head[4:]
        path = self.put("late.pcap", capture.bytes(without=capture.of_type(GET_DONE)))
        text = judge(path).stdout.decode()
        self.assertRegex(text, r"note +transfer/unanswered .*\n.*\n +not proven: packets may be missing that would show otherwise\n")


class Nobody(Files):
    def test_who_has_not_said_a_name_has_none(self):
        """A single message of an unknown version, so that no field of it can be trusted to name the sender."""
        alone = message(IMMEDIATE)
        alone[4] = 0x77
        path = self.put("alone.pcap", pcap(send(bytes(alone), 100, **THERE)))
        found, = json.loads(judge("--json", path).stdout)["findings"]
        self.assertEqual((found["wire_rule"], found["who"], found["peer"]), ("wire/header/version", None, None))
        self.assertIn(b"(unknown) (to (unknown)): packet 1", judge(path).stdout)


class CannotBeWritten(Files):
    OPTIONS = ("--html", "--junit", "--sarif")

    def test_no_such_folder(self):
        for option in self.OPTIONS:
            with self.subTest(option):
                new = [word for other in self.OPTIONS if other != option for word in (other, self.path / other)]
                done = judge(*new, option, self.path / "no" / "such", FOLDER / "ping.plain.pcap")
                self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
                self.assertEqual(done.stderr.decode(), f"o2ref: {self.path}/no/such: No such file or directory\n")
                self.assertEqual(list(self.path.iterdir()), [])

    def test_a_name_that_is_no_text(self):
        """The name of the capture is not valid text: the report shows question marks."""
        path = self.put(os.fsdecode(b"\xff.pcap"), (FOLDER / "ping.plain.pcap").read_bytes())
        done = judge("--json", path)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(json.loads(done.stdout)["file"], f"{self.path}/?.pcap")

    def kept(self, what, *words):
        """The output is refused with this text, and existing files are kept."""
        capture = (FOLDER / "ping.plain.pcap").read_bytes()
        read, page = self.put("read.pcap", capture), self.put("page", b"as it was")
        done = judge(*words, read)
        self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
        self.assertRegex(done.stderr.decode(), rf"^o2ref: {what}\n$")
        self.assertEqual((read.read_bytes(), page.read_bytes()), (capture, b"as it was"))

    def test_what_is_read_is_not_written(self):
        for option in self.OPTIONS:
            with self.subTest(option):
                self.kept(f"{self.path}/read.pcap: this is the capture that is read, so {option} cannot write it",
                          option, self.path / "read.pcap")

    def test_nor_is_any_of_several(self):
        others = [FOLDER / "ping.plain.pcap"] * 3
        for before in range(len(others) + 1):
            with self.subTest(before):
                self.kept(f"{self.path}/read.pcap: this is the capture that is read, so --sarif cannot write it",
                          "--sarif", self.path / "read.pcap", *others[:before])

    def test_nor_is_it_when_it_is_standard_input(self):
        capture = (FOLDER / "ping.plain.pcap").read_bytes()
        for option in self.OPTIONS:
            with self.subTest(option):
                read = self.put("read.pcap", capture)
                with open(read, "rb") as standard:
                    done = subprocess.run([PROGRAM, "judge", option, read, "-"], stdin=standard, capture_output=True, timeout=60,
                                          check=False)
                self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
                self.assertEqual(done.stderr.decode(),
                                 f"o2ref: {read}: this is the capture that is read, so {option} cannot write it\n")
                self.assertEqual(read.read_bytes(), capture)

    def test_two_options_do_not_write_one_file(self):
        (self.path / "link").symlink_to("page")
        for first, second in (("--html", "--junit"), ("--junit", "--sarif"), ("--html", "--sarif")):
            with self.subTest(f"{first} {second}"):
                self.kept(f"{self.path}/link: {first} writes this file, and so does {second}",
                          first, self.path / "page", second, self.path / "link")

    def test_standard_output_is_not_written_by_an_option(self):
        """The report and the file's text would lie over each other; standard output that is appended to would be emptied."""
        for option, name, mode in zip(self.OPTIONS, ("page", "/dev/stdout", "page"), ("r+b", "r+b", "ab")):
            page = self.put("page", b"as it was")
            with self.subTest(option), open(page, mode) as standard:
                done = subprocess.run([PROGRAM, "judge", option, self.path / name, FOLDER / "ping.plain.pcap"], stdout=standard,
                                      stderr=subprocess.PIPE, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stderr.decode()), (
                    USAGE, f"o2ref: {self.path / name}: this is standard output, so {option} cannot write it\n"))
                self.assertEqual(page.read_bytes(), b"as it was")

    def test_nothing_is_emptied_for_a_run_that_is_refused(self):
        self.kept(f"{self.path}/no/such: No such file or directory", "--html", self.path / "page", "--sarif", self.path / "no" / "such")

    def test_what_is_no_file_may_be_written_by_two(self):
        done = judge("--html", "/dev/null", "--junit", "/dev/null", FOLDER / "ping.plain.pcap")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_what_was_in_the_file_is_gone(self):
        page = self.put("page", b"x" * 1000000)
        self.assertEqual(judge("--junit", page, FOLDER / "ping.plain.pcap").returncode, 0)
        self.assertNotIn(b"xxx", page.read_bytes())

    def test_a_full_disk(self):
        for option in self.OPTIONS:
            with self.subTest(option):
                done = judge(option, "/dev/full", FOLDER / "ping.plain.pcap")
                self.assertEqual(done.returncode, USAGE)
                self.assertEqual(done.stderr.decode(), "o2ref: /dev/full: No space left on device\n")

    def test_no_room_for_all_of_it(self):
        """Also if the temporary file for pending output is full."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        for option in self.OPTIONS:
            for files in (1, 3):
                out = self.path / "out"
                done = subprocess.run([PROGRAM, "judge", option, out, *files * [FOLDER / "ping.plain.pcap"]], timeout=60,
                                      capture_output=True, check=False, preexec_fn=limit, restore_signals=False)
                with self.subTest(f"{option}, {files} files"):
                    self.assertEqual((done.returncode, done.stderr.decode()), (USAGE, f"o2ref: {out}: File too large\n"))

    def test_a_full_temporary_file(self):
        """The page goes into a pipe, which has no limit."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        end, out = os.pipe()
        done = subprocess.run([PROGRAM, "judge", "--html", f"/dev/fd/{out}", FOLDER / "ping.plain.pcap"], timeout=60,
                              capture_output=True, check=False, preexec_fn=limit, restore_signals=False, pass_fds=[out])
        os.close(out)
        os.close(end)
        self.assertEqual((done.returncode, done.stderr.decode()), (USAGE, f"o2ref: /dev/fd/{out}: File too large\n"))

    def test_no_temporary_file(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))

        done = subprocess.run([PROGRAM, "judge", "--html", self.path / "out", FOLDER / "ping.plain.pcap"], timeout=60,
                              capture_output=True, check=False, preexec_fn=limit)
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (USAGE, "o2ref: temporary file for the HTML page: Too many open files\n"))


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
