package ledger

import (
	"context"
	"errors"
	"fmt"
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
		l.cfg.Log.Error("a stored block cannot be read for a peer: run cowboyd verify", "view", v, "err", err)
	}
	return found, err
}

// final returns what it found also with an error.
func (l *Ledger) final(ctx context.Context, v chain.View, limit, bytesMax int) ([]engine.ArchivedBlock, error) {
	head, first := l.Head().Height(), max(1, l.cfg.Store.Base())
	var fault error
	// Views rise with heights, so the first block of v or later can be found by
	// halving.
	n := sort.Search(int(head-first)+1, func(i int) bool {
		view, err := l.viewAt(first + chain.Height(i))
		if err != nil {
			fault = err
		}
		return view >= v
	})
	if fault != nil {
		return nil, fault
	}
	if n == 0 && first > 1 {
		return nil, nil // what comes before is not kept, and v may be there
	}
	var out []engine.ArchivedBlock
	for h := first + chain.Height(n); h <= head && len(out) < limit && bytesMax > 0; h++ {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		rec, ok, err := l.cfg.Store.BlockByHeight(h)
		if err == nil && !ok {
			err = fmt.Errorf("block %d is not stored", h)
		}
		if err != nil {
			return out, err
		}
		certificate, own, err := splitCertificates(rec.Certificate)
		if err != nil {
			return out, fmt.Errorf("block %d: %w", h, err)
		}
		out = append(out, engine.ArchivedBlock{Certificate: certificate, Own: own, Block: rec.Block})
		bytesMax -= len(rec.Block)
	}
	return out, nil
}

func (l *Ledger) viewAt(h chain.Height) (chain.View, error) {
	_, encoded, ok, err := l.cfg.Store.BlockBytes(h)
	if err == nil && !ok {
		err = fmt.Errorf("block %d is not stored", h)
	}
	if err != nil {
		return 0, err
	}
	head, _, err := chain.SplitBlock(encoded)
	if err != nil {
		return 0, fmt.Errorf("stored block %d: %w", h, err)
	}
	header, err := chain.DecodeHeader(head)
	if err != nil {
		return 0, fmt.Errorf("stored block %d: %w", h, err)
	}
	return header.View, nil
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
