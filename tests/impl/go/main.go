// SPDX-License-Identifier: MIT

// All stages over the process protocol of docs/oracle.md: o2ref check -- ./impl
// The error names are the program's own; errors.json maps them to rule ids.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
)

// A refusal, which a stage returns instead of a result.
type refusal struct {
	Errno  string  `json:"errno"`
	Rule   string  `json:"rule"`
	Class  string  `json:"class,omitempty"`
	Where  string  `json:"where,omitempty"`
	Index  *int    `json:"index,omitempty"`
	Field  string  `json:"field,omitempty"`
	Offset *int    `json:"offset_bytes,omitempty"`
	Value  *length `json:"value,omitempty"`
	Limit  *length `json:"limit,omitempty"`
}

func (r *refusal) Error() string { return r.Rule }

func refuse(errno, name string) error { return &refusal{Errno: errno, Rule: name} }

func refuseAt(errno, name string, index int) error {
	return &refusal{Errno: errno, Rule: name, Index: &index}
}

// A refusal with the value that was found, and with the limit if there is one.
func refuseValue(errno, name string, value uint64, limit ...uint64) *refusal {
	refused := &refusal{Errno: errno, Rule: name, Value: (*length)(&value)}
	if len(limit) > 0 {
		refused.Limit = (*length)(&limit[0])
	}
	return refused
}

// An address is "0x..." in the forms; a length is a number, and "0x..." from 2^63 on.
type (
	address uint64
	length  uint64
)

func (a address) MarshalJSON() ([]byte, error) {
	return []byte(`"0x` + strconv.FormatUint(uint64(a), 16) + `"`), nil
}

func (l length) MarshalJSON() ([]byte, error) {
	if l >= 1<<63 {
		return address(l).MarshalJSON()
	}
	return strconv.AppendUint(nil, uint64(l), 10), nil
}

func parse(text []byte) (uint64, error) {
	return strconv.ParseUint(strings.Trim(string(text), `"`), 0, 64)
}

func (a *address) UnmarshalJSON(text []byte) error {
	value, err := parse(text)
	*a = address(value)
	return err
}

func (l *length) UnmarshalJSON(text []byte) error {
	value, err := parse(text)
	*l = length(value)
	return err
}

const (
	maxFrags      = 257
	transferBytes = 1 << 20
	lastAddress   = ^uint64(0)
)

func legalPage(bytes uint32) bool { return bytes == 4096 || bytes == 16384 || bytes == 65536 }

func legalLimit(limit uint32) bool { return limit == maxFrags || limit == maxFrags-1 }

// Parse an input form, and check that it is one that a stage may be asked.
func read(request []byte, in interface{ check() error }) error {
	if err := json.Unmarshal(request, in); err != nil {
		return err
	}
	return in.check()
}

// The stages: each reads its input form and returns the members of its output form.
var stages = map[string]func([]byte) (map[string]any, error){
	"o2ref/msg_decode/input": msgDecode,
	"o2ref/msg_encode/input": msgEncode,
	"o2ref/sg_build/input":   sgBuild,
	"o2ref/dma_map/input":    dmaMap,
	"o2ref/reg_plan/input":   regPlan,
	"o2ref/rdma_plan/input":  rdmaPlan,
	"o2ref/transfer/input":   transfer,
	"o2ref/device/input":     device,
	"o2ref/rdma_chain/input": rdmaChain,
	"o2ref/connect/input":    connect,
	"o2ref/deliver/input":    deliver,
	"o2ref/keys/input":       keys,
	"o2ref/send_plan/input":  sendPlan,
	"o2ref/setup/input":      setup,
	"o2ref/flow/input":       flow,
}

// The stages of version 2; each answer lists them.
var later = []string{"device", "rdma_chain", "connect", "deliver", "keys", "send_plan", "setup", "flow"}

func answer(request []byte) (map[string]any, error) {
	var head struct{ Form string }
	if err := json.Unmarshal(request, &head); err != nil {
		return nil, err
	}
	result := map[string]any{"not_implemented": true}
	if stage, ok := stages[head.Form]; ok {
		var err error
		result, err = stage(request)
		if refused, ok := err.(*refusal); ok {
			result = map[string]any{"refused": refused}
		} else if err != nil {
			return nil, err
		}
	}
	result["form"] = strings.Replace(head.Form, "/input", "/output", 1)
	result["version"] = 1
	result["stages"] = later
	return result, nil
}

// Read one request and write its answer. Returns io.EOF at the end of the input.
func serve(in io.Reader, out *bufio.Writer) error {
	var length uint32
	if err := binary.Read(in, binary.LittleEndian, &length); err != nil {
		return err
	}
	request := make([]byte, length)
	if _, err := io.ReadFull(in, request); err != nil {
		return err
	}
	result, err := answer(request)
	if err != nil {
		return err
	}
	frame, err := json.Marshal(result)
	if err != nil {
		return err
	}
	binary.Write(out, binary.LittleEndian, uint32(len(frame)))
	out.Write(frame)
	return out.Flush()
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		err := serve(in, out)
		if err == io.EOF {
			return
		}
		if err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
	}
}
