package ucd

// frozenTables is the SHA-256 of tables.go.
const frozenTables = "e0ece2441ecbc2fd0c3bfb020fb4e8b1804f78051d92d4657080337d9562970f"
