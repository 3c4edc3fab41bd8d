#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run the same random verbs traces on loopverbs and on soft-RoCE, and compare them line by line.

loopverbs runs here; soft-RoCE runs in a guest of ci/vm/run, all seeds in one guest.  A seed whose lines differ is
run again in separate guests: if soft-RoCE then gives the lines of loopverbs (an emulated guest may have missed a
timer), the seed counts as passed, but is printed.  The last line is "N passed, N failed".
"""
import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VM = os.path.join(ROOT, "ci", "vm", "run")
CANNOT_RUN = 77  # exit status of ci/vm/run where there is no QEMU or no kernel
PANIC = 71
GUEST = ('exec "$0" --device "$O2REF_RXE_A" --device2 "$O2REF_RXE_B" --gid-index "$O2REF_GID_INDEX" "$@"')


def positive(text):
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{value} is not positive")
    return value


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", metavar="DIR", default=os.path.join(ROOT, "build", "gcc"),
                        help="where verbs_trace and verbs_trace_loop are (default build/gcc)")
    parser.add_argument("--seed", metavar="S", type=int, default=1, help="the first seed (default %(default)s)")
    parser.add_argument("--seeds", metavar="N", type=positive, default=40, help="how many (default %(default)s)")
    parser.add_argument("--ops", metavar="N", type=positive, default=200,
                        help="operations of each (default %(default)s)")
    parser.add_argument("--again", metavar="N", type=positive, default=2,
                        help="how often a differing seed is run again (default %(default)s)")
    parser.add_argument("--merge-local", action="store_true",
                        help="for guests whose kernel reports local failures as flushes")
    parser.add_argument("--timeout", metavar="SECONDS", type=positive, default=600, help="for one guest")
    return parser.parse_args()


def trace_options(args, first, count):
    options = ["--seed", str(first), "--seeds", str(count), "--ops", str(args.ops)]
    return options + (["--merge-local"] if args.merge_local else [])


def split(text):
    """The lines of each seed."""
    seeds = {}
    current = []
    for line in text.splitlines():
        if line.startswith("seed "):
            current = seeds.setdefault(int(line[5:]), [])
        else:
            current.append(line)
    return seeds


def on_loop(args, first, count):
    # Devices differ in whether they enforce the bounds of a window (docs/loopverbs.md), so loopverbs must not.
    env = dict(os.environ, LOOPVERBS_WINDOW_BOUNDS="0")
    command = [os.path.join(args.build, "verbs_trace_loop"), "--device", "loop0", "--device2", "loop1"]
    done = subprocess.run(command + trace_options(args, first, count), env=env, stdout=subprocess.PIPE, check=False,
                          text=True, timeout=args.timeout)
    if done.returncode:
        sys.exit(f"compare: verbs_trace_loop ended with status {done.returncode} after seed {first}")
    return split(done.stdout)


def on_rxe(args, first, count):
    """(lines by seed, status of the guest)."""
    command = [VM, "--timeout", str(args.timeout), "--", "sh", "-c", GUEST, os.path.join(args.build, "verbs_trace")]
    done = subprocess.run(command + trace_options(args, first, count), stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode in (2, CANNOT_RUN):
        sys.exit(done.returncode)
    return split(done.stdout), done.returncode


def first_difference(loop, rxe):
    """(index, line of loopverbs, line of soft-RoCE), or None."""
    for i in range(max(len(loop), len(rxe))):
        ours = loop[i] if i < len(loop) else "(nothing more)"
        theirs = rxe[i] if i < len(rxe) else "(nothing more)"
        if ours != theirs:
            return i, ours, theirs
    return None


def show(args, seed, loop, difference):
    index, ours, theirs = difference
    print(f"seed {seed} differs:")
    for line in loop[max(0, index - 8):index]:
        print(f"    both:      {line}")
    print(f"    loopverbs: {ours}\n    soft-RoCE: {theirs}")
    merge = " --merge-local" if args.merge_local else ""
    print(f"    replay: tests/device/loopverbs/compare.py --build {args.build} --seed {seed} --seeds 1 --ops {args.ops}{merge}")
    sys.stdout.flush()


def unsteady(args, seed, loop):
    """Whether soft-RoCE agrees with loopverbs when the seed is run again."""
    for _ in range(args.again):
        rxe, status = on_rxe(args, seed, 1)
        if status == 0 and not first_difference(loop, rxe.get(seed, [])):
            return True
    return False


def all_rxe(args):
    """Every seed's lines; after a panic another guest continues with the next seed."""
    lines, broken = {}, []
    first, end = args.seed, args.seed + args.seeds
    while first < end:
        got, status = on_rxe(args, first, end - first)
        lines.update(got)
        if status == 0:
            break
        last = max(got, default=first)
        print(f"seed {last}: the guest ended with status {status}" + (" (kernel panic)" if status == PANIC else ""),
              flush=True)
        broken.append(last)
        first = last + 1
    return lines, broken


def main():
    args = parse()
    args.build = os.path.abspath(args.build)
    loop = on_loop(args, args.seed, args.seeds)
    rxe, broken = all_rxe(args)
    failed, again = set(broken), []
    for seed in range(args.seed, args.seed + args.seeds):
        difference = first_difference(loop[seed], rxe.get(seed, []))
        if difference and seed not in failed:
            show(args, seed, loop[seed], difference)
            if unsteady(args, seed, loop[seed]):
                again.append(seed)
                print(f"    asked again, soft-RoCE agrees: seed {seed} passes", flush=True)
            else:
                failed.add(seed)
    compared = sum(len(lines) for lines in loop.values())
    print(f"{compared} lines compared on {args.seeds} seeds; {len(again)} of them differed once and not again")
    print(f"{args.seeds - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
