# SPDX-License-Identifier: MIT
"""A page of ours as a test reads it: as a tree, and as a browser (chromium) has it."""

import os
import shutil
import subprocess
from html.parser import HTMLParser

# Why none draws the pages of this run, or None; the environment may have a reason.
NO_BROWSER = os.environ.get("O2REF_NO_BROWSER") or (None if shutil.which("chromium") else "chromium is not installed")


class Node:
    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.inside = tag, dict(attributes), []

    @property
    def classes(self):
        return set(self.attributes.get("class", "").split())

    def all(self):
        for node in self.inside:
            if isinstance(node, Node):
                yield node
                yield from node.all()

    def find(self, tag=None, css=None):
        return [node for node in self.all() if tag in (None, node.tag) and (css is None or css in node.classes)]

    def text(self):
        return "".join(node.text() if isinstance(node, Node) else node for node in self.inside)


class Document(HTMLParser):
    """A page as a tree; tags that are not closed in order fail."""

    ALONE = {"meta", "br", "wbr"}

    def __init__(self, text):
        super().__init__()
        self.root = Node("", ())
        self.open = [self.root]
        self.feed(text)
        self.close()
        if len(self.open) != 1:
            raise AssertionError(f"not closed: {[node.tag for node in self.open]}")

    def handle_starttag(self, tag, attrs):
        self.open[-1].inside.append(Node(tag, attrs))
        if tag not in self.ALONE:
            self.open.append(self.open[-1].inside[-1])

    def handle_startendtag(self, tag, attrs):
        self.open[-1].inside.append(Node(tag, attrs))

    def handle_endtag(self, tag):
        if self.open.pop().tag != tag:
            raise AssertionError(f"</{tag}>")

    def handle_data(self, data):
        self.open[-1].inside.append(data)


def chromium(profile, *words):
    """What a browser without a window printed; profile: a folder for what it keeps."""
    done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           "--hide-scrollbars", "--allow-file-access-from-files", f"--user-data-dir={profile}", *words],
                          capture_output=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr[-2000:])
    return done.stdout.decode()
