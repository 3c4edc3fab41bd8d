// SPDX-License-Identifier: MIT

package main

import (
	"encoding/binary"
	"encoding/json"
)

// The header of an LNet message: docs/wire.md, "LNet header".

type lnetType uint32

const (
	lnetAck lnetType = iota
	lnetPut
	lnetGet
	lnetReply
	lnetHello
)

var lnetNames = map[lnetType]string{lnetAck: "ACK", lnetPut: "PUT", lnetGet: "GET", lnetReply: "REPLY", lnetHello: "HELLO"}

const (
	tailBytes    = 40
	typeOffset   = headBytes + 24
	lengthOffset = headBytes + 28
)

func (t lnetType) MarshalJSON() ([]byte, error) { return json.Marshal(lnetNames[t]) }

func (t *lnetType) UnmarshalJSON(text []byte) error {
	found, err := byName(text, lnetNames)
	*t = found
	return err
}

type lnetHead struct {
	DestNid nid      `json:"dest_nid"`
	SrcNid  nid      `json:"src_nid"`
	DestPid uint32   `json:"dest_pid"`
	SrcPid  uint32   `json:"src_pid"`
	Type    lnetType `json:"type"`
	Length  uint32   `json:"payload_length"`
}

type handle struct {
	Interface address `json:"wh_interface_cookie"`
	Object    address `json:"wh_object_cookie"`
}

// The fields behind the common head, by type.
type (
	tailOfAck struct {
		Wmd       handle  `json:"dst_wmd"`
		MatchBits address `json:"match_bits"`
		Mlength   uint32  `json:"mlength"`
	}
	tailOfPut struct {
		Wmd       handle  `json:"ack_wmd"`
		MatchBits address `json:"match_bits"`
		HdrData   address `json:"hdr_data"`
		Portal    uint32  `json:"ptl_index"`
		Offset    uint32  `json:"offset"`
	}
	tailOfGet struct {
		Wmd        handle  `json:"return_wmd"`
		MatchBits  address `json:"match_bits"`
		Portal     uint32  `json:"ptl_index"`
		SrcOffset  uint32  `json:"src_offset"`
		SinkLength uint32  `json:"sink_length"`
	}
	tailOfReply struct {
		Wmd handle `json:"dst_wmd"`
	}
)

func (t lnetType) newTail() any {
	switch t {
	case lnetAck:
		return &tailOfAck{}
	case lnetPut:
		return &tailOfPut{}
	case lnetGet:
		return &tailOfGet{}
	case lnetReply:
		return &tailOfReply{}
	}
	return &struct{}{} // HELLO and unknown types: no message of o2iblnd carries them
}

type lnetHdr struct {
	lnetHead
	tail any
}

func (h *lnetHdr) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(h.lnetHead)
	if err != nil {
		return nil, err
	}
	tail, err := json.Marshal(h.tail)
	if err != nil {
		return nil, err
	}
	head[len(head)-1] = ','
	return append(head, tail[1:]...), nil
}

func (h *lnetHdr) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &h.lnetHead); err != nil {
		return err
	}
	h.tail = h.Type.newTail()
	return json.Unmarshal(text, h.tail)
}

func (h *lnetHdr) fields(s *stream) {
	s.little(&h.lnetHead)
	if s.in != nil {
		h.tail = h.Type.newTail()
	}
	s.little(h.tail, make([]byte, tailBytes-binary.Size(h.tail)))
}

func (h *lnetHdr) checkType(admitted ...lnetType) error {
	var set uint64
	for _, t := range admitted {
		if h.Type == t {
			return nil
		}
		set |= 1 << t
	}
	return broken("WireLnetType", "hdr.type", typeOffset, uint64(h.Type), set)
}

// Only PUT and REPLY have a payload. there: the most bytes that it may have, because it must end inside the message.
func (h *lnetHdr) checkLength(there uint64) error {
	length := uint64(h.Length)
	none := h.Type == lnetAck || h.Type == lnetGet
	err := firstBroken("hdr.payload_length", lengthOffset, length, []rule{
		{none && length != 0, "PayloadNotZero", 0},
		{length > transferBytes, "PayloadTooLong", transferBytes},
	}, "Wire")
	if err == nil && length > there {
		refused := broken("WirePayloadPastNob", "hdr.payload_length", lengthOffset, length, there)
		refused.Class = "message"
		return refused
	}
	return err
}
