package sigverify

import (
	"bytes"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// batch is a number of bodies on their way through one worker, and the scratch
// space for it. After verify, exactly one of txs[i] and errs[i] is set.
type batch struct {
	number uint64  // in the order of gathering
	pieces []piece // whose bodies they are, if they come from the queue

	bodies [][]byte
	hashes [][32]byte
	txs    []*chain.VerifiedTx
	errs   []error

	// The bodies whose signature is to be checked: their place in the batch, and
	// the kernel's arguments.
	places    []int
	preimages []byte // what the senders signed, one after another
	ends      []int  // end of each in preimages
	messages  [][]byte
	digests   [][32]byte
	sigs      []secp256k1.Signature
	recovered []secp256k1.Recovered
	// Results that these transactions show, whose signatures are recovered with theirs.
	// Their preimages, digests and signatures stand behind those of the senders.
	results []resultPlace
}

// resultPlace says where the signer of a result goes.
type resultPlace struct {
	tx int // place in the batch
	n  int // among the results of the transaction
}

// preimageBytesKept bounds the scratch space that a worker keeps between
// batches: 64 transactions of ordinary size, not 64 of the largest.
const preimageBytesKept = 256 << 10

// reset empties the batch and drops what it points to.
func (b *batch) reset() {
	clear(b.pieces)
	b.pieces = b.pieces[:0]
	clear(b.bodies)
	clear(b.txs)
	clear(b.errs)
	b.bodies, b.txs, b.errs = b.bodies[:0], b.txs[:0], b.errs[:0]
	if cap(b.preimages) > preimageBytesKept {
		clear(b.messages)
		b.preimages = nil
	}
}

// verify decides every body of the batch. What the sender cache does not know may be known
// to another: fill, if it is not nil, fills it in and returns how many it found.
func (p *Pipeline) verify(b *batch, fill func([][32]byte, []*chain.VerifiedTx) int) {
	start := time.Now()
	b.txs = append(b.txs[:0], make([]*chain.VerifiedTx, len(b.bodies))...)
	b.errs = append(b.errs[:0], make([]error, len(b.bodies))...)
	b.hashAll()
	known := p.known.fillKnown(b.hashes, b.txs)
	p.Stats.Known.Add(uint64(known))
	if fill != nil {
		known += fill(b.hashes, b.txs)
	}
	p.Stats.Decoded.Add(uint64(b.parse()))
	p.Stats.Malformed.Add(uint64(len(b.bodies) - known - len(b.places)))
	parsed := time.Now()
	p.Stats.ParseNanos.Add(uint64(parsed.Sub(start)))

	if len(b.places) == 0 {
		return
	}
	forged := b.recover()
	p.known.add(b.txs)
	p.Stats.Forged.Add(uint64(forged))
	p.Stats.Recovered.Add(uint64(len(b.places) - forged))
	p.Stats.RecoverNanos.Add(uint64(time.Since(parsed)))
}

// decideAll decides every body of a batch that nobody waits for to vote: it counts
// nothing, and leaves the sender cache as it is.
func (p *Pipeline) decideAll(b *batch) {
	b.txs = append(b.txs[:0], make([]*chain.VerifiedTx, len(b.bodies))...)
	b.errs = append(b.errs[:0], make([]error, len(b.bodies))...)
	b.hashAll()
	p.known.fillKnown(b.hashes, b.txs)
	b.parse()
	if len(b.places) > 0 {
		b.recover()
	}
}

// hashAll computes the hash of every body that is not too long; the hash of one
// that is stays zero, which no transaction has.
func (b *batch) hashAll() {
	for i, body := range b.bodies {
		if len(body) > chain.MaxTxBytes {
			b.errs[i] = &SizeError{Bytes: len(body), Max: chain.MaxTxBytes}
			b.bodies[i] = nil
		}
	}
	b.hashes = append(b.hashes[:0], make([][32]byte, len(b.bodies))...)
	keccak.SumMany(b.bodies, b.hashes)
	for i := range b.errs {
		if b.errs[i] != nil {
			b.hashes[i] = [32]byte{}
		}
	}
}

// parse decodes what is neither known nor refused yet and lines it up for
// recovery, and returns how many that was. A transaction is decoded from a copy of its
// body: what is kept must not hold on to the request or block that it came in.
func (b *batch) parse() (decoded int) {
	b.places, b.preimages, b.ends, b.sigs, b.results = b.places[:0], b.preimages[:0], b.ends[:0], b.sigs[:0], b.results[:0]
	for i := range b.bodies {
		if b.txs[i] != nil || b.errs[i] != nil {
			continue
		}
		decoded++
		tx, err := parse(bytes.Clone(b.bodies[i]))
		if err != nil {
			b.errs[i] = err
			continue
		}
		tx.Hash = b.hashes[i]
		b.txs[i] = tx
		b.places = append(b.places, i)
		b.preimages = chain.AppendSigningBytes(b.preimages, tx.Body, true)
		b.ends = append(b.ends, len(b.preimages))
		sig := tx.Tx.Signature
		b.sigs = append(b.sigs, secp256k1.Signature{R: sig.R, S: sig.S, YParity: sig.YParity})
	}
	for _, i := range b.places {
		b.lineUpResults(i)
	}
	return decoded
}

// lineUpResults lines up the signatures of the results that a transaction shows: who signed
// them follows from the transaction alone, as its sender does.
func (b *batch) lineUpResults(i int) {
	tx := b.txs[i]
	job, all := tx.Tx.SignedResults()
	if len(all) == 0 {
		return
	}
	tx.Signers = make([]chain.Address, len(all)) // nobody's, so far
	for n := range all {
		sig, ok := secp256k1.TakeApart(&all[n].Signature)
		if !ok {
			continue
		}
		b.preimages = chain.AppendResultPreimage(b.preimages, tx.Tx.ChainID, job, all[n].Result)
		b.ends = append(b.ends, len(b.preimages))
		b.sigs = append(b.sigs, sig)
		b.results = append(b.results, resultPlace{i, n})
	}
}

// parse reads one body and finds its lane. Hash and Sender are still missing.
func parse(body []byte) (*chain.VerifiedTx, error) {
	one := new(struct { // allocated together
		verified chain.VerifiedTx
		room     chain.TxRoom
	})
	tx, err := one.room.Decode(body)
	if err != nil {
		return nil, fmt.Errorf("decode transaction: %w", err)
	}
	if tx.Signature == nil {
		return nil, chain.ErrUnsigned
	}
	in, err := tx.Classify()
	if err != nil {
		return nil, fmt.Errorf("classify transaction: %w", err)
	}
	one.verified = chain.VerifiedTx{Tx: tx, Body: body, Lane: in.Lane}
	return &one.verified, nil
}

// recover fills in the senders and returns how many signatures were refused.
func (b *batch) recover() (forged int) {
	b.messages = b.messages[:0]
	start := 0
	for _, end := range b.ends { // only now: appending may have moved preimages
		b.messages = append(b.messages, b.preimages[start:end])
		start = end
	}
	b.digests = append(b.digests[:0], make([][32]byte, len(b.sigs))...)
	keccak.SumMany(b.messages, b.digests)
	b.recovered = append(b.recovered[:0], make([]secp256k1.Recovered, len(b.sigs))...)
	secp256k1.RecoverMany(b.digests, b.sigs, b.recovered)
	for k, i := range b.places {
		if err := b.recovered[k].Err; err != nil {
			b.txs[i], b.errs[i] = nil, fmt.Errorf("signature: %w", err)
			forged++
			continue
		}
		b.txs[i].Sender = b.recovered[k].Address
	}
	for k, at := range b.results {
		r := &b.recovered[len(b.places)+k]
		if tx := b.txs[at.tx]; tx != nil && r.Err == nil { // a result without one fails when it runs
			tx.Signers[at.n] = r.Address
		}
	}
	return forged
}
