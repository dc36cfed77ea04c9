package bench

import (
	"context"
	"errors"
	"time"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// answerBytes bounds what one request carries of the runners' transactions: results are
// long, and a node takes half a megabyte.
const answerBytes = 256 << 10

// sendAnswers sends what the runners have to send: one transaction of each in a request, so that
// one that is refused is known before its runner's next is signed. It ends when nothing is
// left, or the node takes no more for now.
func (m *market) sendAnswers(ctx context.Context) error {
	for {
		batch := m.nextAnswers()
		if len(batch) == 0 {
			return nil
		}
		more, err := m.sendBatch(ctx, batch)
		if err != nil || !more {
			return err
		}
	}
}

// nextAnswers draws and signs the first transactions of runners that have some.
func (m *market) nextAnswers() (batch []*instruction) {
	bytes := 0
	for _, w := range m.workers {
		if len(w.unsent) == 0 {
			continue
		}
		a := w.unsent[0]
		if a.signed.wire == nil {
			a.signed = w.sign(a.tx, w.nonce)
		}
		if bytes += len(a.signed.wire); len(batch) == MaxBatch || len(batch) > 0 && bytes > answerBytes {
			return batch
		}
		batch = append(batch, a)
	}
	return batch
}

// sendBatch sends one request. more is false where something has to wait for the next block.
func (m *market) sendBatch(ctx context.Context, batch []*instruction) (more bool, err error) {
	var body []byte
	for _, a := range batch {
		if a.at.IsZero() {
			a.at, a.head = time.Now(), m.head
		}
		body = append(body, a.signed.wire...)
		m.report.step(a.step).Sent++
	}
	results, err := m.node.submit(ctx, body)
	var r *refusal
	switch {
	case errors.As(err, &r) && respond(r.Code) == sendAgain:
		return false, nil
	case err != nil:
		return false, err // it may have arrived: the same bytes are sent again
	}
	more = true
	for i, a := range batch {
		if i >= len(results) {
			return false, errors.New("the node answers fewer transactions than it was sent")
		}
		more = m.judged(a, &results[i]) && more
	}
	return more, nil
}

// judged takes in a node's verdict on an answer. It reports whether the runner may go on.
func (m *market) judged(a *instruction, v *rpc.Verdict) bool {
	does := arrived
	if v.Code != rpc.CodeOK {
		does = respond(v.Code)
	}
	w := a.by
	switch does {
	case sendAgain:
		return false
	case arrived:
		m.report.step(a.step).Accepted++
		m.pending[a.signed.hash] = a
		w.nonce++
	case giveUp: // its nonce is for the next one
		m.report.Refused[reason(v.Code, v.Message)]++
		if a.job != nil {
			a.job.sent--
		} else {
			m.endBeat(w)
		}
	}
	w.unsent = w.unsent[1:]
	return true
}
