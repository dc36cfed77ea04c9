package parallel

// Shake makes the executor call fn wherever goroutines may meet.
func (x *Executor) Shake(fn func()) { x.shake = fn }

// Emptied returns the most emptied executions that any worker keeps.
func (x *Executor) Emptied() (most int) {
	for i := range x.spare {
		most = max(most, len(x.spare[i]))
	}
	return most
}
