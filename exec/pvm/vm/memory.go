package vm

// Modelled sizes in bytes of the objects of the machine, by which the heap limit
// counts (resolution 11.38). They are consensus and near CPython's.
const (
	valueBytes     = 16
	headerBytes    = 32
	classBytes     = 1024
	mroBytes       = 8
	instanceBytes  = 48
	strBytes       = 48
	intBytes       = 32
	methodBytes    = 64
	cellBytes      = 40
	functionBytes  = 136 // with a few defaults
	fewDefaults    = 8   // of a function, within functionBytes
	cellRefBytes   = 8   // of a function, for each cell
	frameBytes     = 128
	dictBytes      = 64
	dictEntryBytes = 40
	listBytes      = 56
	tupleBytes     = 40
	exceptionBytes = 160
	smallBytes     = 64 // slices, ranges, properties, iterators, super
)
