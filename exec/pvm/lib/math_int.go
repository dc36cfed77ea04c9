package lib

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/libm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// The logarithms of integers by the names that integerLog takes.
func bigLog2(n *big.Int) (uint64, libm.Verdict)  { return libm.Log2Int(n) }
func bigLog10(n *big.Int) (uint64, libm.Verdict) { return libm.Log10Int(n) }

// integerLog is a logarithm that takes integers of any size.
func integerLog(fn func(uint64) (uint64, libm.Verdict), ofInt func(*big.Int) (uint64, libm.Verdict)) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		return logarithm(m, a.Values[0], fn, ofInt)
	}
}

func logarithm(m *vm.Machine, v vm.Value, fn func(uint64) (uint64, libm.Verdict), ofInt func(*big.Int) (uint64, libm.Verdict)) (vm.Value, error) {
	m.Charge(m.Prices().FloatFunc)
	if n, ok := v.BigInt(); ok {
		limbWork(m, limbs(n))
		r, verdict := ofInt(n)
		return judged(m, r, verdict)
	}
	x, err := real(m, v)
	if err != nil {
		return vm.None, err
	}
	return verdict(m, fn, x)
}

func mathLog(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if len(a.Values) < 1 || len(a.Values) > 2 {
		return vm.None, m.TypeError("math.log requires 1 to 2 arguments")
	}
	num, err := logarithm(m, a.Values[0], libm.Log, libm.LogInt)
	if err != nil || len(a.Values) == 1 {
		return num, err
	}
	den, err := logarithm(m, a.Values[1], libm.Log, libm.LogInt)
	if err != nil {
		return vm.None, err
	}
	x, _ := num.FloatEncoding()
	y, _ := den.FloatEncoding()
	if softfloat.IsZero(y) {
		return vm.None, m.Raise(m.Builtin("ZeroDivisionError"), "float division by zero")
	}
	return vm.FloatBits(softfloat.Div(x, y)), nil
}

// integers returns the arguments as ints.
func integers(m *vm.Machine, values []vm.Value) ([]*big.Int, error) {
	elements(m, len(values))
	out := make([]*big.Int, len(values))
	// Paid: by the elements above; an __index__ of the program pays for its call.
	for i, v := range values {
		var err error
		if out[i], err = bigIndex(m, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// productWork charges for a product or quotient of x and y.
func productWork(m *vm.Machine, x, y int) {
	m.ChargeEach(x, m.Prices().LimbWork*int64(y))
}

func mathGCD(m *vm.Machine, a vm.Args) (vm.Value, error) {
	ns, err := integers(m, a.Values)
	if err != nil {
		return vm.None, err
	}
	r := new(big.Int)
	// Paid: by gcdWork, the square of the limbs of both.
	for _, n := range ns {
		gcdWork(m, r, n)
		r = new(big.Int).GCD(nil, nil, new(big.Int).Abs(r), new(big.Int).Abs(n))
	}
	return m.NewInt(r), nil
}

// gcdWork charges for Lehmer's algorithm, which is quadratic.
func gcdWork(m *vm.Machine, x, y *big.Int) {
	productWork(m, limbs(x)+limbs(y), 4*(limbs(x)+limbs(y)))
}

func mathLCM(m *vm.Machine, a vm.Args) (vm.Value, error) {
	ns, err := integers(m, a.Values)
	if err != nil {
		return vm.None, err
	}
	r := big.NewInt(1)
	for _, n := range ns {
		if n.Sign() == 0 {
			r = new(big.Int)
			continue
		}
		if r.Sign() == 0 {
			continue
		}
		gcdWork(m, r, n)
		m.Alloc(8 * (limbs(r) + limbs(n)))
		g := new(big.Int).GCD(nil, nil, r, new(big.Int).Abs(n))
		r = new(big.Int).Mul(new(big.Int).Quo(r, g), new(big.Int).Abs(n))
	}
	return m.NewInt(r), nil
}

// rangeProduct is lo·(lo+1)·…·hi for bounds of 64 bits, charged by the limbs of
// the result before.
func rangeProduct(m *vm.Machine, lo, hi *big.Int) *big.Int {
	if lo.Cmp(hi) > 0 {
		return big.NewInt(1)
	}
	count := new(big.Int).Sub(hi, lo)
	count.Add(count, big.NewInt(1))
	bits := new(big.Int).Mul(count, big.NewInt(int64(hi.BitLen())))
	if !bits.IsInt64() || bits.Int64() > 1<<36 {
		m.Charge(m.CyclesLeft() + 1) // more than any heap holds
	}
	words := bits.Int64()/64 + 1
	m.ChargeCount(count.Int64(), m.Work().FactorTerm)
	m.ChargeCount(words, m.Prices().LimbWork*(words/4+1))
	m.AllocBytes(8 * words)
	return multiplied(lo, count.Int64())
}

// multiplied is the product of count numbers from lo, by halves.
func multiplied(lo *big.Int, count int64) *big.Int {
	if count <= 8 {
		r, n := new(big.Int).Set(lo), new(big.Int).Set(lo)
		// Bounded: by seven products, of limbs that rangeProduct charged for.
		for range count - 1 {
			n.Add(n, big.NewInt(1))
			r.Mul(r, n)
		}
		return r
	}
	half := count / 2
	low := multiplied(lo, half)
	high := multiplied(new(big.Int).Add(lo, big.NewInt(half)), count-half)
	return low.Mul(low, high)
}

func mathFactorial(m *vm.Machine, a vm.Args) (vm.Value, error) {
	n, err := bigIndex(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	return factorial(m, n)
}

func factorial(m *vm.Machine, n *big.Int) (vm.Value, error) {
	switch {
	case !n.IsInt64() && n.Sign() > 0:
		return vm.None, m.Raise(m.Builtin("OverflowError"), "factorial() argument should not exceed %d", int64(1<<63-1))
	case n.Sign() < 0:
		return vm.None, m.ValueError("factorial() not defined for negative values")
	}
	return m.NewInt(rangeProduct(m, big.NewInt(1), n)), nil
}

// countArgs are n and k of comb and perm.
func countArgs(m *vm.Machine, a vm.Args) (n, k *big.Int, err error) {
	if n, err = bigIndex(m, a.Values[0]); err != nil {
		return nil, nil, err
	}
	if k, err = bigIndex(m, a.Values[1]); err != nil {
		return nil, nil, err
	}
	if n.Sign() < 0 {
		return nil, nil, m.ValueError("n must be a non-negative integer")
	}
	if k.Sign() < 0 {
		return nil, nil, m.ValueError("k must be a non-negative integer")
	}
	// What follows compares both, copies n twice and reads one of the copies again, however
	// few factors there are.
	both := limbs(n) + limbs(k)
	limbWork(m, both+both+both+both)
	m.Alloc(16 * limbs(n))
	return n, k, nil
}

func mathComb(m *vm.Machine, a vm.Args) (vm.Value, error) {
	n, k, err := countArgs(m, a)
	if err != nil {
		return vm.None, err
	}
	if n.Cmp(k) < 0 {
		return vm.SmallInt(0), nil
	}
	if other := new(big.Int).Sub(n, k); other.Cmp(k) < 0 {
		k = other
	}
	if !k.IsInt64() {
		return vm.None, m.Raise(m.Builtin("OverflowError"), "min(n - k, k) must not exceed %d", int64(1<<63-1))
	}
	low := new(big.Int).Sub(n, k)
	num := rangeProduct(m, low.Add(low, big.NewInt(1)), n)
	den := rangeProduct(m, big.NewInt(1), k)
	productWork(m, limbs(num), limbs(den))
	return m.NewInt(num.Quo(num, den)), nil
}

func mathPerm(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if orNone(a, 1).IsNone() {
		n, err := bigIndex(m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return factorial(m, n)
	}
	n, k, err := countArgs(m, a)
	if err != nil {
		return vm.None, err
	}
	if n.Cmp(k) < 0 {
		return vm.SmallInt(0), nil
	}
	if !k.IsInt64() {
		return vm.None, m.Raise(m.Builtin("OverflowError"), "k must not exceed %d", int64(1<<63-1))
	}
	low := new(big.Int).Sub(n, k)
	return m.NewInt(rangeProduct(m, low.Add(low, big.NewInt(1)), n)), nil
}

func mathIsqrt(m *vm.Machine, a vm.Args) (vm.Value, error) {
	n, err := bigIndex(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	if n.Sign() < 0 {
		return vm.None, m.ValueError("isqrt() argument must be nonnegative")
	}
	// Newton's rounds are many where the root has few limbs.
	productWork(m, limbs(n)+1, 2*(limbs(n)+1))
	return m.NewInt(new(big.Int).Sqrt(n)), nil
}
