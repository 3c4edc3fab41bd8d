// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
)

// A stream reads or writes the fields of a message in order, so that one description of each layout serves for both.
type stream struct {
	sender binary.ByteOrder // byte order of the fields that o2iblnd defines; other fields are little-endian
	in     *bytes.Reader    // nil when writing
	out    bytes.Buffer     // the bytes written
}

// Read or write fields. Fields behind the end of the input stay 0; the rules on lengths refuse such messages.
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

// The number of list elements that the rest of the input can hold, at most n.
func (s *stream) room(n uint32, bytesEach int) uint32 { return least(n, uint32(s.in.Len()/bytesEach)) }

// Bytes, which the forms write as hexadecimal digits; nil if a form leaves them out.
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

// A key of 32 bits, which the forms write as "0x...".
type key32 uint32

func (k key32) MarshalJSON() ([]byte, error) { return address(k).MarshalJSON() }

func (k *key32) UnmarshalJSON(text []byte) error {
	value, err := parse(text)
	*k = key32(value)
	return err
}
