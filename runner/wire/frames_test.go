package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	other "github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

func pinSpecification() *chain.JobSpec {
	return &chain.JobSpec{
		JobID: pinJob, JobType: &chain.HTTPJob{URL: "https://example.com/price", Method: "GET", Headers: chain.TextMap{}},
		Bounds:       chain.ResourceBounds{MaxWallTimeSeconds: 30, MaxMemoryMB: 64, MaxRetries: 2},
		Verification: chain.Verification{Mode: chain.VerifyMajorityVote, Runners: 3, Threshold: 2},
		MaxPrice:     1_000_000_000_000_000_000, TimeoutBlocks: 120,
		Callback: chain.Callback{Actor: chain.Address(counting(0x22, 20)), Handler: "on_result", CorrelationID: "a", Context: []byte{}},
	}
}

// pinFrames are the frames of testdata/frames.json by their names there.
func pinFrames() map[string]Frame {
	runnerSig := [RunnerSignatureBytes]byte(counting(0x10, RunnerSignatureBytes))
	validatorSig := [ValidatorSignatureBytes]byte(counting(0x50, ValidatorSignatureBytes))
	hello := func(p Party) *Hello {
		return &Hello{
			Version: Version, ChainID: 7, Party: p, SubsetEpoch: 3, ValidatorSetHash: pinSetHash, BlockHeight: 1000,
			Challenge: [32]byte(counting(0xe0, 32)),
		}
	}
	ack := func(s AckStatus, why RejectReason, reason *string) *JobAck {
		return &JobAck{JobID: pinJob, AssignmentHash: pinSetHash, Status: s, Why: why, Reason: reason, Signature: runnerSig}
	}
	return map[string]Frame{
		"hello_runner":              hello(RunnerParty(pinRunner)),
		"hello_validator":           hello(ValidatorParty(pinPeer)),
		"hello_ack_runner":          &HelloAck{Version: Version, Party: RunnerParty(pinRunner), BlockHeight: 1000, Signature: runnerSig[:]},
		"hello_ack_validator":       &HelloAck{Version: Version, Party: ValidatorParty(pinPeer), BlockHeight: 1 << 40, Signature: validatorSig[:]},
		"ping":                      &Ping{BlockHeight: 1000, Nonce: 5, Signature: runnerSig},
		"pong":                      &Pong{BlockHeight: 1000, NonceEcho: 5, AcceptingNew: true, Signature: validatorSig},
		"backpressure_reason_null":  &Backpressure{ActiveJobs: 2, MaxConcurrent: 4, AcceptingNew: true, Signature: runnerSig},
		"backpressure_reason_empty": &Backpressure{ActiveJobs: 4, MaxConcurrent: 4, Reason: new(""), Signature: runnerSig},
		"backpressure_reason_text":  &Backpressure{ActiveJobs: 4, MaxConcurrent: 4, Reason: new("full é"), Signature: runnerSig},
		"capability_delta": &CapabilityDelta{
			BlockHeight: 1000, AddedCapabilities: []string{"b", "a"}, AddedEntitlements: []chain.Hash{pinSpec}, Signature: runnerSig,
		},
		"job_assignment": &JobAssignment{
			JobID: pinJob, Spec: pinSpecification().Encode(), SpecHash: pinSpec, Height: 1000, DeadlineBlock: 1120, Runner: pinRunner, Validator: pinPeer,
			Hash: pinSetHash, Signature: validatorSig,
		},
		"job_ack_accepted":           ack(AckAccepted, 0, nil),
		"job_ack_duplicate":          ack(AckDuplicate, 0, nil),
		"job_ack_reject":             ack(AckReject, RejectAtCapacity, new("four jobs")),
		"job_ack_reject_other":       ack(AckReject, RejectOther, nil),
		"job_progress":               &JobProgress{JobID: pinJob, Percent: 100, Detail: new("done")},
		"job_result_commit":          &JobResultCommit{JobID: pinJob, Tx: []byte{1, 2, 3}},
		"job_result":                 &JobResult{JobID: pinJob, Tx: bytes.Repeat([]byte{7}, 300)},
		"job_cancel":                 &JobCancel{JobID: pinJob, AssignmentHash: pinSetHash, Reason: CancelExpired, Signature: validatorSig},
		"goodbye_unsigned":           &Goodbye{Reason: GoodbyeUnsupportedVersion},
		"goodbye_of_runner":          &Goodbye{Reason: GoodbyeShutdown, Detail: new("maintenance"), RetryAfterBlocks: new(uint64(0)), Signature: runnerSig[:]},
		"goodbye_of_validator_later": &Goodbye{Reason: GoodbyeOverloaded, RetryAfterBlocks: new(uint64(12)), Signature: validatorSig[:]},
	}
}

// pin is a frame of testdata/frames.json: its fields as they were written from the texts, and
// its bytes on a stream. An item is a value of JSON, or {"bytes": hex}, or {"map": {"0": …}}
// for a map with numbers as keys.
type pin struct {
	Name  string          `json:"name"`
	Type  FrameType       `json:"type"`
	Body  json.RawMessage `json:"body"`
	Bytes string          `json:"bytes"`
}

const pinsFile = "testdata/frames.json"

func readPins(t testing.TB) (pins []pin) {
	t.Helper()
	b, err := os.ReadFile(pinsFile)
	if err == nil {
		err = json.Unmarshal(b, &pins)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pins
}

// itemOf makes of an item of the file what the other encoder takes.
func itemOf(t testing.TB, v any) any {
	t.Helper()
	switch x := v.(type) {
	case json.Number:
		n, err := strconv.ParseUint(x.String(), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	case []any:
		for i := range x {
			x[i] = itemOf(t, x[i])
		}
		return x
	case map[string]any:
		if s, ok := x["bytes"].(string); ok && len(x) == 1 {
			b, err := hex.DecodeString(s)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		if m, ok := x["map"].(map[string]any); ok && len(x) == 1 {
			out := map[uint64]any{}
			for k, v := range m {
				n, err := strconv.ParseUint(k, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				out[n] = itemOf(t, v)
			}
			return out
		}
		for k := range x {
			x[k] = itemOf(t, x[k])
		}
		return x
	}
	return v
}

// TestFramesArePinned holds each frame to the bytes of the file, which another encoder makes
// of fields that were written from the texts; `make interop` has a third one make them, of
// another language. A change is a fork of the link (restored definitions §16).
func TestFramesArePinned(t *testing.T) {
	mode, err := other.EncOptions{Sort: other.SortBytewiseLexical}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	frames, pins := pinFrames(), readPins(t)
	for i := range pins {
		p := &pins[i]
		f, ok := frames[p.Name]
		if !ok {
			t.Errorf("%s is no frame of the test", p.Name)
			continue
		}
		delete(frames, p.Name)
		got := Append([]byte{0xff}, f)[1:]
		d := json.NewDecoder(bytes.NewReader(p.Body))
		d.UseNumber()
		var fields any
		if err := d.Decode(&fields); err != nil {
			t.Fatal(err)
		}
		body, err := mode.Marshal(itemOf(t, fields))
		if err != nil {
			t.Fatal(err)
		}
		want := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+1)), byte(p.Type))
		if want = append(want, body...); !bytes.Equal(got, want) {
			t.Errorf("%s: our encoder and the other differ:\n%x\n%x", p.Name, got, want)
		}
		if *approve {
			p.Bytes = hex.EncodeToString(got)
		}
		if hex.EncodeToString(got) != p.Bytes {
			t.Errorf("%s is\n%x, pinned\n%s", p.Name, got, p.Bytes)
		}
		checkRoundTrip(t, p.Name, f, got)
	}
	for name := range frames {
		t.Errorf("%s is not pinned", name)
	}
	if *approve {
		b, err := json.MarshalIndent(pins, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(pinsFile, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkRoundTrip reads a frame off a stream, whole and byte by byte.
func checkRoundTrip(t *testing.T, name string, f Frame, wire []byte) {
	t.Helper()
	for _, r := range []io.Reader{bytes.NewReader(wire), iotest.OneByteReader(bytes.NewReader(wire))} {
		typ, body, err := ReadFrame(r, f.Type().OnControl())
		if err != nil || typ != f.Type() {
			t.Errorf("%s: read %v, %v", name, typ, err)
			continue
		}
		got, err := Decode(typ, body)
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%s: decoded %+v, %v, want %+v", name, got, err, f)
		}
		if n, _ := r.Read(make([]byte, 1)); n != 0 {
			t.Errorf("%s: bytes are left", name)
		}
	}
}

// TestFieldsAreInOrder: the order in which a frame walks its fields is that of its keys as
// encoded.
func TestFieldsAreInOrder(t *testing.T) {
	for name, f := range pinFrames() {
		var keys [][]byte
		b := cbor.NewReader(appendBody(nil, f, ""))
		n, err := b.Map(100)
		for range n {
			var key []byte
			if key, err = b.Raw(cbor.DefaultLimits()); err != nil {
				break
			}
			if _, err = b.Raw(cbor.Limits{Bytes: 1 << 20, Depth: 32, Items: 1 << 20}); err != nil {
				break
			}
			keys = append(keys, key)
		}
		if err != nil || !slices.IsSortedFunc(keys, bytes.Compare) || n == 0 {
			t.Errorf("%s: %d keys %q, %v", name, n, keys, err)
		}
	}
}

// TestEveryTypeIsPinned: no frame is without a pin.
func TestEveryTypeIsPinned(t *testing.T) {
	pinned := map[FrameType]bool{}
	for _, f := range pinFrames() {
		pinned[f.Type()] = true
	}
	for typ, k := range kinds {
		if !pinned[typ] || k.make().Type() != typ || typ.String() != k.name {
			t.Errorf("%v: pinned %v, made %v", typ, pinned[typ], k.make().Type())
		}
	}
}

// TestSignedBodies: the signature of a control frame is over its body without the field, not
// over one that is zero (CIP-11 §12.6).
func TestSignedBodies(t *testing.T) {
	connection := pinSession.ConnectionID()
	f := pinFrames()["backpressure_reason_text"].(*Backpressure)
	body := cbor.AppendMap(nil, 4)
	for _, kv := range []struct {
		key   string
		value []byte
	}{
		{"reason", cbor.AppendText(nil, "full é")},
		{"active_jobs", cbor.AppendUint(nil, 4)},
		{"accepting_new", cbor.AppendBool(nil, false)},
		{"max_concurrent", cbor.AppendUint(nil, 4)},
	} {
		body = append(cbor.AppendText(body, kv.key), kv.value...)
	}
	if got, want := f.SignedHash(connection), ControlDigest(connection, 0x12, body); got != want {
		t.Errorf("digest %v, want %v", got, want)
	}
	before := f.SignedHash(connection)
	f.Signature[0]++
	if f.SignedHash(connection) != before {
		t.Error("the signature is part of what it signs")
	}
	f.Reason = new("full e\u0301") // the same letter otherwise: another text (C19)
	if f.SignedHash(connection) == before {
		t.Error("texts are normalised before they are hashed")
	}
}

// TestEveryFieldIsSigned: each field of a signed control frame is in its digest.
func TestEveryFieldIsSigned(t *testing.T) {
	connection := pinSession.ConnectionID()
	delta := func(change func(*CapabilityDelta)) chain.Hash {
		f := *pinFrames()["capability_delta"].(*CapabilityDelta)
		change(&f)
		return f.SignedHash(connection)
	}
	bye := func(change func(*Goodbye)) chain.Hash {
		f := *pinFrames()["goodbye_of_runner"].(*Goodbye)
		change(&f)
		return f.SignedHash(chain.RoleRunner, connection)
	}
	seen := map[chain.Hash]int{}
	for i, h := range []chain.Hash{
		delta(func(*CapabilityDelta) {}), delta(func(f *CapabilityDelta) { f.BlockHeight++ }),
		delta(func(f *CapabilityDelta) { f.AddedCapabilities = nil }), delta(func(f *CapabilityDelta) { f.RemovedCapabilities = []string{"c"} }),
		delta(func(f *CapabilityDelta) { f.AddedEntitlements = nil }), delta(func(f *CapabilityDelta) { f.RemovedEntitlements = []chain.Hash{{}} }),
		bye(func(*Goodbye) {}), bye(func(f *Goodbye) { f.Reason++ }), bye(func(f *Goodbye) { f.Detail = nil }), bye(func(f *Goodbye) { f.RetryAfterBlocks = new(uint64(1)) }),
	} {
		if at, ok := seen[h]; ok {
			t.Errorf("digests %d and %d are equal", at, i)
		}
		seen[h] = i
	}
	if bye(func(f *Goodbye) { f.RetryAfterBlocks = nil }) != bye(func(*Goodbye) {}) {
		t.Error("none and 0 are signed alike in a Goodbye (C18)")
	}
}

func TestDecodeRefuses(t *testing.T) {
	at := func(name string, change func(body []byte) []byte) (FrameType, []byte) {
		f := pinFrames()[name]
		return f.Type(), change(appendBody(nil, f, ""))
	}
	replace := func(old, with string) func([]byte) []byte {
		return func(b []byte) []byte {
			if !bytes.Contains(b, []byte(old)) {
				t.Errorf("%q is not in %q", old, b)
			}
			return bytes.Replace(b, []byte(old), []byte(with), 1)
		}
	}
	long := "x" + strings.Repeat("y", MaxReasonBytes)
	for _, tt := range []struct {
		why, name string
		change    func([]byte) []byte
		want      error
	}{
		{"nothing", "ping", func([]byte) []byte { return nil }, cbor.ErrTruncated},
		{"trailing byte", "ping", func(b []byte) []byte { return append(b, 0) }, cbor.ErrTrailing},
		{"a field fewer", "ping", func(b []byte) []byte { return append([]byte{0xa2}, b[1:]...) }, cbor.ErrMissingKey},
		{"a field more", "ping", func(b []byte) []byte { return append([]byte{0xa4}, b[1:]...) }, cbor.ErrTooManyItems},
		{"indefinite map", "ping", func(b []byte) []byte { return append(append([]byte{0xbf}, b[1:]...), 0xff) }, cbor.ErrIndefinite},
		{"another key", "ping", replace("nonce", "nance"), cbor.ErrUnknownKey},
		{"key twice", "ping", replace("\x66signed", "\x65nonce\x05\x66signed"), cbor.ErrUnknownKey},
		{"longer number", "ping", replace("nonce\x05", "nonce\x18\x05"), cbor.ErrNotShortest},
		{"float for a number", "ping", replace("nonce\x05", "nonce\xfb\x40\x14\x00\x00\x00\x00\x00\x00"), cbor.ErrWrongType},
		{"short float", "ping", replace("nonce\x05", "nonce\xf9\x45\x00"), cbor.ErrFloatWidth},
		{"signature of 64", "ping", func(b []byte) []byte {
			return bytes.Replace(b, append([]byte("signed\x58\x41"), counting(0x10, 65)...), append([]byte("signed\x58\x40"), counting(0x10, 64)...), 1)
		}, cbor.ErrWrongLength},
		{"version of 17 bits", "hello_runner", replace("version\x19\x01\x00", "version\x1a\x00\x01\x00\x00"), ErrFrameValue},
		{"role 0", "hello_runner", replace("party_role\x01", "party_role\x00"), ErrFrameValue},
		{"role 3", "hello_runner", replace("party_role\x01", "party_role\x03"), ErrFrameValue},
		{"runner as validator", "hello_runner", replace("party_role\x01", "party_role\x02"), cbor.ErrWrongLength},
		{"validator as runner", "hello_validator", replace("party_role\x02", "party_role\x01"), cbor.ErrWrongLength},
		{"scheme of the other", "hello_runner", replace("party_pubkey\x58\x22\x01", "party_pubkey\x58\x22\x02"), ErrFrameValue},
		{"runner's acknowledgement with a validator's signature", "hello_ack_runner", func(b []byte) []byte {
			return bytes.Replace(b, append([]byte("\x58\x41"), counting(0x10, 65)...), append([]byte("\x58\x40"), counting(0x10, 64)...), 1)
		}, ErrFrameValue},
		{"number for true", "pong", replace("accepting_new\xf5", "accepting_new\x01"), cbor.ErrWrongType},
		{"reason of no text", "backpressure_reason_text", replace("full \xc3\xa9", "full \xc3\x28"), cbor.ErrUTF8},
		{"long reason", "backpressure_reason_null", replace("reason\xf6", "reason\x79\x04\x01"+long), cbor.ErrTooLong},
		{"undefined reason", "backpressure_reason_null", replace("reason\xf6", "reason\xf7"), cbor.ErrSimple},
		{"65 capabilities", "capability_delta", replace("added_capabilities\x82\x61b\x61a", "added_capabilities\x98\x41"+strings.Repeat("\x60", 65)), cbor.ErrTooManyItems},
		{"capability of 65 bytes", "capability_delta", replace("\x82\x61b", "\x82\x78\x41"+long[:65]), cbor.ErrTooLong},
		{"status 2 without a reason", "job_ack_accepted", replace("status\x00", "status\x02"), ErrFrameValue},
		{"status 3", "job_ack_accepted", replace("status\x00", "status\x03"), ErrFrameValue},
		{"list of accepted", "job_ack_accepted", replace("status\x00", "status\x82\x00\x00"), ErrFrameValue},
		{"list of three", "job_ack_reject", replace("status\x82\x02\x01", "status\x83\x02\x01\x00"), cbor.ErrWrongLength},
		{"unknown reject reason", "job_ack_reject", replace("status\x82\x02\x01", "status\x82\x02\x05"), ErrFrameValue},
		{"reject reason of 9 bits", "job_ack_reject", replace("status\x82\x02\x01", "status\x82\x02\x19\x01\x01"), ErrFrameValue},
		{"text as status", "job_ack_accepted", replace("status\x00", "status\x61a"), cbor.ErrWrongType},
		{"101 percent", "job_progress", replace("fraction\x18\x64", "fraction\x18\x65"), ErrFrameValue},
		{"unknown cancel reason", "job_cancel", replace("reason\x01", "reason\x03"), ErrFrameValue},
		{"unknown goodbye reason", "goodbye_unsigned", replace("reason\x01", "reason\x0b"), ErrFrameValue},
		{"goodbye signed with 63 bytes", "goodbye_unsigned", replace("signed\xf6", "signed\x58\x3f"+long[:63]), ErrFrameValue},
		{"specification that is none", "job_assignment", func(b []byte) []byte {
			return bytes.Replace(b, pinSpecification().Encode(), []byte{0xa0}, 1)
		}, ErrFrameValue},
		{"specification as bytes", "job_assignment", func(b []byte) []byte {
			return bytes.Replace(b, pinSpecification().Encode(), cbor.AppendBytes(nil, pinSpecification().Encode()), 1)
		}, ErrFrameValue},
		{"transaction above 128 KiB", "job_result", func(b []byte) []byte {
			i := bytes.Index(b, []byte("tx_bytes")) + len("tx_bytes")
			return append(b[:i:i], cbor.AppendBytes(nil, make([]byte, maxWireTxBytes+1))...)
		}, cbor.ErrTooLong},
	} {
		typ, body := at(tt.name, tt.change)
		f, err := Decode(typ, body)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v, want %v", tt.why, f, err, tt.want)
		}
		if err != nil && !errors.As(err, new(*BodyError)) {
			t.Errorf("%s: %T does not say the field", tt.why, err)
		}
	}
}

// TestDecodeTakesOneForm cuts each frame at each byte and flips each bit: what is still read
// is written back the same.
func TestDecodeTakesOneForm(t *testing.T) {
	for name, f := range pinFrames() {
		body := appendBody(nil, f, "")
		for n := range body {
			if g, err := Decode(f.Type(), body[:n]); err == nil {
				t.Errorf("%s cut at %d is %+v", name, n, g)
			}
		}
		for bit := range 8 * len(body) {
			b := bytes.Clone(body)
			b[bit/8] ^= 1 << (bit % 8)
			if g, err := Decode(f.Type(), b); err == nil && !bytes.Equal(appendBody(nil, g, ""), b) {
				t.Errorf("%s with bit %d flipped is written back otherwise", name, bit)
			}
		}
		for typ := range kinds {
			if g, err := Decode(typ, body); err == nil && typ != f.Type() && !(isResult(typ) && isResult(f.Type())) {
				t.Errorf("%s is read as %v: %+v", name, typ, g)
			}
		}
	}
}

// isResult is of the two frames that have the same fields.
func isResult(t FrameType) bool { return t == TypeJobResult || t == TypeJobResultCommit }

// endless gives a frame's prefix, then zeros for ever, and counts them.
type endless struct {
	head []byte
	gave int
}

func (r *endless) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	r.gave += len(p)
	clear(p)
	return len(p), nil
}

func TestReadFrameRefuses(t *testing.T) {
	prefix := func(n uint32, t byte) []byte { return append(binary.BigEndian.AppendUint32(nil, n), t) }
	for _, tt := range []struct {
		head []byte
		want error
	}{
		{prefix(0, 0x10), ErrFrameLength},
		{prefix(MaxFrameBytes+1, 0x23), ErrFrameLength},
		{prefix(maxResultFrameBytes+1, 0x23), ErrFrameLength},
		{prefix(maxAssignmentBytes+1, 0x20), ErrFrameLength},
		{prefix(1<<32-1, 0x23), ErrFrameLength},
		{prefix(MaxControlFrameBytes+1, 0x10), ErrFrameLength},
		{prefix(MaxFrameBytes, 0xf0), ErrFrameLength},
		{prefix(3, 0x03), ErrFrameType},
		{prefix(3, 0x14), ErrFrameType}, // of minor version 1
		{prefix(3, 0x00), ErrFrameType},
	} {
		r := &endless{head: tt.head}
		typ, body, err := ReadFrame(r, FrameType(tt.head[4]).OnControl())
		if !errors.Is(err, tt.want) || body != nil || r.gave != 0 {
			t.Errorf("% x: %v, %d bytes, read %d, %v, want %v", tt.head, typ, len(body), r.gave, err, tt.want)
		}
	}
	if _, body, err := ReadFrame(&endless{head: prefix(maxResultFrameBytes, 0x23)}, false); err != nil || len(body) != maxResultFrameBytes-1 {
		t.Errorf("the largest frame: %d bytes, %v", len(body), err)
	}
	for typ := range kinds { // each has its streams, which are known before its body is read
		r := &endless{head: prefix(100, byte(typ))}
		if _, _, err := ReadFrame(r, !typ.OnControl()); !errors.Is(err, ErrFrameType) || r.gave != 0 {
			t.Errorf("%v on the other kind of stream: %v, read %d", typ, err, r.gave)
		}
	}
	for n := range 9 {
		_, _, err := ReadFrame(bytes.NewReader(append(prefix(9, 0x10), 1, 2, 3, 4)[:n]), true)
		if want := map[bool]error{true: io.EOF, false: io.ErrUnexpectedEOF}[n == 0]; !errors.Is(err, want) {
			t.Errorf("cut at %d: %v, want %v", n, err, want)
		}
	}
}

// TestMemoryFollowsWhatCame: who declares 128 KiB and sends nothing has us take 4 KiB.
func TestMemoryFollowsWhatCame(t *testing.T) {
	head := append(binary.BigEndian.AppendUint32(nil, maxResultFrameBytes), byte(TypeJobResult))
	r := bytes.NewReader(nil)
	per := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			r.Reset(head)
			if _, _, err := ReadFrame(r, false); !errors.Is(err, io.ErrUnexpectedEOF) {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if per > 2*growBytes {
		t.Errorf("%d bytes for a frame of which nothing came", per)
	}
}

// FuzzDecode: what is read is written back to the same bytes, and nothing panics.
func FuzzDecode(f *testing.F) {
	for _, p := range pinFrames() {
		f.Add(byte(p.Type()), appendBody(nil, p, ""))
	}
	f.Fuzz(func(t *testing.T, typ byte, body []byte) {
		got, err := Decode(FrameType(typ), body)
		if err != nil {
			if got != nil || err.Error() == "" {
				t.Fatal(got, err)
			}
			return
		}
		if again := appendBody(nil, got, ""); !bytes.Equal(again, body) {
			t.Fatalf("%x\nis written back as\n%x", body, again)
		}
	})
}

// FuzzReadFrame: a stream gives frames of the link's types, within their bounds, or an error.
func FuzzReadFrame(f *testing.F) {
	var all []byte
	for _, p := range pinFrames() {
		f.Add(Append(nil, p))
		all = Append(all, p)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := bytes.NewReader(stream)
		for {
			typ, body, err := ReadFrame(r, len(stream) > 4 && FrameType(stream[4]).OnControl())
			if err != nil {
				return
			}
			if !typ.Known() || len(body)+1 > typ.maxBytes() {
				t.Fatal(fmt.Errorf("%v of %d bytes", typ, len(body)))
			}
		}
	})
}
