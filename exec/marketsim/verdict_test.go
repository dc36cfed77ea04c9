package marketsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
)

// verdict is what results come to.
type verdict struct {
	outcome   outcome // open: further ones may decide
	rejected  bool    // they agree, and the job's verifier says no
	agree     []*seat
	canonical *seat
	data      []byte
	key       string

	faults []*seat
}

// value is what is compared of a result.
type value struct {
	seat   *seat
	key    string              // equal in what must be equal
	fields []*big.Rat          // numbers of a median, as the job names them
	all    map[string]*big.Rat // all of them, where it names none
	millis uint64              // when its data is of
}

func (j *job) mode() chain.VerificationMode { return j.spec.Verification.Mode }

func (j *job) takes() chain.SnapshotMode {
	if j.terms.Snapshot == nil {
		return chain.SnapshotMajority
	}
	return j.terms.Snapshot.Mode
}

// early says that enough results decide before all are in (resolution 12.34).
func (j *job) early() bool { return j.mode() == chain.VerifyMajorityVote || j.runners() == 1 }

// verdictOf judges results that stand by ascending seat (market design §10).
func (j *job) verdictOf(all []*seat, final bool) (v verdict) {
	final = final || j.runners() == 1
	v.outcome = open
	values := []value{}
	for _, s := range all {
		val, counts, fault := j.read(s)
		if fault {
			v.faults = append(v.faults, s)
		}
		if counts {
			values = append(values, val)
		}
	}
	for _, class := range []struct {
		says chain.Outcome
		is   outcome
	}{{chain.OutcomeImpossible, impossible}, {chain.OutcomeActorFault, actorFault}, {chain.OutcomeExternalFault, external}} {
		var same []*seat
		for _, s := range all {
			if s.shown.result.Outcome == class.says {
				same = append(same, s)
			}
		}
		if len(same) >= j.threshold() { // resolution 12.52
			v.outcome, v.agree = class.is, same
			return v
		}
	}
	named, _, says, instead := j.opinion()
	if !final && (!j.early() || named) {
		return v
	}
	if j.agreement(&v, values) {
		v.outcome = agreed
		switch {
		case !says: // no agreement for who asked, and work that was done (ADR 221)
			v.outcome, v.rejected, v.canonical, v.data, v.key = noAgreement, true, nil, nil, ""
		case instead != nil:
			v.data = instead
		}
		return v
	}
	if final {
		v.outcome = noAgreement
		if len(values) >= j.threshold() { // they have done the work, and differ (ADR 228)
			v.agree = j.alike(values)
		}
	}
	return v
}

// alike are those of more than half of the values, if they are alike, or else all (ADR 234). Where a
// job of medians names no fields and the values have too few in common, they are held to what
// more than half of them have.
func (j *job) alike(values []value) (all []*seat) {
	half := len(values) / 2
	if j.mode() == chain.VerifyStructured && j.takes() == chain.SnapshotMedian {
		_, medians, kept := j.medians(values, j.threshold())
		if len(kept) < j.threshold() {
			_, medians, kept = j.medians(values, half+1)
		}
		if near := j.near(medians, kept); len(near) > half {
			return near
		}
	} else if star := largest(values); len(star) > half {
		values = star
	}
	for _, x := range values {
		all = append(all, x.seat)
	}
	return all
}

// backed says whether others stand behind what the results have come to: the runners, where they
// had to be equal in something or to lie by a median, or the verifier (ADR 228).
func (j *job) backed() bool {
	if _, speaks, _, _ := j.opinion(); speaks {
		return true
	}
	if j.runners() == 1 {
		return false
	}
	if j.mode() == chain.VerifyMajorityVote {
		return true
	}
	switch j.takes() {
	case chain.SnapshotLatest:
		return false
	case chain.SnapshotMedian:
		return j.terms.Snapshot.OutlierE6 > 0 && j.terms.Snapshot.OutlierE6 < 1_000_000
	}
	return len(j.fields()) > 0
}

// agreement looks for threshold values that agree.
func (j *job) agreement(v *verdict, values []value) bool {
	if len(values) < j.threshold() {
		return false
	}
	structured := j.mode() == chain.VerifyStructured
	switch {
	case structured && j.takes() == chain.SnapshotMedian:
		return j.median(v, values)
	case structured && j.takes() == chain.SnapshotLatest: // resolution 12.38
		newest := values[0]
		for _, x := range values {
			v.agree = append(v.agree, x.seat)
			if x.millis > newest.millis {
				newest = x
			}
		}
		v.canonical, v.data = newest.seat, newest.seat.shown.result.Data
		return true
	}
	star := largest(values)
	if len(star) < j.threshold() {
		return false
	}
	canonical := star[0].seat
	for _, x := range star {
		v.agree = append(v.agree, x.seat)
		if structured && j.takes() == chain.SnapshotFirstValid && x.seat.boundAt() < canonical.boundAt() {
			canonical = x.seat
		}
	}
	v.canonical, v.data, v.key = canonical, canonical.shown.result.Data, star[0].key
	return true
}

// largest are the most values that are equal in what must be.
func largest(values []value) (star []value) {
	for _, centre := range values {
		var with []value
		for _, x := range values {
			if x.key == centre.key {
				with = append(with, x)
			}
		}
		if len(with) > len(star) {
			star = with
		}
	}
	return star
}

// boundAt is when a result was committed to, or shown where it was not.
func (s *seat) boundAt() uint64 {
	if s.commitment == nil {
		return s.shown.at
	}
	return s.committedAt
}

// median is resolution 12.37: the lower middle of each field; beyond the outlier threshold in
// any of them a result does not agree.
func (j *job) median(v *verdict, values []value) bool {
	names, medians, kept := j.medians(values, j.threshold())
	if len(kept) < j.threshold() {
		return false
	}
	near := j.near(medians, kept)
	if len(near) < j.threshold() {
		return false
	}
	var parts []string
	for k, m := range medians {
		parts = append(parts, fmt.Sprintf("%q:%s", names[k], m.RatString())) // the model's numbers are integers
	}
	v.agree, v.canonical, v.data = near, near[0], []byte("{"+strings.Join(parts, ",")+"}")
	return true
}

// medians are the lower middles of the fields that a job names, or else of what so many have in
// common, and the values that have all of these.
func (j *job) medians(values []value, enough int) (names []string, medians []*big.Rat, kept []value) {
	if names = j.fields(); len(names) == 0 {
		names, values = common(values, enough)
	}
	if len(values) == 0 {
		return nil, nil, nil
	}
	medians = make([]*big.Rat, len(names))
	for k := range names {
		var column []*big.Rat
		for _, x := range values {
			column = append(column, x.fields[k])
		}
		slices.SortFunc(column, func(a, b *big.Rat) int { return a.Cmp(b) })
		medians[k] = column[(len(column)-1)/2]
	}
	return names, medians, values
}

// near are those that lie within the outlier threshold in each field.
func (j *job) near(medians []*big.Rat, values []value) (near []*seat) {
	limit := new(big.Rat).SetFrac(wei(j.terms.Snapshot.OutlierE6), wei(uint64(1_000_000)))
	for _, x := range values {
		far := false
		for k, m := range medians {
			distance := new(big.Rat).Sub(x.fields[k], m)
			far = far || j.terms.Snapshot.OutlierE6 > 0 && distance.Abs(distance).Cmp(new(big.Rat).Mul(limit, new(big.Rat).Abs(m))) > 0
		}
		if !far {
			near = append(near, x.seat)
		}
	}
	return near
}

// common are the numbers that a threshold of values have, and the values that have all of
// these: where a job names no fields, a minority neither adds one nor takes one away.
func common(values []value, threshold int) (names []string, kept []value) {
	n := map[string]int{}
	for _, x := range values {
		for name := range x.all {
			if n[name]++; n[name] == threshold {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, x := range values {
		x.fields = nil
		for _, name := range names {
			if number := x.all[name]; number != nil {
				x.fields = append(x.fields, number)
			}
		}
		if len(names) > 0 && len(x.fields) == len(names) {
			kept = append(kept, x)
		}
	}
	return names, kept
}

// varied says whether data has an entropy of order 0 of so many thousandths of a bit in each
// byte (resolution 12.44).
func varied(data []byte, millibits uint64) bool {
	n, counts := len(data), map[byte]int{}
	for _, b := range data {
		counts[b]++
	}
	e := times(wei(n), logarithm(n))
	for _, c := range counts {
		e = minus(e, times(wei(c), logarithm(c)))
	}
	return times(wei(1_000), e).Cmp(times(wei(millibits), times(wei(n), wei(65_536)))) >= 0
}

// logarithm is floor(65,536 · log2 n) for n of at least 1: one less than the bits of
// n to the power 65,536. Few are asked for, which stay known.
func logarithm(n int) *big.Int {
	if n == 0 {
		return new(big.Int)
	}
	known, ok := logarithms.Load(n)
	if !ok {
		known = wei(new(big.Int).Exp(wei(n), wei(65_536), nil).BitLen() - 1)
		logarithms.Store(n, known)
	}
	return known.(*big.Int)
}

var logarithms sync.Map

// fields are those in which results must agree, or of which medians are taken.
func (j *job) fields() (names []string) {
	if j.terms.VoteField != nil {
		names = append(names, *j.terms.VoteField)
	}
	for _, c := range j.spec.Verification.Checks {
		switch c := c.(type) {
		case *chain.MajorityCheck:
			names = append(names, c.Field)
		case *chain.FieldsCheck:
			names = append(names, c.Fields...)
		}
	}
	return names
}

// read says what a result is worth: what is compared of it, whether it counts, and whether
// it breaks what the job declares.
func (j *job) read(s *seat) (v value, counts, fault bool) {
	r := s.shown.result
	if r.Outcome != chain.OutcomeOK {
		return v, false, false
	}
	v.seat = s
	for _, c := range j.terms.ObjectiveChecks { // resolution 12.44
		switch c := c.(type) {
		case *chain.MinLengthObjective:
			fault = fault || uint64(len(r.Data)) < c.Bytes
		case *chain.EntropyObjective:
			fault = fault || !varied(r.Data, c.MinMillibits)
		}
	}
	ok := false
	switch j.terms.ResultSchema.DataFormat {
	case chain.FormatJSON:
		var doc any
		if doc, ok = parse(r.Data); ok {
			ok = j.compared(&v, doc)
		}
	case chain.FormatText:
		v.key, ok = string(r.Data), utf8.Valid(r.Data)
	default:
		v.key, ok = string(r.Data), true
	}
	fresh := false
	v.millis, fresh = j.dataTime(s)
	return v, ok && fresh && !fault, fault
}

// compared takes from a document what is compared.
func (j *job) compared(v *value, doc any) bool {
	names := j.fields()
	object, _ := doc.(map[string]any)
	if len(names) == 0 && j.mode() == chain.VerifyStructured && j.takes() == chain.SnapshotMedian {
		v.all = map[string]*big.Rat{}
		for name, member := range object {
			if n, ok := member.(*big.Rat); ok {
				v.all[name] = n
			}
		}
		return len(v.all) > 0
	}
	if len(names) == 0 {
		v.key = canonical(doc)
		return true
	}
	for _, name := range names {
		member, ok := object[name]
		if !ok {
			return false
		}
		if j.mode() == chain.VerifyStructured && j.takes() == chain.SnapshotMedian {
			n, isNumber := member.(*big.Rat)
			if !isNumber {
				return false
			}
			v.fields = append(v.fields, n)
			continue
		}
		v.key += canonical(member) + "\x00"
	}
	return true
}

// dataTime is when a result's data is of, and whether that is when the job wants it to be
// (resolution 12.46). A result of an HTTP job says where it comes from.
func (j *job) dataTime(s *seat) (uint64, bool) {
	r := s.shown.result
	_, http := j.spec.JobType.(*chain.HTTPJob)
	switch {
	case j.mode() == chain.VerifyNone:
		return r.TimestampMillis, true
	case http && (r.Source == nil || r.Source.URL == "" || r.Source.Status == 0):
		return 0, false
	}
	millis := r.TimestampMillis
	if r.Source != nil && r.Source.DataTimestampMillis != 0 {
		millis = r.Source.DataTimestampMillis
	}
	ref := j.terms.FreshnessReference
	if ref == nil {
		return millis, true
	}
	at := s.millis
	switch ref.Reference {
	case chain.FreshAtSubmission:
		at = j.millis
	case chain.FreshAtTime:
		at = ref.TimestampMillis
	}
	return millis, max(at, millis)-min(at, millis) <= ref.ToleranceMillis
}

// lateVerdict says which of the results agree that came behind the outcome (resolution
// 11.28).
func (j *job) lateVerdict(all []*seat) (v verdict) {
	says := map[outcome]chain.Outcome{impossible: chain.OutcomeImpossible, actorFault: chain.OutcomeActorFault, external: chain.OutcomeExternalFault}
	v.outcome = j.outcome
	for _, s := range all {
		val, counts, fault := j.read(s)
		if fault {
			v.faults = append(v.faults, s)
		}
		class, failed := says[j.outcome]
		if j.outcome == agreed && counts && j.early() && val.key == j.key || failed && s.shown.result.Outcome == class {
			v.agree = append(v.agree, s)
		}
	}
	return v
}

// parse reads a document with exact numbers.
func parse(data []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var doc any
	if !utf8.Valid(data) || d.Decode(&doc) != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return exact(doc), true
}

func exact(doc any) any {
	switch x := doc.(type) {
	case json.Number:
		n, _ := new(big.Rat).SetString(x.String())
		return n
	case []any:
		for i := range x {
			x[i] = exact(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = exact(x[k])
		}
	}
	return doc
}

// canonical spells a document so that equal ones are the same text (resolution 12.41).
func canonical(doc any) string {
	switch x := doc.(type) {
	case *big.Rat:
		return x.RatString()
	case []any:
		var parts []string
		for _, item := range x {
			parts = append(parts, canonical(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for k, item := range x {
			parts = append(parts, fmt.Sprintf("%q:%s", k, canonical(item)))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	}
	text, _ := json.Marshal(doc)
	return string(text)
}
