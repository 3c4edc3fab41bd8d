# SPDX-License-Identifier: MIT
"""Find panics and warnings in the output of the guest's kernel."""
import re

PANIC = re.compile(r"Kernel panic - not syncing.*")
# The line that names the cause of a panic that follows an oops.
CAUSE = re.compile(r"BUG: .*|general protection fault.*|Oops: .*|kernel BUG at .*")
# These must not match lines of a healthy guest ("speed is unknown", "non-flush error status", a kernel tainted by modules
# without signature); tests/device/vm checks that.
WARNING = re.compile(
    r"\bWARNING: .*|\bBUG: .*|\bBUG \S+ \(.*|kernel BUG at .*|\bOops\b.*|general protection fault.*|refcount_t: .*|"
    r"INFO: task .* blocked for more than .*|INFO: rcu.*\bdetected .*|watchdog: BUG.*|soft lockup.*|hard LOCKUP.*|"
    r"\bUBSAN: .*|unregister_netdevice: waiting for .*|kmemleak: .* suspected memory leak.*|"
    r"list_(?:add|del) corruption.*|Bad page (?:state|map).*|unable to handle .*|slab .* corruption.*")
TIMESTAMP = re.compile(r"^(?:<\d+>)?\[\s*\d+\.\d+\](?:\[[^\]]*\])? ?")

TAINT_DIE = 1 << 7
TAINT_WARN = 1 << 9


def lines(text):
    for line in text.splitlines():
        yield TIMESTAMP.sub("", line.strip("\r"))


def panic(text):
    """The text of the panic, with the cause in parentheses if the log names one; None if there was no panic."""
    cause = None
    for line in lines(text):
        if PANIC.search(line):
            found = PANIC.search(line).group(0)
            return f"{found} ({cause})" if cause else found
        if cause is None and CAUSE.search(line):
            cause = CAUSE.search(line).group(0)
    return None


def warnings(text):
    """All kernel warnings in order, each different text once."""
    found = []
    for line in lines(text):
        hit = WARNING.search(line)
        if hit and line not in found:
            found.append(line)
    return found


def taint_change(before, after):
    """A sentence about taint flags that were set while the command ran, or None."""
    fresh = after & ~before
    if not fresh:
        return None
    names = [name for bit, name in ((TAINT_DIE, "oops"), (TAINT_WARN, "warning")) if fresh & bit]
    return f"taint changed from {before} to {after}" + (f" ({', '.join(names)})" if names else "")
