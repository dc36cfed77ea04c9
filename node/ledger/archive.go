package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sort"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Final returns final blocks from view v on from the store. It implements
// engine.Archive and is safe for any goroutine. A store that began with an
// imported state answers only for what comes after it.
func (l *Ledger) Final(ctx context.Context, v chain.View, limit, bytesMax int) ([]engine.ArchivedBlock, error) {
	found, err := l.final(ctx, v, limit, bytesMax)
	if err != nil && ctx.Err() == nil {
		l.unread(v, err)
	}
	return found, err
}

// unread reports that a stored block cannot be read for a peer. Peers ask again and
// again, so the same words are an error once.
func (l *Ledger) unread(v chain.View, err error) {
	if l.cfg.Unread != nil && l.cfg.Unread(err) {
		return // which is in the log, and mended
	}
	level, text := slog.LevelError, err.Error()
	if old := l.saidUnread.Swap(&text); old != nil && *old == text {
		level = slog.LevelDebug
	}
	l.cfg.Log.Log(context.Background(), level, "a stored block cannot be read for a peer: run cowboyd verify", "view", v, "err", err)
}

// final returns what it found also with an error. To find the first block it reads
// certificates alone, of a few hundred bytes, about as many as the height has binary
// digits; then block and certificate of what it returns, without receipts, and nothing
// of a block that would not fit.
func (l *Ledger) final(ctx context.Context, v chain.View, limit, bytesMax int) ([]engine.ArchivedBlock, error) {
	head, first := l.Head().Height(), max(1, l.cfg.Store.Base())
	if head < first {
		return nil, nil
	}
	// Views rise with heights, so the first block of v or later can be found by
	// halving, and a block's view is no less than its height.
	last := max(first, min(head, chain.Height(v)))
	var fault error
	n := sort.Search(int(last-first)+1, func(i int) bool {
		if fault != nil || ctx.Err() != nil {
			return true
		}
		view, err := l.viewAt(first + chain.Height(i))
		if err != nil {
			fault = err
		}
		return view >= v
	})
	switch {
	case fault != nil:
		return nil, fault
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case n == 0 && first > 1:
		return nil, nil // what comes before is not kept, and v may be there
	}
	var out []engine.ArchivedBlock
	room := math.MaxInt // the first block goes whatever it takes
	for h := first + chain.Height(n); h <= head && len(out) < limit; h++ {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		block, stored, ok, err := l.cfg.Store.FinalBlock(h, room)
		if err == nil && !ok {
			err = fmt.Errorf("block %d is not stored", h)
		}
		if err != nil {
			return out, err
		}
		if block == nil {
			return out, nil // the next answer begins with it
		}
		certificate, own, err := splitCertificates(stored)
		if err != nil {
			return out, fmt.Errorf("block %d: %w", h, err)
		}
		out = append(out, engine.ArchivedBlock{Certificate: certificate, Own: own, Block: block})
		if bytesMax -= len(block) + len(stored); bytesMax <= 0 {
			return out, nil
		}
		room = bytesMax
	}
	return out, nil
}

// viewAt reads the view of a block out of its own certificate, which has a checksum of
// its own.
func (l *Ledger) viewAt(h chain.Height) (chain.View, error) {
	stored, ok, err := l.cfg.Store.Certificate(h)
	if err == nil && !ok {
		err = fmt.Errorf("block %d is not stored", h)
	}
	if err != nil {
		return 0, err
	}
	_, own, err := splitCertificates(stored)
	if err != nil {
		return 0, fmt.Errorf("block %d: %w", h, err)
	}
	c, err := simplex.DecodeCertificate(own)
	if err != nil {
		return 0, fmt.Errorf("own certificate of block %d: %w", h, err)
	}
	digest, _, err := l.cfg.Store.BlockDigest(h)
	if err != nil {
		return 0, err
	}
	if c.Proposal.Payload != digest {
		return 0, fmt.Errorf("the certificate stored with block %d is of another one", h)
	}
	return c.Proposal.Round.View, nil
}

// joinCertificates writes what the store keeps beside a block: the certificate
// that made it final and, where that is a descendant's, its own after it.
func joinCertificates(certificate, own []byte) []byte {
	if string(own) == string(certificate) {
		return certificate
	}
	return append(append([]byte(nil), certificate...), own...)
}

// splitCertificates reads what joinCertificates wrote.
func splitCertificates(b []byte) (certificate, own []byte, err error) {
	_, rest, err := simplex.ReadCertificate(b)
	if err != nil {
		return nil, nil, fmt.Errorf("stored certificate: %w", err)
	}
	certificate = b[:len(b)-len(rest)]
	if len(rest) == 0 {
		return certificate, certificate, nil
	}
	return certificate, rest, nil
}

// FinalCertificate takes what shows that a block is final out of what the store keeps
// with it. descendant is the block that the certificate is of, if it is not the very
// block; then the block's own notarization follows in what is returned, as it does in
// the store.
func FinalCertificate(stored []byte) (certificate []byte, descendant chain.Hash, err error) {
	final, own, err := splitCertificates(stored)
	if err != nil || string(own) == string(final) {
		return final, chain.Hash{}, err
	}
	certs := [2]simplex.Certificate{}
	for i, b := range [][]byte{final, own} {
		if certs[i], err = simplex.DecodeCertificate(b); err != nil {
			return nil, chain.Hash{}, fmt.Errorf("stored certificate: %w", err)
		}
	}
	if certs[1].Kind == simplex.Finalize {
		return own, chain.Hash{}, nil
	}
	return stored, certs[0].Proposal.Payload, nil
}

// Certified are the certificates of a block.
type Certified struct {
	Final, Own simplex.Certificate // the same for a block with a finalization of its own
}

// ReadCertificates reads what [FinalCertificate] returned.
func ReadCertificates(b []byte) (c Certified, err error) {
	c.Final, c.Own, err = decodeCertificates(b)
	return c, err
}

// ErrNotOwn means that a block was made final by a certificate of a descendant
// alone. The next blocks have certificates of their own again.
var ErrNotOwn = errors.New("block has no finalization certificate of its own")

// OwnCertificate takes the certificate that finalizes the very block out of what
// the store keeps with it.
func OwnCertificate(stored []byte) ([]byte, error) {
	certificate, own, err := splitCertificates(stored)
	if err == nil && string(own) != string(certificate) {
		err = ErrNotOwn
	}
	return certificate, err
}
