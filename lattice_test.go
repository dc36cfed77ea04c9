package cowboy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// lattice says what each package may import of this module: the packages behind its
// colon, what those may import, and what stands there in turn. A line names only
// packages of lines above it, so there are no circles and the text reads upwards from
// the machine to the programs. Tests may import more.
//
// A new package gets a line; an arrow that a change needs is written here first, where
// a reviewer sees it. Arrows that no import uses are struck out.
const lattice = `
# The machine: instructions, hashes, signatures.
asm/cpu:
asm/keccak: asm/cpu
asm/secp: asm/cpu
crypto/bls:
crypto/ed25519:
crypto/erasure: asm/cpu
crypto/keccak: asm/keccak
crypto/secp256k1: asm/secp crypto/keccak
crypto/vrf: crypto/bls crypto/keccak

# What the protocol writes down.
chain/cbor:
chain: chain/cbor crypto/keccak
chain/document: chain
chain/params: chain/document
chain/genesis: chain/params
chain/attest: chain crypto/bls crypto/ed25519
chain/ceremony: chain/genesis crypto/bls
chain/epoch: chain/genesis
chain/fees: chain/genesis
chain/order: chain

# The state, and how it lies on disk.
state/owner:
state/journal: state/owner
state/rlp:
state/blocklog: chain
state: chain state/rlp
state/rent: state
state/roles: state
state/tree: state
state/checkpoint: state/tree
state/store: state/blocklog state/tree
state/snapshot: state/checkpoint state/store

# Consensus: what is agreed upon, how, and who drives it.
consensus/beacon: chain/attest chain/epoch
consensus/simplex: consensus/beacon
consensus/guard: consensus/simplex
consensus/hashed: consensus/simplex
consensus/shards: consensus/beacon crypto/erasure
consensus/wire: consensus/shards consensus/simplex
consensus/engine: consensus/wire
consensus/simtest: consensus/hashed consensus/wire

# The Python machine. It knows the chain through exec/pvm/host alone.
exec/pvm/ucd:
exec/pvm/softfloat:
exec/pvm/decimal:
exec/pvm/code:
exec/pvm/libm: exec/pvm/softfloat
exec/pvm/regex: exec/pvm/ucd
exec/pvm/format: exec/pvm/softfloat exec/pvm/ucd
exec/pvm/syntax: exec/pvm/softfloat exec/pvm/ucd
exec/pvm/scope: exec/pvm/syntax
exec/pvm/gate: exec/pvm/scope
exec/pvm/compile: exec/pvm/code exec/pvm/format exec/pvm/scope
exec/pvm/continuation: exec/pvm/compile
exec/pvm/vm: exec/pvm/code exec/pvm/format exec/pvm/gate exec/pvm/libm
exec/pvm/values: exec/pvm/vm
exec/pvm/host: chain exec/pvm/code
exec/pvm/lib: crypto/keccak exec/pvm/compile exec/pvm/decimal exec/pvm/regex exec/pvm/values
exec/pvm/sdk: crypto/ed25519 crypto/secp256k1 exec/pvm/compile exec/pvm/host exec/pvm/values
exec/pvm: exec/pvm/continuation exec/pvm/lib exec/pvm/sdk

# System services, none of which knows another, then actors, blocks, and blocks in parallel.
exec/verdict: chain
exec/manifest: chain/params exec/pvm/ucd
exec/funds: chain/fees exec/verdict state/rent
exec/service: exec/funds
exec/mailbox: state
exec/entitlements: exec/service
exec/timers: exec/service
exec/token: exec/service
exec/rent: exec/service
exec/governance: exec/manifest exec/service
exec/market/judge/strictjson:
exec/market/judge: chain exec/market/judge/strictjson
exec/staking: chain/attest exec/service
exec/market/selection: exec/manifest
exec/market/runners: crypto/secp256k1 exec/market/selection exec/service state/roles
exec/market/jobs: exec/market/judge exec/market/runners
exec/market/jobs/ask: exec/manifest
exec/market/books: exec/market/jobs
exec/market: exec/market/jobs
exec/market/results: exec/market/jobs exec/pvm/softfloat
exec/actor: crypto/vrf exec/manifest exec/mailbox exec/market/jobs exec/market/jobs/ask exec/pvm exec/rent exec/timers exec/token
exec: chain/order exec/actor exec/governance exec/entitlements exec/market exec/market/results exec/staking
exec/parallel: exec

# The pool.
lanes: chain/epoch chain/fees chain/order state/roles
lanes/ring:
lanes/sigverify: chain crypto/secp256k1 lanes/ring

# The link between runners and validators.
runner/wire: chain

# The node: parts that know each other by interfaces, then the node itself.
node/nice:
node/release:
node/pyvalue: chain/cbor exec/pvm/ucd
node/keystore: exec/pvm/ucd
node/p2p: chain crypto/ed25519
node/ops: crypto/secp256k1
node/submitted: chain state/journal
node/light: consensus/simplex state/tree
node/blockdoc: chain/order crypto/secp256k1 crypto/vrf node/light
node/manifest: exec/pvm
node/byzantine: consensus/engine state/tree
node/statesync: node/nice state/snapshot
node/repair: exec node/nice state/store
node/trial: exec node/nice
node/datadir: consensus/engine consensus/guard exec node/keystore node/release state/journal state/store
node/setup: chain/ceremony node/datadir
node/ledger: chain/ceremony consensus/engine exec/market/books exec/parallel lanes state/snapshot
node/rpc: exec node/light node/pyvalue
node/client: node/rpc state/owner
node/cluster:
node/tools: lanes/sigverify node/blockdoc node/ledger node/setup
node/query: lanes/sigverify node/ledger node/nice node/rpc node/trial
node: node/byzantine node/query node/ops node/p2p node/repair node/setup node/statesync node/submitted

# Measuring, and the programs.
bench/bars:
bench/internal/quicksign: crypto/secp256k1
bench/flood: bench/internal/quicksign node/rpc
bench/solo: node/tools
bench/workload: bench/bars bench/internal/quicksign bench/solo
bench/builds: bench/bars
bench/gate: bench/workload crypto/bls
bench: bench/workload node/rpc
cmd/cowboy: node/client node/manifest node/release
cmd/cowboyd: node node/cluster node/tools
cmd/cowboy-bench: bench bench/builds bench/gate

# Folders of tests alone, kits for tests, and generators.
node/acceptance:
exec/pvm/conformance:
exec/marketsim:
exec/market/attacks:
node/hostile:
node/acceptance/examples:
node/soak:
bench/mutants:
bench/siege:
crypto/vectors:
state/journal/disktest:
state/blocklog/badsector:
state/statetest: state/tree
exec/pvm/attacks:
exec/pvm/cpython:
exec/pvm/soak:
node/porttest:
node/acceptance/transcript:
node/rpc/rpctest: node/release node/rpc
node/devtest: node
node/acceptance/process: node/client node/devtest node/porttest
node/simnode: node node/client state/journal/disktest
bench/boundary: bench/bars chain/epoch exec exec/market/jobs node/manifest state/store
chain/codecgen:
chain/docgen: chain/params
`

// breachesOfLattice holds every import of a program or kit to the lattice, and the
// lattice to the imports.
func breachesOfLattice(files []goFile) []string {
	may, breaches := readLattice()
	imports := map[string]map[string]string{} // of a package: what, and one file that does
	for _, f := range files {
		if f.test {
			continue
		}
		if imports[f.pkg] == nil {
			imports[f.pkg] = map[string]string{}
		}
		for _, imp := range f.imports {
			if to, ours := strings.CutPrefix(imp, module+"/"); ours {
				imports[f.pkg][to] = f.path
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		if may[pkg] == nil {
			breaches = append(breaches, fmt.Sprintf("%s has no line in the lattice (lattice_test.go)", pkg))
			continue
		}
		for _, to := range slices.Sorted(maps.Keys(imports[pkg])) {
			if !may[pkg].all[to] {
				breaches = append(breaches, fmt.Sprintf("%s imports %s, which the lattice does not let %s", imports[pkg][to], to, pkg))
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(may)) {
		if imports[pkg] == nil {
			breaches = append(breaches, fmt.Sprintf("the lattice has a line for %s, which is no package", pkg))
		}
		for _, to := range may[pkg].direct {
			if _, used := imports[pkg][to]; !used {
				breaches = append(breaches, fmt.Sprintf("the lattice lets %s import %s, which it does not", pkg, to))
			}
		}
	}
	return breaches
}

// permission is what a package may import: as its line says, and all that follows.
type permission struct {
	direct []string
	all    map[string]bool
}

func readLattice() (may map[string]*permission, breaches []string) {
	may = map[string]*permission{}
	for line := range strings.Lines(lattice) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		pkg, rest, _ := strings.Cut(line, ":")
		p := &permission{direct: strings.Fields(rest), all: map[string]bool{}}
		for _, to := range p.direct {
			below := may[to]
			if below == nil {
				breaches = append(breaches, fmt.Sprintf("the lattice's line for %s names %s, which has no line above it", pkg, to))
				continue
			}
			p.all[to] = true
			maps.Copy(p.all, below.all)
		}
		if may[pkg] != nil {
			breaches = append(breaches, fmt.Sprintf("the lattice has two lines for %s", pkg))
		}
		may[pkg] = p
	}
	return may, breaches
}
