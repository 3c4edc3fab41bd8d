// SPDX-License-Identifier: MIT

package main

import "math"

// The bodies of messages: docs/wire.md, "Bodies".

type kind uint8

const (
	connReq      kind = 0xc0
	connAck      kind = 0xc1
	noopMsg      kind = 0xd0
	immediateMsg kind = 0xd1
	putReqMsg    kind = 0xd2
	putNak       kind = 0xd3
	putAckMsg    kind = 0xd4
	putDone      kind = 0xd5
	getReqMsg    kind = 0xd6
	getDone      kind = 0xd7
)

var kindNames = map[kind]string{
	connReq: "CONNREQ", connAck: "CONNACK", noopMsg: "NOOP", immediateMsg: "IMMEDIATE", putReqMsg: "PUT_REQ",
	putNak: "PUT_NAK", putAckMsg: "PUT_ACK", putDone: "PUT_DONE", getReqMsg: "GET_REQ", getDone: "GET_DONE",
}

// The minimum length and the body of each message type.
var kinds = map[kind]struct {
	minimum uint32
	make    func() body
}{
	connReq:      {56, func() body { return &connBody{} }},
	connAck:      {56, func() body { return &connBody{} }},
	noopMsg:      {headBytes, func() body { return &noop{} }},
	immediateMsg: {immediateBytes, func() body { return &immediate{} }},
	putReqMsg:    {128, func() body { return &putReq{} }},
	putNak:       {60, func() body { return &completion{} }},
	putAckMsg:    {72, func() body { return &putAck{} }},
	putDone:      {60, func() body { return &completion{} }},
	getReqMsg:    {136, func() body { return &getReq{} }},
	getDone:      {60, func() body { return &completion{} }},
}

// The limits of a body's rules, for received messages and for messages to be written; the latter have no limit on nob.
type limits struct {
	maxFrags uint32
	nob      uint64
}

type body interface {
	fields(s *stream)
	check(l *limits) error
}

type (
	noop     struct{}
	connBody struct {
		Depth uint16 `json:"ibcp_queue_depth"`
		Frags uint16 `json:"ibcp_max_frags"`
		Size  uint32 `json:"ibcp_max_msg_size"`
	}
	immediate struct {
		Hdr     lnetHdr `json:"hdr"`
		Payload octets  `json:"payload"`
	}
	putReq struct {
		Hdr    lnetHdr `json:"hdr"`
		Cookie address `json:"ibprm_cookie"`
	}
	putAck struct {
		SrcCookie address `json:"ibpam_src_cookie"`
		DstCookie address `json:"ibpam_dst_cookie"`
		Rd        rdmaSet `json:"ibpam_rd"`
	}
	getReq struct {
		Hdr    lnetHdr `json:"hdr"`
		Cookie address `json:"ibgm_cookie"`
		Rd     rdmaSet `json:"ibgm_rd"`
	}
	completion struct {
		Cookie address `json:"ibcm_cookie"`
		Status int32   `json:"ibcm_status"`
	}
)

func (*noop) fields(*stream)      {}
func (*noop) check(*limits) error { return nil }

func (b *connBody) fields(s *stream)    { s.carry(s.sender, b) }
func (*connBody) check(l *limits) error { return nil }

func (b *immediate) fields(s *stream) {
	b.Hdr.fields(s)
	if s.in != nil {
		b.Payload = make(octets, s.room(b.Hdr.Length, 1))
	}
	s.little([]byte(b.Payload))
}

func (b *immediate) check(l *limits) error {
	if err := b.Hdr.checkType(lnetAck, lnetPut, lnetGet, lnetReply); err != nil {
		return err
	}
	return b.Hdr.checkLength(l.nob - immediateBytes)
}

func (b *putReq) fields(s *stream) {
	b.Hdr.fields(s)
	s.little(&b.Cookie)
}

func (b *putReq) check(*limits) error {
	if err := b.Hdr.checkType(lnetPut, lnetReply); err != nil {
		return err
	}
	return b.Hdr.checkLength(math.MaxUint64)
}

func (b *putAck) fields(s *stream) {
	s.little(&b.SrcCookie, &b.DstCookie)
	b.Rd.fields(s)
}

func (b *putAck) check(l *limits) error { return b.Rd.check(l, "ibpam_rd.", 64) }

func (b *getReq) fields(s *stream) {
	b.Hdr.fields(s)
	s.little(&b.Cookie)
	b.Rd.fields(s)
}

func (b *getReq) check(l *limits) error {
	if err := b.Hdr.checkType(lnetGet); err != nil {
		return err
	}
	if err := b.Rd.check(l, "ibgm_rd.", 128); err != nil {
		return err
	}
	return b.Hdr.checkLength(math.MaxUint64)
}

func (b *completion) fields(s *stream) {
	s.little(&b.Cookie)
	s.carry(s.sender, &b.Status)
}

func (b *completion) check(*limits) error {
	if b.Status > transferBytes {
		return broken("WireStatus", "ibcm_status", 56, uint64(b.Status), transferBytes)
	}
	return nil
}

// A descriptor. When read: the fragments that the message has room for, and the count that the message claims.
type rdmaSet struct {
	Key   key32  `json:"rd_key"`
	Frags []frag `json:"rd_frags"`
	count uint32
}

func (d *rdmaSet) fields(s *stream) {
	d.count = uint32(len(d.Frags))
	s.carry(s.sender, &d.Key, &d.count)
	if s.in != nil {
		d.Frags = make([]frag, s.room(d.count, fragBytes))
	}
	s.carry(s.sender, d.Frags)
}

func (d *rdmaSet) bytes() (sum uint64) {
	for _, f := range d.Frags {
		sum += uint64(f.Nob)
	}
	return sum
}

func (d *rdmaSet) check(l *limits, prefix string, offset int) error {
	count := larger(uint64(d.count), uint64(len(d.Frags)))
	err := firstBroken(prefix+"rd_nfrags", offset+4, count, []rule{
		{count == 0, "NoFrags", 1},
		{count > uint64(l.maxFrags), "ManyFrags", uint64(l.maxFrags)},
	}, "Wire")
	if err != nil {
		return err
	}
	if end := uint64(offset) + 8 + fragBytes*count; l.nob < end {
		return broken("WireFragsPastNob", "ibm_nob", 8, l.nob, end)
	}
	return d.checkFrags(prefix, offset+8)
}

// Rule by rule: each rule is checked on all fragments before the next rule.
func (d *rdmaSet) checkFrags(prefix string, offset int) error {
	var sum uint64
	for _, r := range []struct {
		name, field string
		inside      int
		value       func(f frag) (value, limit uint64, broken bool)
	}{
		{"FragEmpty", "rf_nob", 0, func(f frag) (uint64, uint64, bool) { return 0, 1, f.Nob == 0 }},
		{"FragTooLong", "rf_nob", 0, func(f frag) (uint64, uint64, bool) {
			return uint64(f.Nob), transferBytes, f.Nob > transferBytes
		}},
		{"FragSum", "rf_nob", 0, func(f frag) (uint64, uint64, bool) {
			sum += uint64(f.Nob)
			return sum, transferBytes, sum > transferBytes
		}},
		{"FragWraps", "rf_addr", 4, func(f frag) (uint64, uint64, bool) {
			last := lastAddress - uint64(f.Nob)
			return uint64(f.Addr), last, uint64(f.Addr) > last
		}},
	} {
		for i, f := range d.Frags {
			if value, limit, wrong := r.value(f); wrong {
				refused := broken("Wire"+r.name, prefix+"rd_frags[]."+r.field, offset+fragBytes*i+r.inside, value, limit)
				refused.Index = &i
				return refused
			}
		}
	}
	return nil
}
