#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Vectors of stages: questions and the required answers, in corpus/stages/.

usage: stage_vectors.py [BUILD] [--write]
BUILD: the build folder of o2ref; default build/gcc.  Checks that the implementation in python/ and the reference give the
committed answers, and that --write, with fewer questions drawn, would leave the files as they are.  --write generates them
anew from the answers of python/.  Questions to stages of version 2 are drawn by o2ref check: for each rule and each kind of result that has no
committed case yet, the smallest case.  Behind them come those of rare_questions.py, also to stages of version 1, which have
vectors and corpora of their own.  Last line "N passed, N failed".
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "python"))

import second  # noqa: E402
from rare_questions import RARE  # noqa: E402

FOLDER = HERE.parents[1] / "corpus" / "stages"
FORM = "o2ref/stage_vectors"
SEED, CASES, FEW = "20260101", "60000", "400"


def said(steps):
    """Features of the steps of a flow answer, as words."""
    seen = {"noop": any(message["type"] == "NOOP" for step in steps for message in step["messages"]),
            "waits": any(step["queued"] for step in steps), "closed": any(step["closed"] for step in steps)}
    return [word for word, is_so in seen.items() if is_so]


# For each stage, the function that gives the kind of a result.
KINDS = {
    "device": lambda q, r: (r["device"]["mode"], q["preference"], r["device"]["queue_depth"] < q["queue_depth"]),
    "rdma_chain": lambda q, r: (min(len(r["chain"]["wr"]), 4), min(len(r["chain"]["sge"]), 4)),
    "connect": lambda q, r: (q["event"], q["bytes"][:2], r["connect"]["params"]["ibm_version"]),
    "deliver": lambda q, r: (q["bytes"][:2], q["bytes"][12:14], r["deliver"]["status"] < 0),
    "keys": lambda q, r: (q["order"], *sorted({event["event"] for event in q["events"]})),
    "send_plan": lambda q, r: (q["message"]["ibm_type"], q["message"]["cksum_flavour"] if len(r["send"]["sge"]) > 1 else "",
                               q["memory"]["mode"] if len(r["send"]["sge"]) > 1 else "", min(len(r["send"]["sge"]), 3)),
    "setup": lambda q, r: (q["mode"], *[event.get("kind") for event in r["events"] if event["op"] == "fail"][:1]),
    "flow": lambda q, r: (q["ibm_version"], *sorted({event["event"] for event in q["events"]} & {"repost", "tick", "fail"}),
                          *said(r["steps"])),
}


STAGES = tuple(dict.fromkeys((*KINDS, *RARE)))


def compact(form):
    return json.dumps(form, separators=(",", ":"))


def answer_of(question):
    answer = second.answer(question)
    del answer["stages"]
    return answer


def frames(serve):
    """Run as a program of the process protocol: answer each question with serve(question)."""
    while head := sys.stdin.buffer.read(4):
        question = json.loads(sys.stdin.buffer.read(*struct.unpack("<I", head)))
        frame = compact({"stages": list(KINDS), **serve(question)}).encode()
        sys.stdout.buffer.write(struct.pack("<I", len(frame)) + frame)
        sys.stdout.buffer.flush()


def record(path):
    """Answer each question, and record question and answer in the file."""
    with open(path, "a", encoding="utf-8") as out:
        def serve(question):
            answer = answer_of(question)
            out.write(compact([question, answer]) + "\n")
            out.flush()
            return answer
        frames(serve)


def committed():
    for stage in STAGES:
        yield stage, json.loads((FOLDER / f"{stage}.json").read_text(encoding="utf-8"))


def replay():
    """Answer each question with the committed answer."""
    known = {compact(test["question"]): test["answer"] for _, file in committed() for test in file["tests"]}

    def serve(question):
        form = question["form"].replace("/input", "/output")
        return known.get(compact(question), {"form": form, "version": 1, "not_implemented": True})
    frames(serve)


def ask(build, stages, *arguments):
    command = [build / "o2ref", "check", "--seed", SEED, "--stage", ",".join(stages), *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, check=False)


def kind_of(stage, question, answer):
    if "refused" in answer:
        return answer["refused"]["rule"]
    return "/".join(["result", *(str(part) for part in KINDS[stage](question, answer))])


def text_of(stage, cases):
    """cases: (question, answer) by name."""
    tests = ["  " + compact({"id": f"{stage}/{name}", "question": question, "answer": answer})
             for name, (question, answer) in cases.items()]
    head = f'"form": "{FORM}", "version": 1, "stage": "{stage}", "generator": "tests/impl/stage_vectors.py"'
    return f"{{{head}, \"tests\": [\n" + ",\n".join(tests) + "\n]}\n"


def kept():
    """For each stage, the committed cases of a rule or a kind of result, by its name: what is drawn changes with the generators."""
    cases = {stage: {} for stage in KINDS}
    for stage in KINDS:
        path = FOLDER / f"{stage}.json"
        for test in json.loads(path.read_text(encoding="utf-8"))["tests"] if path.is_file() else ():
            case = test["question"], answer_of(test["question"])
            if test["id"] == f"{stage}/{kind_of(stage, *case)}":
                cases[stage][kind_of(stage, *case)] = case
    return cases


def generated(build, cases):
    """(stage, the text of its file), of so many cases that are drawn."""
    old = kept()
    smallest = {stage: {} for stage in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record"
        done = ask(build, KINDS, "--no-corpus", "--cases", cases, "--", Path(__file__).resolve(), "--record", path)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        for line in path.read_text(encoding="utf-8").splitlines():
            question, answer = json.loads(line)
            stage = question["form"].split("/")[1]
            if stage not in KINDS:
                continue
            kind = kind_of(stage, question, answer)
            least = smallest[stage].setdefault(kind, line)
            if (len(line), line) < (len(least), least):
                smallest[stage][kind] = line
    for stage in STAGES:
        drawn = {kind: json.loads(line) for kind, line in smallest.get(stage, {}).items()} | old.get(stage, {})
        rare = {name: (question, answer_of(question)) for name, question in RARE.get(stage, {}).items()}
        yield stage, text_of(stage, dict(sorted(drawn.items())) | rare)


def write(build):
    for stage, text in generated(build, CASES):
        (FOLDER / f"{stage}.json").write_text(text, encoding="utf-8")
        print(f"{stage}: {text.count(chr(10)) - 2}")


def check(build):
    failed = passed = 0
    for stage, file in committed():
        for test in file["tests"]:
            same = answer_of(test["question"]) == test["answer"]
            passed, failed = passed + same, failed + (not same)
            if not same:
                print(f"{test['id']}: python/ answers {compact(answer_of(test['question']))}, committed is {compact(test['answer'])}")
    done = ask(build, STAGES, "--corpus", FOLDER.parent, "--cases", "1", "--json", "-", "--", Path(__file__).resolve(), "--replay")
    stages = {stage["stage"]: stage for stage in json.loads(done.stdout)["implementations"][0]["stages"]}
    for stage, file in committed():
        # replay() answers drawn questions with "not implemented", so only the vectors count as agreed.
        same = stages[stage]["agreed"] == len(file["tests"]) and stages[stage]["differed"] == 0
        passed, failed = passed + same, failed + (not same)
        if not same:
            print(f"{stage}: {len(file['tests'])} vectors, of the reference's answers {stages[stage]}")
    for stage, text in generated(build, FEW):
        same = text == (FOLDER / f"{stage}.json").read_text(encoding="utf-8")
        passed, failed = passed + same, failed + (not same)
        if not same:
            print(f"{stage}: --write would change the file")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("build", nargs="?", type=Path, default=HERE.parents[1] / "build" / "gcc")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--record")
    parser.add_argument("--replay", action="store_true")
    options = parser.parse_args()
    if options.record:
        record(options.record)
    elif options.replay:
        replay()
    elif options.write:
        write(options.build)
    else:
        sys.exit(check(options.build))


if __name__ == "__main__":
    main()
