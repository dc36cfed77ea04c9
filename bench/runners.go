package bench

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/workload"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// healthy is what a runner must be to be drawn, as the node's API says it.
const healthy = "healthy"

// workersOf makes the accounts that do the jobs of a mix. Their keys follow from the seed,
// as those of the senders, and are others.
func workersOf(c *LoadConfig) ([]account, error) {
	accounts := make([]account, c.Mix.Runners)
	for i := range accounts {
		key, err := workload.RunnerKey(c.Seed, i)
		if err != nil {
			return nil, err
		}
		accounts[i] = newAccount(key)
	}
	return accounts, nil
}

// fetchRunner returns nil for an address that is no runner.
func (c *nodeClient) fetchRunner(ctx context.Context, a chain.Address) (*rpc.RunnerReply, error) {
	var reply rpc.RunnerReply
	err := c.get(ctx, "/runner/"+a.String(), &reply)
	if notFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("runner %s: %w", a, err)
	}
	return &reply, nil
}

// countRunners asks how many runners the chain has.
func (c *nodeClient) countRunners(ctx context.Context) (uint64, error) {
	var reply rpc.RunnersReply
	if err := c.get(ctx, "/runners/active?limit=1", &reply); err != nil {
		return 0, fmt.Errorf("runners: %w", err)
	}
	return reply.TotalCount, nil
}

// enlistment is a transaction that makes a runner of an account, or brings it back.
type enlistment struct {
	account *account
	tx      chain.Tx
}

// enlistments says what the accounts must send to be healthy runners, and adds what that
// takes to their needs.
func enlistments(ctx context.Context, node *nodeClient, accounts []*account, works bool, p *prices) (list []enlistment, err error) {
	for _, a := range accounts {
		r, err := node.fetchRunner(ctx, a.address)
		if err != nil {
			return nil, err
		}
		var tx chain.Tx
		switch {
		case r == nil || r.Health == "deregistered":
			tx = p.register(works)
			p.registered++
		case r.Health == healthy && !r.Understaked:
			continue
		case r.Health == "unhealthy" && !r.Understaked:
			tx = p.beat(true)
		default:
			return nil, fmt.Errorf("runner %s, whose key follows from the seed, is %s and short of stake (%t): use another seed", a.address, r.Health, r.Understaked)
		}
		need, err := fees.MaxCost(&tx)
		if err != nil {
			return nil, fmt.Errorf("registration: %w", err)
		}
		a.need += need
		list = append(list, enlistment{a, tx})
	}
	return list, nil
}

// enlist sends what makes runners of accounts that have the money, and waits until the node
// calls all of them healthy.
func enlist(ctx context.Context, node *nodeClient, list []enlistment, log io.Writer) error {
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintf(log, "registering %d runners\n", len(list))
	ready := make([]signed, len(list))
	for i, e := range list {
		ready[i] = e.account.sign(e.tx, e.account.nonce)
		e.account.nonce++
	}
	end := time.Now().Add(fundStall)
	for next, seen := 0, 0; seen < len(list); {
		taken, err := submitSome(ctx, node, ready[next:])
		if err != nil {
			return fmt.Errorf("register runners: %w", err)
		}
		if next += taken; taken > 0 {
			continue
		}
		for ; seen < next; seen++ {
			r, err := node.fetchRunner(ctx, list[seen].account.address)
			if err != nil {
				return err
			}
			if r == nil || r.Health != healthy {
				break
			}
		}
		if seen == len(list) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("register runners: %d of %d are, after %v: ask GET /transaction/%s/receipt", seen, len(list), fundStall, ready[seen].hash)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(fundWait):
		}
	}
	return nil
}

// heard is a heartbeat that stands in a block.
type heard struct {
	runner chain.Address
	at     uint64
}

// unheard counts the runners that the chain has heard last before their last heartbeat
// stood in a block: that has failed.
func unheard(ctx context.Context, node *nodeClient, list []heard) (n int64, err error) {
	for _, h := range list {
		r, err := node.fetchRunner(ctx, h.runner)
		if err != nil {
			return 0, err
		}
		if r == nil || r.LastHeartbeat == nil || uint64(*r.LastHeartbeat) < h.at {
			n++
		}
	}
	return n, nil
}
