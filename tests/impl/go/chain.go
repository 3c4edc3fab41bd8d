// SPDX-License-Identifier: MIT

package main

// rdma_chain: the writes of rdma_plan, followed by the message (docs/oracle.md, "A chain").

type gathered struct {
	Addr   address `json:"addr"`
	Length uint32  `json:"length"`
	Key    address `json:"lkey"`
}

type posted struct {
	Opcode     string  `json:"opcode"`
	Signaled   bool    `json:"signaled"`
	RemoteAddr address `json:"remote_addr"`
	Key        address `json:"rkey"`
	FirstSge   int     `json:"first_sge"`
	NumSge     uint32  `json:"num_sge"`
}

func rdmaChain(request []byte) (map[string]any, error) {
	var in struct {
		rdmaInput
		Message gathered
	}
	if err := read(request, &in); err != nil {
		return nil, err
	}
	writes, pieces, err := in.cut()
	if err != nil {
		return nil, err
	}
	chain, entries := []posted{}, []gathered{}
	for _, write := range writes {
		chain = append(chain, posted{"write", false, write.RemoteAddr, in.Sink.Key, write.FirstSge, write.NumSge})
	}
	for _, piece := range pieces {
		entries = append(entries, gathered{piece.Addr, piece.Length, in.Source.Key})
	}
	chain = append(chain, posted{Opcode: "send", Signaled: true, FirstSge: len(entries), NumSge: 1})
	return map[string]any{"chain": map[string]any{"wr": chain, "sge": append(entries, in.Message)}}, nil
}
