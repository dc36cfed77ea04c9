package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/flood"
)

// A long run at half of saturation is held to itself: its last three tenths against its
// second to fourth tenth. Of ten minutes these are the last three and minutes two to four.
const (
	longLoad   = 0.5
	earlyFrom  = 0.1
	earlyUntil = 0.4
	lateFrom   = 0.7
)

// footprint is what a node took at one moment.
type footprint struct {
	at     time.Duration // since the window began
	memory int64
	disk   int64
}

// footprints notes a node's memory and disk every second while its window lasts.
type footprints struct {
	server *server
	list   []footprint
}

func (f *footprints) watch(ctx context.Context, window time.Duration) error {
	began, tick := time.Now(), time.NewTicker(time.Second)
	defer tick.Stop()
	for at := time.Duration(0); at < window; at = time.Since(began) {
		bytes, err := diskBytes(filepath.Join(f.server.dir, "data"))
		if err != nil {
			return err
		}
		f.list = append(f.list, footprint{at: at, memory: flood.Memory(f.server.processes()), disk: bytes})
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return nil
}

// diskBytes is the size of the files of a folder. A file that goes meanwhile is none.
func diskBytes(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				sum += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	return sum, err
}

// both runs two watchers beside a window.
func both(a, b func(context.Context, time.Duration) error) func(context.Context, time.Duration) error {
	return func(ctx context.Context, window time.Duration) error {
		var other sync.WaitGroup
		var failed error
		other.Go(func() { failed = b(ctx, window) })
		err := a(ctx, window)
		other.Wait()
		return errors.Join(err, failed)
	}
}

// part is what a stretch of a long run was like.
type part struct {
	perSecond   float64
	p99         float64 // milliseconds: median of the blocks' p99
	memory      float64 // bytes, median
	bytesOnDisk float64 // that a transaction added
}

// partOf looks at the stretch between two shares of the window.
func partOf(r *outcome, prints []footprint, window time.Duration, from, until float64) (p part) {
	low, high := time.Duration(from*float64(window)), time.Duration(until*float64(window))
	inside := func(at time.Duration) bool { return at >= low && at <= high }
	var waits, memory []float64
	txs := 0
	for _, m := range r.Moments {
		if inside(m.Seen) {
			txs, waits = txs+m.Count, append(waits, milliseconds(m.P99))
		}
	}
	var disk []int64
	for _, f := range prints {
		if inside(f.at) {
			memory, disk = append(memory, float64(f.memory)), append(disk, f.disk)
		}
	}
	if txs == 0 || len(disk) < 2 {
		return part{}
	}
	return part{
		perSecond: float64(txs) / (high - low).Seconds(), p99: middle(waits), memory: middle(memory),
		bytesOnDisk: float64(disk[len(disk)-1]-disk[0]) / float64(txs),
	}
}

// errLongShort means that a long run was too short to be held against itself.
var errLongShort = errors.New("a part of the long run has no blocks or no looks at the disk: give it a minute at least")

// longBars holds the late part of a run against the early one.
func longBars(early, late part) []bars.Result {
	drift := late.perSecond/early.perSecond - 1
	return []bars.Result{
		bars.Within("long-rate-drift", "of the rate", 0.03, 0.03, []float64{max(drift, -drift)}),
		bars.Within("long-p99-growth", "times", 1.25, 1.25, []float64{late.p99 / early.p99}),
		bars.Within("long-memory-growth", "times", 1.1, 1.1, []float64{late.memory / early.memory}),
		bars.Within("long-disk-growth", "times", 1.05, 1.05, []float64{late.bytesOnDisk / early.bytesOnDisk}),
	}
}

// long runs ours at saturation once, and then for long at half of that.
func long(ctx context.Context, o *options, stdout io.Writer) error {
	all := contestants()
	ours := &all[slices.IndexFunc(all, func(c contestant) bool { return c.name == nameOurs })]
	flooded, err := inFolder(ctx, o, ours, 0)
	if err != nil {
		return fmt.Errorf("at saturation: %w", err)
	}
	fmt.Fprintln(stdout, flooded.String())
	at := *o
	at.window, at.prints = o.long, new(footprints)
	r, err := inFolder(ctx, &at, ours, longLoad*flooded.PerSecond)
	if err != nil {
		return fmt.Errorf("at half of saturation: %w", err)
	}
	fmt.Fprintln(stdout, r.String())
	early := partOf(&r, at.prints.list, o.long, earlyFrom, earlyUntil)
	late := partOf(&r, at.prints.list, o.long, lateFrom, 1)
	if early == (part{}) || late == (part{}) {
		return errLongShort
	}
	for _, p := range []struct {
		name string
		part
	}{{"early", early}, {"late", late}} {
		fmt.Fprintf(stdout, "%-5s %7.0f included/s  p99 %.1f ms  memory %.0f MB  disk %.0f bytes a transaction\n",
			p.name, p.perSecond, p.p99, p.memory/(1<<20), p.bytesOnDisk)
	}
	for _, b := range longBars(early, late) {
		fmt.Fprintln(stdout, b.Line())
	}
	return nil
}
