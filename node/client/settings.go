package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// settingsMax bounds .cowboy/config.json.
const settingsMax = 1 << 20

// Environment is one network a project can use. Fields that other programs keep
// beside these (dashboard_url, runner_url, actors, lasso, …) are preserved but
// not read.
type Environment struct {
	RPCURL        string // rpc_url
	KeyFile       string // key_file, relative to the project folder
	WalletAddress string // wallet_address
}

// Settings is .cowboy/config.json: the active network and the environments by
// name. The older flat form, whose one environment stands at the top, is read
// too.
type Settings struct {
	root *object
}

// NewSettings returns settings without environments.
func NewSettings() *Settings { return &Settings{root: &object{}} }

// ParseSettings reads the text of a configuration file.
func ParseSettings(text []byte) (*Settings, error) {
	root, err := parseObject(text)
	if err != nil {
		return nil, err
	}
	return &Settings{root: root}, nil
}

// ReadSettings reads a configuration file. The error of a missing one is
// fs.ErrNotExist.
func ReadSettings(path string) (*Settings, error) {
	text, err := readBounded(path, settingsMax)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	s, err := ParseSettings(text)
	if err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return s, nil
}

// Active returns the name of the active network, "" in the flat form.
func (s *Settings) Active() string {
	for _, name := range []string{"active", "network", "active_network"} {
		if active := s.root.text(name); active != "" {
			return active
		}
	}
	return ""
}

// SetActive names the active network.
func (s *Settings) SetActive(name string) { s.root.setText("active", name) }

// Environment returns the active environment; without one, what stands at the
// top level.
func (s *Settings) Environment() (Environment, error) {
	env := s.root
	if active := s.Active(); active != "" {
		all, err := s.environments()
		if err != nil {
			return Environment{}, err
		}
		text, ok := all.get(active)
		if !ok {
			return Environment{}, fmt.Errorf("environment %q is active but not described: run `cowboy init %s`", active, active)
		}
		if env, err = parseObject(text); err != nil {
			return Environment{}, fmt.Errorf("environment %q: %w", active, err)
		}
	}
	return Environment{
		RPCURL:        env.text("rpc_url"),
		KeyFile:       env.text("key_file"),
		WalletAddress: env.text("wallet_address"),
	}, nil
}

// SetEnvironment writes the non-empty fields of env under name and keeps what
// else stands there.
func (s *Settings) SetEnvironment(name string, env Environment) error {
	all, err := s.environments()
	if err != nil {
		return err
	}
	one := &object{}
	if text, ok := all.get(name); ok {
		if one, err = parseObject(text); err != nil {
			return fmt.Errorf("environment %q: %w", name, err)
		}
	}
	one.setText("rpc_url", env.RPCURL)
	one.setText("key_file", env.KeyFile)
	one.setText("wallet_address", env.WalletAddress)
	text, err := one.encode()
	if err != nil {
		return fmt.Errorf("environment %q: %w", name, err)
	}
	all.set(name, text)
	if text, err = all.encode(); err != nil {
		return fmt.Errorf("environments: %w", err)
	}
	s.root.set("environments", text)
	return nil
}

func (s *Settings) environments() (*object, error) {
	text, ok := s.root.get("environments")
	if !ok {
		return &object{}, nil
	}
	all, err := parseObject(text)
	if err != nil {
		return nil, fmt.Errorf("environments: %w", err)
	}
	return all, nil
}

// Encode returns the file's text, indented by two spaces.
func (s *Settings) Encode() ([]byte, error) {
	line, err := s.root.encode()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// Write replaces the file at once, so that a reader sees the old or the new, and durably.
func (s *Settings) Write(path string) error {
	text, err := s.Encode()
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), keyFolderMode); err != nil {
		return fmt.Errorf("configuration folder: %w", err)
	}
	if err := Overwrite(path, text, keyFileMode); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// isMissing reports whether a file does not exist.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
