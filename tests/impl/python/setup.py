# SPDX-License-Identifier: MIT
"""setup: set up a device, its pools and a connection; a stack holds the handles to release."""


class Failed(Exception):
    pass


class Round:
    def __init__(self, number, fails_at, events):
        self.number, self.fails_at, self.events = number, fails_at, events
        self.acquired, self.stack = 0, []

    def say(self, op, **members):
        self.events.append({"round": self.number, "op": op, **members})

    def acquire(self, kind, *on):
        self.acquired += 1
        under = dict(zip(("on", "also_on"), on))
        if self.acquired == self.fails_at:
            self.say("fail", kind=kind, **under)
            raise Failed
        self.say("acquire", kind=kind, handle=self.acquired, **under)
        self.stack.append(self.acquired)
        return self.acquired

    def give_back(self):
        while self.stack:
            self.say("release", handle=self.stack.pop())

    def set_up(self, form):
        pd = self.acquire("pd")
        for _ in range({"global": 1, "fastreg": form["pool_size"]}.get(form["mode"], 0)):
            self.acquire("region", pd)
        if form["mode"] == "fmr":
            self.acquire("pool", pd)
        for count in (form["tx_count"], 2 * form["queue_depth"]):
            for _ in range(count):
                self.acquire("mapping", self.acquire("memory"))
        self.acquire("qp", pd, self.acquire("cq"))


def setup(form):
    events = []
    for number, each in enumerate(form["rounds"]):
        one = Round(number, each["fails_at"], events)
        try:
            one.set_up(form)
        except Failed:
            one.give_back()
            one.say("return", status=form["error"])
        else:
            one.say("return")
            one.give_back()
    return {"events": events}
