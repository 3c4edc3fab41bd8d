#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Build and run the fuzz targets as OSS-Fuzz and ClusterFuzzLite do: .clusterfuzzlite/build.sh in their environment,
then each target in a root directory that has only libc (docs/fuzzing.md).

Without options the programs of preset libfuzzer are used and nothing is built.  --build builds as the infrastructure
does, once for each sanitizer.  The last line is "N passed, N failed".
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "ci"))

from o2ci import compilers  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("O2REF_BUILD") or ROOT / "build").resolve() / "libfuzzer"
SKIP = 77

UNDEFINED = ("array-bounds,bool,builtin,enum,function,integer-divide-by-zero,null,object-size,return,returns-nonnull-attribute,"
             "shift,signed-integer-overflow,unreachable,vla-bound,vptr")
# What the build image puts into CFLAGS for each sanitizer.
SANITIZERS = {
    "address": "-fsanitize=address -fsanitize-address-use-after-scope",
    "undefined": f"-fsanitize={UNDEFINED},unsigned-integer-overflow -fno-sanitize-recover={UNDEFINED}",
    "memory": "-fsanitize=memory -fsanitize-memory-track-origins",
}
COMMON_FLAGS = "-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION"
ENGINE_FLAGS = "-fsanitize=fuzzer-no-link"
# {sanitizer: (its run-time library, fewest calls of it in a program)}, and {library: most calls in programs of others}.
# The infrastructure refuses a build outside these limits, or with too few coverage counters.
LEAST_CALLS = {"address": ("asan", 1000), "undefined": ("ubsan", 168), "memory": ("msan", 1000)}
MOST_CALLS = {"asan": 0, "msan": 3, "ubsan": 200}
LEAST_COUNTERS = 100
RUNS = 4
LIMITS = ["-rss_limit_mb=2560", "-timeout=25"]
TARGET_S = 300

# The libraries that the runner's image has.
LIBC = ("libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libresolv.so.2")


class Failed(Exception):
    pass


def build(folder, sanitizer, compiler):
    """Run build.sh; returns its output folder."""
    out = folder / "out"
    out.mkdir()
    (folder / "work").mkdir()
    environment = {**os.environ, "SRC": str(ROOT.parent), "OUT": str(out), "WORK": str(folder / "work")}
    if sanitizer == "preset libfuzzer":
        environment["O2_BUILT"] = str(BUILT)
    else:
        flags = f"{COMMON_FLAGS} {SANITIZERS[sanitizer]} {ENGINE_FLAGS}"
        environment |= {"CC": compiler, "CXX": re.sub("clang([^/]*)$", r"clang++\1", compiler), "CFLAGS": flags, "CXXFLAGS": flags,
                        "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer", "SANITIZER": sanitizer, "FUZZING_ENGINE": "libfuzzer",
                        "ARCHITECTURE": "x86_64"}
    log = folder / "build.log"
    with log.open("wb") as stream:
        done = subprocess.run(["bash", "-eux", ROOT / ".clusterfuzzlite" / "build.sh"], env=environment, stdout=stream,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise Failed(f"build.sh ended with status {done.returncode}:\n" + "\n".join(log.read_text().splitlines()[-30:]))
    return out


def empty_root(folder, out):
    """Make a root directory with the loader, libc, /proc, /tmp, /dev and out; returns it."""
    root = folder / "root"
    for name in ("lib64", "lib/x86_64-linux-gnu", "proc", "tmp", "dev"):
        (root / name).mkdir(parents=True)
    shutil.copy(os.path.realpath("/lib64/ld-linux-x86-64.so.2"), root / "lib64" / "ld-linux-x86-64.so.2")
    for name in LIBC:
        found = Path("/lib/x86_64-linux-gnu") / name
        if found.exists():
            shutil.copy(os.path.realpath(found), root / "lib/x86_64-linux-gnu" / name)
    out.rename(root / "out")
    return root


ENTER = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'


def inside(root, *command):
    """Run a command in the root, in process and network namespaces of its own; returns (status, output)."""
    words = ["unshare", *([] if os.getuid() == 0 else ["--map-root-user"]), "--mount", "--pid", "--net", "--fork",
             "--kill-child", "/bin/sh", "-c", ENTER, root, *command]
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TARGET_S,
                          stdin=subprocess.DEVNULL, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp"}, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def options_of(target):
    """The command-line options that the files NAME.options and NAME.dict stand for."""
    options = [f"-{name}={value}" for name, value in re.findall(r"(?m)^(\w+) *= *(\S+)$",
                                                                target.with_name(target.name + ".options").read_text())]
    dictionary = target.with_name(target.name + ".dict")
    return options + ([f"-dict=/out/{dictionary.name}"] if dictionary.exists() else [])


def expect(holds, words, output=""):
    if not holds:
        raise Failed(words + ("\n" + "\n".join(output.splitlines()[-25:]) if output else ""))


def check_start(root, target, options):
    """The target starts without a corpus, and is instrumented for coverage."""
    status, output = inside(root, f"/out/{target.name}", "-seed=1337", f"-runs={RUNS}", *options, *LIMITS)
    expect(status == 0 and f"Done {RUNS} runs" in output, f"does not start (status {status})", output)
    counters = re.search(r"INFO: Loaded \d+ modules? +\((\d+) ", output)
    expect(counters and int(counters[1]) >= LEAST_COUNTERS, "has too little coverage instrumentation", output)


def check_seeds(root, target, options):
    """Each seed passes; returns the number of seeds."""
    seeds = root / "tmp" / "seed_corpus"
    shutil.rmtree(seeds, ignore_errors=True)
    with zipfile.ZipFile(target.with_name(target.name + "_seed_corpus.zip")) as archive:
        archive.extractall(seeds)
    count = sum(1 for path in seeds.rglob("*") if path.is_file())
    status, output = inside(root, f"/out/{target.name}", "-runs=0", *options, *LIMITS, "/tmp/seed_corpus")
    expect(status == 0, f"fails on its seed corpus (status {status})", output)
    # The engine also counts an empty input of its own, and skips empty files.
    ran = re.search(r"Done (\d+) runs", output)
    expect(count > 0 and ran and int(ran[1]) >= count - 1, f"ran {ran and ran[1]} of {count} seeds", output)
    return count


def check_calls(target, sanitizer):
    """The program calls its sanitizer's library often enough, and the libraries of others rarely enough."""
    listing = subprocess.run(["objdump", "-dC", target], capture_output=True, text=True, check=True).stdout
    library, least = LEAST_CALLS[sanitizer]
    for name, most in MOST_CALLS.items():
        count = len(re.findall(rf"call[q]?\s+[0-9a-f]+\s+<__{name}", listing))
        if name == library:
            expect(count >= least, f"has {count} calls of {name}, at least {least} are needed")
        else:
            expect(count <= most, f"has {count} calls of {name}, at most {most} are allowed")


def one_build(sanitizer, compiler):
    """Build all targets and check each; returns (passed, failed)."""
    with tempfile.TemporaryDirectory(prefix="o2ref-clusterfuzz-") as name:
        folder = Path(name)
        try:
            root = empty_root(folder, build(folder, sanitizer, compiler))
        except Failed as problem:
            print(f"{sanitizer}: {problem}", flush=True)
            return 0, 1
        targets = sorted(path.with_suffix("") for path in (root / "out").glob("*.options"))
        passed = failed = seeds = 0
        for target in targets:
            try:
                options = options_of(target)
                check_start(root, target, options)
                seeds += check_seeds(root, target, options)
                if sanitizer in LEAST_CALLS:
                    check_calls(target, sanitizer)
                passed += 1
            except (Failed, OSError, subprocess.TimeoutExpired) as problem:
                failed += 1
                print(f"FAILED {sanitizer}: {target.name}: {problem}", flush=True)
        libraries = sorted(path.name for path in (root / "out" / "lib").iterdir())
        print(f"{sanitizer}: {passed} of {len(targets)} targets start in an empty root and pass their {seeds:,} seeds; "
              f"{len(libraries)} libraries beside them", flush=True)
        if not targets:
            failed += 1
        return passed, failed


def why_not():
    """Why this check cannot run here; None if it can."""
    for program in ("unshare", "zip", "objdump"):
        if not shutil.which(program):
            return f"no {program} here"
    done = subprocess.run(["unshare", *([] if os.getuid() == 0 else ["--map-root-user"]), "--mount", "--pid", "--net", "--fork",
                           "/bin/sh", "-c", "mount -t proc proc /proc"], capture_output=True, text=True, check=False)
    return f"no namespaces here: {done.stderr.strip()}" if done.returncode != 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", nargs="*", choices=list(SANITIZERS), metavar="SANITIZER",
                        help="build as the infrastructure does; of address, undefined, memory (default all)")
    parser.add_argument("--compiler", help="C compiler (default: as ci/compiler finds it)")
    options = parser.parse_args()
    reason = why_not()
    if options.build is not None and options.compiler is None:
        try:
            options.compiler = compilers.find("clang")
        except compilers.NotFound as none:
            reason = none
    if reason is None and options.build is None and not (BUILT / "fuzz_json").exists():
        reason = f"{BUILT} has no fuzz targets: cmake --build --preset libfuzzer --target fuzz_targets"
    if reason:
        print(f"skipped: {reason}\n0 passed, 0 failed, 1 skipped")
        return SKIP
    builds = ["preset libfuzzer"] if options.build is None else options.build or list(SANITIZERS)
    sums = [one_build(sanitizer, options.compiler) for sanitizer in builds]
    passed, failed = (sum(column) for column in zip(*sums))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
