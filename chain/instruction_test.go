package chain

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// call returns the payload of an instruction whose arguments are encoded.
func call(opcode uint64, args ...[]byte) []byte {
	out := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
	for _, a := range args {
		out = append(out, a...)
	}
	return out
}

func TestClassify(t *testing.T) { // resolutions 11.12, 11.13, 11.43, 4.4
	plain := Address{19: 0x01, 0: 0x01}
	hash := cbor.AppendBytes(nil, make([]byte, 32))
	empty := cbor.AppendBytes(nil, nil)
	deploy := cbor.AppendArray(nil, 4)
	deploy = append(append(deploy, empty...), empty...)
	deploy = cbor.AppendNull(cbor.AppendMap(deploy, 0))

	tests := []struct {
		name    string
		to      *Address
		payload []byte
		want    string // name of the row
		lane    LaneID
		err     error
	}{
		{"value to a plain address", &plain, nil, "transfer", LaneUser, nil},
		{"value with a memo", &plain, []byte("hello"), "transfer", LaneUser, nil},
		{"the zero address is plain", &Address{}, nil, "transfer", LaneUser, nil},
		{"0x101 is plain", new(SystemAddress(0x101)), nil, "transfer", LaneUser, nil},
		{"value to the treasury", &AddrTreasury, nil, "transfer", LaneUser, nil},
		{"value to another system actor", &AddrTokens, nil, "", 0, ErrReservedAddress},
		{"value to an empty reserved address", new(SystemAddress(0x100)), nil, "", 0, ErrReservedAddress},
		{"no target", nil, deploy, "deploy", LaneUser, nil},
		{"deployment without its array", nil, nil, "", 0, ErrPayload},
		{"deployment with three parts", nil, call(0, empty, empty), "", 0, ErrPayload},
		{"heartbeat", &AddrRunnerRegistry, call(2), "runner_heartbeat", LaneRunner, nil},
		{"heartbeat with an argument", &AddrRunnerRegistry, call(2, hash), "", 0, ErrPayload},
		{"commit", &AddrResultVerifier, call(7, hash, hash), "result_commit", LaneRunner, nil},
		{"commit at the wrong actor", &AddrJobDispatcher, call(7, hash, hash), "", 0, new(UnknownInstructionError)},
		{"commit of 31 bytes", &AddrResultVerifier, call(7, hash, cbor.AppendBytes(nil, make([]byte, 31))), "", 0, ErrPayload},
		{"reveal", &AddrResultVerifier, call(8, hash, empty, empty), "result_reveal", LaneRunner, nil},
		{"presence certificate", &AddrRunnerRegistry, call(90, cbor.AppendBytes(nil, make([]byte, 20)), []byte{0}, []byte{0x80}), "presence_certificate", LaneRunner, nil},
		{"evidence", &AddrStaking, call(94, empty, empty), "evidence_submit", LaneSystem, nil},
		{"governance", &AddrGovernance, call(46, hash), "governance_approve", LaneSystem, nil},
		{"job", &AddrJobDispatcher, call(5, []byte{0xa0}, []byte{0xa0}), "job_submit", LaneUser, nil},
		{"job with lists for maps", &AddrJobDispatcher, call(5, []byte{0x80}, []byte{0xa0}), "", 0, ErrPayload},
		{"null for an optional argument", &AddrTokens, call(18, hash, []byte{0xf6}), "token_transfer_ownership", LaneUser, nil},
		{"null for another", &AddrTokens, call(15, hash, []byte{0xf6}), "", 0, ErrPayload},
		{"trailing bytes", &AddrRunnerRegistry, append(call(2), 0), "", 0, ErrPayload},
		{"empty array", &AddrRunnerRegistry, []byte{0x80}, "", 0, ErrPayload},
		{"opcode that is text", &AddrRunnerRegistry, []byte{0x81, 0x60}, "", 0, ErrPayload},
		{"opcode in a longer form", &AddrRunnerRegistry, []byte{0x81, 0x18, 0x02}, "", 0, ErrPayload},
		{"the rehearsal of earlier releases", &AddrRunnerRegistry, call(101, cbor.AppendUint(nil, 9), empty), "", 0, new(UnknownInstructionError)},
		{"unknown opcode", &AddrRunnerRegistry, call(math.MaxUint64), "", 0, new(UnknownInstructionError)},
		{"payload for the treasury", &AddrTreasury, call(1), "", 0, new(UnknownInstructionError)},
		{"array of 2^64-1 items", &AddrTokens, []byte{0x9b, 255, 255, 255, 255, 255, 255, 255, 255}, "", 0, ErrPayload},
		{"deeply nested argument", &AddrJobDispatcher, call(5, []byte("\xa1\x00"+strings.Repeat("\x81", 200)+"\x00"), []byte{0xa0}), "", 0, ErrPayload},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := (&Tx{To: tt.to, Payload: tt.payload}).Classify()
			var unknown *UnknownInstructionError
			if _, ok := tt.err.(*UnknownInstructionError); ok {
				if !errors.As(err, &unknown) || unknown.To != *tt.to {
					t.Errorf("error %v, want an UnknownInstructionError", err)
				}
				return
			}
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err == nil && (got.Name != tt.want || got.Lane != tt.lane || got.PayloadBytes != len(tt.payload)) {
				t.Errorf("%s in the %s lane, want %s in %s", got.Name, got.Lane, tt.want, tt.lane)
			}
		})
	}
}

func TestCodeTurnsTransferIntoMessage(t *testing.T) {
	transfer := Instruction{InstructionSpec: transferSpec, PayloadBytes: 3}
	if got := transfer.WithCode(true); got.Kind != KindMessage || got.PayloadBytes != 3 {
		t.Errorf("transfer with code is %v", got)
	}
	if got := transfer.WithCode(false); got.Kind != KindTransfer {
		t.Errorf("transfer without code is %v", got)
	}
	if got := (Instruction{InstructionSpec: transferSpec}).WithCode(true); got.Kind != KindTransfer || !got.HasCode {
		t.Errorf("transfer without payload to code is %v", got)
	}
	if got := (Instruction{InstructionSpec: deploySpec, PayloadBytes: 3}).WithCode(true); got.Kind != KindDeploy {
		t.Errorf("deployment with code is %v", got)
	}
}

func TestInstructionTableIsSound(t *testing.T) {
	names, opcodes := map[string]bool{}, map[uint64]bool{}
	runnerLane := "runner_heartbeat presence_certificate result_commit result_reveal result_submit secret_request"
	for _, s := range InstructionTable() {
		if s.Name == "" || names[s.Name] {
			t.Errorf("name %q is missing or used twice", s.Name)
		}
		names[s.Name] = true
		if s.Kind != KindSystem && !s.Executable {
			t.Errorf("%s is not executable", s.Name)
		}
		if s.Kind != KindSystem {
			continue
		}
		if opcodes[s.Opcode] || s.Opcode == 0 {
			t.Errorf("opcode %d is used twice or zero", s.Opcode)
		}
		opcodes[s.Opcode] = true
		if !s.To.IsSystem() {
			t.Errorf("%s stands at %s, outside the reserved range", s.Name, s.To)
		}
		if inRunner := strings.Contains(runnerLane, s.Name); inRunner != (s.Lane == LaneRunner) {
			t.Errorf("%s is in the %s lane (resolution 11.43)", s.Name, s.Lane)
		}
		if inSystem := s.To == AddrStaking || s.To == AddrGovernance || s.Opcode == OpSecretRelease || s.Opcode == OpHolderSet; inSystem != (s.Lane == LaneSystem) {
			t.Errorf("%s is in the %s lane (resolution 11.43)", s.Name, s.Lane)
		}
		if (s.Lane == LaneRunner || s.Lane == LaneSystem) && s.Sender == SenderAnyone {
			t.Errorf("%s: anyone may use the %s lane (resolution 11.13)", s.Name, s.Lane)
		}
		seen := map[string]bool{}
		for _, a := range s.Args {
			if a.Name == "" || seen[a.Name] {
				t.Errorf("%s: argument %q is missing or named twice", s.Name, a.Name)
			}
			seen[a.Name] = true
		}
	}
}

func TestCodeNames(t *testing.T) {
	seen := map[string]bool{}
	for code, text := range codeTexts {
		if seen[text.name] || CodeName(code) != text.name || seen[text.meaning] || text.meaning == "" {
			t.Errorf("code %d: %q", code, text)
		}
		seen[text.name], seen[text.meaning] = true, true
	}
	if CodeName(math.MaxUint16) != "unknown" || CodeMeaning(math.MaxUint16) != "" {
		t.Error("an unknown code has a name or a meaning")
	}
}

// TestRowReadsNoArguments: the row of a transaction is found by target and opcode, whatever
// its arguments are.
func TestRowReadsNoArguments(t *testing.T) {
	for _, spec := range InstructionTable() {
		tx := &Tx{To: &spec.To}
		switch spec.Kind {
		case KindDeploy:
			tx.To = nil
		case KindSystem:
			tx.Payload = cbor.AppendUint(cbor.AppendArray(nil, 1+len(spec.Args)), spec.Opcode)
			tx.Payload = append(tx.Payload, bytes.Repeat([]byte{0xff}, len(spec.Args))...) // no items
		case KindMessage: // is a transfer until the state is asked
			continue
		}
		if spec.Kind == KindSystem && len(spec.Args) > 0 {
			if _, err := tx.Classify(); err == nil {
				t.Errorf("%s: its arguments decode", spec.Name)
			}
		}
		if spec.Kind == KindTransfer {
			tx.To = &Address{1}
		}
		if row, err := tx.Row(); err != nil || row.Name != spec.Name || row.To != spec.To || row.Opcode != spec.Opcode {
			t.Errorf("%s: %s, %v", spec.Name, row.Name, err)
		}
	}
	registry := AddrRunnerRegistry
	for _, payload := range [][]byte{nil, {0x80}, {0x81, 0x40}, cbor.AppendUint(cbor.AppendArray(nil, 1), 1<<40), cbor.AppendUint(cbor.AppendArray(nil, 200), OpRunnerHeartbeat)} {
		if row, err := (&Tx{To: &registry, Payload: payload}).Row(); err == nil {
			t.Errorf("the payload %x is %s", payload, row.Name)
		}
	}
}

// FuzzClassify runs any payload against every target: no panic, and what is
// accepted is an item of the profile, so execution may decode it again.
func FuzzClassify(f *testing.F) {
	f.Add(call(2), uint16(1))
	f.Add(call(5, []byte{0xa0}, []byte{0xa1, 0, 0}), uint16(2))
	f.Add(call(18, cbor.AppendBytes(nil, make([]byte, 32)), []byte{0xf6}), uint16(0x16))
	f.Add([]byte{0x84, 0x40, 0x40, 0xa0, 0xf6}, uint16(0))
	f.Fuzz(func(t *testing.T, payload []byte, target uint16) {
		tx := Tx{Payload: payload}
		if target != 0 {
			tx.To = new(SystemAddress(target))
		}
		got, err := tx.Classify()
		if row, rowErr := tx.Row(); err == nil && (rowErr != nil || row.Kind != got.Kind || row.To != got.To || row.Opcode != got.Opcode) {
			t.Fatalf("%s is the row %s, %v", got.Name, row.Name, rowErr)
		}
		if err != nil || got.Kind == KindTransfer {
			return
		}
		if err := cbor.Scan(payload, cbor.Limits{Bytes: len(payload), Depth: 40, Items: 1 << 20}); err != nil {
			t.Fatalf("%s accepts payload %x: %v", got.Name, payload, err)
		}
	})
}
