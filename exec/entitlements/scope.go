package entitlements

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// ScopeKind is what a permission is about (CIP-2 §7.1).
type ScopeKind uint8

// The kinds, by their numbers on the wire.
const (
	ScopeGlobal    ScopeKind = iota // the whole chain
	ScopeActor                      // an actor, by its address
	ScopeToken                      // a token, by its id
	ScopeRunner                     // a runner, by its address
	ScopePool                       // a pool of runners, by a name of any bytes
	ScopeNamespace                  // anything else, by a name of any bytes
)

// ActionKind is what is permitted.
type ActionKind uint8

// The kinds, by their numbers on the wire.
const (
	ActionAll ActionKind = iota
	ActionTokenTransfer
	ActionTokenMint
	ActionTokenBurn
	ActionTokenFreeze
	ActionTokenSetHook
	ActionTokenTransferOwnership
	ActionActorDeploy
	ActionActorSendMessage
	ActionActorExecuteHandler // a handler's name
	ActionRunnerRegister
	ActionRunnerSubmitJob
	ActionRunnerSubmitResult
	ActionRunnerJoinPool // the pool's name
	ActionSystemTransfer
	ActionSystemCreateAccount
	ActionSystemUpgrade
	ActionCustom // any bytes
)

// MaxNameBytes bounds the names of pools, namespaces, handlers, actions and roles.
const MaxNameBytes = 64

// Scope is what a permission is about. Name is the address, the id or the name
// that its kind has.
type Scope struct {
	Kind ScopeKind
	Name string
}

// Action is what is permitted, with the name that its kind has.
type Action struct {
	Kind ActionKind
	Name string
}

var scopeNames = [...]string{"global", "actor", "token", "runner", "runner_pool", "namespace"}

var actionNames = [...]string{
	"all", "token_transfer", "token_mint", "token_burn", "token_freeze", "token_set_hook", "token_transfer_ownership",
	"actor_deploy", "actor_send_message", "actor_execute_handler", "runner_register", "runner_submit_job",
	"runner_submit_result", "runner_join_pool", "system_transfer", "system_create_account", "system_upgrade", "custom",
}

// nameBytes is the length of a scope's name: exact, or 1 to MaxNameBytes for -1.
func (k ScopeKind) nameBytes() int {
	switch k {
	case ScopeGlobal:
		return 0
	case ScopeActor, ScopeRunner:
		return len(chain.Address{})
	case ScopeToken:
		return len(chain.Hash{})
	}
	return -1
}

func (k ActionKind) nameBytes() int {
	switch k {
	case ActionActorExecuteHandler, ActionRunnerJoinPool, ActionCustom:
		return -1
	}
	return 0
}

var errName = errors.New("name of another length than its kind has")

func checkName(name string, want int) error {
	if want < 0 && len(name) >= 1 && len(name) <= MaxNameBytes || len(name) == want {
		return nil
	}
	return errName
}

// Check reports a kind that there is not, or a name that it does not have.
func (s Scope) Check() error {
	if int(s.Kind) >= len(scopeNames) {
		return fmt.Errorf("%w: no scope %d", ErrArgument, s.Kind)
	}
	if err := checkName(s.Name, s.Kind.nameBytes()); err != nil {
		return fmt.Errorf("%w: scope %s: %w", ErrArgument, scopeNames[s.Kind], err)
	}
	return nil
}

// Check is that of [Scope.Check].
func (a Action) Check() error {
	if int(a.Kind) >= len(actionNames) {
		return fmt.Errorf("%w: no action %d", ErrArgument, a.Kind)
	}
	if err := checkName(a.Name, a.Kind.nameBytes()); err != nil {
		return fmt.Errorf("%w: action %s: %w", ErrArgument, actionNames[a.Kind], err)
	}
	return nil
}

// fits reports an action that means nothing in the scope, so that nobody believes
// to have granted what no check will find.
func (a Action) fits(s Scope) error {
	ok := true
	switch k := a.Kind; {
	case k == ActionAll, k == ActionCustom, s.Kind == ScopeGlobal:
	case k == ActionRunnerJoinPool:
		ok = s.Kind == ScopePool && s.Name == a.Name
	case k >= ActionTokenTransfer && k <= ActionTokenTransferOwnership:
		ok = s.Kind == ScopeToken
	case k >= ActionActorDeploy && k <= ActionActorExecuteHandler:
		ok = s.Kind == ScopeActor
	case k >= ActionRunnerRegister && k <= ActionRunnerSubmitResult:
		ok = s.Kind == ScopeRunner || s.Kind == ScopePool
	default:
		ok = false // of the system
	}
	if !ok {
		return fmt.Errorf("%w: %s means nothing for %s", ErrArgument, a, s)
	}
	return nil
}

// Append writes the scope: [kind] or [kind, name] (resolution 8.5).
func (s Scope) Append(dst []byte) []byte { return appendNamed(dst, uint64(s.Kind), s.Name) }

// Append writes the action: [kind] or [kind, name].
func (a Action) Append(dst []byte) []byte { return appendNamed(dst, uint64(a.Kind), a.Name) }

func appendNamed(dst []byte, kind uint64, name string) []byte {
	if name == "" {
		return cbor.AppendUint(cbor.AppendArray(dst, 1), kind)
	}
	return cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(dst, 2), kind), []byte(name))
}

// ReadScope reads what [Scope.Append] writes. Errors: ErrArgument.
func ReadScope(r *cbor.Reader) (s Scope, err error) {
	kind, name, err := readNamed(r)
	if err != nil {
		return s, err
	}
	s = Scope{ScopeKind(kind), name}
	return s, s.Check()
}

// ReadAction reads what [Action.Append] writes. Errors: ErrArgument.
func ReadAction(r *cbor.Reader) (a Action, err error) {
	kind, name, err := readNamed(r)
	if err != nil {
		return a, err
	}
	a = Action{ActionKind(kind), name}
	return a, a.Check()
}

func readNamed(r *cbor.Reader) (kind uint8, name string, err error) {
	n, err := r.Array(2)
	if err == nil && n == 0 {
		err = errName
	}
	var k uint64
	if err == nil {
		k, err = r.Uint()
	}
	if err == nil && n == 2 {
		var b []byte
		if b, err = r.Bytes(MaxNameBytes); err == nil && len(b) == 0 {
			err = errName // the short form says so
		}
		name = string(b)
	}
	if err != nil {
		return 0, "", fmt.Errorf("%w: %w", ErrArgument, err)
	}
	return uint8(min(k, 255)), name, nil
}

// String is the text of [ParseScope].
func (s Scope) String() string { return named(scopeNames[:], int(s.Kind), s.Name, s.Kind.nameBytes()) }

// String is the text of [ParseAction].
func (a Action) String() string {
	return named(actionNames[:], int(a.Kind), a.Name, a.Kind.nameBytes())
}

func named(names []string, kind int, name string, bytes int) string {
	switch {
	case kind >= len(names):
		return fmt.Sprintf("unknown:%d", kind)
	case bytes == 0:
		return names[kind]
	// Bounded: by MaxNameBytes, 64; for people, in no block.
	case bytes > 0 || strings.HasPrefix(name, "0x") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }):
		name = "0x" + hex.EncodeToString([]byte(name))
	}
	return names[kind] + ":" + name
}

// ParseScope reads "global", "actor:0x…", "token:0x…", "runner:0x…",
// "runner_pool:NAME" or "namespace:NAME"; a name after 0x is hex. Errors:
// ErrArgument.
func ParseScope(text string) (Scope, error) {
	kind, name, err := parseNamed(scopeNames[:], text)
	if err != nil {
		return Scope{}, err
	}
	s := Scope{ScopeKind(kind), name}
	return s, s.Check()
}

// ParseAction reads the name of an action, with ":NAME" behind
// actor_execute_handler, runner_join_pool and custom. Errors: ErrArgument.
func ParseAction(text string) (Action, error) {
	kind, name, err := parseNamed(actionNames[:], text)
	if err != nil {
		return Action{}, err
	}
	a := Action{ActionKind(kind), name}
	return a, a.Check()
}

func parseNamed(names []string, text string) (kind int, name string, err error) {
	// Bounded: by what a person asks for, in no block.
	word, name, _ := strings.Cut(text, ":")
	// Bounded: by the names of kinds, some ten.
	for i, n := range names {
		if n != word {
			continue
		}
		// Bounded: by what a person asks for, in no block.
		if digits, ok := strings.CutPrefix(name, "0x"); ok {
			b, err := hex.DecodeString(digits)
			if err != nil {
				return 0, "", fmt.Errorf("%w: %q is no hex", ErrArgument, name)
			}
			name = string(b)
		}
		return i, name, nil
	}
	// Bounded: by the names of kinds, some ten.
	return 0, "", fmt.Errorf("%w: %q is none of %s", ErrArgument, word, strings.Join(names, ", "))
}
