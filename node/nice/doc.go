// Package nice lets work of no urgency give way to consensus: it gets threads of
// low priority.
package nice
