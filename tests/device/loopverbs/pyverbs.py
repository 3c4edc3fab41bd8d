#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run the independent tests of Debian's python3-pyverbs on loopverbs and on soft-RoCE.

The tests are copied from the package into the build tree and run by their own run_tests.py: on loopverbs here, with
libloopverbs.so loaded before libibverbs; on soft-RoCE in a guest of ci/vm/run, where each test that binds memory windows
has its own guest.  ibv_devinfo -v also runs and must show both devices.

pyverbs_expected.json lists the tests that are not about reliable connections, regions, windows, domains and queues, each
with a reason; they may be skipped.  Every other test must pass on loopverbs, and every test must have the same result on
both devices unless its entry says how they differ.  The last line is "N passed, N failed, N skipped".
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
VM = os.path.join(ROOT, "ci", "vm", "run")
PACKAGE = "/usr/share/doc/rdma-core/tests"
PYTHON = "/usr/bin/python3"
MODULES = ("test_pd", "test_cq", "test_mr", "test_qp")
CANNOT_RUN = 77
PANIC = 71
# Tests of these classes bind memory windows; each runs in its own guest, so that a guest that fails costs no other test.
DANGEROUS = ("MWTest",)
RESULT = re.compile(r"^(test_\w+) \((tests\.[\w.]+)\)(.*?)\.\.\. (?:.*?)(ok|FAIL|ERROR|skipped)\b", re.M | re.S)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", metavar="DIR", default=os.path.join(ROOT, "build", "gcc"),
                        help="where libloopverbs.so is, built without sanitizers; the tests are copied there "
                             "(default build/gcc)")
    parser.add_argument("--device", choices=("loop", "rxe", "both"), default="both", help="(default %(default)s)")
    parser.add_argument("--timeout", metavar="SECONDS", type=int, default=180,
                        help="for each run (default %(default)s)")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="guests at a time (default %(default)s)")
    return parser.parse_args()


def package_tests(build):
    """The folder of the package's tests.  Small images install no documentation: then the package itself provides them."""
    if os.path.isdir(PACKAGE):
        return PACKAGE
    folder = os.path.join(build, "pyverbs-package")
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["apt-get", "download", "python3-pyverbs"], cwd=folder, check=False, stdout=subprocess.DEVNULL)
    for name in os.listdir(folder):
        if name.endswith(".deb"):
            subprocess.run(["dpkg-deb", "-x", name, "."], cwd=folder, check=False)
    unpacked = folder + PACKAGE
    if not os.path.isdir(unpacked):
        print(f"pyverbs: {PACKAGE} is missing (Debian package python3-pyverbs)", file=sys.stderr)
        sys.exit(CANNOT_RUN)
    return unpacked


def prepare(build):
    """Copy the package's tests, unpacked, and return the folder to run them from."""
    package = package_tests(build)
    folder = os.path.join(build, "pyverbs")
    tests = os.path.join(folder, "tests")
    shutil.rmtree(tests, ignore_errors=True)
    os.makedirs(tests)
    for name in os.listdir(package):
        # The package's own loader imports every test module it finds, which takes long in an emulated guest.
        if name.startswith("test_") and name.split(".")[0] not in MODULES:
            continue
        source = os.path.join(package, name)
        if name.endswith(".gz"):
            with gzip.open(source) as packed, open(os.path.join(tests, name[:-3]), "wb") as plain:
                shutil.copyfileobj(packed, plain)
        elif os.path.isfile(source):
            shutil.copy(source, tests)
    return folder


def results(text):
    """{test: "ok" | "FAIL" | "ERROR" | "skipped"} from the verbose output of unittest."""
    found = {}
    for match in RESULT.finditer(text):
        name = match.group(2)
        if not name.endswith("." + match.group(1)):
            name += "." + match.group(1)  # Python before 3.11 prints only the class
        found[name[len("tests."):]] = match.group(4)
    return found


def run_loop(args, folder):
    library = os.path.join(args.build, "libloopverbs.so")
    env = dict(os.environ, LD_PRELOAD=library, ASAN_OPTIONS="detect_leaks=0")
    found = {}
    for module in MODULES:
        command = [PYTHON, "tests/run_tests.py", "--dev", "loop0", "--port", "1", "--gid", "1", "-v", f"tests.{module}"]
        done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=args.timeout)
        keep(folder, f"loop-{module}", done.stdout)
        got = results(done.stdout)
        if done.returncode < 0 or not got:
            print(f"{module} on loopverbs ended with status {done.returncode}:\n{done.stdout[-2000:]}")
        found.update(got)
    return found


def keep(folder, name, text):
    with open(os.path.join(folder, name + ".log"), "w", encoding="utf-8") as log:
        log.write(text)


def guest(args, folder, tests, name):
    """Run these tests in one guest."""
    script = (f'cd "$0" && exec {PYTHON} tests/run_tests.py --dev "$O2REF_RXE_A" --port 1 --gid "$O2REF_GID_INDEX" '
              '-v "$@" 2>&1')
    command = [VM, "--timeout", str(args.timeout), "--", "sh", "-c", script, folder] + [f"tests.{t}" for t in tests]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode in (2, CANNOT_RUN):
        raise SystemExit(done.returncode)
    keep(folder, f"rxe-{name}", done.stdout)
    found = results(done.stdout)
    if done.returncode == PANIC:
        print(f"the guest's kernel panicked in {name}")
    if done.returncode > 1:
        for test in tests:
            if test.count(".") == 2 and test not in found:
                found[test] = f"guest status {done.returncode}"
    return found


def run_rxe(args, folder, names):
    dangerous = [name for name in names if name.split(".")[1] in DANGEROUS]
    found = guest(args, folder, [name for name in names if name not in dangerous], "safe")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for got in pool.map(lambda name: guest(args, folder, [name], name), dangerous):
            found.update(got)
    return found


def check_devinfo(args):
    env = dict(os.environ, LD_PRELOAD=os.path.join(args.build, "libloopverbs.so"), ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run(["ibv_devinfo", "-v"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=args.timeout)
    wanted = ("loop0", "loop1", "PORT_ACTIVE", "RoCE v2")
    missing = [word for word in wanted if word not in done.stdout]
    if done.returncode or missing:
        return f"ibv_devinfo -v: status {done.returncode}, missing {missing}"
    return None


def judge(name, entry, loop, rxe, both):
    """A text that says why a test fails, or None."""
    if loop is None:
        return "not run on loopverbs"
    allowed = ("ok", "skipped") if entry else ("ok",)
    if loop not in allowed:
        return f"loopverbs: {loop}"
    if both and rxe is None:
        return "not run on soft-RoCE"
    if both and loop != rxe and not (entry and "differs" in entry):
        return f"loopverbs: {loop}, soft-RoCE: {rxe}"
    return None


def main():
    args = parse_args()
    args.build = os.path.abspath(args.build)
    folder = prepare(args.build)
    with open(os.path.join(HERE, "pyverbs_expected.json"), encoding="utf-8") as file:
        expected = {entry["test"]: entry for entry in json.load(file)["out_of_scope"]}
    listing = run_loop(args, folder)
    both = args.device != "loop"
    rxe = run_rxe(args, folder, sorted(listing)) if both else {}
    passed = failed = skipped = 0
    trouble = check_devinfo(args)
    print(trouble if trouble else "ok       ibv_devinfo -v")
    passed, failed = (passed, failed + 1) if trouble else (passed + 1, failed)
    for name in sorted(set(listing) | set(rxe) | set(expected)):
        entry = expected.get(name)
        trouble = judge(name, entry, listing.get(name), rxe.get(name), both)
        if trouble:
            failed += 1
            print(f"FAILED   {name}: {trouble}")
        else:
            skipped += listing[name] == "skipped"
            passed += listing[name] != "skipped"
            state = listing[name] if not both or listing[name] == rxe[name] else f"{listing[name]}/{rxe[name]}"
            print(f"{state:8} {name}" + (f"  ({entry['reason']})" if entry else ""))
    if failed:
        print(f"logs: {folder}/*.log; replay: tests/device/loopverbs/pyverbs.py --build {args.build} --device {args.device}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
