package p2p

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The book's file holds the signed records of members, in the form of control
// messages in frames. It is a help for the next start, when the addresses that
// the operator gave may lead nowhere any more: each record is verified as if a
// peer had sent it, and a file that is damaged or gone costs no more than the
// help.

const (
	// bookPause gathers what is learned into one write of the file.
	bookPause = time.Second
	// bookFileBytesMax bounds what is read: a full committee's records.
	bookFileBytesMax = 1 << 20
)

// load takes in the records of the file, except our own: that is made anew at
// each start. It returns how many it took.
func (b *book) load(name string, self int) (taken int, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read address book: %w", err)
	}
	defer f.Close()
	for range bookFileBytesMax / controlBytesMax {
		msg, err := readFrame(f, controlBytesMax, func(int) {})
		if err != nil {
			return taken, nil // its end, or the end of what is whole
		}
		records, err := decodeRecords(msg, len(b.committee))
		if err != nil {
			return taken, nil
		}
		for _, r := range records {
			if r.member == self {
				continue
			}
			if fault, honest := b.learn(r, time.Now()); fault == recordTaken && honest {
				taken++
			}
		}
	}
	return taken, nil
}

// save replaces the file in one step.
func (b *book) save(name string) error {
	var out []byte
	told := make([]uint64, len(b.committee))
	for {
		records, _ := b.news(told, time.Now())
		if len(records) == 0 {
			break
		}
		out = appendFrame(out, appendRecords(nil, records))
	}
	draft := name + ".new"
	if err := writeSynced(draft, out); err != nil {
		return fmt.Errorf("write address book: %w", err)
	}
	if err := os.Rename(draft, name); err != nil {
		return fmt.Errorf("write address book: %w", err)
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("sync folder of address book: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func writeSynced(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// keepBook writes the book whenever it has news. A disk that refuses is the
// operator's to know and no reason to stop.
func (t *Transport) keepBook(ctx context.Context) {
	_, changed := t.book.news(make([]uint64, len(t.cfg.Committee)), time.Now())
	for {
		if err := t.book.save(t.cfg.BookFile); err != nil {
			t.warn("address book is not kept", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		if sleep(ctx, bookPause) != nil {
			return
		}
		_, changed = t.book.news(make([]uint64, len(t.cfg.Committee)), time.Now())
	}
}
