# SPDX-License-Identifier: MIT
"""The report as JUnit XML: a test suite for each group, a test case for each row."""

import re
import xml.etree.ElementTree as tree

from .result import CANNOT_RUN, GROUPS

# XML 1.0 cannot represent these characters, not even escaped.
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text):
    return NOT_XML.sub("\ufffd", text)


def case_name(row):
    return clean(row.title)


def document(report):
    root = tree.Element("testsuites", name="o2ref campaign")
    for group in GROUPS:
        rows = [row for row in report.rows if row.group == group]
        if not rows:
            continue
        failed = sum(1 for row in rows if row.findings)
        skipped = sum(1 for row in rows if row.verdict == CANNOT_RUN)
        suite = tree.SubElement(root, "testsuite", name=group, tests=str(len(rows)), failures=str(failed), errors="0",
                                skipped=str(skipped), time=f"{sum(row.seconds for row in rows):.1f}")
        for row in rows:
            case = tree.SubElement(suite, "testcase", classname=f"o2ref.{group}", name=case_name(row),
                                   time=f"{row.seconds:.1f}")
            if row.verdict == CANNOT_RUN:
                tree.SubElement(case, "skipped", message=clean(row.reason))
            if row.findings:
                # Write one element for all findings of a row: many readers of JUnit count elements as failures.
                body = [line for found in row.findings
                        for line in (found.title, *found.lines, f"replay: {found.replay}", "")]
                failure = tree.SubElement(case, "failure", message=clean(row.findings[0].title), type="finding")
                failure.text = clean("\n".join(body))
    tree.indent(root)
    return tree.ElementTree(root)


def write(report, path):
    document(report).write(path, encoding="utf-8", xml_declaration=True)
