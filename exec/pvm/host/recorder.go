package host

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Recorder is a [Host] in memory that notes every call. Storage works; what
// would leave the actor is only noted. It is for tests and tools.
type Recorder struct {
	Here     Env
	Storage  map[string][]byte
	Balances map[chain.Address]uint64
	Calls    []Recorded

	// Reply answers calls of other actors and of system actors; nil: an empty
	// answer.
	Reply func(what string, args []byte) ([]byte, error)

	ids uint64
}

// Recorded is one call of the host.
type Recorded struct {
	Name string // as the interface names it; for System its operation
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
		Storage: map[string][]byte{}, Balances: map[chain.Address]uint64{},
	}
}

func (r *Recorder) note(name, to string, data []byte, num uint64) {
	r.Calls = append(r.Calls, Recorded{Name: name, To: to, Data: slices.Clone(data), Num: num})
}

func (r *Recorder) id() ID {
	r.ids++
	return keccak.Sum256([]byte("recorder"), binary.BigEndian.AppendUint64(nil, r.ids))
}

// Env returns Here.
func (r *Recorder) Env() Env { return r.Here }

// StorageGet reads Storage.
func (r *Recorder) StorageGet(key string) ([]byte, bool, error) {
	v, ok := r.Storage[key]
	r.note("StorageGet", key, nil, 0)
	return v, ok, nil
}

// StorageSet writes Storage.
func (r *Recorder) StorageSet(key string, value []byte) error {
	r.note("StorageSet", key, value, 0)
	r.Storage[key] = value
	return nil
}

// StorageDelete deletes from Storage.
func (r *Recorder) StorageDelete(key string) (bool, error) {
	r.note("StorageDelete", key, nil, 0)
	_, ok := r.Storage[key]
	delete(r.Storage, key)
	return ok, nil
}

// StorageScan reads Storage.
func (r *Recorder) StorageScan(prefix string, limit int) ([]Entry, error) {
	r.note("StorageScan", prefix, nil, uint64(limit))
	var keys []string
	for k := range r.Storage {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var out []Entry
	for _, k := range keys[:min(limit, len(keys))] {
		out = append(out, Entry{k, r.Storage[k]})
	}
	return out, nil
}

// Send notes the message.
func (r *Recorder) Send(m Message) (ID, error) {
	r.note("Send", m.To.String(), m.Payload, m.Value)
	return r.id(), nil
}

// Call notes the message and asks Reply.
func (r *Recorder) Call(m Message) ([]byte, error) {
	r.note("Call", m.To.String()+" "+m.Handler, m.Payload, m.Value)
	return r.reply(m.Handler, m.Payload)
}

func (r *Recorder) reply(what string, args []byte) ([]byte, error) {
	if r.Reply == nil {
		return []byte{0xf6}, nil
	}
	return r.Reply(what, args)
}

// SetTimer notes the timer.
func (r *Recorder) SetTimer(t Timer) (ID, error) {
	if t.Every > 0 {
		r.note("SetInterval", t.Handler, t.Data, t.Every)
		return r.id(), nil
	}
	if t.Height <= r.Here.Height {
		return ID{}, &Refusal{Code: RefusedArgument, Text: "the height of a timer is not in the future"}
	}
	r.note("SetTimer", t.Handler, t.Data, t.Height)
	return r.id(), nil
}

// CancelTimer notes the timer.
func (r *Recorder) CancelTimer(id ID) (bool, error) {
	r.note("CancelTimer", fmt.Sprintf("%x", id), nil, 0)
	return true, nil
}

// EmitEvent notes the event.
func (r *Recorder) EmitEvent(topic string, data []byte) error {
	r.note("EmitEvent", topic, data, 0)
	return nil
}

// SubmitJob notes the job.
func (r *Recorder) SubmitJob(j Job) (ID, error) {
	r.note("SubmitJob", j.Handler, j.Spec, 0)
	return j.Correlation, nil
}

// Randomness is a hash of the label.
func (r *Recorder) Randomness(label string) ([32]byte, error) {
	r.note("Randomness", label, nil, 0)
	return keccak.Sum256([]byte("randomness"), []byte(label)), nil
}

// Balance reads Balances.
func (r *Recorder) Balance(a chain.Address) (uint64, error) { return r.Balances[a], nil }

// Transfer moves what Balances has.
func (r *Recorder) Transfer(to chain.Address, amount uint64) error {
	r.note("Transfer", to.String(), nil, amount)
	if r.Balances[r.Here.Self] < amount {
		return &Refusal{Code: RefusedFunds, Text: "the balance is too small"}
	}
	r.Balances[r.Here.Self] -= amount
	r.Balances[to] += amount
	return nil
}

// System notes the operation and asks Reply.
func (r *Recorder) System(op string, args []byte) ([]byte, error) {
	r.note(op, "", args, 0)
	return r.reply(op, args)
}
