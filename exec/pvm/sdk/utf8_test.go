package sdk

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestNoCallTakesWhatIsNoUTF8: no program makes such a string. Here a machine has a defect.
func TestNoCallTakesWhatIsNoUTF8(t *testing.T) { // ADR 243
	program, err := compile.Source([]byte(`
import cowboy_sdk as k
ME = "0x" + "00" * 20

def go(bad):
    for i, do in enumerate([
        lambda: k.send(ME, None, bad), lambda: k.send(ME, bad), lambda: k.call(ME, bad, 1), lambda: k.call(ME, "h", {bad: 1}),
        lambda: k.create_deferred_tx(ME, bad, None), lambda: k.create_deferred_tx(ME, "h", [bad]),
        lambda: k.emit_event(bad), lambda: k.emit_event("t", bad), lambda: k.spawn(b"", init=bad), lambda: k.spawn(b"", entitlements=[bad]),
        lambda: k.set_timer(9, bad), lambda: k.set_timer(9, "h", bad), lambda: k.set_interval(9, bad), lambda: k.set_interval(9, "h", (bad,)),
        lambda: k.schedule_timer_ex(9, bad), lambda: k.schedule_timer_ex(9, "h", bad),
        lambda: k.submit_job({}, bad), lambda: k.submit_job({"prompt": bad}), lambda: k.submit_job({bad: 1}),
        lambda: k.secrets.store(bad, "x"), lambda: k.secrets.delete(bad),
        lambda: k.storage.set(bad, 1), lambda: k.storage.set("k", bad), lambda: k.storage.get(bad), lambda: k.storage.delete(bad),
        lambda: k.token_create(bad, "T"), lambda: k.token_create("T", bad), lambda: k.randomness(bad), lambda: k.entitlement(bad),
        lambda: k.storage.restore(ME, {bad: 1}), lambda: k.storage.restore(ME, {"k": bad}),
    ]):
        try:
            do()
        except ValueError:
            continue
        except Exception as e:
            print(i, type(e).__name__, e)
            continue
        print(i, "taken")
`), "a.py", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	for _, bad := range []string{"\xed\xa0\x80", "a\xff", "\xc0\x80"} {
		b.m.Reset()
		b.m.Host = NewSession(b.host, host.DefaultCosts(), DefaultLimits())
		if res, err := b.m.Execute(program, 1_000_000); err != nil || res.Raised != nil {
			t.Fatal(err, res.Traceback)
		}
		var arg vm.Value
		if _, err := b.m.Do(1000, func(m *vm.Machine) (vm.Value, error) {
			arg = m.NewStr(bad)
			return vm.None, nil
		}); err != nil {
			t.Fatal(err)
		}
		res, err := b.m.CallFunction("go", []vm.Value{arg}, 1_000_000)
		if err != nil || res.Raised != nil || len(res.Output) > 0 {
			t.Errorf("%q: %v %s %s", bad, err, res.Traceback, res.Output)
		}
	}
}
