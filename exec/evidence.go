package exec

import (
	"encoding/binary"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// Conviction is a proven offence of a validator against resolution 11.2, as the
// staking actor's storage keeps it: what jailing and slashing need to know.
// Convictions are numbered from 1 in the order of the chain; an offence is in
// the list once.
type Conviction struct {
	Offence   attest.Offence
	Validator uint32       // share index of the accused in the set of the epoch
	Stake     chain.Wei    // that it had in that set
	Height    chain.Height // of the block that convicted
	Submitter chain.Address
}

// Storage of [chain.AddrStaking], in the system namespace: how many convictions
// there are, each by its number, and the number of each offence.
func convictionsKey() state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, []byte("convictions"))
}

func convictionKey(number uint64) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, binary.BigEndian.AppendUint64([]byte("conviction/"), number))
}

func offenceKey(o attest.Offence) state.StorageKey {
	name := append([]byte("offence/"), o.Accused[:]...)
	name = binary.BigEndian.AppendUint64(name, uint64(o.Round.Epoch))
	return state.NewStorageKey(state.VMNamespaceSystem, binary.BigEndian.AppendUint64(name, uint64(o.Round.View)))
}

// Convictions returns how many convictions there are. The error is a [*Fault].
func Convictions(view state.View) (uint64, error) {
	return readNumber(view, convictionsKey())
}

// ConvictionOf returns the number under which an offence is in the list, or 0.
// The error is a [*Fault].
func ConvictionOf(view state.View, o attest.Offence) (uint64, error) {
	return readNumber(view, offenceKey(o))
}

// ReadConviction returns a conviction by its number. The error is a [*Fault];
// its reason is [ErrNoConviction] for a number that was never given.
func ReadConviction(view state.View, number uint64) (Conviction, error) {
	b, err := view.Storage(chain.AddrStaking, convictionKey(number))
	if err == nil && b == nil {
		err = ErrNoConviction
	}
	var c Conviction
	if err == nil {
		c, err = decodeConviction(b)
	}
	if err != nil {
		return Conviction{}, &Fault{"read conviction", err}
	}
	return c, nil
}

func readNumber(view state.View, key state.StorageKey) (uint64, error) {
	b, err := view.Storage(chain.AddrStaking, key)
	if err != nil {
		return 0, &Fault{"read convictions", err}
	}
	if b == nil {
		return 0, nil
	}
	n, err := cbor.DecodeUint(b)
	if err != nil {
		return 0, &Fault{"read convictions", ErrConvictionRecord}
	}
	return n, nil
}

// encode returns the CBOR array
// [peer_key, epoch, view, validator, stake, height, submitter].
func (c *Conviction) encode() []byte {
	b := cbor.AppendBytes(cbor.AppendArray(nil, 7), c.Offence.Accused[:])
	// Bounded: by five numbers.
	for _, v := range [...]uint64{uint64(c.Offence.Round.Epoch), uint64(c.Offence.Round.View), uint64(c.Validator), uint64(c.Stake), uint64(c.Height)} {
		b = cbor.AppendUint(b, v)
	}
	return cbor.AppendBytes(b, c.Submitter[:])
}

func decodeConviction(b []byte) (c Conviction, err error) {
	var v [5]uint64
	r := cbor.NewReader(b)
	if r.ArrayOf(7) != nil || r.BytesInto(c.Offence.Accused[:]) != nil || r.Uints(v[:]) != nil {
		return Conviction{}, ErrConvictionRecord
	}
	if r.BytesInto(c.Submitter[:]) != nil || r.End() != nil || v[2] >= 1<<32 {
		return Conviction{}, ErrConvictionRecord
	}
	c.Offence.Round = attest.Round{Epoch: chain.Epoch(v[0]), View: chain.View(v[1])}
	c.Validator, c.Stake, c.Height = uint32(v[2]), chain.Wei(v[3]), chain.Height(v[4])
	return c, nil
}

// submitEvidence runs the instruction evidence_submit and returns the receipt's
// code (resolutions 11.2, 11.3). What it records is the conviction; jail and
// slash follow from the list. The error is a [*Fault].
func (b *block) submitEvidence(tx *chain.VerifiedTx) (uint16, error) {
	if tx.Tx.Value != 0 {
		return chain.CodeBadArgument, nil // nothing here takes money
	}
	first, second, err := evidenceArgs(tx.Tx.Payload)
	if err != nil {
		return 0, &Fault{"read arguments of a classified instruction", err}
	}
	e, err := attest.FromWords(first, second)
	if err != nil {
		return codeOfEvidence(err), nil
	}
	if e.First.Proposal.Round.View > b.in.View {
		return chain.CodeWrongState, nil // of a view to come (ADR 116)
	}
	var accused *chain.Validator
	member := func(key chain.PeerKey) bool {
		// Bounded: by the validators of an epoch, for an instruction that pays to check signatures.
		for i := range b.in.Validators {
			if b.in.Validators[i].PeerKey == key {
				accused = &b.in.Validators[i]
			}
		}
		return accused != nil
	}
	number, err := ConvictionOf(b.state, e.Offence()) // before the signatures: a repetition is cheap
	switch {
	case err != nil:
		return 0, err
	case number != 0:
		return chain.CodeExists, nil
	}
	names := attest.NewNamespaces(b.in.Genesis)
	if err := e.Verify(b.in.Epoch, member, &names); err != nil {
		return codeOfEvidence(err), nil
	}
	return b.convict(Conviction{
		Offence: e.Offence(), Validator: accused.ShareIndex, Stake: accused.Stake,
		Height: b.in.Height, Submitter: tx.Sender,
	})
}

// convict appends to the list.
func (b *block) convict(c Conviction) (uint16, error) {
	number, err := Convictions(b.state)
	if err != nil {
		return 0, err
	}
	number++
	b.state.SetStorage(chain.AddrStaking, convictionsKey(), cbor.AppendUint(nil, number))
	b.state.SetStorage(chain.AddrStaking, convictionKey(number), c.encode())
	b.state.SetStorage(chain.AddrStaking, offenceKey(c.Offence), cbor.AppendUint(nil, number))
	return chain.CodeOK, nil
}

// evidenceArgs reads the payload [opcode, first, second].
func evidenceArgs(payload []byte) (first, second []byte, err error) {
	r := cbor.NewReader(payload)
	if err := r.ArrayOf(3); err != nil {
		return nil, nil, err
	}
	if _, err := r.Uint(); err != nil {
		return nil, nil, err
	}
	if first, err = r.Bytes(chain.MaxTxBytes); err != nil {
		return nil, nil, err
	}
	if second, err = r.Bytes(chain.MaxTxBytes); err != nil {
		return nil, nil, err
	}
	return first, second, r.End()
}

// codeOfEvidence says in a receipt why evidence convicts nobody.
func codeOfEvidence(err error) uint16 {
	switch {
	case errors.Is(err, attest.ErrEvidenceEpoch):
		return chain.CodeWrongState // stale: the set that could be punished is gone
	case errors.Is(err, attest.ErrEvidenceSigner):
		return chain.CodeNotFound
	case errors.Is(err, attest.ErrEvidenceForged), errors.Is(err, attest.ErrNoOffence):
		return chain.CodeBadProof
	}
	return chain.CodeBadArgument // two validators, another order, or bytes that are no statement
}
