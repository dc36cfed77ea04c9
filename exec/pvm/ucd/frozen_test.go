package ucd

// frozenTables is the SHA-256 of each generated file.
var frozenTables = map[string]string{
	"tables.go":     "e0ece2441ecbc2fd0c3bfb020fb4e8b1804f78051d92d4657080337d9562970f",
	"properties.go": "7e526dd16c131d4e7984e1040f041486be3086e1e1d64e459afd4de337253655",
}
