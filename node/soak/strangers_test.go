package soak

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/p2p"
)

var (
	strangersFor     = flag.Duration("strangers-for", time.Second, "how long each side of TestFinalityBesideStrangers is measured at least, in each round")
	strangersProfile = flag.String("strangers-profile", "", "write what validator 0 does in the first round of TestFinalityBesideStrangers to this file, and beside burners to this name with .burners after it (go tool pprof reads them)")
	hostileGuests    = flag.Int("strangers-guests", 5, "full nodes of TestFinalityBesideStrangers that ask every validator for all they can; make bench-strangers has sixteen")
	strangersRounds  = flag.Int("strangers-rounds", 1, "rounds of TestFinalityBesideStrangers; make bench-strangers judges seven")
)

// knockers are the keys at a time of one more stranger, which begins connections.
const knockers = 8

// knockFor is how long a key of the flood lives: for some attempts at each validator.
const knockFor = 250 * time.Millisecond

// A stranger is this test's own binary, told by its environment what to do.
const (
	strangerRole = "COWBOY_STRANGER"
	strangerWork = "COWBOY_STRANGER_WORK" // guest, knock: the folder of a node; burn: the part of a core
)

// TestFinalityBesideStrangers measures how long after its timestamp a block is final at a
// validator of four, beside hostile full nodes and a flood of handshakes, and
// beside as many processes that use as much of the processors and send nothing: what
// strangers do to validators besides using the machine.
func TestFinalityBesideStrangers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	s := newPatientSet(t, 4, timing{block: 200 * time.Millisecond, patience: 2 * time.Second}, false, "--full-nodes="+strconv.Itoa((4**hostileGuests+2)/3)) // a quarter is kept for those who were good guests
	s.waitHeight(t, 0, 20, patience)
	load, unload := context.WithCancel(t.Context())
	var loading sync.WaitGroup
	loading.Go(func() { s.load(load, 1, &witness{accepted: map[string]sent{}}) }) // so that there is something to ask for
	defer loading.Wait()
	defer unload()
	strangerFolder := datadir.FullNodeFolder(s.dir, 0) // it knows where all validators are
	var beside, burnt []float64
	for range *strangersRounds {
		s.waitGuests(t, func(n float64) bool { return n == 0 }) // those of the last round hold their places until they are missed
		crowd := newGuests(t, strangerFolder)
		s.waitGuests(t, func(n float64) bool { return n == float64(*hostileGuests) })
		crowd = append(crowd, stranger(t, "knock", strangerFolder))
		s.profile(t, *strangersProfile)
		began, used, own := time.Now(), crowd.processorTime(t), s.processorTime(t)
		beside = append(beside, s.medianFinality(t))
		took := time.Since(began).Seconds()
		refused := sum(t, []string{s.procs[0].admin + "/metrics"}, `cowboy_p2p_refused_total{reason="handshakes"}`)
		cores, ownCores := (crowd.processorTime(t)-used).Seconds()/took, (s.processorTime(t)-own).Seconds()/took
		crowd.end()
		if cores == 0 || refused == 0 {
			t.Fatalf("the strangers did nothing: %.2f cores, %v handshakes refused", cores, refused)
		}
		crowd = newBurners(t, cores)
		s.profile(t, *strangersProfile+".burners")
		began, used, own = time.Now(), crowd.processorTime(t), s.processorTime(t)
		burnt = append(burnt, s.medianFinality(t))
		took = time.Since(began).Seconds()
		burnCores, besideBurners := (crowd.processorTime(t)-used).Seconds()/took, (s.processorTime(t)-own).Seconds()/took
		crowd.end()
		t.Logf("strangers use %.2f cores and burners %.2f; a validator %.3f beside strangers and %.3f beside burners; final p50 %.1f ms beside strangers, %.1f ms beside burners; %v handshakes refused so far",
			cores, burnCores, ownCores/float64(len(s.procs)), besideBurners/float64(len(s.procs)), beside[len(beside)-1], burnt[len(burnt)-1], refused)
	}
	ratios := make([]float64, len(beside))
	for i := range beside {
		ratios[i] = beside[i] / burnt[i]
	}
	slices.Sort(ratios)
	const must, aim = 1.2, 1.05
	ratio, verdict := ratios[len(ratios)/2], "ok"
	if ratio > must {
		verdict = "SHORT"
	}
	t.Logf("bar finality-beside-strangers vs burners ratio %.2f must %.2f aim %.2f %s (min %.2f, %d rounds)", ratio, must, aim, verdict, ratios[0], len(ratios))
	for _, p := range s.procs {
		p.stop(t)
	}
}

// profile writes what validator 0 does for the time of one measurement, beside it.
func (s *validatorSet) profile(t *testing.T, file string) {
	if *strangersProfile == "" {
		return
	}
	go func() {
		res, err := http.Get(fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", s.procs[0].admin, max(1, int(strangersFor.Seconds())-1)))
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err == nil {
			err = os.WriteFile(file, raw, 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	}()
}

// processorTime is what the validators have used so far.
func (s *validatorSet) processorTime(t *testing.T) (sum time.Duration) {
	t.Helper()
	for _, p := range s.procs {
		used, err := processorTime(p.cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		sum += used
	}
	return sum
}

// medianFinality returns after what time half of the blocks were final, in milliseconds.
func (s *validatorSet) medianFinality(t *testing.T) float64 {
	t.Helper()
	late, _ := s.finality(t, 0, *strangersFor, 5)
	return late[len(late)/2]
}

// waitGuests returns when each validator has as many guests as is said.
func (s *validatorSet) waitGuests(t *testing.T, enough func(n float64) bool) {
	t.Helper()
	for i, p := range s.procs {
		for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
			n := sum(t, []string{p.admin + "/metrics"}, "cowboy_p2p_full_nodes")
			if enough(n) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("validator %d has %v guests", i, n)
			}
		}
	}
}

// crowd are processes beside the validators.
type crowd []*exec.Cmd

func newGuests(t *testing.T, folder string) (c crowd) {
	t.Helper()
	for range *hostileGuests {
		c = append(c, stranger(t, "guest", folder))
	}
	return c
}

// newBurners are as many processes that use so many cores together.
func newBurners(t *testing.T, cores float64) (c crowd) {
	t.Helper()
	for range *hostileGuests + 1 {
		c = append(c, stranger(t, "burn", strconv.FormatFloat(cores/float64(*hostileGuests+1), 'f', 6, 64)))
	}
	return c
}

func stranger(t *testing.T, role, work string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), strangerRole+"="+role, strangerWork+"="+work)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // its end ends the stranger, however this process ends
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed, or had ended
	})
	return cmd
}

func (c crowd) end() {
	for _, cmd := range c {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// processorTime is what the processes have used so far.
func (c crowd) processorTime(t *testing.T) (sum time.Duration) {
	t.Helper()
	for _, cmd := range c {
		used, err := processorTime(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		sum += used
	}
	return sum
}

// beStranger does what the environment says until standard input ends, false where it
// says nothing.
func beStranger() bool {
	role, work := os.Getenv(strangerRole), os.Getenv(strangerWork)
	if role == "" {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1)) // nothing is ever written
		cancel()
	}()
	switch role {
	case "guest":
		askForAll(ctx, work)
	case "knock":
		var knocking sync.WaitGroup
		cfg := strangerConfig(work)
		for range knockers {
			knocking.Go(func() { knock(ctx, cfg) })
		}
		knocking.Wait()
	case "burn":
		part, err := strconv.ParseFloat(work, 64)
		if err != nil {
			panic(err)
		}
		burn(ctx, part)
	}
	return true
}

// askForAll asks all validators for everything that they have, again and again.
func askForAll(ctx context.Context, folder string) {
	t := newStranger(strangerConfig(folder))
	if t == nil {
		return
	}
	defer t.Close()
	go func() {
		for request := (beacon.Round{View: 1}).Append([]byte{'r'}); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			t.Broadcast(p2p.Fetch, request)
		}
	}()
	_ = t.Run(ctx, deaf{}) // ends with ctx
}

// knock begins a connection with each validator, again and again, each time with a new
// key and from a new port.
func knock(ctx context.Context, cfg p2p.Config) {
	for ctx.Err() == nil {
		if t := newStranger(cfg); t != nil {
			once, done := context.WithTimeout(ctx, knockFor)
			_ = t.Run(once, deaf{}) // ends with once
			_ = t.Close()
			done()
		}
	}
}

// strangerConfig is that of a full node, but for its key.
func strangerConfig(folder string) p2p.Config {
	g, err := datadir.LoadGenesis(folder)
	if err != nil {
		panic(err)
	}
	peers, err := datadir.LoadPeers(folder)
	if err != nil {
		panic(err)
	}
	cfg := p2p.DefaultConfig(int(g.Params.MaxBlockBytes))
	cfg.Genesis, cfg.ListenAddr, cfg.AnyAddress = g.Hash(), "127.0.0.1:0", true
	cfg.RedialMin, cfg.RedialMax = time.Millisecond, 10*time.Millisecond
	cfg.Addresses = map[chain.PeerKey]string{}
	for _, p := range peers {
		cfg.Addresses[p.Key] = p.Address
	}
	for i := range g.Validators {
		cfg.Committee = append(cfg.Committee, g.Validators[i].PeerKey)
	}
	return cfg
}

// newStranger is a full node's place in the mesh with a key that nobody knows; nil where
// it gets no port.
func newStranger(cfg p2p.Config) *p2p.Transport {
	seed := make([]byte, 32)
	if _, err := rand.Read(seed); err != nil {
		panic(err)
	}
	var err error
	if cfg.Key, err = ed25519.NewPrivateKey(seed); err != nil {
		panic(err)
	}
	t, err := p2p.New(cfg)
	if err != nil {
		panic(err)
	}
	if t.Listen() != nil {
		return nil
	}
	return t
}

// deaf takes what comes and does nothing with it.
type deaf struct{}

func (deaf) Deliver(int, p2p.Class, []byte) error { return nil }

func (deaf) Transactions(_ int, bodies [][]byte) (int, error) { return len(bodies), nil }

// burn uses a part of a core, counted in what it got and not in what it waited for.
func burn(ctx context.Context, part float64) {
	const slice, between = 10 * time.Millisecond, 200 * time.Microsecond
	for began := time.Now(); ctx.Err() == nil; time.Sleep(slice) {
		for used() < time.Duration(part*float64(time.Since(began))) && ctx.Err() == nil {
			for spun := time.Now(); time.Since(spun) < between; {
			}
		}
	}
}

// used is the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// processorTime reads what a process has used, as proc(5) has it in the 14th and 15th
// field of its stat, in hundredths of a second.
func processorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the second field, a name, may hold spaces
	fields := strings.Fields(rest)
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
