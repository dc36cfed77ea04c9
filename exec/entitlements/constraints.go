package entitlements

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// MaxDepth bounds how far a grant can be delegated (CIP-2 §7.5).
const MaxDepth = 5

// Rate is at most so many uses in so many blocks.
type Rate struct {
	Uses, Blocks uint64
}

// Constraints are the conditions of a grant (CIP-2 §7.1). The zero value has none
// and cannot be delegated. How much was used is not among them: see [Grant].
type Constraints struct {
	From, Until  chain.Height // first and last block, both included; 0: none
	Uses         uint64       // 0: any number
	AmountPerUse uint64       // 0: any
	TotalAmount  uint64       // 0: any
	Rate         *Rate
	Delegatable  bool
	Depth        uint64 // how many may delegate one after the other
	Irrevocable  bool   // only who has it may give it up
}

// The names on the wire, in canonical order: a shorter name comes first.
const (
	nameUses        = "max_uses"
	nameRevocable   = "revocable"
	nameRate        = "rate_limit"
	nameFrom        = "valid_from"
	nameDelegatable = "delegatable"
	nameUntil       = "valid_until"
	nameTotal       = "max_total_amount"
	namePerUse      = "max_amount_per_use"
	nameDepth       = "delegation_depth_max"
)

// Append writes the constraints as a canonical map; what is not bounded is left
// out.
func (c *Constraints) Append(dst []byte) []byte {
	n, b := 0, []byte(nil)
	number := func(name string, v uint64) {
		if v != 0 {
			n++
			b = cbor.AppendUint(cbor.AppendText(b, name), v)
		}
	}
	number(nameUses, c.Uses)
	if c.Irrevocable {
		n++
		b = cbor.AppendBool(cbor.AppendText(b, nameRevocable), false)
	}
	if c.Rate != nil {
		n++
		b = cbor.AppendArray(cbor.AppendText(b, nameRate), 2)
		b = cbor.AppendUint(cbor.AppendUint(b, c.Rate.Uses), c.Rate.Blocks)
	}
	number(nameFrom, uint64(c.From))
	if c.Delegatable {
		n++
		b = cbor.AppendBool(cbor.AppendText(b, nameDelegatable), true)
	}
	number(nameUntil, uint64(c.Until))
	number(nameTotal, c.TotalAmount)
	number(namePerUse, c.AmountPerUse)
	number(nameDepth, c.Depth)
	return append(cbor.AppendMap(dst, n), b...)
}

// ReadConstraints reads a canonical map of those names, each optional. A last block
// or an amount of 0 would mean no bound where the strictest is meant, and is none.
// Errors: ErrArgument.
func ReadConstraints(r *cbor.Reader) (c Constraints, err error) {
	n, err := r.Map(9)
	var prev []byte
	// Bounded: by nine names.
	for range n {
		at := *r
		if prev, err = r.Key(prev, cbor.DefaultLimits()); err != nil {
			break
		}
		var name string
		if name, err = at.Text(MaxNameBytes); err != nil {
			break
		}
		if err = c.read(r, name); err != nil {
			break
		}
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return c, fmt.Errorf("%w: constraints: %w", ErrArgument, err)
	}
	return c, nil
}

func (c *Constraints) read(r *cbor.Reader, name string) (err error) {
	var n uint64
	switch name {
	case nameRate:
		c.Rate = new(Rate)
		if err = r.ArrayOf(2); err == nil {
			c.Rate.Uses, err = r.Uint()
		}
		if err == nil {
			c.Rate.Blocks, err = r.Uint()
		}
		return err
	case nameRevocable:
		may, err := r.Bool()
		c.Irrevocable = !may
		return err
	case nameDelegatable:
		c.Delegatable, err = r.Bool()
		return err
	}
	if n, err = r.Uint(); err != nil {
		return err
	}
	if n == 0 && (name == nameUntil || name == nameTotal || name == namePerUse) {
		return fmt.Errorf("%s is 0", name)
	}
	switch name {
	case nameUses:
		c.Uses = n
	case nameFrom:
		c.From = chain.Height(n)
	case nameUntil:
		c.Until = chain.Height(n)
	case nameTotal:
		c.TotalAmount = n
	case namePerUse:
		c.AmountPerUse = n
	case nameDepth:
		c.Depth = n
	default:
		return fmt.Errorf("no constraint %q", name)
	}
	return nil
}

func (c *Constraints) check() error {
	switch {
	case c.Until != 0 && c.Until < c.From:
		return fmt.Errorf("valid until %d from %d", c.Until, c.From)
	case c.Rate != nil && (c.Rate.Uses == 0 || c.Rate.Blocks == 0):
		return fmt.Errorf("rate of %d uses in %d blocks", c.Rate.Uses, c.Rate.Blocks)
	case c.Depth > MaxDepth:
		return fmt.Errorf("delegation depth %d, at most %d", c.Depth, MaxDepth)
	case c.Delegatable != (c.Depth > 0):
		return fmt.Errorf("delegatable is %v, delegation depth is %d", c.Delegatable, c.Depth)
	}
	return nil
}

// expired reports whether the grant has ended before block h.
func (c *Constraints) expired(h chain.Height) bool { return c.Until != 0 && h > c.Until }

// inForce reports whether block h is within the grant's time.
func (c *Constraints) inForce(h chain.Height) bool { return h >= c.From && !c.expired(h) }

// within reports whether a grant under c allows less than one under p in every field that p
// bounds, and can be delegated less far: the strict subset that a delegation must be (CIP-2
// §7.2). What p leaves open may stay open.
func (c *Constraints) within(p *Constraints) bool {
	fewer := func(v, of uint64) bool { return of == 0 || v != 0 && v < of } // 0 is no bound
	return (p.From == 0 || c.From > p.From) && fewer(uint64(c.Until), uint64(p.Until)) &&
		fewer(c.Uses, p.Uses) && fewer(c.AmountPerUse, p.AmountPerUse) && fewer(c.TotalAmount, p.TotalAmount) &&
		(p.Rate == nil || c.Rate != nil && c.Rate.slower(p.Rate)) &&
		c.Depth < p.Depth && (!c.Irrevocable || p.Irrevocable)
}

// slower reports whether r allows fewer uses, or as many in more blocks.
func (r *Rate) slower(p *Rate) bool {
	return r.Uses <= p.Uses && r.Blocks >= p.Blocks && *r != *p
}
