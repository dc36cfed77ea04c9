//go:build race

package store

// thinning says that slow tests run one case of so many: the race detector makes
// opening a database some 30 times slower.
const thinning = 8
