// SPDX-License-Identifier: MIT

package main

import "encoding/json"

// deliver, what a received message reports to LNet: docs/oracle.md, "A message that has arrived".

type deliverIn struct {
	Awaits   string
	MaxFrags uint32 `json:"max_frags"`
	Cookie   address
	Nob      length
	Bytes    octets
}

// A refusal that closes the connection.
func closing(name string, value uint64, limit ...uint64) error {
	refused := refuseValue("EPROTO", name, value, limit...)
	refused.Class = "connection"
	return refused
}

// The length that a completion reports; an error if its status is not plausible.
func (in *deliverIn) outcome(k kind, status int32) (length, error) {
	nob := uint64(in.Nob)
	rules := map[kind]rule{
		putNak:  {status != 0, "NakStatus", 0},
		putDone: {uint64(status) != nob, "PutDoneStatus", nob},
		getDone: {uint64(status) > nob, "GetDoneStatus", nob},
	}
	if r := rules[k]; status >= 0 && r.broken {
		return 0, closing(r.name, uint64(status), r.limit)
	}
	return length(status), nil
}

// An answer must match the pending request and its cookie.
func (in *deliverIn) expects(request string, cookie address) error {
	if in.Awaits != request || in.Cookie != cookie {
		return closing("UnknownCookie", uint64(cookie))
	}
	return nil
}

func (in *deliverIn) act(m *message) (told length, status int32, err error) {
	switch b := m.Body.(type) {
	case *connBody:
		err = closing("UnexpectedType", uint64(m.Type))
	case *immediate:
		told = length(b.Hdr.Length)
	case *putReq:
		told = length(b.Hdr.Length)
	case *getReq:
		told = length(b.Rd.bytes())
	case *putAck:
		told, err = length(b.Rd.bytes()), in.expects("PUT_REQ", b.SrcCookie)
	case *completion:
		request := map[kind]string{putNak: "PUT_REQ", putDone: "PUT_ACK", getDone: "GET_REQ"}[m.Type]
		if err = in.expects(request, b.Cookie); err == nil {
			told, err = in.outcome(m.Type, b.Status)
		}
		if b.Status < 0 {
			told, status = 0, b.Status
		}
	}
	return told, status, err
}

func deliver(request []byte) (map[string]any, error) {
	var in deliverIn
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	m, err := decode(in.Bytes, &options{MaxFrags: in.MaxFrags})
	if err != nil {
		return nil, err
	}
	told, status, err := in.act(m)
	return map[string]any{"deliver": map[string]any{"length": told, "status": status}}, err
}
