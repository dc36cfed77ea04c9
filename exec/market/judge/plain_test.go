package judge_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// The plain judge is the sentences of the texts on maps, fractions and encoding/json, with no
// steps and no keys: each result is compared with each. It knows fields that are names of
// members or `$`, and texts without half surrogates or numbers beyond the bounds.

// plainResult is a result that counts.
type plainResult struct {
	o      *judge.Output
	value  any // of JSON; else the data as a string
	fields []any
	millis *big.Int
}

// plainDecision is what the plain judge says.
type plainDecision struct {
	outcome   judge.Outcome
	seats     []uint8
	canonical uint8
	data      any
	faults    []judge.Fault
}

func plainVerdict(q *judge.Question) (d plainDecision) {
	v := q.Spec.Verification
	outputs := slices.Clone(q.Outputs)
	slices.SortFunc(outputs, func(a, b judge.Output) int { return int(a.Seat) - int(b.Seat) })
	alone := v.Mode == chain.VerifyNone || v.Mode == chain.VerifyEconomicBond
	var valid []plainResult
	failures := map[chain.Outcome][]uint8{}
	for i := range outputs {
		o := &outputs[i]
		if o.Result.Outcome != chain.OutcomeOK {
			failures[o.Result.Outcome] = append(failures[o.Result.Outcome], o.Seat)
			continue
		}
		if len(o.Result.Data) > int(q.Terms.ResultSchema.MaxReturnBytes) {
			continue // the chain takes none
		}
		fault := plainFault(q.Terms, o.Result.Data)
		if fault != judge.NoFault {
			d.faults = append(d.faults, judge.Fault{Seat: o.Seat, Kind: fault})
		} else if r, counts := plainRead(q, o); counts {
			valid = append(valid, r)
		}
	}
	for outcome, seats := range failures {
		if len(seats) >= int(v.Threshold) {
			d.outcome, d.seats, d.canonical = judge.Impossible+judge.Outcome(outcome-1), seats, seats[0]
			return d
		}
	}
	if q.Final || alone || v.Mode == chain.VerifyMajorityVote {
		if plainAgree(q, valid, &d) {
			d.outcome = judge.Agreed
			return d
		}
	}
	if q.Final || alone && len(outputs) > 0 {
		d.outcome = judge.NoAgreement
		if len(valid) < int(v.Threshold) {
			return d
		}
		d.seats = plainMost(q, valid)
	}
	return d
}

// plainMost is whoever is with more than half of those that count, or else everybody.
func plainMost(q *judge.Question, valid []plainResult) (all []uint8) {
	threshold := int(q.Spec.Verification.Threshold)
	if q.Spec.Verification.Mode == chain.VerifyStructured && q.Terms.Snapshot != nil && q.Terms.Snapshot.Mode == chain.SnapshotMedian {
		having, near, _ := plainNear(q, valid, threshold)
		if having < threshold {
			_, near, _ = plainNear(q, valid, len(valid)/2+1)
		}
		if len(near) > len(valid)/2 {
			return near
		}
	} else {
		for _, r := range valid {
			var most []uint8
			for _, s := range plainStar(q, r, valid) {
				most = append(most, s.o.Seat)
			}
			if len(most) > len(valid)/2 {
				return most
			}
		}
	}
	for _, r := range valid {
		all = append(all, r.o.Seat)
	}
	return all
}

// plainAgree is the table of modes.
func plainAgree(q *judge.Question, valid []plainResult, d *plainDecision) bool {
	v, kind := q.Spec.Verification, chain.SnapshotMajority
	if q.Terms.Snapshot != nil {
		kind = q.Terms.Snapshot.Mode
	}
	threshold := int(v.Threshold)
	take := func(agreed []plainResult, canonical plainResult) bool {
		if len(agreed) < threshold {
			return false
		}
		for _, r := range agreed {
			d.seats = append(d.seats, r.o.Seat)
		}
		d.canonical, d.data = canonical.o.Seat, canonical.value
		return true
	}
	if len(valid) == 0 {
		return false
	}
	switch {
	case v.Mode != chain.VerifyStructured && v.Mode != chain.VerifyMajorityVote:
		return take(valid, valid[0])
	case v.Mode == chain.VerifyStructured && kind == chain.SnapshotLatest:
		newest := valid[0]
		for _, r := range valid {
			if r.millis.Cmp(newest.millis) > 0 {
				newest = r
			}
		}
		return take(valid, newest)
	case v.Mode == chain.VerifyStructured && kind == chain.SnapshotMedian:
		return plainMedian(q, valid, d)
	case v.Mode == chain.VerifyStructured && kind == chain.SnapshotFirstValid:
		order := slices.Clone(valid)
		slices.SortStableFunc(order, func(a, b plainResult) int { return cmp.Compare(a.o.CommittedAt, b.o.CommittedAt) })
		for _, r := range order {
			if take(plainStar(q, r, valid), r) {
				return true
			}
		}
		return false
	}
	var best []plainResult
	var centre plainResult
	for _, r := range valid {
		if star := plainStar(q, r, valid); len(star) > len(best) {
			best, centre = star, r
		}
	}
	return take(best, centre)
}

// plainStar is a result with all that agree with it.
func plainStar(q *judge.Question, centre plainResult, valid []plainResult) (star []plainResult) {
	for _, r := range valid {
		same := true
		for i := range centre.fields {
			same = same && plainEqual(centre.fields[i], r.fields[i])
		}
		if len(centre.fields) == 0 && q.Spec.Verification.Mode == chain.VerifyMajorityVote {
			same = plainEqual(centre.value, r.value)
		}
		if same {
			star = append(star, r)
		}
	}
	return star
}

// plainMedian takes the lower middle value of each numeric field.
func plainMedian(q *judge.Question, valid []plainResult, d *plainDecision) bool {
	threshold := int(q.Spec.Verification.Threshold)
	having, near, medians := plainNear(q, valid, threshold)
	if having < threshold || len(near) < threshold {
		return false
	}
	d.seats, d.canonical, d.data = near, near[0], any(medians)
	if v, is := medians["$"]; is && len(medians) == 1 {
		d.data = v
	}
	return true
}

// plainNear is how many results have the numbers that the job names, or else that so many have,
// and which of these lie within the outlier threshold of the medians.
func plainNear(q *judge.Question, valid []plainResult, enough int) (have int, near []uint8, medians map[string]any) {
	names := plainFields(q)
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 { // those that are numbers in enough results
		count := map[string]int{}
		for _, r := range valid {
			for name, v := range r.value.(map[string]any) {
				if _, is := v.(*big.Rat); is {
					count[name]++
				}
			}
		}
		for name, n := range count {
			if n >= enough {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return 0, nil, nil
		}
	}
	var having []plainResult
	for _, r := range valid {
		all := true
		for _, name := range names {
			_, is := plainNumber(r, name)
			all = all && is
		}
		if all {
			having = append(having, r)
		}
	}
	if len(having) == 0 {
		return 0, nil, nil
	}
	medians = map[string]any{}
	outlier := map[uint8]bool{}
	for _, name := range names {
		var column []*big.Rat
		for _, r := range having {
			n, _ := plainNumber(r, name)
			column = append(column, n)
		}
		slices.SortFunc(column, (*big.Rat).Cmp)
		m := column[(len(column)-1)/2]
		medians[name] = m
		limit := new(big.Rat).SetFrac(new(big.Int).SetUint64(q.Terms.Snapshot.OutlierE6), big.NewInt(1_000_000))
		limit.Mul(limit, new(big.Rat).Abs(m))
		for _, r := range having {
			n, _ := plainNumber(r, name)
			far := new(big.Rat).Sub(n, m)
			if q.Terms.Snapshot.OutlierE6 > 0 && far.Abs(far).Cmp(limit) > 0 {
				outlier[r.o.Seat] = true
			}
		}
	}
	for _, r := range having {
		if !outlier[r.o.Seat] {
			near = append(near, r.o.Seat)
		}
	}
	return len(having), near, medians
}

func plainNumber(r plainResult, name string) (*big.Rat, bool) {
	v, _ := plainField(r.value, name)
	n, is := v.(*big.Rat)
	return n, is
}

func plainFields(q *judge.Question) (names []string) {
	if q.Terms.VoteField != nil {
		names = append(names, *q.Terms.VoteField)
	}
	for _, c := range q.Spec.Verification.Checks {
		switch c := c.(type) {
		case *chain.FieldsCheck:
			names = append(names, c.Fields...)
		case *chain.MajorityCheck:
			names = append(names, c.Field)
		}
	}
	return names
}

func plainField(v any, name string) (any, bool) {
	if name == "$" {
		return v, true
	}
	object, _ := v.(map[string]any)
	v, found := object[name]
	return v, found
}

// plainRead reads a result, and says whether it counts.
func plainRead(q *judge.Question, o *judge.Output) (r plainResult, counts bool) {
	r = plainResult{o: o, value: string(o.Result.Data)}
	switch q.Terms.ResultSchema.DataFormat {
	case chain.FormatText:
		if !utf8.Valid(o.Result.Data) {
			return r, false
		}
	case chain.FormatJSON:
		var valid bool
		if r.value, valid = plainJSON(o.Result.Data); !valid {
			return r, false
		}
		for _, name := range plainFields(q) {
			v, found := plainField(r.value, name)
			if !found {
				return r, false
			}
			r.fields = append(r.fields, v)
		}
		isMedian := q.Spec.Verification.Mode == chain.VerifyStructured && q.Terms.Snapshot != nil && q.Terms.Snapshot.Mode == chain.SnapshotMedian
		for _, name := range plainFields(q) {
			if _, is := plainNumber(r, name); isMedian && !is {
				return r, false
			}
		}
		if isMedian && len(plainFields(q)) == 0 {
			object, _ := r.value.(map[string]any)
			numbers := 0
			for _, v := range object {
				if _, is := v.(*big.Rat); is {
					numbers++
				}
			}
			if numbers == 0 || numbers > 64 {
				return r, false
			}
		}
	}
	return r, plainFresh(q, &r)
}

// plainJSON reads objects as maps and numbers as fractions, and refuses a name that stands
// twice.
func plainJSON(text []byte) (any, bool) {
	if !json.Valid(text) || !utf8.Valid(text) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value func() (any, bool)
	value = func() (any, bool) {
		token, _ := d.Token()
		switch t := token.(type) {
		case json.Number:
			n, ok := new(big.Rat).SetString(string(t))
			return n, ok
		case json.Delim:
			items, members, ok := []any{}, map[string]any{}, true
			for d.More() {
				name := ""
				if t == '{' {
					token, _ := d.Token()
					name = token.(string)
				}
				v, good := value()
				_, twice := members[name]
				ok = ok && good && !(t == '{' && twice)
				items, members[name] = append(items, v), v
			}
			d.Token()
			if t == '{' {
				return members, ok
			}
			return items, ok
		}
		return token, true
	}
	return value()
}

func plainEqual(a, b any) bool {
	switch a := a.(type) {
	case *big.Rat:
		b, is := b.(*big.Rat)
		return is && a.Cmp(b) == 0
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, plainEqual)
	case map[string]any:
		b, is := b.(map[string]any)
		if !is || len(a) != len(b) {
			return false
		}
		for name := range a {
			if v, found := b[name]; !found || !plainEqual(a[name], v) {
				return false
			}
		}
		return true
	}
	return a == b
}

// plainFresh finds when data is of, and whether that is within the job's window.
func plainFresh(q *judge.Question, r *plainResult) bool {
	number := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	r.millis = number(r.o.Result.TimestampMillis)
	if q.Spec.Verification.Mode == chain.VerifyNone {
		return true
	}
	source := r.o.Result.Source
	var fresh *chain.Freshness
	if job, is := q.Spec.JobType.(*chain.HTTPJob); is {
		fresh = job.Freshness
		if source == nil || source.URL == "" || source.Status == 0 {
			return false
		}
	}
	if source != nil && source.DataTimestampMillis > 0 {
		r.millis = number(source.DataTimestampMillis)
	} else if fresh != nil && fresh.TimestampField != nil {
		return false
	}
	reference := q.Terms.FreshnessReference
	if fresh == nil && reference == nil {
		return true
	}
	moment, window := number(r.o.BlockMillis), new(big.Int)
	if reference != nil {
		window = number(reference.ToleranceMillis)
		if reference.Reference == chain.FreshAtSubmission {
			moment = number(q.SubmittedMillis)
		}
	}
	if fresh != nil {
		window = new(big.Int).Mul(number(fresh.MaxAgeSeconds), big.NewInt(1_000))
	}
	if reference != nil && reference.Reference == chain.FreshAtTime {
		moment, window = number(reference.TimestampMillis), number(reference.ToleranceMillis)
	}
	age := new(big.Int).Sub(moment, r.millis)
	return age.Abs(age).Cmp(window) <= 0
}

// plainFault holds data to the objective checks.
func plainFault(terms *chain.JobTerms, data []byte) (fault judge.FaultKind) {
	log := func(x int) int64 { // floor(65,536·log2 x)
		power := big.NewInt(int64(x))
		for range 16 {
			power.Mul(power, power)
		}
		return int64(power.BitLen() - 1)
	}
	for _, c := range terms.ObjectiveChecks {
		switch c := c.(type) {
		case *chain.MinLengthObjective:
			if uint64(len(data)) < c.Bytes && fault == judge.NoFault {
				fault = judge.TooShort
			}
		case *chain.EntropyObjective:
			if len(data) == 0 {
				continue
			}
			e := int64(len(data)) * log(len(data))
			for b := range 256 {
				if n := strings.Count(string(data), string([]byte{byte(b)})); n > 0 {
					e -= int64(n) * log(n)
				}
			}
			need := new(big.Int).SetUint64(c.MinMillibits)
			need.Mul(need, big.NewInt(int64(len(data))*65_536))
			if big.NewInt(1_000*e).Cmp(need) < 0 {
				fault = judge.TooUniform
			}
		}
	}
	return fault
}
