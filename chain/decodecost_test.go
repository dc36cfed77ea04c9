package chain

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// mostForTexts is what lists of the shortest texts may take in memory beyond eight times
// their encoding: they are short.
const mostForTexts = 24 << 10

// accepted is how a decoding that ends well is called in the table.
const accepted = "accepted"

// costOf runs a decoder and returns the bytes that it allocates and the nanoseconds that it
// takes, both for one byte of input.
func costOf(in []byte, decode func([]byte) error) (allocated, nanos float64) {
	const runs = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	for range runs {
		_ = decode(in)
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	per := float64(runs * len(in))
	return float64(after.TotalAlloc-before.TotalAlloc) / per, float64(took) / per
}

// TestDecodingCostsFollowBytes feeds each decoder the inputs that make it work most for
// their length, those that it refuses at their end and those that announce more than they
// hold among them: what it allocates stays within eight times the input, or within
// mostForTexts, and the table of the log shows the same time a byte for the short and the
// long.
func TestDecodingCostsFollowBytes(t *testing.T) {
	list := func(n int) []byte { return cbor.AppendArray(nil, n) }
	many := func(n int, item []byte) []byte { return bytes.Repeat(item, n) }
	tx := publicTx().Encode()
	upToList := tx[:len(tx)-3] // what follows: access list, payload, null
	entry := func(i int, keys []byte) []byte {
		addr := Address{byte(i >> 8), byte(i)}
		return append(cbor.AppendBytes(list(2), addr[:]), keys...)
	}
	entries := func(n int) (b []byte) {
		for i := range n {
			b = append(b, entry(i, list(0))...)
		}
		return b
	}
	key := func(i int) []byte { return cbor.AppendBytes(nil, numbered(i)) }
	keys := func(n int) (b []byte) {
		for i := range n {
			b = append(b, key(i)...)
		}
		return b
	}
	receipt := (&Receipt{Status: StatusSucceeded}).Encode()
	upToEvents := receipt[:len(receipt)-2]
	event := (&Event{}).appendTo(nil)
	delivery := (&Delivery{}).appendTo(nil)
	header := EncodeHeader(&Header{Version: 1})
	presence := EncodeHeader(&Header{Version: 1, PresenceInput: make([]byte, MaxPresenceBytes), ConsumedSeeds: make([]byte, MaxConsumedSeedsBytes)})
	blockOf := func(head []byte, n int, body []byte) []byte {
		return append(append(append(list(2), head...), list(n)...), many(n, body)...)
	}
	seed := (&ConsumedSeed{}).appendTo(nil)
	rising := func(n int) (b []byte) {
		for i := range n {
			b = append(b, (&ConsumedSeed{Epoch: Epoch(i)}).appendTo(nil)...)
		}
		return b
	}
	wire := func(n int) []byte { return many(n, append([]byte{0, 0, 0, minTxBytes}, make([]byte, minTxBytes)...)) }
	sparse := func(n int) (b []byte) {
		b = []byte{presenceVersion, presenceSparse, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
		for i := range n {
			b = append(b, 0, 0, byte(i>>8), byte(i))
		}
		return b
	}
	decodeTx := func(b []byte) error { _, err := DecodeTx(b); return err }
	decodeReceipt := func(b []byte) error { _, err := DecodeReceipt(b); return err }
	decodeBlock := func(b []byte) error { _, err := DecodeBlock(b, MaxBlockBytes); return err }
	end := cbor.AppendNull(cbor.AppendBytes(nil, nil))
	for _, c := range []struct {
		name        string
		short, long []byte
		decode      func([]byte) error
		want        string // accepted, or nothing
	}{
		{"tx: as many addresses as bytes", slicesOf(upToList, list(64), many(64, []byte{0})), slicesOf(upToList, list(256), many(256, []byte{0})), decodeTx, ""},
		{"tx: addresses without keys", slicesOf(upToList, list(32), entries(32), end), slicesOf(upToList, list(256), entries(256), end), decodeTx, accepted},
		{"tx: the last address out of order", slicesOf(upToList, list(32), entries(31), entry(0, list(0)), end), slicesOf(upToList, list(256), entries(255), entry(0, list(0)), end), decodeTx, ""},
		{"tx: as many keys as bytes", slicesOf(upToList, list(1), entry(0, list(128)), many(128, []byte{0})), slicesOf(upToList, list(1), entry(0, list(1024)), many(1024, []byte{0})), decodeTx, ""},
		{"tx: keys", slicesOf(upToList, list(1), entry(0, list(128)), keys(128), end), slicesOf(upToList, list(1), entry(0, list(1024)), keys(1024), end), decodeTx, accepted},
		{"tx: each address with too many keys in all", slicesOf(upToList, list(2), entry(0, slicesOf(list(1023), keys(1023))), entry(1, slicesOf(list(1023), keys(1023))), end), slicesOf(upToList, list(3), entry(0, slicesOf(list(1023), keys(1023))), entry(1, slicesOf(list(1023), keys(1023))), entry(2, slicesOf(list(1023), keys(1023))), end), decodeTx, ""},
		{"tx: payload", slicesOf(upToList, cbor.AppendNull(nil), cbor.AppendBytes(nil, make([]byte, 1024)), []byte{0}), slicesOf(upToList, cbor.AppendNull(nil), cbor.AppendBytes(nil, make([]byte, 100_000)), []byte{0}), decodeTx, ""},
		{"receipt: as many events as bytes", slicesOf(upToEvents, list(128), many(128, []byte{0})), slicesOf(upToEvents, list(1024), many(1024, []byte{0})), decodeReceipt, ""},
		{"receipt: events", slicesOf(upToEvents, list(128), many(128, event), list(0)), slicesOf(upToEvents, list(1024), many(1024, event), list(0)), decodeReceipt, accepted},
		{"receipt: as many deliveries as bytes", slicesOf(upToEvents, list(0), list(128), many(128, []byte{0})), slicesOf(upToEvents, list(0), list(1024), many(1024, []byte{0})), decodeReceipt, ""},
		{"receipt: deliveries", slicesOf(upToEvents, list(0), list(128), many(128, delivery)), slicesOf(upToEvents, list(0), list(1024), many(1024, delivery)), decodeReceipt, accepted},
		{"header: longest inputs", presence, append(bytes.Clone(presence), 0), func(b []byte) error { _, err := DecodeHeader(b); return err }, ""},
		{"block: as many bodies as fit", blockOf(header, 200, cbor.AppendBytes(nil, make([]byte, minTxBytes))), blockOf(header, 20_000, cbor.AppendBytes(nil, make([]byte, minTxBytes))), decodeBlock, accepted},
		{"block: the last body too short", append(blockOf(header, 200, cbor.AppendBytes(nil, make([]byte, minTxBytes)))[:200*(minTxBytes+1)], 0), blockOf(header, 20_000, cbor.AppendBytes(nil, make([]byte, minTxBytes-1))), decodeBlock, ""},
		{"block: bodies announced as bytes", slicesOf(list(2), header, list(60), many(1000, []byte{0x40})), slicesOf(list(2), header, list(20_000), many(20_000*16, []byte{0x40})), decodeBlock, ""},
		{"consumed seeds", slicesOf(list(20), rising(20)), slicesOf(list(1000), rising(1000)), func(b []byte) error { _, err := DecodeConsumedSeeds(b); return err }, accepted},
		{"consumed seeds, none ascending", slicesOf(list(20), many(20, seed)), slicesOf(list(1000), many(1000, seed)), func(b []byte) error { _, err := DecodeConsumedSeeds(b); return err }, ""},
		{"presence, sparse", sparse(200), sparse(60_000), func(b []byte) error { _, err := DecodePresence(b, 65_536); return err }, accepted},
		{"wire transactions", wire(50), wire(1000), func(b []byte) error { _, err := DecodeWireTxs(b, 1000); return err }, accepted},
		{"capabilities: as many domains as bytes", offer(64), offer(256), func(b []byte) error { _, err := DecodeCapabilities(b); return err }, ""},
		{"job: headers", jobOf(&HTTPJob{Headers: headers(8)}), jobOf(&HTTPJob{Headers: headers(64)}), decodeJob, accepted},
		{"job: checks", jobOf(&LLMJob{}, checks(2)...), jobOf(&LLMJob{}, checks(16)...), decodeJob, accepted},
		{"job: arguments of texts", jobOf(&MCPJob{Arguments: texts(1_000)}), jobOf(&MCPJob{Arguments: texts(100_000)}), decodeJob, accepted},
		{"results: entries announced as bytes", results(2), results(255), func(b []byte) error { r := cbor.NewReader(b); return ReadRequest(&r, new(ResultSubmit)) }, ""},
		{"nested payload", []byte(strings.Repeat("\x81", 1000)), []byte(strings.Repeat("\x81", 100_000)), func(b []byte) error { return cbor.Scan(b, cbor.DefaultLimits()) }, ""},
		{"flat payload", slicesOf(list(1000), make([]byte, 1000)), slicesOf(list(65_000), make([]byte, 65_000)), func(b []byte) error { return cbor.Scan(b, cbor.DefaultLimits()) }, accepted},
		{"map whose keys share their beginnings", prefixMap(8), prefixMap(30), func(b []byte) error { return cbor.Scan(b, cbor.DefaultLimits()) }, accepted},
	} {
		allocShort, nanosShort := costOf(c.short, c.decode)
		alloc, nanos := costOf(c.long, c.decode)
		how := accepted
		if err := c.decode(c.long); err != nil {
			how = err.Error()
		}
		t.Logf("%-42s %7d bytes: %5.2f allocated, %6.2f ns a byte; %7d bytes: %5.2f, %6.2f; %s",
			c.name, len(c.short), allocShort, nanosShort, len(c.long), alloc, nanos, how)
		if want := c.want; how != want && want == accepted {
			t.Errorf("%s: %s", c.name, how)
		}
		if alloc > 8 && alloc*float64(len(c.long)) > mostForTexts {
			t.Errorf("%s: %.1f bytes are allocated for each of %d", c.name, alloc, len(c.long))
		}
	}
}

// offer is capabilities that announce so many domains and have a byte for each.
func offer(domains int) []byte {
	c := cbor.AppendArray(cbor.AppendUint(cbor.AppendMap(nil, 5), 0), 0)
	c = cbor.AppendNull(cbor.AppendUint(c, 1))
	c = cbor.AppendArray(cbor.AppendUint(c, 2), 0)
	return append(cbor.AppendArray(cbor.AppendUint(c, 3), domains), make([]byte, domains)...)
}

func jobOf(job JobType, checks ...VerifierCheck) []byte {
	return (&JobSpec{JobType: job, Verification: Verification{Checks: checks}}).Encode()
}

func decodeJob(b []byte) error { _, err := DecodeJobSpec(b); return err }

// headers are of the shortest names.
func headers(n int) (m TextMap) {
	for i := range n {
		m = append(m, TextPair{string([]byte{'a' + byte(i/26), 'a' + byte(i%26)}), ""})
	}
	return m
}

// checks have as many of the shortest fields as they may.
func checks(n int) []VerifierCheck {
	return slices.Repeat([]VerifierCheck{&FieldsCheck{make([]string, MaxCheckFields)}}, n)
}

// texts is a list of texts of one byte.
func texts(n int) JSONValue {
	n /= 2
	return append(cbor.AppendArray(nil, n), bytes.Repeat([]byte{0x61, 'a'}, n)...)
}

// results announces so many with a byte for each.
func results(n int) []byte {
	return append(cbor.AppendArray(cbor.AppendBytes(nil, make([]byte, 32)), n), make([]byte, n)...)
}

func slicesOf(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// prefixMap is a map of n keys of 4 KiB that differ in their last bytes.
func prefixMap(n int) []byte {
	b := cbor.AppendMap(nil, n)
	for i := range n {
		b = cbor.AppendText(b, fmt.Sprintf("%04090d", i))
		b = cbor.AppendNull(b)
	}
	return b
}

func numbered(i int) []byte { return append([]byte{byte(i >> 8), byte(i)}, make([]byte, 30)...) }
