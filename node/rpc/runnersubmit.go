package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
)

// Verdicts on transactions that a runner's paths do not take (resolution 12.76).
var (
	ErrOtherSender      = errors.New("the sender is not the runner of the path")
	ErrOtherInstruction = errors.New("the path does not take this instruction")
)

// runnerSubmitRoutes are POST /submit for what one runner sends. The node builds no
// transactions: a body is what /submit takes, and so is the answer.
func (s *Server) runnerSubmitRoutes() []route {
	registry, verifier := chain.AddrRunnerRegistry, chain.AddrResultVerifier
	line := func(name, about string, to chain.Address, opcodes ...uint64) route {
		return route{
			method: http.MethodPost, pattern: "/runner/{address}/" + name, about: "as /submit, for " + about + " of this runner alone",
			handle: s.submitOf(to, opcodes...), body: s.cfg.SubmitBytesMax, rates: s.submitRates,
		}
	}
	return []route{
		line("heartbeat", "heartbeats", registry, chain.OpRunnerHeartbeat),
		line("job_result_commit", "commitments", verifier, chain.OpResultCommit),
		line("job_result", "results", verifier, chain.OpResultReveal, chain.OpResultSubmit),
		line("job_result_payload", "results, which have their data in them,", verifier, chain.OpResultReveal, chain.OpResultSubmit),
	}
}

// submitOf takes transactions of the runner of the path with one of these instructions.
func (s *Server) submitOf(to chain.Address, opcodes ...uint64) handleFunc {
	return func(w http.ResponseWriter, r *http.Request, args []string) error {
		addr, err := parseAddress(args[0])
		if err != nil {
			return err
		}
		err = s.readHead(r.Context(), func(v StorageReader, _ chain.Height) error { return registered(v, addr) })
		if err != nil {
			return err
		}
		only := &runnerTxs{sender: addr, to: to, opcodes: opcodes}
		return s.submitTo(w, r, func(ctx context.Context, bodies [][]byte, into []Verdict) ([]Verdict, error) {
			return s.source.SubmitOnly(ctx, only.pass, bodies, into)
		})
	}
}

// registered refuses who has never been a runner.
func registered(v runners.Reader, addr chain.Address) error {
	rec, err := runners.Read(v, addr)
	if err == nil && rec == nil {
		err = notFound(CodeUnknownRunner, "%s has never registered as a runner", addr)
	}
	return err
}

// runnerTxs are the transactions that a path of a runner takes.
type runnerTxs struct {
	sender  chain.Address
	to      chain.Address
	opcodes []uint64
}

// pass is nil for them. It is asked in the one stage of the signature pipeline that all
// transactions go through in turn, so it reads no more than the opcode and the sender: the
// arguments were read before.
func (o *runnerTxs) pass(tx *chain.VerifiedTx) error {
	row, err := tx.Tx.Row()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrOtherInstruction, err)
	case row.To != o.to || !slices.Contains(o.opcodes, row.Opcode):
		return fmt.Errorf("%w: %s goes to /submit", ErrOtherInstruction, row.Name)
	case tx.Sender != o.sender:
		return fmt.Errorf("%w: %s has signed", ErrOtherSender, tx.Sender)
	}
	return nil
}
