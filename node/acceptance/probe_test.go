package acceptance_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/acceptance"
)

var (
	onDevnet  = flag.Bool("devnet", false, "run the rules on a devnet of four validators")
	tableFile = flag.String("table", "", "write the table of all rules here")
)

// probe is the test of one rule. It notes what is wrong, so that a rule which is known to be
// broken is told from one that is broken unexpectedly.
type probe struct {
	*testing.T
	net *devnet
	ctx context.Context

	mu    sync.Mutex
	wrong []string
}

// stopped ends a probe from inside.
type stopped struct{}

func (p *probe) errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

func (p *probe) fatalf(format string, args ...any) {
	p.errorf(format, args...)
	panic(stopped{})
}

// check ends the probe where a node does not answer.
func (p *probe) check(err error) {
	if err != nil {
		p.fatalf("a node's answer: %v", err)
	}
}

// run runs the test of a rule and returns what is wrong.
func (p *probe) run(test func(*probe)) []string {
	ctx, cancel := context.WithTimeoutCause(p.Context(), patience, errors.New("the patience of the test is over"))
	defer cancel()
	p.ctx = ctx
	func() {
		defer func() {
			if r := recover(); r != nil && r != (stopped{}) {
				panic(r)
			}
		}()
		test(p)
	}()
	return p.wrong
}

// TestAcceptance runs the rules that a devnet can show, and writes the table of all of them.
func TestAcceptance(t *testing.T) {
	if !*onDevnet {
		t.Skip("starts four validators for minutes: runs in make acceptance")
	}
	net := start(t)
	seen := map[string]acceptance.Seen{}
	var mu sync.Mutex
	t.Run("rules", func(t *testing.T) {
		for _, rule := range acceptance.Rules() {
			test := probes[rule.Number]
			if test == nil {
				continue
			}
			t.Run(rule.Number, func(t *testing.T) {
				t.Parallel()
				p := &probe{T: t, net: net}
				wrong := p.run(test)
				mu.Lock()
				defer mu.Unlock()
				seen[rule.Number] = acceptance.Seen{Wrong: wrong}
				switch broken := rule.Held == acceptance.Broken; {
				case broken && len(wrong) == 0:
					t.Errorf("%s is listed as broken and holds: change its row", rule.Number)
				case !broken:
					for _, w := range wrong {
						t.Error(w)
					}
				}
			})
		}
	})
	if filter := flag.Lookup("test.run").Value.String(); strings.Contains(filter, "/") {
		return // a part of the rules was asked for
	}
	others, err := runElsewhere(t)
	if err != nil {
		t.Error(err)
	}
	table, err := acceptance.Table(seen, others)
	if err != nil {
		t.Error(err)
	}
	if *tableFile != "" {
		if err := os.WriteFile(*tableFile, []byte(table), 0o644); err != nil {
			t.Error(err)
		}
	}
	t.Log("\n" + table)
}

// TestProbes holds the list of tests to the rules.
func TestProbes(t *testing.T) {
	left := map[string]bool{}
	for number := range probes {
		left[number] = true
	}
	for _, rule := range acceptance.Rules() {
		has := probes[rule.Number] != nil
		if wants := rule.Held == acceptance.OnDevnet || rule.Held == acceptance.Broken; has != wants {
			t.Errorf("%s: its row says %q, and there is a test: %t", rule.Number, rule.Held, has)
		}
		delete(left, rule.Number)
	}
	for number := range left {
		t.Errorf("the test of %s has no rule", number)
	}
}
