package staking

import (
	"encoding/binary"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
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

// Contradictions in the state.
var (
	// ErrNoConviction means a number that no conviction has.
	ErrNoConviction = errors.New("no such conviction")
	// ErrConvictionRecord means a record of convictions that does not decode.
	ErrConvictionRecord = errors.New("conviction record is malformed")
)

// Convictions returns how many convictions there are. The error is a fault.
func Convictions(view state.View) (uint64, error) {
	return readNumber(view, convictionsKey())
}

// ConvictionOf returns the number under which an offence is in the list, or 0. The error
// is a fault.
func ConvictionOf(view state.View, o attest.Offence) (uint64, error) {
	return readNumber(view, offenceKey(o))
}

// ReadConviction returns a conviction by its number. The error is a fault,
// [ErrNoConviction] for a number that was never given.
func ReadConviction(view state.View, number uint64) (Conviction, error) {
	b, err := view.Storage(chain.AddrStaking, convictionKey(number))
	if err == nil && b == nil {
		err = ErrNoConviction
	}
	if err != nil {
		return Conviction{}, err
	}
	return decodeConviction(b)
}

func readNumber(view state.View, key state.StorageKey) (uint64, error) {
	b, err := view.Storage(chain.AddrStaking, key)
	if err != nil || b == nil {
		return 0, err
	}
	n, err := cbor.DecodeUint(b)
	if err != nil {
		return 0, ErrConvictionRecord
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

// words are the arguments of [chain.OpEvidenceSubmit].
type words struct{ first, second []byte }

func readWords(r *cbor.Reader) (service.Args, error) {
	first, err := r.Bytes(chain.MaxTxBytes)
	if err != nil {
		return nil, err
	}
	second, err := r.Bytes(chain.MaxTxBytes)
	return words{first, second}, err
}

// submitEvidence records a conviction (resolutions 11.2, 11.3); jail and slash follow
// from the list.
func submitEvidence(c *service.Call, a service.Args) ([]byte, error) {
	w := a.(words)
	e, err := attest.FromWords(w.first, w.second)
	if err != nil {
		return nil, noConviction(err)
	}
	if e.First.Proposal.Round.View > c.Round.View {
		return nil, verdict.New(verdict.State, "evidence of a view to come (ADR 116)")
	}
	var accused *chain.Validator
	member := func(key chain.PeerKey) bool {
		// Bounded: by the validators of an epoch, for an instruction that pays to check signatures.
		for i := range c.Round.Validators {
			if c.Round.Validators[i].PeerKey == key {
				accused = &c.Round.Validators[i]
			}
		}
		return accused != nil
	}
	number, err := ConvictionOf(c.State, e.Offence()) // before the signatures: a repetition is cheap
	switch {
	case err != nil:
		return nil, err
	case number != 0:
		return nil, verdict.New(verdict.Exists, "the offence was convicted before")
	}
	names := attest.NewNamespaces(c.Round.Genesis)
	if err := e.Verify(c.Round.Epoch, member, &names); err != nil {
		return nil, noConviction(err)
	}
	return nil, convict(c.State, Conviction{
		Offence: e.Offence(), Validator: accused.ShareIndex, Stake: accused.Stake, Height: c.Height, Submitter: c.By,
	})
}

// convict appends to the list.
func convict(o *state.Overlay, c Conviction) error {
	number, err := Convictions(o)
	if err != nil {
		return err
	}
	number++
	o.SetStorage(chain.AddrStaking, convictionsKey(), cbor.AppendUint(nil, number))
	o.SetStorage(chain.AddrStaking, convictionKey(number), c.encode())
	o.SetStorage(chain.AddrStaking, offenceKey(c.Offence), cbor.AppendUint(nil, number))
	return nil
}

// noConviction is the verdict on evidence that convicts nobody.
func noConviction(err error) error {
	reason := verdict.Argument // two validators, another order, or bytes that are no statement
	switch {
	case errors.Is(err, attest.ErrEvidenceEpoch):
		reason = verdict.State // stale: the set that could be punished is gone
	case errors.Is(err, attest.ErrEvidenceSigner):
		reason = verdict.Missing
	case errors.Is(err, attest.ErrEvidenceForged), errors.Is(err, attest.ErrNoOffence):
		reason = verdict.Proof
	}
	return verdict.New(reason, err.Error())
}
