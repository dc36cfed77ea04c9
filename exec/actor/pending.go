package actor

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
)

var errLater = &host.Refusal{Code: host.RefusedTarget, Text: "not on this chain"}

// storage and rent

func (f *frame) StorageScan(string, int) ([]host.Entry, error) { return nil, errLater }

// runners
func (f *frame) CancelJob(host.ID) (bool, error)          { return false, errLater }
func (f *frame) JobStatus(host.ID) (host.JobState, error) { return host.JobUnknown, errLater }
func (f *frame) StoreSecret(host.Secret) error            { return errLater }
func (f *frame) DeleteSecret(string) (bool, error)        { return false, errLater }
