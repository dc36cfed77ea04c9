//go:build !linux

package main

import (
	"errors"
	"os"
)

// isTerminal reports whether a person can be asked without showing what is typed.
func isTerminal(*os.File) bool { return false }

// readHidden reads a line from a terminal that does not show it.
func readHidden(*os.File) ([]byte, error) {
	return nil, errors.New("this system's terminal cannot hide what is typed: give --passphrase-file")
}
