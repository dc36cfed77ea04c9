//spec:implements whitepaper 2.1-2.4

package fees

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// The verdicts of [Validity], grouped by what follows from them. For the
// verifier all are the same: a block with such a transaction is invalid.

// Never valid on this chain. The pool refuses it and the sender must sign
// another; besides these, [*LimitError], [*IntrinsicError], [*OverflowError]
// and the errors of [chain.Tx.Classify].
var (
	// ErrChainID means a transaction signed for another chain.
	ErrChainID = errors.New("transaction is for another chain")
	// ErrKindUnsupported means a kind of transaction that this version does not
	// execute.
	ErrKindUnsupported = errors.New("kind of transaction is not supported")
	// ErrRole means a sender that may not send an instruction of its lane: anyone
	// but a validator, for those of validators (resolution 11.13).
	ErrRole = errors.New("sender may not send this instruction")
	// ErrNonceMax means the last nonce, after which the account's could not
	// rise.
	ErrNonceMax = errors.New("nonce is the last of 64 bits")
	// ErrLane means a transaction handed in under another lane than its own: a
	// bug of the caller, since the lane follows from the transaction.
	ErrLane = errors.New("transaction stands in another lane than its own")
)

// LimitError reports a limit or a size above the chain's maximum (whitepaper
// §2.2a; resolution 11.33).
type LimitError struct {
	What     string // spec name
	Got, Max uint64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s %d above the maximum %d", e.What, e.Got, e.Max)
}

// IntrinsicError reports limits that do not cover what the transaction costs
// before anything of it runs (whitepaper §17.2).
type IntrinsicError struct {
	Limits, Intrinsic chain.Usage
}

func (e *IntrinsicError) Error() string {
	return fmt.Sprintf("limits of %d cycles and %d cells below the intrinsic %d cycles and %d cells",
		e.Limits.Cycles, e.Limits.Cells, e.Intrinsic.Cycles, e.Intrinsic.Cells)
}

// NonceError reports a nonce that is not the sender's next. A lower one is used
// up: the pool drops the transaction. A higher one waits in the pool for those
// before it.
type NonceError struct {
	Got, Next uint64
}

func (e *NonceError) Error() string {
	if e.Got < e.Next {
		return fmt.Sprintf("nonce %d is used, the next is %d", e.Got, e.Next)
	}
	return fmt.Sprintf("nonce %d is ahead, the next is %d", e.Got, e.Next)
}

// FundsError reports a sender that cannot cover the most a transaction may take
// (whitepaper §2.2b). The transaction may wait for money.
type FundsError struct {
	Need, Spendable chain.Wei
}

func (e *FundsError) Error() string {
	return fmt.Sprintf("sender can spend %d, value and limits at the fee caps need %d", e.Spendable, e.Need)
}

// MayBecomeValid reports whether an error of [Validity] can pass while the
// transaction waits: the base fee may fall, earlier nonces or money may come.
func MayBecomeValid(err error) bool {
	var nonce *NonceError
	if errors.As(err, &nonce) {
		return nonce.Got > nonce.Next
	}
	return errors.As(err, new(*BaseFeeError)) || errors.As(err, new(*FundsError))
}

// CheckStatic is the part of [Validity] on what can never change about a transaction: its chain, its
// kind, its size and its limits. It returns what the transaction is, as far as
// that follows from the transaction alone.
func CheckStatic(tx *chain.VerifiedTx, p *params.Params, chainID uint64) (chain.Instruction, error) {
	t := tx.Tx
	switch {
	case t.ChainID != chainID:
		return chain.Instruction{}, fmt.Errorf("%w: chain_id %d, want %d", ErrChainID, t.ChainID, chainID)
	case uint64(len(tx.Body)) > p.MaxTxBytes:
		return chain.Instruction{}, &LimitError{"max_tx_bytes", uint64(len(tx.Body)), p.MaxTxBytes}
	case t.CyclesLimit > p.MaxTxCycles:
		return chain.Instruction{}, &LimitError{"cycles_limit", uint64(t.CyclesLimit), uint64(p.MaxTxCycles)}
	case t.CellsLimit > p.MaxTxCells:
		return chain.Instruction{}, &LimitError{"cells_limit", uint64(t.CellsLimit), uint64(p.MaxTxCells)}
	case t.Nonce == math.MaxUint64:
		return chain.Instruction{}, ErrNonceMax
	}
	ins, err := t.Classify()
	switch {
	case err != nil:
		return chain.Instruction{}, err
	case !ins.Executable:
		return chain.Instruction{}, fmt.Errorf("%w: %s", ErrKindUnsupported, ins.Name)
	case ins.Lane != tx.Lane:
		return chain.Instruction{}, fmt.Errorf("%w: %v, not %v", ErrLane, ins.Lane, tx.Lane)
	}
	need := p.Intrinsic.Of(ins)
	if t.CyclesLimit < need.Cycles || t.CellsLimit < need.Cells {
		return chain.Instruction{}, &IntrinsicError{chain.Usage{Cycles: t.CyclesLimit, Cells: t.CellsLimit}, need}
	}
	if _, err := MaxCost(t); err != nil {
		return chain.Instruction{}, err
	}
	return ins, nil
}

// CheckTarget is the part of [Validity] on what depends on whether a plain target has code, which may
// come but never goes. To code with a payload the transaction is a message: that
// has the form of one, and a limit that its actor can ever have for a block
// (resolutions 11.22, 11.43). It returns what the transaction is.
func CheckTarget(ins chain.Instruction, t *chain.Tx, hasCode bool, p *params.Params) (chain.Instruction, error) {
	ins = ins.WithCode(hasCode)
	if ins.Kind != chain.KindMessage {
		return ins, nil
	}
	if _, _, err := chain.ParseMessage(t.Payload); err != nil {
		return ins, err
	}
	need := p.Intrinsic.Of(ins)
	if t.CyclesLimit < need.Cycles || t.CellsLimit < need.Cells {
		return ins, &IntrinsicError{chain.Usage{Cycles: t.CyclesLimit, Cells: t.CellsLimit}, need}
	}
	if most := p.Actor.BlockCyclesBurst; t.CyclesLimit-need.Cycles > most {
		return ins, &LimitError{"cycles_limit to an actor", uint64(t.CyclesLimit), uint64(need.Cycles + most)}
	}
	return ins, nil
}

// Roles are the parties that have instructions of their own.
type Roles struct {
	Validators []chain.Validator // of the block's epoch
	Governors  []chain.Address   // members of the multisig
}

// RolesOf returns who has a role under these validators and parameters.
func RolesOf(validators []chain.Validator, p *params.Params) Roles {
	return Roles{Validators: validators, Governors: p.Governance.Members}
}

// CheckRole is the part of [Validity] on whether the sender may send the instruction at all: a
// validator's comes from the reward account of one in the set (resolution
// 11.13). A runner, and who was drawn for a job, has its role in the state: [Validity.Judge]
// asks the place. The rules on candidates and releasers come with their actors: until then
// what they alone may send is refused whole.
func CheckRole(ins chain.Instruction, sender chain.Address, roles Roles) error {
	switch ins.Sender {
	case chain.SenderAnyone, chain.SenderRunner, chain.SenderAssignedRunner:
		return nil
	case chain.SenderValidator:
		for i := range roles.Validators {
			if roles.Validators[i].RewardAddress == sender {
				return nil
			}
		}
	case chain.SenderGovernance:
		if slices.Contains(roles.Governors, sender) {
			return nil
		}
	}
	return needs(ins)
}

func needs(ins chain.Instruction) error {
	return fmt.Errorf("%w: %s needs %s", ErrRole, ins.Name, ins.Sender)
}

// CheckSender is the part of [Validity] that changes from block to block.
func CheckSender(tx *chain.Tx, base chain.FeePair, nonce uint64, spendable chain.Wei) error {
	if tx.Nonce != nonce {
		return &NonceError{tx.Nonce, nonce}
	}
	if err := bidOf(tx).checkAgainst(base); err != nil {
		return err
	}
	need, err := MaxCost(tx)
	if err != nil {
		return err
	}
	return Standing{Nonce: nonce, Spendable: spendable}.Covers(need)
}

// Spendable returns what an account may spend in the block at height h: its
// balance less what is still locked (whitepaper §8.3). The error is
// [chain.ErrMetadata].
func Spendable(balance chain.Wei, meta []byte, h chain.Height) (chain.Wei, error) {
	lock, ok, err := genesis.ParseLock(meta)
	if err != nil || !ok {
		return balance, err
	}
	return over(balance, lock.LockedAt(h)), nil
}
