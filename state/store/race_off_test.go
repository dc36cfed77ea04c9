//go:build !race

package store

const thinning = 1 // every case
