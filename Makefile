# Cowboy: one line of help per target; `make` prints them.
SHELL      := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO         ?= go
BIN        := bin
SEEDS      ?= 200
NODE_SEEDS ?= 8
TIMES      ?= 1
FIRST      ?= 1
SEED       ?= 0
TIME       ?= 10s
KILLS      ?= 200
STATICCHECK_VERSION := v0.8.2
GOFUMPT_VERSION     := v0.12.0
TOOLS      := $(shell $(GO) env GOPATH)/bin
# Pure Go instead of C wherever a dependency offers both: blst stays the only C
# that is compiled in.
TAGS       := pebblegozstd,netgo,osusergo
export GOAMD64 := v1

.PHONY: help build devnet stage-devnet test acceptance check ci transcripts race sim sim-machines sim-nodes sim-markets sim-lives twins mutants fuzz soak soak-kill soak-committee soak-examples soak-own-key soak-crash soak-damage soak-liars soak-stall soak-drip soak-lanes soak-limits soak-exec soak-draws soak-market soak-market-year soak-market-kills soak-hostile soak-pvm-fuzz soak-nests soak-day soak-rent bench bench-crypto bench-state \
        bench-lanes bench-exec bench-market bench-timers bench-workloads bench-consensus bench-strangers bench-pvm bench-pvm-costs bench-compare bench-gate bench-e2e generate spec-map purego arm64 i386 interop oracles pvm-oracle pvm-scripts pvm-arch tools clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## build the binaries into bin/
	@mkdir -p $(BIN)
	@echo "building into $(BIN)/: minutes the first time, then a moment"
	$(GO) build -tags $(TAGS) -o $(BIN)/ ./cmd/...

devnet: build ## run a one-validator development chain on 127.0.0.1:4000
	@exec $(BIN)/cowboyd devnet

test: ## run every unit and integration test (under 10 minutes on two cores)
	@# Three at a time: the longest packages run processes and wait for blocks.
	$(GO) test -p 3 ./...

acceptance: ## hold the rules of the specification by number, on a devnet of four validators and in the tests of other packages, and print the table of all (under 6 minutes on two cores)
	@mkdir -p $(BIN)
	@rm -f $(BIN)/acceptance.txt
	@$(GO) test -count=1 -timeout 10m -parallel 8 ./node/acceptance -args -devnet -table $(CURDIR)/$(BIN)/acceptance.txt || failed=1; \
	cat $(BIN)/acceptance.txt; exit $${failed:-0}

check: tools ## format, vet, staticcheck, architecture test, generated files
	@bad=$$($(TOOLS)/gofumpt -l . ); if [ -n "$$bad" ]; then echo "not formatted (run gofumpt -w):"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	$(TOOLS)/staticcheck ./...
	$(GO) test -count=1 -run 'TestArchitecture|TestSpecMap|TestOnlyBlstIsC' .

ci: ## everything a change must pass: check, test, devnet, gate, race, sim, fuzz, oracles
	@.ci/steps

race: ## run the concurrent packages under the race detector (PACKAGES=./exec/parallel for some of them)
	$(GO) test -race -short $(or $(PACKAGES),./lanes/... ./consensus/... ./node/... ./state/... ./crypto/... ./exec ./exec/parallel ./exec/pvm)

sim: sim-machines sim-nodes sim-markets ## run the seeded simulations and report: SEEDS=200 of machines, NODE_SEEDS=8 of whole nodes, MARKETS=200 of runner markets

sim-machines: ## simulate networks of protocol machines, to the byte (SEEDS=200 of them from FIRST=1, or SEED=n alone)
	cd consensus/simtest && $(GO) test -count=1 -run 'TestSim$$' -args -report -first=$(FIRST) -seeds=$(SEEDS) -seed=$(SEED)

sim-nodes: ## simulate whole nodes on machines that fail (NODE_SEEDS=8 of them from FIRST=1, or SEED=n alone, TIMES=1 each); failures leave traces
	cd node/simnode && $(GO) test -count=1 -timeout 0 -run 'TestNodes$$' -args -report -first=$(FIRST) -seeds=$(NODE_SEEDS) -seed=$(SEED) -times=$(TIMES)

sim-markets: ## play runner markets beside a plain model (MARKETS=200 of them from FIRST=1, or SEED=n alone)
	$(GO) test -count=1 -timeout 0 -v ./exec/marketsim -run 'TestMarkets$$' -args -first=$(if $(filter 0,$(SEED)),$(FIRST),$(SEED)) -seeds=$(if $(filter 0,$(SEED)),$(or $(MARKETS),200),1)

sim-lives: ## two lives of one key, and lives that were restored, LIVES=1000 seeded runs of each of seven cases (CASE=n alone)
	cd node/simnode && $(GO) test -count=1 -timeout 0 -run 'TestLives$$' -args -report -lives=$(or $(LIVES),1000) -case=$(or $(CASE),-1)

twins: ## play all 43,264 cases of four validators and a twin in two rounds, and TWINS=2500 sampled ones of seven of each kind
	$(GO) test -count=1 -timeout 0 -v ./consensus/simtest -run 'TestTwinsExhaustively$$' -args -sides=5
	$(GO) test -count=1 -timeout 0 -v ./consensus/simtest -run 'TestScenario26Twins$$' -args -twin-cases=$(or $(TWINS),2500)

mutants: ## plant known bugs one at a time and say what finds each (ONLY=name,name for some)
	cd bench/mutants && $(GO) test -count=1 -timeout 0 -run 'TestMutants$$' -args -mutants -only='$(ONLY)'

fuzz: ## run every fuzz target for a bounded time (TIME=10s each)
	@.ci/fuzz $(TIME)

soak: soak-kill soak-committee soak-own-key soak-crash soak-damage soak-liars soak-drip soak-lanes soak-limits soak-exec soak-draws twins mutants ## the long floors: kills, power cuts, full lanes, the Python machine, limits, twins, planted bugs, long fuzzing, long simulation
	@.ci/fuzz 2m
	cd consensus/simtest && $(GO) test -count=1 -timeout 60m -run 'TestSim$$' -args -report -first=1 -seeds=5000
	cd node/simnode && $(GO) test -count=1 -timeout 0 -run 'TestNodes$$' -args -report -first=1 -seeds=300

soak-kill: build ## kill a loaded devnet 200 times and prove that nothing final is lost (KILLS=200)
	$(GO) test -count=1 -timeout 60m ./node/soak -run TestSoakKill -args -kills=$(KILLS)

stage-devnet: acceptance soak-examples transcripts ## the CI stage devnet: rules by number, example actors, and the pages that show commands

soak-examples: ## the example actors that ask runners for work on a devnet of four validators, with runners by script (half a minute)
	$(GO) test -count=1 -timeout 5m ./node/acceptance/examples -args -devnet

soak-committee: ## four and seven processes over bad links with kills, a devnet under load, a validator away for 10,000 blocks, the time to finality
	$(GO) test -count=1 -timeout 30m ./node/soak -run TestCommitteeSurvivesKills -args -validators=4 -committee-kills=20
	$(GO) test -count=1 -timeout 30m ./node/soak -run TestCommitteeSurvivesKills -args -validators=7 -committee-kills=20
	$(GO) test -count=1 -timeout 30m ./node/soak -run TestDevnetUnderLoad -args -devnet-for=10m -devnet-kill-every=10s
	$(GO) test -count=1 -timeout 60m ./node/soak -run TestAwayValidatorCatchesUp -args -away-blocks=10000
	$(GO) test -count=1 -timeout 30m -v ./node/soak -run TestFinalityOverhead -args -overhead-for=10s

soak-own-key: ## two lives of one key and restored folders, each case RUNS=20 times as processes and SEEDS=1000 seeded runs of the engine
	$(GO) test -count=1 -timeout 120m ./node/soak -run TestOwnKey -v -args -own-key-runs=$(or $(RUNS),20)
	$(GO) test -count=1 -timeout 120m ./consensus/engine -run TestLives -v -args -lives=$(or $(SEEDS),1000)

soak-crash: ## cut the power of the store at every file operation, and let every one fail
	$(GO) test -count=1 -timeout 60m -v ./state/store -run TestCrashMatrix -args -every=1
	$(GO) test -count=1 -timeout 60m -v ./state/store -run TestCrashMatrix -args -every=1 -seed=2 # an archive
	$(GO) test -count=1 -timeout 60m -v ./state/store -run 'TestDamagedFiles$$' -args -damages=40
	@# A database that failed keeps its memory until the process ends: one process for each part.
	for part in {0..15}; do \
		$(GO) test -count=1 -timeout 60m -v ./state/store -run TestInjectedErrors -args -every=1 -parts=16 -part=$$part; \
	done

soak-damage: ## damage one file of a stopped validator's folder 2,000 times, and start it each time: DAMAGES=2000 SEED=1; a vote journal on a full disk (as root)
	$(GO) test -count=1 -timeout 10m -v ./node/soak -run 'TestJournalOnAFullDisk$$' -args -full-disk
	$(GO) test -count=1 -timeout 60m -v ./node -run 'TestDamage$$' -args -damages=$(or $(DAMAGES),2000) -damage-seed=$(if $(filter 0,$(SEED)),1,$(SEED))

soak-liars: ## every kind of liar as a process, one among four and two among seven, with the time to finality: FOR=10s each
	$(GO) test -count=1 -timeout 60m -v ./node/soak -run 'TestLiars$$' -args -all-lies -liar-for=$(or $(FOR),10s)

soak-drip: ## catch up with BLOCKS=10000 blocks in virtual time, and with 30,000 accounts of state, while f of four and of seven drip
	$(GO) test -count=1 -timeout 60m -v ./consensus/engine -run 'TestDrip$$' -args -drip=$(or $(BLOCKS),10000)
	$(GO) test -count=1 -timeout 30m -v ./node/statesync -run 'TestDrip$$' -args -drip=30000

soak-stall: ## the memory of validators while nothing is final, with views that stand and with views that go on, one of four a liar: FOR=10m; an engine through an hour of virtual time
	$(GO) test -count=1 -timeout 0 -v ./node/soak -run 'TestMemoryWhileNothingIsFinal$$' -args -stall-for=$(or $(FOR),10m)
	$(GO) test -count=1 -timeout 0 -v ./consensus/engine -run 'TestAnHourWithoutFinality$$' -args -without=1h

soak-lanes: ## ten times the transfers that blocks take, for a minute, beside runner instructions and timers, under both lane tables; a million operations of the pool beside its model
	$(GO) test -count=1 -timeout 30m -v ./cmd/cowboy-bench -run TestLanesUnderOverload -args -lanes-for=1m
	$(GO) test -count=1 -timeout 30m ./lanes -run 'TestPoolMatchesModel|TestPoolAtExtremes|TestConcurrentHistoriesAreLinearizable' -args -long

soak-limits: ## run every kind of transaction 100 times by each of 8 workers at 55 limits of either meter
	$(GO) test -count=1 -timeout 0 -v ./node/hostile -run TestLimits -args -limit-runs=100

soak-exec: ## what the tests of execution and of the tries do in part, in full: attacks, the corpus, handlers, markets, crowds, random chains
	$(GO) test -count=1 -timeout 30m ./exec -run 'TestCrowdOfOrigins$$|TestNoFault$$' -args -crowds -wild-seeds=8
	$(GO) test -count=1 -timeout 30m ./exec/parallel -run 'TestSameAsSequential$$' -args -seeds=8
	$(GO) test -count=1 -timeout 30m ./exec/market -run 'TestDispatcherMatchesModel$$' -args -markets=30
	$(GO) test -count=1 -timeout 30m ./exec/mailbox -run 'TestCrowdHoldsUpItself$$' -args -long
	$(GO) test -count=1 -timeout 30m ./exec/pvm -run 'TestCallsCutOffLeaveNothing$$|TestWarmthIsFree$$|TestWays$$' -args -long
	$(GO) test -count=1 -timeout 30m ./exec/pvm/attacks -args -agree=120 -agree-host=60 -evolve=150 -cross=6000 -held=1 -generated=60000000
	$(GO) test -count=1 -timeout 30m ./exec/pvm/vm -run 'TestObjectsAreCounted$$' -args -sizes=1
	$(GO) test -count=1 -timeout 30m ./exec/pvm/continuation -run 'TestGeneratedHandlers$$' -args -handlers=300
	$(GO) test -count=1 -timeout 30m ./exec/pvm/ucd -run 'TestPropertiesAgainstPython$$' -args -every
	$(GO) test -count=1 -timeout 30m ./exec/pvm/conformance -run 'TestRandomPrograms$$' -args -programs=100
	$(GO) test -count=1 -timeout 30m ./state/tree -run 'TestForestAgainstPlain$$' -args -forests=12

soak-draws: ## chi-square of the first places of both selections over DRAWS=100000 seeds
	$(GO) test -count=1 -v ./exec/market/selection -run 'TestFirstPlacesAreFair$$' -args -draw-seeds=$(or $(DRAWS),100000)

soak-market: ## play MARKETS=10000 runner markets beside a plain model, from FIRST=1
	$(GO) test -count=1 -timeout 0 -v ./exec/marketsim -run 'TestMarkets$$' -args -first=$(FIRST) -seeds=$(or $(MARKETS),10000)

soak-market-year: ## 365 days of a runner market beside the model (DAYS=365), empty blocks left out: who lied has lost stake or reputation, who worked is paid
	$(GO) test -count=1 -timeout 0 -v ./exec/marketsim -run 'TestYear$$' -args -days=$(or $(DAYS),365)

soak-market-kills: ## a market of 50 runners by script on four validators, one killed every 20 s, a fifth node joining by a snapshot: JOBS=10000 (a quarter of an hour; JOBS=200 in less than a minute)
	$(GO) test -count=1 -timeout 90m -v ./node/soak -run 'TestMarketUnderKills$$' -args -market-jobs=$(or $(JOBS),10000)

soak-hostile: ## a chain under every attack on time, bytes and room beside honest people: FOR=10m, at least 200 blocks an attack
	$(GO) test -count=1 -timeout 0 -v ./bench/siege -run 'TestSiege$$' -args -for=$(or $(FOR),10m) -attack='$(ATTACK)'

soak-day: ## a whole day of blocks with random actors and people, audited every AUDIT blocks: BLOCKS=86400 SEED=1 AUDIT=50
	$(GO) test ./exec -run 'TestDay$$' -count=1 -v -timeout 0 -args -day-blocks $(or $(BLOCKS),86400) -day-seed $(if $(filter 0,$(SEED)),1,$(SEED)) -day-audit $(or $(AUDIT),50)

soak-rent: ## what blocks read and write beside a million actors that owe rent: ACTORS=1000000
	$(GO) test ./exec/rent -run TestWorkIsFlat -count=1 -v -timeout 0 -args -actors $(or $(ACTORS),1000000)

transcripts: ## run the pages of docs/ that show what commands print, on devnets of four validators
	$(GO) test -count=1 -v ./node/acceptance/transcript -args -transcripts

soak-pvm-fuzz: ## put COUNT=10000000 mutated inputs of SEED=1 through the PVM's fuzz targets, programs among them
	@.ci/soak-pvm-fuzz $(or $(COUNT),10000000) $(if $(filter 0,$(SEED)),1,$(SEED))

soak-nests: ## nest every kind of wrapper of the PVM 50 and 20,000 deep, with every operation: none takes more than NS=50 ns of a core a cycle, on a machine that does nothing else; KINDS='^zip' for some of them
	$(GO) test -count=1 -timeout 0 -v ./exec/pvm/attacks -run 'TestNests$$' -args -nests=0 -nest-ns=$(or $(NS),50) -nest-kinds='$(KINDS)'

bench: bench-crypto bench-state bench-lanes bench-exec bench-market bench-consensus bench-strangers bench-pvm ## run every bar beside its peer

bench-crypto: ## bars of the signature and hash core
	cd bench/peers && $(GO) run ./crypto

bench-state: ## bars of the state core
	cd bench/peers && $(GO) run ./state

bench-lanes: ## bars of ingress and packing
	cd bench/peers && $(GO) run ./lanes
	$(GO) test -count=1 -v ./bench/siege -run 'TestFullBlocks$$'

bench-exec: ## bars of the state transition
	cd bench/peers && $(GO) run ./exec

bench-market: ## bars of the runner market: draws, instructions, and a job beside 100,000 open ones
	cd bench/peers && $(GO) run ./market

bench-timers: build ## block time beside TIMERS=1000000 sleeping timers, or those of the seeded chain DIR=folder
	$(BIN)/cowboy-bench sleepers $(if $(DIR),--dir $(DIR),--timers $(or $(TIMERS),1000000)) $(ARGS)

bench-workloads: build ## transactions a second and the share of each stage, for every named workload (ARGS='--workload lane-mix')
	$(BIN)/cowboy-bench run $(ARGS)

bench-consensus: ## bars of votes, certificates and coded blocks
	cd bench/peers && $(GO) run ./consensus

bench-strangers: ## time to finality beside sixteen hostile full nodes and a flood of handshakes, and beside as many processes that only burn
	$(GO) test -count=1 -timeout 30m -v ./node/soak -run 'TestFinalityBesideStrangers$$' -args -strangers-guests=16 -strangers-for=15s -strangers-rounds=7

bench-pvm: ## bars of the Python machine beside CPython 3.11 (PYTHON311) and starlark-go
	cd bench/peers && $(GO) run ./pvm

bench-pvm-costs: ## time per cycle of every operation, mixes and attacks of the Python machine; ARGS='-hunt 1 -for 60s' hunts outliers
	cd bench/peers && $(GO) run ./pvm/costs $(ARGS)

bench-e2e: build ## whole nodes beside peers under transfers, ROUNDS=3 of WINDOW=20s; ONLY=cowboy WINDOW=8s ROUNDS=1 for ours alone, PROFILE=folder for its profiles
	$(if $(filter cowboy,$(ONLY)),,@echo 'building the peers: minutes the first time, then a moment')
	$(if $(filter cowboy,$(ONLY)),,cd bench/peers/e2e/geth && $(GO) build -o ../out/geth github.com/ethereum/go-ethereum/cmd/geth)
	$(if $(filter cowboy,$(ONLY)),,cd bench/peers/e2e/comet && $(GO) build -o ../out/comet .)
	cd bench/peers && $(GO) build -o e2e/out/ ./e2e && exec e2e/out/e2e -rounds $(or $(ROUNDS),3) -window $(or $(WINDOW),20s) -only '$(ONLY)' -profile '$(if $(PROFILE),$(abspath $(PROFILE)))' $(ARGS)

bench-gate: ## hold allocations, counted work and ratios to profiles/baselines/gate.json; then plant slow code and hold the gate to seeing it
	@mkdir -p $(BIN)
	$(GO) build -o $(BIN)/cowboy-bench-gate ./cmd/cowboy-bench
	@$(BIN)/cowboy-bench-gate gate
	$(GO) build -tags plant -o $(BIN)/cowboy-bench-planted ./cmd/cowboy-bench
	@$(BIN)/cowboy-bench-planted gate --planted > $(BIN)/planted.txt || { cat $(BIN)/planted.txt; exit 1; }; tail -1 $(BIN)/planted.txt

bench-compare: build ## compare two builds: A=main B=. SUITES=lanes,exec,state, or two results: OLD=a.json NEW=b.json
	$(BIN)/cowboy-bench compare $(if $(OLD),$(OLD) $(NEW),--build '$(or $(A),HEAD)' --build '$(or $(B),.)' $(if $(SUITES),--suite '$(SUITES)') $(ARGS))

generate: ## regenerate code and documents; must leave no diff
	$(GO) generate ./...
	$(GO) test -count=1 -run 'TestTextTable|TestCostDocument|TestGolden' ./exec/pvm -args -rewrite
	$(GO) test -count=1 -run TestSDKMirror ./cmd/cowboy -rewrite

spec-map: ## write docs/spec-map.md, which file implements and cites which section, for a release
	$(GO) test -count=1 -run TestSpecMap . -args -rewrite

purego: ## run the tests without our assembly (blst stays)
	$(GO) test -tags purego ./asm/... ./crypto/... ./chain/... ./state/...

arm64: ## build for arm64 and run the portable tests under emulation
	@.ci/arm64

i386: ## run the tests that do not need blst as 32-bit programs
	@.ci/i386

interop: ## sign with an independent implementation, and let a verifier written from the documents check BLOCKS=300 of a devnet (needs Node)
	@.ci/interop

oracles: ## check roots, proofs, pairings and account signatures with third-party implementations
	cd state/gethtest && $(GO) test ./...
	cd crypto/bls/oracletest && $(GO) test ./...
	cd crypto/secp256k1/oracletest && $(GO) test ./...
	cd bench/peers && $(GO) test ./e2e
	@.ci/pvm-arch 386

pvm-oracle: ## hold the PVM to CPython 3.11: its front end, its own tests, random programs (PYTHON311=python3.11; writes docs/pvm-conformance.md)
	CI=true $(GO) test -count=1 -timeout 20m ./exec/pvm/ucd -args -every
	CI=true $(GO) test -count=1 -timeout 20m -v ./exec/pvm/syntax -args -all
	CI=true $(GO) test -count=1 -timeout 90m -v -run TestRandomPrograms ./exec/pvm/conformance -args -programs=10000
	CI=true $(GO) test -count=1 -timeout 40m -v -run TestCPythonsOwnTests ./exec/pvm/conformance -args -all -update

pvm-scripts: ## compare what the scripts in SCRIPTS=folder print here and on CPython 3.11 (PYTHON311)
	CI=true $(GO) test -count=1 -timeout 60m -v -run 'TestScripts$$' ./exec/pvm/conformance -args -scripts=$(abspath $(or $(SCRIPTS),exec/pvm/conformance/testdata/scripts))

pvm-arch: ## hold the PVM to the same results and cycles as a 32-bit program and for arm64 under emulation
	@.ci/pvm-arch

tools: # the pinned linters
	@[ -x $(TOOLS)/staticcheck ] || $(GO) install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	@[ -x $(TOOLS)/gofumpt ] || $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)

clean: ## remove what the build made
	rm -rf $(BIN) bench/out
