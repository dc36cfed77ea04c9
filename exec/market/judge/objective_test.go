package judge

import (
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// TestEntropyOfOthers holds logarithms and entropy to the public vectors.
func TestEntropyOfOthers(t *testing.T) {
	var rest struct {
		Entropy []struct {
			Data   string
			Least  uint64 `json:"min_millibits"`
			Varied bool
		}
		Logs []struct{ X, Value uint64 } `json:"log2_x65536"`
	}
	vectors.Decode(t, "selection/rest.json", &rest)
	if len(rest.Entropy) == 0 || len(rest.Logs) == 0 {
		t.Fatal(len(rest.Entropy), len(rest.Logs))
	}
	for _, c := range rest.Logs {
		if got := log2(c.X); got != c.Value {
			t.Errorf("log2 %d: %d, want %d", c.X, got, c.Value)
		}
	}
	for _, c := range rest.Entropy {
		data, err := hex.DecodeString(c.Data)
		if err != nil {
			t.Fatal(err)
		}
		if got := varied(data, c.Least); got != c.Varied {
			t.Errorf("%.40s at %d: %v", c.Data, c.Least, got)
		}
	}
	if varied([]byte("abcdefgh"), 1<<64-1) || !varied(nil, 1<<64-1) {
		t.Error("no text has that much entropy, and the empty one is held to nothing")
	}
}

// TestLog2 holds logarithms to powers: 2^value ≤ x^65,536 < 2^(value+1).
func TestLog2(t *testing.T) {
	if log2(0) != 0 {
		t.Error("log2 0")
	}
	for _, x := range []uint64{1, 2, 3, 4, 6, 10, 100, 999, 1_000, 4_095, 4_097, 32_767, 65_535, 65_536} {
		power := new(big.Int).SetUint64(x)
		for range 16 {
			power.Mul(power, power)
		}
		if want := uint64(power.BitLen() - 1); log2(x) != want {
			t.Errorf("log2 %d: %d, want %d", x, log2(x), want)
		}
	}
}
