package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// offerExample is an offer with every key, and the default where it says so.
const offerExample = `    max_job_value = "0"           # CBY: the stake must be 1.5 times as much
    job_types = ["http"]          # llm, http, mcp, custom, publish_chain_root, agent
    http_domains = ["*"]
    regions = []                  # of those that the chain knows
    # tee_support = "sgx"         # default: none
    max_concurrent_jobs = 4
    endpoint = ""                 # https://host:port/path for results of others
    supported_models = []         # ids of 32 bytes in hex

    [rates]                       # base units for each
    llm_input_token = 10
    llm_output_token = 30
    http_request_base = 10000
    compute_second = 1000
    memory_mb = 1
`

// offer is what a runner offers, ready to be signed.
type offer struct {
	largest  chain.Wei // job that it takes
	card     chain.RateCard
	can      chain.Capabilities
	endpoint string
}

// offerFile is an offer as people write it.
type offerFile struct {
	MaxJobValue       string   `toml:"max_job_value"`
	JobTypes          []string `toml:"job_types"`
	HTTPDomains       []string `toml:"http_domains"`
	Regions           []string `toml:"regions"`
	TEESupport        *string  `toml:"tee_support"`
	MaxConcurrentJobs uint16   `toml:"max_concurrent_jobs"`
	Endpoint          string   `toml:"endpoint"`
	SupportedModels   []string `toml:"supported_models"`
	Rates             struct {
		LLMInputToken   uint64 `toml:"llm_input_token"`
		LLMOutputToken  uint64 `toml:"llm_output_token"`
		HTTPRequestBase uint64 `toml:"http_request_base"`
		ComputeSecond   uint64 `toml:"compute_second"`
		MemoryMB        uint64 `toml:"memory_mb"`
	} `toml:"rates"`
}

// readOffer reads an offer from a file, or the default from none.
func readOffer(name string) (*offer, error) {
	var f offerFile
	if _, err := toml.Decode(offerExample, &f); err != nil {
		return nil, fmt.Errorf("default offer: %w", err)
	}
	if name == "" {
		return f.offer()
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(b) > maxOfferFile {
		return nil, usagef("%s has %d bytes, an offer has at most %d", name, len(b), maxOfferFile)
	}
	meta, err := toml.Decode(string(b), &f)
	if err != nil {
		return nil, usagef("%s: %v", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, usagef("%s: no offer has a key %q; the keys are in runner register --help", name, unknown[0].String())
	}
	o, err := f.offer()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

const maxOfferFile = 64 << 10

// offer makes the forms of the chain, whose lists ascend.
func (f *offerFile) offer() (*offer, error) {
	largest, err := client.ParseAmount(f.MaxJobValue)
	if err != nil {
		return nil, usagef("max_job_value %q: %v", f.MaxJobValue, err)
	}
	o := &offer{largest: largest, endpoint: f.Endpoint}
	r := &f.Rates
	o.card = chain.RateCard{
		LLMInputToken: chain.Wei(r.LLMInputToken), LLMOutputToken: chain.Wei(r.LLMOutputToken), HTTPRequestBase: chain.Wei(r.HTTPRequestBase),
		ComputeSecond: chain.Wei(r.ComputeSecond), MemoryMB: chain.Wei(r.MemoryMB), MaxJobValue: largest,
	}
	for _, text := range f.SupportedModels {
		id, err := client.ParseHash(text)
		if err != nil {
			return nil, usagef("supported_models: %v", err)
		}
		o.card.SupportedModels = append(o.card.SupportedModels, id)
	}
	slices.SortFunc(o.card.SupportedModels, func(a, b chain.Hash) int { return bytes.Compare(a[:], b[:]) })
	for _, name := range f.JobTypes {
		kind, ok := rpc.ParseJobType(name)
		if !ok {
			return nil, usagef("job_types: there are no jobs of type %q; there are %s", name, strings.Join(rpc.JobTypes(), ", "))
		}
		o.can.JobTypes = append(o.can.JobTypes, kind)
	}
	slices.Sort(o.can.JobTypes)
	o.can.Regions = slices.Sorted(slices.Values(f.Regions))
	o.can.HTTPDomains = slices.Sorted(slices.Values(f.HTTPDomains))
	o.can.TEESupport, o.can.MaxConcurrentJobs = f.TEESupport, f.MaxConcurrentJobs
	if _, err := chain.DecodeRateCard(o.card.Encode()); err != nil {
		return nil, usagef("%v", err)
	}
	if _, err := chain.DecodeCapabilities(o.can.Encode()); err != nil {
		return nil, usagef("%v", err)
	}
	return o, nil
}
