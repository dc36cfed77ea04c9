//spec:implements entitlements 9.12, 9.13, 9.14, 9.6, 9.10
//spec:implements whitepaper 16.4

package manifest

// Entry is a row of the registry (entitlements §9.1-§9.9).
type Entry struct {
	ID          string
	Inheritable bool // a child may have it
	Attested    bool // a runner must prove it
	Quota       bool // has limits or allow lists
	Params      []string
}

// The ids of the registry.
const (
	GPU            = "accel.gpu"
	BridgeAsset    = "bridge.asset"
	SubscribeEvent = "bridge.subscribe_event"
	HoldBalance    = "econ.hold_balance"
	Transfer       = "econ.transfer"
	Spawn          = "exec.spawn"
	HTTP           = "http.fetch"
	LLM            = "oracle.llm"
	Residency      = "sec.data_residency"
	TEE            = "sec.tee_required"
	Blob           = "storage.blob"
	KV             = "storage.kv"
	Upgrade        = "sys.upgrade"
	Schedule       = "timer.schedule"
)

// Names of parameters (entitlements §9.12).
const (
	MaxChildren = "max_children"
	Domains     = "allowlist_domains"
	DomainSet   = "domain_set"
	MaxRequests = "max_requests"
	MaxBytes    = "max_bytes"
	MaxTokens   = "max_tokens"
	MinVRAM     = "min_vram_gb"
	TEEType     = "tee_type"
	Region      = "region"
	MaxAmount   = "max_amount"
	MaxPerBlock = "max_per_block"
	MaxTimers   = "max_timers"
	Assets      = "allowlist_assets"
	Contracts   = "allowlist_contracts"
)

// Registry returns the entitlements of this version of the protocol, in
// ascending order of id.
func Registry() []Entry {
	return []Entry{
		{GPU, false, true, true, []string{MinVRAM}},
		{BridgeAsset, false, false, true, []string{Assets}},
		{SubscribeEvent, false, false, true, []string{Contracts}},
		{HoldBalance, true, false, false, nil},
		{Transfer, false, false, true, []string{MaxAmount, MaxPerBlock}},
		{Spawn, true, false, true, []string{MaxChildren}},
		{HTTP, true, true, true, []string{Domains, DomainSet, MaxRequests}},
		{LLM, false, true, true, []string{MaxTokens, MaxRequests}},
		{Residency, true, true, false, []string{Region}},
		{TEE, true, true, false, []string{TEEType}},
		{Blob, true, false, true, []string{MaxBytes}},
		{KV, true, false, true, []string{MaxBytes}},
		{Upgrade, false, false, false, nil},
		{Schedule, true, false, true, []string{MaxTimers}},
	}
}

// Lookup returns the entry of an id, by its exact bytes.
func Lookup(id string) (Entry, bool) {
	// Bounded: by the registry, some twenty entries.
	for _, e := range Registry() {
		if e.ID == id {
			return e, true
		}
	}
	return Entry{}, false
}

// rule is how the values of a parameter compare (entitlements §8.3).
type rule uint8

const (
	ruleRange rule = iota // a number: at least as much
	ruleSet               // a list: all of it
	ruleEqual             // a text: the same
	ruleNamed             // the name of a set of domains, part of the list of domains
)

// schema returns the type and the rule of a parameter.
func schema(name string) (ParamKind, rule) {
	switch name {
	case Domains, Assets:
		return ParamList, ruleSet
	case Contracts:
		return ParamAddresses, ruleSet
	case DomainSet:
		return ParamText, ruleNamed
	case TEEType, Region:
		return ParamText, ruleEqual
	}
	return ParamUint, ruleRange
}
