// SPDX-License-Identifier: MIT

package main

import "encoding/json"

// reg_plan: docs/modes.md.

type regRequest struct {
	Mode         string
	Side         string
	PageBytes    uint32 `json:"page_bytes"`
	MaxPages     uint32 `json:"max_pages"`
	PeerMaxFrags uint32 `json:"peer_max_frags"`
	Gaps         bool
	Iova         address
	Contiguous   bool
}

type regInput struct {
	Request regRequest
	List    dmaList
}

type regPlanOut struct {
	RemoteWrite bool      `json:"remote_write"`
	Iova        address   `json:"iova"`
	Length      uint64    `json:"length"`
	PageOffset  uint64    `json:"page_offset"`
	Pages       []address `json:"pages"`
	Entries     []segment `json:"entries,omitempty"`
	Frags       []frag    `json:"frags"`
}

func (r *regRequest) check() error {
	switch {
	case !legalPage(r.PageBytes):
		return refuse("EINVAL", "RegPageSize")
	case !legalLimit(r.MaxPages):
		return refuse("EINVAL", "RegLimit")
	case r.Side == "sink" && (r.PeerMaxFrags == 0 || r.PeerMaxFrags > maxFrags):
		return refuse("EINVAL", "RegPeerLimit")
	}
	return nil
}

// Check the segments, and return the sum of their lengths.
func checkSegments(segments []segment) (uint64, error) {
	var sum uint64
	if len(segments) == 0 || len(segments) > maxFrags {
		return 0, refuse("EINVAL", "RegCount")
	}
	for i, s := range segments {
		sum += uint64(s.Length)
		switch {
		case s.Length == 0:
			return 0, refuseAt("EINVAL", "RegEmpty", i)
		case uint64(s.Length) > lastAddress-uint64(s.Addr):
			return 0, refuseAt("EINVAL", "RegSegmentWraps", i)
		case sum > transferBytes:
			return 0, refuseAt("EMSGSIZE", "RegTooLong", i)
		}
	}
	return sum, nil
}

// Whether segment i, in a list declared dense, starts where segment i-1 ends, or both are at page boundaries there.
func joins(in *regInput, i int) bool {
	if in.Request.Gaps || i == 0 {
		return true
	}
	before, size := in.List.Segments[i-1], uint64(in.Request.PageBytes)
	end, start := uint64(before.Addr)+uint64(before.Length), uint64(in.List.Segments[i].Addr)
	return end == start || (end%size == 0 && start%size == 0)
}

// The pages that the segments span, and the offset of each segment in them. hole: error name for an undeclared gap.
func listPages(in *regInput, hole string) (pages []address, starts []uint64, err error) {
	size := uint64(in.Request.PageBytes)
	for i, s := range in.List.Segments {
		if !joins(in, i) {
			return nil, nil, refuseAt("EINVAL", hole, i)
		}
		inside := uint64(s.Addr) % size
		page, spanned := uint64(s.Addr)-inside, (inside+uint64(s.Length)+size-1)/size
		if n := len(pages); n > 0 && inside > 0 && pages[n-1] == address(page) {
			starts = append(starts, uint64(n-1)*size+inside)
			page, spanned = page+size, spanned-1
		} else {
			starts = append(starts, uint64(n)*size+inside)
		}
		for ; spanned > 0; spanned-- {
			pages = append(pages, address(page))
			page += size
		}
		if len(pages) > int(in.Request.MaxPages) {
			return nil, nil, refuseAt("EINVAL", "RegTooManyPages", i)
		}
	}
	return pages, starts, nil
}

// Register one region, and publish it as one fragment.
func whole(plan *regPlanOut, iova, nob uint64, refused error) error {
	if nob > lastAddress-iova {
		return refused
	}
	plan.Iova, plan.Length = address(iova), nob
	plan.Frags = []frag{{uint32(nob), address(iova)}}
	return nil
}

func planFmr(in *regInput, plan *regPlanOut, nob uint64) (err error) {
	var starts []uint64
	if plan.Pages, starts, err = listPages(in, "RegFmrGap"); err != nil {
		return err
	}
	if !in.Request.Gaps {
		return whole(plan, starts[0], nob, nil)
	}
	// The region reaches from the lowest to the highest address of the fragments.
	low, high := starts[0], uint64(0)
	for i, s := range in.List.Segments {
		plan.Frags = append(plan.Frags, frag{s.Length, address(starts[i])})
		if starts[i] < low {
			low = starts[i]
		}
		if end := starts[i] + uint64(s.Length); end > high {
			high = end
		}
	}
	plan.Iova, plan.Length = address(low), high-low
	return nil
}

func planFastreg(in *regInput, plan *regPlanOut, nob uint64) (err error) {
	if in.Request.Gaps {
		return refuse("EPROTONOSUPPORT", "RegFastregGaps")
	}
	if plan.Pages, _, err = listPages(in, "RegFastregShort"); err != nil {
		return err
	}
	return whole(plan, uint64(in.List.Segments[0].Addr), nob, refuseAt("EINVAL", "RegFastregWraps", 0))
}

func planPhys(in *regInput, plan *regPlanOut, nob uint64) (err error) {
	var starts []uint64
	if in.Request.Gaps {
		return refuse("EINVAL", "RegPhysGaps")
	}
	if plan.Pages, starts, err = listPages(in, "RegPhysGap"); err != nil {
		return err
	}
	inside := uint64(in.Request.Iova) % uint64(in.Request.PageBytes)
	if inside != 0 && inside != starts[0] {
		return refuse("EINVAL", "RegPhysAlignment")
	}
	return whole(plan, uint64(in.Request.Iova)-inside+starts[0], nob, refuse("EINVAL", "RegPhysWraps"))
}

func makePlan(in *regInput, plan *regPlanOut, nob uint64) error {
	segments := in.List.Segments
	switch in.Request.Mode {
	case "global":
		for _, s := range segments {
			plan.Frags = append(plan.Frags, frag{s.Length, s.Addr})
		}
		return nil
	case "fmr":
		return planFmr(in, plan, nob)
	case "fastreg":
		return planFastreg(in, plan, nob)
	case "phys":
		return planPhys(in, plan, nob)
	case "user":
		if !in.Request.Contiguous {
			return refuse("EPROTONOSUPPORT", "RegUserHoles")
		}
		return whole(plan, uint64(in.Request.Iova), nob, refuse("EINVAL", "RegUserWraps"))
	default: // fastreg_gaps
		if len(segments) > int(in.Request.MaxPages) {
			return refuse("EINVAL", "RegTooManyEntries")
		}
		plan.Entries = segments
		return whole(plan, uint64(segments[0].Addr), nob, refuseAt("EINVAL", "RegEntriesWrap", 0))
	}
}

func (in *regInput) plan() (*regPlanOut, error) {
	if err := in.Request.check(); err != nil {
		return nil, err
	}
	nob, err := checkSegments(in.List.Segments)
	if err != nil {
		return nil, err
	}
	plan := regPlanOut{RemoteWrite: in.Request.Side == "sink", Pages: []address{}}
	if err := makePlan(in, &plan, nob); err != nil {
		return nil, err
	}
	plan.PageOffset = uint64(plan.Iova) % uint64(in.Request.PageBytes)
	if in.Request.Side == "sink" && len(plan.Frags) > int(in.Request.PeerMaxFrags) {
		return nil, refuse("EFBIG", "RegTooManyFragments")
	}
	return &plan, nil
}

func regPlan(request []byte) (map[string]any, error) {
	var in regInput
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	plan, err := in.plan()
	return map[string]any{"plan": plan}, err
}
