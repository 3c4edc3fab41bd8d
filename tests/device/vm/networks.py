#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two processes exchange PUTs, GETs and IMMEDIATEs through the connection manager on soft-RoCE, in a guest of ci/vm/run: over
a good network; over one that loses, duplicates and reorders packets; and while queue pairs and processes are killed. Finally
the devices are removed, under `o2ref put` and under an idle `o2ref serve`.

    tests/device/vm/networks.py [--build DIR] [--seed S] [--minutes N [--only-mixed]] [--only-far] [--suite SUITE]

Successful transfers must be exact to the byte on both sides, failures must be reported, every operation must end exactly once,
the credits of each connection must balance after every event on either side, the interfaces must get all their objects back,
and no objects may be left in the devices. --minutes N: then run mixed traffic with all of these faults for N minutes; memory
must not grow. Before that, serve, ping, put and get must work with 400 ms of delay each way (--only-far: only this test), and
property nodes must hold with 20 ms. The last line is "N passed, N failed"; exit status 0, 1, or 77 (no guest can run here).
"""
import argparse
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
REPO_DIR = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
RUN = os.path.join(REPO_DIR, "ci", "vm", "run")

OPERATIONS = 150
BAD_SECONDS = 6  # duration of a test on a bad network, with a connection
DELAY_MS = 400  # each way, for a far peer
# With this delay a message arrives long before its sender's device reports it: the property must wait for that report too.
SLOW_MS, SLOW_CASES = 20, 15
NO_WINDOWS = 0x80000000  # bit of a seed: no memory windows
GROWTH_KIB = 2048  # most growth of a process's memory in the second half of a run, over the quarter before it
FLAT_MINUTES = 10  # in shorter runs memory is not judged, as pools still grow to the size that the traffic needs
SAMPLE_S = 20
END_S = 180

# (name, netem settings, operations at a time, windows or not, least share that must succeed), applied to both ends of the veth
# pair once the connection is up (docs/vm.md). The device gives up now and then, or a connection makes no progress and times
# out; its open operations then fail, and the next one reconnects. Windows make that likely.
NETWORKS = (
    ("loss", "loss 1%", 8, False, 0.95),
    ("loss, with windows", "loss 1%", 8, True, 0.3),
    ("duplicates", "duplicate 10%", 8, True, 0.3),
    ("delay", "delay 1ms", 8, True, 0.3),
    ("reordering", "delay 2ms reorder 25%", 1, False, 0.6),
    ("all at once", "loss 1% duplicate 5% delay 1ms reorder 10%", 1, False, 0.6),
    ("all at once, with windows", "loss 1% duplicate 5% delay 1ms reorder 10%", 8, True, 0.3),
)
# Counters of soft-RoCE; each bad network but "delay" must increase one of them.
COUNTERS = ("out_of_seq_request", "rcvd_seq_err", "duplicate_request", "completer_retry_err")


class Judge:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, held, detail=""):
        self.passed += bool(held)
        self.failed += not held
        if not held:
            print(f"FAIL {what}: {detail}", flush=True)


def resident_kib(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024
    except OSError:
        return 0  # the process has just ended


def slab_kib():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Slab:"))


class Traffic:
    """One process of node_traffic."""

    def __init__(self, program, *arguments):
        self.words = [program, *map(str, arguments)]
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, text=True)
        self.lines = []

    def wait_for(self, word):
        """Wait until it has printed this line."""
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if self.lines[-1] == word:
                return
        raise RuntimeError(f"{' '.join(self.words)} ended without '{word}': {self.lines}")

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def stop_after(self, seconds, number=signal.SIGTERM):
        """Let it run for so long, then stop it."""
        time.sleep(seconds)
        self.stop(number)

    def result(self):
        """Its status, and the figures of its last line; {} if it was killed."""
        try:
            rest, _ = self.process.communicate(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            return "no end", {}
        self.lines += rest.splitlines()
        for line in self.lines:
            if line.startswith("wrong"):
                print(line, flush=True)
        last = self.lines[-1] if self.lines else ""
        return self.process.returncode, json.loads(last) if last.startswith("{") else {}


class Guest:
    """Runs inside the guest: starts the processes and changes the network."""

    def __init__(self, build, seed):
        self.program = os.path.join(build, "node_traffic")
        self.o2ref = os.path.join(build, "o2ref")
        self.o2props = os.path.join(build, "o2props")
        env = os.environ
        self.addresses = [env["O2REF_IP_A"], env["O2REF_IP_B"]]
        self.devices = [env["O2REF_RXE_A"], env["O2REF_RXE_B"]]
        self.netdevs = [env["O2REF_NETDEV_A"], env["O2REF_NETDEV_B"]]
        self.seed = seed
        self.judge = Judge()

    def start(self, what, end, *options):
        process = Traffic(self.program, what, "--device", self.devices[end], "--gid-index", os.environ["O2REF_GID_INDEX"],
                          "--address", self.addresses[end], *options)
        process.wait_for("ready")
        return process

    def serve(self):
        return self.start("serve", 1)

    def drive(self, end=0, windows=True, **options):
        """options: those of node_traffic, with _ for -."""
        self.seed = (self.seed * 69069 + 1) & 0x7FFFFFFF
        words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
        return self.start("drive", end, "--peer", self.addresses[1 - end], "--seed",
                          hex(self.seed if windows else self.seed | NO_WINDOWS), *words)

    def network(self, netem):
        for netdev in self.netdevs:
            if netem:
                subprocess.run(["tc", "qdisc", "replace", "dev", netdev, "root", "netem", *netem.split()], check=True)
            else:
                subprocess.run(["tc", "qdisc", "del", "dev", netdev, "root"], check=False, stderr=subprocess.DEVNULL)

    def counters(self):
        total = 0
        for device in self.devices:
            for name in COUNTERS:
                with open(f"/sys/class/infiniband/{device}/ports/1/hw_counters/{name}", encoding="ascii") as file:
                    total += int(file.read())
        return total

    def check_end(self, what, figures):
        held = figures.get("accounts", 0) > 0 and figures.get("idle") is True
        self.judge.check(f"{what}: credits accounted for, everything handed back", held, figures)
        pinned = figures.get("pinned_kib", {"most": 0, "after": None})
        self.judge.check(f"{what}: nothing stays pinned", pinned["most"] > 0 and pinned["after"] == 0, figures)

    def check_driver(self, what, driver, least=0.0):
        status, figures = driver.result()
        print(f"{what}: status {status}, {json.dumps(figures)}", flush=True)
        again = f"status {status}, {figures}; {' '.join(driver.words)}"
        good = status == 0 and figures.get("wrong") == 0 and figures["started"] == figures["ended"]
        self.judge.check(f"{what}: all ended once, none wrong", good, again)
        self.check_end(what, figures)
        exact = figures.get("exact", 0)
        self.judge.check(f"{what}: enough done", exact > 0 and exact >= least * figures.get("started", 1), again)
        return figures

    def check_server(self, what, server):
        server.stop()
        status, figures = server.result()
        print(f"{what}: server status {status}, {json.dumps(figures)}", flush=True)
        self.judge.check(f"{what}: server", status == 0 and figures.get("wrong") == 0, f"status {status}, {figures}")
        self.check_end(f"{what}: server", figures)
        return figures

    # --- what is tried -----------------------------------------------------------------------------------------------

    def good_network(self):
        server = self.serve()
        figures = self.check_driver("good network", self.drive(count=OPERATIONS), 0.9)
        served = self.check_server("good network", server)
        kinds = figures.get("kinds", {"none": 0})
        for kind, count in kinds.items():
            self.judge.check(f"good network: {kind} occurred", count > 0, figures)
        seen = served.get("served", 0) + served.get("received", 0) + kinds.get("no_match", 0)
        self.judge.check("good network: the server has seen all of it", seen >= figures.get("exact", 0), served)

    def bad_networks(self):
        server = self.serve()
        for name, netem, at_a_time, windows, least in NETWORKS:
            before = self.counters()
            driver = self.drive(windows=windows, open=at_a_time)
            driver.wait_for("up")
            self.network(netem)
            driver.stop_after(BAD_SECONDS)
            self.check_driver(name, driver, least)
            self.network("")
            self.judge.check(f"{name}: reached the devices", name == "delay" or self.counters() > before, netem)
        self.check_server("bad networks", server)

    def far_away(self):
        """The commands with their default time limits and DELAY_MS each way: a slow peer must not be taken for a dead one."""
        self.network(f"delay {DELAY_MS}ms limit 100000")
        server = subprocess.Popen([self.o2ref, "serve", "--device", self.devices[1]],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            print(f"far away: {server.stdout.readline().strip()}", flush=True)
            moved = ("--size", "1048576", "--verify", "--json")
            for words in (("ping", "--json"), ("put", *moved), ("get", *moved)):
                self.far_command(words)
        finally:
            server.terminate()
            print(server.communicate()[0], end="", flush=True)
            self.network("")

    def far_command(self, words):
        done = subprocess.run([self.o2ref, *words, "--device", self.devices[0], f"{self.addresses[1]}@o2ib"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        print(f"far away: {' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
        least_us = 2 * DELAY_MS * 1000
        figures = json.loads(done.stdout) if done.returncode == 0 else {}
        self.judge.check(f"far away: {words[0]}", figures.get("done") == 1 and figures["failed"] == figures["wrong"] == 0,
                         f"status {done.returncode}, {done.stdout}{done.stderr}")
        self.judge.check(f"far away: {words[0]} went that far", figures.get("min_us", 0) >= least_us, figures)

    def slow_network(self):
        self.network(f"delay {SLOW_MS}ms")
        words = [self.o2props, "run", "nodes", "--device", ",".join(self.devices), "--cases", SLOW_CASES, "--seed", self.seed]
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        print(f"slow network: {done.stdout}", end="", flush=True)
        self.judge.check("slow network: property nodes", done.returncode == 0, done.stdout)
        self.network("")

    def both_drive(self):
        """Both ends send requests; the end that stops first closes its connections."""
        first, second = self.drive(0), self.drive(1)
        first.wait_for("up")
        second.wait_for("up")
        second.stop_after(3)
        self.check_driver("both drive, the second", second)
        first.stop_after(1)
        self.check_driver("both drive, the first", first)

    def killed_queue_pairs(self):
        server = self.serve()
        figures = self.check_driver("killed queue pairs", self.drive(count=200, kill_every=40), 0.5)
        self.judge.check("killed queue pairs: some were in use", figures.get("failed", 0) > 0, figures)
        self.judge.check("killed queue pairs: connections came again", figures.get("up", 0) >= 4, figures)
        self.check_server("killed queue pairs", server)

    def killed_server(self):
        server, driver = self.serve(), self.drive(windows=False)
        driver.wait_for("up")
        server.stop_after(2, signal.SIGKILL)
        server.result()
        server = self.serve()
        driver.wait_for("up")
        driver.stop_after(2)
        figures = self.check_driver("killed server", driver)
        self.judge.check("killed server: some operations failed", figures.get("failed", 0) > 0, figures)
        self.judge.check("killed server: the next one was found", figures.get("up", 0) >= 2, figures)
        served = self.check_server("killed server", server)
        self.judge.check("killed server: the next one served", served.get("served", 0) > 0, served)

    def killed_driver(self):
        server, driver = self.serve(), self.drive(windows=False)
        driver.wait_for("up")
        driver.stop_after(2, signal.SIGKILL)
        driver.result()
        self.check_driver("after a killed driver", self.drive(count=60), 0.8)
        served = self.check_server("killed driver", server)
        self.judge.check("killed driver: its connection is gone", served.get("up") == served.get("down") == 2, served)

    def mixed(self, minutes):
        """All faults for a long time: the network changes at random, and queue pairs are killed."""
        what = f"{minutes} minutes"
        dice, end = random.Random(self.seed), time.monotonic() + minutes * 60
        server = self.serve()
        driver = self.drive(seconds=minutes * 60, kill_every=997)
        samples = {"driver": [], "server": []}
        while time.monotonic() < end and driver.process.poll() is None:
            netem = dice.choice(("", "", *(network[1] for network in NETWORKS)))
            self.network(netem)
            time.sleep(min(SAMPLE_S, max(0.0, end - time.monotonic())))
            for who, process in (("driver", driver), ("server", server)):
                samples[who].append(resident_kib(process.process.pid))
            print(f"{minutes * 60 - (end - time.monotonic()):6.0f} s: resident KiB driver {samples['driver'][-1]}, "
                  f"server {samples['server'][-1]}; kernel's slab {slab_kib()}; {netem or 'good network'}", flush=True)
        self.network("")
        self.check_driver(what, driver, 0.3)
        self.check_server(what, server)
        for who, found in samples.items():
            if minutes < FLAT_MINUTES:
                print(f"{what}: memory of the {who} is not judged before {FLAT_MINUTES} minutes, pools are growing")
                continue
            warm, late = found[len(found) // 4:len(found) // 2], found[len(found) // 2:]
            self.judge.check(f"{what}: memory of the {who} is flat", max(late) <= max(warm) + GROWTH_KIB, found)

    def sent_packets(self, end):
        with open(f"/sys/class/infiniband/{self.devices[end]}/ports/1/hw_counters/sent_pkts", encoding="ascii") as file:
            return int(file.read())

    def lose(self, what, end, process):
        """The device is removed.  Its process reports that and ends, and the kernel need not wait for anything else."""
        deleted = subprocess.run(["timeout", str(END_S), "rdma", "link", "delete", self.devices[end]], check=False)
        self.judge.check(f"{what}: the kernel lets it go", deleted.returncode == 0, deleted.returncode)
        _, said = process.communicate(timeout=END_S)
        self.judge.check(f"{what}: it ends", process.returncode == 1, process.returncode)
        self.judge.check(f"{what}: it says why", "o2ref: the device is lost: No such device" in said.splitlines(), said)

    def lost_devices(self):
        words = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        # pylint: disable=consider-using-with
        server = subprocess.Popen([self.o2ref, "serve", "--device", self.devices[1]], **words)
        server.stdout.readline()  # the server is ready
        before = self.sent_packets(0)
        driver = subprocess.Popen([self.o2ref, "put", "--device", self.devices[0], "--count", "1000000",
                                   f"{self.addresses[1]}@o2ib"], **words)
        while self.sent_packets(0) < before + 1000 and driver.poll() is None:
            time.sleep(0.1)
        self.lose("a device under traffic", 0, driver)
        self.lose("a device of an idle server", 1, server)

    def resources(self):
        shown = subprocess.run(["rdma", "-j", "resource", "show"], check=True, capture_output=True, text=True)
        return json.loads(shown.stdout)

    def run(self, minutes, only):
        before = self.resources()
        if only == "far":
            self.far_away()
        elif only is None:
            self.good_network()
            self.bad_networks()
            self.far_away()
            self.slow_network()
            self.both_drive()
            self.killed_queue_pairs()
            self.killed_server()
            self.killed_driver()
        if minutes:
            self.mixed(minutes)
        self.judge.check("the devices hold what they held", self.resources() == before, self.resources())
        if only is None:
            self.lost_devices()
        print(f"{self.judge.passed} passed, {self.judge.failed} failed", flush=True)
        return 1 if self.judge.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/gcc", help="where node_traffic is (build/gcc)")
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=secrets.randbits(32), help="of the traffic")
    parser.add_argument("--minutes", type=int, default=0, help="of mixed traffic at the end")
    parser.add_argument("--only-mixed", action="store_const", dest="only", const="mixed", help="nothing but the mixed traffic")
    parser.add_argument("--only-far", action="store_const", dest="only", const="far", help="nothing but the commands, far away")
    parser.add_argument("--suite", help="the guest's kernel is of this suite of Debian")
    parser.add_argument("--in-guest", action="store_true", help="this is the guest")
    options = parser.parse_args()
    if options.only == "mixed" and options.minutes <= 0:
        parser.error("--only-mixed needs --minutes N")
    os.chdir(REPO_DIR)
    if options.in_guest:
        return Guest(options.build, options.seed).run(options.minutes, options.only)
    only = [f"--only-{options.only}"] if options.only else []
    again = " ".join([f"--minutes {options.minutes}"] * (options.minutes > 0) + only)
    print(f"seed 0x{options.seed:x}; again: tests/device/vm/networks.py --seed 0x{options.seed:x} {again}", flush=True)
    command = [RUN, "--timeout", str(900 + 90 * options.minutes), *(["--suite", options.suite] if options.suite else []),
               "--", "python3", os.path.abspath(__file__), "--in-guest", "--build", options.build, "--seed",
               str(options.seed), "--minutes", str(options.minutes), *only]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
