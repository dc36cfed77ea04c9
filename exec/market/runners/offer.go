package runners

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// Offer is on what terms a runner works, what it can do, and where it is reached.
type Offer struct {
	Card         chain.RateCard
	Capabilities chain.Capabilities
	Attestation  *chain.RunnerAttestation // nil: it attests nothing
	Endpoint     string                   // "": it gathers no results of others
}

const offerFields = 4

// encode returns the CBOR array of the four, as they stand in instructions.
func (o *Offer) encode() []byte {
	b := cbor.AppendArray(make([]byte, 0, 256), offerFields)
	b = append(append(b, o.Card.Encode()...), o.Capabilities.Encode()...)
	if o.Attestation == nil {
		b = cbor.AppendNull(b)
	} else {
		b = append(b, o.Attestation.Encode()...)
	}
	return cbor.AppendText(b, o.Endpoint)
}

// DecodeOffer reads a row under offer/. The error is [ErrRecord].
func DecodeOffer(data []byte) (*Offer, error) {
	r := cbor.NewReader(data)
	if r.ArrayOf(offerFields) != nil {
		return nil, ErrRecord
	}
	raw := func() []byte {
		item, _ := r.Raw(cbor.Limits{Bytes: chain.MaxOfferBytes, Depth: cbor.DefaultLimits().Depth, Items: chain.MaxOfferBytes})
		return item // nil, which is no object, where there is none
	}
	card, err := chain.DecodeRateCard(raw())
	if err != nil {
		return nil, ErrRecord
	}
	can, err := chain.DecodeCapabilities(raw())
	if err != nil {
		return nil, ErrRecord
	}
	o := &Offer{Card: *card, Capabilities: *can}
	if !r.Null() {
		if o.Attestation, err = chain.DecodeRunnerAttestation(raw()); err != nil {
			return nil, ErrRecord
		}
	}
	if o.Endpoint, err = r.Text(chain.MaxEndpointBytes); err != nil || r.End() != nil {
		return nil, ErrRecord
	}
	return o, nil
}

// ReadOffer returns the offer of a runner that has a record. The error is a fault.
func ReadOffer(view Reader, a chain.Address) (*Offer, error) {
	b, err := view.Storage(chain.AddrRunnerRegistry, offerKey(a))
	if err != nil {
		return nil, err
	}
	return DecodeOffer(b)
}

// putOffer writes an offer that is another than the one before, and what of it stands in
// the record, which the caller writes. It pays for the row first: for its bytes, and for
// those of them that the state had before, which growth does not count.
func (b *Book) putOffer(a chain.Address, r *Runner, o *Offer, pay func(bytes, overwritten int) error) error {
	row := o.encode()
	if err := b.countLong(r, o.weigh(len(row))); err != nil {
		return err
	}
	hash := chain.Hash(keccak.Sum256(row))
	if hash == r.Offer {
		return nil
	}
	was, err := b.State.Storage(chain.AddrRunnerRegistry, offerKey(a))
	if err != nil {
		return err
	}
	if err := pay(len(row), min(len(was), len(row))); err != nil {
		return err
	}
	b.State.SetStorage(chain.AddrRunnerRegistry, offerKey(a), row)
	r.Offer = hash
	r.Limit, r.Kinds = o.Capabilities.MaxConcurrentJobs, 0
	// Bounded: by the kinds of jobs, six.
	for _, k := range o.Capabilities.JobTypes {
		r.Kinds |= 1 << k
	}
	return nil
}

// apply makes the changes of an update.
func (o *Offer) apply(q *chain.RunnerUpdate) {
	if q.RateCard != nil {
		o.Card = *q.RateCard
	}
	if q.Capabilities != nil {
		o.Capabilities = *q.Capabilities
	}
	if q.Attestation != nil {
		o.Attestation = q.Attestation
	}
	if q.Endpoint != nil {
		o.Endpoint = *q.Endpoint
	}
}

// checkChanged judges what the forms leave open of what an update changes, and the bytes
// of all together: a vote that takes a name away must not shut out who only adds to its
// stake. The error is a verdict.
func (o *Offer) checkChanged(p *params.Params, q *chain.RunnerUpdate) error {
	if q.Capabilities != nil {
		if err := checkNames(p, q.Capabilities); err != nil {
			return err
		}
	}
	if q.Endpoint != nil {
		if err := checkEndpoint(&p.Runner, *q.Endpoint); err != nil {
			return err
		}
	}
	if n := len(o.encode()); n > chain.MaxOfferBytes {
		return argument("an offer of %d bytes, %d are allowed", n, chain.MaxOfferBytes)
	}
	return nil
}

// checkNames judges names that the chain has to know.
func checkNames(p *params.Params, c *chain.Capabilities) error {
	if t := c.TEESupport; t != nil && !slices.Contains(p.TEETypes, *t) { // Bounded: by the types of the genesis.
		return argument("capabilities.tee_support: the chain knows no enclave %q", *t)
	}
	// Bounded: by chain.MaxOfferRegions, 16.
	for _, region := range c.Regions {
		if !slices.Contains(p.Regions, region) { // Bounded: by the regions of the genesis.
			return argument("capabilities.regions: the chain knows no region %q", region)
		}
	}
	return nil
}

// checkEndpoint judges the address under which the others of a committee hand their
// results in (resolution 11.29).
func checkEndpoint(p *params.Runner, endpoint string) error {
	if n := uint64(len(endpoint)); n > p.MaxEndpointBytes {
		return argument("endpoint: %d bytes, %d are allowed", n, p.MaxEndpointBytes)
	}
	if endpoint == "https://" {
		return argument("endpoint: it names no host")
	}
	// Bounded: by MaxEndpointBytes, 256.
	for i := range len(endpoint) {
		if c := endpoint[i]; c <= ' ' || c > '~' {
			return argument("endpoint: want printable ASCII without spaces")
		}
	}
	return nil
}

// checkAttestation judges what a runner attests: its own, of grants that runners can
// attest, under its signature (entitlements §5.1, Appendix B). The caller has charged for
// the bytes and the signature. The error is a verdict.
func checkAttestation(p *params.Params, h chain.Height, runner chain.Address, a *chain.RunnerAttestation) error {
	if a.Runner != runner {
		return argument("attestation: it is %s's", a.Runner)
	}
	grants, err := manifest.Parse(a.Capabilities)
	if err == nil {
		err = grants.Check(p, h)
	}
	if err != nil {
		return argument("attestation: %v", err)
	}
	sig, ok := secp256k1.TakeApart(&a.Signature)
	if !ok {
		return errSignature
	}
	key, err := secp256k1.Recover(a.Digest(), sig)
	if err != nil || chain.Address(key.Address()) != runner {
		return errSignature
	}
	return nil
}

var errSignature = verdict.New(verdict.Proof, "attestation: the signature is not the runner's")

// argument is a verdict on an argument, with the name of what is wrong.
func argument(format string, args ...any) error {
	return verdict.New(verdict.Argument, fmt.Sprintf(format, args...))
}
