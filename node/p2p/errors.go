package p2p

import (
	"errors"

	"github.com/quic-go/quic-go"
)

// Why two nodes do not talk to each other.
var (
	// ErrOtherGenesis means that the peer belongs to another chain.
	ErrOtherGenesis = errors.New("peer is of another genesis: compare the genesis hashes that both nodes print at start")
	// ErrUnknownPeer means that the peer is not in the validator set and that
	// this node lets no others in.
	ErrUnknownPeer = errors.New("peer is not in the validator set and full nodes are not admitted")
	// ErrFull means that no place for a full node is free, or that another one waited
	// for it.
	ErrFull = errors.New("no place for another full node is free")
	// ErrWrongPeer means that another node answers at a member's address.
	ErrWrongPeer = errors.New("another node answers at this address")
	// ErrCertificate means that the peer shows anything but one certificate of
	// an Ed25519 key.
	ErrCertificate = errors.New("want one certificate of an Ed25519 identity key")
	// ErrSelf means that an address leads to this node itself.
	ErrSelf = errors.New("address leads to this node itself")
	// ErrBanned means that the peer has lately sent what no honest one sends.
	ErrBanned = errors.New("peer is banned for a while")
	// ErrBusy is a receiver's way to say: not now. The transport waits and
	// offers the same message again.
	ErrBusy = errors.New("receiver is busy")
	// ErrUnknown is a receiver's way to say that it does not know such messages. From a
	// peer of a newer version they are ignored; from others it is a violation.
	ErrUnknown = errors.New("message of an unknown kind")
	// ErrStalled means that a frame was begun and not finished in time. Whoever stands
	// on the way can do that to an honest peer: the two connect anew.
	ErrStalled = errors.New("frame was begun and not finished in time")
	// ErrNotListening means that Listen has not been called.
	ErrNotListening = errors.New("transport does not listen yet")
)

// What an honest peer does not send.
var (
	ErrHello     = errors.New("greeting is not valid")
	ErrStream    = errors.New("second stream of a class, or one that ended")
	ErrControl   = errors.New("control message is not valid")
	ErrWireBatch = errors.New("transaction batch is not valid")
)

// Codes with which a connection is closed.
const (
	closeNormal    quic.ApplicationErrorCode = 0 // this node stops, or the connection idles
	closeDuplicate quic.ApplicationErrorCode = 1 // the pair has another connection
	closeViolation quic.ApplicationErrorCode = 2 // what came is not valid
	closeBanned    quic.ApplicationErrorCode = 3
	closeFull      quic.ApplicationErrorCode = 4 // no place for a full node
)

// alertNoProtocol is the TLS alert "no application protocol" as QUIC reports
// it (RFC 9001 §4.8): the two sides have no protocol name in common.
const alertNoProtocol = quic.TransportErrorCode(0x100 + 120)

// dialError turns QUIC's words into ours.
func dialError(err error) error {
	var transport *quic.TransportError
	if errors.As(err, &transport) && transport.ErrorCode == alertNoProtocol {
		return ErrOtherGenesis
	}
	return err
}
