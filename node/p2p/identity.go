package p2p

import (
	stded25519 "crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// protocolPrefix is the protocol's name and version; the genesis hash follows.
const protocolPrefix = "cowboy-mesh/1/"

func protocolOf(genesis chain.Hash) string { return protocolPrefix + hex.EncodeToString(genesis[:]) }

// certificate makes the self-signed certificate of an identity key. Only its
// key counts; nobody reads names or dates.
func certificate(key *ed25519.PrivateKey) (tls.Certificate, error) {
	seed := key.Seed()
	secret := stded25519.NewKeyFromSeed(seed[:])
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make identity certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: secret}, nil
}

// tlsConfig is the part that both sides share. verify judges the peer's proven
// key. No names and no authorities are involved, hence the two settings that
// turn the library's own judgment off.
func (t *Transport) tlsConfig(verify func(chain.PeerKey) error) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{t.certificate},
		NextProtos:             []string{protocolOf(t.cfg.Genesis)},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true,
		SessionTicketsDisabled: true, // no resumption: each connection proves its key anew
		VerifyConnection: func(state tls.ConnectionState) error {
			key, err := keyOf(state)
			if err != nil {
				return err
			}
			return verify(key)
		},
	}
}

// keyOf returns the key that the peer has proven to hold.
func keyOf(state tls.ConnectionState) (chain.PeerKey, error) {
	if len(state.PeerCertificates) != 1 {
		return chain.PeerKey{}, ErrCertificate
	}
	key, ok := state.PeerCertificates[0].PublicKey.(stded25519.PublicKey)
	if !ok || len(key) != stded25519.PublicKeySize {
		return chain.PeerKey{}, ErrCertificate
	}
	return chain.PeerKey(key), nil
}

// resetKey is the same after a restart, so that a new process can tell the
// peers of the old one that its connections are gone (RFC 9000 §10.3).
func resetKey(key *ed25519.PrivateKey) [32]byte {
	seed := key.Seed()
	return keccak.Sum256([]byte("cowboy-mesh-stateless-reset-v1"), seed[:])
}
