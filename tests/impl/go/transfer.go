// SPDX-License-Identifier: MIT

package main

import "encoding/json"

// transfer, all stages of both nodes: docs/oracle.md, "A whole transfer".

type memory struct {
	Mode     string
	MaxPages uint32 `json:"max_pages"`
	Iova     address
	Key      address
	Space    space
	Buffer   buffer
	Device   dmaDevice
}

// The virtual address of the transfer's first byte, and whether its bytes are one range of virtual addresses.
func (b *buffer) oneRange() (start uint64, whole bool) {
	skip, left, end := uint64(b.Offset), uint64(b.Nob), uint64(0)
	for _, p := range b.Pieces {
		if skip >= uint64(p.Len) {
			skip -= uint64(p.Len)
			continue
		}
		at, part := uint64(p.Base)+skip, smaller(uint64(p.Len)-skip, left)
		switch {
		case part == 0:
			continue
		case !whole:
			start, whole = at, true
		case at != end:
			return 0, false
		}
		skip, left, end = 0, left-part, at+part
	}
	return start, whole && b.Kind == "iov"
}

func (m *memory) segments() (*sgList, *dmaList, error) {
	entries, err := (&sgInput{m.MaxPages, m.Space, m.Buffer}).build()
	if err != nil {
		return nil, nil, err
	}
	segments, err := (&dmaInput{m.Device, *entries}).list()
	return entries, segments, err
}

// The registration plan for this memory.
func (m *memory) register(side string, peerFrags uint32) (*regPlanOut, error) {
	entries, segments, err := m.segments()
	if err != nil {
		return nil, err
	}
	request := regRequest{m.Mode, side, m.Space.PageBytes, m.MaxPages, peerFrags, entries.Gaps, m.Iova, false}
	if m.Mode == "user" {
		start, whole := m.Buffer.oneRange()
		request.Iova, request.Contiguous = address(start), whole
	}
	return (&regInput{request, *segments}).plan()
}

type transferIn struct {
	Op           string
	MaxFrags     uint32 `json:"max_frags"`
	WrqSge       uint32 `json:"wrq_sge"`
	Source, Sink memory
}

func at(where string, err error) error {
	if refused, ok := err.(*refusal); ok {
		refused.Where = where
	}
	return err
}

// The plans of both sides. The requester's plan is made first.
func (in *transferIn) plans() (map[string]*regPlanOut, error) {
	moved := length(smaller(uint64(in.Source.Buffer.Nob), uint64(in.Sink.Buffer.Nob)))
	plans, sides := map[string]*regPlanOut{}, []string{"source", "sink"}
	if in.Op == "get" {
		sides = []string{"sink", "source"}
	}
	for i, side := range sides {
		node := map[string]*memory{"source": &in.Source, "sink": &in.Sink}[side]
		if i > 0 {
			node.Buffer.Nob = moved
		}
		plan, err := node.register(side, in.MaxFrags)
		if err != nil {
			return nil, at(side, err)
		}
		plans[side] = plan
	}
	return plans, nil
}

func transfer(request []byte) (map[string]any, error) {
	var in transferIn
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	moved := length(smaller(uint64(in.Source.Buffer.Nob), uint64(in.Sink.Buffer.Nob)))
	plans, err := in.plans()
	if err != nil {
		return nil, err
	}
	source, sink := plans["source"], plans["sink"]
	writes := rdmaInput{Nob: moved, Source: descriptor{in.Source.Key, source.Frags}, Sink: descriptor{in.Sink.Key, sink.Frags}}
	writes.Limits.MaxWrs, writes.Limits.WrqSge = in.MaxFrags, in.WrqSge
	plan, err := writes.plan()
	return map[string]any{"source": source, "sink": sink, "plan": plan}, at("writes", err)
}
