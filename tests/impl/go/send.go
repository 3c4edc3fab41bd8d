// SPDX-License-Identifier: MIT

package main

import "encoding/json"

// send_plan, the slot and gather entries of a SEND: docs/oracle.md, "A message as it is posted".

type sendIn struct {
	MaxMsgSize uint32  `json:"max_msg_size"`
	MaxFrags   uint32  `json:"max_frags"`
	MaxSge     int     `json:"max_sge"`
	SlotAddr   address `json:"slot_addr"`
	SlotKey    address `json:"slot_lkey"`
	Message    message
	Memory     memory
}

// The byte at an offset of a page of the memory.
func byteAt(page, offset uint32) byte { return byte(91 + 167*page + 13*offset + 29*(offset>>8)) }

// Copy the payload from memory into the message.
func (in *sendIn) fill() error {
	nob := uint64(in.Memory.Buffer.Nob)
	room := smaller(uint64(in.MaxMsgSize), messageBytes)
	room = larger(room, immediateBytes) - immediateBytes
	if nob > room {
		return refuseValue("EMSGSIZE", "PayloadTooLong", nob, room)
	}
	message, ok := in.Message.Body.(*immediate)
	if nob == 0 || !ok {
		return nil
	}
	list, err := (&sgInput{maxFrags, in.Memory.Space, in.Memory.Buffer}).build()
	if err != nil {
		return err
	}
	message.Hdr.Length, message.Payload = uint32(nob), make(octets, 0, nob)
	for _, e := range list.Entries {
		for i := uint32(0); i < e.Length; i++ {
			message.Payload = append(message.Payload, byteAt(e.Page, e.Offset+i))
		}
	}
	return nil
}

// The gather entries for the payload in place; none if the payload must be copied.
func (in *sendIn) gather() (*regPlanOut, []gathered) {
	if in.Memory.Buffer.Nob == 0 {
		return nil, nil
	}
	plan, err := in.Memory.register("source", maxFrags)
	if err != nil || len(plan.Frags) >= in.MaxSge {
		return nil, nil
	}
	var entries []gathered
	for _, f := range plan.Frags {
		entries = append(entries, gathered{f.Addr, f.Nob, in.Memory.Key})
	}
	return plan, entries
}

func sendPlan(request []byte) (map[string]any, error) {
	var in sendIn
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	if err := in.fill(); err != nil {
		return nil, err
	}
	slot, err := in.Message.encode(&options{MaxFrags: in.MaxFrags}, least(in.MaxMsgSize, messageBytes))
	if err != nil {
		return nil, err
	}
	result := map[string]any{}
	plan, entries := in.gather()
	if plan != nil {
		slot, result["plan"] = slot[:immediateBytes], plan
	}
	own := gathered{in.SlotAddr, uint32(len(slot)), in.SlotKey}
	result["slot"], result["sge"] = octets(slot), append([]gathered{own}, entries...)
	return map[string]any{"send": result}, nil
}
