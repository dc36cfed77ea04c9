package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether a person may sit at a file.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// readHidden reads a line from a terminal that does not show it, and puts the terminal
// back as it was.
func readHidden(f *os.File) ([]byte, error) {
	before, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("passphrase: terminal: %w", err)
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	hidden.Lflag |= unix.ICANON | unix.ISIG
	if err := unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, &hidden); err != nil {
		return nil, fmt.Errorf("passphrase: terminal: %w", err)
	}
	defer func() { _ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, before) }()
	return readLine(f)
}
