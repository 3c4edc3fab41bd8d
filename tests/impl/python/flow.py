# SPDX-License-Identifier: MIT
"""flow, one end of a connection: docs/transport.md, "Flow control", with the lists of that section."""

REQUESTS, FREE = ("PUT_REQ", "GET_REQ"), ("PUT_ACK", "PUT_NAK", "PUT_DONE", "GET_DONE")
ANSWERS = ("PUT_ACK", "PUT_NAK", "GET_DONE")


class Closed(Exception):
    pass


class End:
    def __init__(self, form):
        self.v1, self.depth, self.mark = form["ibm_version"] == 0x11, form["queue_depth"], form["high_water"]
        self.most, self.keepalive = form["concurrent_sends"], form["keepalive_ms"]
        self.credits = self.reserved = self.granted = self.depth
        self.owed = self.peer_requests = self.now = self.last = self.given = 0
        self.closed = False
        self.nocred, self.queue, self.wanting, self.flying, self.held = [], [], [], [], []
        self.marks = []  # for each NOOP that gave at least a high-water mark: all credits given before it

    def pays(self, kind):
        return kind not in FREE and (kind != "NOOP" or self.v1)

    # --- events ---

    def on_queue(self, event, at):
        kind = event["type"]
        {**dict.fromkeys(REQUESTS, self.wanting), **dict.fromkeys(FREE, self.nocred)}.get(kind, self.queue).append((kind, at))
        if kind in ("PUT_ACK", "PUT_NAK"):
            next(held for held in self.held if held["type"] == "PUT_REQ" and "answer" not in held)["answer"] = kind

    def on_sent(self, *_):
        self.flying.pop(0)

    def on_receive(self, event, _):
        kind, credits = event["type"], event.get("credits", 0)
        if kind in ("CONNREQ", "CONNACK") or self.credits + credits > self.depth:
            raise Closed
        if self.pays(kind):
            self.granted -= 1
        self.peer_requests += kind in REQUESTS
        if self.granted < 0 or self.peer_requests > self.depth:
            raise Closed
        self.credits += credits
        self.owed += kind == "NOOP" and self.v1 and credits > 0
        self.held.append({"type": kind, "credits": credits})

    def on_repost(self, *_):
        held = self.held.pop(0)
        if held["type"] in ANSWERS:
            self.reserved += 1
        elif held["type"] == "NOOP":
            self.owed += self.v1 and held["credits"] == 0
        else:
            self.owed += held.get("answer") != "PUT_ACK"

    def on_tick(self, event, _):
        self.now += event.get("ms", 0)

    def on_fail(self, *_):
        raise Closed

    # --- sending ---

    def is_noop_due(self):
        if self.nocred:
            return False
        if not (self.keepalive and self.now - self.last > self.keepalive):
            unseen = not self.v1 and len(self.marks) >= 2 and self.granted >= self.given - self.marks[-2]
            if self.owed < self.mark or unseen:
                return False
        if not self.v1:
            return self.flying.count("NOOP") < 2 and (not self.queue or self.credits == 0)
        if self.credits == 0 or self.credits == 1 and self.owed == 0:
            return False
        return not self.queue or self.credits == 1

    def may_go(self, kind):
        return len(self.flying) < self.most and (not self.pays(kind) or self.credits > (self.v1 and kind != "NOOP"))

    def post(self, kind, at):
        message = {"type": kind, "credits": self.owed, "of": at}
        if kind == "NOOP" and self.owed >= self.mark:
            self.marks.append(self.given)
        self.given, self.granted, self.owed = self.given + self.owed, self.granted + self.owed, 0
        self.credits -= self.pays(kind)
        self.peer_requests -= kind in ANSWERS
        self.flying.append(kind)
        self.last = self.now
        return message

    def pump(self):
        while self.wanting and self.reserved:
            self.reserved -= 1
            self.queue.append(self.wanting.pop(0))
        while True:
            if self.is_noop_due():
                head, line = ("NOOP", 0), [None]
            else:
                line = self.nocred or self.queue
                if not line:
                    return
                head = line[0]
            if not self.may_go(head[0]):
                return
            line.pop(0)
            yield self.post(*head)

    def step(self, event, at):
        messages = []
        try:
            if not self.closed:
                getattr(self, f"on_{event['event']}")(event, at)
                messages = list(self.pump())
        except Closed:
            self.closed = True
        waiting = 0 if self.closed else len(self.nocred) + len(self.queue) + len(self.wanting)
        return {"closed": self.closed, "queued": waiting, "messages": messages}


def flow(form):
    end = End(form)
    return {"steps": [end.step(event, at) for at, event in enumerate(form["events"])]}
