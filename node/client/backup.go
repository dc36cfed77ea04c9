package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// Backup is the whole storage of an actor after one block. In a file it is a line
// of JSON that says what it is, and a line for each entry, ascending by key.
type Backup struct {
	ChainID   uint64
	Actor     chain.Address
	Height    chain.Height
	BlockHash chain.Hash
	Root      chain.Hash
	Size      state.StorageSize
	Entries   []state.StorageChange
}

// backupHeader is the first line of a file.
type backupHeader struct {
	Format    string        `json:"format"`
	Version   int           `json:"version"`
	ChainID   uint64        `json:"chain_id"`
	Actor     chain.Address `json:"actor"`
	Height    uint64        `json:"height"`
	BlockHash chain.Hash    `json:"block_hash"`
	Root      chain.Hash    `json:"storage_root"`
	Bytes     uint64        `json:"storage_bytes"`
	Entries   uint64        `json:"storage_entries"`
}

const (
	backupFormat    = "cowboy storage backup"
	backupVersion   = 1
	backupLineBytes = 4 << 20 // of one entry in hex
)

// Errors of a backup.
var (
	// ErrBackup means a file that is no backup, or not a whole one.
	ErrBackup = errors.New("not a whole storage backup")
	// ErrEvicted means that there is nothing to back up any more.
	ErrEvicted = errors.New("the storage was evicted: restore it from an earlier backup")
	// ErrNoStorage means an actor that stores nothing.
	ErrNoStorage = errors.New("the actor stores nothing")
)

// Genesis returns the genesis that the node says is its chain's.
func (c *Client) Genesis(ctx context.Context) (*genesis.Genesis, error) {
	text, err := c.raw(ctx, request{method: http.MethodGet, path: "/genesis"})
	if err != nil {
		return nil, err
	}
	g, err := genesis.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("genesis from %s: %w", c.base, err)
	}
	return g, nil
}

// BackUp returns the storage of an actor, as one block left it. It trusts the node
// with nothing but the genesis, if v has it from there: see [Client.Export].
func (c *Client) BackUp(ctx context.Context, v *light.Verifier, chainID uint64, actor chain.Address) (*Backup, error) {
	all, err := c.Export(ctx, v, actor)
	if err != nil {
		return nil, err
	}
	account := &all.Shown.Accounts[0].Account
	switch {
	case stored.Dormant(account):
		return nil, ErrEvicted
	case len(all.Entries) == 0:
		return nil, ErrNoStorage
	}
	return &Backup{
		ChainID: chainID, Actor: actor, Height: all.Shown.Height, BlockHash: all.Shown.BlockHash,
		Root: account.StorageRoot, Size: account.StorageSize, Entries: all.Entries,
	}, nil
}

// Write writes the file.
func (b *Backup) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	err := enc.Encode(backupHeader{
		Format: backupFormat, Version: backupVersion, ChainID: b.ChainID, Actor: b.Actor, Height: uint64(b.Height),
		BlockHash: b.BlockHash, Root: b.Root, Bytes: b.Size.Bytes, Entries: b.Size.Entries,
	})
	for i := 0; i < len(b.Entries) && err == nil; i++ {
		e := &b.Entries[i]
		err = enc.Encode(rpc.StorageEntry{Slot: "0x" + hex.EncodeToString([]byte(e.Key)), Value: "0x" + hex.EncodeToString(e.Value)})
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

// ReadBackup reads a file and checks that its entries have the size and the root
// that its first line says. The error is [ErrBackup].
func ReadBackup(r io.Reader) (*Backup, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, backupLineBytes)
	b, err := readBackup(in)
	if err == nil {
		err = in.Err()
	}
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	return b, nil
}

func readBackup(in *bufio.Scanner) (*Backup, error) {
	var h backupHeader
	if !in.Scan() {
		return nil, errors.Join(errors.New("the file is empty"), in.Err())
	}
	if err := strictJSON(in.Bytes(), &h); err != nil {
		return nil, fmt.Errorf("first line: %w", err)
	}
	if h.Format != backupFormat || h.Version != backupVersion {
		return nil, fmt.Errorf("first line: format %q, version %d", printable(h.Format), h.Version)
	}
	if h.Bytes > exportBytesMax {
		return nil, fmt.Errorf("above %d bytes", exportBytesMax)
	}
	b := &Backup{
		ChainID: h.ChainID, Actor: h.Actor, Height: chain.Height(h.Height), BlockHash: h.BlockHash, Root: h.Root,
		Size: state.StorageSize{Bytes: h.Bytes, Entries: h.Entries},
	}
	for in.Scan() {
		var e rpc.StorageEntry
		if err := strictJSON(in.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(b.Entries), err)
		}
		key, err := hex.DecodeString(strings.TrimPrefix(e.Slot, "0x"))
		if err != nil {
			return nil, fmt.Errorf("entry %d: slot: %w", len(b.Entries), err)
		}
		value, err := hex.DecodeString(strings.TrimPrefix(e.Value, "0x"))
		if err != nil {
			return nil, fmt.Errorf("entry %d: value: %w", len(b.Entries), err)
		}
		if len(key) == 0 || uint64(len(b.Entries)) == h.Entries {
			return nil, fmt.Errorf("entry %d: no key, or more entries than announced", len(b.Entries))
		}
		b.Entries = append(b.Entries, state.StorageChange{Key: state.StorageKey(key), Value: append([]byte{}, value...)})
	}
	return b, nil
}

func strictJSON(line []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("text behind the object")
	}
	return nil
}

// check holds the entries to what the first line says of them.
func (b *Backup) check() error {
	var size state.StorageSize
	for i := range b.Entries {
		if i > 0 && b.Entries[i-1].Key >= b.Entries[i].Key {
			return fmt.Errorf("entry %d: keys do not rise", i)
		}
		size = size.Add(state.SizeOf(b.Entries[i].Key, b.Entries[i].Value))
	}
	if size != b.Size || size.Entries == 0 {
		return fmt.Errorf("it has %d bytes in %d entries, its first line says %d in %d", size.Bytes, size.Entries, b.Size.Bytes, b.Size.Entries)
	}
	a := light.ShownAccount{Address: b.Actor, Exists: true, Account: state.NewAccount()}
	a.Account.StorageRoot = b.Root
	return light.CheckStorage(&a, b.Entries)
}

// ErrChunkBytes means an entry that no chunk can carry.
var ErrChunkBytes = errors.New("an entry is too large for a transaction")

// Chunks returns the entries in the order in which they are put back, in parts of
// up to most bytes of keys and values; a part has at least one entry.
func (b *Backup) Chunks(most int) ([][]state.StorageChange, error) {
	var chunks [][]state.StorageChange
	size := 0
	for _, e := range rent.Arrange(b.Entries) {
		n := len(e.Key) + len(e.Value)
		if n > RestoreChunkMax {
			return nil, fmt.Errorf("%w: slot 0x%x has %d bytes, at most %d", ErrChunkBytes, string(e.Key), n, RestoreChunkMax)
		}
		last := len(chunks) - 1
		if last < 0 || size+n > most || len(chunks[last]) == restoreEntriesMax {
			chunks, size = append(chunks, nil), 0
			last++
		}
		chunks[last] = append(chunks[last], e)
		size += n
	}
	return chunks, nil
}

// What a transaction may carry, with room for its other fields and the heads of
// the entries.
const (
	RestoreChunkMax   = stored.MaxChunkBytes - 16<<10
	restoreEntriesMax = 1024
)
