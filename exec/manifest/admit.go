//spec:implements entitlements 6.1, 6.3, 10, 11

package manifest

import (
	"errors"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// Request is what a manifest is judged by besides its own bytes.
type Request struct {
	Params  *params.Params // in force
	Height  chain.Height   // of the deployment
	Creator chain.Address  // who deploys
}

// Admit checks the manifest of a deployment, a canonical map {"entitlements":
// list of grants}, and returns the bytes of the list (entitlements §10). The
// error is an [*Error].
func Admit(manifest []byte, req Request) ([]byte, error) {
	r := cbor.NewReader(manifest)
	if n, err := r.Map(1); err != nil || n != 1 {
		return nil, refuse(chain.CodeManifest, "manifest: %w", errField)
	}
	if name, err := r.Text(MaxIDBytes); err != nil || name != "entitlements" {
		return nil, refuse(chain.CodeManifest, "manifest: %w", errField)
	}
	list, err := r.Raw(cbor.DefaultLimits())
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, refuse(chain.CodeManifest, "manifest: %w", err)
	}
	if n := uint64(len(list)); n > req.Params.Actor.ManifestBytes {
		return nil, refuse(chain.CodeManifest, "%w: %d bytes, %d are allowed", ErrSize, n, req.Params.Actor.ManifestBytes)
	}
	g, err := Parse(list)
	if err != nil {
		return nil, err
	}
	// Bounded: by the deployers that the genesis lists.
	if g.Has(Upgrade) && !slices.Contains(req.Params.Entitlements.SystemDeployers, req.Creator) {
		return nil, refuse(chain.CodeSystemEntitlement, "%s is no system deployer", req.Creator)
	}
	return list, g.Check(req.Params, req.Height)
}

// ErrSize means a list of grants that is longer than actor_limits.manifest_bytes.
var ErrSize = errors.New("too many bytes")

// Manifest returns the manifest, as [Admit] takes it, of an actor that has these
// entitlements without parameters.
func Manifest(ids ...string) []byte {
	g := make(Grants, 0, len(ids))
	// Bounded: by what a test or tool names.
	for _, id := range slices.Sorted(slices.Values(ids)) {
		g = append(g, Grant{ID: id})
	}
	return g.Append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements"))
}

// Check judges a list of grants by the registry at height h (entitlements §10;
// resolutions 8.10, 11.7).
func (g Grants) Check(p *params.Params, h chain.Height) error {
	// Paid: by the bytes of the manifest (manifest_byte_cycles); 64 grants at most.
	for i := range g {
		entry, ok := Lookup(g[i].ID)
		switch {
		case i > 0 && g[i-1].ID == g[i].ID:
			return refuse(chain.CodeManifest, "%s stands twice", g[i].ID)
		case i > 0 && g[i-1].ID > g[i].ID:
			return refuse(chain.CodeManifest, "%s stands after %s", g[i].ID, g[i-1].ID)
		case !ok:
			return refuse(chain.CodeManifest, "no entitlement %q", g[i].ID)
		}
		if err := g[i].checkParams(&entry, p); err != nil {
			return err
		}
	}
	if gone := g.Gone(p, h); gone != "" {
		return refuse(chain.CodeManifest, "%s was removed", gone)
	}
	return nil
}

// checkParams judges the parameters of one grant.
func (g *Grant) checkParams(e *Entry, p *params.Params) error {
	// Paid: by the bytes of the manifest (manifest_byte_cycles); of those an entitlement has, three at most, each stands once.
	for i := range g.Params {
		q := &g.Params[i]
		kind, _ := schema(q.Name)
		switch {
		// Bounded: by the parameters of an entitlement, three.
		case !slices.Contains(e.Params, q.Name):
			return refuse(chain.CodeEntitlementParam, "%s has no parameter %q", g.ID, q.Name)
		case q.Kind == ParamList && len(q.List) == 0 && kind == ParamAddresses:
			q.Kind = ParamAddresses // nothing tells the empty lists apart
		case q.Kind != kind:
			return refuse(chain.CodeEntitlementParam, "%s: %s has another type", g.ID, q.Name)
		}
		if err := q.checkValue(p); err != nil {
			return refuse(chain.CodeEntitlementParam, "%s: %s: %w", g.ID, q.Name, err)
		}
	}
	if g.ID == HTTP && g.param(Domains) == nil && g.param(DomainSet) == nil {
		return refuse(chain.CodeEntitlementParam, "%s names no domains", g.ID)
	}
	return nil
}

// What a value may be wrong about.
var (
	errDomain = errors.New("a domain is not in canonical form")
	errName   = errors.New("the chain has none of that name")
	errEmpty  = errors.New("an item is empty")
)

func (q *Param) checkValue(p *params.Params) error {
	switch q.Name {
	case Domains:
		// Paid: by the bytes of the manifest (manifest_byte_cycles); 256 items at most.
		for _, d := range q.List {
			if !chain.CanonicalDomain(d) {
				return errDomain
			}
		}
	case DomainSet:
		if _, ok := p.Entitlements.DomainSet(q.Text); !ok {
			return errName
		}
	case TEEType:
		// Bounded: by the types of the genesis.
		if !slices.Contains(p.TEETypes, q.Text) {
			return errName
		}
	case Region:
		// Bounded: by the regions of the genesis.
		if !slices.Contains(p.Regions, q.Text) {
			return errName
		}
	case Assets:
		// Paid: by the bytes of the manifest (manifest_byte_cycles); 256 items at most.
		if slices.Contains(q.List, "") {
			return errEmpty
		}
	}
	return nil
}

// CodeOf is the receipt's code for an error of this package.
func CodeOf(err error) uint16 {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return chain.CodeManifest
}
