// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"strings"
)

// dma_map: docs/mapping.md, "dma_map".

type segment struct {
	Addr   address `json:"addr"`
	Length uint32  `json:"length"`
}

type dmaDevice struct {
	Kind      string
	PageBytes uint32 `json:"page_bytes"`
	Npages    uint32
	Base      address
	Unmapped  []uint32
	Iommu     struct {
		DevicePages []uint32 `json:"device_pages"`
		Merge       address
		Fault       string
	}
}

type dmaInput struct {
	Device dmaDevice
	List   sgList
}

type dmaList struct {
	Nob      uint64    `json:"nob"`
	Segments []segment `json:"segments"`
}

func (in *dmaInput) check() error {
	base := uint64(in.Device.Base)
	switch {
	case !legalPage(in.Device.PageBytes):
		return refuse("EINVAL", "DmaPageSize")
	case base%uint64(in.Device.PageBytes) != 0:
		return refuse("EINVAL", "DmaAlignment")
	case uint64(in.Device.Npages) > (lastAddress-base)/uint64(in.Device.PageBytes):
		return refuse("EINVAL", "DmaWraps")
	case len(in.List.Entries) == 0 || len(in.List.Entries) > maxFrags:
		return refuse("EINVAL", "DmaCount")
	}
	return nil
}

// The device address of an entry.
func (in *dmaInput) place(e entry, i int, unmapped map[uint32]bool) (uint64, error) {
	page := e.Page
	switch {
	case page >= in.Device.Npages:
		return 0, refuseAt("EINVAL", "DmaUnknownPage", i)
	case e.Length == 0 || uint64(e.Offset)+uint64(e.Length) > uint64(in.Device.PageBytes):
		return 0, refuseAt("EINVAL", "DmaLeavesPage", i)
	case in.Device.Kind == "virtual" && unmapped[page]:
		return 0, refuseAt("EFAULT", "DmaNotMapped", i)
	case in.Device.Kind == "iommu":
		page = in.Device.Iommu.DevicePages[page]
		if page >= in.Device.Npages {
			return 0, refuseAt("EINVAL", "DmaUnknownDevicePage", int(e.Page))
		}
	}
	return uint64(in.Device.Base) + uint64(page)*uint64(in.Device.PageBytes) + uint64(e.Offset), nil
}

func (in *dmaInput) fault() error {
	switch fault := in.Device.Iommu.Fault; {
	case in.Device.Kind != "iommu" || fault == "none":
		return nil
	case fault == "nothing":
		return refuse("EIO", "DmaNothing")
	default:
		return refuse(strings.ToUpper(fault), "DmaFailed")
	}
}

func (in *dmaInput) list() (*dmaList, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	unmapped := make(map[uint32]bool)
	for _, page := range in.Device.Unmapped {
		unmapped[page] = true
	}
	var segments []segment
	var nob, end uint64
	for i, e := range in.List.Entries {
		at, err := in.place(e, i, unmapped)
		if err != nil {
			return nil, err
		}
		if in.Device.Kind == "iommu" && i > 0 && at == end && in.Device.Iommu.Merge>>(i%64)&1 == 1 {
			segments[len(segments)-1].Length += e.Length
		} else {
			segments = append(segments, segment{address(at), e.Length})
		}
		end = at + uint64(e.Length)
		nob += uint64(e.Length)
	}
	if err := in.fault(); err != nil {
		return nil, err
	}
	return &dmaList{nob, segments}, nil
}

func dmaMap(request []byte) (map[string]any, error) {
	var in dmaInput
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	list, err := in.list()
	return map[string]any{"list": list}, err
}
