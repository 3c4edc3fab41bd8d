// SPDX-License-Identifier: MIT

package main

import "encoding/json"

// rdma_plan: docs/mapping.md, "rdma_plan".

type frag struct {
	Nob  uint32  `json:"rf_nob"`
	Addr address `json:"rf_addr"`
}

type descriptor struct {
	Key   address `json:"rd_key"`
	Frags []frag  `json:"rd_frags"`
}

type workRequest struct {
	RemoteAddr address `json:"remote_addr"`
	Length     uint32  `json:"length"`
	FirstSge   int     `json:"first_sge"`
	NumSge     uint32  `json:"num_sge"`
}

type rdmaInput struct {
	Nob    length
	Limits struct {
		MaxWrs uint32 `json:"max_wrs"`
		WrqSge uint32 `json:"wrq_sge"`
	}
	Source, Sink descriptor
}

func (in *rdmaInput) check() error {
	switch {
	case in.Limits.MaxWrs == 0 || in.Limits.MaxWrs > maxFrags:
		return refuse("EINVAL", "RdmaMaxWrs")
	case in.Limits.WrqSge == 0 || in.Limits.WrqSge > 32:
		return refuse("EINVAL", "RdmaWrqSge")
	case len(in.Source.Frags) > maxFrags:
		return refuse("EINVAL", "RdmaSourceCount")
	case len(in.Sink.Frags) > maxFrags:
		return refuse("EINVAL", "RdmaSinkCount")
	case in.Nob > transferBytes:
		return refuse("EINVAL", "RdmaLength")
	}
	return nil
}

// A position in a list of fragments.
type cursor struct {
	frags []frag
	used  uint32 // bytes of frags[0] that are consumed
}

// The address and length of the rest of the current fragment; length 0 if there is none.
func (c *cursor) next() (uint64, uint32) {
	for len(c.frags) > 0 && c.used == c.frags[0].Nob {
		c.frags, c.used = c.frags[1:], 0
	}
	if len(c.frags) == 0 {
		return 0, 0
	}
	return uint64(c.frags[0].Addr) + uint64(c.used), c.frags[0].Nob - c.used
}

func least(a uint32, more ...uint32) uint32 {
	for _, b := range more {
		if b < a {
			a = b
		}
	}
	return a
}

// The work requests and their gather entries.
func (in *rdmaInput) cut() ([]workRequest, []segment, error) {
	source, sink := cursor{frags: in.Source.Frags}, cursor{frags: in.Sink.Frags}
	requests, gather := []workRequest{}, []segment{}
	for left := uint32(in.Nob); left > 0; {
		from, have := source.next()
		if have == 0 {
			return nil, nil, refuse("EPROTO", "RdmaSourceShort")
		}
		to, room := sink.next()
		if room == 0 {
			return nil, nil, refuse("EPROTO", "RdmaSinkShort")
		}
		// Begin a work request at the start of a sink fragment, or if the last one has all its gather entries.
		if last := len(requests) - 1; last < 0 || sink.used == 0 || requests[last].NumSge == in.Limits.WrqSge {
			if len(requests) == int(in.Limits.MaxWrs) {
				return nil, nil, refuse("EMSGSIZE", "RdmaTooMany")
			}
			requests = append(requests, workRequest{RemoteAddr: address(to), FirstSge: len(gather)})
		}
		part := least(have, room, left)
		open := &requests[len(requests)-1]
		open.Length += part
		open.NumSge++
		gather = append(gather, segment{address(from), part})
		source.used += part
		sink.used += part
		left -= part
	}
	return requests, gather, nil
}

func (in *rdmaInput) plan() (map[string]any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	requests, gather, err := in.cut()
	return map[string]any{"lkey": in.Source.Key, "rkey": in.Sink.Key, "nob": in.Nob, "wr": requests, "sge": gather}, err
}

func rdmaPlan(request []byte) (map[string]any, error) {
	var in rdmaInput
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	plan, err := in.plan()
	return map[string]any{"plan": plan}, err
}
