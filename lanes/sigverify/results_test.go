package sigverify

import (
	"context"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// resultBy is a result of a job as key n signs it.
func resultBy(t testing.TB, n byte, job chain.Hash, data string) (result []byte, sig [65]byte) {
	t.Helper()
	result = (&chain.RunnerResult{Version: chain.RunnerResultVersion, Data: []byte(data)}).Encode()
	s := key(t, n).Sign(chain.ResultDigest(1, job, result))
	copy(sig[:32], s.R[:])
	copy(sig[32:64], s.S[:])
	sig[64] = s.YParity
	return result, sig
}

// showing is a transaction by key n that shows results.
func showing(t testing.TB, n byte, q chain.Request) []byte {
	t.Helper()
	return sign(t, n, &chain.Tx{ChainID: 1, Nonce: 3, To: &chain.AddrResultVerifier, Payload: chain.EncodeRequest(q), CyclesLimit: 900_000, CellsLimit: 9_000})
}

// plainSigners is the rule: each result's signature by itself.
func plainSigners(tx *chain.Tx) (signers []chain.Address) {
	job, all := tx.SignedResults()
	for i := range all {
		var who chain.Address
		if sig, ok := secp256k1.TakeApart(&all[i].Signature); ok {
			if k, err := secp256k1.Recover(chain.ResultDigest(tx.ChainID, job, all[i].Result), sig); err == nil {
				who = k.Address()
			}
		}
		signers = append(signers, who)
	}
	return signers
}

// TestSignersOfResults: who signed the results in a transaction is recovered with its
// sender, in whatever company; what nobody signed makes no transaction bad.
func TestSignersOfResults(t *testing.T) {
	job := chain.Hash{7}
	result, sig := resultBy(t, 2, job, "a")
	reveal := &chain.ResultReveal{JobID: job, Result: result, RunnerSig: sig}
	bad, odd, elsewhere := *reveal, *reveal, *reveal
	bad.RunnerSig[3] ^= 1
	odd.RunnerSig[64] = 9
	elsewhere.JobID[1] = 1
	many := &chain.ResultSubmit{JobID: job}
	for n := byte(0); n < chain.MaxSigners; n++ {
		r, s := resultBy(t, n, job, "b")
		if n == 5 {
			s[64] = 9
		}
		many.Reveals = append(many.Reveals, chain.Reveal{Runner: chain.Address{n}, Result: r, RunnerSig: s})
	}
	more := &chain.ResultSubmit{JobID: job, Reveals: append(slices.Clone(many.Reveals), many.Reveals[0])}
	commit := &chain.ResultCommit{JobID: job}
	bodies := [][]byte{signed(t, 1, 0)}
	for n, q := range []chain.Request{reveal, &bad, &odd, &elsewhere, many, more, commit} {
		bodies = append(bodies, showing(t, byte(20+n), q), signed(t, 1, uint64(n+1)))
	}
	forged := slices.Clone(bodies[1]) // as a transaction
	forged[len(forged)-1] ^= 1
	bodies = append(bodies, forged)

	p := start(t, small(), &taker{})
	verdicts := submit(t, p, bodies...)
	check := func(how string, i int, tx *chain.VerifiedTx) {
		t.Helper()
		if want := plainSigners(tx.Tx); !slices.Equal(tx.Signers, want) {
			t.Errorf("%s: transaction %d has the signers %v, want %v", how, i, tx.Signers, want)
		}
	}
	for i, v := range verdicts {
		if i == len(verdicts)-1 {
			continue // whether it is anybody's depends on the bit
		}
		if v.Err != nil {
			t.Fatalf("transaction %d: %v", i, v.Err)
		}
		check("submitted", i, v.Tx)
	}
	if got := verdicts[1].Tx.Signers; len(got) != 1 || got[0] != key(t, 2).PublicKey().Address() {
		t.Errorf("a reveal of key 2 is signed by %v", got)
	}
	if got := verdicts[9].Tx.Signers; len(got) != chain.MaxSigners || got[5] != (chain.Address{}) || got[6] == (chain.Address{}) {
		t.Errorf("a submission of all is signed by %v", got)
	}
	if verdicts[11].Tx.Signers != nil || verdicts[13].Tx.Signers != nil {
		t.Error("signers of what shows too many results, or none")
	}
	txs, err := p.ReadBlock(context.Background(), bodies[:len(bodies)-1])
	if err != nil {
		t.Fatal(err)
	}
	for i, tx := range txs {
		check("read", i, tx)
	}
}
