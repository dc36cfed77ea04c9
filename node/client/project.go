package client

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// Names inside a project folder.
const (
	projectFolder = ".cowboy"
	settingsName  = "config.json"
	keyName       = "key"
)

// ErrNoKey means that no place holds a private key.
var ErrNoKey = errors.New("no private key: create one with `cowboy wallet create`, or pass --private-key, or set COWBOY_PRIVATE_KEY")

// Project is the folder that holds .cowboy, with its settings.
type Project struct {
	Root     string // absolute
	Settings *Settings
	Found    bool // a configuration file exists
}

// FindProject looks for .cowboy in start and its parents, as git looks for
// .git. Without one the project is start itself, still empty. One that others can change is
// [ErrForeign]: it may lie in a folder above, where others write.
func FindProject(start string) (*Project, error) {
	start, err := filepath.Abs(start)
	if err != nil {
		return nil, fmt.Errorf("project folder: %w", err)
	}
	p := &Project{Root: start, Settings: NewSettings()}
	for dir := start; ; dir = filepath.Dir(dir) {
		if stat, err := os.Stat(filepath.Join(dir, projectFolder)); err == nil && stat.IsDir() {
			p.Root = dir
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, path := range []string{filepath.Join(p.Root, projectFolder), p.SettingsPath(), p.DefaultKeyPath()} {
		if err := checkOwner(path, os.Geteuid()); err != nil {
			return nil, err
		}
	}
	settings, err := ReadSettings(p.SettingsPath())
	switch {
	case err == nil:
		p.Settings, p.Found = settings, true
	case !isMissing(err):
		return nil, err
	}
	return p, nil
}

// SettingsPath returns where the configuration is or would be.
func (p *Project) SettingsPath() string { return filepath.Join(p.Root, projectFolder, settingsName) }

// DefaultKeyPath returns .cowboy/key.
func (p *Project) DefaultKeyPath() string { return filepath.Join(p.Root, projectFolder, keyName) }

// KeyPath returns the key file of the active environment, else .cowboy/key.
func (p *Project) KeyPath() (string, error) {
	env, err := p.Settings.Environment()
	if err != nil {
		return "", err
	}
	switch {
	case env.KeyFile == "":
		return p.DefaultKeyPath(), nil
	case filepath.IsAbs(env.KeyFile):
		return env.KeyFile, nil
	default:
		return filepath.Join(p.Root, env.KeyFile), nil
	}
}

// NodeURL returns the node's address: the flag, the variable COWBOY_RPC_URL,
// the active environment, [DefaultURL], in this order.
func (p *Project) NodeURL(flag, variable string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if variable != "" {
		return variable, nil
	}
	env, err := p.Settings.Environment()
	if err != nil {
		return "", err
	}
	if env.RPCURL != "" {
		return env.RPCURL, nil
	}
	return DefaultURL, nil
}

// FoundKey is a private key and the place it came from.
type FoundKey struct {
	Key  *secp256k1.PrivateKey
	From string // for people: a file's path or the name of the flag or variable
	File string // path of the file, "" if it came from elsewhere
}

// Key returns the private key: the flag, the variable COWBOY_PRIVATE_KEY, the
// key_file of the active environment if it names one, else .cowboy/key. Flag
// and variable hold 64 hex digits or the path of a key file.
func (p *Project) Key(flag, variable string) (*FoundKey, error) {
	if flag != "" {
		return keyFromText(flag, "--private-key")
	}
	if variable != "" {
		return keyFromText(variable, "COWBOY_PRIVATE_KEY")
	}
	path, err := p.KeyPath()
	if err != nil {
		return nil, err
	}
	key, err := ReadKey(path)
	switch {
	case err == nil:
		return &FoundKey{Key: key, From: path, File: path}, nil
	case isMissing(err) && path == p.DefaultKeyPath():
		return nil, ErrNoKey
	case isMissing(err):
		// Falling back to another key here would send from the wrong account.
		return nil, fmt.Errorf("the configured key file %s does not exist: %w", path, ErrNoKey)
	default:
		return nil, err
	}
}

// keyFromText never repeats the text in an error: it may be a mistyped key.
func keyFromText(text, from string) (*FoundKey, error) {
	if key, err := ParseKeyHex(text); err == nil {
		return &FoundKey{Key: key, From: from}, nil
	}
	if _, err := os.Stat(text); err != nil {
		return nil, fmt.Errorf("%s is neither 64 hex digits of a valid key nor the path of a key file", from)
	}
	key, err := ReadKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return &FoundKey{Key: key, From: from, File: text}, nil
}
