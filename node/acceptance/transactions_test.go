package acceptance_test

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
)

// w1: the address of an actor follows from its creator, the salt and the source.
func w1(p *probe) {
	a, b := newAccount("w1 a"), newAccount("w1 b")
	p.fund(100*cby, a, b)
	there := map[chain.Address]bool{}
	for _, by := range []*account{a, b} {
		for _, salt := range []string{"one", "two"} {
			for _, source := range []string{nothingDone, nothingDone + "\n"} {
				there[p.deploy(by, salt, source, nil)] = true
			}
		}
	}
	for actor := range there {
		if _, err := p.net.nodes[0].Actor(p.ctx, actor, "", "", 0); err != nil {
			p.errorf("there is no actor at %s, which the rule names: %v", actor, err)
		}
	}
	if len(there) != 8 {
		p.errorf("eight deployments have %d addresses", len(there))
	}
	p.refused("the same actor again", a, chain.Tx{Payload: encode([]any{[]byte(nothingDone), []byte("one"), manifestOf(nil), nil})})
}

// w2: a transaction of another chain is refused.
func w2(p *probe) {
	a, b := newAccount("w2 a"), newAccount("w2 b")
	p.fund(cby, a)
	pay := chain.Tx{To: &b.addr, Value: 1, CyclesLimit: 21_000}
	for _, id := range []uint64{p.net.chainID + 1, p.net.chainID - 1, 1 << 40} {
		tx := pay
		tx.ChainID = id
		p.refused("a transaction of another chain", a, tx)
	}
	p.must(a, pay)
}

// w3: what is above a limit, not funded, badly signed or not canonical is refused.
func w3(p *probe) {
	a, b, poor := newAccount("w3 a"), newAccount("w3 b"), newAccount("w3 poor")
	p.fund(100*cby, a)
	pay := func(change func(*chain.Tx)) chain.Tx {
		tx := chain.Tx{To: &b.addr, Value: 1, CyclesLimit: 21_000}
		change(&tx)
		return tx
	}
	limits := p.net.params
	p.refused("a cycles limit above the maximum", a, pay(func(tx *chain.Tx) { tx.CyclesLimit = limits.MaxTxCycles + 1 }))
	p.refused("a cells limit above the maximum", a, pay(func(tx *chain.Tx) { tx.CellsLimit = limits.MaxTxCells + 1 }))
	p.refused("a value above the balance", a, pay(func(tx *chain.Tx) { tx.Value = 101 * cby }))
	p.refused("an account without money", poor, pay(func(*chain.Tx) {}))
	p.refused("less than the intrinsic cost", a, pay(func(tx *chain.Tx) { tx.CyclesLimit = 20_999 }))
	unsorted := []chain.AccessEntry{{Address: chain.Address{2}}, {Address: chain.Address{1}}}
	p.refused("an access list out of order", a, pay(func(tx *chain.Tx) { tx.AccessList, tx.CellsLimit = unsorted, 1_000 }))

	good := pay(func(tx *chain.Tx) {
		tx.ChainID, tx.Nonce, tx.MaxFeePerCycle, tx.MaxFeePerCell = p.net.chainID, a.nonce, feePerUnit, feePerUnit
	})
	wire := client.SignTx(a.key, &good).Wire
	before := p.balance(a.addr)
	bent := func(change func([]byte) []byte) []byte { return change(append([]byte(nil), wire...)) }
	for what, w := range map[string][]byte{
		"a byte of the signature": bent(func(w []byte) []byte { w[len(w)-1] ^= 1; return w }),
		"a byte of the body":      bent(func(w []byte) []byte { w[5] ^= 0x40; return w }),
		"a byte too few":          bent(func(w []byte) []byte { return w[:len(w)-1] }),
		"a byte too many":         bent(func(w []byte) []byte { return append(w, 0) }),
	} {
		reply, err := p.node(a.addr).Submit(p.ctx, w)
		for i := range reply.Results {
			if reply.Results[i].Accepted {
				p.errorf("%s: it is taken", what)
			}
		}
		if err == nil && len(reply.Results) == 0 {
			p.errorf("%s: no verdict", what)
		}
	}
	if after := p.balance(a.addr); after != before {
		p.errorf("what was refused has cost %d", before-after)
	}
	large := func(n int) chain.Tx {
		return pay(func(tx *chain.Tx) {
			tx.Payload, tx.CellsLimit = []byte(strings.Repeat("x", n)), chain.Cells(n)
		})
	}
	const frame = 200 // bytes of a body besides its payload, at most
	p.refused("a body above 128 KiB", a, large(128<<10))
	p.must(a, large(128<<10-frame))
	p.must(a, pay(func(*chain.Tx) {}))
}
