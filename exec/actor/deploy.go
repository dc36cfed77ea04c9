//spec:implements whitepaper 1.1-1.3

package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rent"
)

// Deployment is what makes an actor.
type Deployment struct {
	Creator  chain.Address
	Parent   chain.Address // actor that spawns it; zero for a transaction
	Source   []byte
	Salt     []byte
	Manifest []byte // canonical map {"entitlements": list of grants}
	Init     *Init  // nil: no handler runs
	Value    chain.Wei
}

// Init is the message that a new actor gets in the transaction that makes it.
type Init struct {
	Handler string
	Payload []byte // canonical
}

// AddressOf returns where a deployment goes: the last 20 bytes of
// keccak256(creator ‖ salt ‖ keccak256(source)) (whitepaper §1.2).
func AddressOf(creator chain.Address, salt, source []byte) chain.Address {
	code := keccak.Sum256(source)
	h := keccak.Sum256(creator[:], salt, code[:])
	return chain.Address(h[12:])
}

// ParsePayload reads the payload of a deployment transaction: [source, salt,
// manifest, init], with init null or a message (resolution 11.43). It takes what
// [chain.Tx.Classify] takes for one.
func ParsePayload(payload []byte) (d Deployment, err error) {
	r := cbor.NewReader(payload)
	if err = r.ArrayOf(4); err != nil {
		return d, err
	}
	if d.Source, err = r.Bytes(chain.MaxTxBytes); err != nil {
		return d, err
	}
	if d.Salt, err = r.Bytes(chain.MaxSaltBytes); err != nil {
		return d, err
	}
	if d.Manifest, err = r.Raw(cbor.DefaultLimits()); err != nil {
		return d, err
	}
	if !r.Null() {
		d.Init = new(Init)
		if d.Init.Handler, d.Init.Payload, err = chain.ReadMessage(&r); err != nil {
			return d, err
		}
	}
	return d, r.End()
}

// AppendPayload writes what [ParsePayload] reads.
func AppendPayload(dst []byte, d *Deployment) []byte {
	dst = cbor.AppendBytes(cbor.AppendArray(dst, 4), d.Source)
	dst = append(cbor.AppendBytes(dst, d.Salt), d.Manifest...)
	if d.Init == nil {
		return cbor.AppendNull(dst)
	}
	return AppendMessage(dst, d.Init.Handler, d.Init.Payload)
}

// Deploy makes an actor and runs its init handler, as the first handler of the
// run. What is said of the value of [Run.First] holds. The error is a fault.
func (r *Run) Deploy(d *Deployment) (Outcome, error) {
	m := r.mark()
	addr := AddressOf(d.Creator, d.Salt, d.Source)
	r.spelled = chain.Hash(keccak.Sum256(d.Source))
	v, err := r.deploy(d, addr)
	if err != nil {
		return Outcome{}, err
	}
	r.cycles -= min(v.used, r.cycles)
	if v.code != chain.CodeOK {
		r.undo(m)
	}
	out, err := r.closeRun(m, v)
	if out.Code == chain.CodeOK {
		out.Actor = addr
	}
	return out, err
}

// deploy writes the actor and runs its body and its init handler.
func (r *Run) deploy(d *Deployment, addr chain.Address) (ending, error) {
	a, _, err := r.state.Account(addr)
	if err != nil {
		return ending{}, err
	}
	if free, err := r.free(d, &a, addr); err != nil || !free {
		return refused(chain.CodeAddressTaken, "%s has code", addr), err
	}
	grants, v := r.admitManifest(d)
	if v.code != chain.CodeOK {
		return v, nil
	}
	p, v := r.compile(d.Source, v.used)
	if v.code != chain.CodeOK {
		return v, nil
	}
	if v, err := r.found(d, a, addr, grants, p, v.used); err != nil || v.code != chain.CodeOK {
		return v, err
	}
	e := Envelope{From: d.Creator, To: addr, Value: d.Value}
	if c, err := r.pay(&e); err != nil || c != chain.CodeOK {
		return refused(c, "value does not fit the actor's balance"), err
	}
	first := v.used
	v, err = r.initialize(d, &e, p, r.cycles-first)
	v.used += first
	return v, err
}

// found writes an actor and warns of what its manifest will lose; used is what
// making it has used so far.
func (r *Run) found(d *Deployment, a state.Account, addr chain.Address, grants []byte, p *pvm.Program, used chain.Cycles) (ending, error) {
	var err error
	if a.CodeHash, err = keepCode(r.state, d.Source); err != nil {
		return ending{}, err
	}
	r.state.SetAccount(addr, a)
	rec, err := keepManifest(r.state, grants)
	if err != nil {
		return ending{}, err
	}
	rec.Creator, rec.Parent, rec.Deployed = d.Creator, d.Parent, r.block.Height
	rec.Load = r.block.loadCycles(p, d.Source)
	writeRecord(r.state, addr, &rec)
	return r.warnDeprecated(grants, used), nil
}

// admitManifest charges and checks the manifest and returns the list of grants that is kept.
func (r *Run) admitManifest(d *Deployment) ([]byte, ending) {
	cost := r.block.manifestCycles(len(d.Manifest))
	if cost > r.cycles {
		v := refused(chain.CodeCyclesExhausted, "the manifest costs %d cycles", cost)
		v.used = r.cycles
		return nil, v
	}
	grants, err := manifest.Admit(d.Manifest, manifest.Request{Params: r.block.Params, Height: r.block.Height, Creator: d.Creator})
	if err != nil {
		v := refused(manifest.CodeOf(err), "%v", err)
		v.used = cost
		return nil, v
	}
	return grants, ending{used: cost}
}

// compile charges and checks the source, besides what was used before. What its
// bytes cost is there before the work; what costs more is charged stage by stage.
func (r *Run) compile(source []byte, before chain.Cycles) (*pvm.Program, ending) {
	if r.fault = errors.Join(r.fault, ready(r.engine)); r.fault != nil {
		return nil, ending{code: chain.CodeUnsupported}
	}
	if n := uint64(len(source)); n > r.block.Params.Actor.SourceBytes {
		v := refused(chain.CodeCodeInvalid, "the source has %d bytes, %d are allowed", n, r.block.Params.Actor.SourceBytes)
		v.used = before
		return nil, v
	}
	cost := before + r.block.sourceCycles(source)
	if cost > r.cycles {
		v := refused(chain.CodeCyclesExhausted, "compiling costs %d cycles", cost)
		v.used = r.cycles
		return nil, v
	}
	p, spent, err := r.block.programOf(r.engine, source, r.cycles-before)
	r.noteFrontDefect(source, err)
	if errors.Is(err, pvm.ErrCycles) {
		v := refused(chain.CodeCyclesExhausted, "%v", err)
		v.used = r.cycles
		return nil, v
	}
	cost = max(cost, before+spent)
	if err != nil {
		v := refused(chain.CodeCodeInvalid, "%v", err)
		v.used = cost
		return nil, v
	}
	r.start.Warm.pay(chain.Hash(p.Hash))
	return p, ending{used: cost}
}

// errNoSource refuses a source of no bytes: an account with the hash of nothing has
// no code, so that nobody could call it nor take back what it was paid.
var errNoSource = errors.New("the source is empty")

// programOf compiles what is to become an actor's code, for at most so many cycles, and
// looks whether the chain lists what it imports. It returns what was done of the
// cycles, of a source that does not compile as well.
func (b *Block) programOf(e *pvm.Engine, source []byte, most chain.Cycles) (*pvm.Program, chain.Cycles, error) {
	if len(source) == 0 {
		return nil, 0, errNoSource
	}
	p, spent, err := e.ProgramWithin(source, sourceName, code.Cycles(min(most, maxCycles)))
	if err == nil {
		err = p.Within(b.imports)
	}
	return p, chain.Cycles(spent), err
}

// noteFrontDefect keeps what is needed to look at a defect of the compiler.
func (r *Run) noteFrontDefect(source []byte, err error) {
	var d *pvm.FrontDefect
	if errors.As(err, &d) {
		r.defects = append(r.defects, pvm.Dump{File: sourceName, Source: source, CodeHash: pvm.HashOf(source), Panic: d.Panic, Stack: d.Stack})
	}
}

// initialize loads the program once, so that one which cannot load is refused, and
// delivers the init message.
func (r *Run) initialize(d *Deployment, e *Envelope, p *pvm.Program, cycles chain.Cycles) (ending, error) {
	a, err := r.state.CodeAndMeta(e.To)
	if err != nil {
		return ending{}, err
	}
	rec, err := r.record(e.To)
	if err != nil {
		return ending{}, err
	}
	f, err := r.frame(e, &a, rec)
	if err != nil {
		return ending{}, err
	}
	m := r.mark()
	v, err := r.execute(f, p, cycles, func(m *vm.Machine) ([]byte, error) {
		if err := r.warnOpen(m, e.To); err != nil || d.Init == nil {
			return nil, err
		}
		return sdk.Entry{Handler: d.Init.Handler, Payload: d.Init.Payload, Inside: true}.Deliver(m)
	})
	if err != nil {
		return v, err
	}
	if v.code != chain.CodeOK {
		v.used -= r.undo(m)
	}
	return r.drawOwn(e.To, v, m), nil
}

// free reports whether a deployment may go to its address: to one without code, or
// to that of an actor whose manifest it renews.
func (r *Run) free(d *Deployment, a *state.Account, addr chain.Address) (bool, error) {
	if a.HasCode() {
		return r.mayRenew(d, a, addr)
	}
	return !addr.IsSystem(), nil
}

// mayRenew reports whether a deployment may give the actor that stands at its
// address another manifest: its creator's may, be that an account or the actor
// that spawned it, once it is non-executable (entitlements §9.11). Code, storage
// and balance stay: the address is that of the same source.
func (r *Run) mayRenew(d *Deployment, a *state.Account, addr chain.Address) (bool, error) {
	rec, err := r.record(addr)
	if err != nil {
		return false, err
	}
	grants, err := r.grants(rec)
	if err != nil {
		return false, err
	}
	return rec.Creator == d.Creator && grants.Gone(r.block.Params, r.block.Height) != "" && !rent.Dormant(a), nil
}
