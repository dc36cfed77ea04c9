package actor

import "github.com/cowboy-foundation/cowboy/exec/pvm/host"

// errNoMarket refuses what asks for runners, so that a program can tell.
var errNoMarket = &host.Refusal{Code: host.RefusedTarget, Text: "this chain has no market of runners"}

// CancelJob implements host.Runners by a refusal.
func (f *frame) CancelJob(host.ID) (bool, error) { return false, errNoMarket }

// JobStatus implements host.Runners by a refusal.
func (f *frame) JobStatus(host.ID) (host.JobState, error) { return host.JobUnknown, errNoMarket }

// StoreSecret implements host.Runners by a refusal.
func (f *frame) StoreSecret(host.Secret) error { return errNoMarket }

// DeleteSecret implements host.Runners by a refusal.
func (f *frame) DeleteSecret(string) (bool, error) { return false, errNoMarket }
