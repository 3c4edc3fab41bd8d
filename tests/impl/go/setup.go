// SPDX-License-Identifier: MIT

package main

// setup: set up a device, its pools and a connection. A resource is held while its function runs.

type setupIn struct {
	Mode       string
	QueueDepth int `json:"queue_depth"`
	TxCount    int `json:"tx_count"`
	PoolSize   int `json:"pool_size"`
	Error      int
	Rounds     []struct {
		FailsAt int `json:"fails_at"`
	}
}

func (in *setupIn) check() error { return nil }

type setupEvent struct {
	Round  int    `json:"round"`
	Op     string `json:"op"`
	Kind   string `json:"kind,omitempty"`
	Handle int    `json:"handle,omitempty"`
	On     int    `json:"on,omitempty"`
	AlsoOn int    `json:"also_on,omitempty"`
	Status int    `json:"status,omitempty"`
}

type setupRound struct {
	in       *setupIn
	number   int
	acquired int
	events   []setupEvent
}

func (r *setupRound) say(event setupEvent) {
	event.Round = r.number
	r.events = append(r.events, event)
}

// Acquire a resource, call then with its handle, and release the resource when then returns.
func (r *setupRound) with(kind string, on, alsoOn int, then func(handle int) int) int {
	r.acquired++
	event := setupEvent{Op: "acquire", Kind: kind, On: on, AlsoOn: alsoOn}
	if r.acquired == r.in.Rounds[r.number].FailsAt {
		event.Op = "fail"
		r.say(event)
		return r.in.Error
	}
	event.Handle = r.acquired
	r.say(event)
	status := then(event.Handle)
	r.say(setupEvent{Op: "release", Handle: event.Handle})
	return status
}

func (r *setupRound) withMany(count int, kind string, on int, then func() int) int {
	if count == 0 {
		return then()
	}
	return r.with(kind, on, 0, func(int) int { return r.withMany(count-1, kind, on, then) })
}

func (r *setupRound) run() int {
	in, count, kind := r.in, 1, "region"
	if in.Mode == "fmr" {
		kind = "pool"
	} else if in.Mode == "fastreg" {
		count = in.PoolSize
	}
	mappings := in.TxCount + 2*in.QueueDepth
	return r.with("memory", 0, 0, func(memory int) int {
		return r.withMany(mappings, "mapping", memory, func() int {
			return r.with("pd", 0, 0, func(pd int) int {
				return r.withMany(count, kind, pd, func() int {
					return r.with("cq", 0, 0, func(cq int) int {
						return r.with("qp", cq, pd, func(int) int {
							r.say(setupEvent{Op: "return"})
							return 0
						})
					})
				})
			})
		})
	})
}

func setup(request []byte) (map[string]any, error) {
	var in setupIn
	if err := read(request, &in); err != nil {
		return nil, err
	}
	events := []setupEvent{}
	for number := range in.Rounds {
		round := setupRound{in: &in, number: number, events: events}
		if status := round.run(); status != 0 {
			round.say(setupEvent{Op: "return", Status: status})
		}
		events = round.events
	}
	return map[string]any{"events": events}, nil
}
