package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDev holds the last line of dev to what other programs parse.
func TestDev(t *testing.T) {
	s := newStory(t)
	file := filepath.Join(s.dir, "counter.py")
	if err := os.WriteFile(file, []byte(template), 0o644); err != nil {
		t.Fatal(err)
	}
	last := func(args ...string) (reply devReply, code int) {
		t.Helper()
		code, stdout, stderr := s.run(append([]string{"dev", "--code", file}, args...)...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &reply); err != nil {
			t.Fatalf("%v prints %q, %q: %v", args, stdout, stderr, err)
		}
		return reply, code
	}
	r, code := last("--handler", "add", "--payload", "37", "--cycles-limit", "2000000", "--strict")
	if code != 0 || !r.OK || string(r.Output) != "7" || len(r.Events) != 1 || string(r.Events[0].Data) != "7" || string(r.State["n"]) != "7" || r.GasUsed == 0 {
		t.Errorf("add: exit %d, %+v", code, r)
	}
	if r, code := last("--handler", "init"); code != 0 || !r.OK || string(r.State["n"]) != "0" {
		t.Errorf("init: exit %d, %+v", code, r)
	}
	if r, code := last("--handler", "nothing"); code != 1 || r.OK || r.ErrorCode != "no_handler" || r.Error == "" {
		t.Errorf("nothing: exit %d, %+v", code, r)
	}
	for limit, used := range map[string]uint64{"1000": 0, "6000": 6_000} { // less than the first use of the code, and a little more
		if r, code := last("--handler", "add", "--args", "5", "--cycles-limit", limit); code != 1 || r.ErrorCode != "cycles_exhausted" || uint64(r.GasUsed) != used {
			t.Errorf("too few cycles: exit %d, %+v", code, r)
		}
	}
	if r, code := last("--handler", "add", "--args", "5", "--manifest-json", `{"entitlements":[]}`); code != 1 || r.ErrorCode != "not_entitled" {
		t.Errorf("without storage.kv: exit %d, %+v", code, r)
	}
}
