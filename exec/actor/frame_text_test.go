package actor

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/state"
)

// textsIn lists the texts that a type holds, by the names of their fields.
func textsIn(t reflect.Type, name string) (out []string) {
	switch t.Kind() {
	case reflect.String:
		return []string{name}
	case reflect.Slice, reflect.Pointer:
		return textsIn(t.Elem(), name)
	case reflect.Struct:
		for i := range t.NumField() {
			out = append(out, textsIn(t.Field(i).Type, name+"."+t.Field(i).Name)...)
		}
	}
	return out
}

// TestTextOfHostCallsIsUTF8: a text that is no UTF-8 would make records and receipts that
// nobody can read again. The machine makes none; that a call of the host takes none either
// keeps a defect of the machine from stopping the chain. A call that is new, or takes a text
// more, fails the test until it is listed.
func TestTextOfHostCallsIsUTF8(t *testing.T) { // ADR 243
	const bad = "a\xed\xa0\x80"
	p := params.Default()
	f := &frame{msg: &Envelope{}, run: &Run{state: state.NewOverlay(state.Empty{}), block: &Block{Params: &p}}}
	sent := func(m host.Message) error { _, err := f.envelope(&m); return err }
	calls := map[string]func() error{ // nil: nothing is written of it
		"Call.Handler":          func() error { return sent(host.Message{Handler: bad}) },
		"Send.Handler":          func() error { return sent(host.Message{Handler: bad}) },
		"Defer.Message.Handler": func() error { return sent(host.Message{Handler: bad}) },
		"EmitEvent":             func() error { return f.EmitEvent(bad, nil) },
		"SetTimer.Handler":      func() error { _, err := f.SetTimer(host.Timer{Handler: bad}); return err },
		"SubmitJob.Handler":     func() error { _, err := f.SubmitJob(host.Job{Handler: bad}); return err },
		"CreateToken.Name":      func() error { _, err := f.CreateToken(host.Token{Name: bad}); return err },
		"CreateToken.Symbol":    func() error { _, err := f.CreateToken(host.Token{Symbol: bad}); return err },
		"StorageSet":            func() error { return f.StorageSet(bad, nil) },
		"RestoreStorage.Entries.Key": func() error {
			return f.RestoreStorage(host.Restoration{Entries: []host.Entry{{Key: bad}}})
		},
		"StoreSecret.Name": func() error { return f.StoreSecret(host.Secret{Name: bad}) },
		"DeleteSecret":     func() error { _, err := f.DeleteSecret(bad); return err },
		"StorageGet":       nil, // finds nothing
		"StorageDelete":    nil,
		"StorageScan":      nil,
		"Entitlement":      nil,
		"Randomness":       nil, // a hash
	}
	var texts []string
	for i, h := 0, reflect.TypeFor[host.Host](); i < h.NumMethod(); i++ {
		m := h.Method(i)
		for j := range m.Type.NumIn() {
			if m.Type.In(j).Kind() != reflect.Func {
				texts = append(texts, textsIn(m.Type.In(j), m.Name)...)
			}
		}
	}
	slices.Sort(texts)
	for _, name := range texts {
		do, listed := calls[name]
		if delete(calls, name); !listed {
			t.Errorf("%s takes a text: what becomes of one that is no UTF-8?", name)
		}
		if do == nil {
			continue
		}
		var refused *host.Refusal
		if err := do(); !errors.As(err, &refused) {
			t.Errorf("%s takes a text that is no UTF-8: %v", name, err)
		}
	}
	for name := range calls {
		t.Errorf("%s takes no text", name)
	}
}
