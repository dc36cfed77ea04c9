package datadir

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

func TestPeersFile(t *testing.T) {
	dir := t.TempDir()
	if peers, err := LoadPeers(dir); err != nil || peers != nil {
		t.Errorf("no file: %v, %v", peers, err)
	}
	want := []PeerAddress{{chain.PeerKey{1}, "127.0.0.1:4001"}, {chain.PeerKey{2}, "validator.example:4001"}}
	for range 2 { // the second replaces the first
		if err := WritePeers(dir, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := LoadPeers(dir)
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
	for _, bad := range []string{
		``, `[]`, `{"peers":[{"peer_key":"00","address":"a:1"}]}`, `{"peers":[{"peer_key":"zz"}]}`, `{"extra":1}`,
		`{"peers":[{"peer_key":"` + hex64 + `"},{"peer_key":"` + hex64 + `"}]}`,
	} {
		if _, err := parsePeers([]byte(bad)); err == nil {
			t.Errorf("accepted %s", bad)
		}
	}
}

const hex64 = "0101010101010101010101010101010101010101010101010101010101010101"

func FuzzPeersFile(f *testing.F) {
	f.Add([]byte(`{"peers":[{"peer_key":"` + hex64 + `","address":"a:1"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		peers, err := parsePeers(raw)
		if err != nil {
			return
		}
		dir := t.TempDir()
		if err := WritePeers(dir, peers); err != nil {
			t.Fatal(err)
		}
		if again, err := LoadPeers(dir); err != nil || len(again) != len(peers) {
			t.Errorf("%v becomes %v (%v)", peers, again, err)
		}
	})
}
