package code

// Work holds how much work natives count where the operands do not tell it:
// multiples of the prices of [Dynamic], or cycles where the comment says so.
// Factors of one and two - a look-up and a store - stay in the source.
type Work struct {
	Class         Cycles // natives per class made, beside its body
	GroupSplit    Cycles // natives per split of an exception group
	ScanMatch     Cycles // natives per match of a scan
	IteratorStep  Cycles // elements per item of an iterator of itertools
	SignalEntry   Cycles // elements per signal in a dict of them
	MethodWrapper Cycles // natives per class method or static method made
	PatternFault  Cycles // natives per pattern that cannot be compiled
	DoubleFunc    Cycles // functions of math per one that takes as long as two
	PowerFunc     Cycles // functions of math per power of floats
	RemainderBits Cycles // bits by which floats differ in size per limb product of their remainder
	KeyBytes      Cycles // bytes of a key of a dict or set that count as a character
	SeriesFunc    Cycles // functions of math per one that sums a long series
	FloatDigits   Cycles // limb products per float made a decimal, or the other way
	IntPower      Cycles // limb products per product of two limbs of a power
	IntPowerMod   Cycles // the same per bit of the exponent of a modular power
	IntInverse    Cycles // the same for a modular inverse
	IntRound      Cycles // the same for rounding to tens
	EscapedChar   Cycles // characters per one that JSON text escapes
	ByteTable     Cycles // characters per table of all bytes
	ProductItem   Cycles // cycles per repeated item of itertools.product
	SumTerm       Cycles // cycles per term of a sum of floats
	FactorTerm    Cycles // cycles per factor of a product of a range
	Digest        Cycles // cycles per hash, beside its bytes (whitepaper §17.3)
	Conversion    Cycles // cycles per conversion to or from canonical bytes
	ConvertedItem Cycles // cycles per item of one
	TokenBytes    Cycles // bytes of a text that count as a token, values made room for or names looked at that count as an element; half of the parts that operations of everyday programs have
	OpenObjects   Cycles // open containers of JSON that count as an element
	Import        Cycles // cycles per module of the library imported (CIP-3)
	KindBytes     Cycles // characters of a subject of a pattern, bytes copied or values cleared as a whole that count as one
	RoomBytes     Cycles // bytes of one large allocation that count as a character
}

// defaultWork returns the amounts of genesis.
func defaultWork() Work {
	return Work{
		Class: 40, GroupSplit: 4, ScanMatch: 3, IteratorStep: 3, SignalEntry: 3,
		MethodWrapper: 4, PatternFault: 8,
		DoubleFunc: 2, PowerFunc: 3, RemainderBits: 32, KeyBytes: 32, SeriesFunc: 7, FloatDigits: 40, IntPower: 2, IntPowerMod: 4, IntInverse: 64, IntRound: 4,
		EscapedChar: 5, ByteTable: 256, ProductItem: 24, SumTerm: 16, FactorTerm: 2,
		Digest: 100, Conversion: 20, ConvertedItem: 1, TokenBytes: 4, OpenObjects: 8, KindBytes: 32, Import: 100, RoomBytes: 128,
	}
}

// WorkRow is a line of the table of work.
type WorkRow struct {
	Name   string
	Amount Cycles
}

// Rows returns the table in its fixed order, by which genesis hashes it.
func (w *Work) Rows() []WorkRow {
	return []WorkRow{
		{"class native-calls", w.Class},
		{"group-split native-calls", w.GroupSplit},
		{"scan-match native-calls", w.ScanMatch},
		{"iterator-step elements", w.IteratorStep},
		{"signal-entry elements", w.SignalEntry},
		{"method-wrapper native-calls", w.MethodWrapper},
		{"pattern-fault native-calls", w.PatternFault},
		{"double-function float-functions", w.DoubleFunc},
		{"power-function float-functions", w.PowerFunc},
		{"remainder-bits per-limb-work", w.RemainderBits},
		{"key-bytes per-char", w.KeyBytes},
		{"series-function float-functions", w.SeriesFunc},
		{"float-digits limb-work", w.FloatDigits},
		{"int-power limb-work", w.IntPower},
		{"int-power-mod limb-work", w.IntPowerMod},
		{"int-inverse limb-work", w.IntInverse},
		{"int-round limb-work", w.IntRound},
		{"escaped-char chars", w.EscapedChar},
		{"byte-table chars", w.ByteTable},
		{"product-item cycles", w.ProductItem},
		{"sum-term cycles", w.SumTerm},
		{"factor-term cycles", w.FactorTerm},
		{"digest cycles", w.Digest},
		{"conversion cycles", w.Conversion},
		{"converted-item cycles", w.ConvertedItem},
		{"token bytes", w.TokenBytes},
		{"open-objects per-element", w.OpenObjects},
		{"kind-bytes per-char", w.KindBytes},
		{"import", w.Import},
		{"room-bytes per-char", w.RoomBytes},
	}
}
