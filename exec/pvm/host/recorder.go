package host

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Recorder is a [Host] in memory that notes every call. Storage, balances,
// tokens and blobs work, without quotas; what would leave the actor is only
// noted. It is for tests and tools.
type Recorder struct {
	Here     Env
	Storage  map[string][]byte
	Balances map[chain.Address]uint64
	Actors   map[chain.Address]Actor
	Granted  map[string][]byte // entitlements and their parameters
	Rents    map[chain.Address]RentStatus
	Jobs     map[ID]JobState
	Outputs  map[ID]JobOutput // of jobs whose answers name them
	Calls    []Recorded

	// Reply answers calls of other actors; nil: None.
	Reply func(what string, args []byte) ([]byte, error)
	// Refuse is asked before every call by its name; what it returns is the
	// call's error. nil: nothing is refused.
	Refuse func(name string) error

	// Pairing verifies BLS signatures and VRF proofs; nil: none is valid.
	Pairing func(key [96]byte, namespace, message []byte, signature [48]byte) bool

	tokens map[TokenID]*ledger
	blobs  map[string][]byte
	ids    uint64
}

var _ Host = (*Recorder)(nil)

// Recorded is one call of the host.
type Recorded struct {
	Name string // as the interface names it; an interval is SetInterval
	To   string // address, key, handler or topic
	Data []byte // canonical, where there is any
	Num  uint64 // height, interval, value or amount
}

// String returns the call without its data.
func (r Recorded) String() string { return fmt.Sprintf("%s %s %d", r.Name, r.To, r.Num) }

// NewRecorder returns an empty host at height 1.
func NewRecorder() *Recorder {
	return &Recorder{
		Here:    Env{ChainID: 1, Height: 1, Timestamp: 1000, Self: chain.Address{19: 0xaa}, Sender: chain.Address{19: 0xbb}},
		Storage: map[string][]byte{}, Balances: map[chain.Address]uint64{}, Actors: map[chain.Address]Actor{},
		Granted: map[string][]byte{}, Rents: map[chain.Address]RentStatus{}, Jobs: map[ID]JobState{},
		tokens: map[TokenID]*ledger{}, blobs: map[string][]byte{},
	}
}

// recordCall records a call and answers whether it is refused.
func (r *Recorder) recordCall(name, to string, data []byte, num uint64) error {
	r.Calls = append(r.Calls, Recorded{Name: name, To: to, Data: slices.Clone(data), Num: num})
	if r.Refuse == nil {
		return nil
	}
	return r.Refuse(name)
}

func (r *Recorder) id() ID {
	r.ids++
	return keccak.Sum256([]byte("recorder"), binary.BigEndian.AppendUint64(nil, r.ids))
}

// Env returns Here.
func (r *Recorder) Env() Env { return r.Here }

// Actor reads Actors.
func (r *Recorder) Actor(a chain.Address) (Actor, bool, error) {
	err := r.recordCall("Actor", a.String(), nil, 0)
	info, ok := r.Actors[a]
	return info, ok, err
}

// Entitlement reads Granted.
func (r *Recorder) Entitlement(id string) ([]byte, bool, error) {
	err := r.recordCall("Entitlement", id, nil, 0)
	params, ok := r.Granted[id]
	return params, ok, err
}

// UpgradeSelf notes the length of the source.
func (r *Recorder) UpgradeSelf(source []byte) error {
	return r.recordCall("UpgradeSelf", "", nil, uint64(len(source)))
}

// Randomness is a hash of the label.
func (r *Recorder) Randomness(label string) ([32]byte, error) {
	return keccak.Sum256([]byte("randomness"), []byte(label)), r.recordCall("Randomness", label, nil, 0)
}

// VerifyBLS asks Pairing.
func (r *Recorder) VerifyBLS(key [96]byte, namespace, message []byte, signature [48]byte) (bool, error) {
	err := r.recordCall("VerifyBLS", "", nil, uint64(len(message)))
	return r.Pairing != nil && r.Pairing(key, namespace, message, signature), err
}

// VerifyVRF asks Pairing; the output is a hash of the proof.
func (r *Recorder) VerifyVRF(key [96]byte, namespace, message []byte, proof [48]byte) ([32]byte, bool, error) {
	err := r.recordCall("VerifyVRF", "", nil, uint64(len(message)))
	if r.Pairing == nil || !r.Pairing(key, namespace, message, proof) {
		return [32]byte{}, false, err
	}
	return keccak.Sum256(proof[:]), true, err
}

// StorageGet reads Storage.
func (r *Recorder) StorageGet(key string) ([]byte, bool, error) {
	err := r.recordCall("StorageGet", key, nil, 0)
	v, ok := r.Storage[key]
	return v, ok, err
}

// StorageSet writes Storage.
func (r *Recorder) StorageSet(key string, value []byte) error {
	if err := r.recordCall("StorageSet", key, value, 0); err != nil {
		return err
	}
	r.Storage[key] = value
	return nil
}

// StorageDelete deletes from Storage.
func (r *Recorder) StorageDelete(key string) (bool, error) {
	if err := r.recordCall("StorageDelete", key, nil, 0); err != nil {
		return false, err
	}
	_, ok := r.Storage[key]
	delete(r.Storage, key)
	return ok, nil
}

// StorageScan reads Storage.
func (r *Recorder) StorageScan(prefix string, limit int, visit func(Entry)) error {
	if err := r.recordCall("StorageScan", prefix, nil, uint64(limit)); err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(r.Storage)) {
		if limit == 0 {
			break
		}
		if strings.HasPrefix(k, prefix) && Reserved(k) == "" {
			visit(Entry{k, r.Storage[k]})
			limit--
		}
	}
	return nil
}

// BondStorage notes the bytes.
func (r *Recorder) BondStorage(bytes uint64) error {
	return r.recordCall("BondStorage", "", nil, bytes)
}

// CommitBlob keeps the data under its keccak256 with the multihash prefix.
func (r *Recorder) CommitBlob(data []byte) ([]byte, error) {
	if err := r.recordCall("CommitBlob", "", nil, uint64(len(data))); err != nil {
		return nil, err
	}
	h := keccak.Sum256(data)
	mh := append([]byte{0x1b, 32}, h[:]...)
	r.blobs[string(mh)] = slices.Clone(data)
	return mh, nil
}

// Blob returns what CommitBlob kept.
func (r *Recorder) Blob(multihash []byte, pay func(bytes int)) ([]byte, bool, error) {
	err := r.recordCall("Blob", fmt.Sprintf("%x", multihash), nil, 0)
	data, ok := r.blobs[string(multihash)]
	if err == nil && ok {
		pay(len(data))
	}
	return data, ok, err
}

// Send notes the message.
func (r *Recorder) Send(m Message) (ID, error) {
	return r.id(), r.recordCall("Send", m.To.String(), m.Payload, m.Value)
}

// Call notes the message and asks Reply.
func (r *Recorder) Call(m Message) ([]byte, error) {
	if err := r.recordCall("Call", m.To.String()+" "+m.Handler, m.Payload, m.Value); err != nil {
		return nil, err
	}
	if r.Reply == nil {
		return []byte{0xf6}, nil
	}
	return r.Reply(m.Handler, m.Payload)
}

// Defer notes the message.
func (r *Recorder) Defer(d Deferred) (ID, error) {
	if d.Height != 0 && d.Height <= r.Here.Height {
		return ID{}, &Refusal{Code: RefusedPast, Text: "the height is not in the future"}
	}
	return r.id(), r.recordCall("Defer", d.To.String()+" "+d.Handler, d.Payload, d.Height)
}

// EmitEvent notes the event.
func (r *Recorder) EmitEvent(topic string, data []byte) error {
	return r.recordCall("EmitEvent", topic, data, 0)
}

// Spawn notes the salt and answers the address of whitepaper §1.2.
func (r *Recorder) Spawn(s Spawn) (chain.Address, error) {
	hash := r.Here.CodeHash
	if s.Source != nil {
		hash = keccak.Sum256(s.Source)
	}
	h := keccak.Sum256(r.Here.Self[:], s.Salt, hash[:])
	return chain.Address(h[12:]), r.recordCall("Spawn", fmt.Sprintf("%x", s.Salt), s.Init, s.Value)
}

// SetTimer notes the timer.
func (r *Recorder) SetTimer(t Timer) (ID, error) {
	if t.Every > 0 {
		return r.id(), r.recordCall("SetInterval", t.Handler, t.Data, t.Every)
	}
	if t.Height <= r.Here.Height {
		return ID{}, &Refusal{Code: RefusedPast, Text: "the height of a timer is not in the future"}
	}
	return r.id(), r.recordCall("SetTimer", t.Handler, t.Data, t.Height)
}

// ExtendTimer notes the timer.
func (r *Recorder) ExtendTimer(id ID, height uint64) error {
	if height <= r.Here.Height {
		return &Refusal{Code: RefusedPast, Text: "the height of a timer is not in the future"}
	}
	return r.recordCall("ExtendTimer", fmt.Sprintf("%x", id), nil, height)
}

// CancelTimer notes the timer.
func (r *Recorder) CancelTimer(id ID) (bool, error) {
	return true, r.recordCall("CancelTimer", fmt.Sprintf("%x", id), nil, 0)
}

// Balance reads Balances.
func (r *Recorder) Balance(a chain.Address) (uint64, error) { return r.Balances[a], nil }

// Transfer moves what Balances has.
func (r *Recorder) Transfer(to chain.Address, amount uint64) error {
	if err := r.recordCall("Transfer", to.String(), nil, amount); err != nil {
		return err
	}
	if r.Balances[r.Here.Self] < amount {
		return &Refusal{Code: RefusedFunds, Text: "the balance is too small"}
	}
	r.Balances[r.Here.Self] -= amount
	r.Balances[to] += amount
	return nil
}

// SubmitJob notes the job.
func (r *Recorder) SubmitJob(j Job) (ID, error) {
	r.Jobs[j.Correlation] = JobPending
	return j.Correlation, r.recordCall("SubmitJob", j.Handler, j.Spec, 0)
}

// CancelJob cancels a job of Jobs that is pending.
func (r *Recorder) CancelJob(id ID) (bool, error) {
	if err := r.recordCall("CancelJob", fmt.Sprintf("%x", id), nil, 0); err != nil {
		return false, err
	}
	ok := r.Jobs[id] == JobPending
	if ok {
		r.Jobs[id] = JobCancelled
	}
	return ok, nil
}

// JobStatus reads Jobs.
func (r *Recorder) JobStatus(id ID) (JobState, error) {
	return r.Jobs[id], r.recordCall("JobStatus", fmt.Sprintf("%x", id), nil, 0)
}

// JobResult reads Outputs.
func (r *Recorder) JobResult(id ID, pay func(bytes int)) (JobOutput, error) {
	if err := r.recordCall("JobResult", fmt.Sprintf("%x", id), nil, 0); err != nil {
		return JobOutput{}, err
	}
	o, ok := r.Outputs[id]
	if !ok {
		return o, &Refusal{Code: RefusedTarget, Text: "no result of that job is kept for the actor"}
	}
	pay(len(o.Data))
	return o, nil
}

// StoreSecret notes name and policy.
func (r *Recorder) StoreSecret(s Secret) error {
	return r.recordCall("StoreSecret", s.Name, s.Policy, uint64(len(s.Sealed)))
}

// DeleteSecret notes the name.
func (r *Recorder) DeleteSecret(name string) (bool, error) {
	return true, r.recordCall("DeleteSecret", name, nil, 0)
}

// RentStatus reads Rents.
func (r *Recorder) RentStatus(a chain.Address) (RentStatus, error) {
	return r.Rents[a], r.recordCall("RentStatus", a.String(), nil, 0)
}

// PrepayRent adds the epochs to Rents, free of charge.
func (r *Recorder) PrepayRent(a chain.Address, epochs uint64) (uint64, error) {
	if err := r.recordCall("PrepayRent", a.String(), nil, epochs); err != nil {
		return 0, err
	}
	s := r.Rents[a]
	s.Prepaid += epochs
	s.PaidThrough += epochs
	r.Rents[a] = s
	return epochs * s.PerEpoch, nil
}

// RestoreStorage notes how many entries there are.
func (r *Recorder) RestoreStorage(s Restoration) error {
	return r.recordCall("RestoreStorage", s.Actor.String()+" "+s.Payer.String(), nil, uint64(len(s.Entries)))
}
