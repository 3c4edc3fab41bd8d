// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
)

// msg_decode and msg_encode: docs/wire.md, "Rules".

// The magic at the start of a message, read as little-endian.
func asFound(data []byte) uint64 { return uint64(binary.LittleEndian.Uint32(data)) }

// Find a message's byte order, read its version and header, and check magic, version and lengths.
func (m *message) readHead(data []byte) error {
	if len(data) < 6 {
		return broken("WireShort", "length_bytes", 0, uint64(len(data)), 6)
	}
	for m.Order = range orders {
		if orders[m.Order].Uint32(data) == magic {
			break
		}
	}
	s := stream{sender: orders[m.Order], in: bytes.NewReader(data)}
	s.carry(s.sender, &m.Magic, &m.Version)
	switch {
	case m.Magic != magic:
		return broken("WireMagic", "ibm_magic", 0, asFound(data), magic)
	case m.Version != oldVersion && m.Version != newVersion:
		return broken("WireVersion", "ibm_version", 4, uint64(m.Version), newVersion)
	case len(data) < headBytes:
		return broken("WireShortHeader", "length_bytes", 0, uint64(len(data)), headBytes)
	}
	s.in.Reset(data)
	s.carry(s.sender, &m.msgHead)
	return firstBroken("ibm_nob", 8, uint64(m.Nob), []rule{
		{uint64(m.Nob) > uint64(len(data)), "NobPastReceived", uint64(len(data))},
		{m.Nob > messageBytes, "NobTooLong", messageBytes},
	}, "Wire")
}

// Whether a wrong checksum may be tolerated: only that of an IMMEDIATE with a payload.
func (m *message) tolerable(data []byte) bool {
	if m.Type != immediateMsg || len(data) < immediateBytes {
		return false
	}
	t, n := binary.LittleEndian.Uint32(data[typeOffset:]), binary.LittleEndian.Uint32(data[lengthOffset:])
	return (lnetType(t) == lnetPut || lnetType(t) == lnetReply) && n > 0 && n <= uint32(len(data)-immediateBytes)
}

func (m *message) findFlavour(data []byte, o *options) error {
	plain := checksum(data, false)
	switch {
	case m.Cksum == 0 && o.RequireChecksum:
		return broken("WireNoChecksum", "ibm_cksum", sumOffset, 0, 1)
	case m.Cksum == 0:
		m.Flavour = "none"
	case m.Cksum == plain:
		m.Flavour = "unsigned"
	case m.Cksum == checksum(data, true):
		m.Flavour = "signed"
	case o.TolerateChecksum && m.tolerable(data):
		m.Flavour = "unverified"
	default:
		return broken("WireChecksum", "ibm_cksum", sumOffset, uint64(m.Cksum), uint64(plain))
	}
	return nil
}

func decode(data []byte, o *options) (*message, error) {
	m := &message{}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := m.readHead(data); err != nil {
		return nil, err
	}
	data = data[:m.Nob]
	if err := m.findFlavour(data, o); err != nil {
		return nil, err
	}
	if err := m.checkNids(o); err != nil {
		return nil, err
	}
	layout, ok := kinds[m.Type]
	if !ok {
		return nil, broken("WireType", "ibm_type", 6, uint64(m.Type), uint64(getDone))
	}
	if m.Nob < layout.minimum {
		return nil, broken("WireMinimum", "ibm_nob", 8, uint64(m.Nob), uint64(layout.minimum))
	}
	m.Body = layout.make()
	m.Body.fields(&stream{sender: orders[m.Order], in: bytes.NewReader(data[headBytes:])})
	return m, m.Body.check(&limits{o.MaxFrags, uint64(m.Nob)})
}

// Check all rules of a message to be written, except its capacity.
func (m *message) check(o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	b, hasPayload := m.Body.(*immediate)
	switch {
	case m.Version != oldVersion && m.Version != newVersion:
		return broken("WireVersion", "ibm_version", 4, uint64(m.Version), newVersion)
	case hasPayload && b.Hdr.Length > messageBytes-immediateBytes:
		return broken("WireNobTooLong", "ibm_nob", 8, immediateBytes+uint64(b.Hdr.Length), messageBytes)
	case m.Flavour == "none" && o.RequireChecksum:
		return broken("WireNoChecksum", "ibm_cksum", sumOffset, 0, 1)
	}
	if err := m.checkNids(o); err != nil {
		return err
	}
	if err := m.Body.check(&limits{o.MaxFrags, math.MaxUint64}); err != nil {
		return err
	}
	if hasPayload && b.Payload == nil && b.Hdr.Length > 0 {
		return local("EINVAL", "WirePayloadMissing", "payload", 0, uint64(b.Hdr.Length))
	}
	return nil
}

func (m *message) encode(o *options, room uint32) ([]byte, error) {
	if err := m.check(o); err != nil {
		return nil, err
	}
	inside := stream{sender: orders[m.Order]}
	m.Body.fields(&inside)
	m.Magic, m.Cksum, m.Nob = magic, 0, uint32(headBytes+inside.out.Len())
	if m.Nob > room {
		return nil, local("ENOSPC", "WireNoRoom", "capacity_bytes", uint64(room), uint64(m.Nob))
	}
	s := stream{sender: inside.sender}
	s.carry(s.sender, &m.msgHead)
	data := append(s.out.Bytes(), inside.out.Bytes()...)
	if m.Flavour != "none" {
		s.sender.PutUint32(data[sumOffset:], checksum(data, m.Flavour == "signed"))
	}
	return data, nil
}

func msgDecode(request []byte) (map[string]any, error) {
	in := struct {
		Bytes   octets
		Options options
	}{Options: options{MaxFrags: maxFrags}}
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	m, err := decode(in.Bytes, &in.Options)
	if err != nil {
		return nil, err
	}
	return map[string]any{"message": m}, nil
}

func msgEncode(request []byte) (map[string]any, error) {
	in := struct {
		Message message
		Options options
	}{Options: options{MaxFrags: maxFrags}}
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	data, err := in.Message.encode(&in.Options, messageBytes)
	if err != nil {
		return nil, err
	}
	return map[string]any{"bytes": octets(data)}, nil
}
