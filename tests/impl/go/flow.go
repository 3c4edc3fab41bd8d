// SPDX-License-Identifier: MIT

package main

import "errors"

// flow, one end of a connection: docs/transport.md, "Flow control".

type flowEvent struct {
	Event   string
	Type    string
	Credits int
	Ms      int
}

type flowIn struct {
	IbmVersion      int `json:"ibm_version"`
	QueueDepth      int `json:"queue_depth"`
	HighWater       int `json:"high_water"`
	ConcurrentSends int `json:"concurrent_sends"`
	KeepaliveMs     int `json:"keepalive_ms"`
	Events          []flowEvent
}

func (in *flowIn) check() error { return nil }

type sent struct {
	Type    string `json:"type"`
	Credits int    `json:"credits"`
	Of      int    `json:"of"`
}

// A received message that holds a receive.
type held struct {
	kind    string
	credits int
	answer  string // type of our answer to a PUT_REQ
}

type flowEnd struct {
	in                                     *flowIn
	v1, closed                             bool
	credits, rooms, peerCredits, peerAsked int
	owed, given, now, last                 int
	free, paid, waiting                    []sent // messages that take no credit; that take one; requests without a reservation
	flying                                 []string
	receives                               []*held
	marks                                  []int // credits given before each NOOP that gave HighWater or more
}

var errClosed = errors.New("closed")

func isFree(kind string) bool {
	return kind == "PUT_ACK" || kind == "PUT_NAK" || kind == "PUT_DONE" || kind == "GET_DONE"
}

func isRequest(kind string) bool { return kind == "PUT_REQ" || kind == "GET_REQ" }

func gives(answer bool) int {
	if answer {
		return 1
	}
	return 0
}

func (e *flowEnd) pays(kind string) bool { return !isFree(kind) && (kind != "NOOP" || e.v1) }

func (e *flowEnd) queue(kind string, at int) {
	message := sent{Type: kind, Of: at}
	switch {
	case isFree(kind):
		e.free = append(e.free, message)
	case isRequest(kind):
		e.waiting = append(e.waiting, message)
	default:
		e.paid = append(e.paid, message)
	}
	for _, receive := range e.receives {
		if (kind == "PUT_ACK" || kind == "PUT_NAK") && receive.kind == "PUT_REQ" && receive.answer == "" {
			receive.answer = kind
			return
		}
	}
}

func (e *flowEnd) receive(kind string, credits int) error {
	if kind == "CONNREQ" || kind == "CONNACK" || e.credits+credits > e.in.QueueDepth {
		return errClosed
	}
	e.peerCredits -= gives(e.pays(kind))
	e.peerAsked += gives(isRequest(kind))
	if e.peerCredits < 0 || e.peerAsked > e.in.QueueDepth {
		return errClosed
	}
	e.credits += credits
	e.owed += gives(kind == "NOOP" && e.v1 && credits > 0)
	e.receives = append(e.receives, &held{kind: kind, credits: credits})
	return nil
}

func (e *flowEnd) repost() {
	receive := e.receives[0]
	e.receives = e.receives[1:]
	switch receive.kind {
	case "PUT_ACK", "PUT_NAK", "GET_DONE":
		e.rooms++
	case "NOOP":
		e.owed += gives(e.v1 && receive.credits == 0)
	default:
		e.owed += gives(receive.answer != "PUT_ACK")
	}
}

func (e *flowEnd) take(event *flowEvent, at int) error {
	switch event.Event {
	case "queue":
		e.queue(event.Type, at)
	case "sent":
		e.flying = e.flying[1:]
	case "receive":
		return e.receive(event.Type, event.Credits)
	case "repost":
		e.repost()
	case "tick":
		e.now += event.Ms
	default:
		return errClosed
	}
	return nil
}

func (e *flowEnd) noopsOut() int {
	n := 0
	for _, kind := range e.flying {
		n += gives(kind == "NOOP")
	}
	return n
}

func (e *flowEnd) noopDue() bool {
	if len(e.free) > 0 {
		return false
	}
	if e.in.KeepaliveMs == 0 || e.now-e.last <= e.in.KeepaliveMs {
		two := len(e.marks) - 2
		unseen := !e.v1 && two >= 0 && e.peerCredits >= e.given-e.marks[two]
		if e.owed < e.in.HighWater || unseen {
			return false
		}
	}
	if !e.v1 {
		return e.noopsOut() < 2 && (len(e.paid) == 0 || e.credits == 0)
	}
	if e.credits == 0 || e.credits == 1 && e.owed == 0 {
		return false
	}
	return len(e.paid) == 0 || e.credits == 1
}

func (e *flowEnd) mayGo(kind string) bool {
	if len(e.flying) >= e.in.ConcurrentSends {
		return false
	}
	return !e.pays(kind) || e.credits > gives(e.v1 && kind != "NOOP")
}

func (e *flowEnd) post(message sent) sent {
	message.Credits = e.owed
	if message.Type == "NOOP" && e.owed >= e.in.HighWater {
		e.marks = append(e.marks, e.given)
	}
	e.given, e.peerCredits, e.owed = e.given+e.owed, e.peerCredits+e.owed, 0
	e.credits -= gives(e.pays(message.Type))
	e.peerAsked -= gives(isFree(message.Type) && message.Type != "PUT_DONE")
	e.flying = append(e.flying, message.Type)
	e.last = e.now
	return message
}

// Post all messages that can be sent now, and return them in order.
func (e *flowEnd) pump() []sent {
	list := []sent{}
	for ; len(e.waiting) > 0 && e.rooms > 0; e.rooms-- {
		e.paid, e.waiting = append(e.paid, e.waiting[0]), e.waiting[1:]
	}
	for {
		line := &e.paid
		if len(e.free) > 0 {
			line = &e.free
		}
		if e.noopDue() {
			line = &[]sent{{Type: "NOOP"}}
		}
		if len(*line) == 0 || !e.mayGo((*line)[0].Type) {
			return list
		}
		list = append(list, e.post((*line)[0]))
		*line = (*line)[1:]
	}
}

func flow(request []byte) (map[string]any, error) {
	var in flowIn
	if err := read(request, &in); err != nil {
		return nil, err
	}
	end := flowEnd{in: &in, v1: in.IbmVersion == 0x11, credits: in.QueueDepth, rooms: in.QueueDepth, peerCredits: in.QueueDepth}
	steps := []map[string]any{}
	for i := range in.Events {
		step := map[string]any{"closed": true, "messages": []sent{}}
		if !end.closed {
			end.closed = end.take(&in.Events[i], i) != nil
		}
		if !end.closed {
			step = map[string]any{"messages": end.pump()}
			step["queued"] = len(end.free) + len(end.paid) + len(end.waiting)
		}
		steps = append(steps, step)
	}
	return map[string]any{"steps": steps}, nil
}
