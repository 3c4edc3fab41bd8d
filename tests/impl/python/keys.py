# SPDX-License-Identifier: MIT
"""keys, the life of a key: docs/pools.md, "The life of a key", with the states of that section's tables."""

from refusal import Refuse


def count_up(key):
    return key & ~0xff | (key + 1) & 0xff


class Key:
    def __init__(self, order, lkey, rkey):
        self.last, self.at = order == "invalidate-last", 0
        self.new_region(lkey, rkey)

    def new_region(self, lkey, rkey):
        self.lkey, self.rkey, self.old = lkey, rkey, rkey
        self.state, self.sink, self.bound = "fresh", False, False

    def refuse(self, rule, errno="EINVAL"):
        raise Refuse(errno, rule, 0, index=self.at)

    @property
    def published(self):
        if self.state in ("fresh", "idle-prepared"):
            return 0
        return self.rkey if self.sink else self.lkey

    def map(self, event):
        if self.state == "fresh":
            self.old, self.rkey, self.lkey = self.rkey, count_up(self.rkey), count_up(self.lkey)
        elif self.state != "idle-prepared":
            self.refuse("frd/map/state")
        self.state, self.sink = "prepared", event.get("side", "source") == "sink"
        if self.last and not self.sink:
            self.lkey = int(event.get("lkey", "0"), 16)
        return []

    def chain(self):
        if self.state == "live" or self.last and not self.sink:
            return []
        register = ("register", self.rkey if self.sink else self.lkey)
        return [register] if self.last else [("invalidate", self.old), register]

    def post(self, event):
        if self.state not in ("prepared", "live"):
            self.refuse("frd/post/state")
        chain = self.chain()
        requests = chain + [("message", 0)]
        accepted = accepted_of(event, len(requests))
        if chain and accepted:
            self.state = "live" if accepted == len(requests) else "spent"
            self.bound = accepted >= len(chain)
        return requests

    def complete(self, event):
        if not self.last:
            return []
        if self.state not in ("live", "spent") or not self.bound:
            self.refuse("frd/invalidate/state")
        if accepted_of(event, 1):
            self.state, self.bound = "dead", False
        else:
            self.state = "doomed"
        return [("invalidate", self.rkey)]

    def unmap(self, _):
        if self.state in ("fresh", "idle-prepared"):
            self.refuse("frd/unmap/state")
        if self.state == "prepared":
            self.state = "idle-prepared"
        elif self.last and self.bound:
            self.refuse("frd/unmap/key-alive", "EBUSY")
        else:
            self.state, self.bound = "fresh", False
        return []

    def flush(self, event):
        if self.state in ("fresh", "idle-prepared"):
            self.refuse("frd/replaced/state")
        self.new_region(int(event.get("lkey", "0"), 16), int(event.get("rkey", "0"), 16))
        return []


def accepted_of(event, count):
    fails_at = event.get("fails_at", 0)
    return fails_at - 1 if 0 < fails_at <= count else count


def keys(form):
    key = Key(form["order"], int(form["lkey"], 16), int(form["rkey"], 16))
    steps = []
    for key.at, event in enumerate(form["events"]):
        requests = getattr(key, event["event"])(event)
        steps.append({"requests": [{"op": op, "key": hex(number)} for op, number in requests], "published": hex(key.published)})
    return {"steps": steps}
