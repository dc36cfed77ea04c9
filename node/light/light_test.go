package light

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
)

const rewriteHint = "go test ./node -run TestProofs -rewrite-proofs && go test ./cmd/cowboy -rewrite"

// The files in testdata are what a running node answered.
var proofNames = []string{
	"header", "latest", "account", "account-absent", "storage", "storage-absent", "storage-nobody",
	"transaction", "receipt", "multi",
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func testGenesis(t testing.TB) *genesis.Genesis {
	t.Helper()
	g, err := genesis.Parse(readFile(t, "genesis"))
	if err != nil {
		t.Fatalf("%v: if a format changed on purpose, make the files anew: %s", err, rewriteHint)
	}
	return g
}

func verifier(t testing.TB, g *genesis.Genesis) *Verifier {
	t.Helper()
	v, err := NewVerifier(g)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// typed reports whether an error is one that this package promises.
func typed(err error) bool {
	for _, want := range []error{ErrTooLarge, ErrMalformed, ErrOtherChain, ErrNotFinal, ErrOtherBlock, ErrNotShown} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

func TestAnswersOfANode(t *testing.T) {
	v := verifier(t, testGenesis(t))
	for _, name := range proofNames {
		text := readFile(t, name)
		shown, err := v.Verify(text)
		if err != nil {
			t.Errorf("%s: %v: if a format changed on purpose, make the files anew: %s", name, err, rewriteHint)
			continue
		}
		if shown.Height == 0 || shown.BlockHash != shown.Header.Digest() {
			t.Errorf("%s: shows block %d, %s", name, shown.Height, shown.BlockHash)
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, text, "", "  "); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(pretty.Bytes()); err != nil {
			t.Errorf("%s with white space: %v", name, err)
		}
	}
}

// TestEveryByteCounts changes bytes of real answers, one at a time, and wants
// each refused for a reason that callers can tell.
func TestEveryByteCounts(t *testing.T) {
	v := verifier(t, testGenesis(t))
	rng := rand.New(rand.NewPCG(4, 4))
	for _, name := range proofNames {
		text := readFile(t, name)
		text = bytes.TrimSuffix(text, []byte("\n"))
		for at := range text {
			// Signatures cost a pairing for each change: a sample of bytes is
			// verified, all are decoded.
			other := bytes.Clone(text)
			for other[at] == text[at] {
				other[at] = "0123456789abcdefABCDEFxn\"{}[],: \x00"[rng.IntN(33)]
			}
			refused(t, v, fmt.Sprintf("%s, byte %d is %q", name, at, other[at]), other, rng.IntN(20) == 0)
		}
		for _, cut := range []int{0, 1, len(text) / 2, len(text) - 1} {
			refused(t, v, fmt.Sprintf("%s cut to %d", name, cut), text[:cut], true)
		}
		for _, tail := range []string{"x", "{}", "null", string(text)} {
			refused(t, v, name+" followed by "+tail, append(bytes.Clone(text), tail...), true)
		}
	}
}

func refused(t *testing.T, v *Verifier, what string, text []byte, verify bool) {
	t.Helper()
	d, err := Decode(text)
	if err == nil && verify {
		_, err = v.VerifyDocument(d)
	}
	if err == nil && verify || err != nil && !typed(err) {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestSpelling(t *testing.T) {
	text := string(readFile(t, "account-absent"))
	f := func(what, old, now string) {
		t.Helper()
		other := strings.Replace(text, old, now, 1)
		if other == text {
			t.Fatalf("%s: the answer has no %q", what, old)
		}
		if _, err := Decode([]byte(other)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	f("name in other letters", `"height"`, `"Height"`)
	f("name twice", `"exists":false`, `"exists":false,"exists":false`)
	f("unknown field", `"exists":false`, `"exists":false,"more":1`)
	f("field missing", `"exists":false,`, ``)
	f("escape", `"account"`, `"\u0061ccount"`)
	f("null list", `"descendants":[]`, `"descendants":null`)
	f("null bytes", `"value":"0x"`, `"value":null`)
	f("bytes without prefix", `"value":"0x"`, `"value":""`)
	f("half a byte", `"value":"0x"`, `"value":"0x0"`)
	f("number with a fraction", `"exists"`, `"index":1.0,"exists"`)
	f("unknown kind", `"kind":"account"`, `"kind":"actor"`)
	f("other kind", `"kind":"account"`, `"kind":"storage"`)
	f("kind twice", `"kind":"account"`, `"kind":"header","kind":"account"`)
}

// FuzzVerify throws bytes at the verifier. What it accepts must have the one
// spelling and be about this chain.
func FuzzVerify(f *testing.F) {
	for _, name := range proofNames {
		f.Add(readFile(f, name))
	}
	f.Add([]byte(`{"kind":"multi","accounts":[{}]}`))
	v := verifier(f, testGenesis(f))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Decode(text)
		if err != nil {
			if !typed(err) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(again); err != nil {
			t.Fatalf("own spelling refused: %v", err)
		}
		if shown, err := v.VerifyDocument(d); err == nil && shown.Header.Digest() != shown.BlockHash || err != nil && !typed(err) {
			t.Fatalf("%+v, %v", shown, err)
		}
	})
}
