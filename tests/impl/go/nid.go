// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// A NID, the identifier of a node: docs/wire.md, "NIDs".
type nid uint64

const (
	wildcard nid = 1<<64 - 1
	loopback nid = 9 << 48
	o2ib         = 5
	anyLnd       = 0xff
	lastHost     = 1<<32 - 1
)

var lnds = map[nid]string{2: "tcp", o2ib: "o2ib"}

func (n nid) lnd() uint64  { return uint64(n) >> 48 & 0xff }
func (n nid) host() uint64 { return uint64(n) & lastHost }

func (n nid) String() string {
	name, known := lnds[n>>48]
	switch {
	case n == loopback:
		return "0@lo"
	case !known:
		return fmt.Sprintf("0x%016x", uint64(n))
	}
	text := fmt.Sprintf("%d.%d.%d.%d@%s", byte(n>>24), byte(n>>16), byte(n>>8), byte(n), name)
	if network := uint16(n >> 32); network != 0 {
		text += strconv.Itoa(int(network))
	}
	return text
}

func (n nid) MarshalJSON() ([]byte, error) { return json.Marshal(n.String()) }

func parseNid(text string) (nid, error) {
	if text == loopback.String() {
		return loopback, nil
	}
	if strings.HasPrefix(text, "0x") {
		value, err := strconv.ParseUint(text[2:], 16, 64)
		return nid(value), err
	}
	dotted, rest, _ := strings.Cut(text, "@")
	host, err := netip.ParseAddr(dotted)
	if err != nil || !host.Is4() {
		return 0, fmt.Errorf("NID %q: no IPv4 address", text)
	}
	parts := host.As4()
	for number, name := range lnds {
		if digits := strings.TrimPrefix(rest, name); digits != rest {
			network, err := strconv.ParseUint("0"+digits, 10, 16)
			return number<<48 | nid(network)<<32 | nid(parts[0])<<24 | nid(parts[1])<<16 | nid(parts[2])<<8 | nid(parts[3]), err
		}
	}
	return 0, fmt.Errorf("NID %q: no network", text)
}

func (n *nid) UnmarshalJSON(text []byte) error {
	var name string
	err := json.Unmarshal(text, &name)
	if err == nil {
		*n, err = parseNid(name)
	}
	return err
}

// Check the NID of a message's sender (side "Src") or receiver (side "Dst").
func (n nid) check(side string, offset int, o *options) error {
	return firstBroken("ibm_"+strings.ToLower(side)+"nid", offset, uint64(n), []rule{
		{side == "Src" && n == wildcard, "Wildcard", uint64(wildcard - 1)},
		{n>>56 != 0, "TopByte", 0},
		{n.lnd() == anyLnd, "LndAny", o2ib},
		{n.lnd() != o2ib && !o.AnyLnd, "LndForeign", o2ib},
		{n.host() == 0, "AddressZero", 1},
		{n.host() == lastHost, "AddressOnes", lastHost - 1},
	}, "Wire"+side)
}
