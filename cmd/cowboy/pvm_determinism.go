package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

type pvmDeterminism struct {
	File   string   `arg:"" placeholder:"FILE" help:"Script."`
	Cycles int64    `default:"1000000000" help:"Cycles that the script may use."`
	Build  []string `placeholder:"FILE" help:"Other builds of cowboy to compare with; default: cowboy-386 and cowboy-arm64 beside this one, where they are there. A build that needs an emulator is a script around it."`
}

// determinismRow is one way to run the script.
type determinismRow struct {
	Way      string `json:"way"`
	Cycles   int64  `json:"cycles"`
	HeapPeak int64  `json:"heap_peak_bytes"`
	Equal    bool   `json:"equal"`
	Problem  string `json:"problem,omitempty"`
	reply    pvmReply
}

// Run carries out pvm determinism.
func (c *pvmDeterminism) Run(s *session, ctx context.Context) error {
	src, err := s.readSource(c.File)
	if err != nil {
		return err
	}
	rows, err := c.here(src)
	if err != nil {
		return err
	}
	for _, build := range c.builds() {
		rows = append(rows, c.elsewhere(ctx, build))
	}
	differs := 0
	text := &lines{}
	for i := range rows {
		r := &rows[i]
		r.Equal = r.Problem == "" && r.reply == rows[0].reply
		word := "equal"
		if !r.Equal {
			differs, word = differs+1, "DIFFERS"
		}
		if r.Problem != "" {
			word = "FAILED: " + r.Problem
		}
		text.add("%-28s %14d cycles %10d bytes  %s", r.Way, r.Cycles, r.HeapPeak, word)
	}
	text.add("%d ways, %d differ", len(rows), differs)
	if err := s.show(rows, text); err != nil || differs == 0 {
		return err
	}
	return silentError{fmt.Errorf("%d of %d ways differ", differs, len(rows))}
}

// here runs the script in this process in every way that must not matter.
func (c *pvmDeterminism) here(src []byte) ([]determinismRow, error) {
	lim := pvm.DefaultLimits()
	plain := lim
	plain.Compile.PlainBranches = true
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		return nil, err
	}
	other, err := pvm.NewRuntime(hashKey())
	if err != nil {
		return nil, err
	}
	var rows []determinismRow
	add := func(way string, rt *vm.Runtime, lim pvm.Limits, times int) {
		rows = append(rows, c.once(way, src, rt, lim, times))
	}
	add("reference", rt, lim, 1)
	add("machine reused", rt, lim, 3)
	add("comparisons not fused", rt, plain, 1)
	add("other key of hash tables", other, lim, 1)
	old := debug.SetGCPercent(1)
	add("collector at every turn", rt, lim, 1)
	debug.SetGCPercent(-1)
	add("collector off", rt, lim, 1)
	debug.SetGCPercent(old)
	return append(rows, c.together(src, rt, lim)...), nil
}

// once runs the script times times on one engine and keeps the last result.
func (c *pvmDeterminism) once(way string, src []byte, rt *vm.Runtime, lim pvm.Limits, times int) determinismRow {
	row := determinismRow{Way: way}
	program, err := pvm.Compile(src, c.File, lim)
	if err != nil {
		row.reply = pvmReply{Error: err.Error()}
		return row
	}
	engine := pvm.NewEngine(rt, pvm.NewLRU(0), lim)
	for range times {
		res, err := engine.Run(program, c.Cycles, nil)
		row.reply = replyOf(res, src, c.File, err)
	}
	row.Cycles, row.HeapPeak = row.reply.Cycles, row.reply.HeapPeak
	return row
}

// together runs the script on several goroutines at once that share a runtime.
func (c *pvmDeterminism) together(src []byte, rt *vm.Runtime, lim pvm.Limits) []determinismRow {
	rows := make([]determinismRow, max(2, runtime.NumCPU()))
	var wg sync.WaitGroup
	for i := range rows {
		wg.Go(func() { rows[i] = c.once(fmt.Sprintf("worker %d of %d", i+1, len(rows)), src, rt, lim, 1) })
	}
	wg.Wait()
	return rows
}

// builds are the other executables to compare with.
func (c *pvmDeterminism) builds() []string {
	if len(c.Build) > 0 {
		return c.Build
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(self), "cowboy-*"))
	if err != nil {
		return nil
	}
	sort.Strings(found)
	var out []string
	for _, f := range found {
		if name := filepath.Base(f); strings.HasPrefix(name, "cowboy-386") || strings.HasPrefix(name, "cowboy-arm64") || strings.HasPrefix(name, "cowboy-purego") {
			out = append(out, f)
		}
	}
	return out
}

// elsewhere runs the script by another build.
func (c *pvmDeterminism) elsewhere(ctx context.Context, build string) determinismRow {
	row := determinismRow{Way: filepath.Base(build)}
	cmd := exec.CommandContext(ctx, build, "pvm", "run", c.File, "--json", fmt.Sprintf("--cycles=%d", c.Cycles))
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	err := cmd.Run()
	if json.Unmarshal(out.Bytes(), &row.reply) != nil {
		row.Problem = strings.TrimSpace(fmt.Sprintf("%v %s", err, problem.String()))
	}
	row.Cycles, row.HeapPeak = row.reply.Cycles, row.reply.HeapPeak
	return row
}
