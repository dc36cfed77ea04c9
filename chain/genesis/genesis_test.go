package genesis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

var rewriteProfiles = flag.Bool("rewrite-profiles", false, "write profiles/genesis from the code")

const profiles = "../../profiles/genesis"

// testValidators returns n validators whose points have the right shape. They
// are no real keys: chain checks shapes only.
func testValidators(n int) []chain.Validator {
	set := make([]chain.Validator, n)
	for i := range set {
		v := &set[i]
		v.PeerKey = chain.PeerKey{0: byte(i + 1)}
		v.BLSKey = [96]byte{0: 0x80, 95: byte(i + 1)}
		v.BLSPossession = [48]byte{0: 0xa0, 47: byte(i + 1)}
		v.ShareIndex = uint32(i)
		v.PublicShare = [96]byte{0: 0x80, 94: byte(i + 1)}
		v.Stake = 50_000 * chain.WeiPerCBY
		v.RewardAddress = chain.Address{0: 0xaa, 19: byte(i + 1)}
	}
	return set
}

func testPolynomial(n int) [][96]byte {
	points := make([][96]byte, chain.Quorum(n))
	for i := range points {
		points[i] = [96]byte{0: 0x80, 93: byte(i + 1)}
	}
	return points
}

// testTables stand for a build's: this package knows no machine.
var testTables = params.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}

// testGenesis returns a complete devnet genesis with n validators.
func testGenesis(t testing.TB, n int) *genesis.Genesis {
	t.Helper()
	g := genesis.DevnetTemplate()
	g.Params.Machine = testTables
	points := testPolynomial(n)
	accounts := []genesis.Allocation{{Name: "dev-1", Address: chain.Address{0: 1}, Amount: 1_000 * chain.WeiPerCBY}}
	if err := g.Complete(testValidators(n), points[0], points, accounts, 1_700_000_000_000); err != nil {
		t.Fatal(err)
	}
	return g
}

func marshal(t testing.TB, g *genesis.Genesis) []byte {
	t.Helper()
	b, err := g.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestProfiles holds the files to the code that defines them. Run it with
// -rewrite-profiles after a change of the defaults.
func TestProfiles(t *testing.T) {
	for _, want := range []*genesis.Genesis{genesis.MainnetParamsTemplate(), genesis.UnboundedTemplate()} {
		name := filepath.Join(profiles, want.Name+".json")
		if *rewriteProfiles {
			if err := os.WriteFile(name, marshal(t, want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := genesis.ParseTemplate(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Hash() != want.Hash() || !bytes.Equal(b, marshal(t, want)) {
			t.Errorf("%s differs from the code: run go test ./chain/genesis -run TestProfiles -rewrite-profiles", name)
		}
	}
}

func TestTemplatesHoldTheBuckets(t *testing.T) { // whitepaper §8.1, §8.3
	for _, g := range []*genesis.Genesis{genesis.MainnetParamsTemplate(), genesis.UnboundedTemplate(), genesis.DevnetTemplate()} {
		if err := g.CheckTemplate(); err != nil {
			t.Fatalf("%s: %v", g.Name, err)
		}
		sums := map[string]chain.Wei{}
		for _, a := range g.Allocations {
			sums[a.Bucket] += a.Amount
			if a.Bucket == genesis.BucketInvestors && a.Vesting == nil {
				t.Errorf("%s: investor %q does not vest", g.Name, a.Name)
			}
		}
		want := map[string]chain.Wei{"validators": 25e16, "treasury": 25e16, "ecosystem": 30e16, "investors": 20e16}
		if g.Supply != 1e18 || !reflect.DeepEqual(sums, want) {
			t.Errorf("%s: supply %d in buckets %v, want 10^18 in %v", g.Name, g.Supply, sums, want)
		}
	}
	if !genesis.MainnetParamsTemplate().Params.Job.RequirePrice || genesis.DevnetTemplate().Params.Job.RequirePrice {
		t.Error("job.require_price: want true on mainnet-params, false on a devnet (resolution 11.49)")
	}
	if mainnet, dev := genesis.MainnetParamsTemplate().Params.Job.ChallengeWindowBlocks, genesis.DevnetTemplate().Params.Job.ChallengeWindowBlocks; mainnet != 900 || dev != 20 {
		t.Errorf("job.challenge_window_blocks: %d and %d, want 900 on mainnet-params, 20 on a devnet", mainnet, dev)
	}
	if mainnet, dev := genesis.MainnetParamsTemplate().Params.Job.SelectionSeed, genesis.DevnetTemplate().Params.Job.SelectionSeed; mainnet != params.SelectionSeedBeacon || dev != params.Default().Job.SelectionSeed {
		t.Errorf("job.selection_seed: %q and %q: the profile of real validators alone takes the beacon (resolution 12.83)", mainnet, dev)
	}
}

func TestDevelopmentAccountsAreTheirKeys(t *testing.T) {
	g := genesis.MainnetParamsTemplate()
	addresses := map[string]chain.Address{}
	for _, a := range g.Allocations {
		if a.Address != chain.AddrTreasury {
			addresses[a.Name] = a.Address
		}
	}
	for i, member := range g.Params.Governance.Members {
		addresses["governor-"+string(rune('1'+i))] = member
	}
	for name, address := range addresses {
		key := genesis.DevelopmentKey(name)
		sk, err := secp256k1.ParsePrivateKey(key[:])
		if err != nil {
			t.Fatal(err)
		}
		if got := chain.Address(sk.PublicKey().Address()); got != address {
			t.Errorf("development account %q is %v, its key's address is %v", name, address, got)
		}
	}
}

func TestCompleteKeepsTheSupply(t *testing.T) {
	for _, n := range []int{1, 4, 7} {
		g := testGenesis(t, n)
		sum := chain.Wei(0)
		for _, v := range g.Validators {
			sum += v.Stake
		}
		for _, a := range g.Allocations {
			sum += a.Amount
		}
		if sum != g.Supply || g.Supply != genesis.InitialSupply {
			t.Errorf("n=%d: stakes and allocations add up to %d, supply is %d", n, sum, g.Supply)
		}
	}
}

func TestCompleteRefuses(t *testing.T) {
	points := testPolynomial(1)
	f := func(want string, validators []chain.Validator, accounts []genesis.Allocation) {
		t.Helper()
		g := genesis.DevnetTemplate()
		g.Params.Machine = testTables
		before := g.Hash()
		err := g.Complete(validators, points[0], points, accounts, 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Complete = %v, want an error with %q", err, want)
		}
		if g.Hash() != before {
			t.Errorf("%s: a refused Complete changed the template", want)
		}
	}
	rich := testValidators(1)
	rich[0].Stake = 26e16
	f("stake of validator", rich, nil)
	f("validators is empty", nil, nil)
	f("polynomial has 1 points, want 3", testValidators(4), nil)
	f(`account "greedy"`, testValidators(1), []genesis.Allocation{{Name: "greedy", Address: chain.Address{1}, Amount: 31e16}})
	f("has an allocation already", testValidators(1), []genesis.Allocation{{Name: "a", Address: chain.Address{1}, Amount: 1}, {Name: "b", Address: chain.Address{1}, Amount: 1}})
	f("reserved for a system actor", testValidators(1), []genesis.Allocation{{Name: "a", Address: chain.AddrStaking, Amount: 1}})
}

func TestGenesisRoundTrip(t *testing.T) {
	for _, n := range []int{1, 4} {
		g := testGenesis(t, n)
		b := marshal(t, g)
		got, err := genesis.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, g) || got.Hash() != g.Hash() {
			t.Errorf("n=%d: parsed genesis differs", n)
		}
		if again := marshal(t, got); !bytes.Equal(again, b) {
			t.Errorf("n=%d: a second encoding differs", n)
		}
	}
}

// TestHashIsOfTheMeaning rewrites the file in ways that change no meaning.
func TestHashIsOfTheMeaning(t *testing.T) {
	g := testGenesis(t, 1)
	b := marshal(t, g)
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(tree) // members in another order
	if err != nil {
		t.Fatal(err)
	}
	number := bytes.Replace(b, []byte(`"supply": "1000000000000000000"`), []byte(`"supply": 1000000000000000000`), 1)
	upper := bytes.Replace(b, []byte(`0xd01024f2bff8`), []byte(`0xD01024F2BFF8`), 1)
	escaped := bytes.Replace(b, []byte(`"devnet",`), []byte(`"\u0064evnet",`), 1)
	for name, text := range map[string][]byte{"compact": compact.Bytes(), "sorted": sorted, "number": number, "upper": upper, "escaped": escaped} {
		if bytes.Equal(text, b) {
			t.Fatalf("%s: the text was not rewritten", name)
		}
		got, err := genesis.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.Hash() != g.Hash() {
			t.Errorf("%s: another hash for the same genesis", name)
		}
	}
}

// TestSystemAccountsAreListed: whoever reads a genesis finds every account of the
// protocol by its name.
func TestSystemAccountsAreListed(t *testing.T) {
	source, err := os.ReadFile("../addresses.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[chain.Address]bool{}
	for _, a := range genesis.MainnetParamsTemplate().SystemActors {
		listed[a.Address] = true
	}
	found := regexp.MustCompile(`(?m)^\s*(Addr\w+)\s*= SystemAddress\(0x([0-9a-f]+)\)`).FindAllSubmatch(source, -1)
	for _, m := range found {
		n, err := strconv.ParseUint(string(m[2]), 16, 16)
		if err != nil || !listed[chain.SystemAddress(uint16(n))] {
			t.Errorf("%s stands in no genesis: add it to systemActors", m[1])
		}
	}
	if len(found) < 17 || len(found) != len(listed) {
		t.Errorf("%d accounts in addresses.go, %d in the genesis", len(found), len(listed))
	}
}

func TestHashCoversEveryField(t *testing.T) {
	g := testGenesis(t, 1)
	seen := map[chain.Hash]string{g.Hash(): "unchanged"}
	b := marshal(t, g)
	lines := bytes.Split(b, []byte("\n"))
	for i, line := range lines {
		digit := bytes.LastIndexAny(line, "0123456789")
		if digit < 0 {
			continue
		}
		changed := slices.Clone(line)
		changed[digit] = '0' + (changed[digit]-'0'+1)%10
		text := slices.Concat(bytes.Join(lines[:i], []byte("\n")), []byte("\n"), changed, []byte("\n"), bytes.Join(lines[i+1:], []byte("\n")))
		hash, err := genesis.HashUnchecked(text)
		if err != nil {
			continue // a leading zero or an unknown field: refused anyway
		}
		if before, twice := seen[hash]; twice {
			t.Errorf("line %q changes nothing in the hash (as %s)", line, before)
		}
		seen[hash] = string(line)
	}
	if len(seen) < 150 {
		t.Errorf("only %d changes were tried", len(seen))
	}
}

func TestParseGenesisNamesTheField(t *testing.T) {
	good := string(marshal(t, testGenesis(t, 1)))
	f := func(want, old, replacement string) {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("the genesis does not contain %q", old)
		}
		_, err := genesis.Parse([]byte(strings.Replace(good, old, replacement, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q for %q: error %v, want one with %q", replacement, old, err, want)
		}
	}
	f("genesis format 1, this build reads 3", `"format": 3,`, ``)
	f("genesis format 4, this build reads 3", `"format": 3,`, `"format": 4, "more": 1,`)
	f("genesis format that is no number", `"format": 3,`, `"format": "2",`)
	f("params.cycles_targets: unknown field", `"cycles_target"`, `"cycles_targets"`)
	f("params.cip11.surprise: unknown field", `"cip11": {`, `"cip11": {"surprise": 1,`)
	f(`params."Cycles_target": unknown field`, `"cycles_target"`, `"Cycles_target"`)
	f("params.cycles_cap: field stands twice", `"cycles_cap": 20000000,`, `"cycles_cap": 20000000, "cycles_cap": 20000000,`)
	f("params.cycles_cap: field is missing", `"cycles_cap": 20000000,`, ``)
	f("params.cycles_cap: null is no value here", `"cycles_cap": 20000000`, `"cycles_cap": null`)
	f("params.cycles_cap: string", `"cycles_cap": 20000000`, `"cycles_cap": "20000000"`)
	f("params.cycles_cap: number", `"cycles_cap": 20000000`, `"cycles_cap": 2e7`)
	f("params.cycles_cap: number", `"cycles_cap": 20000000`, `"cycles_cap": -1`)
	f(`params.min_base_fee: "01"`, `"min_base_fee": "1"`, `"min_base_fee": "01"`)
	f(`params.min_base_fee: "-1"`, `"min_base_fee": "1"`, `"min_base_fee": "-1"`)
	f(`params.min_base_fee: ""`, `"min_base_fee": "1"`, `"min_base_fee": ""`)
	f(`supply: "18446744073709551616"`, `"supply": "1000000000000000000"`, `"supply": "18446744073709551616"`)
	f(`beacon: "0x`, `"beacon": "0x`, `"beacon": "0x00`)
	f("params.lane_share_basis_points add up to 10001", `"user": 5000`, `"user": 5001`)
	f("params.lane_share_basis_points.lanes: unknown field", `"user": 5000`, `"user": 5000, "lanes": 1`)
	f("params.initial_base_fee.per_cell: field is missing", `"per_cycle": "1",`+"\n"+`      "per_cell": "1"`, `"per_cycle": "1"`)
	f("validators[0].stake", `"stake": "50000000000000"`, `"stake": "49999999999999"`)
	f("supply", `"supply": "1000000000000000000"`, `"supply": "999999999999999999"`)
	f("add up to 1 less", `"amount": "1000000000000"`, `"amount": "999999999999"`)
	f("params.initial_base_fee", `"min_base_fee": "1"`, `"min_base_fee": "2"`)
	f("params.timer.initial_base_fee", `"initial_base_fee": "1000000"`, `"initial_base_fee": "0"`)
	f("name", `"name": "devnet"`, `"name": "dev net"`)
	f("chain_id", `"chain_id": 1337`, `"chain_id": 0`)
}

func TestParseGenesisShape(t *testing.T) {
	good := marshal(t, testGenesis(t, 1))
	f := func(name, want string, b []byte) {
		t.Helper()
		if _, err := genesis.Parse(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	f("empty", "not JSON", nil)
	f("truncated", "not JSON", good[:len(good)/2])
	f("text after the end", "text follows", append(slices.Clone(good), '1'))
	f("second document", "text follows", append(slices.Clone(good), good...))
	f("another value", "genesis", []byte(`"genesis"`))
	f("list", "genesis", []byte(`[]`))
	f("deep", "nested deeper", []byte(strings.Repeat("[", 1_000)))
	f("many values", "more than", []byte("["+strings.Repeat("0,", 5<<20)+"0]"))
	f("template", "validators is empty", marshal(t, genesis.DevnetTemplate()))
	if _, err := genesis.Parse(make([]byte, genesis.MaxBytes+1)); !errors.Is(err, genesis.ErrSize) {
		t.Errorf("oversized file: %v, want ErrGenesisSize", err)
	}
	if _, err := genesis.ParseTemplate(good); err == nil || !strings.Contains(err.Error(), "not a template") {
		t.Errorf("complete genesis as template: %v", err)
	}
}

func TestGenesisCheck(t *testing.T) {
	f := func(name, want string, n int, change func(*genesis.Genesis)) {
		t.Helper()
		g := testGenesis(t, n)
		change(g)
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Check = %v, want an error with %q", name, err, want)
		}
	}
	f("order", "peer_key is not above", 4, func(g *genesis.Genesis) {
		g.Validators[0].PeerKey, g.Validators[1].PeerKey = g.Validators[1].PeerKey, g.Validators[0].PeerKey
	})
	f("share index", "validators[2].share_index = 3", 4, func(g *genesis.Genesis) { g.Validators[2].ShareIndex = 3 })
	f("same key", "bls_key is also that of validators[0]", 4, func(g *genesis.Genesis) { g.Validators[3].BLSKey = g.Validators[0].BLSKey })
	f("no point", "validators[1].public_share", 4, func(g *genesis.Genesis) { g.Validators[1].PublicShare = [96]byte{} })
	f("reward", "reward_address", 1, func(g *genesis.Genesis) { g.Validators[0].RewardAddress = chain.AddrTreasury })
	f("group key", "group_key differs", 1, func(g *genesis.Genesis) { g.GroupKey[90] = 9 })
	f("threshold", "polynomial has 2 points, want 3", 4, func(g *genesis.Genesis) { g.Polynomial = g.Polynomial[:2] })
	f("beacon", "beacon is zero", 1, func(g *genesis.Genesis) { g.Beacon = chain.Hash{} })
	f("time", "timestamp_ms", 1, func(g *genesis.Genesis) { g.TimestampMillis = 0 })
	f("cost table", "params.machine.cost_table is zero", 1, func(g *genesis.Genesis) { g.Params.Machine.CostTable = chain.Hash{} })
	f("texts", "params.machine.exception_texts is zero", 1, func(g *genesis.Genesis) { g.Params.Machine.ExceptionTexts = chain.Hash{} })
	f("bucket", "bucket", 1, func(g *genesis.Genesis) { g.Allocations[0].Bucket = "friends" })
	f("cliff", "vesting.cliff_blocks", 1, func(g *genesis.Genesis) {
		g.Allocations[0].Vesting = &genesis.Vesting{CliffBlocks: 2, DurationBlocks: 1}
	})
	f("actor order", "system_actors[1]", 1, func(g *genesis.Genesis) { g.SystemActors[1] = g.SystemActors[0] })
	f("actor range", "outside the reserved range", 1, func(g *genesis.Genesis) { g.SystemActors[0].Address = chain.Address{1} })
	f("flag without margin", "selection_seed_margin_ms", 4, func(g *genesis.Genesis) { g.Params.CIP11.PresentFirstEnabled = true })

	g := testGenesis(t, 4)
	g.Params.CIP11.PresentFirstEnabled, g.Params.CIP11.SelectionSeedMarginMillis = true, 1
	if err := g.Check(); err != nil {
		t.Errorf("flag with recorded margin: %v", err)
	}
	g = testGenesis(t, 1)
	g.Params.CIP11.PresentFirstEnabled = true
	if err := g.Check(); err != nil {
		t.Errorf("flag with one validator: %v", err)
	}
}

func TestQuorum(t *testing.T) { // n-f of n = 3f+1
	for n, want := range []int{0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7} {
		if got := chain.Quorum(n); got != want {
			t.Errorf("Quorum(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestLockedAt(t *testing.T) { // whitepaper §8.3
	l := genesis.Lock{Amount: 1_000, Vesting: genesis.Vesting{StartHeight: 10, CliffBlocks: 3, DurationBlocks: 7}}
	f := func(h chain.Height, want chain.Wei) {
		t.Helper()
		if got := l.LockedAt(h); got != want {
			t.Errorf("LockedAt(%d) = %d, want %d", h, got, want)
		}
	}
	f(0, 1_000)
	f(10, 1_000)
	f(12, 1_000) // one block before the cliff
	f(13, 572)   // 3/7 free, rounded down: 428
	f(16, 143)   // 6/7: 857
	f(17, 0)
	f(1<<63, 0)
	l.Amount = 1<<64 - 1
	f(13, 1<<64-1-7_905_747_460_161_236_406) // the product needs 128 bits
}

func TestLockMeta(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		d := 1 + rng.Uint64N(1<<40)
		want := genesis.Lock{Amount: chain.Wei(rng.Uint64()), Vesting: genesis.Vesting{
			StartHeight: chain.Height(rng.Uint64N(1 << 40)), CliffBlocks: rng.Uint64N(d + 1), DurationBlocks: d,
		}}
		meta := want.AppendMeta(nil)
		got, ok, err := genesis.ParseLock(meta)
		if err != nil || !ok || got != want {
			t.Fatalf("ParseLock(%x) = %+v, %v, %v, want %+v", meta, got, ok, err, want)
		}
		for i := range meta {
			if _, ok, err := genesis.ParseLock(meta[:i]); ok || err == nil && i > 0 {
				t.Fatalf("truncated metadata %x was accepted", meta[:i])
			}
		}
	}
	if _, ok, err := genesis.ParseLock(nil); ok || err != nil {
		t.Errorf("no metadata: %v, %v", ok, err)
	}
	if _, ok, err := genesis.ParseLock([]byte{0x81, 0x02}); ok || err != nil {
		t.Errorf("metadata of another form: %v, %v", ok, err)
	}
}

func BenchmarkParseGenesis(b *testing.B) {
	text := marshal(b, testGenesis(b, 4))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := genesis.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzParseGenesis(f *testing.F) {
	f.Add(marshal(f, testGenesis(f, 1)))
	f.Add(marshal(f, genesis.DevnetTemplate()))
	f.Add([]byte(`{"name":"x","params":{}}`))
	f.Add([]byte(`[[[[null]]]]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := genesis.Parse(b)
		if err != nil {
			return
		}
		again, err := genesis.Parse(marshal(t, g))
		if err != nil || again.Hash() != g.Hash() {
			t.Errorf("an accepted genesis does not survive its own encoding: %v", err)
		}
	})
}

func FuzzParseLock(f *testing.F) {
	l := genesis.Lock{Amount: 5, Vesting: genesis.Vesting{DurationBlocks: 1}}
	f.Add(l.AppendMeta(nil))
	f.Fuzz(func(t *testing.T, meta []byte) {
		if l, ok, err := genesis.ParseLock(meta); ok && err == nil && !bytes.Equal(l.AppendMeta(nil), meta) {
			t.Errorf("ParseLock accepted %x, which is not how it is written", meta)
		}
	})
}
