#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2ref judge --live: recordings, some with a defect, are sent packet by packet to the loopback interface of a separate
network namespace; the verdict must be that of the file.

usage: test_judge_live.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "system"))
from cli.carriers import ETHERNET, file_of  # noqa: E402
from cli.pcap_cases import capture, packets_of, roce  # noqa: E402
from test_link_types import suite, wrong  # noqa: E402

FOLDER = ROOT / "corpus" / "captures" / "pcap"
PROGRAM = suite.program()
INSIDE = "--inside"  # this process runs in its own namespace
ETH_P_ALL, IFF_UP = 3, 1
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
HELD, BROKEN, USAGE = 0, 1, 2
NOBODY = 65534


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | IFF_UP))


def recording(name):
    """Without the times, which depend on when the packets were sent."""
    return [(0, frame) for _, frame in packets_of((FOLDER / f"{name}.plain.pcap").read_bytes())]


def without_times(report):
    for row in report["findings"]:
        del row["time_ns"]
    return {**report, "file": ""}


def comes_true(condition):
    """Within a minute?"""
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


class Live:
    """The command, listening; it is stopped at the end of the test."""

    def __init__(self, *options, before=(), stdout=subprocess.PIPE):
        self.child = subprocess.Popen([*before, PROGRAM, "judge", "--live", "lo", *options], stdout=stdout,
                                      stderr=subprocess.PIPE, text=True)
        self.said = self.child.stderr.readline()
        if "listening on lo" not in self.said:
            raise AssertionError(self.said)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.communicate()

    @staticmethod
    def send(packets):
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as wire:
            wire.bind(("lo", 0))
            for _, frame in packets:
                wire.send(frame)

    def ended(self):
        """(exit status, standard output, rest of standard error)"""
        out, err = self.child.communicate(timeout=60)
        return self.child.returncode, out, err


class Replayed(unittest.TestCase):
    def test_as_the_file(self):
        for name in ("ping", "put_3977", "put_trunc", "race", "early"):
            packets = recording(name)
            for given in filter(None, (packets, wrong(packets))):
                done = subprocess.run([PROGRAM, "judge", "--json", "-"], input=file_of(ETHERNET, given), capture_output=True,
                                      timeout=60, check=False)
                expected = without_times(json.loads(done.stdout))
                with Live("--json", "--packets", str(len(given))) as live:
                    live.send(given)
                    status, out, err = live.ended()
                *found, report = map(json.loads, out.splitlines())
                self.assertEqual((status, err), (done.returncode, ""))
                self.assertEqual(without_times(report), expected)
                # Each finding was also printed by itself.
                self.assertEqual([row["rule"] for row in found], [row["rule"] for row in expected["findings"]])
                self.assertTrue(all(row["form"] == "o2ref/judge/finding" for row in found))
                self.assertEqual(given is packets, report["must"] == 0)

    def test_what_is_found_is_said_at_once(self):
        with Live() as live:
            live.send(wrong(recording("put_3977")))
            line = live.child.stdout.readline()
            self.assertRegex(line, r"^must transfer/bytes-written: 10\.77\.0\.1@o2ib \(to 10\.77\.0\.2@o2ib\): packet 6, "
                                   r"about packet 3: bytes written is 3977, expected 3976\n$")
            self.assertIsNone(live.child.poll())
            live.child.send_signal(signal.SIGINT)
            status, out, err = live.ended()
        self.assertEqual((status, err), (BROKEN, ""))
        self.assertIn("\n1 must, 0 should, 0 notes\n", out)

    def test_files_are_written_when_it_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {option: Path(folder) / option for option in ("html", "junit", "sarif")}
            with Live(*(word for option, path in files.items() for word in (f"--{option}", str(path)))) as live:
                live.send(wrong(recording("put_3977")))
                live.child.stdout.readline()
                live.child.send_signal(signal.SIGINT)
                self.assertEqual(live.ended()[0], BROKEN)
            page = files["html"].read_text(encoding="utf-8")
            self.assertRegex(page, r'<div class="row ab msg shows must" id="f1-e\d+">')
            self.assertTrue(page.endswith("</body></html>\n"))
            self.assertIn('<failure type="must"', files["junit"].read_text(encoding="utf-8"))
            result, = json.loads(files["sarif"].read_text(encoding="utf-8"))["runs"][0]["results"]
            self.assertEqual(result["ruleId"], "transfer/bytes-written")

    def test_standard_output_that_cannot_be_written(self):
        """The error is reported once, and not as lack of memory.  Without buffering, the C library may lose the reason."""
        given = wrong(recording("put_3977"))
        for form in ([], ["--json"]):
            for buffer, reason in (("0", "No space left on device|Input/output error"), ("4096", "No space left on device")):
                with open("/dev/full", "wb") as full, Live(*form, "--packets", str(len(given)), stdout=full,
                                                           before=("stdbuf", "-o", buffer)) as live:
                    live.send(given)
                    status, _, err = live.ended()
                self.assertEqual(status, USAGE)
                self.assertRegex(err, rf"\Ao2ref: standard output: ({reason})\n\Z")

    def test_a_signal_while_findings_wait_for_their_reader(self):
        """All of them are still printed."""
        bad = bytearray(capture("024_GET_REQ*"))
        bad[4] ^= 0xFF
        frames = [(0, roce(4, 1, bytes(bad), qp=qp)) for qp in range(100, 140)]
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        with open(reader, encoding="utf-8") as lines, Live("--json", stdout=writer) as live:
            os.close(writer)
            live.send(frames)
            self.assertTrue(comes_true(lambda: suite.waits_for_a_reader(live.child.pid)))
            live.child.send_signal(signal.SIGINT)
            self.assertTrue(comes_true(lambda: not suite.in_signal_set(live.child.pid, "SigCgt", signal.SIGINT)))
            found = lines.read().splitlines()
            status, _, err = live.ended()
        self.assertEqual((status, err), (BROKEN, ""))
        self.assertEqual(json.loads(found[-1])["must"], len(found) - 1)

    def test_it_ends_by_itself(self):
        for options, signal_number in ((("--seconds", "1"), None), (("--seconds", "3600"), signal.SIGTERM)):
            with Live(*options) as live:
                if signal_number:
                    live.child.send_signal(signal_number)
                status, out, _ = live.ended()
            self.assertEqual((status, out.splitlines()[0][:12]), (HELD, "0 packets: 0"))

    def test_frames_longer_than_any_packet(self):
        """Also an empty frame: the judge counts them all and ends."""
        frames = [(0, bytes(12) + b"\x08\x00" + bytes(size)) for size in (0, 1, 9000, 60000)]
        with Live("--packets", "4") as live:
            live.send(frames)
            self.assertEqual(live.ended()[0], HELD)


class Refused(unittest.TestCase):
    def refused(self, *words, **options):
        done = subprocess.run([PROGRAM, "judge", *words], capture_output=True, text=True, timeout=60, check=False, **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (USAGE, "", 1), done.stderr)
        return done.stderr

    def test_no_interface(self):
        self.assertIn("no-such-one: ", self.refused("--live", "no-such-one"))

    def test_no_permission(self):
        if os.geteuid() != 0 or not os.access(PROGRAM, os.X_OK):
            print("skipped: test_no_permission: it takes root to become another user")
            return

        def drop():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

        try:
            self.assertIn("lo: ", self.refused("--live", "lo", preexec_fn=drop))
        except (PermissionError, subprocess.SubprocessError) as error:
            print(f"skipped: test_no_permission: {error}")

    def test_usage(self):
        for words in (("--live", "lo", "a-file"), ("--seconds", "1", "a-file"), ("--packets", "1", "a-file"),
                      ("--live", "lo", "--seconds", "0"), ("--live", "lo", "--packets", "0"), ("--live",)):
            self.refused(*words)


def enter():
    """Start this script again in a network namespace; returns the reason if that is not possible."""
    unshare = shutil.which("unshare")
    words = [unshare, "-n"] if os.geteuid() == 0 else [unshare, "-rn"]
    if unshare is None or subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
        print("skipped: no network namespace can be made here")
        return
    os.execv(unshare, [*words, sys.executable, __file__, INSIDE, PROGRAM])


def main():
    if sys.argv[1:2] != [INSIDE]:
        enter()
        return 0
    try:
        raise_loopback()
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)).close()
    except OSError as error:
        print(f"skipped: no packets can be sent into a loopback of our own: {error}")
        return 0
    return suite.run(suite.of(sys.modules[__name__]))


if __name__ == "__main__":
    sys.exit(main())
