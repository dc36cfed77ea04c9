package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
)

// Defer implements host.Messages. What the message may use is charged in full to
// the run that schedules it, its value goes into escrow: nothing can be owed when
// its height comes.
func (f *frame) Defer(d host.Deferred) (host.ID, error) {
	if err := f.changes(); err != nil {
		return host.ID{}, err
	}
	now := f.run.block.Height
	at := chain.Height(d.Height)
	if at == 0 {
		at = now + 1
	}
	if at <= now {
		return host.ID{}, &host.Refusal{Code: host.RefusedPast, Text: "the height is not in the future"}
	}
	if at-now > mailbox.MaxAhead {
		return host.ID{}, &host.Refusal{Code: host.RefusedLimit, Text: "the height is too far ahead"}
	}
	if f.run.sent >= f.run.block.Params.Actor.FanoutPerTx {
		return host.ID{}, &host.Refusal{Code: host.RefusedLimit, Text: "the transaction sends no more messages"}
	}
	snapshot := f.run.state.Snapshot()
	e, err := f.envelope(&d.Message)
	if err != nil {
		return host.ID{}, err
	}
	if e.Nonce, err = f.nextNonce(); err != nil {
		return host.ID{}, err
	}
	e.ID = MessageID(e.From, e.Nonce, e.hash())
	if _, e.Load, err = f.run.block.FirstUse(f.run.state, e.From, e.To); err != nil {
		return host.ID{}, err
	}
	it := f.run.item(&e)
	if it.Cells = chain.Cells(d.Cells); it.Cells == 0 {
		it.Cells = f.run.block.Params.Actor.MessageReserveCells
	}
	f.run.block.reserveLeast(it)
	err = mailbox.Defer(f.run.state, now, at, it, f.run.block.Params.Actor.MailboxItems)
	if errors.Is(err, mailbox.ErrFull) {
		f.run.state.Revert(snapshot)
		return host.ID{}, &host.Refusal{Code: host.RefusedLimit, Text: "no more messages are deferred to that height"}
	}
	if errors.Is(err, mailbox.ErrHandler) {
		f.run.state.Revert(snapshot)
		return host.ID{}, &host.Refusal{Code: host.RefusedArgument, Text: "the handler is no name"}
	}
	if err != nil {
		return host.ID{}, err
	}
	if err := f.run.credit(chain.AddrMailbox, e.Value); err != nil {
		return host.ID{}, err
	}
	f.run.sent++
	return host.ID(e.ID), f.fund(it)
}

// fund charges what a message in a later block may use.
func (f *frame) fund(it *mailbox.Item) error {
	payload := uint64(len(it.Payload))
	if uint64(it.Cells) > ^uint64(0)-payload {
		return &Trap{chain.CodeCellsExhausted, "cells limit reached"}
	}
	if err := f.run.takeCells(payload + uint64(it.Cells)); err != nil {
		return err
	}
	if left := chain.Cycles(f.machine.CyclesLeft()); it.Cycles > left || it.Load > left-it.Cycles {
		return &Trap{chain.CodeCyclesExhausted, "cycles left do not cover what the message reserves"}
	}
	f.machine.ChargeReserved(code.Cycles(it.Cycles + it.Load))
	f.run.later += it.Cycles + it.Load
	return nil
}

// nextNonce numbers a message of the actor.
func (f *frame) nextNonce() (uint64, error) {
	l, err := ReadQuota(f.run.state, f.env.Self)
	if err != nil {
		return 0, err
	}
	n := l.Sent
	l.Sent++
	WriteQuota(f.run.state, f.env.Self, l)
	return n, nil
}
