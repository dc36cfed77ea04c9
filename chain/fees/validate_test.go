package fees_test

import (
	"errors"
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

const testChainID = 1337

// transfer returns a valid transfer with a payload of two bytes.
func transfer() *chain.VerifiedTx {
	to := chain.Address{0: 0xbb}
	return &chain.VerifiedTx{
		Tx: &chain.Tx{
			ChainID: testChainID, Nonce: 4, To: &to, Value: 100, CyclesLimit: 21_000, CellsLimit: 2,
			MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 1, Payload: []byte{1, 2},
		},
		Body:   make([]byte, 150),
		Sender: chain.Address{0: 0xaa},
		Lane:   chain.LaneUser,
	}
}

// reveals makes a transaction one of a runner about a job.
func reveals(sender, job byte) func(*chain.VerifiedTx) {
	return func(tx *chain.VerifiedTx) {
		tx.Tx.To, tx.Lane, tx.Sender[0] = &chain.AddrResultVerifier, chain.LaneRunner, sender
		tx.Tx.Payload = chain.EncodeRequest(&chain.ResultCommit{JobID: chain.Hash{job}})
		tx.Tx.CellsLimit = chain.Cells(len(tx.Tx.Payload))
		tx.Tx.MaxFeePerCycle, tx.Tx.MaxFeePerCell, tx.Tx.Value = 9, 5, 0
	}
}

// transferCost is the most that transfer() takes: 100 + 21,000·10 + 2·10.
const transferCost = 210_120

// anywhere is a place with room, whose targets have no code.
type anywhere chain.FeePair

func (a anywhere) Base(*params.Params, chain.LaneID) chain.FeePair { return chain.FeePair(a) }
func (anywhere) Room(*params.Params, *chain.VerifiedTx) error      { return nil }
func (anywhere) Target(*chain.Tx) (fees.Target, error)             { return fees.Target{}, nil }
func (anywhere) IsRunner(a chain.Address) (bool, error)            { return a[0] == 0xcc, nil }

func (anywhere) IsAssigned(job chain.Hash, a chain.Address) (bool, error) {
	return job[0] == 0x0b && a[0] == 0xdd, nil
}

func judge(tx *chain.VerifiedTx, p *params.Params, base chain.FeePair, nonce uint64, spendable chain.Wei) error {
	rule := fees.Validity{Params: p, ChainID: testChainID}
	_, _, err := rule.Judge(tx, fees.Standing{Nonce: nonce, Spendable: spendable}, anywhere(base))
	return err
}

func TestValidate(t *testing.T) { // whitepaper §2.2; resolutions 2.13, 11.33, 11.43
	p := params.Default()
	base := chain.FeePair{PerCycle: 5, PerCell: 5}
	is := func(target error) func(error) bool {
		return func(err error) bool { return errors.Is(err, target) }
	}
	limit := func(what string) func(error) bool {
		return func(err error) bool {
			var e *fees.LimitError
			return errors.As(err, &e) && e.What == what
		}
	}
	to := func(a chain.Address) func(*chain.VerifiedTx) {
		return func(tx *chain.VerifiedTx) { tx.Tx.To, tx.Tx.Payload = &a, nil }
	}
	overflow := func(err error) bool { return errors.As(err, new(*fees.OverflowError)) }
	intrinsic := func(err error) bool { return errors.As(err, new(*fees.IntrinsicError)) }
	lowCap := func(err error) bool { return errors.As(err, new(*fees.BaseFeeError)) }
	nonce := func(err error) bool { return errors.As(err, new(*fees.NonceError)) }
	tests := []struct {
		name   string
		change func(*chain.VerifiedTx)
		is     func(error) bool
		waits  bool // stays in the pool
	}{
		{"another chain", func(tx *chain.VerifiedTx) { tx.Tx.ChainID++ }, is(fees.ErrChainID), false},
		{"too many bytes", func(tx *chain.VerifiedTx) { tx.Body = make([]byte, p.MaxTxBytes+1) }, limit("max_tx_bytes"), false},
		{"cycles limit above the maximum", func(tx *chain.VerifiedTx) { tx.Tx.CyclesLimit = p.MaxTxCycles + 1 }, limit("cycles_limit"), false},
		{"cells limit above the maximum", func(tx *chain.VerifiedTx) { tx.Tx.CellsLimit = p.MaxTxCells + 1 }, limit("cells_limit"), false},
		{"last nonce", func(tx *chain.VerifiedTx) { tx.Tx.Nonce = math.MaxUint64 }, is(fees.ErrNonceMax), false},
		{"deployment", func(tx *chain.VerifiedTx) { tx.Tx.To, tx.Tx.Payload = nil, []byte{0x84, 0x40, 0x40, 0xa0, 0xf6} }, intrinsic, false},
		{"system instruction", func(tx *chain.VerifiedTx) {
			tx.Tx.To, tx.Tx.Payload = &chain.AddrRunnerRegistry, append([]byte{0x82, 0x18, chain.OpModelWithdraw, 0x58, 0x20}, make([]byte, 32)...)
		}, is(fees.ErrKindUnsupported), false},
		{"a runner's by who is none", func(tx *chain.VerifiedTx) {
			tx.Tx.To, tx.Tx.Payload, tx.Lane = &chain.AddrRunnerRegistry, []byte{0x81, 0x02}, chain.LaneRunner
		}, is(fees.ErrRole), false},
		{"reserved target", to(chain.AddrStaking), is(chain.ErrReservedAddress), false},
		{"unused reserved target", to(chain.SystemAddress(0x100)), is(chain.ErrReservedAddress), false},
		{"wrong lane", func(tx *chain.VerifiedTx) { tx.Lane = chain.LaneSystem }, is(fees.ErrLane), false},
		{"too few cycles", func(tx *chain.VerifiedTx) { tx.Tx.CyclesLimit = 20_999 }, intrinsic, false},
		{"too few cells", func(tx *chain.VerifiedTx) { tx.Tx.CellsLimit = 1 }, intrinsic, false},
		{"cost above 64 bits", func(tx *chain.VerifiedTx) { tx.Tx.Value = math.MaxUint64 }, overflow, false},
		{"used nonce", func(tx *chain.VerifiedTx) { tx.Tx.Nonce = 3 }, nonce, false},
		{"nonce ahead", func(tx *chain.VerifiedTx) { tx.Tx.Nonce = 5 }, nonce, true},
		{"cycle cap below the base fee", func(tx *chain.VerifiedTx) { tx.Tx.MaxFeePerCycle = 4 }, lowCap, true},
		{"cell cap below the base fee", func(tx *chain.VerifiedTx) { tx.Tx.MaxFeePerCell = 4 }, lowCap, true},
		{"a result of a stranger", reveals(0xaa, 0x0b), func(err error) bool { return errors.Is(err, fees.ErrRole) }, false},
		{"a result for another job", reveals(0xdd, 0x0c), func(err error) bool { return errors.Is(err, fees.ErrRole) }, false},
		{"one unit short", func(tx *chain.VerifiedTx) { tx.Tx.Value++ }, func(err error) bool { return errors.As(err, new(*fees.FundsError)) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tx := transfer()
			tt.change(tx)
			err := judge(tx, &p, base, 4, transferCost)
			if err == nil || !tt.is(err) {
				t.Fatalf("Validate = %v", err)
			}
			if got := fees.MayBecomeValid(err); got != tt.waits {
				t.Errorf("MayBecomeValid(%v) = %v, want %v", err, got, tt.waits)
			}
		})
	}
	for name, change := range map[string]func(*chain.VerifiedTx){
		"plain":                 func(*chain.VerifiedTx) {},
		"to the treasury":       to(chain.AddrTreasury),
		"to its own sender":     to(chain.Address{0: 0xaa}),
		"past the reserved end": to(chain.Address{18: 1, 19: 1}),
		"cap at the base fee":   func(tx *chain.VerifiedTx) { tx.Tx.MaxFeePerCycle, tx.Tx.MaxFeePerCell = 5, 5 },
		"most bytes":            func(tx *chain.VerifiedTx) { tx.Body = make([]byte, p.MaxTxBytes) },
		"a heartbeat": func(tx *chain.VerifiedTx) {
			tx.Tx.To, tx.Tx.Payload, tx.Lane, tx.Sender[0] = &chain.AddrRunnerRegistry, []byte{0x81, 0x02}, chain.LaneRunner, 0xcc
		},
		"a result of who was drawn": reveals(0xdd, 0x0b),
		"tip above the cap":         func(tx *chain.VerifiedTx) { tx.Tx.TipPerCycle = 1 << 60 },
	} {
		tx := transfer()
		change(tx)
		if err := judge(tx, &p, base, 4, transferCost); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckTarget: a payload to code is a message, which costs what messages cost
// and never more cycles than its actor can have in a block.
func TestCheckTarget(t *testing.T) { // whitepaper §17.2; resolutions 11.22, 11.43
	p := params.Default()
	p.Intrinsic.MessageCycles = p.Intrinsic.TransferCycles + 1_000
	least, most := chain.Cycles(22_000), 22_000+p.Actor.BlockCyclesBurst
	message := []byte{0x82, 0x61, 'x', 0x41, 0xf6} // ["x", null in bytes]
	plain, err := (&chain.Tx{To: &chain.Address{0: 0xbb}}).Classify()
	if err != nil {
		t.Fatal(err)
	}
	intrinsic := func(err error) bool { return errors.As(err, new(*fees.IntrinsicError)) }
	for _, tt := range []struct {
		rule    string
		payload []byte
		cycles  chain.Cycles
		cells   chain.Cells
		hasCode bool
		is      func(error) bool // nil: allowed
	}{
		{"least cycles and cells", message, least, 5, true, nil},
		{"one cycle short", message, least - 1, 5, true, intrinsic},
		{"one cell short", message, least, 4, true, intrinsic},
		{"a transfer's cycles where there is no code", message, least - 1, 5, false, nil},
		{"all that an actor can have", message, most, 5, true, nil},
		{"one cycle more", message, most + 1, 5, true, func(err error) bool {
			var e *fees.LimitError
			return errors.As(err, &e) && e.Got == uint64(most+1) && e.Max == uint64(most)
		}},
		{"one cycle more where there is no code", message, most + 1, 5, false, nil},
		{"no message", []byte{0x80}, least, 5, true, func(err error) bool { return err != nil && !intrinsic(err) }},
		{"no message where there is no code", []byte{0x80}, least, 5, false, nil},
	} {
		ins := plain
		ins.PayloadBytes = len(tt.payload)
		tx := &chain.Tx{CyclesLimit: tt.cycles, CellsLimit: tt.cells, Payload: tt.payload}
		got, err := fees.CheckTarget(ins, tx, tt.hasCode, &p)
		if (tt.is == nil) != (err == nil) || err != nil && !tt.is(err) {
			t.Errorf("%s: %v", tt.rule, err)
		}
		if want := tt.hasCode; want != (got.Kind == chain.KindMessage) {
			t.Errorf("%s: it is a %v", tt.rule, got.Kind)
		}
	}
}

func TestEffectiveTip(t *testing.T) {
	tx := &chain.Tx{MaxFeePerCycle: 10, MaxFeePerCell: 3, TipPerCycle: 4, TipPerCell: 4}
	if got := fees.EffectiveTip(tx, chain.FeePair{PerCycle: 8, PerCell: 9}); got != (chain.FeePair{PerCycle: 2}) {
		t.Errorf("EffectiveTip = %+v", got)
	}
}

func TestSpendable(t *testing.T) { // whitepaper §8.3
	lock := genesis.Lock{Amount: 1_000, Vesting: genesis.Vesting{CliffBlocks: 10, DurationBlocks: 100}}
	meta := lock.AppendMeta(nil)
	f := func(balance chain.Wei, meta []byte, h chain.Height, want chain.Wei) {
		t.Helper()
		if got, err := fees.Spendable(balance, meta, h); err != nil || got != want {
			t.Errorf("Spendable(%d, height %d) = %d, %v, want %d", balance, h, got, err, want)
		}
	}
	f(1_000, nil, 1, 1_000)
	f(1_000, meta, 9, 0)
	f(1_000, meta, 10, 100)
	f(1_500, meta, 9, 500) // what was received on top is free
	f(600, meta, 50, 100)  // 500 still locked
	f(400, meta, 50, 0)    // fees cannot have been taken from locked money, but never wrap
	f(1_000, meta, 100, 1_000)
	if _, err := fees.Spendable(1, []byte{0xff}, 1); !errors.Is(err, genesis.ErrMetadata) {
		t.Errorf("broken metadata: %v", err)
	}
}

// TestRoles: an instruction of the system lane is a validator's, from its reward
// account; who may send the others is not known yet (resolution 11.13).
func TestRoles(t *testing.T) {
	set := []chain.Validator{{RewardAddress: chain.Address{1}}, {RewardAddress: chain.Address{2}}}
	f := func(role chain.SenderRule, sender byte, allowed bool) {
		t.Helper()
		err := fees.CheckRole(chain.Instruction{InstructionSpec: chain.InstructionSpec{Name: "x", Sender: role}}, chain.Address{sender}, fees.Roles{Validators: set, Governors: []chain.Address{{9}}})
		if allowed != (err == nil) || err != nil && !errors.Is(err, fees.ErrRole) {
			t.Errorf("%s by %d: %v, want allowed %v", role, sender, err, allowed)
		}
	}
	f(chain.SenderAnyone, 9, true)
	f(chain.SenderValidator, 1, true)
	f(chain.SenderValidator, 2, true)
	f(chain.SenderValidator, 3, false)
	f(chain.SenderValidator, 9, false)
	f(chain.SenderGovernance, 9, true)
	f(chain.SenderRunner, 1, true) // whom the state knows as one: TestValidate
	f(chain.SenderAssignedRunner, 1, true)
	for _, role := range []chain.SenderRule{chain.SenderReleaser, chain.SenderCandidate, chain.SenderGovernance} {
		f(role, 1, false)
	}
}
