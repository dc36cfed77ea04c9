//spec:implements entitlements 9.12, 9.13, 9.14

package params

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Entitlements are the tables behind the entitlements of actors and
// runners; what the ids themselves mean is package exec/manifest's.
type Entitlements struct {
	DomainSets              []DomainSet     `json:"domain_sets"`               // what domain_set may name (entitlements §8.4)
	SystemDeployers         []chain.Address `json:"system_deployers"`          // may deploy with sys.upgrade (entitlements §9.2)
	DeprecationWindowBlocks uint64          `json:"deprecation_window_blocks"` // from the announcement to the removal (entitlements §9.11)
	Deprecated              []Deprecation   `json:"deprecated"`                // announced by governance

	// What instructions of the registry cost besides what is intrinsic (CIP-2 §7.4).
	GrantCycles    chain.Cycles `json:"grant_cycles"` // a grant, or a role
	GrantCells     chain.Cells  `json:"grant_cells"`
	DelegateCycles chain.Cycles `json:"delegate_cycles"`
	DelegateCells  chain.Cells  `json:"delegate_cells"`
	ChangeCycles   chain.Cycles `json:"change_cycles"` // all others
	ChangeCells    chain.Cells  `json:"change_cells"`
}

// DomainSet is a curated list of domains under a name (whitepaper "Domain
// Entitlements"). The domains are in ascending order.
type DomainSet struct {
	Name    string   `json:"name"`
	Domains []string `json:"domains"`
}

// Deprecation takes an entitlement out of the registry: it works through block
// Last and is gone after it (entitlements §9.11).
type Deprecation struct {
	ID   string       `json:"id"`
	From chain.Height `json:"from"` // block of the announcement
	Last chain.Height `json:"last"` // From + the window in force then
}

// DomainSet returns the domains of a curated set.
func (p *Entitlements) DomainSet(name string) ([]string, bool) {
	for i := range p.DomainSets {
		if p.DomainSets[i].Name == name {
			return p.DomainSets[i].Domains, true
		}
	}
	return nil, false
}

// Deprecation returns the announcement about an id.
func (p *Entitlements) Deprecation(id string) (Deprecation, bool) {
	for _, d := range p.Deprecated {
		if d.ID == id {
			return d, true
		}
	}
	return Deprecation{}, false
}

// defaultEntitlementParams holds the four sets that the whitepaper names. It
// describes their contents in words; the domains are the public programming
// interfaces that fit.
func defaultEntitlementParams() Entitlements {
	return Entitlements{
		DomainSets: []DomainSet{
			{"blockchain_rpc", []string{
				"api.mainnet-beta.solana.com", "arb1.arbitrum.io", "cloudflare-eth.com", "eth.llamarpc.com",
				"mainnet.base.org", "mainnet.era.zksync.io", "mainnet.optimism.io", "mempool.space", "polygon-rpc.com",
			}},
			{"government_us", []string{
				"api.congress.gov", "api.govinfo.gov", "data.sec.gov", "disclosures.house.gov",
				"efdsearch.senate.gov", "efts.sec.gov", "www.federalregister.gov", "www.sec.gov",
			}},
			{"price_feeds", []string{
				"api.binance.com", "api.bitfinex.com", "api.bybit.com", "api.coinbase.com", "api.coingecko.com",
				"api.exchange.coinbase.com", "api.gemini.com", "api.kraken.com", "pro-api.coinmarketcap.com", "www.okx.com",
			}},
			{"social_apis", []string{"api.reddit.com", "api.twitter.com", "api.x.com", "oauth.reddit.com"}},
		},
		SystemDeployers:         []chain.Address{},
		DeprecationWindowBlocks: 604_800,
		Deprecated:              []Deprecation{},
		GrantCycles:             5_000,
		GrantCells:              500,
		DelegateCycles:          3_000,
		DelegateCells:           300,
		ChangeCycles:            2_000,
		ChangeCells:             100,
	}
}

// checkEntitlements holds the tables to their form. That the domains are
// canonical is for checkDomain here too: a set is matched against hosts as it
// stands.
func (p *Params) checkEntitlements() error {
	e := &p.Entitlements
	if err := firstOutside(
		bound{"entitlements.deprecation_window_blocks", e.DeprecationWindowBlocks, 0, PeriodBlocksMax},
		bound{"entitlements.grant_cycles", uint64(e.GrantCycles), 0, uint64(p.MaxTxCycles)},
		bound{"entitlements.grant_cells", uint64(e.GrantCells), 0, uint64(p.MaxTxCells)},
		bound{"entitlements.delegate_cycles", uint64(e.DelegateCycles), 0, uint64(p.MaxTxCycles)},
		bound{"entitlements.delegate_cells", uint64(e.DelegateCells), 0, uint64(p.MaxTxCells)},
		bound{"entitlements.change_cycles", uint64(e.ChangeCycles), 0, uint64(p.MaxTxCycles)},
		bound{"entitlements.change_cells", uint64(e.ChangeCells), 0, uint64(p.MaxTxCells)},
		bound{"entitlements.domain_sets", uint64(len(e.DomainSets)), 0, maxNamedItems},
		bound{"entitlements.system_deployers", uint64(len(e.SystemDeployers)), 0, maxNamedItems},
		bound{"entitlements.deprecated", uint64(len(e.Deprecated)), 0, maxNamedItems},
	); err != nil {
		return err
	}
	names := make([]string, len(e.DomainSets))
	for i := range e.DomainSets {
		s := &e.DomainSets[i]
		names[i] = s.Name
		if err := s.checkField(fmt.Sprintf("entitlements.domain_sets[%d]", i)); err != nil {
			return err
		}
	}
	if err := CheckNames("entitlements.domain_sets", names); err != nil {
		return err
	}
	for i, a := range e.SystemDeployers {
		if slices.Contains(e.SystemDeployers[:i], a) {
			return fmt.Errorf("entitlements.system_deployers holds %v twice", a)
		}
	}
	ids := make([]string, len(e.Deprecated))
	for i, d := range e.Deprecated {
		ids[i] = d.ID
		if d.Last < d.From || d.From > PeriodBlocksMax || d.Last > 2*PeriodBlocksMax {
			return fmt.Errorf("entitlements.deprecated[%d] from %d to %d is no window", i, d.From, d.Last)
		}
	}
	return CheckNames("entitlements.deprecated", ids)
}

// maxNamedItems bounds each of the tables of entitlements.
const maxNamedItems = 256

func (s *DomainSet) checkField(field string) error {
	if len(s.Domains) == 0 || len(s.Domains) > maxNamedItems {
		return fmt.Errorf("%s has %d domains, want 1 to %d", field, len(s.Domains), maxNamedItems)
	}
	for i, d := range s.Domains {
		if !chain.CanonicalDomain(d) {
			return fmt.Errorf("%s.domains[%d] = %q is not in canonical form", field, i, d)
		}
		if i > 0 && s.Domains[i-1] >= d {
			return fmt.Errorf("%s.domains[%d] = %q is not above its predecessor", field, i, d)
		}
	}
	return nil
}
