# SPDX-License-Identifier: MIT
"""A page of ours as a test reads it: as a tree, and as a browser (chromium) has it."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
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


OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--allow-file-access-from-files")
ANSWER_S = 120


class Browser:
    """A browser for many pages: to start one takes longer than to draw a page.  It is asked by the DevTools protocol, over pipes."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="o2ref-browser-", ignore_cleanup_errors=True)
        theirs, self.to = os.pipe()
        self.heard, said = os.pipe()
        # It reads what it is asked from 3, and answers on 4.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs, said)]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(["chromium", *OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, close_fds=False,
                                        preexec_fn=lambda: [os.dup2(end, at) for at, end in enumerate(ends, 3)])
        for end in (theirs, said, *ends):
            os.close(end)
        self.left, self.asked, self.events = b"", 0, []

    def close(self):
        try:
            self.ask("Browser.close")
            self.process.wait(timeout=ANSWER_S)
        finally:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.heard)
        self.log.close()
        self.profile.cleanup()

    def next_message(self):
        while b"\0" not in self.left:
            ready, _, _ = select.select([self.heard], [], [], ANSWER_S)
            data = os.read(self.heard, 1 << 20) if ready else b""
            if not data:
                self.log.seek(0)
                raise AssertionError(f"the browser {'has gone' if ready else 'does not answer'}: {self.log.read()[-2000:]}")
            self.left += data
        message, _, self.left = self.left.partition(b"\0")
        return json.loads(message)

    def ask(self, method, session=None, **parameters):
        self.asked += 1
        message = {"id": self.asked, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            message = self.next_message()
            if message.get("id") == self.asked:
                if "error" in message or "exceptionDetails" in message["result"]:
                    raise AssertionError(f"{method} {parameters}: {message}")
                return message["result"]
            self.events.append((message.get("sessionId"), message.get("method")))

    def draw(self, path, width, height, scheme, take):
        """What take(session) has of the file, loaded into a window of that size; scheme: light, dark, or "" for the browser's own."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable", session)
        self.ask("Emulation.setDeviceMetricsOverride", session, width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        loading = self.ask("Page.navigate", session, url=f"file://{path}")
        if "errorText" in loading:
            raise AssertionError(f"{path}: {loading}")
        while (session, "Page.loadEventFired") not in self.events:
            message = self.next_message()
            self.events.append((message.get("sessionId"), message.get("method")))
        taken = take(session)
        self.ask("Target.closeTarget", targetId=target)
        return taken

    def dom(self, path, scheme="", width=1400, height=900):
        """The page as text, with what its scripts made of it."""
        words = {"expression": "document.documentElement.outerHTML", "returnByValue": True}
        return self.draw(path, width, height, scheme, lambda session: self.ask("Runtime.evaluate", session, **words))["result"]["value"]

    def picture(self, path, width, height):
        """PNG of the window."""
        return base64.b64decode(self.draw(path, width, height, "", lambda session: self.ask("Page.captureScreenshot", session))["data"])
