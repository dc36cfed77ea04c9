package sdk

import (
	_ "embed" // the modules' sources
	"encoding/hex"
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

var (
	//go:embed python/cowboy_sdk.py
	sdkSource string
	//go:embed python/continuation.py
	continuationSource string
)

// ResumeHandler is the handler of every job that a suspended handler waits for:
// [Deliver] continues it.
const ResumeHandler = "__continuation__"

// Source is the text of a module that is written in Python.
type Source struct{ Name, Text string }

// Sources returns cowboy_sdk and its part in a fixed order. What they do and charge
// follows from their texts, so those are consensus.
func Sources() []Source {
	return []Source{{"cowboy_sdk", sdkSource}, {"cowboy_sdk.continuation", continuationSource}}
}

// Modules returns cowboy_sdk and what it is made of, compiled. The error is a
// defect of the sources.
func Modules() ([]vm.ModuleDef, error) {
	defs := []vm.ModuleDef{{Name: "_cowboy", Load: loadNatives, Kept: true, Admit: admitNatives}}
	// Bounded: by two sources; once, when a runtime is made.
	for _, s := range Sources() {
		o, err := compile.Source([]byte(s.Text), vm.LibraryFile+s.Name+">", compile.DefaultLimits())
		if err != nil {
			return nil, fmt.Errorf("compile %s: %w", s.Name, err)
		}
		defs = append(defs, vm.ModuleDef{Name: s.Name, Load: loader(s.Name, o), Kept: true})
	}
	return defs, nil
}

func loader(name string, o *code.Object) func(m *vm.Machine) (*vm.Module, error) {
	return func(m *vm.Machine) (*vm.Module, error) { return m.LoadLibrary(name, o) }
}

// natives are the functions of _cowboy.
func natives() []vm.Def {
	var defs []vm.Def
	// Bounded: by nine tables; once, when the library is loaded.
	for _, part := range [][]vm.Def{storageDefs(), messageDefs(), timerDefs(), tokenDefs(), environmentDefs(), signatureDefs(), runnerDefs(), rentDefs(), continuationDefs()} {
		defs = append(defs, part...)
	}
	return defs
}

func loadNatives(m *vm.Machine) (*vm.Module, error) {
	return m.NewModule("_cowboy").Define(m, natives()...), nil
}

// admitNatives refuses programs that run without a chain.
func admitNatives(m *vm.Machine) error {
	_, err := of(m)
	return err
}

// Builtins are the names that every program sees: open, and those functions that
// the whitepaper's examples call without importing them.
func Builtins() []vm.Def {
	defs := []vm.Def{openDef()}
	// Bounded: by the tables; once, when a runtime is made.
	for _, d := range natives() {
		switch d.Name {
		case "send", "current_block", "generate_id", "set_timer", "set_interval", "cancel_timer":
			defs = append(defs, d)
		}
	}
	return defs
}

// Entry is a message for a handler of the program that a machine has loaded.
type Entry struct {
	Handler string
	Payload []byte
	// Inside says that it comes from the actor itself or from the chain on its behalf, its
	// first message and its timers: decorators do not bar the way.
	Inside bool
}

// Deliver hands the payload to the handler and returns the canonical answer. It runs within
// Machine.Do or Machine.Serve. An error is an exception of the program, such as CowboyError
// where the sender may not call the handler.
func (e Entry) Deliver(m *vm.Machine) ([]byte, error) {
	switch {
	case e.Handler == ResumeHandler:
		return deliver(m, "cowboy_sdk.continuation", "resume", e.Payload)
	case e.Inside:
		return deliver(m, "cowboy_sdk", "_deliver_inside", e.Payload, m.NewStr(e.Handler))
	}
	return deliver(m, "cowboy_sdk", "_deliver", e.Payload, m.NewStr(e.Handler))
}

// Open reports whether the loaded program has an actor without any decorator of
// permission, so that everybody may call all of it (resolution 11.44).
func Open(m *vm.Machine) (bool, error) {
	fn, ok := m.Global("cowboy_sdk", "_open")
	if !ok {
		return false, nil // without the library there is no class of an actor
	}
	v, err := m.Call(fn)
	return err == nil && v == vm.Bool(true), err
}

// deliver calls a function of the library with the values of before and the
// payload.
func deliver(m *vm.Machine, module, entry string, payload []byte, before ...vm.Value) ([]byte, error) {
	s, err := of(m)
	if err != nil {
		return nil, err
	}
	v, err := s.decode(m, payload)
	if err != nil {
		return nil, err
	}
	mark := m.Hold(v)
	fn, err := member(m, module, entry)
	if err != nil {
		return nil, err
	}
	out, err := m.CallAsync(fn, append(before, v)...)
	if err != nil {
		return nil, err
	}
	m.Release(mark)
	return s.encode(m, out)
}

// member returns a name of a module, importing it.
func member(m *vm.Machine, module, name string) (vm.Value, error) {
	if _, err := m.Import(module); err != nil {
		return vm.None, err
	}
	v, ok := m.Global(module, name)
	if !ok {
		return vm.None, m.Raise(m.Builtin("ImportError"), "cannot import name '%s' from '%s' (unknown location)", name, module)
	}
	return v, nil
}

func hexDigits(id host.ID) []byte { return hex.AppendEncode(nil, id[:]) }
