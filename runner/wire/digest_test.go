package wire

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// approve rewrites the golden file. A changed file is another link: commit it
// together with an ADR.
var approve = flag.Bool("approve", false, "rewrite golden files")

// Objects of the pins. Bytes count up from a different start in each, so that
// two fields in the wrong order show.
var (
	pinRunner  = chain.RunnerKey(counting(0x02, 33))
	pinPeer    = chain.PeerKey(counting(0x40, 32))
	pinJob     = chain.Hash(counting(0x60, 32))
	pinSpec    = chain.Hash(counting(0x80, 32))
	pinSetHash = chain.Hash(counting(0xa0, 32))
	pinSession = Session{ChainID: 7, Runner: pinRunner, Validator: pinPeer, SubsetEpoch: 3, ValidatorSetHash: pinSetHash, ChannelBinding: [32]byte(counting(0xc0, 32))}
)

func counting(start byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = start + byte(i)
	}
	return b
}

// TestVectorsArePinned holds every reconstructed preimage to committed bytes
// (restored definitions §16). The vectors were checked against an independent
// implementation when they were made; a change is a fork of the link.
func TestVectorsArePinned(t *testing.T) {
	var b strings.Builder
	pinHash := func(name string, h chain.Hash) { fmt.Fprintf(&b, "%s %x\n", name, h[:]) }

	connection := pinSession.ConnectionID()
	pinHash("connection_id", connection)
	pinHash("hello_ack_runner", pinSession.HelloAckDigest(chain.RoleRunner, [32]byte(counting(0xe0, 32))))
	pinHash("hello_ack_validator", pinSession.HelloAckDigest(chain.RoleValidator, [32]byte(counting(0xe0, 32))))
	pinHash("heartbeat_ping", HeartbeatPingDigest(connection, 1000, 5))
	pinHash("heartbeat_pong", HeartbeatPongDigest(connection, 1000, 5, true))
	pinHash("control_backpressure", ControlDigest(connection, 0x12, []byte{0xa0}))
	assignment := Assignment{ChainID: 7, JobID: pinJob, JobSpecHash: pinSpec, Height: 1000, DeadlineBlock: 1120, Runner: pinRunner}
	pinHash("assignment_hash", assignment.Hash())
	dispatch := Dispatch{ChainID: 7, JobID: pinJob, AssignmentHash: assignment.Hash(), Runner: pinRunner, Validator: pinPeer}
	pinHash("job_ack_accepted", dispatch.AckDigest(AckAccepted, 0, ""))
	pinHash("job_ack_reject", dispatch.AckDigest(AckReject, RejectUnverifiableAssignment, "no"))
	pinHash("job_cancel", dispatch.CancelDigest(CancelExpired))
	pinHash("goodbye_runner", GoodbyeDigest(chain.RoleRunner, connection, GoodbyeShutdown, 0, ""))
	pinHash("goodbye_validator", GoodbyeDigest(chain.RoleValidator, connection, GoodbyeOverloaded, 12, "busy"))

	const golden = "testdata/digests.txt"
	if *approve {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	if len(gotLines) != len(wantLines) {
		t.Errorf("%d vectors, the file has %d", len(gotLines), len(wantLines))
	}
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			t.Errorf("now    %s\nfrozen %s", gotLines[i], wantLines[i])
		}
	}
}

// TestAssignmentHashIsTheSameForAllPushers: two validators, in both epochs of
// an overlap, sign the same hash (restored definitions §16, CIP-11 §10.1).
func TestAssignmentHashIsTheSameForAllPushers(t *testing.T) {
	a := Assignment{ChainID: 7, JobID: pinJob, JobSpecHash: pinSpec, Height: 1000, DeadlineBlock: 1120, Runner: pinRunner}
	want := keccak.Sum256([]byte("cowboy-cip11-job-assignment-v1"), []byte{2, 2}, bigEndian(7), pinJob[:], pinSpec[:],
		bigEndian(1000), bigEndian(1120), []byte{1}, pinRunner[:])
	if a.Hash() != want {
		t.Errorf("assignment hash %s: something besides the seven shared fields is in it", a.Hash())
	}
}

func bigEndian(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// TestEnumBytes pins the tables of CIP-11 §12.6 that are the link's alone.
func TestEnumBytes(t *testing.T) {
	got := fmt.Sprint(
		[]any{AckAccepted, AckDuplicate, AckReject},
		[]any{RejectUnverifiableAssignment, RejectAtCapacity, RejectMissingCapability, RejectMissingEntitlement, RejectShuttingDown, RejectOther},
		[]any{CancelReassigned, CancelExpired, CancelFailed},
		[]any{
			GoodbyeShutdown, GoodbyeUnsupportedVersion, GoodbyeProtocolError, GoodbyeChainIDMismatch, GoodbyeValidatorSetHashMismatch,
			GoodbyeNotInSubset, GoodbyeAuthenticationFailed, GoodbyeRunnerNotRegistered, GoodbyeOverloaded, GoodbyeOverlapExpired, GoodbyeIdleTimeout,
		},
	)
	const want = "[0 1 2] [0 1 2 3 4 255] [0 1 2] [0 1 2 3 4 5 6 7 8 9 10]"
	if got != want {
		t.Errorf("enum bytes %s, want %s", got, want)
	}
}
