package vm

// Modelled sizes in bytes of the objects of the machine, by which the heap limit
// counts (resolution 11.38). They are consensus, near CPython's, and no less than half of
// what an object takes here (TestObjectsAreCounted).
const (
	valueBytes     = 16
	headerBytes    = 32
	classBytes     = 512
	specialsBytes  = 1024 // of a class that has special methods of its own, or several bases
	classNameBytes = 56   // for each of its attributes
	mroBytes       = 8
	instanceBytes  = 72
	attrsBytes     = 32 // of an object that is no plain instance, beside the values of its attributes
	strBytes       = 48
	intBytes       = 64
	floatBytes     = 32 // of a subclass
	methodBytes    = 64
	cellBytes      = 40
	functionBytes  = 136 // with a few defaults
	fewDefaults    = 8   // of a function, within functionBytes
	cellRefBytes   = 8   // of a function, for each cell
	frameBytes     = 128
	generatorBytes = 192
	dictBytes      = 72
	setBytes       = 80
	dictEntryBytes = 40
	listBytes      = 56
	tupleBytes     = 40
	exceptionBytes = 160
	iteratorBytes  = 112
	stepperBytes   = 144 // of an iterator that goes on by a function
	nativeBytes    = 96
	propertyBytes  = 80
	unitBytes      = 256 // of generated code, beside its size as compiled
	siteBytes      = 32  // for each of its instructions, of which some have caches
	smallBytes     = 64  // slices, ranges, static methods, super
)
