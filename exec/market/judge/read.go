package judge

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// Reasons for which a result does not count.
var (
	ErrTooLong = errors.New("data is longer than the job allows")
	ErrNotText = errors.New("data is not UTF-8")
	ErrMissing = errors.New("data has no such field")
	ErrNumbers = errors.New("data has no number there, or more numbers than are compared")
	ErrFault   = errors.New("data breaks an objective check")
	ErrSource  = errors.New("a result of an HTTP job says where it came from")
	ErrStale   = errors.New("data is not of the time that the job asks for")
	errJob     = errors.New("job cannot be judged")
)

// number is a field of which the median is taken.
type number struct {
	name  string
	value strictjson.Decimal
}

// content is what of a result's data is compared.
type content struct {
	key     chain.Hash // equal in what must be equal; zero where nothing must
	numbers []number   // for a median, in the job's order or by name
	fault   FaultKind
}

// reading is a result that was read.
type reading struct {
	output *Output
	counts bool   // it is ok and holds all that it can be held to alone
	millis uint64 // when its data is of
	content
	steps    uint64
	panicked bool
}

// Accepts reports whether data, as the result of a job that came to a good end, would count,
// its time and source aside: what a runner asks before it commits to it (resolution 12.43).
func Accepts(spec *chain.JobSpec, terms *chain.JobTerms, data []byte) error {
	r := rulesOf(spec, terms)
	c, err := r.examine(data, strictjson.NewSteps(terms.JudgeSteps))
	if err == nil && c.fault != NoFault {
		err = ErrFault
	}
	return err
}

// readOnce is what is in a result: what was found before, where that is all that is compared,
// or else what it reads.
func (r *rules) readOnce(q *Question, o *Output) reading {
	if f := o.Found; f != nil && r.spec.Verification.Mode == chain.VerifyMajorityVote {
		return reading{output: o, counts: f.Counts, content: content{key: f.Key, fault: f.Fails}}
	}
	return r.read(q, o)
}

// read reads a result on a budget of its own.
func (r *rules) read(q *Question, o *Output) (got reading) {
	steps := strictjson.NewSteps(r.terms.JudgeSteps)
	if o.Result.Outcome != chain.OutcomeOK {
		return reading{output: o}
	}
	defer func() {
		if recover() != nil {
			got = reading{panicked: true}
		}
		got.output, got.steps = o, steps.Used()
	}()
	var err error
	got.content, err = r.examine(o.Result.Data, steps)
	if err != nil || got.fault != NoFault {
		return got
	}
	got.millis, err = r.time(q, o)
	got.counts = err == nil
	return got
}

// examine holds data to all that does not depend on when it came, and takes from it what is
// compared. The fault that it finds stands beside an error too.
func (r *rules) examine(data []byte, steps *strictjson.Steps) (c content, err error) {
	if !r.sound {
		return c, errJob
	}
	if err := steps.Spend(r.setup); err != nil {
		return c, err
	}
	if len(data) > int(r.terms.ResultSchema.MaxReturnBytes) {
		return c, ErrTooLong
	}
	if c.fault, err = r.faultOf(data, steps); err != nil {
		return c, err
	}
	switch r.terms.ResultSchema.DataFormat {
	case chain.FormatJSON:
		var v strictjson.Value
		if v, err = strictjson.Read(data, steps); err == nil {
			err = r.compare(v, steps, &c)
		}
	case chain.FormatText:
		if err = steps.Spend(uint64(len(data)+15) / 16); err == nil && !utf8.Valid(data) {
			err = ErrNotText
		}
	}
	if err == nil && r.terms.ResultSchema.DataFormat != chain.FormatJSON {
		c.key, err = r.keyOfBytes(data, steps)
	}
	return c, err
}

// keyOfBytes is the key of data that is compared byte by byte.
func (r *rules) keyOfBytes(data []byte, steps *strictjson.Steps) (chain.Hash, error) {
	if !r.compares() {
		return chain.Hash{}, nil
	}
	if len(r.fields) > 0 {
		return chain.Hash{}, errJob
	}
	if err := steps.Spend(uint64(len(data))); err != nil {
		return chain.Hash{}, err
	}
	return keccak.Sum256(data), nil
}

// compare takes from a value what is compared.
func (r *rules) compare(v strictjson.Value, steps *strictjson.Steps, c *content) (err error) {
	if r.takesMedian() {
		c.numbers, err = r.numbersIn(v, steps)
		return err
	}
	var buf, sums []byte
	fields := r.fields
	if len(fields) == 0 && r.compares() {
		fields = []strictjson.Path{{}}
	}
	// Paid: by spend, for each value on the way and below.
	for i, field := range fields {
		found, ok, err := field.Follow(v, steps)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: %s", ErrMissing, r.names[i])
		}
		if !r.compares() {
			continue
		}
		if buf, err = found.AppendCanonical(buf[:0], steps); err != nil {
			return err
		}
		sum := keccak.Sum256(buf)
		sums = append(sums, sum[:]...)
	}
	if r.compares() {
		c.key = keccak.Sum256(sums)
	}
	return nil
}

// maxNumbers is how many numbers of a result take part in a median at most.
const maxNumbers = chain.MaxCheckFields

// numbersIn returns the numbers at the fields that the job names, or all numbers that are
// members of the value itself.
func (r *rules) numbersIn(v strictjson.Value, steps *strictjson.Steps) ([]number, error) {
	var numbers []number
	// Paid: by spend, for each value on the way.
	for i, field := range r.fields {
		if slices.Contains(r.names[:i], r.names[i]) { // Paid: in setup; it ends among the first maxNumbers.
			continue
		}
		found, ok, err := field.Follow(v, steps)
		if err != nil {
			return nil, err
		}
		if !ok || found.Kind() != strictjson.Number {
			return nil, fmt.Errorf("%w: %s", ErrNumbers, r.names[i])
		}
		if numbers, err = r.appendNumber(numbers, r.names[i], found, steps); err != nil {
			return nil, err
		}
	}
	if len(r.fields) > 0 {
		return numbers, nil
	}
	if v.Kind() != strictjson.Object {
		return nil, ErrNumbers
	}
	for i := range v.Count() {
		if err := steps.Spend(1); err != nil {
			return nil, err
		}
		m := v.Item(i)
		if m.Kind() != strictjson.Number {
			continue
		}
		var err error
		if numbers, err = r.appendNumber(numbers, string(m.Name()), m, steps); err != nil {
			return nil, err
		}
	}
	if len(numbers) == 0 {
		return nil, ErrNumbers
	}
	return numbers, nil
}

// outlierSteps is what it takes to hold one number to a median, whatever the two are.
const outlierSteps = 512

func (r *rules) appendNumber(numbers []number, name string, v strictjson.Value, steps *strictjson.Steps) ([]number, error) {
	if len(numbers) == maxNumbers {
		return nil, ErrNumbers
	}
	cost := uint64(8 + len(name) + len(v.Text()))
	if r.outlier() > 0 {
		cost += outlierSteps
	}
	if err := steps.Spend(cost); err != nil {
		return nil, err
	}
	return append(numbers, number{name, v.Number()}), nil
}

// outlier is how far from the median a number may lie, in millionths of the median; 0 says
// nothing of it.
func (r *rules) outlier() uint64 {
	if r.terms.Snapshot == nil {
		return 0
	}
	return r.terms.Snapshot.OutlierE6
}
