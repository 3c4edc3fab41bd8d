#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2ref serve, ping, put and get between two processes, over RDMA and its connection manager.

    ci/vm/run -- tests/device/net_rxe.py [O2REF [TEST]...]

O2REF: the program; else build/gcc/o2ref.  TEST: Rxe.test_devices and so on.  Last line "N passed, N failed".

The two devices and their addresses are taken from the variables that ci/vm/run sets (docs/vm.md).
"""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True

PROGRAM = str(ROOT / "build" / "gcc" / "o2ref")
OK, FAILED, USAGE = 0, 1, 2
MODES = ("global", "fmr", "fastreg", "user", "phys", "fastreg_gaps")
SECONDS = 120  # time limit of a command, enough even in an emulator

DEVICE_A, DEVICE_B = os.environ["O2REF_RXE_A"], os.environ["O2REF_RXE_B"]
US, PEER = os.environ["O2REF_IP_A"] + "@o2ib", os.environ["O2REF_IP_B"] + "@o2ib"


class Server:
    """`o2ref serve` on the second device; when the block begins, it is ready."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __enter__(self):
        self.process = subprocess.Popen([PROGRAM, "serve", "--device", DEVICE_B, *map(str, self.arguments)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if not line.startswith("serving as " + PEER):
            self.process.kill()
            raise AssertionError(f"serve says '{line}' {self.process.communicate()[1]}")
        return self

    def end(self, number=signal.SIGTERM):
        """(status, stdout, stderr) of the server."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def start(command, *arguments, peer=PEER):
    return subprocess.Popen([PROGRAM, command, "--device", DEVICE_A, *map(str, arguments), peer],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    out, err = process.communicate(timeout=SECONDS)
    if process.returncode not in (OK, FAILED, USAGE):
        raise AssertionError(f"{process.args}: status {process.returncode}: {err}")
    return process.returncode, out, err


def await_line(process, text):
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"{process.args} has ended without a line '{text}'")


def client(command, *arguments, peer=PEER):
    return finish(start(command, *arguments, peer=peer))


class Timed(unittest.TextTestResult):
    """Prints the duration of each test: emulators are slow, and their time is limited."""

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        self.stream.writeln(f"  {time.monotonic() - self.began:.1f} s")
        super().stopTest(test)


class Rxe(unittest.TestCase):
    def moved(self, result, count):
        status, out, err = result
        self.assertEqual((status, err), (OK, ""), out)
        self.assertIn(f": {count} done, 0 failed, ", out)
        if "verify" in out:
            self.assertIn(f"verify: {count} checked, 0 wrong\n", out)

    def ended_well(self, server):
        status, out, err = server.end()
        self.assertEqual(status, OK, out + err)

    def test_every_mode_and_form(self):
        with Server("--verify") as server:
            status, out, err = client("ping")
            self.assertEqual((status, err), (OK, ""))
            self.assertRegex(out, rf"^{re.escape(PEER)}: \d+ us, pid 12345, features 0xe: 0@lo {re.escape(PEER)}\n$")
            puts = 0
            for mode in MODES:
                # Sizes on both sides of the longest IMMEDIATE, in one mode only; then sizes for which modes differ.
                for size, count in ((3976, 9), (3977, 9)) if mode == MODES[0] else ((12345, 9), (1048576, 9)):
                    with self.subTest(mode=mode, size=size):
                        # With several transfers in flight, each is read back from its own place.
                        common = ("--mode", mode, "--size", size, "--count", count, "--verify")
                        self.moved(client("put", *common), count)
                        self.moved(client("get", *common), count)
                        puts += count
            status, out, err = server.end()
            self.assertEqual((status, err), (OK, ""))
            self.assertIn(f"verify: {puts} checked, 0 wrong, 0 ambiguous (may be another PUT's)\n", out)

    def test_fragments_on_both_sides(self):
        with Server("--mode", "fmr", "--fragments", 100) as server:
            for mode, fragments in (("global", 256), ("fmr", 33), ("fastreg", 16), ("fastreg_gaps", 257)):
                with self.subTest(mode=mode):
                    common = ("--mode", mode, "--fragments", fragments, "--count", 4, "--verify")
                    self.moved(client("put", *common), 4)
                    self.moved(client("get", *common), 4)
            self.ended_well(server)

    def test_wrong_bytes_are_found_out(self):
        with Server("--seed", 2) as server:
            status, out, err = client("get", "--count", 3, "--verify")
            self.assertEqual(status, FAILED)
            self.assertIn("verify: 3 checked, 3 wrong\n", out)
            self.assertEqual(len(re.findall(r"^o2ref: GET \d: byte \d is 0x.., not 0x.. \(seed 1\)$", err, re.M)), 3)
            # Portal 61 can only be read, so a write must fail.
            status, _, err = client("put", "--portal", 61)
            self.assertEqual(status, FAILED)
            self.assertRegex(err, r"^o2ref: PUT 0 at .*ENODATA[^\n]*\n$")
            self.ended_well(server)
        with Server("--verify", "--seed", 3) as server:
            client("put", "--count", 2)
            status, out, err = server.end()
            self.assertEqual(status, FAILED)
            self.assertIn("verify: 2 checked, 2 wrong, 0 ambiguous (may be another PUT's)\n", out)

    def test_many_to_one_place(self):
        """The next PUT may overwrite a PUT before the server has checked it; the server must not report wrong bytes.

        A client without ACKs may leave before the server has handled its last messages, which then fail at the server.
        """
        for arguments in (("--no-ack",), ()):
            for size in (1000, 5000, 65536):
                with self.subTest(arguments=arguments, size=size), Server("--verify") as server:
                    self.moved(client("put", "--count", 200, "--in-flight", 64, "--size", size, *arguments), 200)
                    status, out, err = server.end()
                    done, failed = map(int, re.search(r"serve: (\d+) done, (\d+) failed", out).groups())
                    self.assertEqual((status, err), (FAILED if failed else OK, ""), out)
                    self.assertLessEqual(done + failed, 200, out)
                    self.assertLessEqual(failed, 64 if arguments else 0, out)
                    self.assertRegex(out, rf"verify: {done} checked, 0 wrong, \d+ ambiguous")

    def test_short_answers(self):
        with Server("--truncate", "--buffer", "61:0x1234:8192:ro") as server:
            for size in (3000, 65536):
                common = ("--verify", "--size", size, "--offset", 8192 - 2000)
                self.failed(rf"GET 0 at .*: short: the peer reports 2000 of {size} bytes\n$", "get", *common)
                status, out, err = client("get", "--accept-short", "--json", *common)
                report = json.loads(out)
                self.assertEqual((status, err, report["bytes"], report["short"], report["wrong"]), (OK, "", 2000, 1, 0))
            # The client may leave before its device has acknowledged the server's last message.
            status, out, _ = server.end()
            failed = int(re.search(r"serve: \d+ done, (\d+) failed", out)[1])
            self.assertEqual(status, FAILED if failed else OK, out)
            self.assertLessEqual(failed, 4, out)

    def test_the_peer_asks_us(self):
        """A node that sends requests can itself be asked meanwhile, also from a host whose port a server uses."""
        with Server() as server:
            running = start("ping", "--count", 2, "--interval", 3600000, "--verbose")
            self.assertIn(PEER, running.stdout.readline())
            done = subprocess.run([PROGRAM, "ping", "--device", DEVICE_B, "--verbose", US], capture_output=True, text=True,
                                  timeout=SECONDS, check=False)
            self.assertEqual((done.returncode, done.stderr), (OK, "o2ref: port 987 is taken, so the peer cannot connect to us\n"))
            self.assertIn(f"{US}: ", done.stdout)
            running.send_signal(signal.SIGTERM)
            status, out, err = finish(running)
            self.assertEqual((status, err), (FAILED, "o2ref: ended after 1 of 2 operations\n"))
            self.assertIn(f"{PEER}: ping\n", out)
            self.ended_well(server)

    def test_an_end_by_count(self):
        # Run the clients one after another: the server would take a second process of the same NID for a restart of the first.
        with Server("--requests", 20, "--buffer", "60:0x77:2000000") as server:
            for at in (0, 1000000):
                self.moved(client("put", "--count", 10, "--size", 5000, "--match-bits", "0x77", "--offset", at), 10)
            self.assertEqual(server.process.wait(timeout=SECONDS), OK)

    def test_json_and_checksum(self):
        for theirs, ours in (("unsigned", "signed"), ("signed", "auto"), ("auto", "unsigned")):
            with self.subTest(server=theirs, client=ours), Server("--checksum", theirs) as server:
                status, out, _ = client("put", "--json", "--checksum", ours, "--count", 5, "--size", 3000)
                report = json.loads(out)
                self.assertEqual((status, report["done"], report["bytes"], report["peer"]), (OK, 5, 15000, PEER))
                self.ended_well(server)

    def failed(self, pattern, *arguments, peer=PEER):
        status, _, err = client(*arguments, peer=peer)
        self.assertEqual((status, err.count("\n")), (FAILED, 1), err)
        self.assertRegex(err, r"^o2ref: " + pattern)

    def test_nobody_there(self):
        self.failed(r"ping 0 at .*EHOSTUNREACH.*reject/no-listener", "ping")
        with Server("--port", 988):
            self.failed(r"PUT 0 at .*EHOSTUNREACH.*reject/no-listener", "put")
            self.moved(client("put", "--port", 988), 1)
            # The port is in use: a second server prints one clear line.
            done = subprocess.run([PROGRAM, "serve", "--device", DEVICE_B, "--port", "988"], capture_output=True, text=True,
                                  timeout=SECONDS, check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (USAGE, 1), done.stderr)
        self.failed(r"GET 0 at .*(EHOSTUNREACH|ENETDOWN)", "get", "--timeout", 3, peer="192.0.2.1@o2ib")

    def test_devices(self):
        for *arguments, peer, pattern in (
            ("--device", "none9", PEER, rf"there is no RDMA device none9 \(there are: .*{DEVICE_A}.*\)"),
            ("--device", DEVICE_A, US, rf"the peer's NID is that of device {DEVICE_A}: it is our own\n$"),
            ("--device", DEVICE_A, "--nid", "192.0.2.1@o2ib", PEER, rf"device {DEVICE_A} does not have the address 192.0.2.1"),
        ):
            done = subprocess.run([PROGRAM, "ping", *arguments, peer], capture_output=True, text=True, timeout=SECONDS,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (USAGE, 1))
            self.assertRegex(done.stderr, "^o2ref: " + pattern)

    def test_the_server_dies(self):
        """End the server in the middle of transfers: by SIGKILL, without notice to the peer, and by SIGTERM, with notice.

        Mode fmr is used, because a killed process cannot free its memory windows before its queue pairs, as soft-RoCE
        requires (docs/vm.md).
        """
        for number in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(signal=number.name), Server("--verbose", "--mode", "fmr") as server:
                running = start("put", "--count", 100000, "--size", 65536, "--timeout", 5, "--mode", "fmr")
                await_line(server.process, "PUT 65536")
                server.process.send_signal(number)
                began = time.monotonic()
                status, out, err = finish(running)
                self.assertLess(time.monotonic() - began, 60)
                self.assertEqual((status, err.count("\n")), (FAILED, 1), err)
                self.assertRegex(err, r"^o2ref: PUT \d+ at .*: ")
                self.assertRegex(out, r"^put: \d+ done, [1-9]\d* failed")

    def test_the_client_dies(self):
        with Server("--verbose") as server:
            running = start("put", "--count", 100000, "--size", 65536, "--mode", "fmr")
            await_line(server.process, "PUT 65536")
            running.kill()
            running.communicate()
            # The server survives, and serves the next client.
            self.moved(client("get", "--count", 3, "--verify"), 3)
            self.assertIn(server.end()[0], (OK, FAILED))


def main(module):
    """Run the tests of a module with the program and the test names of the command line; returns the exit status."""
    global PROGRAM
    PROGRAM, *names = sys.argv[1:] or [PROGRAM]
    loader = unittest.defaultTestLoader
    tests = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Timed).run(tests)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    if failed:
        print(f"replay: ci/vm/run -- {sys.argv[0]} {PROGRAM}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
