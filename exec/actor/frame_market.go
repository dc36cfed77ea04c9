package actor

import "github.com/cowboy-foundation/cowboy/exec/pvm/host"

// This chain has neither a market of runners nor an order of storage keys: what
// asks for them is refused, so that a program can tell.
var (
	errNoMarket = &host.Refusal{Code: host.RefusedTarget, Text: "this chain has no market of runners"}
	errNoOrder  = &host.Refusal{Code: host.RefusedTarget, Text: "this chain keeps no order of keys to scan"}
)

// StorageScan implements host.Storage by a refusal: the state answers questions
// for single keys only.
func (f *frame) StorageScan(string, int) ([]host.Entry, error) { return nil, errNoOrder }

// CancelJob implements host.Runners by a refusal.
func (f *frame) CancelJob(host.ID) (bool, error) { return false, errNoMarket }

// JobStatus implements host.Runners by a refusal.
func (f *frame) JobStatus(host.ID) (host.JobState, error) { return host.JobUnknown, errNoMarket }

// StoreSecret implements host.Runners by a refusal.
func (f *frame) StoreSecret(host.Secret) error { return errNoMarket }

// DeleteSecret implements host.Runners by a refusal.
func (f *frame) DeleteSecret(string) (bool, error) { return false, errNoMarket }
