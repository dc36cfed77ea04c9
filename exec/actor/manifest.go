package actor

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/state"
)

// Manifests stand under the hashes of their bytes, once each however many actors
// have them, and stay: an actor that is spawned adds none of its parent's.

func manifestKey(h chain.Hash) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, append([]byte("manifest/"), h[:]...))
}

// keepManifest writes a canonical list of grants, unless it stands, and returns
// what a record says of it.
func keepManifest(o *state.Overlay, list []byte) (rec Record, err error) {
	grants, err := manifest.Parse(list)
	if err != nil {
		return rec, err // was checked before
	}
	rec = Record{
		Manifest: keccak.Sum256(list), ManifestBytes: uint64(len(list)),
		Holds: grants.Has(manifest.HoldBalance), Upgrades: grants.Has(manifest.Upgrade),
	}
	there, err := o.Storage(chain.AddrActors, manifestKey(rec.Manifest))
	if err == nil && there == nil {
		o.SetStorage(chain.AddrActors, manifestKey(rec.Manifest), list)
	}
	return rec, err
}

// ReadManifest returns the canonical list of grants of an actor.
func ReadManifest(v state.View, rec *Record) ([]byte, error) {
	list, err := v.Storage(chain.AddrActors, manifestKey(rec.Manifest))
	if err == nil && list == nil {
		err = fmt.Errorf("%w: manifest %s is missing", ErrRecord, rec.Manifest)
	}
	return list, err
}

// ReadGrants returns the grants of an actor, out of the cache where they are there.
// They are shared: nobody changes them.
func ReadGrants(v state.View, c manifest.Cache, rec *Record) (manifest.Grants, error) {
	if g, ok := c.Get(rec.Manifest); ok {
		return g, nil
	}
	list, err := ReadManifest(v, rec)
	if err != nil {
		return nil, err
	}
	g, err := manifest.Parse(list)
	if err != nil {
		return nil, fmt.Errorf("%w: manifest %s: %w", ErrRecord, rec.Manifest, err)
	}
	c.Put(rec.Manifest, g, len(list))
	return g, nil
}

// manifestCycles is what a manifest of so many bytes costs who deploys it.
func (b *Block) manifestCycles(bytes int) chain.Cycles {
	return chain.Cycles(bytes) * b.Params.API.ManifestByteCycles
}

// entryCycles is what a manifest costs at each call of its actor: it is parsed once
// where a cache has room for it, and paid as if none had.
func (b *Block) entryCycles(rec *Record) chain.Cycles {
	return chain.Cycles(rec.ManifestBytes / b.Params.API.ManifestBytesPerCycle)
}

// fitsManifest refuses a list of grants that a program asks for and is too long.
func (b *Block) fitsManifest(list []byte) error {
	if uint64(len(list)) <= b.Params.Actor.ManifestBytes {
		return nil
	}
	return &host.Refusal{Code: host.RefusedArgument, Text: "the entitlements have too many bytes"}
}

// fitsSource refuses a source that a program gives and is too long.
func (b *Block) fitsSource(source []byte) error {
	if uint64(len(source)) <= b.Params.Actor.SourceBytes {
		return nil
	}
	return &host.Refusal{Code: host.RefusedArgument, Text: "the source has too many bytes"}
}

// grants returns what an actor of the run may do.
func (r *Run) grants(rec *Record) (manifest.Grants, error) {
	return ReadGrants(r.state, r.block.Manifests, rec)
}

// MayHold reports whether an account may keep a balance: everything but an actor
// whose manifest lacks econ.hold_balance (resolution 11.25).
func MayHold(v state.View, addr chain.Address) (bool, error) {
	rec, err := ReadRecord(v, addr)
	if err != nil || rec == nil {
		return err == nil, err
	}
	return rec.Holds, nil
}
