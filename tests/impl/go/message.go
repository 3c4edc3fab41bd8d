// SPDX-License-Identifier: MIT

package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
)

// A message: docs/wire.md, "Header" and "Checksum".

const (
	magic          = 0x0be91b91
	oldVersion     = 0x11
	newVersion     = 0x12
	headBytes      = 48
	immediateBytes = 120
	messageBytes   = 4096
	fragBytes      = 12
	sumOffset      = 12
)

var orders = map[string]binary.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}

// The 48 bytes of the header, in wire order. The forms do not show magic and checksum.
type msgHead struct {
	Magic    uint32  `json:"-"`
	Version  uint16  `json:"ibm_version"`
	Type     kind    `json:"ibm_type"`
	Credits  uint8   `json:"ibm_credits"`
	Nob      uint32  `json:"ibm_nob"`
	Cksum    uint32  `json:"-"`
	SrcNid   nid     `json:"ibm_srcnid"`
	SrcStamp address `json:"ibm_srcstamp"`
	DstNid   nid     `json:"ibm_dstnid"`
	DstStamp address `json:"ibm_dststamp"`
}

type message struct {
	Order   string `json:"byte_order"`
	Flavour string `json:"cksum_flavour"`
	msgHead
	Body body `json:"body"`
}

func (m *message) UnmarshalJSON(text []byte) error {
	var in struct {
		Type kind `json:"ibm_type"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	m.Body = kinds[in.Type].make()
	type plain message
	return json.Unmarshal(text, (*plain)(m))
}

func (k kind) MarshalJSON() ([]byte, error) { return json.Marshal(kindNames[k]) }

func (k *kind) UnmarshalJSON(text []byte) error {
	found, err := byName(text, kindNames)
	*k = found
	return err
}

// The key of a name table whose name is the given JSON text.
func byName[K comparable](text []byte, names map[K]string) (number K, err error) {
	var wanted, name string
	if err = json.Unmarshal(text, &wanted); err != nil {
		return number, err
	}
	for number, name = range names {
		if name == wanted {
			return number, nil
		}
	}
	return number, fmt.Errorf("no type is %q", wanted)
}

type options struct {
	MaxFrags         uint32 `json:"max_frags"`
	RequireChecksum  bool   `json:"require_checksum"`
	AnyLnd           bool   `json:"any_lnd"`
	TolerateChecksum bool   `json:"tolerate_immediate_checksum"`
}

func (o *options) check() error {
	if !legalLimit(o.MaxFrags) {
		return local("EINVAL", "WireMaxFrags", "max_frags", uint64(o.MaxFrags), maxFrags)
	}
	return nil
}

func (m *message) checkNids(o *options) error {
	if err := m.SrcNid.check("Src", 16, o); err != nil {
		return err
	}
	return m.DstNid.check("Dst", 32, o)
}

// The checksum of a whole message, in the flavour of a peer with a signed or an unsigned char.
func checksum(data []byte, signed bool) uint32 {
	var sum uint32
	for i, b := range data {
		if i >= sumOffset && i < sumOffset+4 {
			b = 0
		}
		wide := uint32(b)
		if signed {
			wide = uint32(int8(b))
		}
		sum = bits.RotateLeft32(sum, 1) + wide
	}
	if sum == 0 {
		return 1
	}
	return sum
}

// A rule: whether it is broken, the name of its error, and the allowed limit.
type rule struct {
	broken bool
	name   string
	limit  uint64
}

func broken(name, field string, offset int, value, limit uint64) *refusal {
	refused := refuseValue("EPROTO", name, value, limit)
	refused.Class, refused.Field, refused.Offset = "connection", field, &offset
	return refused
}

// A refusal of a caller's input, rather than of a peer's message.
func local(errno, name, field string, value, limit uint64) *refusal {
	refused := broken(name, field, 0, value, limit)
	refused.Errno, refused.Class = errno, "local"
	return refused
}

// The error of the first broken rule about one field; nil if none is broken.
func firstBroken(field string, offset int, value uint64, rules []rule, prefix string) error {
	for _, r := range rules {
		if r.broken {
			return broken(prefix+r.name, field, offset, value, r.limit)
		}
	}
	return nil
}
