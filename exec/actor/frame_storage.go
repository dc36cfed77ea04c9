package actor

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/state"
)

func programKey(key string) state.StorageKey {
	return state.NewStorageKey(state.VMNamespacePVM, []byte(key))
}

// StorageGet implements host.Storage.
func (f *frame) StorageGet(key string) ([]byte, bool, error) {
	if _, err := f.need(manifest.KV); err != nil {
		return nil, false, err
	}
	v, err := f.run.state.Storage(f.env.Self, programKey(key))
	if err != nil {
		return nil, false, err
	}
	return v, v != nil, f.readCells(len(key) + len(v))
}

// A scan reads this much at a time, so that it reads little more than is paid for.
const (
	scanEntries = 64
	scanBytes   = 64 << 10
)

// StorageScan implements host.Storage.
func (f *frame) StorageScan(prefix string, limit int, visit func(host.Entry)) error {
	if _, err := f.need(manifest.KV); err != nil {
		return err
	}
	page := state.Span{Prefix: programKey(prefix)}
	// Paid: by storage_read for each entry, in visit; a page has one or more, but for a page before each of the two reserved prefixes.
	for limit > 0 {
		page.Entries, page.Bytes = min(limit, scanEntries), scanBytes
		page.From = ownKey(page.First())
		page.To = nextTaken(page.Prefix, page.From)
		list, err := f.run.state.Scan(f.env.Self, page)
		if err != nil {
			return err
		}
		rest, whole := page.Rest(list)
		// Paid: by storage_read and storage_read_byte for each entry, in visit.
		for i := range list {
			e := host.Entry{Key: string(list[i].Key[1:]), Value: list[i].Value}
			if err := f.readCells(len(e.Key) + len(e.Value)); err != nil {
				return err
			}
			visit(e)
			limit--
		}
		if whole && page.To == "" {
			return nil
		}
		if whole {
			rest.From = page.To
		}
		page = rest
	}
	return nil
}

// nextTaken returns the lowest key from one on that begins with prefix and that programs may
// not write, "" if there is none: a page ends there, so that it reads nothing that is not
// answered.
func nextTaken(prefix, from state.StorageKey) state.StorageKey {
	taken := programKey(host.NextReserved(string(from[1:])))
	// Bounded: by a reserved prefix, 15 bytes.
	if len(taken) == 1 || !strings.HasPrefix(string(taken), string(prefix)) {
		return ""
	}
	return taken
}

// ownKey returns the lowest key from key on that a program may write.
func ownKey(key state.StorageKey) state.StorageKey {
	if prefix := host.Reserved(string(key[1:])); prefix != "" {
		key, _ = programKey(prefix).Above()
	}
	return key
}

// readCells charges what a read carries: ten bytes are a cell (resolution 2.11).
func (f *frame) readCells(bytes int) error {
	per := f.run.block.Params.API.StorageReadBytesPerCell
	return f.run.takeCells((uint64(bytes) + per - 1) / per)
}

// StorageSet implements host.Storage.
func (f *frame) StorageSet(key string, value []byte) error {
	if err := f.changes(); err != nil {
		return err
	}
	if err := checkText(key); err != nil {
		return err
	}
	g, err := f.need(manifest.KV)
	if err != nil {
		return err
	}
	cells := uint64(len(key)+len(value)) * uint64(f.run.block.Params.API.StorageWriteByteCells)
	if err := f.run.takeCells(cells); err != nil {
		return err
	}
	before, err := f.run.state.StorageSize(f.env.Self)
	if err != nil {
		return err
	}
	f.run.state.SetStorage(f.env.Self, programKey(key), value)
	after, err := f.run.state.StorageSize(f.env.Self)
	if err != nil || after.Bytes <= before.Bytes {
		return err
	}
	if most, ok := g.Uint(manifest.MaxBytes); ok && after.Bytes > most {
		return &Trap{chain.CodeEntitlementQuota, "storage.kv/max_bytes"}
	}
	quota, err := f.quota()
	if err == nil && after.Bytes > quota {
		return &Trap{chain.CodeQuotaExceeded, "storage quota and bond are used up"}
	}
	return err
}

// StorageDelete implements host.Storage.
func (f *frame) StorageDelete(key string) (bool, error) {
	if err := f.changes(); err != nil {
		return false, err
	}
	if _, err := f.need(manifest.KV); err != nil {
		return false, err
	}
	v, err := f.run.state.Storage(f.env.Self, programKey(key))
	if err != nil || v == nil {
		return false, err
	}
	f.run.state.SetStorage(f.env.Self, programKey(key), nil)
	return true, f.run.takeCells(uint64(len(key)) * uint64(f.run.block.Params.API.StorageWriteByteCells))
}

// EmitEvent implements host.Messages.
func (f *frame) EmitEvent(topic string, data []byte) error {
	if err := f.changes(); err != nil {
		return err
	}
	if err := checkText(topic); err != nil {
		return err
	}
	if len(f.run.events) >= chain.MaxEvents || len(topic) > chain.MaxEventName || len(data) > chain.MaxEventBytes {
		return &host.Refusal{Code: host.RefusedLimit, Text: "too many events, or one too large"}
	}
	if err := f.run.takeCells(f.run.block.Params.API.OfEvent(len(topic), len(data))); err != nil {
		return err
	}
	f.run.events = append(f.run.events, chain.Event{Emitter: f.env.Self, Name: topic, Data: append([]byte(nil), data...)})
	return nil
}
