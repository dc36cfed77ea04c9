package datadir

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain"
)

// peersBytesMax bounds the file: 1,024 lines of generous length.
const peersBytesMax = 1 << 20

// PeerAddress says where a validator listens.
type PeerAddress struct {
	Key     chain.PeerKey
	Address string // UDP, host:port
}

type peersJSON struct {
	Peers []peerJSON `json:"peers"`
}

type peerJSON struct {
	Key     string `json:"peer_key"`
	Address string `json:"address"`
}

// LoadPeers reads the peers file of a data folder. A folder without one knows
// nobody, and waits to be called.
func LoadPeers(dataDir string) ([]PeerAddress, error) {
	name := filepath.Join(dataDir, PeersFile)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read peers: %w", err)
	}
	if info.Size() > peersBytesMax {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, peersBytesMax)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read peers: %w", err)
	}
	peers, err := parsePeers(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return peers, nil
}

func parsePeers(raw []byte) ([]PeerAddress, error) {
	var file peersJSON
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("parse peers: %w", err)
	}
	seen := map[chain.PeerKey]bool{}
	peers := make([]PeerAddress, len(file.Peers))
	for i, p := range file.Peers {
		key, err := hex.DecodeString(p.Key)
		if err != nil || len(key) != len(peers[i].Key) {
			return nil, fmt.Errorf("peers[%d].peer_key is not a key of %d bytes in hex", i, len(peers[i].Key))
		}
		peers[i] = PeerAddress{chain.PeerKey(key), p.Address}
		if seen[peers[i].Key] {
			return nil, fmt.Errorf("peers[%d].peer_key is named twice", i)
		}
		seen[peers[i].Key] = true
	}
	return peers, nil
}

// WritePeers writes the peers file of a data folder, in place of an older one.
func WritePeers(dataDir string, peers []PeerAddress) error {
	var file peersJSON
	for _, p := range peers {
		file.Peers = append(file.Peers, peerJSON{hex.EncodeToString(p.Key[:]), p.Address})
	}
	raw, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("encode peers: %w", err)
	}
	name := filepath.Join(dataDir, PeersFile)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace peers: %w", err)
	}
	return WriteNew(name, append(raw, '\n'), 0o644)
}
