package exec_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// marketChain is a chain on which a floor of 10 CBY makes a runner, and a week is 20 blocks.
func marketChain(t testing.TB, rich ...genesis.Allocation) *testChain {
	g := testGenesis(t, []chain.Wei{50}, rich...)
	p := &g.Params.Runner
	p.StakeFloor, p.HeartbeatTimeoutBlocks, p.UnbondingBlocks, p.OfferCooldownBlocks = 10*chain.WeiPerCBY, 5, 20, 4
	g.Params.Job.ChallengeWindowBlocks = 10
	return newTestChain(t, g)
}

// runnerTx is a transaction to the registry with value.
func (c *testChain) runnerTx(from chain.Address, value chain.Wei, payload []byte) *chain.VerifiedTx {
	tx := c.program(from, &chain.AddrRunnerRegistry, payload).Tx
	tx.Value = value
	if payload[1] == chain.OpRunnerHeartbeat {
		tx.CyclesLimit, tx.CellsLimit = 5_000, chain.Cells(len(payload))
	}
	return verified(tx, from)
}

func (c *testChain) runnerDoes(from chain.Address, value chain.Wei, payload []byte) chain.Receipt {
	c.t.Helper()
	return c.block(c.runnerTx(from, value, payload)).Receipts[0]
}

// offered are the forms of an offer that everybody takes.
func offered() (card *chain.RateCard, can *chain.Capabilities) {
	return &chain.RateCard{HTTPRequestBase: 10, ComputeSecond: 1},
		&chain.Capabilities{JobTypes: []chain.JobKind{chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: 4}
}

func registerPayload(largest chain.Wei, card *chain.RateCard, can *chain.Capabilities, attestation []byte, endpoint string) []byte {
	b := cbor.AppendUint(cbor.AppendArray(nil, 6), chain.OpRunnerRegister)
	b = cbor.AppendUint(b, uint64(largest))
	b = append(append(b, card.Encode()...), can.Encode()...)
	if attestation == nil {
		b = cbor.AppendNull(b)
	}
	return cbor.AppendText(append(b, attestation...), endpoint)
}

func plainRegistration(largest chain.Wei) []byte {
	card, can := offered()
	return registerPayload(largest, card, can, nil, "https://runner.example:8443/results")
}

func heartbeatPayload() []byte { return []byte{0x81, chain.OpRunnerHeartbeat} }

func opPayload(opcode uint64, args ...uint64) []byte {
	b := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
	for _, n := range args {
		b = cbor.AppendUint(b, n)
	}
	return b
}

func (c *testChain) runner(a chain.Address) *runners.Runner {
	c.t.Helper()
	r, err := runners.Read(c.state, a)
	if err != nil || r == nil {
		c.t.Fatalf("runner %s: %v, %v", a, r, err)
	}
	return r
}

// booksOf holds the registry's balance to the sum of what its records say.
func (c *testChain) registryBooks(all ...chain.Address) {
	c.t.Helper()
	var sum chain.Wei
	for _, a := range all {
		sum += c.runner(a).AtRisk()
	}
	if got := c.state.Balance(chain.AddrRunnerRegistry); got != sum {
		c.t.Errorf("the registry holds %d, its records say %d", got, sum)
	}
}

// TestRunnerLife registers a runner, lets it fall silent and come back, change its mind
// and its stake, leave with its money and return to its old place.
func TestRunnerLife(t *testing.T) { // CIP-2 §4; resolutions 12.1-12.4, 12.9, 12.82
	c := marketChain(t, rich(alice), rich(bob))
	ok := func(what string, r chain.Receipt) {
		t.Helper()
		if r.Code != chain.CodeOK {
			t.Fatalf("%s: %s", what, chain.CodeName(r.Code))
		}
	}
	const stake = 30 * chain.WeiPerCBY
	r := c.runnerDoes(alice, stake, plainRegistration(20*chain.WeiPerCBY))
	ok("register", r)
	if len(r.Events) != 1 || r.Events[0].Name != runners.EventRegistered {
		t.Errorf("events %+v", r.Events)
	}
	ok("register", c.runnerDoes(bob, stake, plainRegistration(0)))
	c.registryBooks(alice, bob)
	for range 4 {
		c.block()
	}
	// Alice was heard at 1, Bob at 2; the floor of block h takes who was heard before h - 5.
	ok("heartbeat", c.runnerDoes(bob, 0, heartbeatPayload())) // block 7: 1 < 7 - 5
	if c.runner(alice).Has(selection.Healthy) || !c.runner(bob).Has(selection.Healthy) {
		t.Fatal("the silent one is healthy, or the other is not")
	}
	r = c.runnerDoes(alice, 0, heartbeatPayload())
	if r.Code == chain.CodeOK { // the row that it gets back is paid for, 5,000 cycles are the body's
		t.Fatal("a return to life for the price of a heartbeat")
	}
	back := c.runnerTx(alice, 0, heartbeatPayload()).Tx
	back.CyclesLimit, back.CellsLimit = 40_000, 5_000
	r = c.block(verified(back, alice)).Receipts[0]
	ok("heartbeat after silence", r)
	if !c.runner(alice).Has(selection.Healthy) || len(r.Events) != 1 || r.Events[0].Name != runners.EventHealth {
		t.Fatalf("still silent; events %+v", r.Events)
	}
	ok("unstake", c.runnerDoes(bob, 0, opPayload(chain.OpRunnerUnstake, 20*uint64(chain.WeiPerCBY))))
	if r := c.runnerDoes(bob, 0, opPayload(chain.OpRunnerWithdraw)); r.Code != chain.CodeWrongState {
		t.Errorf("withdraw at once: %s", chain.CodeName(r.Code))
	}
	ok("deregister", c.runnerDoes(alice, 0, opPayload(chain.OpRunnerDeregister)))
	c.registryBooks(alice, bob)
	if _, err := c.try(c.runnerTx(alice, 0, heartbeatPayload())); !errors.Is(err, fees.ErrRole) {
		t.Errorf("a heartbeat of who has left: %v", err)
	}
	for range 20 {
		c.block()
	}
	before := c.state.Balance(alice)
	ok("withdraw", c.runnerDoes(alice, 0, opPayload(chain.OpRunnerWithdraw)))
	if got := c.state.Balance(alice); got < before+stake-chain.WeiPerCBY {
		t.Errorf("got back %d of %d", got-before, chain.Wei(stake))
	}
	ok("register again", c.runnerDoes(alice, stake, plainRegistration(0)))
	if got := c.runner(alice); got.Index != 0 || got.Registered != 1 {
		t.Errorf("came back as %d, registered at %d", got.Index, got.Registered)
	}
	c.registryBooks(alice, bob)
}

// TestRunnerRefusals: the smallest violation of every check of the registry has its code
// and changes nothing but the fee; its nearest valid neighbour passes (market table §5).
func TestRunnerRefusals(t *testing.T) {
	card, can := offered()
	with := func(change func(*chain.RateCard, *chain.Capabilities)) []byte {
		card, can := offered()
		change(card, can)
		return registerPayload(0, card, can, nil, "")
	}
	const floor = 10 * chain.WeiPerCBY
	for _, tt := range []struct {
		rule    string
		value   chain.Wei
		payload []byte
		code    uint16
	}{
		{"at the floor", floor, plainRegistration(0), chain.CodeOK},
		{"below the floor", floor - 1, plainRegistration(0), chain.CodeStakeTooLow},
		{"1.5 times the largest job", 15 * chain.WeiPerCBY, plainRegistration(10 * chain.WeiPerCBY), chain.CodeOK},
		{"one less", 15*chain.WeiPerCBY - 1, plainRegistration(10 * chain.WeiPerCBY), chain.CodeStakeTooLow},
		{"more than there is money", floor, plainRegistration(1<<64 - 1), chain.CodeStakeTooLow},
		{"no endpoint", floor, registerPayload(0, card, can, nil, ""), chain.CodeOK},
		{"endpoint without TLS", floor, registerPayload(0, card, can, nil, "http://x"), chain.CodeBadArgument},
		{"endpoint of nobody", floor, registerPayload(0, card, can, nil, "https://"), chain.CodeBadArgument},
		{"endpoint with a space", floor, registerPayload(0, card, can, nil, "https://a b"), chain.CodeBadArgument},
		{"known region", floor, with(func(_ *chain.RateCard, c *chain.Capabilities) { c.Regions = []string{"eu"} }), chain.CodeOK},
		{"unknown region", floor, with(func(_ *chain.RateCard, c *chain.Capabilities) { c.Regions = []string{"mars"} }), chain.CodeBadArgument},
		{"unknown enclave", floor, with(func(_ *chain.RateCard, c *chain.Capabilities) { e := "sgx2"; c.TEESupport = &e }), chain.CodeBadArgument},
		{"rates in a map without end", floor, append([]byte{0x86, 0x01, 0x00, 0xbf, 0xff}, plainRegistration(0)[4:]...), chain.CodeBadArgument},
	} {
		c := marketChain(t, rich(alice))
		before := c.state.Balance(alice)
		tx := c.runnerTx(alice, tt.value, tt.payload)
		if _, err := c.try(tx); err != nil {
			if tt.code != chain.CodeBadArgument || !errors.As(err, new(*exec.InvalidTx)) {
				t.Errorf("%s: %v", tt.rule, err)
			}
			continue // no canonical CBOR: in no block
		}
		r := c.block(tx).Receipts[0]
		if r.Code != tt.code {
			t.Errorf("%s: %s, want %s", tt.rule, chain.CodeName(r.Code), chain.CodeName(tt.code))
			continue
		}
		if tt.code == chain.CodeOK {
			c.registryBooks(alice)
			continue
		}
		if _, there := c.state.Storages[chain.AddrRunnerRegistry]; there || c.state.Balance(chain.AddrRunnerRegistry) != 0 {
			t.Errorf("%s: a refused registration left something", tt.rule)
		}
		if got := c.state.Balance(alice); got != before-r.Fee-r.Tip && got != before-r.Fee {
			t.Errorf("%s: it took %d, the fee is %d", tt.rule, before-got, r.Fee)
		}
	}
}

// attested is an attestation of grants under a key.
func attested(key *secp256k1.PrivateKey, by chain.Address, until chain.Height, ids ...string) *chain.RunnerAttestation {
	g := make(manifest.Grants, 0, len(ids))
	for _, id := range slices.Sorted(slices.Values(ids)) {
		g = append(g, manifest.Grant{ID: id})
	}
	a := &chain.RunnerAttestation{Runner: by, Capabilities: g.Append(nil), ValidUntil: until}
	sig := key.Sign(a.Digest())
	copy(a.Signature[:], sig.R[:])
	copy(a.Signature[32:], sig.S[:])
	a.Signature[64] = sig.YParity
	return a
}

// TestAttestations: an attestation is its runner's, of grants that the registry knows in
// ascending order, under its signature to the bit (E9-E11).
func TestAttestations(t *testing.T) { // entitlements §4, §5.1, Appendix B
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 31), 7))
	if err != nil {
		t.Fatal(err)
	}
	me := chain.Address(key.PublicKey().Address())
	attest := func(a *chain.RunnerAttestation) []byte {
		return append(cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpRunnerAttest), a.Encode()...)
	}
	c := marketChain(t, rich(me))
	if r := c.runnerDoes(me, 10*chain.WeiPerCBY, plainRegistration(0)); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	good := func() *chain.RunnerAttestation { return attested(key, me, 100, "oracle.llm", "accel.gpu") }
	for _, tt := range []struct {
		rule   string
		change func(*chain.RunnerAttestation)
		code   uint16
	}{
		{"as signed", func(*chain.RunnerAttestation) {}, chain.CodeOK},
		{"another's", func(a *chain.RunnerAttestation) { a.Runner[0] ^= 1 }, chain.CodeBadArgument},
		{"one bit of the signature", func(a *chain.RunnerAttestation) { a.Signature[40] ^= 1 }, chain.CodeBadProof},
		{"another parity", func(a *chain.RunnerAttestation) { a.Signature[64] ^= 1 }, chain.CodeBadProof},
		{"no parity", func(a *chain.RunnerAttestation) { a.Signature[64] = 2 }, chain.CodeBadProof},
		{"a block more", func(a *chain.RunnerAttestation) { a.ValidUntil++ }, chain.CodeBadProof},
		{"evidence added", func(a *chain.RunnerAttestation) { a.EvidenceHash = &chain.Hash{1} }, chain.CodeBadProof},
		{"nothing granted, as another signed", func(a *chain.RunnerAttestation) { a.Capabilities = []byte{0x80} }, chain.CodeBadProof},
		{"unknown grant", func(a *chain.RunnerAttestation) { *a = *attested(key, me, 100, "no.such") }, chain.CodeBadArgument},
	} {
		a := good()
		tt.change(a)
		r := c.runnerDoes(me, 0, attest(a))
		if r.Code != tt.code {
			t.Errorf("%s: %s, want %s", tt.rule, chain.CodeName(r.Code), chain.CodeName(tt.code))
		}
		o, err := runners.ReadOffer(c.state, me)
		if err != nil || o.Attestation == nil || o.Attestation.Digest() != good().Digest() {
			t.Fatalf("%s: the registry holds %+v, %v", tt.rule, o, err)
		}
	}
}

// noRows is a state in which nobody can be looked up in the registry.
type noRows struct{ *statetest.Maps }

func (s noRows) Storage(a chain.Address, k state.StorageKey) ([]byte, error) {
	if a == chain.AddrRunnerRegistry {
		return nil, statetest.ErrRead
	}
	return s.Maps.Storage(a, k)
}

// TestOnlyRunnersAreHeard: what runners alone may send stands in no block of anybody
// else, and a state that cannot be read is no verdict (resolution 11.13).
func TestOnlyRunnersAreHeard(t *testing.T) {
	c := marketChain(t, rich(alice))
	for _, op := range []uint64{chain.OpRunnerHeartbeat, chain.OpRunnerDeregister, chain.OpRunnerReturn} {
		var invalid *exec.InvalidTx
		if _, err := c.try(c.runnerTx(alice, 0, opPayload(op))); !errors.As(err, &invalid) || !errors.Is(err, fees.ErrRole) {
			t.Errorf("instruction %d of nobody: %v", op, err)
		}
	}
	in, tx := c.inputs(), c.runnerTx(alice, 0, heartbeatPayload())
	if _, err := exec.Apply(noRows{c.state}, in, []*chain.VerifiedTx{tx}); !errors.Is(err, statetest.ErrRead) || errors.As(err, new(*exec.InvalidTx)) {
		t.Errorf("an unreadable registry: %v", err)
	}
}

// TestVotesLeaveStakesFree: a vote that takes away what an offer names shuts nobody out who
// only adds to a stake or leaves; an update rewrites an offer at the price of its bytes, and
// one that changes nothing of it does not pay for it.
func TestVotesLeaveStakesFree(t *testing.T) { // resolution 12.4
	c := marketChain(t, rich(alice))
	card, can := offered()
	can.Regions = []string{"eu"}
	for n := range 250 {
		can.HTTPDomains = append(can.HTTPDomains, fmt.Sprintf("a%03d.example", n))
	}
	slices.Sort(can.HTTPDomains)
	if r := c.runnerDoes(alice, 20*chain.WeiPerCBY, registerPayload(0, card, can, nil, "https://a.example/results")); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	c.g.Params.Regions, c.g.Params.Runner.MaxEndpointBytes = []string{"us"}, 8
	null := cbor.AppendNull(nil)
	update := func(endpoint []byte) []byte {
		b := cbor.AppendUint(cbor.AppendArray(nil, 6), chain.OpRunnerUpdate)
		return append(append(append(append(append(b, null...), null...), null...), null...), endpoint...)
	}
	topUp := c.runnerDoes(alice, chain.WeiPerCBY, update(null))
	if topUp.Code != chain.CodeOK || c.runner(alice).Stake != 21*chain.WeiPerCBY {
		t.Errorf("adding to the stake: %s", chain.CodeName(topUp.Code))
	}
	c.g.Params.Runner.MaxEndpointBytes = 256
	moved := c.runnerDoes(alice, 0, update(cbor.AppendText(nil, "https://b.example/results")))
	if moved.Code != chain.CodeOK {
		t.Fatalf("another endpoint: %s", chain.CodeName(moved.Code))
	}
	if moved.CellsUsed < topUp.CellsUsed+3_000 || moved.CyclesUsed < topUp.CyclesUsed+30_000 {
		t.Errorf("an offer of %d bytes written again takes %d cycles and %d cells, a top-up %d and %d",
			len(can.Encode()), moved.CyclesUsed, moved.CellsUsed, topUp.CyclesUsed, topUp.CellsUsed)
	}
	if moved := c.runnerDoes(alice, 0, update(cbor.AppendText(nil, "https://"))); moved.Code != chain.CodeBadArgument {
		t.Errorf("an endpoint of nobody: %s", chain.CodeName(moved.Code))
	}
	if r := c.runnerDoes(alice, 0, opPayload(chain.OpRunnerDeregister)); r.Code != chain.CodeOK {
		t.Errorf("leaving: %s", chain.CodeName(r.Code))
	}
}

// TestStakeLeavesAFullState: whoever takes money out keeps no new row, so the price of new
// rows does not hold it back (resolution 12.2; ADR 62).
func TestStakeLeavesAFullState(t *testing.T) {
	c := marketChain(t, rich(alice))
	if r := c.runnerDoes(alice, 20*chain.WeiPerCBY, plainRegistration(0)); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	c.g.Params.State.LimitBytes = 1 << 10 // the state is far beyond it
	for _, payload := range [][]byte{opPayload(chain.OpRunnerUnstake, uint64(chain.WeiPerCBY)), opPayload(chain.OpRunnerDeregister)} {
		if r := c.runnerDoes(alice, 0, payload); r.Code != chain.CodeOK {
			t.Errorf("payload %x: %s", payload, chain.CodeName(r.Code))
		}
	}
}

// TestPagesArePaid: whatever changes a runner pays for its copies on the pages, a heartbeat
// of one that is healthy changes none.
func TestPagesArePaid(t *testing.T) { // ADR 214
	const pages = 4_608 // bytes, when they are full
	c := marketChain(t, rich(alice))
	for _, tt := range []struct {
		rule    string
		value   chain.Wei
		payload []byte
		least   chain.Cells
	}{
		{"registering", 20 * chain.WeiPerCBY, plainRegistration(0), pages / 2},
		{"pausing", 0, cbor.AppendBool(cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpRunnerPause), true), pages / 2},
		{"unstaking", 0, opPayload(chain.OpRunnerUnstake, 1), pages / 2},
		{"a heartbeat", 0, heartbeatPayload(), 0},
	} {
		r := c.runnerDoes(alice, tt.value, tt.payload)
		if own := r.CellsUsed - chain.Cells(len(tt.payload)); r.Code != chain.CodeOK || own < tt.least || tt.least == 0 && own != 0 {
			t.Errorf("%s: %s, %d cells besides its payload, want %d", tt.rule, chain.CodeName(r.Code), own, tt.least)
		}
	}
}

// TestLongOffersAreNotRead: what is longer than an offer may be is refused before it is read,
// let alone charged.
func TestLongOffersAreNotRead(t *testing.T) {
	c := marketChain(t, rich(alice))
	card, can := offered()
	can.HTTPDomains = nil
	for n := range 256 {
		can.HTTPDomains = append(can.HTTPDomains, fmt.Sprintf("xn--%03d%s.example", n, strings.Repeat("a", 50)))
	}
	r := c.runnerDoes(alice, 20*chain.WeiPerCBY, registerPayload(0, card, can, nil, "https://a.example/results"))
	if r.Code != chain.CodeBadArgument || r.CyclesUsed != 21_000 {
		t.Errorf("an offer of %d bytes: %s after %d cycles", len(can.Encode()), chain.CodeName(r.Code), r.CyclesUsed)
	}
}

// TestUnstakingTwiceInABlock: what unbonds since one height is one, also beside seven others.
func TestUnstakingTwiceInABlock(t *testing.T) { // resolution 11.30
	c := marketChain(t, rich(alice))
	if r := c.runnerDoes(alice, 20*chain.WeiPerCBY, plainRegistration(0)); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	one := opPayload(chain.OpRunnerUnstake, 1)
	for range runners.MaxTranches - 1 {
		if r := c.runnerDoes(alice, 0, one); r.Code != chain.CodeOK {
			t.Fatal(chain.CodeName(r.Code))
		}
	}
	first, second := c.runnerTx(alice, 0, one), c.runnerTx(alice, 0, one).Tx
	second.Nonce++
	for i, r := range c.block(first, verified(second, alice)).Receipts {
		if r.Code != chain.CodeOK {
			t.Errorf("unstaking %d of the block: %s", i, chain.CodeName(r.Code))
		}
	}
	if r := c.runnerDoes(alice, 0, one); r.Code != chain.CodeLimitReached {
		t.Errorf("the ninth height: %s", chain.CodeName(r.Code))
	}
}
