package sdk

import (
	"strconv"

	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// groupRequests is the most that a group waits for.
const groupRequests = 16

// Beside the record of a group's handler stand how many answers are missing, and
// each answer until all are there. The record of a request has no handler but the
// group's name and its own index.
func groupKey(group, part string) string { return continuationKey + group + ":" + part }

// suspendGroup stores a handler that waits for several jobs and submits them.
func suspendGroup(c call) (vm.Value, error) {
	requests, _ := c.arg(3).Items()
	if len(requests) == 0 || len(requests) > groupRequests {
		return vm.None, c.m.ValueError("a group has 1 to %d requests", groupRequests)
	}
	n, err := c.waiting()
	if err != nil {
		return vm.None, err
	}
	if n+len(requests) > c.s.limits.Continuations {
		return vm.None, c.s.raise(c.m, host.RefusedLimit, "too many handlers wait for runners")
	}
	var specs, contexts []vm.Value
	// Bounded: by groupRequests, 16.
	for _, r := range requests {
		pair, _ := r.Items()
		if len(pair) != 2 {
			return vm.None, c.m.TypeError("a request of a group is a pair")
		}
		specs, contexts = append(specs, pair[0]), append(contexts, pair[1])
	}
	list := c.m.NewList(contexts)
	defer c.m.Release(c.m.Hold(list))
	id, err := c.store(c.arg(0), c.arg(1), c.arg(2), list)
	if err != nil {
		return vm.None, err
	}
	group := string(hexDigits(id))
	if err := c.writeCount(groupKey(group, "left"), len(specs)); err != nil {
		return vm.None, err
	}
	name := c.m.NewStr(group)
	c.m.Hold(name)
	// Bounded: by groupRequests, 16; store and ask charge.
	for i, spec := range specs {
		id, err := c.store(vm.None, vm.SmallInt(int64(i)), name, vm.None)
		if err != nil {
			return vm.None, err
		}
		if err := c.ask(spec, id); err != nil {
			return vm.None, err
		}
	}
	return vm.None, c.setWaiting(n + len(specs))
}

// groupAnswer keeps an answer of a group. When it is the last one it takes the
// record out of storage and answers name, label, captured variables, contexts
// and answers; None before.
func groupAnswer(c call) (vm.Value, error) {
	group, err := c.nameArg(0, "group")
	if err != nil {
		return vm.None, err
	}
	index, err := c.unsigned(1, "index")
	if err != nil {
		return vm.None, err
	}
	data, err := c.s.encode(c.m, c.arg(2))
	if err != nil {
		return vm.None, err
	}
	left, err := c.readCount(groupKey(group, "left"))
	if err != nil {
		return vm.None, err
	}
	if left != 1 {
		if err := c.write(groupKey(group, strconv.FormatUint(index, 10)), data); err != nil {
			return vm.None, err
		}
		return vm.None, c.writeCount(groupKey(group, "left"), left-1)
	}
	if _, err := c.remove(groupKey(group, "left")); err != nil {
		return vm.None, err
	}
	return c.gather(group, int(index))
}

// gather takes the record and the answers out of storage; the last answer is an
// argument.
func (c call) gather(group string, last int) (vm.Value, error) {
	key := continuationKey + group
	data, ok, err := c.read(key)
	if err != nil {
		return vm.None, err
	}
	if !ok {
		return vm.None, c.s.raise(c.m, host.RefusedTarget, "no handler waits for this job")
	}
	record, err := values.Decode(c.m, data, c.exact())
	if err != nil {
		return vm.None, err
	}
	mark := c.m.Hold(record)
	if _, err := c.remove(key); err != nil {
		return vm.None, err
	}
	parts, _ := record.Items()
	if len(parts) != 5 {
		return vm.None, c.m.ValueError("malformed continuation")
	}
	contexts, _ := parts[4].Items()
	var answers []vm.Value
	// Bounded: by groupRequests, 16, of which the record was made; takeAnswer charges.
	for i := range contexts {
		v := c.arg(2)
		if i != last {
			if v, err = c.takeAnswer(groupKey(group, strconv.Itoa(i))); err != nil {
				return vm.None, err
			}
		}
		c.m.Hold(v)
		answers = append(answers, v)
	}
	list := c.m.NewList(answers)
	c.m.Release(mark)
	return c.m.NewTuple(append(parts[1:5:5], list)), nil
}

func (c call) takeAnswer(key string) (vm.Value, error) {
	data, _, err := c.read(key)
	if err != nil {
		return vm.None, err
	}
	if _, err := c.remove(key); err != nil {
		return vm.None, err
	}
	return c.s.decode(c.m, data)
}

// readCount reads a number of storage, 0 when there is none.
func (c call) readCount(key string) (int, error) {
	data, ok, err := c.read(key)
	if err != nil || !ok {
		return 0, err
	}
	v, err := c.s.decode(c.m, data)
	if err != nil {
		return 0, err
	}
	n, _ := v.Int64()
	return int(n), nil
}

func (c call) writeCount(key string, n int) error {
	data, err := c.s.encode(c.m, vm.SmallInt(int64(n)))
	if err != nil {
		return err
	}
	return c.write(key, data)
}
