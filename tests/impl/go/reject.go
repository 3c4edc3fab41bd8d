// SPDX-License-Identifier: MIT

package main

import "bytes"

// How a requester reacts to a reject: docs/connection.md, and docs/wire.md, "Reject record".

type reason uint8

const (
	race     reason = 1
	fatal    reason = 3
	uncompat reason = 4
	stale    reason = 5
	tooMany  reason = 6
	tooDeep  reason = 7
	early    reason = 9
)

const (
	lnetMagic   = 0x45726963
	recordBytes = 24
)

// Reject reasons of the connection manager.
const (
	cmNoListener = 8
	cmStale      = 10
	cmConsumer   = 28
)

type record struct {
	Magic   uint32
	Version uint16
	Why     reason
	_       byte
	Life    address
	Depth   uint16
	Frags   uint16
	Size    uint32
}

func giveUp(name string, value uint64, limit ...uint64) error {
	return refuseValue("ECONNREFUSED", name, value, limit...)
}

func readRecord(data []byte) (*record, error) {
	r := &record{}
	if len(data) < 7 {
		return nil, giveUp("RecordShort", uint64(len(data)), 7)
	}
	padded := append(append([]byte{}, data...), make([]byte, recordBytes)...)
	for _, order := range orders {
		if found := order.Uint32(data); found == magic || found == lnetMagic {
			s := stream{in: bytes.NewReader(padded)}
			s.carry(order, r)
		}
	}
	switch {
	case r.Magic == 0:
		return nil, giveUp("RecordMagic", asFound(data), magic)
	case r.Version != oldVersion && r.Version != newVersion:
		return nil, giveUp("RecordVersion", uint64(r.Version), newVersion)
	case r.Why < race || r.Why > early:
		return nil, giveUp("RecordWhy", uint64(r.Why), uint64(early))
	case r.Version == oldVersion:
		r.Life = address(lastAddress) // the record does not have it
	case len(data) < recordBytes:
		return nil, giveUp("RecordShortForParams", uint64(len(data)), recordBytes)
	}
	return r, nil
}

// The parameters of the next request after a reject record. Both limits of the record apply.
func (r *record) next(asked connParams, own uint32) (connParams, error) {
	why, old := r.Why, r.Version == oldVersion
	if why == fatal && old && asked.Version != oldVersion {
		why = uncompat
	}
	depth, frags := uint32(r.Depth), uint32(r.Frags)
	switch why {
	case race, stale, uncompat:
	case tooMany, tooDeep:
		given, limit := depth, asked.Depth
		if why == tooMany {
			given, limit = frags, asked.Frags
		}
		if old {
			return asked, giveUp("RejectWhy", uint64(why))
		} else if given >= limit || depth < 2 || frags == 0 {
			return asked, giveUp("RejectUnusable", uint64(why), uint64(given))
		}
		asked.Depth, asked.Frags = least(depth, asked.Depth), least(frags, asked.Frags)
	default:
		return asked, giveUp("RejectWhy", uint64(why))
	}
	if uint32(r.Version) > own {
		return asked, giveUp("RejectWhy", uint64(why))
	}
	asked.Version = uint32(r.Version)
	if old {
		asked.Depth = oldDepth
	}
	return asked, nil
}

func (in *connectIn) reject() (*connected, error) {
	switch in.CmReason {
	case cmConsumer:
	case cmStale:
		return &connected{Params: in.Asked}, nil
	case cmNoListener:
		return nil, refuseValue("EHOSTUNREACH", "RejectNoListener", cmNoListener)
	default:
		return nil, giveUp("RejectReason", uint64(in.CmReason))
	}
	r, err := readRecord(in.Bytes)
	if err != nil {
		return nil, err
	}
	params, err := r.next(in.Asked, in.Own.Version)
	return &connected{Params: params, Life: r.Life}, err
}
