package secp

// Lanes is how many field elements an [Element] holds.
const Lanes = 8

// Element is eight field elements, one a lane: limb-major, the low limb first,
// 52 bits a limb. See the package comment for the ranges of limbs.
type Element [5][Lanes]uint64

// Quad is the four elements that field routines work on in turns.
type Quad [4]Element

// Point is eight points in Jacobian coordinates, x = X/Z², y = Y/Z³.
type Point struct{ X, Y, Z Element }

// Pair is the two points that point routines work on in turns.
type Pair [2]Point

// Row is one affine point of a table: x then y, four words each, the low word
// first, below 2^256.
type Row [8]uint64

// Table holds for each lane P, 3P, …, 31P of that lane's point P.
type Table [Lanes][16]Row

// SharedTable holds P, 3P, …, 8191P of one point for all lanes.
type SharedTable [4096]Row

// Digits is eight scalars, one a lane: word-major, the low word first. A scalar
// v of l bits, cut into digits d of w bits, stands for the odd number
// 2v - (2^l - 1): each digit then stands for the odd number 2d - (2^w - 1).
// The last word is zero, so that a digit may be read across any two words.
type Digits [6][Lanes]uint64

// Step says which digit a table is read at. StepAt makes it.
type Step struct {
	word, right, left uint64 // byte offset of the digit's word, shifts to extract it
	// Flip has a bit for each lane of each group whose entry counts negative.
	Flip [2]uint64
	endo uint64 // 1 to read lambda·P instead of P
}

// StepAt returns the step for the digit whose lowest bit is given, 0 to 319.
// With endo an own table stands for lambda·P instead of P.
func StepAt(bit int, endo bool) Step {
	if bit < 0 || bit >= 320 {
		panic("secp: no such bit")
	}
	s := Step{word: uint64(bit / 64 * 64), right: uint64(bit % 64), left: uint64(64 - bit%64)}
	if endo {
		s.endo = 1
	}
	return s
}

// Multiples are the odd multiples P, 3P, …, 31P of two groups' points before
// they become tables. Entry i is affine on the curve whose Z is the product of
// Ratio[0] to Ratio[i]. Z is that of the tables.
type Multiples struct {
	X, Y, Ratio [16][2]Element
	Z           [2]Element
}
