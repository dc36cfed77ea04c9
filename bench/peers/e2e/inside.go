package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// inside looks into a node of ours while it is measured: what its owners spent on a
// transaction, and where.
type inside struct {
	server   *server
	profiles string // folder; empty for none
	found    map[string]float64
}

const (
	stagePrefix       = "stage "
	ownerPrefix       = "owner "
	insideAllocations = "allocations"
	insideBytes       = "bytes allocated"

	// counterOfOwner is how counters of each owner's time begin, where the node has them.
	counterOfOwner = "cowboy_serial_seconds_total{owner=\""
)

// watch compares the counters at both ends of the window and takes profiles in it.
func (in *inside) watch(ctx context.Context, window time.Duration) error {
	before, err := in.metrics(ctx)
	if err != nil {
		return err
	}
	end := time.NewTimer(window - window/20)
	defer end.Stop()
	var takers sync.WaitGroup
	var failed [2]error
	if in.profiles != "" {
		seconds := max(1, int(window.Seconds())-2)
		for i, name := range []string{"profile", "allocs"} {
			takers.Go(func() { failed[i] = in.profile(ctx, name, seconds) })
		}
	}
	select {
	case <-ctx.Done():
	case <-end.C:
	}
	after, err := in.metrics(ctx)
	takers.Wait()
	if err := errors.Join(append(failed[:], err)...); err != nil {
		return err
	}
	in.found = perTransaction(before, after)
	return nil
}

// perTransaction is the nanoseconds that each stage and each owner spent on a
// transaction, in wall time, and what was allocated for it.
func perTransaction(before, after map[string]float64) map[string]float64 {
	const included = "cowboy_pool_included_total"
	txs := after[included] - before[included]
	if txs <= 0 {
		return nil
	}
	of := func(counter string) float64 { return (after[counter] - before[counter]) / txs }
	spent := map[string]float64{
		insideAllocations: of("go_memstats_mallocs_total"),
		insideBytes:       of("go_memstats_alloc_bytes_total"),
	}
	for _, stage := range []string{"pack", "exec", "root", "commit"} {
		spent[stagePrefix+stage] = of("cowboy_" + stage + "_nanoseconds_total")
	}
	for name := range after {
		if owner, ok := strings.CutPrefix(name, counterOfOwner); ok {
			spent[ownerPrefix+strings.TrimSuffix(owner, "\"}")] = of(name) * 1e9
		}
	}
	return spent
}

// metrics reads the node's counters.
func (in *inside) metrics(ctx context.Context) (map[string]float64, error) {
	body, err := in.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	values := map[string]float64{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		name, text, ok := strings.Cut(lines.Text(), " ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			values[name] = v
		}
	}
	return values, lines.Err()
}

// profile fetches one of the node's profiles into a file.
func (in *inside) profile(ctx context.Context, name string, seconds int) error {
	body, err := in.get(ctx, fmt.Sprintf("/debug/pprof/%s?seconds=%d", name, seconds))
	if err != nil {
		return err
	}
	defer body.Close()
	if err := os.MkdirAll(in.profiles, 0o755); err != nil {
		return fmt.Errorf("folder of profiles: %w", err)
	}
	f, err := os.Create(filepath.Join(in.profiles, name+".pb.gz"))
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	_, err = io.Copy(f, body)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("profile %s: %w", name, err)
	}
	return nil
}

func (in *inside) get(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+in.server.admin+path, nil)
	if err != nil {
		return nil, fmt.Errorf("admin %s: %w", path, err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	if reply.StatusCode != http.StatusOK {
		reply.Body.Close()
		return nil, fmt.Errorf("admin %s: %s", path, reply.Status)
	}
	return reply.Body, nil
}
