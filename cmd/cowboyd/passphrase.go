package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/keystore"
)

// passphraseFlags say where the passphrase of an encrypted keys.json comes from.
type passphraseFlags struct {
	File string `name:"passphrase-file" help:"File with the passphrase of an encrypted keys.json, readable by its owner alone; a service manager's credential will do. A line's end at its end does not count. Default: a terminal is asked." type:"existingfile" placeholder:"FILE"`
	FD   int    `name:"passphrase-fd" help:"Descriptor to read the passphrase from, to its end, such as 3 with 3< <(command)." default:"-1" placeholder:"N"`
}

// source returns what gives the passphrase, or nil if nothing does. twice asks a person
// to repeat it.
func (f *passphraseFlags) source(twice bool) datadir.Passphrase {
	switch {
	case f.File != "":
		return func() ([]byte, error) { return passphraseFile(f.File) }
	case f.FD >= 0:
		return func() ([]byte, error) {
			file := os.NewFile(uintptr(f.FD), fmt.Sprintf("descriptor %d", f.FD))
			if file == nil {
				return nil, fmt.Errorf("there is no descriptor %d", f.FD)
			}
			defer file.Close()
			return readPassphrase(file)
		}
	case isTerminal(os.Stdin):
		return func() ([]byte, error) { return askPassphrase(os.Stdin, os.Stderr, twice) }
	}
	return nil
}

// given reports whether a flag says where the passphrase is.
func (f *passphraseFlags) given() bool { return f.File != "" || f.FD >= 0 }

// sealing encrypts keys that are made: where a flag asks for it, and on every chain but
// a development chain.
func (f *passphraseFlags) sealing() datadir.Sealing {
	return datadir.Sealing{Passphrase: f.source(true), Always: f.given()}
}

// errPassphraseExposed means that others can read the file of a passphrase.
var errPassphraseExposed = errors.New("the passphrase file is readable by others: chmod 600 it")

func passphraseFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("passphrase: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("passphrase: %w", err)
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: %w", name, errPassphraseExposed)
	}
	return readPassphrase(file)
}

// readPassphrase reads to the end, within the bound of a passphrase.
func readPassphrase(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, keystore.PassphraseBytesMax+3))
	if err != nil {
		return nil, fmt.Errorf("passphrase: %w", err)
	}
	b = bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
	if len(b) > keystore.PassphraseBytesMax {
		return nil, fmt.Errorf("passphrase: more than %d bytes", keystore.PassphraseBytesMax)
	}
	return b, nil
}

// askPassphrase asks a person at a terminal, without showing what is typed.
func askPassphrase(terminal *os.File, say io.Writer, twice bool) ([]byte, error) {
	ask := func(what string) ([]byte, error) {
		fmt.Fprint(say, what)
		defer fmt.Fprintln(say)
		return readHidden(terminal)
	}
	first, err := ask("Passphrase of keys.json: ")
	if err != nil || !twice {
		return first, err
	}
	again, err := ask("The same again: ")
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(first, again) {
		return nil, errors.New("the two are not the same: nothing was changed")
	}
	return first, nil
}

// readLine reads a line byte by byte, so that nothing behind it is taken.
func readLine(r io.Reader) ([]byte, error) {
	var line []byte
	var one [1]byte
	for {
		n, err := r.Read(one[:])
		switch {
		case n == 1 && one[0] == '\n':
			return bytes.TrimSuffix(line, []byte("\r")), nil
		case n == 1 && len(line) == keystore.PassphraseBytesMax:
			return nil, fmt.Errorf("passphrase: more than %d bytes", keystore.PassphraseBytesMax)
		case n == 1:
			line = append(line, one[0])
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case err != nil:
			return nil, fmt.Errorf("passphrase: %w", err)
		}
	}
}

// once keeps the passphrase for a start that needs it twice, to fetch a state and to run:
// a descriptor can be read once, and a person is asked once.
func once(source datadir.Passphrase) datadir.Passphrase {
	if source == nil {
		return nil
	}
	var kept []byte
	return func() ([]byte, error) {
		if kept == nil {
			words, err := source()
			if err != nil {
				return nil, err
			}
			kept = words
		}
		return bytes.Clone(kept), nil
	}
}
