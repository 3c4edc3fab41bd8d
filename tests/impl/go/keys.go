// SPDX-License-Identifier: MIT

package main

import "strconv"

// keys, the life of a key: docs/pools.md, "The life of a key".

type keyEvent struct {
	Event   string
	Side    string
	FailsAt int `json:"fails_at"`
	Lkey    string
	Rkey    string
}

type keysIn struct {
	Order  string
	Lkey   string
	Rkey   string
	Events []keyEvent
}

func (in *keysIn) check() error { return nil }

type keyRequest struct {
	Op  string `json:"op"`
	Key string `json:"key"`
}

// The state of the descriptor.
type phase int

const (
	free    phase = iota
	kept          // free, with an incremented key that was not posted
	ready         // mapped, not posted
	running       // posted
	stuck         // only a part of the requests was accepted
	gone          // the key was invalidated
	lost          // the invalidate was not accepted
)

type fastKey struct {
	last             bool
	phase            phase
	sink, bound      bool
	lkey, rkey, past uint32
}

func number(text string) uint32 {
	value, _ := strconv.ParseUint(text, 0, 32)
	return uint32(value)
}

func asHex(key uint32) string { return "0x" + strconv.FormatUint(uint64(key), 16) }

func next(key uint32) uint32 { return key&^0xff | (key+1)&0xff }

func (k *fastKey) carried() uint32 {
	switch {
	case k.phase == free || k.phase == kept:
		return 0
	case k.sink:
		return k.rkey
	}
	return k.lkey
}

func (k *fastKey) take(event *keyEvent) ([]keyRequest, error) {
	idle := k.phase == free || k.phase == kept
	switch event.Event {
	case "map":
		if !idle {
			return nil, refuse("EINVAL", "InUse")
		}
		if k.phase == free {
			k.past, k.rkey, k.lkey = k.rkey, next(k.rkey), next(k.lkey)
		}
		k.phase, k.sink = ready, event.Side == "sink"
		if k.last && !k.sink {
			k.lkey = number(event.Lkey)
		}
		return nil, nil
	case "post":
		return k.post(event)
	case "complete":
		return k.complete(event)
	case "unmap":
		if idle {
			return nil, refuse("EINVAL", "NotInUse")
		}
		if k.last && k.bound {
			return nil, refuse("EBUSY", "KeyAlive")
		}
		if k.phase == ready {
			k.phase = kept
		} else {
			k.phase, k.bound = free, false
		}
		return nil, nil
	}
	if idle {
		return nil, refuse("EINVAL", "NothingToReplace")
	}
	*k = fastKey{last: k.last, lkey: number(event.Lkey), rkey: number(event.Rkey)}
	return nil, nil
}

func (k *fastKey) post(event *keyEvent) ([]keyRequest, error) {
	var list []keyRequest
	if k.phase != ready && k.phase != running {
		return nil, refuse("EINVAL", "NotReady")
	}
	if k.phase == ready && !k.last {
		list = append(list, keyRequest{"invalidate", asHex(k.past)})
	}
	if k.phase == ready && (!k.last || k.sink) {
		list = append(list, keyRequest{"register", asHex(k.carried())})
	}
	chain := len(list)
	list = append(list, keyRequest{"message", "0x0"})
	accepted := len(list)
	if event.FailsAt > 0 && event.FailsAt <= accepted {
		accepted = event.FailsAt - 1
	}
	if chain > 0 && accepted > 0 {
		k.bound = accepted >= chain
		k.phase = stuck
		if accepted > chain {
			k.phase = running
		}
	}
	return list, nil
}

func (k *fastKey) complete(event *keyEvent) ([]keyRequest, error) {
	if !k.last {
		return nil, nil
	}
	if !k.bound || k.phase != running && k.phase != stuck {
		return nil, refuse("EINVAL", "NotBound")
	}
	if event.FailsAt == 1 {
		k.phase = lost
	} else {
		k.phase, k.bound = gone, false
	}
	return []keyRequest{{"invalidate", asHex(k.rkey)}}, nil
}

func keys(request []byte) (map[string]any, error) {
	var in keysIn
	if err := read(request, &in); err != nil {
		return nil, err
	}
	key := fastKey{last: in.Order == "invalidate-last", lkey: number(in.Lkey), rkey: number(in.Rkey)}
	steps := []map[string]any{}
	for i := range in.Events {
		list, err := key.take(&in.Events[i])
		if refused, ok := err.(*refusal); ok {
			refused.Index = &i
			return nil, refused
		}
		if list == nil {
			list = []keyRequest{}
		}
		steps = append(steps, map[string]any{"requests": list, "published": asHex(key.carried())})
	}
	return map[string]any{"steps": steps}, nil
}
