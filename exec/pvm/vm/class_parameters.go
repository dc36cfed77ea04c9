package vm

// typeVars are the type variables of args, each once: objects that know how to be
// substituted, and those of arguments that have parameters of their own.
func (m *Machine) typeVars(args []Value) ([]Value, error) {
	if err := m.Enter(); err != nil {
		return nil, err
	}
	defer m.Exit()
	var out []Value
	add := func(v Value) {
		m.elements(len(out))
		if indexOf(out, v) < 0 {
			out = append(out, v)
		}
	}
	for _, v := range args {
		m.Charge(m.dyn.NativeCall)
		if v.isClass() {
			continue
		}
		if _, _, ok := m.lookupMRO(m.classOf(v), "__typing_subst__"); ok {
			add(v)
			continue
		}
		inner, err := m.parametersOf(v)
		if err != nil {
			return nil, err
		}
		// Paid: by add.
		for _, w := range inner {
			add(w)
		}
	}
	return out, nil
}

// indexOf is where v itself stands in values, -1 where it does not.
func indexOf(values []Value, v Value) int {
	// Paid: by who asks, an element each.
	for i, w := range values {
		if w.is(v) {
			return i
		}
	}
	return -1
}

// parametersOf are the type variables that an argument holds.
func (m *Machine) parametersOf(v Value) ([]Value, error) {
	p, ok, err := m.LookupAttr(v, m.newStr("__parameters__"))
	if err != nil || !ok {
		return nil, err
	}
	t, ok := p.ref.self.(*Tuple)
	if !ok {
		return nil, nil
	}
	return t.items, nil
}

// substituted are the arguments of whole with key in place of its type variables
// (PEP 585, PEP 612, PEP 646).
func (m *Machine) substituted(whole Value, args []Value, key Value) ([]Value, error) {
	vars, err := m.typeVars(args)
	if err != nil {
		return nil, err
	}
	if len(vars) == 0 {
		text, err := m.Repr(whole)
		if err != nil {
			return nil, err
		}
		return nil, m.Raise(m.rt.classes.TypeError, "%s is not a generic class", text.s)
	}
	with, err := m.prepared(whole, vars, key)
	if err != nil {
		return nil, err
	}
	items := with.ref.self.(*Tuple).items
	if len(items) != len(vars) {
		return nil, m.wrongCount(whole, len(items), len(vars))
	}
	defer m.Release(m.Hold(with))
	out := m.newList(nil)
	m.Hold(out.val())
	for _, v := range args {
		m.Charge(m.dyn.NativeCall)
		if v.isClass() {
			out.append(m, v)
			continue
		}
		got, err := m.substitutedOne(v, vars, items)
		if err != nil {
			return nil, err
		}
		many, err := m.attrTrue(v, "__typing_is_unpacked_typevartuple__")
		if err != nil {
			return nil, err
		}
		t, isTuple := got.ref.self.(*Tuple)
		if !many || !isTuple {
			out.append(m, got)
			continue
		}
		m.elements(len(t.items))
		out.extend(m, t.items)
	}
	return out.items, nil
}

func (m *Machine) wrongCount(whole Value, given, wanted int) error {
	text, err := m.Repr(whole)
	if err != nil {
		return err
	}
	word := "few"
	if given > wanted {
		word = "many"
	}
	return m.Raise(m.rt.classes.TypeError, "Too %s arguments for %s; actual %d, expected %d", word, text.s, given, wanted)
}

// prepared is the tuple of what stands in brackets, as the variables want it:
// *tuple[int, str] spread, what falls to a TypeVarTuple or a ParamSpec in a tuple.
func (m *Machine) prepared(whole Value, vars []Value, key Value) (Value, error) {
	given := []Value{key}
	if t, ok := key.ref.self.(*Tuple); ok {
		given = t.items
	}
	flat := m.newList(nil)
	defer m.Release(m.Hold(flat.val()))
	for _, v := range given {
		m.Charge(m.dyn.NativeCall)
		spread, err := m.spreadArgs(v)
		if err != nil {
			return unbound, err
		}
		m.elements(len(spread))
		flat.extend(m, spread)
	}
	with := m.tupleOf(flat.items)
	// Paid: by typeVars, which compares each with those before.
	for _, v := range vars {
		m.Hold(with)
		prepare, ok, err := m.LookupAttr(v, m.newStr("__typing_prepare_subst__"))
		if err != nil {
			return unbound, err
		}
		if !ok || prepare.IsNone() {
			continue
		}
		if with, err = m.Call(prepare, whole, with); err != nil {
			return unbound, err
		}
		if _, ok := with.ref.self.(*Tuple); !ok {
			with = m.tupleOf([]Value{with})
		}
	}
	return with, nil
}

// spreadArgs is v, or what *tuple[...] stands for unless its length is open.
func (m *Machine) spreadArgs(v Value) ([]Value, error) {
	if v.isClass() {
		return []Value{v}, nil
	}
	inner, ok, err := m.LookupAttr(v, m.newStr("__typing_unpacked_tuple_args__"))
	if err != nil || !ok {
		return []Value{v}, err
	}
	t, ok := inner.ref.self.(*Tuple)
	if !ok || len(t.items) > 0 && t.items[len(t.items)-1].ref.kind == KindEllipsis {
		return []Value{v}, nil
	}
	return t.items, nil
}

func (m *Machine) attrTrue(v Value, name string) (bool, error) {
	x, ok, err := m.LookupAttr(v, m.newStr(name))
	if err != nil || !ok {
		return false, err
	}
	return m.Truth(x)
}

// substitutedOne is an argument with its variables replaced.
func (m *Machine) substitutedOne(v Value, vars, with []Value) (Value, error) {
	m.elements(len(vars))
	subst, ok, err := m.LookupAttr(v, m.newStr("__typing_subst__"))
	if err != nil {
		return unbound, err
	}
	if i := indexOf(vars, v); ok && i >= 0 {
		return m.Call(subst, with[i])
	}
	inner, err := m.parametersOf(v)
	if err != nil || len(inner) == 0 {
		return v, err
	}
	key := m.newList(nil)
	defer m.Release(m.Hold(key.val()))
	// Paid: by elements within, for each variable.
	for _, p := range inner {
		m.elements(len(vars))
		i := indexOf(vars, p)
		if i < 0 {
			key.append(m, p)
			continue
		}
		t, isTuple := with[i].ref.self.(*Tuple)
		if _, iterable := m.specialOf(vars[i], spIter); !isTuple || !iterable {
			key.append(m, with[i])
			continue
		}
		m.elements(len(t.items))
		key.extend(m, t.items)
	}
	return m.GetItem(v, m.tupleOf(key.items))
}
