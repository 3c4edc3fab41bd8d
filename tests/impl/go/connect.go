// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
)

// connect, a step of the negotiation: docs/connection.md, "Negotiation".

const (
	oldDepth   = 8
	leastBytes = 148 // length of a GET_REQ with one fragment
)

type connParams struct {
	Version uint32 `json:"ibm_version"`
	Depth   uint32 `json:"queue_depth"`
	Frags   uint32 `json:"max_frags"`
	Size    uint32 `json:"max_msg_size"`
}

type connectIn struct {
	Event       string
	CmReason    int `json:"cm_reason"`
	Nid         nid
	Incarnation address
	Registers   bool
	Own, Asked  connParams
	Bytes       octets
}

type connected struct {
	Params connParams `json:"params"`
	Nid    address    `json:"peer_nid"`
	Life   address    `json:"peer_incarnation"`
}

// A check of the document's tables. why is the reason of the reject; 0 if no reject is sent.
type connRule struct {
	rule
	why   reason
	errno string
	value uint64
}

func firstRefused(prefix string, rules ...connRule) error {
	for _, r := range rules {
		if !r.broken {
			continue
		}
		refused := refuseValue(r.errno, prefix+r.name, r.value, r.limit)
		if why := int(r.why); why != 0 {
			refused.Index = &why
		}
		return refused
	}
	return nil
}

func proto(bad bool, name string, why reason, value, limit uint64) connRule {
	return connRule{rule{bad, name, limit}, why, "EPROTO", value}
}

// Checks of queue depth and fragments (counts) and of the message size (sizes), each against a maximum and a minimum.
func (p *connParams) within(most connParams, deep, many, large reason) (counts, sizes []connRule) {
	depth, frags, size, shallow := uint64(p.Depth), uint64(p.Frags), uint64(p.Size), uint64(2)
	if p.Version == oldVersion {
		shallow = oldDepth
	}
	return []connRule{
			proto(p.Depth > most.Depth, "DepthOver", deep, depth, uint64(most.Depth)),
			proto(depth < shallow, "DepthUnder", deep, depth, shallow),
			proto(p.Frags > most.Frags, "FragsOver", many, frags, uint64(most.Frags)),
			proto(p.Frags == 0, "FragsZero", many, frags, 1),
		}, []connRule{
			proto(size > messageBytes, "SizeOver", large, size, messageBytes),
			proto(size < leastBytes, "SizeUnder", large, size, leastBytes),
		}
}

func (m *message) params() connParams {
	b, ok := m.Body.(*connBody)
	if !ok {
		b = &connBody{}
	}
	return connParams{uint32(m.Version), uint32(b.Depth), uint32(b.Frags), b.Size}
}

// Check magic and version, whose places are the same in all versions.
func (in *connectIn) checkRequestHead() error {
	if len(in.Bytes) < 6 {
		return firstRefused("Connreq", proto(true, "Short", fatal, uint64(len(in.Bytes)), 6))
	}
	for _, order := range orders {
		found, version, own := order.Uint32(in.Bytes), uint64(order.Uint16(in.Bytes[4:])), uint64(in.Own.Version)
		err := firstRefused("Connreq",
			proto(found == lnetMagic, "GenericMagic", fatal, asFound(in.Bytes), magic),
			proto(found == magic && version < oldVersion, "Version", fatal, version, oldVersion),
			proto(found == magic && version > own, "Version", fatal, version, own))
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *connectIn) decodeRequest() (*message, error) {
	if err := in.checkRequestHead(); err != nil {
		return nil, err
	}
	m, err := decode(in.Bytes, &options{MaxFrags: maxFrags})
	if refused, ok := err.(*refusal); ok {
		why := int(fatal)
		refused.Index = &why
	}
	return m, err
}

func (in *connectIn) request() (*connected, error) {
	m, err := in.decodeRequest()
	if err != nil {
		return nil, err
	}
	old, stamp, deep, many := m.Version == oldVersion, m.DstStamp, tooDeep, tooMany
	most, unknown := in.Own, stamp == 0 || old && uint64(stamp) == lastAddress
	if old {
		most.Depth, deep, many = oldDepth, fatal, fatal
	}
	p := m.params()
	rules := []connRule{
		proto(m.DstNid != in.Nid, "DstNid", fatal, uint64(m.DstNid), uint64(in.Nid)),
		{rule{!unknown && stamp != in.Incarnation, "DstStamp", uint64(in.Incarnation)}, stale, "ESTALE", uint64(stamp)},
		proto(m.Type != connReq, "Type", fatal, uint64(m.Type), uint64(connReq)),
	}
	counts, sizes := p.within(most, deep, many, fatal)
	few := proto(p.Frags < in.Own.Frags && !in.Registers, "FragsFew", many, uint64(p.Frags), uint64(in.Own.Frags))
	rules = append(append(append(rules, counts...), few), sizes...)
	if err := firstRefused("Connreq", rules...); err != nil {
		return nil, err
	}
	return &connected{p, address(m.SrcNid), m.SrcStamp}, nil
}

func (in *connectIn) reply() (*connected, error) {
	m, err := decode(in.Bytes, &options{MaxFrags: maxFrags})
	if err != nil {
		return nil, err
	}
	p := m.params()
	rules := []connRule{
		proto(m.Type != connAck, "Type", 0, uint64(m.Type), uint64(connAck)),
		proto(p.Version != in.Asked.Version, "Version", 0, uint64(p.Version), uint64(in.Asked.Version)),
	}
	counts, sizes := p.within(in.Asked, 0, 0, 0)
	rules = append(append(append(rules, counts...), sizes...),
		connRule{rule{m.DstNid != in.Nid, "DstNid", uint64(in.Nid)}, 0, "ESTALE", uint64(m.DstNid)},
		connRule{rule{m.DstStamp != in.Incarnation, "DstStamp", uint64(in.Incarnation)}, 0, "ESTALE", uint64(m.DstStamp)})
	if err := firstRefused("Connack", rules...); err != nil {
		return nil, err
	}
	return &connected{Params: p, Life: m.SrcStamp}, nil
}

func connect(request []byte) (map[string]any, error) {
	var in connectIn
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	event := map[string]func() (*connected, error){"connreq": in.request, "connack": in.reply, "reject": in.reject}[in.Event]
	result, err := event()
	return map[string]any{"connect": result}, err
}
