package acceptance_test

import (
	"bytes"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// specOf is the specification of a job as every node gives it, and what it says.
func (s *scene) specOf(j submitted) (raw []byte, fields map[uint64]any) {
	terms, err := s.net.nodes[0].JobTerms(s.ctx, j.id)
	s.check(err)
	job, err := s.net.nodes[0].Job(s.ctx, j.id)
	s.check(err)
	raw = s.bytesOf(terms.Spec)
	if hash := chain.Hash(keccak.Sum256(raw)); job.SpecHash != hash.String() || terms.SpecHash != hash.String() {
		s.errorf("spec_hash is %s and %s, the bytes have %s", job.SpecHash, terms.SpecHash, hash)
	}
	s.check(cbor.Unmarshal(raw, &fields))
	return raw, fields
}

// c21: the canonical specification has the keys 0 to 11, each once, and nothing of the terms.
func c21(p *probe) {
	s := p.scene("c21")
	s.runners(1, roomy)
	q := s.longJob()
	q.Terms.JudgeSteps = 20_001
	j := s.ask(q)
	raw, fields := s.specOf(j)
	for key := range uint64(12) {
		if _, ok := fields[key]; !ok {
			s.errorf("key %d is missing", key)
		}
	}
	if again := encode(fields); len(fields) != 12 || !bytes.Equal(again, raw) {
		s.errorf("%x is not the canonical encoding of its %d fields, %x", raw, len(fields), again)
	}
	if id, ok := fields[0].([]byte); !ok || !bytes.Equal(id, j.id[:]) || fields[9] != uint64(j.at) {
		s.errorf("job id %v and height %v, want %s and %d", fields[0], fields[9], j.id, j.at)
	}
	for key := range uint64(12) {
		tx := s.altered(q, func(spec, _ map[any]any) { delete(spec, key) })
		s.refusedJob("a specification without a key", tx)
	}
	s.refusedJob("a key too many", s.altered(q, func(spec, _ map[any]any) { spec[uint64(12)] = uint64(0) }))
}

// c19: texts are kept as they are given: two spellings that look alike are two.
func c19(p *probe) {
	s := p.scene("c19")
	s.runners(1, roomy)
	for _, text := range []string{"caf\u00e9", "cafe\u0301", " Caf\u00e9 ", "CAF\u00c9"} {
		q := s.longJob()
		q.Spec.JobType.(*chain.HTTPJob).Extraction = &text
		raw, _ := s.specOf(s.ask(q))
		if !bytes.Contains(raw, encode(text)) {
			s.errorf("%q is not kept as it was given: %x", text, raw)
		}
	}
}

// c22: names of headers are kept exactly, in one order whatever they were given in, and a name
// twice is refused.
func c22(p *probe) {
	s := p.scene("c22")
	s.runners(1, roomy)
	const keyType, keyHeaders = uint64(1), uint64(3)
	with := func(headers any) chain.Tx {
		return s.altered(s.longJob(), func(spec, _ map[any]any) { spec[keyType].(map[any]any)[keyHeaders] = headers })
	}
	names := map[string]string{"Accept": "a", "accept": "b", "X-Long-Name": "c"}
	j := byHash(s.must(s.asker, with(names)))
	raw, _ := s.specOf(j)
	if !bytes.Contains(raw, encode(names)) {
		s.errorf("the headers are not kept as %x: %x", encode(names), raw)
	}
	pair := func(k, v string) []byte { return append(encode(k), encode(v)...) }
	twice := slices.Concat([]byte{0xa2}, pair("Accept", "a"), pair("Accept", "b"))
	s.refusedJob("a name twice", with(cbor.RawMessage(twice)))
	other := slices.Concat([]byte{0xa2}, pair("accept", "b"), pair("Accept", "a"))
	s.refusedJob("names out of order", with(cbor.RawMessage(other)))
}
