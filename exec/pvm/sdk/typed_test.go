package sdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// typed returns the program that hashes typed data.
func typed(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("testdata/typed.py")
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// quoted is a JSON document as Python spells it.
func quoted(t *testing.T, text []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return python(doc)
}

func python(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case string:
		return fmt.Sprintf("bytes.fromhex('%x').decode()", v)
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, python(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for k, x := range v {
			parts = append(parts, python(k)+": "+python(x))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// TestProgramsHashTypedData: what a wallet signs of a document, a program computes
// again from its parts.
func TestProgramsHashTypedData(t *testing.T) { // whitepaper §16.1
	var docs []struct {
		Name, PrimaryType, Encoded, Digest string
		Domain, Types, Data                json.RawMessage
	}
	vectors.Decode(t, "eip712/typed_data_ethers.json", &docs)
	b, src := newBench(t), typed(t)
	for _, d := range docs {
		doc := fmt.Sprintf(`{"primaryType": %q, "domain": %s, "types": %s, "message": %s}`, d.PrimaryType, d.Domain, d.Types, d.Data)
		want := fmt.Sprintf("['%s', '%s']", strings.TrimPrefix(d.Encoded, "0x"), strings.TrimPrefix(d.Digest, "0x"))
		if got := b.call(src, "digest", quoted(t, []byte(doc))); got != want {
			t.Errorf("%s: %s, want %s", d.Name, got, want)
		}
	}
	if len(docs) < 50 {
		t.Errorf("%d documents", len(docs))
	}
}

// TestTypedDataOfWeb3j: documents by the name of their file, which says whether one
// is to be taken. The digest of the first is the one in EIP-712 itself.
func TestTypedDataOfWeb3j(t *testing.T) {
	const mail = "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"
	files, err := filepath.Glob(filepath.Join(vectors.Path(t, "eip712/web3j"), "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	b, src := newBench(t), typed(t)
	for _, file := range files {
		name := filepath.Base(file)
		got := b.call(src, "digest", quoted(t, vectors.Read(t, "eip712/web3j/"+name)))
		if refused := !strings.HasPrefix(got, "['"); refused != strings.HasPrefix(name, "Invalid") {
			t.Errorf("%s: %s", name, got)
		}
		if strings.HasPrefix(name, "Invalid") && !strings.Contains(got, "ValueError") {
			t.Errorf("%s: %s, want a ValueError", name, got)
		}
		if name == "ValidStructuredData.json" && !strings.Contains(got, mail) {
			t.Errorf("%s: %s, want %s", name, got, mail)
		}
	}
}
