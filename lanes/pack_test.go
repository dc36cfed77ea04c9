package lanes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/lanes/sched"
	"github.com/cowboy-foundation/cowboy/state"
)

const testChain = 7

// accounts is a state of accounts only; every read of a broken one fails.
type accounts map[chain.Address]state.Account

var errDisk = errors.New("disk is gone")

// broken is the address that cannot be read.
var broken = chain.Address{0xbb, 0xbb}

func (a accounts) Account(addr chain.Address) (state.Account, bool, error) {
	if addr == broken {
		return state.Account{}, false, errDisk
	}
	if acc, ok := a[addr]; ok {
		return acc, true, nil
	}
	return state.NewAccount(), false, nil
}

func (accounts) Storage(chain.Address, state.StorageKey) ([]byte, error) {
	return nil, errors.New("lanes read no storage")
}

func (accounts) Scan(chain.Address, state.Span) ([]state.Entry, error) {
	return nil, errors.New("lanes read no storage")
}

func (accounts) Code(chain.Hash) ([]byte, error) { return nil, errors.New("lanes read no code") }

// with returns a copy in which an account has the given nonce and balance.
func (a accounts) with(addr chain.Address, nonce uint64, balance chain.Wei) accounts {
	out := accounts{}
	for k, v := range a {
		out[k] = v
	}
	acc := state.NewAccount()
	acc.Nonce, acc.Balance = nonce, balance
	out[addr] = acc
	return out
}

// evenFees is one base fee for every lane and meter.
func evenFees(fee chain.Wei) (out [chain.NumLanes]chain.FeePair) {
	for i := range out {
		out[i] = chain.FeePair{PerCycle: fee, PerCell: fee}
	}
	return out
}

// order of lanes that hold transactions
var txLanes = []chain.LaneID{chain.LaneSystem, chain.LaneRunner, chain.LaneUser}

// maker makes transactions with distinct hashes.
type maker struct{ serial uint64 }

// transfer returns a transfer of 100 bytes in the user lane that pays the given
// tip per cycle and costs at most limit·(10+tip).
func (m *maker) transfer(sender byte, nonce uint64, tip chain.Wei, limit chain.Cycles) *chain.VerifiedTx {
	m.serial++
	tx := &chain.VerifiedTx{
		Tx: &chain.Tx{
			ChainID: testChain, Nonce: nonce, To: &chain.Address{0xcc, 1},
			CyclesLimit: limit, MaxFeePerCycle: 10 + tip, MaxFeePerCell: 10, TipPerCycle: tip,
		},
		Body:   make([]byte, 100),
		Sender: chain.Address{sender},
		Lane:   chain.LaneUser,
	}
	binary.BigEndian.PutUint64(tx.Hash[:], m.serial)
	return tx
}

func names(txs []*chain.VerifiedTx) string {
	var out []string
	for _, tx := range txs {
		out = append(out, fmt.Sprintf("%x/%d", tx.Sender[:1], tx.Tx.Nonce))
	}
	return fmt.Sprint(out)
}

func (m *maker) in(lane chain.LaneID, tx *chain.VerifiedTx) *chain.VerifiedTx {
	tx.Lane = lane
	return tx
}

// idle returns lanes that nobody runs or stops, and that look at everything when
// they pack.
func idle(t testing.TB, params chain.Params, view state.View) *Lanes {
	t.Helper()
	cfg := DefaultConfig()
	cfg.PackMisses = 1 << 30
	l, err := New(cfg, &params, testChain, FinalizedHead{View: view, BaseFees: evenFees(1)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// generous is a state in which everyone is rich.
type generous struct{ accounts }

func (generous) Account(chain.Address) (state.Account, bool, error) {
	acc := state.NewAccount()
	acc.Balance = chain.WeiPerCBY
	return acc, true, nil
}

func wealthy() accounts {
	a := accounts{}
	for i := range 256 {
		a = a.with(chain.Address{byte(i)}, 0, 1_000*chain.WeiPerCBY)
	}
	return a
}

func request(params *chain.Params, view state.View) *PackRequest {
	return &PackRequest{Parent: view, Params: params, BaseFees: evenFees(1), Height: 1, VRFOut: chain.Hash{9}, MaxBytes: 1 << 20}
}

func mustPack(t *testing.T, l *Lanes, req *PackRequest) []*chain.VerifiedTx {
	t.Helper()
	txs, err := l.Pack(context.Background(), *req)
	if err != nil {
		t.Fatal(err)
	}
	return txs
}

// mustAdmit puts transactions into the pool without the checks of what they
// are, so that every lane can be filled with plain transfers.
func mustAdmit(t *testing.T, l *Lanes, txs ...*chain.VerifiedTx) {
	t.Helper()
	for i, tx := range txs {
		if err := admitUnclassified(l, tx); err != nil {
			t.Fatalf("admit %s: %v", names(txs[i:i+1]), err)
		}
	}
}

func admitUnclassified(l *Lanes, tx *chain.VerifiedTx) error {
	cost, err := fees.MaxCost(tx.Tx)
	if err != nil {
		return err
	}
	answer := make([]error, 1)
	l.pool.Admit([]sched.Offer{{Tx: tx, Cost: cost}}, answer)
	return answer[0]
}

// TestLargeLimitsTakeNoSpace: a transfer's unused limit is not taken from the
// others (resolution 11.14), only the largest one is kept free once.
func TestLargeLimitsTakeNoSpace(t *testing.T) {
	params := chain.DefaultParams()
	view := wealthy()
	l := idle(t, params, view)
	var m maker
	for i := range byte(200) {
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{m.transfer(i, 0, 1, params.MaxTxCycles)})[0]; err != nil {
			t.Fatal(err)
		}
	}
	// The user lane alone has 20 M cycles: 10 M for one limit, the rest for what
	// transfers use, 21,000 each.
	if txs := mustPack(t, l, request(&params, view)); len(txs) != 200 {
		t.Errorf("packed %d of 200 transfers with limits of %d", len(txs), params.MaxTxCycles)
	}
}

// TestBudgetCascade: resolutions 2.1-2.4, 11.14 on the default parameters, with
// a target of 10 M cycles: 0.5 M system, 2 M timer, 2.5 M runner, 5 M user.
func TestBudgetCascade(t *testing.T) {
	const million = 1_000_000
	fill := func(lane chain.LaneID, n int, limit chain.Cycles) func(m *maker, from byte) []*chain.VerifiedTx {
		return func(m *maker, from byte) (out []*chain.VerifiedTx) {
			for i := range n {
				out = append(out, m.in(lane, m.transfer(from+byte(i), 0, 1, limit)))
			}
			return out
		}
	}
	type group = func(*maker, byte) []*chain.VerifiedTx
	tests := []struct {
		name string
		have []group
		want [chain.NumLanes]int
	}{
		{"a lane alone gets what cascades down to it and no more", []group{fill(chain.LaneSystem, 9, 100_000)}, [chain.NumLanes]int{chain.LaneSystem: 5}},
		{"system and timer shares cascade to the runner lane", []group{fill(chain.LaneRunner, 60, 100_000)}, [chain.NumLanes]int{chain.LaneRunner: 50}},
		{"what the system lane takes does not cascade", []group{fill(chain.LaneSystem, 9, 100_000), fill(chain.LaneRunner, 60, 100_000)}, [chain.NumLanes]int{chain.LaneSystem: 5, chain.LaneRunner: 45}},
		{"the user lane takes all that is left up to the cap", []group{fill(chain.LaneUser, 50, million)}, [chain.NumLanes]int{chain.LaneUser: 20}},
		{"users cannot crowd runners out", []group{fill(chain.LaneUser, 50, million), fill(chain.LaneRunner, 2, million)}, [chain.NumLanes]int{chain.LaneRunner: 2, chain.LaneUser: 18}},
		{"a transaction above its lane's share waits", []group{fill(chain.LaneSystem, 1, 600_000), fill(chain.LaneUser, 1, million)}, [chain.NumLanes]int{chain.LaneUser: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			params := chain.DefaultParams()
			view := wealthy()
			l := idle(t, params, view)
			var m maker
			for i, g := range tt.have {
				mustAdmit(t, l, g(&m, byte(64*i))...)
			}
			var got [chain.NumLanes]int
			for _, tx := range mustPack(t, l, request(&params, view)) {
				got[tx.Lane]++
			}
			if got != tt.want {
				t.Errorf("packed %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPackRules(t *testing.T) {
	params := chain.DefaultParams()
	view := wealthy()
	var m maker
	const limit = 30_000
	excluded := m.transfer(2, 0, 90, limit)
	message := func(sender byte, nonce uint64) *chain.VerifiedTx {
		tx := m.transfer(sender, nonce, 1, limit)
		tx.Tx.Payload, tx.Tx.CellsLimit = []byte{1}, 100
		return tx
	}
	kept := message(1, 0)
	byNonce := func(txs []*chain.VerifiedTx) string {
		txs = slices.Clone(txs)
		slices.SortFunc(txs, func(a, b *chain.VerifiedTx) int {
			return slices.Compare([]uint64{uint64(a.Sender[0]), a.Tx.Nonce}, []uint64{uint64(b.Sender[0]), b.Tx.Nonce})
		})
		return names(txs)
	}
	tests := []struct {
		name   string
		have   []*chain.VerifiedTx
		change func(*PackRequest)
		want   string
	}{
		{
			"nonces below an unfinalized parent's are passed over",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.transfer(1, 1, 1, limit), m.transfer(1, 2, 1, limit)},
			func(r *PackRequest) { r.Parent, r.Height = view.with(chain.Address{1}, 2, 1<<40), 2 }, "[01/2]",
		},
		{
			"the parent's balance counts, not the head's",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.transfer(1, 1, 1, limit)},
			func(r *PackRequest) { r.Parent, r.Height = view.with(chain.Address{1}, 0, limit*11+limit*11-1), 2 }, "[01/0]",
		},
		{
			"a base fee above the fee cap leaves the sender out",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.transfer(1, 1, 90, limit), m.transfer(2, 0, 90, limit)},
			func(r *PackRequest) { r.BaseFees = evenFees(12); r.BaseFees[chain.LaneUser].PerCell = 1 }, "[02/0]",
		},
		{
			"excluded ones stay out with their successors",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.transfer(1, 1, 90, limit), excluded, m.transfer(2, 1, 90, limit)},
			func(r *PackRequest) { r.Exclude = []chain.Hash{excluded.Hash} }, "[01/0 01/1]",
		},
		{
			"a busy actor takes the messages that are named, and payments",
			[]*chain.VerifiedTx{kept, message(1, 1), m.transfer(1, 2, 1, limit), message(2, 0), m.transfer(3, 0, 1, limit)},
			func(r *PackRequest) {
				r.Busy = map[chain.Address]map[chain.Hash]struct{}{{0xcc, 1}: {kept.Hash: {}}}
			}, "[01/0 03/0]",
		},
		{
			"a predecessor in an earlier lane is enough",
			[]*chain.VerifiedTx{m.in(chain.LaneRunner, m.transfer(1, 0, 1, limit)), m.transfer(1, 1, 90, limit)},
			nil, "[01/0 01/1]",
		},
		{
			"a predecessor in a later lane is not (resolution 11.15)",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.in(chain.LaneRunner, m.transfer(1, 1, 90, limit)), m.transfer(1, 2, 1, limit)},
			nil, "[01/0]",
		},
		{
			"parked ones wait",
			[]*chain.VerifiedTx{m.transfer(1, 1, 90, limit), m.transfer(2, 0, 1, limit)},
			nil, "[02/0]",
		},
		{
			"the byte cap counts frames",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.transfer(2, 0, 1, limit), m.transfer(3, 0, 1, limit)},
			func(r *PackRequest) { r.MaxBytes = 2*105 + 104 }, "[01/0 02/0]",
		},
		{
			"what does not fit lets smaller ones by",
			[]*chain.VerifiedTx{m.transfer(1, 0, 90, 10_000_000), m.transfer(2, 0, 50, 9_990_000), m.transfer(3, 0, 20, 20_000), m.transfer(4, 0, 1, limit), m.transfer(5, 0, 1, 10_000)},
			func(r *PackRequest) { p := *r.Params; p.CyclesCap = 20_000_000; r.Params = &p }, "[01/0 02/0 05/0]",
		},
		{"nothing", nil, nil, "[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := idle(t, params, view)
			mustAdmit(t, l, tt.have...)
			req := request(&params, view)
			if tt.change != nil {
				tt.change(req)
			}
			if got := byNonce(mustPack(t, l, req)); got != tt.want {
				t.Errorf("packed %s, want %s", got, tt.want)
			}
		})
	}
}

// TestPackReportsFaults: a read error is no verdict on a transaction.
func TestPackReportsFaults(t *testing.T) {
	params := chain.DefaultParams()
	l := idle(t, params, wealthy())
	var m maker
	bad := m.transfer(1, 0, 1, 30_000)
	bad.Sender = broken
	var fault *ReadError
	if err := l.Admit(t.Context(), []*chain.VerifiedTx{bad})[0]; !errors.As(err, &fault) || fault.Address != broken || !errors.Is(err, errDisk) {
		t.Errorf("admit: %v, want a read error", err)
	}
	l = idle(t, params, generous{})
	mustAdmit(t, l, bad)
	req := request(&params, wealthy())
	req.Height = 2 // else the account is known from the head
	if _, err := l.Pack(t.Context(), *req); !errors.As(err, &fault) {
		t.Errorf("pack: %v, want a read error", err)
	}
}

// TestPackIsAcceptedByTheVerifier packs random pools on random parents and
// holds every block against the rules as a verifier applies them: the order,
// then each transaction by itself, with random use of its limits. It also
// compares the selection with the rule written plainly. Rerun one case with
// -run 'TestPackIsAcceptedByTheVerifier/seed=3'.
func TestPackIsAcceptedByTheVerifier(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 5))
			params := chain.DefaultParams()
			view := accounts{}
			for i := range 40 {
				view = view.with(chain.Address{byte(i)}, uint64(rng.IntN(3)), chain.Wei(1_000_000+rng.IntN(400_000_000)))
			}
			l := idle(t, params, view)
			var m maker
			var known []*chain.VerifiedTx
			for range 700 {
				tx := randomTx(rng, &m, l)
				admit := admitUnclassified
				if tx.Lane == chain.LaneUser { // whose use is known to the pool
					admit = func(l *Lanes, tx *chain.VerifiedTx) error { return l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0] }
				}
				if admit(l, tx) == nil {
					known = append(known, tx)
				}
			}
			parent := view
			for i := range 40 { // an unfinalized block lies between
				a := chain.Address{byte(i)}
				parent = parent.with(a, view[a].Nonce+uint64(rng.IntN(3)), view[a].Balance-chain.Wei(rng.IntN(500_000)))
			}
			req := request(&params, parent)
			var ahead []*chain.VerifiedTx
			for range 3 {
				for _, i := range rng.Perm(40) {
					if a := (chain.Address{byte(i)}); parent[a].Nonce != view[a].Nonce {
						ahead = append(ahead, &chain.VerifiedTx{Sender: a})
					}
				}
			}
			req.Height, req.Before = 2, [][]*chain.VerifiedTx{ahead}
			if seed%4 == 0 { // or the parent is the head
				parent, req.Parent, req.Height = view, view, 1
			}
			binary.BigEndian.PutUint64(req.VRFOut[:], seed)
			for i := range req.BaseFees {
				req.BaseFees[i] = chain.FeePair{PerCycle: chain.Wei(1 + rng.IntN(12)), PerCell: chain.Wei(1 + rng.IntN(12))}
			}
			req.MaxBytes = 2_000 + rng.IntN(60_000)
			txs := mustPack(t, l, req)
			recheck(t, rng, req, txs)

			want := plainSelection(t, l, req, known)
			got := map[chain.Hash]bool{}
			for _, tx := range txs {
				got[tx.Hash] = true
			}
			for _, tx := range want {
				if !got[tx.Hash] {
					t.Errorf("%s should have been selected", names([]*chain.VerifiedTx{tx}))
				}
			}
			if len(want) != len(txs) {
				t.Errorf("selected %d, want %d", len(txs), len(want))
			}
			if seed == 0 {
				t.Logf("%d known, %d packed", len(known), len(txs))
			}
		})
	}
}

func randomTx(rng *rand.Rand, m *maker, l *Lanes) *chain.VerifiedTx {
	sender := byte(rng.IntN(40))
	nonce := uint64(rng.IntN(8))
	if next, err := l.pool.PendingNonce(chain.Address{sender}); err == nil && rng.IntN(3) > 0 {
		nonce = next
	}
	tx := m.transfer(sender, nonce, chain.Wei(rng.IntN(20)), chain.Cycles(25_000+rng.IntN(300_000)))
	tx.Lane = txLanes[min(rng.IntN(5), 2)]
	tx.Tx.CellsLimit = chain.Cells(rng.IntN(2) * rng.IntN(40_000))
	tx.Tx.TipPerCell = chain.Wei(rng.IntN(10))
	tx.Tx.Value = chain.Wei(rng.IntN(1_000))
	tx.Body = make([]byte, 90+rng.IntN(900))
	return tx
}

// recheck is a verifier that knows only the block, the parent and the rules.
func recheck(t *testing.T, rng *rand.Rand, req *PackRequest, txs []*chain.VerifiedTx) {
	t.Helper()
	if err := order.Check(req.VRFOut, txs); err != nil {
		t.Errorf("order: %v", err)
	}
	bodies := make([][]byte, len(txs))
	budget := fees.NewBudget(req.Params)
	now := map[chain.Address]*sched.Account{}
	for i, tx := range txs {
		bodies[i] = tx.Body
		s := now[tx.Sender]
		if s == nil {
			s = accountNow(t, req, tx.Sender)
			now[tx.Sender] = s
		}
		check := func(tx *chain.VerifiedTx) error {
			return fees.CheckSender(tx.Tx, req.BaseFees[tx.Lane], s.Nonce, s.Spendable)
		}
		if tx.Lane == chain.LaneUser { // the rest of the rule knows that a transfer is a user's
			check = func(tx *chain.VerifiedTx) error {
				return fees.Validate(tx, req.Params, testChain, req.BaseFees[tx.Lane], s.Nonce, s.Spendable)
			}
		}
		if err := check(tx); err != nil {
			t.Errorf("transaction %d: %v", i, err)
		}
		limits := chain.Usage{Cycles: tx.Tx.CyclesLimit, Cells: tx.Tx.CellsLimit}
		if !budget.Fits(tx.Lane, limits) {
			t.Errorf("transaction %d: limits %+v do not fit the %s lane", i, limits, tx.Lane)
		}
		used := chain.Usage{Cycles: chain.Cycles(rng.Uint64N(uint64(limits.Cycles) + 1)), Cells: chain.Cells(rng.Uint64N(uint64(limits.Cells) + 1))}
		if tx.Lane == chain.LaneUser { // a transfer, whose use is known
			used = usesOf(t, req.Params, tx)
		}
		budget.Take(tx.Lane, used)
		s.Nonce++
		s.Spendable -= tx.Tx.Value + chain.Wei(used.Cycles)*tx.Tx.MaxFeePerCycle + chain.Wei(used.Cells)*tx.Tx.MaxFeePerCell
	}
	block := chain.Block{Txs: bodies}
	empty := chain.Block{}
	if size := len(block.Encode()) - len(empty.Encode()); size > req.MaxBytes+4 { // the list's own head may grow by 4
		t.Errorf("bodies take %d bytes, at most %d were allowed", size, req.MaxBytes)
	}
}

// usesOf is the most that a transaction of these tests uses: a user's is a
// transfer, of the others only the limits are known.
func usesOf(t *testing.T, params *chain.Params, tx *chain.VerifiedTx) chain.Usage {
	t.Helper()
	if tx.Lane != chain.LaneUser {
		return chain.Usage{Cycles: tx.Tx.CyclesLimit, Cells: tx.Tx.CellsLimit}
	}
	ins, err := tx.Tx.Classify()
	if err != nil {
		t.Fatal(err)
	}
	return ins.Intrinsic(&params.Intrinsic)
}

// accountNow is a sender as the parent has it.
func accountNow(t *testing.T, req *PackRequest, addr chain.Address) *sched.Account {
	t.Helper()
	at, err := accountsAt(req.Parent, req.Height-1)(addr)
	if err != nil {
		t.Fatal(err)
	}
	return &at
}

// plainSelection is the selection rule without any index: as long as possible,
// of all that can run and fits, take the highest tier and in it the oldest.
func plainSelection(t *testing.T, l *Lanes, req *PackRequest, known []*chain.VerifiedTx) (out []*chain.VerifiedTx) {
	t.Helper()
	budget, bytes := fees.NewBudget(req.Params), req.MaxBytes
	now := map[chain.Address]*sched.Account{}
	gone := map[chain.Hash]bool{}
	for _, lane := range txLanes {
		var spare chain.Usage // largest unused limits of those taken for the lane
		for {
			var best sched.Place
			for _, tx := range known {
				p, ok := l.pool.Lookup(tx.Hash)
				uses := usesOf(t, req.Params, tx)
				needs := chain.Usage{
					Cycles: uses.Cycles + max(spare.Cycles, tx.Tx.CyclesLimit-uses.Cycles),
					Cells:  uses.Cells + max(spare.Cells, tx.Tx.CellsLimit-uses.Cells),
				}
				if !ok || gone[tx.Hash] || tx.Lane != lane || p.State != WaitReady || !budget.Fits(lane, needs) || len(tx.Body)+5 > bytes {
					continue
				}
				s := now[tx.Sender]
				if s == nil {
					s = accountNow(t, req, tx.Sender)
					now[tx.Sender] = s
				}
				if fees.CheckSender(tx.Tx, req.BaseFees[lane], s.Nonce, s.Spendable) != nil {
					continue
				}
				if best.Tx == nil || p.Tier > best.Tier || p.Tier == best.Tier && p.Seq < best.Seq {
					best = p
				}
			}
			if best.Tx == nil {
				break
			}
			cost, err := fees.MaxCost(best.Tx.Tx)
			if err != nil {
				t.Fatal(err)
			}
			gone[best.Tx.Hash] = true
			uses := usesOf(t, req.Params, best.Tx)
			budget.Take(lane, uses)
			spare.Cycles = max(spare.Cycles, best.Tx.Tx.CyclesLimit-uses.Cycles)
			spare.Cells = max(spare.Cells, best.Tx.Tx.CellsLimit-uses.Cells)
			bytes -= len(best.Tx.Body) + 5
			now[best.Tx.Sender].Nonce++
			now[best.Tx.Sender].Spendable -= cost
			out = append(out, best.Tx)
		}
	}
	return out
}
