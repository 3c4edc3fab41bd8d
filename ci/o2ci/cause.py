# SPDX-License-Identifier: MIT
"""The cause of a finding, by which findings of several steps and engines are grouped.

The cause of a property's finding is the property's name and the kind of failure, which o2props and fuzz engines print alike.
That of a crash is the sanitizer's name for it with the top function of the stack, or the assertion.  Numbers become N.
"""

import re
from dataclasses import dataclass, field

NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
FUZZ = re.compile(r"^o2ref fuzz: (.*)", re.M)
SANITIZER = re.compile(r"^(?:SUMMARY|==\d+==ERROR|==\d+==\s*ERROR): \w*Sanitizer: ([\w-]+)", re.M)
UNDEFINED = re.compile(r"runtime error: (.*)")
ASSERTION = re.compile(r"([\w.-]+\.[ch]):\d+: (?:[^:\n]* )?\*?(\w+)(?:\([^\n]*?\))?: Assertion [`'](.*)' failed")
FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (\w+) (\S+)", re.M)
# Functions of the run-time libraries: the defect is in their caller.
RUNTIME = re.compile(r"^(__|interceptor_|LLVMFuzzer|str\w+$|(mem(cpy|move|set|cmp)|abort|raise|f?printf|malloc|free|calloc)$)")


def of_signature(prop, signature):
    """The cause of a property's finding, from the kind of failure (docs/properties.md)."""
    return f"{prop}: {NUMBER.sub('N', signature)}"


def stack_top(report):
    """The first function in the stacks of the report that is not of the run-time libraries, or ""."""
    return next((name for name, _place in FRAME.findall(report) if not RUNTIME.match(name)), "")


def of_report(report):
    """The cause of a crash, from what the program printed before it ended; "" if the text shows none."""
    undefined, assertion, said = UNDEFINED.search(report), ASSERTION.search(report), FUZZ.search(report)
    if said:
        return NUMBER.sub("N", said[1].strip())
    if assertion:
        return f"crash: assertion {assertion[3]} in {assertion[2]}"
    kind = undefined or SANITIZER.search(report)
    if kind is None:
        return ""
    where = stack_top(report[kind.start():]) or stack_top(report)
    return f"crash: {NUMBER.sub('N', kind[1].strip())}" + (f" in {where}" if where else "")


def of_input(file, target, summary):
    """(the lines that ci/fuzz has left beside an input that fails, the cause: as these lines say, or else the summary)"""
    notes = file.with_name(file.name + ".txt")
    text = notes.read_text(encoding="utf-8", errors="replace") if notes.is_file() else ""
    return text.splitlines(), of_report(text) or of_signature(target, summary)


@dataclass
class Cause:
    name: str
    first: object  # the Finding with the smallest case
    others: list = field(default_factory=list)

    def all(self):
        return [self.first, *self.others]


def name_of(finding):
    return finding.cause or NUMBER.sub("N", finding.title)


def grouped(findings):
    """Group findings by cause: [Cause], in the order in which the first finding of each occurred."""
    together = {}
    for finding in findings:
        together.setdefault(name_of(finding), []).append(finding)
    causes = []
    for name, group in together.items():
        first, *others = sorted(group, key=lambda finding: (finding.bytes is None, finding.bytes or 0))
        causes.append(Cause(name, first, others))
    return causes
