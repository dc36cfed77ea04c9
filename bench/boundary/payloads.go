package boundary

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// The parts of payloads.

func null() []byte { return cbor.AppendNull(nil) }

func text(s string) []byte { return cbor.AppendText(nil, s) }

func raw(b []byte) []byte { return cbor.AppendBytes(nil, b) }

func number(n uint64) []byte { return cbor.AppendUint(nil, n) }

// array is a list of encoded items.
func array(items ...[]byte) []byte {
	b := cbor.AppendArray(nil, len(items))
	for _, item := range items {
		b = append(b, item...)
	}
	return b
}

// object is a map of texts to encoded items, whose keys come in canonical order.
func object(pairs ...any) []byte {
	b := cbor.AppendMap(nil, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		b = append(cbor.AppendText(b, pairs[i].(string)), pairs[i+1].([]byte)...)
	}
	return b
}

// Instruction is a sender's transaction to a system account.
func (g *Ground) Instruction(from, to chain.Address, opcode uint64, args ...[]byte) *chain.VerifiedTx {
	return g.Tx(from, &to, 0, array(append([][]byte{number(opcode)}, args...)...), g.Most())
}

// All are the entitlements that an actor of a program may have.
func All() manifest.Grants {
	var list manifest.Grants
	for _, id := range []string{"econ.hold_balance", "econ.transfer", "exec.spawn", "storage.blob", "storage.kv", "timer.schedule"} {
		list = append(list, manifest.Grant{ID: id})
	}
	return list
}

// EncodeManifest is the manifest of a list.
func EncodeManifest(list manifest.Grants) []byte {
	return list.Append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements"))
}

// FatManifest has all entitlements of [All], and domains that a child inherits, of
// about so many bytes together.
func FatManifest(bytes int) []byte {
	list := All()
	var domains []string
	for i := range max(1, min(manifest.MaxListItems, (bytes-300)/252)) {
		domains = append(domains, fmt.Sprintf("a%060d.b%060d.c%060d.d%060d", i, i, i, i))
	}
	http := manifest.Grant{ID: manifest.HTTP, Params: []manifest.Param{{Name: manifest.Domains, List: domains, Kind: manifest.ParamList}}}
	at := 3 // behind exec.spawn
	list = append(list[:at:at], append(manifest.Grants{http}, list[at:]...)...)
	return EncodeManifest(list)
}
