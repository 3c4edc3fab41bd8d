# SPDX-License-Identifier: MIT
"""A run's directory: it is kept if the run fails, and deleted if the run succeeds."""
import os
import shutil
import time

from . import common

CURRENT_CASE = "current-case"
CURRENT_CASE_BYTES = 65536


class RunDir:
    """of_pair: the directory that both guests of a pair share; this guest's share directory is inside it."""

    def __init__(self, log_dir, share_dir, keep, of_pair=None):
        self.log = os.path.abspath(log_dir)
        self.control = os.path.join(self.log, "control")
        self.share = os.path.abspath(share_dir) if share_dir else os.path.join(self.log, "share")
        self.exported = of_pair or self.share
        self.keep = keep
        self.made = not os.path.isdir(self.log)
        common.make_folder(self.control)
        common.make_folder(self.share)
        # Delete the case that an earlier run left, so that it is not blamed for a failure of this run.
        if os.path.exists(os.path.join(self.share, CURRENT_CASE)):
            os.unlink(os.path.join(self.share, CURRENT_CASE))

    def directories(self):
        return {"log": self.log, "control": self.control, "share": self.exported}

    def write(self, name, text):
        with open(os.path.join(self.control, name), "w", encoding="utf-8") as f:
            f.write(text)

    def write_command(self, text):
        self.write("command", text)

    def write_set_up(self, text):
        """Write the script that the guest runs before it reports that it is ready."""
        self.write("set-up", text)

    def dmesg(self):
        path = os.path.join(self.control, "dmesg.txt")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def current_case(self):
        path = os.path.join(self.share, CURRENT_CASE)
        if not os.path.isfile(path):
            return None
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read(CURRENT_CASE_BYTES)

    def finish(self, failed):
        """Keep or delete the directory; returns it if it was kept."""
        mark = os.path.join(self.control, "end-mark")
        if os.path.exists(mark):
            os.unlink(mark)
        if failed or self.keep:
            for name in os.listdir(self.control):
                os.replace(os.path.join(self.control, name), os.path.join(self.log, name))
            os.rmdir(self.control)
            return self.log
        shutil.rmtree(self.control)
        for name in ("console.log", "qemu.log"):
            if os.path.exists(os.path.join(self.log, name)):
                os.unlink(os.path.join(self.log, name))
        if self.made:
            shutil.rmtree(self.log)
        return None


def default_log_dir(cache_dir):
    return os.path.join(cache_dir, "log", f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
