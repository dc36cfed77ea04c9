package ask

import (
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
)

// checks reads the verifier functions (whitepaper, "SDK Verifier Functions"): those that
// CIP-11 has a number for stand in the specification, the others in the terms (resolution
// 11.6).
func (a *asker) checks(t *table) {
	// Bounded: by the checks and named checks of a job, 32.
	for i, item := range t.items("checks", chain.MaxJobChecks+chain.MaxNamedChecks) {
		c := a.r.table(fmt.Sprintf("%schecks[%d]", t.path, i), item)
		fn := c.need("fn")
		if check := a.wireCheck(c, fn); check != nil {
			a.out.Spec.Verification.Checks = append(a.out.Spec.Verification.Checks, check)
		} else if named := a.namedCheck(c, fn); named != nil {
			a.out.Terms.NamedChecks = append(a.out.Terms.NamedChecks, named)
		} else {
			c.wrong("fn", fmt.Errorf("there is no check %q", fn))
		}
		c.leaveNone()
	}
}

// field is the text under a key that names a field of results.
func (a *asker) field(c *table) string {
	a.compare = true
	return c.need("field")
}

// wireCheck reads a check of the specification; nil for another one.
func (a *asker) wireCheck(c *table, fn string) chain.VerifierCheck {
	switch fn {
	case "majority_vote":
		return &chain.MajorityCheck{Field: a.field(c)}
	case "json_schema_valid":
		a.compare = true
		check := new(chain.SchemaCheck)
		if s := c.jsonText("schema"); s != nil {
			check.Schema = *s
		}
		return check
	case "structured_match":
		a.compare = true
		return &chain.FieldsCheck{Fields: c.texts("fields")}
	case "numeric_tolerance":
		return &chain.ToleranceCheck{Field: a.field(c), Tolerance: c.float("tolerance")}
	case "numeric_range":
		return &chain.RangeCheck{Field: a.field(c), Min: c.float("min"), Max: c.float("max")}
	case "custom":
		return &chain.CustomCheck{Actor: c.need("actor"), Method: c.need("method")}
	case "dns_txt":
		return &chain.TXTCheck{
			FQDN: c.need("fqdn"), ExpectedValue: c.need("expected_value"), MinResolvers: uint32(c.uint("min_resolvers", 1, 0, math.MaxUint32)),
		}
	case "dns_cname":
		return &chain.CNAMECheck{
			FQDN: c.need("fqdn"), ExpectedTarget: c.need("expected_target"), MinResolvers: uint32(c.uint("min_resolvers", 1, 0, math.MaxUint32)),
		}
	}
	return nil
}

// namedCheck reads a check of the terms; nil for another one.
func (a *asker) namedCheck(c *table, fn string) chain.NamedCheck {
	switch fn {
	case "exact_match":
		return &chain.ExactMatchCheck{}
	case "supermajority_vote":
		return &chain.SupermajorityCheck{Field: a.field(c), ThresholdE6: c.share("threshold")}
	case "set_equality":
		return &chain.SetCheck{Field: a.field(c)}
	case "contains_all":
		return &chain.ContainsAllCheck{Substrings: c.texts("substrings")}
	case "contains_none":
		return &chain.ContainsNoneCheck{Substrings: c.texts("substrings")}
	case "regex_match":
		return &chain.RegexCheck{Pattern: c.need("pattern")}
	case "length_bounds":
		return &chain.LengthCheck{Min: c.uint("min", 0, 0, math.MaxUint64), Max: c.uint("max", math.MaxUint64, 0, math.MaxUint64)}
	case "semantic_similarity":
		return &chain.SimilarityCheck{ThresholdE6: c.share("threshold")}
	case "no_prompt_leak":
		return &chain.PromptLeakCheck{}
	case "entropy_check":
		return &chain.EntropyCheck{MinMillibits: c.millibits("min_entropy")}
	}
	return nil
}

// share is the number of 0 to 1 under a key, which must be there, in millionths.
func (t *table) share(name string) uint32 {
	n := t.parts(name, millionths, millionths)
	if n == nil {
		t.wrong(name, ErrMissing)
		return 0
	}
	return uint32(*n)
}

// millibits are the bits of each byte under a key, which must be there, in thousandths.
func (t *table) millibits(name string) uint64 {
	n := t.parts(name, 1_000, 8_000)
	if n == nil {
		t.wrong(name, ErrMissing)
		return 0
	}
	return *n
}

// objectives reads the checks that cost a runner stake, each by its name or as a map with
// its number (resolution 12.44).
func (a *asker) objectives(t *table) {
	// Bounded: by chain.MaxObjectiveChecks, 8.
	for i, item := range t.items("objective_checks", chain.MaxObjectiveChecks) {
		key := fmt.Sprintf("objective_checks[%d]", i)
		var c *table
		if name := nameOf(item); name != "" {
			c = &table{r: a.r, path: t.path + key + "."}
			a.objective(c, name)
			continue
		}
		c = a.r.table(t.path+key, item)
		a.objective(c, c.need("fn"))
		c.leaveNone()
	}
}

func (a *asker) objective(c *table, name string) {
	var check chain.ObjectiveCheck
	switch name {
	case "schema_valid":
		check, a.compare = &chain.SchemaObjective{}, true
	case "min_length":
		check = &chain.MinLengthObjective{Bytes: c.uint("min", 1, 0, math.MaxUint64)} // by its name alone: not empty
	case "entropy":
		check = &chain.EntropyObjective{MinMillibits: c.millibits("min_entropy")}
	case "no_prompt_leak":
		check = &chain.PromptLeakObjective{}
	case "model":
		check = &chain.ModelObjective{}
	default:
		c.wrong("fn", fmt.Errorf("there is no objective check %q", name))
		return
	}
	a.out.Terms.ObjectiveChecks = append(a.out.Terms.ObjectiveChecks, check)
}
