// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
)

// Fields of a message, one after the other: read from bytes or written behind them, so that each layout stands once.
type stream struct {
	sender binary.ByteOrder // what o2iblnd defines itself; all else is little-endian
	in     *bytes.Reader    // what is read
	out    bytes.Buffer     // what is written, if nothing is read
}

// Where what is read has ended, fields stay 0: that is found out by the rules on lengths.
func (s *stream) carry(order binary.ByteOrder, fields ...any) {
	for _, field := range fields {
		if s.in != nil {
			binary.Read(s.in, order, field)
		} else {
			binary.Write(&s.out, order, field)
		}
	}
}

func (s *stream) little(fields ...any) { s.carry(binary.LittleEndian, fields...) }

// As many elements of a list as are there to be read, of n that are said to be.
func (s *stream) room(n uint32, bytesEach int) uint32 { return least(n, uint32(s.in.Len()/bytesEach)) }

// Bytes, in the forms as digits; nil where they are left out.
type octets []byte

func (o octets) MarshalJSON() ([]byte, error) { return json.Marshal(hex.EncodeToString(o)) }

func (o *octets) UnmarshalJSON(text []byte) error {
	var digits string
	err := json.Unmarshal(text, &digits)
	if err == nil {
		*o, err = hex.DecodeString(digits)
	}
	return err
}

// A key of 32 bits, "0x..." in the forms.
type key32 uint32

func (k key32) MarshalJSON() ([]byte, error) { return address(k).MarshalJSON() }

func (k *key32) UnmarshalJSON(text []byte) error {
	value, err := parse(text)
	*k = key32(value)
	return err
}
