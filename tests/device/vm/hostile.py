#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test misbehaviours over soft-RoCE, in a guest of ci/vm/run (docs/hostile.md, "Over a network"): against a victim in its own
process, against `o2ref serve` as a peer that takes no orders, and against both with a check removed or loosened, which must
be detected.

    tests/device/vm/hostile.py [--build DIR] [--some N [--seed S]]

No objects may be left in the devices. The last line is "N passed, N failed"; exit status 0, 1, or 77 (no guest
can run here).
"""
import argparse
import json
import os
import re
import secrets
import select
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
REPO_DIR = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
RUN = os.path.join(REPO_DIR, "ci", "vm", "run")

GUEST_S = 900
STEP_S = 600
READY_S = 60
SERVE_TIMEOUT_S = 2  # after so long without an answer `serve` gives the peer up
ALL = 124

# (misbehaviour, mutant without a check): the victim no longer reacts as it should; one for each way of detecting this.
WITHOUT = (
    ("magic", "without/wire/header/magic"),
    ("noop-storm", "noops-unlimited"),
    ("puts-less", "put-done-unchecked"),
    ("silent-to-get", "deadline-ignored"),
    ("into-slots", "without/reg/slots-local"),
    ("asks-with-connack", "without/connreq/type"),
    ("replies-request", "without/connack/type"),
    ("unknown-type", "type-asserted"),  # the victim crashes
)

# Faults of a peer that are visible from outside: options of serve, misbehaviour (with options), text of the finding.
LOOSE = (
    (("--queue-depth", "16"), ("asks-depth-9",), "accepted, reason 0"),
    (("--timeout", "60"), ("--patience", "2", "silent-after-ack"), "the connection is still there"),
    (("--mode", "global"), ("before",), "the connection is still there"),
    (("--mode", "global"), ("after-done",), "the connection is still there"),
)

# Number of misbehaviours that need a peer that takes orders (docs/hostile.md, "Any peer").
NOT_TRIED = 24


class Guest:
    """Runs inside the guest."""

    def __init__(self, build, some, seed):
        self.build = build
        self.which = ["--some", str(some), "--seed", str(seed)] if some else ["--all"]
        self.expected = some or ALL
        self.a, self.b = os.environ["O2REF_RXE_A"], os.environ["O2REF_RXE_B"]
        self.peer = os.environ["O2REF_IP_B"] + "@o2ib"
        self.passed = self.failed = 0

    def check(self, what, held, detail=""):
        self.passed += bool(held)
        self.failed += not held
        print(f"{'ok  ' if held else 'FAIL'} {what}" + ("" if held else f": {detail}"), flush=True)

    def hostile(self, program, *arguments):
        """(status, output)"""
        command = [os.path.join(self.build, program), "hostile", *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=STEP_S, check=False)
        return done.returncode, done.stdout, " ".join(command)

    def serve(self, *arguments):
        command = [os.path.join(self.build, "o2ref"), "serve", "--device", self.b, *arguments]
        # pylint: disable=consider-using-with
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        ready, _, _ = select.select([server.stdout], [], [], READY_S)
        line = server.stdout.readline() if ready else ""
        if not line.startswith("serving as "):
            server.kill()
            raise RuntimeError(f"{' '.join(command)} says '{line}'")
        return server

    def against(self, serve, hostile):
        """Run misbehaviours against a peer that was started with these options; returns (status, text, command)."""
        server = self.serve(*serve)
        found = self.hostile("o2props", "--device", self.a, "--peer", self.peer, "--portal", "60", "--match-bits", "0x1234",
                             *hostile)
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=READY_S)
        # Status 1 is accepted: some of its operations are expected to fail.
        self.check(f"serve {' '.join(serve)}: ends when it is told to", server.returncode in (0, 1), server.returncode)
        return found

    def in_two_processes(self):
        status, text, command = self.hostile("o2props", "--device", f"{self.a},{self.b}", *self.which)
        print((text.splitlines() or [command])[-1], "(a victim of its own process)", flush=True)
        self.check("a victim of its own process", status == 0 and f"\n{self.expected} passed, 0 failed\n" in text,
                   f"status {status}\n{text}replay: ci/vm/run -- {command}")

    def on_no_device(self):
        status, text, _ = self.hostile("o2props", "--device", f"no-such-device,{self.b}", "--all")
        self.check("a device that is not there is named, in one line", status == 77 and len(text.splitlines()) == 1 and
                   text.startswith("o2props: cannot begin: cannot use no-such-device: "), f"status {status}\n{text}")

    def without_checks(self):
        for name, mutant in WITHOUT:
            status, text, command = self.hostile("o2props-mutants", "--device", f"{self.a},{self.b}", "--mutant", mutant, name)
            said = re.search(rf"^{name} +NOT MET: (open 1|rejected 0|.* ended with signal)", text, re.M)
            self.check(f"{name} is noticed {mutant}", status == 1 and said,
                       f"status {status}\n{text}replay: ci/vm/run -- {command}")

    def at_a_stranger(self):
        """A peer that behaves as it must gives the same result under both profiles."""
        for profile in ("strict", "kernel"):
            status, text, command = self.against(("--timeout", str(SERVE_TIMEOUT_S)), ["--profile", profile, *self.which])
            last = (text.splitlines() or [""])[-1]
            print(last, f"(o2ref serve, profile {profile})", flush=True)
            passed, *rest, not_tried = [int(word) for word in re.findall(r"\d+", last)] or (0, 1, 0)
            right = not_tried == NOT_TRIED if self.expected == ALL else not_tried <= NOT_TRIED
            self.check(f"o2ref serve, profile {profile}",
                       status == 0 and rest == [0, 0] and right and passed + not_tried == self.expected,
                       f"status {status}\n{text}replay: o2ref serve, and {command}")

    def at_a_loose_stranger(self):
        """Behaviour that no kernel is known to have is a fault under both profiles.  Missing memory is not the peer's fault."""
        status, text, command = self.against(("--buffer", "60:0x77:100000"), ("done-twice",))
        self.check("a peer that does not serve what it should is not tried", status == 77 and "cannot begin" in text,
                   f"status {status}\n{text}{command}")
        for serve, hostile, said in LOOSE:
            for profile in ("strict", "kernel"):
                status, text, command = self.against(serve, ["--profile", profile, *hostile])
                noticed = status == 1 and "NOT MET: " in text and "1 failed" in text and said in text
                self.check(f"{hostile[-1]} is noticed at serve {' '.join(serve)}, profile {profile}", noticed,
                           f"status {status}\n{text}{command}")

    def at_a_short_stranger(self):
        """The peer answers with success and with less than was asked for; both must be reported."""
        status, text, command = self.against(("--buffer", "60:0x1234:5000", "--truncate"), ("magic",))
        named = "GET of 9000 bytes" in text and "5000 bytes" in text and "Success" not in text
        self.check("a peer that answers short is named", status == 77 and named, f"status {status}\n{text}{command}")

    def at_a_narrow_stranger(self):
        """The peer has fewer fragments than a misbehaviour would need; that must not count as a failure."""
        names = ("magic", "get-many-fragments", "asks-frags-258", "asks-depth-9")
        status, text, command = self.against(("--max-frags", "256"), names)
        self.check("a peer with 256 fragments", status == 0 and f"{len(names)} passed, 0 failed" in text,
                   f"status {status}\n{text}{command}")

    def resources(self):
        shown = subprocess.run(["rdma", "-j", "resource", "show"], check=True, capture_output=True, text=True)
        return json.loads(shown.stdout)

    def run(self):
        before = self.resources()
        self.in_two_processes()
        self.on_no_device()
        self.without_checks()
        self.at_a_stranger()
        self.at_a_loose_stranger()
        self.at_a_short_stranger()
        self.at_a_narrow_stranger()
        self.check("the devices hold what they held", self.resources() == before, self.resources())
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/gcc", help="where the programs are (build/gcc)")
    parser.add_argument("--some", type=int, default=0, metavar="N", help="so many misbehaviours instead of all")
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=secrets.randbits(32), help="which ones")
    parser.add_argument("--in-guest", action="store_true", help="this is the guest")
    options = parser.parse_args()
    os.chdir(REPO_DIR)
    if options.in_guest:
        return Guest(options.build, options.some, options.seed).run()
    chosen = ["--some", str(options.some), "--seed", str(options.seed)] if options.some else []
    print(f"again: tests/device/vm/hostile.py {' '.join(chosen)}".rstrip(), flush=True)
    command = [RUN, "--timeout", str(GUEST_S), "--", "python3", os.path.abspath(__file__), "--in-guest", "--build", options.build,
               *chosen]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
