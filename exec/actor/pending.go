package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
)

var errLater = &host.Refusal{Code: host.RefusedTarget, Text: "not on this chain"}

// storage and rent

func (f *frame) StorageScan(string, int) ([]host.Entry, error) { return nil, errLater }

// messages
func (r *Run) park(*Envelope) (chain.DeliveryStatus, uint16, error) {
	return chain.DeliveryFailed, chain.CodeMailboxFull, nil
}
func (f *frame) Defer(host.Deferred) (host.ID, error)    { return host.ID{}, errLater }
func (f *frame) Spawn(host.Spawn) (chain.Address, error) { return chain.Address{}, errLater }

// randomness, blobs
func (f *frame) Randomness(string) ([32]byte, error) { return [32]byte{}, errLater }
func (f *frame) CommitBlob([]byte) ([]byte, error)   { return nil, errLater }
func (f *frame) Blob([]byte) ([]byte, bool, error)   { return nil, false, errLater }

// timers
func (f *frame) SetTimer(host.Timer) (host.ID, error) { return host.ID{}, errLater }
func (f *frame) ExtendTimer(host.ID, uint64) error    { return errLater }
func (f *frame) CancelTimer(host.ID) (bool, error)    { return false, errLater }

// tokens
func (f *frame) CreateToken(host.Token) (host.TokenID, error) { return host.TokenID{}, errLater }

func (f *frame) TransferToken(host.TokenID, host.Payment) error { return errLater }

func (f *frame) TransferTokens(host.TokenID, []host.Payment) error { return errLater }

func (f *frame) TransferTokenFrom(host.TokenID, chain.Address, host.Payment) error { return errLater }

func (f *frame) ApproveToken(host.TokenID, chain.Address, host.Amount) error { return errLater }

func (f *frame) MintToken(host.TokenID, host.Payment) error { return errLater }

func (f *frame) BurnToken(host.TokenID, host.Amount) error { return errLater }

func (f *frame) FreezeToken(host.TokenID, chain.Address, bool) error { return errLater }

func (f *frame) SetTokenOwner(host.TokenID, *chain.Address) error { return errLater }

func (f *frame) SetTokenHooks(host.TokenID, *chain.Address) error { return errLater }

func (f *frame) TokenBalance(host.TokenID, chain.Address) (host.Amount, error) {
	return host.Amount{}, errLater
}

func (f *frame) TokenAllowance(host.TokenID, chain.Address, chain.Address) (host.Amount, error) {
	return host.Amount{}, errLater
}

func (f *frame) TokenFrozen(host.TokenID, chain.Address) (bool, error) { return false, errLater }

func (f *frame) Token(host.TokenID) (host.Token, error) { return host.Token{}, errLater }

// runners
func (f *frame) CancelJob(host.ID) (bool, error)          { return false, errLater }
func (f *frame) JobStatus(host.ID) (host.JobState, error) { return host.JobUnknown, errLater }
func (f *frame) StoreSecret(host.Secret) error            { return errLater }
func (f *frame) DeleteSecret(string) (bool, error)        { return false, errLater }

// crypto
func (f *frame) VerifyBLS([96]byte, []byte, []byte, [48]byte) (bool, error) { return false, errLater }

func (f *frame) VerifyVRF([96]byte, []byte, []byte, [48]byte) ([32]byte, bool, error) {
	return [32]byte{}, false, errLater
}
