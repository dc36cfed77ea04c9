package acceptance_test

import (
	"encoding/json"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/client"
)

// entitlement is a grant of a manifest as CBOR has it (entitlements, Appendix A).
func entitlement(id string, params map[string]any) map[string]any {
	g := map[string]any{"id": id}
	if params != nil {
		g["params"] = params
	}
	return g
}

// deploy makes an actor of a source with the entitlements of its manifest.
func (p *probe) deploy(by *account, salt, source string, manifest []any) chain.Address {
	tx := chain.Tx{Payload: encode([]any{[]byte(source), []byte(salt), manifestOf(manifest), nil})}
	p.must(by, tx)
	return actorOf(by.addr, []byte(salt), []byte(source))
}

// manifestOf is the manifest of a deployment.
func manifestOf(grants []any) map[string]any {
	if grants == nil {
		grants = []any{}
	}
	return map[string]any{"entitlements": grants}
}

// actorOf is the last 20 bytes of keccak256(creator ‖ salt ‖ keccak256(source)) (whitepaper
// §1.2).
func actorOf(creator chain.Address, salt, source []byte) (a chain.Address) {
	code := keccak.Sum256(source)
	hash := keccak.Sum256(creator[:], salt, code[:])
	copy(a[:], hash[12:])
	return a
}

// message calls a handler with a value that CBOR has.
func message(to chain.Address, handler string, argument any) chain.Tx {
	return chain.Tx{To: &to, Payload: encode([]any{handler, encode(argument)})}
}

// stored is a value of an actor's storage, as JSON.
func (p *probe) stored(actor chain.Address, key string) string {
	r, err := p.net.nodes[0].Actor(p.ctx, actor, "", "", 100)
	if client.IsNotFound(err) {
		return ""
	}
	p.check(err)
	raw, err := json.Marshal(r.Storage[key])
	p.check(err)
	return string(raw)
}
