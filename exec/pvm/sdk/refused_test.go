package sdk

import (
	"runtime"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// refusedBytes is the most that a cycle of a refused call allocates.
const refusedBytes = 24

// TestWhatIsRefusedIsNotCopied: an argument that is too long, or comes beside one that is
// wrong, is not copied for a price that does not ask how long it is.
func TestWhatIsRefusedIsNotCopied(t *testing.T) {
	rt := newRuntime(t)
	for _, call := range []string{
		"k.secrets.store('a', text)", "k.secrets.store('a', array)", "k.secrets.store('a', text[:60000], object())", "k.secrets.store('a', array[:9], object())",
		"k.spawn(array)", "k.blob_commit(array)", "k.blob_get(array)", "k.recover_address(array, array)", "k.recover_address(b'a' * 32, array)",
		"k.verify_secp256k1(array, array, array)", "k.verify_ed25519(array, array, array)", "k.verify_ed25519(b'', array, b'')",
		"k.verify_bls(array, array, array)", "k.verify_bls(b'', array, b'')", "k.verify_vrf(b'', array, b'', array)", "k.send(array)", "k.job_status(array)", "k.job_result(array)", "k.job_result(array, array)",
		"k.upgrade_self(text)", "k.emit_event(text, 1)", "k.storage.get(text)", "k.storage.scan(text)", "k.call(text, text)", "open('/tmp/' + text)", "open('/tmp/a', text)",
	} {
		program, err := compile.Source([]byte("import cowboy_sdk as k\ntext, array = 'x' * 200000, bytearray(600000)\nwhile True:\n  try: "+call+"\n  except Exception: pass\n"), "a.py", compile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		m := rt.NewMachine()
		m.Host = NewSession(host.NewRecorder(), host.DefaultCosts(), DefaultLimits())
		if _, err := m.Execute(program, 1000); err == nil { // what the machine keeps is made
			t.Fatal("the loop ends")
		}
		m.Reset()
		m.Host = NewSession(host.NewRecorder(), host.DefaultCosts(), DefaultLimits())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res, err := m.Execute(program, 3_000_000)
		runtime.ReadMemStats(&after)
		if abort, ok := err.(*vm.Abort); !ok || abort.Code != vm.OutOfCycles {
			t.Errorf("%s: %v %s", call, err, res.Traceback)
		}
		if each := float64(after.TotalAlloc-before.TotalAlloc) / float64(res.Cycles); each > refusedBytes {
			t.Errorf("%s: %.1f bytes are allocated for a cycle, want %d at most", call, each, refusedBytes)
		} else {
			t.Logf("%s: %.1f", call, each)
		}
	}
}

// scanning notes the longest prefix that it is asked for.
type scanning struct {
	*host.Recorder
	longest int
}

func (s *scanning) StorageScan(prefix string, limit int, visit func(host.Entry)) error {
	s.longest = max(s.longest, len(prefix))
	return s.Recorder.StorageScan(prefix, limit, visit)
}

// TestPrefixesAreAsLongAsKeys: hosts make keys of a prefix, which may be as long as memory
// allows, for the price of a scan.
func TestPrefixesAreAsLongAsKeys(t *testing.T) {
	m := newRuntime(t).NewMachine()
	h := &scanning{Recorder: host.NewRecorder()}
	m.Host = NewSession(h, host.DefaultCosts(), DefaultLimits())
	program, err := compile.Source([]byte("import cowboy_sdk as k\nk.storage.set('x' * 1024, 1)\nprint(len(k.storage.scan('x' * 1024)), k.storage.scan('x' * 300000))\n"), "a.py", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Execute(program, 1_000_000)
	if err != nil || string(res.Output) != "1 []\n" {
		t.Errorf("%v %s %s, want 1 []", err, res.Output, res.Traceback)
	}
	if most := DefaultLimits().KeyBytes + 1; h.longest > most {
		t.Errorf("the host was asked for a prefix of %d bytes, want %d at most", h.longest, most)
	}
}

// TestNormalFormsArePaid: bringing a text into NFC costs more than reading it. It took 90 ns
// a cycle of names and files.
func TestNormalFormsArePaid(t *testing.T) {
	rt := newRuntime(t)
	cycles := func(character, call string) int64 {
		program, err := compile.Source([]byte("import cowboy_sdk as k\ns = '"+character+"' * 3000\n"+call+"\n"), "a.py", compile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		m := rt.NewMachine()
		m.Host = NewSession(host.NewRecorder(), host.DefaultCosts(), DefaultLimits())
		res, err := m.Execute(program, 10_000_000)
		if err != nil || res.Raised != nil {
			t.Fatalf("%s: %v %s", call, err, res.Traceback)
		}
		return int64(res.Cycles)
	}
	for _, call := range []string{
		"try: k.storage.get(s)\nexcept ValueError: pass", "try: k.emit_event(s, 1)\nexcept ValueError: pass",
		"f = open('/tmp/a', 'w+')\nf.write(s)\nf.seek(0)\nf.read()",
	} {
		plain, marked := cycles("\u00fe\u00fea", call), cycles("\u1f82\u0300", call)
		if marked-plain < 2*5*3000 {
			t.Errorf("%s: %d cycles for five bytes that are normal, %d for five that are not", call, plain, marked)
		}
	}
}
