package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestCodeIsUpToDate(t *testing.T) {
	for file, generate := range outputs {
		want, err := generate("..")
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from the declarations: run make generate", file)
		}
	}
}

func TestSpecNames(t *testing.T) {
	for name, want := range map[string]string{
		"JobID": "job_id", "URL": "url", "LLMInputToken": "llm_input_token", "MemoryMB": "memory_mb", "TEERequired": "tee_required",
		"RequiredTEEType": "required_tee_type", "FQDN": "fqdn", "OutlierE6": "outlier_e6", "TimestampMillis": "timestamp_ms",
		"MaxToolCallsPerIter": "max_tool_calls_per_iter", "SrcChainID": "src_chain_id", "Held": "held",
	} {
		if got := specName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// TestCodecOf writes codecs for declarations of its own: what they do not say is refused,
// and no integer is cut to the width of its field.
func TestCodecOf(t *testing.T) {
	for _, c := range []struct{ rule, source, want, err string }{
		{"a named integer of 8 bits", "type Small uint8\ntype T struct { F Small }", "readUintTo(r, 1<<8 - 1)", ""},
		{"one of 32 bits", "type T struct { F uint32 }", "readUintTo(r, 1<<32 - 1)", ""},
		{"one of 64 bits", "type Wei uint64\ntype T struct { F Wei }", "r.Uint()", ""},
		{"a least of 64 bits", "type T struct { F uint64 `cbor:\"least=1\"` }", "ReadUint(r, 1, 1<<64 - 1)", ""},
		{"bytes that may be null", "type T struct { F []byte `cbor:\"limit=4,null\"` }", "if !r.Null() {", ""},
		{"a text without a limit", "type T struct { F string }", "", "T.F: needs a limit"},
		{"a list of texts without one for each", "type T struct { F []string `cbor:\"item=4\"` }", "", "T.F: needs a limit"},
		{"a type without a form", "type T struct { F map[string]int }", "", "T.F: no encoding for its type"},
		{"a tag of no meaning", "type T struct { F string `cbor:\"limits=4\"` }", "", `T.F: unknown tag "limits=4"`},
		{"no struct", "type T uint8", "", "T is not a struct of the package"},
		{"a check", "type T struct { F bool }\nfunc (x *T) check() error { return nil }", "return x.check()", ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/t.go", []byte("package chain\n"+c.source), 0o644); err != nil {
			t.Fatal(err)
		}
		g, err := newGenerator(dir, "chain")
		if err == nil {
			err = g.mapCodec("T")
		}
		switch {
		case c.err != "":
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v, want %s", c.rule, err, c.err)
			}
		case err != nil || !strings.Contains(g.out.String(), c.want):
			t.Errorf("%s: %v, and no %s in\n%s", c.rule, err, c.want, g.out.String())
		}
	}
}
