// Package journal keeps a log of records that survives crashes: a validator
// writes each vote to it, and syncs, before the vote leaves.
//
// # File
//
//	file   = header record*
//	header = magic (8) ‖ version (u32) ‖ kind (8) ‖ salt (8) ‖ crc32c of all four (u32)
//	record = length (u32) ‖ number (u64) ‖ sum of the head (u64) ‖ sum (u64) ‖ payload
//
// The kind says what the records are ([Kind]): a file under the name of another is
// refused ([ErrKind]). Files of version 1 have none and are read as any.
//
// Integers are little-endian. The number counts the file's records from 0. Sums are
// xxhash64: that of the head covers salt, length and number, the other the payload, too, so
// a record that is changed, lost, repeated or moved is seen. The salt is random in each
// file: who chooses a payload, as senders of transactions do, cannot make it look like a
// record of its own, nor like the head of one, which would have to be read to its end to
// be refused. Files up to version 2 have no sums of heads: opening one replaces it by one of
// this version, and of what looks like records behind a bad one only so much is read that the
// time stays in proportion to the file.
//
// # Crashes and damage
//
// Records appended since the last Sync may be lost in a crash, and the last
// write may be on disk in part. Opening the journal therefore cuts off what
// follows the last good record, as long as no good record follows it. A good
// record behind a bad one means that the disk lost something it had promised to
// keep; the journal is then refused ([ErrDamaged]), because a validator that
// has forgotten a vote must not vote.
//
// Two limits follow from keeping no second copy. Damage to the last record of
// all looks like a torn write. And of a last write above one page a disk may
// keep a later page and lose an earlier one in a power cut; that looks like
// damage and is refused, the safe side.
//
// After a failed write or sync the journal accepts nothing more ([ErrFailed]):
// a sync that is tried again may report success for data that is gone.
//
// A [Journal] is for one goroutine at a time, and its file for one process.
package journal
