// SPDX-License-Identifier: MIT

package main

// device, modes and queue sizes: docs/modes.md, "Choosing a mode"; docs/transport.md, "Sizes" and "Tunables".

type deviceIn struct {
	Global, Fmr, Fastreg, Gaps bool
	MaxSge                     uint32 `json:"max_sge"`
	MaxWrs                     uint64 `json:"max_qp_wr"`
	MaxCqe                     uint64 `json:"max_cqe"`
	Preference                 string
	MapOnDemand                uint32 `json:"map_on_demand"`
	UseGaps                    bool   `json:"use_gaps"`
	Segments                   uint32
	Version                    uint32 `json:"ibm_version"`
	QueueDepth                 uint32 `json:"queue_depth"`
	MaxFrags                   uint32 `json:"max_frags"`
	WrqSge                     uint32 `json:"wrq_sge"`
	TxCredits                  uint32 `json:"peer_tx_credits"`
	Sends                      uint32 `json:"concurrent_sends"`
}

func (in *deviceIn) check() error { return nil }

func larger(a, b uint64) uint64 {
	if a > b {
		return a
	}
	return b
}

func smaller(a, b uint64) uint64 {
	if a < b {
		return a
	}
	return b
}

func (in *deviceIn) old() bool { return in.Version == 0x11 }

// The registration mode of a transfer.
func (in *deviceIn) mode() (string, error) {
	if in.MapOnDemand > 256 {
		return "", refuse("EINVAL", "DemandTooLarge")
	}
	if in.Segments == 0 {
		return "", refuse("EINVAL", "NothingToMap")
	}
	threshold := in.MapOnDemand
	if in.Preference == "mapping" && threshold > 0 {
		threshold = 1
	} else if threshold == 1 {
		threshold = 2
	}
	mapped := threshold > 0 && in.Segments >= threshold
	switch {
	case !mapped && in.Global:
		return "global", nil
	case in.Fmr:
		return "fmr", nil
	case in.Fastreg && in.Gaps && in.UseGaps:
		return "fastreg_gaps", nil
	case in.Fastreg:
		return "fastreg", nil
	case in.Preference == "mapping" && in.Global:
		return "global", nil
	}
	return "", refuse("ENOSYS", "NoWay")
}

func (in *deviceIn) tunables() error {
	least := uint32(2)
	if in.old() {
		least = 3
	}
	for _, row := range []struct {
		value, low, high uint32
		name             string
	}{
		{in.QueueDepth, least, 255, "BadDepth"},
		{in.MaxFrags, 1, maxFrags, "BadFrags"},
		{in.WrqSge, 1, 32, "BadSge"},
		{in.WrqSge, 1, in.MaxSge, "DeviceSge"},
		{in.Version, 0x11, 0x12, "BadVersion"},
		{in.TxCredits, 0, 255, "BadCredits"},
	} {
		if row.value < row.low || row.value > row.high {
			return refuse("EINVAL", row.name)
		}
	}
	return nil
}

// The number of concurrent sends by the tunables, before the device's limits.
func (in *deviceIn) sends() uint64 {
	credits := uint64(in.TxCredits)
	if credits == 0 {
		credits = uint64(in.QueueDepth)
	}
	sends := uint64(in.Sends)
	if sends == 0 {
		sends = credits
	}
	sends = smaller(larger(sends, credits/2), 2*credits)
	if in.old() {
		sends = smaller(larger(sends, 4), 16)
	}
	return smaller(sends, 2*uint64(in.QueueDepth))
}

func (in *deviceIn) queues(depth, sends uint64) (send, receive uint64) {
	send = larger(depth, sends) * (uint64(in.MaxFrags) + 3)
	receive = 2 * depth
	if !in.old() {
		receive += 2
	}
	return send, receive
}

func device(request []byte) (map[string]any, error) {
	var in deviceIn
	if err := read(request, &in); err != nil {
		return nil, err
	}
	mode, err := in.mode()
	if err == nil {
		err = in.tunables()
	}
	if err != nil {
		return nil, err
	}
	depth, sends, least := uint64(in.QueueDepth), in.sends(), uint64(2)
	if in.old() {
		least = 4
	}
	send, receive := in.queues(depth, sends)
	for send > in.MaxWrs || receive > in.MaxWrs || send+receive > in.MaxCqe {
		full := larger(depth, sends) - 1
		if full < least {
			return nil, refuse("EINVAL", "DeviceTooSmall")
		}
		depth, sends = smaller(depth, full), smaller(sends, full)
		send, receive = in.queues(depth, sends)
	}
	return map[string]any{"device": map[string]any{
		"global": in.Global, "fmr": in.Fmr, "fastreg": in.Fastreg, "user": true, "phys": true,
		"fastreg_gaps": in.Fastreg && in.Gaps, "mode": mode, "queue_depth": depth, "concurrent_sends": sends,
		"send_wrs": send, "recv_wrs": receive, "cq_entries": send + receive,
	}}, nil
}
