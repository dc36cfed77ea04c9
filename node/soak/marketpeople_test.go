package soak

import (
	"context"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// People of the market besides its runners.
const (
	numAskers  = 8
	numPayers  = 2
	soakMoney  = 100_000 * chain.WeiPerCBY
	actorMoney = 1_000 * chain.WeiPerCBY
)

func newMarketPlay(total int) *marketPlay {
	m := &marketPlay{
		outbox: outbox{board: &board{}, chainID: devnetChainID, byHash: map[chain.Hash]*order{}, refused: map[string]int{}, failed: map[string]int{}},
		total:  total, kinds: jobKinds(), at: map[string]*worker{},
	}
	for i := range numAskers {
		m.askers = append(m.askers, m.add(newSender(fmt.Sprint("asker ", i))))
	}
	for i := range numPayers {
		m.payers = append(m.payers, &payer{sender: m.add(newSender(fmt.Sprint("payer ", i))), to: chain.Address{0xbe, 0xef, byte(i)}})
	}
	for i := range numRunners {
		w := &worker{sender: m.add(newSender(fmt.Sprint("runner ", i))), habit: habitOf(i), beatAt: uint64(i)}
		m.workers = append(m.workers, w)
		m.at[w.addr.String()] = w
	}
	return m
}

// prepare gives everybody money, registers the runners and makes the actor.
func (m *marketPlay) prepare(ctx context.Context) error {
	faucet := setup.DevFaucet()
	bank := m.add(&sender{key: faucet.Key, addr: faucet.Address})
	nothing := func(*rpc.ReceiptReply) {}
	fund := func(to chain.Address, amount chain.Wei) {
		m.give(&order{by: bank, what: "funds", tx: chain.Tx{To: &to, Value: amount, CyclesLimit: 40_000, CellsLimit: 1_000}, done: nothing})
	}
	for _, s := range m.senders {
		if s != bank {
			fund(s.addr, soakMoney)
		}
	}
	if err := m.rest(ctx); err != nil {
		return err
	}
	for _, w := range m.workers {
		m.give(&order{by: w.sender, what: "registration", tx: w.registration(), done: nothing})
	}
	var deployment chain.Tx
	deployment, m.actor = clientDeployment(m.askers[0].addr)
	m.give(&order{by: m.askers[0], what: "deployment", tx: deployment, done: nothing})
	if err := m.rest(ctx); err != nil {
		return err
	}
	fund(m.actor, actorMoney)
	return m.rest(ctx)
}

// rest goes on until all that was sent is in blocks, and nothing has failed.
func (m *marketPlay) rest(ctx context.Context) error {
	for m.waiting() > 0 {
		if err := m.sendAll(ctx, m.height); err != nil {
			return err
		}
		if err := m.follow(ctx); err != nil {
			return err
		}
		m.show()
	}
	if len(m.failed) > 0 {
		return fmt.Errorf("before the market: %v", m.failed)
	}
	return nil
}
