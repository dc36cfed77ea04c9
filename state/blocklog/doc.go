// Package blocklog keeps finalized blocks in flat files. Blocks are written once,
// never changed and never pruned: in a database that merges its files they would
// be copied again and again for nothing.
//
// # Files
//
//	000001.blocks, 000002.blocks, ...
//	segment = header record*
//	header  = magic (8) ‖ version (u32) ‖ number (u32) ‖ xxhash64 of both (u64)
//	record  = height (u64) ‖ salt (u64) ‖ length (u32) ‖ parts (u32) ‖ sum (u64)
//	          ‖ entry* ‖ part*
//	entry   = end of the part (u32) ‖ sum of the part (u64)
//
// Integers are little-endian. The length counts what follows the sum. The first
// sum covers salt, height, length, number of parts and all entries; that of a
// part covers salt, height, number of the part and its bytes. So a part can be
// read and checked alone. A segment takes records until the next one would make
// it larger than Config.SegmentBytes; a record never crosses segments.
// It has at most MaxRecordBytes, which every genesis keeps its blocks and their
// receipts below.
//
// # Who knows what
//
// The log knows no order of its own: the caller keeps the [Place] of each record
// in an index that is written after the record is durable, and tells Open which
// is the last. What stands behind the last indexed record is of an append that a
// crash cut short. It is cut off, or overwritten where the file system cannot
// shorten files. The salt is random and stands in the record and in its Place:
// bytes that a disk kept of an earlier append, or that somebody put into a block
// because they look like a record, never pass for the record.
//
// # Damage
//
// Everything that is read is checked; what does not fit is a [DamageError] and
// is never returned. A missing segment is noticed by Open.
//
// Up to segmentsOpenMax segments stay open for readers, so that a file which is
// damaged, cut or removed meanwhile is read as its open file has it.
// [Log.CheckFiles] looks at the names.
//
// A damaged record can be written again at its place, from parts that somebody else
// has: [Log.Salvage] says which are still good, [Log.Rewrite] writes. The record is a
// function of its parts and of its Place, so that nothing else has to change, and a
// write that is cut off leaves what was there before: a damaged record
// (docs/adr/0145). What the disk does not give back is damage as well; to write it
// again may cost what stands beside it in the same sector (docs/adr/0158).
//
// One goroutine at a time may call Append and Close; any number may do the rest.
package blocklog
