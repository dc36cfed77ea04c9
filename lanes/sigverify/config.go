package sigverify

import (
	"errors"
	"fmt"
	"time"
)

// Config sizes the pipeline. The zero value is invalid; start from
// DefaultConfig.
type Config struct {
	Workers      int           // goroutines that verify; one per core
	BatchTxs     int           // transactions after which a batch stops waiting; one that shows results counts for their signatures too
	BatchWaitMax time.Duration // longest time a lone transaction waits for company
	QueueTxs     int           // transactions accepted but not yet in a batch
	QueueBytes   int           // bytes of their bodies
	CacheTxs     int           // verified transactions remembered, per generation
	CacheBytes   int           // bytes that they hold (chain.VerifiedTx.HeldBytes), per generation
}

// DefaultConfig returns the settings for a validator with the given cores.
func DefaultConfig(cores int) Config {
	return Config{
		Workers:      max(1, cores), // the queue bounds them; VerifyBlock does not stand in it
		BatchTxs:     64,            // eight kernel calls of eight lanes
		BatchWaitMax: 200 * time.Microsecond,
		QueueTxs:     16_384,
		QueueBytes:   64 << 20,
		CacheTxs:     131_072, // a full user lane, which Resize follows: what waits there is found here first
		CacheBytes:   128 << 20,
	}
}

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	switch {
	case c.Workers < 1:
		return fmt.Errorf("workers = %d, want at least 1", c.Workers)
	case c.QueueTxs < 1:
		return fmt.Errorf("queue of %d transactions, want at least 1", c.QueueTxs)
	case c.BatchTxs < 1 || c.BatchTxs > c.QueueTxs:
		return fmt.Errorf("batch of %d transactions, want 1 to queue size %d", c.BatchTxs, c.QueueTxs)
	case c.BatchWaitMax <= 0:
		return errors.New("batch wait must be positive: a lone transaction would wait forever")
	case c.QueueBytes < 1:
		return fmt.Errorf("queue of %d bytes, want at least 1", c.QueueBytes)
	case c.CacheTxs < 1 || c.CacheBytes < 1:
		return fmt.Errorf("cache of %d transactions and %d bytes, want at least 1", c.CacheTxs, c.CacheBytes)
	}
	return nil
}
