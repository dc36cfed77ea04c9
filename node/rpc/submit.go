package rpc

import (
	"context"
	"errors"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
)

// submit answers 200 with one verdict for each transaction as soon as the
// envelope decodes, even if every verdict is a refusal: a batch has no single
// status. The answer is binary for whoever asks for that ([VerdictsMedia]).
func (s *Server) submit(w http.ResponseWriter, r *http.Request, _ []string) error {
	return s.submitTo(w, r, s.source.Submit)
}

// admission is [Transactions.Submit], or what does the same for some transactions alone.
type admission func(ctx context.Context, bodies [][]byte, into []Verdict) ([]Verdict, error)

func (s *Server) submitTo(w http.ResponseWriter, r *http.Request, admit admission) error {
	hashes, err := hashesParam(r)
	if err != nil {
		return err
	}
	room := s.submitRoom()
	verdicts, err := s.readAndSubmit(w, r, admit, room)
	if err != nil {
		return err // of which the source may still read: the room is not used again
	}
	if wantsVerdicts(r.Header) {
		answer := make([]byte, 0, verdictsHeadBytes+len(verdicts)*binaryVerdictBytes)
		s.writeBody(w, http.StatusOK, VerdictsMedia, AppendVerdicts(answer, verdicts, hashes))
	} else {
		answer := make([]byte, 0, len(`{"results":[]}`)+1+len(verdicts)*jsonVerdictBytes)
		s.writeBody(w, http.StatusOK, "application/json", appendVerdictsJSON(answer, verdicts, hashes))
	}
	s.recycle(room)
	s.recycleBody(r)
	return nil
}

// submitRoom is the memory of one submission, which the next one has when this one is
// answered. The source keeps no reference to it behind its verdicts.
type submitRoom struct {
	bodies   [][]byte
	verdicts []Verdict
}

func (s *Server) submitRoom() *submitRoom {
	if room, ok := s.submitRooms.Get().(*submitRoom); ok {
		return room
	}
	return &submitRoom{}
}

func (s *Server) recycle(room *submitRoom) {
	clear(room.bodies)
	clear(room.verdicts)
	s.submitRooms.Put(room)
}

// submitWait is submit followed by a wait for the accepted transactions, and
// for those the node knew already, so that a client may repeat a request whose
// answer it lost.
func (s *Server) submitWait(w http.ResponseWriter, r *http.Request, _ []string) error {
	timeout, err := s.timeoutParam(r)
	if err != nil {
		return err
	}
	verdicts, err := s.readAndSubmit(w, r, s.source.Submit, &submitRoom{})
	if err != nil {
		return err
	}
	var awaited []chain.Hash
	for _, v := range verdicts {
		if v.Code == CodeOK || v.Code == CodeTxKnown {
			awaited = append(awaited, v.Hash)
		}
	}
	if len(awaited) > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		err = s.source.Wait(ctx, awaited)
		cancel()
		// The verdicts are owed even when the wait ended without the block: by
		// its time, or because the node stops.
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrNotReady) {
			return err
		}
	}
	reply := SubmitWaitReply{Results: make([]SubmitWaitResult, len(verdicts))}
	for i := range verdicts {
		reply.Results[i].SubmitResult = submitResult(&verdicts[i])
	}
	if err := s.addReceipts(r.Context(), verdicts, reply.Results); err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// addReceipts adds the receipts of what is final, up to ValueBytesMax bytes that they output
// and emit, and while the client can pay for them. The verdicts are owed in any case; the
// other receipts can be asked for.
func (s *Server) addReceipts(ctx context.Context, verdicts []Verdict, into []SubmitWaitResult) error {
	shown, left := s.values(), s.cfg.ValueBytesMax
	for i, v := range verdicts {
		if v.Code != CodeOK && v.Code != CodeTxKnown {
			continue
		}
		found, ok, err := s.source.Receipt(ctx, v.Hash)
		if err == nil && ok {
			n := valueBytes(found.Receipt.Output, found.Receipt.Events)
			left -= n
			err = billValues(ctx, n)
		}
		switch {
		case isOwed(err), left < 0, shown.left <= 0:
			return nil
		case err != nil:
			return err
		case ok:
			shaped := receiptReply(found, shown)
			into[i].Receipt = &shaped
		}
	}
	return nil
}

// readAndSubmit reads a submission and has it judged. The verdicts are the room's.
func (s *Server) readAndSubmit(w http.ResponseWriter, r *http.Request, admit admission, room *submitRoom) ([]Verdict, error) {
	if err := checkContentType(r, "application/octet-stream", "application/x-www-form-urlencoded"); err != nil {
		return nil, err
	}
	body, err := readBody(w, r, min(s.cfg.SubmitBytesMax, s.cfg.BodyBytesMax))
	if err != nil {
		return nil, err
	}
	bodies, err := chain.AppendWireTxs(room.bodies[:0], body, s.cfg.SubmitTxsMax)
	if err != nil {
		return nil, badRequest(CodeBadSubmission,
			"the body is not 1 to %d transactions, each a u32 big-endian length and a CBOR body: %s",
			s.cfg.SubmitTxsMax, clip(err.Error()))
	}
	verdicts, err := admit(r.Context(), bodies, room.verdicts[:0])
	if err != nil {
		return nil, err
	}
	room.bodies, room.verdicts = bodies, verdicts
	s.Stats.Submitted.Add(uint64(len(bodies)))
	for _, v := range verdicts {
		if v.Code == CodeOK {
			s.Stats.Accepted.Add(1)
		}
	}
	return verdicts, nil
}

func submitResult(v *Verdict) SubmitResult {
	return SubmitResult{Hash: v.Hash.String(), Accepted: v.Code == CodeOK, Code: v.Code, Message: v.said()}
}
