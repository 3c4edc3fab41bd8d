#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compare the second codec (codec.py) with ref/wire on mutated messages.

  compare_codecs.py [--cases N] [--seed S] [--pipe PROGRAM] [--jobs N]
  compare_codecs.py --replay KIND:OPTIONS:BYTES

Seeds are the vectors and the recorded messages of corpus/. Both codecs have to agree on acceptance, rule, class, field,
offset, value, limit, decoded fields and canonical bytes. PROGRAM is built from tests/judge/wire/codec_pipe.c. Every
difference is counted; the first of each chunk are printed with both answers and the command that repeats them. The last
line is "N passed, N failed"; exit status 0, 1, or 2 if nothing can be compared.
"""

import argparse
import collections
import json
import multiprocessing
import os
import random
import re
import struct
import subprocess
import sys
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import codec  # noqa: E402
import codec_reject  # noqa: E402
import mutate  # noqa: E402
from vector_text import flatten  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("O2REF_BUILD") or ROOT / "build")
CHUNK = 1000
SHOWN = 5  # differences of one chunk that are printed in full
EVERY_RULE_FROM = 50000  # with so many cases every rule of decoding must be met
PIPE_TIMEOUT_S = 120
# {kind of a vector: kind of the frame}.
KINDS = {"decode": "m", "encode": "m", "desc_little": "l", "desc_big": "l", "reject": "r", "reject_encode": "r",
         "nid": "t"}
OPTION_BITS = {"require_checksum": 1, "any_lnd": 2, "tolerate_immediate_checksum": 8}


def options_of(flags):
    options = {name: bool(flags & bit) for name, bit in OPTION_BITS.items()}
    options["max_frags"] = 256 if flags & 4 else 257
    return options


# --- the two answers ------------------------------------------------------------------------------------------------

def second(kind, flags, data):
    """What codec.py says, in the form in which codec_pipe answers."""
    options = options_of(flags)
    try:
        if kind == "m":
            decoded = codec.decode(data, options)
            return {"message": codec.to_json(decoded), "canonical": codec.encode(decoded, options).hex()}
        if kind in "lb":
            return {"flat": flatten(codec.decode_desc(data, "little" if kind == "l" else "big", options))}
        if kind == "r":
            record = codec_reject.decode(data)
            return {"flat": flatten(record), "canonical": codec_reject.encode(record).hex()}
        if kind == "t":
            nid = codec.nid_from_text(data.decode())
            return {"nid": f"0x{nid:x}", "text": codec.nid_to_text(nid)}
        document = json.loads(data)
        encoded = codec.encode(codec.from_json(document["message"]), {**codec.NO_OPTIONS, **document["options"]})
        return {"bytes": encoded.hex()}
    except codec.Refused as refused:
        return {"refused": refused.answer}
    except codec.BadText as bad:
        return {"rule": bad.rule, "errno": bad.error}
    except Exception as error:  # a defect of the second codec is an answer like any other: it differs
        return {"crashed": repr(error)}


def reference(pipe, frames):
    """What ref/wire says to all frames, in one run of codec_pipe."""
    data = b"".join(struct.pack("<IBB", len(each), ord(kind), flags) + each for kind, flags, each in frames)
    done = subprocess.run([pipe], input=data, capture_output=True, timeout=PIPE_TIMEOUT_S, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(answers) != len(frames):
        last = frames[min(len(answers), len(frames) - 1)]
        raise RuntimeError(f"{pipe} ended with status {done.returncode} after {len(answers)} of {len(frames)} frames, "
                           f"at {replay_text(last)}\n{done.stderr.decode(errors='replace')[-2000:]}")
    for answer in answers:
        answer.pop("form", None)
        answer.pop("version", None)
    return answers


def replay_text(frame):
    kind, flags, data = frame
    return f"{kind}:{flags}:{data.hex()}"


def differences(ours, theirs, path=""):
    """The members that differ, as lines."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            yield from differences(ours.get(key), theirs.get(key), f"{path}.{key}" if path else key)
    elif ours != theirs:
        yield f"{path}: codec.py {json.dumps(ours)[:300]}, ref/wire {json.dumps(theirs)[:300]}"


# --- cases ----------------------------------------------------------------------------------------------------------

def seeds():
    """Bytes to start from by kind: messages, descriptors, reject records, and messages that decode."""
    found = collections.defaultdict(list)
    for file in sorted((ROOT / "corpus" / "vectors").glob("*.json")):
        for group in json.loads(file.read_text()).get("groups", ()):
            for test in group["tests"]:
                kind = KINDS[test["kind"]]
                found[kind].append(bytes.fromhex(test["bytes"]))
                if kind == "m" and test["kind"] == "decode" and test["result"] != "invalid" and "options" not in test:
                    found["e"].append(bytes.fromhex(test["bytes"]))
    for file in sorted((ROOT / "corpus" / "captures").glob("*.bin")):
        found["r" if "_REJ" in file.name else "m"].append(file.read_bytes())
    # Long messages take the most time and add the least: a tenth of them is enough.
    for kind, data in found.items():
        found[kind] = [each for index, each in enumerate(data) if len(each) < 1024 or index % 10 == 0]
    return found


def case(rng, found):
    """One frame."""
    flags = rng.randrange(16) if rng.random() < 0.3 else 0
    what = rng.random()
    if what < 0.84:
        return "m", flags, mutate.message(rng, found["m"])
    if what < 0.89:
        return rng.choice("lb"), flags & 4, mutate.other_bytes(rng, found["l"], mutate.DESC_FIELDS)
    if what < 0.92:
        return "r", 0, mutate.other_bytes(rng, found["r"], mutate.REJECT_FIELDS)
    if what < 0.95:
        return "t", 0, mutate.text(rng).encode()
    message = codec.to_json(mutate.struct(rng, found["e"]))
    document = {"form": "o2ref/msg_encode/input", "version": 1, "message": message, "options": options_of(flags)}
    return "e", 0, json.dumps(document).encode()


def chunk(work):
    """Run compare_chunk in another process; an exception is returned as text, as not every exception can be pickled."""
    try:
        return compare_chunk(*work)
    except Exception:
        count = work[3]
        return count, count, f"FAIL chunk {work[2]} of seed {work[1]}: {traceback.format_exc()}", collections.Counter()


def compare_chunk(pipe, seed, number, count, found):
    """Compare the cases of one chunk: (compared, differing, report, outcomes)."""
    rng = random.Random(f"{seed}:{number}")
    frames = [case(rng, found) for _ in range(count)]
    outcomes, report, failed = collections.Counter(), [], 0
    for frame, theirs in zip(frames, reference(pipe, frames)):
        ours = second(*frame)
        outcomes[ours["refused"]["rule"] if "refused" in ours else f"accepted {frame[0]}"] += 1
        if ours == theirs:
            continue
        failed += 1
        if failed <= SHOWN:
            report += [f"DIFFERENCE (seed {seed}, chunk {number})",
                       *("  " + line for line in differences(ours, theirs)),
                       f"  replay: tests/judge/wire/compare_codecs.py --replay {replay_text(frame)}"]
    return count, failed, "\n".join(report), outcomes


def rules_of_decoding():
    """Rule ids that docs/wire.md lists, except those that only encoding or an illegal option can break."""
    text = (ROOT / "docs" / "wire.md").read_text()
    rules = re.findall(r"^\| R?\d+ \| `(wire/[^`]+)` \| (?:connection|message) \|", text, re.M)
    return {rule for rule in rules if not rule.startswith("wire/encode/")}


def compare(options):
    """(passed, failed): cases that agree and that differ; a rule that no case met also counts as failed."""
    if not os.access(options.pipe, os.X_OK):
        raise FileNotFoundError(f"{options.pipe}: no such program; it is built from tests/judge/wire/codec_pipe.c")
    found = seeds()
    work = [(options.pipe, options.seed, start // CHUNK, min(CHUNK, options.cases - start), found)
            for start in range(0, options.cases, CHUNK)]
    passed = failed = 0
    outcomes = collections.Counter()
    with multiprocessing.Pool(options.jobs) as pool:
        for count, differing, report, met in pool.imap(chunk, work):
            passed, failed, outcomes = passed + count - differing, failed + differing, outcomes + met
            if report:
                print(report, flush=True)
    accepted = sum(count for name, count in outcomes.items() if name.startswith("accepted"))
    rules = {name for name in outcomes if name.startswith("wire/")}
    print(f"seed {options.seed}: {accepted} accepted, {options.cases - accepted} refused by {len(rules)} rules")
    missed = rules_of_decoding() - rules
    if options.cases >= EVERY_RULE_FROM:
        failed += len(missed)
        for rule in sorted(missed):
            print(f"FAIL {rule}: no case met this rule")
    return passed, failed


def replay(options):
    """Print both answers to one frame; returns (passed, failed)."""
    kind, flags, text = options.replay.split(":", 2)
    frame = (kind, int(flags), bytes.fromhex(text))
    ours, theirs = second(*frame), reference(options.pipe, [frame])[0]
    print(f"codec.py {json.dumps(ours, indent=1)}\nref/wire {json.dumps(theirs, indent=1)}")
    for line in differences(ours, theirs):
        print(line)
    return (1, 0) if ours == theirs else (0, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--pipe", default=str(BUILD / "gcc" / "codec_pipe"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--replay", metavar="KIND:OPTIONS:BYTES")
    options = parser.parse_args()
    if options.cases < 1 or options.jobs < 1:
        parser.error("--cases and --jobs are at least 1")
    try:
        passed, failed = replay(options) if options.replay else compare(options)
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
        print(f"compare_codecs: {error}", file=sys.stderr)
        return 2
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
