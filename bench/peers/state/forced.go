package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/bench/bars"
)

// forcedBars race the root on the paths for lesser processors. The path is
// chosen once in a process, so both sides run in one of their own, which the
// meter tells when to start.
func forcedBars() []bars.Bar {
	row := func(level cpu.Level, must, aim float64) bars.Bar {
		b := bars.Bar{
			Name: "root-1m-10k-" + level.String(), Peer: residentPeer, Must: must, Aim: aim, Ops: 10_000, Iterations: 1,
			Setup: func() (bars.Contest, error) { return raceForced(level) },
		}
		if level == cpu.AVX2 && !cpu.Detect().AVX2 {
			b.Setup, b.Absent = nil, "no AVX2"
		}
		return b
	}
	return []bars.Bar{row(cpu.AVX2, 2.5, 3), row(cpu.Generic, 1.5, 1.8)}
}

// manyCoresBar races the root on sixteen cores against one: an efficiency of
// 0.6 is the bar.
func manyCoresBar() bars.Bar {
	const cores = 16
	b := bars.Bar{Name: "root-1m-50k-cores-1-to-16", Peer: "ours on one core", Must: 0.6 * cores, Aim: 0.75 * cores, Ops: 50_000, Iterations: 1, SpinCores: cores}
	if runtime.NumCPU() < cores {
		b.Absent = fmt.Sprintf("%d cores", runtime.NumCPU())
		return b
	}
	b.Setup = func() (bars.Contest, error) {
		side := func(cores int) (bars.Side, error) {
			o, w := newOurs(cores), newWorkload(1_000_000)
			o.prepare(w.delta(w.everyone()))
			return bars.Side{
				Cores:   cores,
				Prepare: func(int) error { o.prepare(w.delta(w.touch(50_000))); return nil },
				Run:     func(int) error { return o.apply() },
			}, o.apply()
		}
		many, err := side(cores)
		one, err1 := side(1)
		return bars.Contest{Ours: many, Peer: one}, errors.Join(err, err1)
	}
	return b
}

// serveArg makes this program serve one contest over its input and output.
const serveArg = "serve-root"

// The words of the two sides; each is answered by a line, empty or an error.
const (
	prepareOurs = "prepare ours"
	runOurs     = "run ours"
	preparePeer = "prepare peer"
	runPeer     = "run peer"
)

// serve sets up the contest of roots, says so with an empty line, and does what
// it is told until its input ends.
func serve(in io.Reader, out io.Writer) error {
	c, err := raceRoot(1_000_000, 10_000)()
	if err != nil {
		return err
	}
	do := map[string]func(int) error{
		prepareOurs: c.Ours.Prepare, runOurs: c.Ours.Run, preparePeer: c.Peer.Prepare, runPeer: c.Peer.Run,
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		answer := ""
		if f := do[lines.Text()]; f == nil {
			answer = "unknown word"
		} else if err := f(1); err != nil {
			answer = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		if strings.HasPrefix(lines.Text(), "prepare") {
			runtime.GC() // the meter collects in its own process, before it times
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// raceForced starts the process of a level. What a word and its answer take, some
// tens of microseconds, is below a hundredth of a sample.
func raceForced(level cpu.Level) (bars.Contest, error) {
	self, err := os.Executable()
	if err != nil {
		return bars.Contest{}, err
	}
	child := exec.Command(self, serveArg)
	child.Env = append(os.Environ(), cpu.LevelVariable+"="+level.String())
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		return bars.Contest{}, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return bars.Contest{}, err
	}
	if err := child.Start(); err != nil {
		return bars.Contest{}, fmt.Errorf("start the process for %s: %w", level, err)
	}
	answers := bufio.NewScanner(out)
	answer := func() error {
		if !answers.Scan() {
			return fmt.Errorf("the process for %s ended: %w", level, errors.Join(answers.Err(), io.ErrUnexpectedEOF))
		}
		if text := answers.Text(); text != "" {
			return errors.New(text)
		}
		return nil
	}
	tell := func(word string) func(int) error {
		return func(int) error {
			if _, err := fmt.Fprintln(in, word); err != nil {
				return err
			}
			return answer()
		}
	}
	end := func() error { return errors.Join(in.Close(), child.Wait()) }
	if err := answer(); err != nil {
		return bars.Contest{}, errors.Join(err, end())
	}
	return bars.Contest{
		Ours:  bars.Side{Prepare: tell(prepareOurs), Run: tell(runOurs)},
		Peer:  bars.Side{Prepare: tell(preparePeer), Run: tell(runPeer)},
		Close: end,
	}, nil
}
