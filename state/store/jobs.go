package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Side is what an account has to do with a job.
type Side byte

// The sides.
const (
	Submits Side = 's' // it has asked for the job
	Works   Side = 'w' // it was drawn for the job
)

// JobsOf are the jobs that a block makes those of an account, ascending.
type JobsOf struct {
	Side Side
	Of   chain.Address
	IDs  []chain.Hash
}

// JobsAt are the jobs of one account in one block, ascending.
type JobsAt struct {
	Height chain.Height
	IDs    []chain.Hash
}

func jobsKey(side Side, of chain.Address, h chain.Height) []byte {
	b := append(make([]byte, 0, 2+len(of)+8), tableJobs, byte(side))
	return binary.BigEndian.AppendUint64(append(b, of[:]...), uint64(h))
}

// putJobs writes whose jobs a block begins.
func putJobs(b *pebble.Batch, rec *BlockRecord) (err error) {
	var row []byte
	for i := range rec.Jobs {
		j := &rec.Jobs[i]
		row = row[:0]
		for n := range j.IDs {
			row = append(row, j.IDs[n][:]...)
		}
		err = errors.Join(err, b.Set(jobsKey(j.Side, j.Of, rec.Height), row, nil))
	}
	return err
}

// JobsOf returns the jobs of an account in the first blocks of a stretch that have any, until
// there are most of them or more. The index begins behind [Store.Base].
func (s *Store) JobsOf(side Side, of chain.Address, in Stretch, most int) (list []JobsAt, err error) {
	if in.From > in.To || most < 1 {
		return nil, nil
	}
	done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: jobsKey(side, of, in.From), UpperBound: append(jobsKey(side, of, in.To), 0)})
	if err != nil {
		return nil, damage(err)
	}
	defer func() { err = errors.Join(err, damage(it.Error()), it.Close()) }()
	first, next := it.Last, it.Prev
	if in.OldestFirst {
		first, next = it.First, it.Next
	}
	for ok := first(); ok && most > 0; ok = next() {
		at := JobsAt{Height: chain.Height(binary.BigEndian.Uint64(it.Key()[2+len(of):]))}
		row, err := it.ValueAndErr()
		if err != nil {
			return nil, damage(err)
		}
		if at.IDs, err = readJobs(row); err != nil {
			return nil, fmt.Errorf("jobs of %s in block %d: %w", of, at.Height, err)
		}
		most -= len(at.IDs)
		list = append(list, at)
	}
	return list, nil
}

// readJobs reads at least one id.
func readJobs(row []byte) ([]chain.Hash, error) {
	if len(row) == 0 || len(row)%hashLen != 0 {
		return nil, damaged("ids of jobs take %d bytes", len(row))
	}
	ids := make([]chain.Hash, len(row)/hashLen)
	for i := range ids {
		copy(ids[i][:], row[i*hashLen:])
	}
	return ids, nil
}
