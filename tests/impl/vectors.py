# SPDX-License-Identifier: MIT
"""Compare a program's answers to the vectors exactly, including the field, value and limit of each refusal, which o2ref check
does not compare. The program speaks the process protocol."""

import json
import struct
import subprocess
from pathlib import Path

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
ONE_ANSWER = ("msg_decode", "device", "rdma_chain", "connect", "deliver")  # the others may answer in several ways


def messages():
    for path in sorted((CORPUS / "vectors").glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")).get("groups", ()):
            for test in group["tests"]:
                if test["kind"] == "decode":
                    question = {"form": "o2ref/msg_decode/input", "version": 1, "bytes": test["bytes"],
                                "options": test.get("options", {})}
                    answer = {"refused": test["refused"]} if "refused" in test else {"message": test["fields"]}
                    yield test["id"], question, answer


def stages():
    for path in sorted((CORPUS / "stages").glob("*.json")):
        for test in json.loads(path.read_text(encoding="utf-8"))["tests"]:
            yield test["id"], test["question"], test["answer"]


def ask(program, questions):
    requests = [json.dumps(question).encode() for question in questions]
    done = subprocess.run([program], input=b"".join(struct.pack("<I", len(request)) + request for request in requests),
                          capture_output=True, timeout=60, check=True)
    at = 0
    while at < len(done.stdout):
        length, = struct.unpack_from("<I", done.stdout, at)
        yield json.loads(done.stdout[at + 4:at + 4 + length])
        at += 4 + length


def refused_alike(expected, refused, names):
    rules = names.get(refused.get("rule"), ())
    if expected["rule"] not in ([rules] if isinstance(rules, str) else rules):
        return False
    # In the vectors, only the refusals of the codec have all members.
    members = set(expected) - {"rule"} if "field" in expected else {"errno", "class", "index"} & set(expected)
    return all(refused.get(member) == expected[member] for member in members)


def alike(question, expected, answer, names):
    if "refused" in expected:
        return refused_alike(expected["refused"], answer.get("refused", {}), names)
    stage = question["form"].split("/")[1]
    members = set(expected) - {"form", "version"}
    return "refused" not in answer and (stage not in ONE_ANSWER or all(answer.get(each) == expected[each] for each in members))


def differences(program, names):
    """The vectors with another answer, as a list of texts, and the number of all vectors. names: errors of an error map."""
    tests = [*messages(), *stages()]
    answers = list(ask(program, (question for _, question, _ in tests)))
    if len(answers) != len(tests):
        raise AssertionError(f"{len(tests)} questions, {len(answers)} answers")
    return [f"{name}: {json.dumps(answer)}, expected {json.dumps(expected)}"
            for (name, question, expected), answer in zip(tests, answers)
            if not alike(question, expected, answer, names)], len(tests)
