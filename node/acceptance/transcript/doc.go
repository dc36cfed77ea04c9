// Package transcript runs the pages of docs/ that show what commands print, as they stand:
// each command in a shell, on a chain of four validators, and its output beside the page's.
//
// In: a page and the programs, which it builds. Out: failures that name the command and what
// it printed instead.
package transcript
