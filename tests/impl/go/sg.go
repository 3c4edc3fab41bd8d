// SPDX-License-Identifier: MIT

package main

import "encoding/json"

// sg_build: docs/mapping.md, "sg_build".

type entry struct {
	Page   uint32 `json:"page"`
	Offset uint32 `json:"offset"`
	Length uint32 `json:"length"`
}

type sgList struct {
	Gaps    bool    `json:"gaps"`
	Nob     length  `json:"nob"`
	Entries []entry `json:"entries"`
}

// A piece of a vector of either kind.
type piece struct {
	Base   address
	Page   uint32
	Offset uint32
	Len    length
}

type space struct {
	PageBytes uint32 `json:"page_bytes"`
	Npages    uint32
	Ranges    []struct {
		Base  address
		Pages []uint32
	}
}

type buffer struct {
	Kind   string
	Offset length
	Nob    length
	Pieces []piece
}

type sgInput struct {
	MaxEntries uint32 `json:"max_entries"`
	Space      space
	Buffer     buffer
}

func (in *sgInput) check() error {
	switch {
	case !legalPage(in.Space.PageBytes):
		return refuse("EINVAL", "SgPageSize")
	case !legalLimit(in.MaxEntries):
		return refuse("EINVAL", "SgLimit")
	case in.Buffer.Nob == 0 || in.Buffer.Nob > transferBytes:
		return refuse("EINVAL", "SgLength")
	}
	return nil
}

func (in *sgInput) checkPiece(p piece, i int) error {
	switch {
	case in.Buffer.Kind == "iov" && uint64(p.Len) > lastAddress-uint64(p.Base):
		return refuseAt("EINVAL", "SgWraps", i)
	case in.Buffer.Kind == "iov":
		return nil
	case p.Page >= in.Space.Npages:
		return refuseAt("EINVAL", "SgUnknownPage", i)
	case uint64(p.Offset)+uint64(p.Len) > uint64(in.Space.PageBytes):
		return refuseAt("EINVAL", "SgLeavesPage", i)
	}
	return nil
}

// The page that backs a virtual address.
func (in *sgInput) pageBehind(at uint64) (uint32, bool) {
	for _, r := range in.Space.Ranges {
		if slot := (at - uint64(r.Base)) / uint64(in.Space.PageBytes); at >= uint64(r.Base) && slot < uint64(len(r.Pages)) {
			return r.Pages[slot], r.Pages[slot] < in.Space.Npages
		}
	}
	return 0, false
}

// Add the entries for `left` bytes of a piece, starting at offset skip.
func (in *sgInput) cut(list *sgList, p piece, i int, skip, left uint64) error {
	for left > 0 {
		if len(list.Entries) == int(in.MaxEntries) {
			return refuseAt("EFAULT", "SgTooMany", i)
		}
		e := entry{Page: p.Page, Offset: p.Offset + uint32(skip)}
		if in.Buffer.Kind == "iov" {
			at := uint64(p.Base) + skip
			page, ok := in.pageBehind(at)
			if !ok {
				return refuseAt("EFAULT", "SgNotMapped", i)
			}
			e = entry{Page: page, Offset: uint32(at % uint64(in.Space.PageBytes))}
		}
		e.Length = in.Space.PageBytes - e.Offset
		if uint64(e.Length) > left {
			e.Length = uint32(left)
		}
		list.Entries = append(list.Entries, e)
		skip += uint64(e.Length)
		left -= uint64(e.Length)
	}
	return nil
}

// Rule G3: the list has gaps unless both sides of every seam are at page boundaries.
func hasGaps(entries []entry, pageBytes uint32) bool {
	for i := 1; i < len(entries); i++ {
		if entries[i].Offset != 0 || entries[i-1].Offset+entries[i-1].Length != pageBytes {
			return true
		}
	}
	return false
}

func (in *sgInput) build() (*sgList, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	list := &sgList{Nob: in.Buffer.Nob, Entries: []entry{}}
	skip, left := uint64(in.Buffer.Offset), uint64(list.Nob)
	for i, p := range in.Buffer.Pieces {
		if left == 0 {
			break
		}
		if skip >= uint64(p.Len) {
			skip -= uint64(p.Len)
			continue
		}
		if err := in.checkPiece(p, i); err != nil {
			return nil, err
		}
		part := uint64(p.Len) - skip
		if part > left {
			part = left
		}
		if err := in.cut(list, p, i, skip, part); err != nil {
			return nil, err
		}
		skip, left = 0, left-part
	}
	if left > 0 {
		return nil, refuse("EINVAL", "SgShortVector")
	}
	list.Gaps = hasGaps(list.Entries, in.Space.PageBytes)
	return list, nil
}

func sgBuild(request []byte) (map[string]any, error) {
	var in sgInput
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	list, err := in.build()
	return map[string]any{"list": list}, err
}
