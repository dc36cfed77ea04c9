package chain

import (
	"cmp"
	"errors"
	"slices"
)

// Bounds of what a runner offers. Like all bounds of encodings they are consensus
// rules and not parameters.
const (
	MaxOfferModels     = 32    // of a rate card
	MaxOfferRegions    = 16    // of capabilities
	MaxOfferDomains    = 256   // of capabilities
	MaxConcurrentJobs  = 1_024 // that a runner may declare
	MaxGenesisName     = 64    // bytes of an enclave type or a region, as the genesis may list them
	MaxEndpointBytes   = 256   // resolution 11.29
	MaxOfferBytes      = 8_192 // rate card, capabilities, attestation and endpoint together
	MaxDomainNameBytes = maxDomainBytes + len("*.")
)

// Reasons for which a list or a name of an offer is not in its one form.
var (
	// ErrListOrder means a list that is a set and is not strictly ascending.
	ErrListOrder = errors.New("list is not strictly ascending")
	// ErrDomain means a domain that is not in canonical form (entitlements §8.2).
	ErrDomain = errors.New("domain is not in canonical form")
	// ErrEmptyName means an empty text where there is either a name or null.
	ErrEmptyName = errors.New("name is empty")
)

// RateCard is what a runner charges, in wei for each unit, and for which work
// (whitepaper, "Off-Chain Fee Model"). It is a map with the numbers of its fields as
// keys, as all objects of the market are.
type RateCard struct {
	LLMInputToken   Wei
	LLMOutputToken  Wei
	HTTPRequestBase Wei
	ComputeSecond   Wei
	MemoryMB        Wei
	SupportedModels []Hash `cbor:"limit=MaxOfferModels"` // strictly ascending
	MinJobValue     Wei
	MaxJobValue     Wei
}

func (c *RateCard) check() error {
	if !ascending(c.SupportedModels, compareHashes) {
		return &FieldError{"RateCard", "supported_models", ErrListOrder}
	}
	return nil
}

// Supports reports whether the card lists a model.
func (c *RateCard) Supports(model Hash) bool {
	_, found := slices.BinarySearchFunc(c.SupportedModels, model, compareHashes)
	return found
}

// Encode returns the canonical encoding.
func (c *RateCard) Encode() []byte { return c.appendTo(nil) }

// DecodeRateCard reads what Encode writes and nothing else.
func DecodeRateCard(b []byte) (*RateCard, error) {
	return decodeObject[RateCard](b, MaxOfferBytes, "RateCard")
}

// Capabilities are what a runner can do (CIP-2 §4). Whether the chain knows the type of
// enclave and the regions is for execution to say: they are parameters.
type Capabilities struct {
	JobTypes          []JobKind `cbor:"limit=6,most=uint64(JobAgent)"` // strictly ascending
	TEESupport        *string   `cbor:"limit=MaxGenesisName"`          // type of its enclave, or nil
	Regions           []string  `cbor:"limit=MaxOfferRegions,item=MaxGenesisName"`
	HTTPDomains       []string  `cbor:"limit=MaxOfferDomains,item=MaxDomainNameBytes"` // canonical; "*" is all
	MaxConcurrentJobs uint16    `cbor:"least=1,most=MaxConcurrentJobs"`
}

func (c *Capabilities) check() error {
	const object = "Capabilities"
	switch {
	case !ascending(c.JobTypes, cmp.Compare[JobKind]):
		return &FieldError{object, "job_types", ErrListOrder}
	case c.TEESupport != nil && *c.TEESupport == "":
		return &FieldError{object, "tee_support", ErrEmptyName}
	case !ascending(c.Regions, cmp.Compare[string]):
		return &FieldError{object, "regions", ErrListOrder}
	case !ascending(c.HTTPDomains, cmp.Compare[string]):
		return &FieldError{object, "http_domains", ErrListOrder}
	}
	for _, d := range c.HTTPDomains {
		if !CanonicalDomain(d) {
			return &FieldError{object, "http_domains", ErrDomain}
		}
	}
	return nil
}

// Does reports whether jobs of a kind are among them.
func (c *Capabilities) Does(k JobKind) bool { return slices.Contains(c.JobTypes, k) }

// Encode returns the canonical encoding.
func (c *Capabilities) Encode() []byte { return c.appendTo(nil) }

// DecodeCapabilities reads what Encode writes and nothing else.
func DecodeCapabilities(b []byte) (*Capabilities, error) {
	return decodeObject[Capabilities](b, MaxOfferBytes, "Capabilities")
}
