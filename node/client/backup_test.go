package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// testBackup is a storage of n entries with 100 bytes each.
func testBackup(t testing.TB, n int) *client.Backup {
	t.Helper()
	b := &client.Backup{ChainID: 7, Actor: chain.Address{1}, Height: 9, BlockHash: chain.Hash{2}}
	d := state.NewDelta()
	for i := range n {
		e := state.StorageChange{Key: state.NewStorageKey(state.VMNamespacePVM, fmt.Appendf(nil, "%05d", i)), Value: bytes.Repeat([]byte{byte(i)}, 94)}
		b.Entries = append(b.Entries, e)
		b.Size = b.Size.Add(state.SizeOf(e.Key, e.Value))
		d.SetStorage(b.Actor, e.Key, e.Value)
	}
	f := tree.NewForest(1, nil)
	image, err := f.Apply(f.EmptyImage(), d)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := f.Account(image, tree.AccountKey(b.Actor))
	b.Root = a.StorageRoot
	return b
}

func TestBackupFile(t *testing.T) {
	b := testBackup(t, 20)
	var file bytes.Buffer
	if err := b.Write(&file); err != nil {
		t.Fatal(err)
	}
	got, err := client.ReadBackup(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if got.Root != b.Root || got.Size != b.Size || got.Height != 9 || got.ChainID != 7 || got.Actor != b.Actor || len(got.Entries) != 20 {
		t.Errorf("read %+v", got)
	}
	text := file.String()
	lines := strings.SplitAfter(text, "\n")
	for name, bad := range map[string]string{
		"empty":               "",
		"no backup":           "{}\n",
		"another version":     strings.Replace(text, `"version":1`, `"version":2`, 1),
		"another root":        strings.Replace(text, b.Root.String(), chain.Hash{5}.String(), 1),
		"cut off":             text[:len(text)-len(lines[20])],
		"a byte changed":      strings.Replace(text, `"value":"0x13`, `"value":"0x14`, 1),
		"an entry twice":      text + lines[20],
		"entries in disorder": lines[0] + lines[2] + lines[1] + strings.Join(lines[3:], ""),
		"too large":           strings.Replace(text, `"storage_bytes":2000`, `"storage_bytes":999999999999`, 1),
	} {
		if _, err := client.ReadBackup(strings.NewReader(bad)); !errors.Is(err, client.ErrBackup) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBackupChunks holds the order to that of restorations (whitepaper, "Storage
// Restoration").
func TestBackupChunks(t *testing.T) {
	b := testBackup(t, 25)
	chunks, err := b.Chunks(1_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(chunks) != 3 || len(chunks[0]) != 10 || len(chunks[2]) != 5 {
		t.Fatalf("%d chunks", len(chunks))
	}
	var last [32]byte
	for _, c := range chunks {
		for _, e := range c {
			sum := keccak.Sum256([]byte(e.Key))
			if bytes.Compare(sum[:], last[:]) <= 0 {
				t.Fatal("hashes do not rise")
			}
			last = sum
		}
	}
	if chunks, err := b.Chunks(1); err != nil || len(chunks) != 25 {
		t.Errorf("one entry each: %d, %v", len(chunks), err)
	}
	b.Entries[3].Value = make([]byte, client.RestoreChunkMax)
	if _, err := b.Chunks(1_000); !errors.Is(err, client.ErrChunkBytes) {
		t.Errorf("an entry that fits no transaction: %v", err)
	}
	tx := client.RestorePutTx(b.Actor, []state.StorageChange{{Key: "\x01k", Value: make([]byte, client.RestoreChunkMax-2)}})
	if n := len(tx.Encode()); n > chain.MaxTxBytes-1_000 {
		t.Errorf("the largest chunk makes a transaction of %d bytes", n)
	}
}

// FuzzReadBackup: whatever is accepted is written as something that is accepted.
func FuzzReadBackup(f *testing.F) {
	var file bytes.Buffer
	if err := testBackup(f, 3).Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte(`{"format":"cowboy storage backup","version":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := client.ReadBackup(bytes.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := b.Write(&again); err != nil {
			t.Fatal(err)
		}
		if _, err := client.ReadBackup(&again); err != nil {
			t.Fatal(err)
		}
	})
}
