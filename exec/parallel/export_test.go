package parallel

// Shake makes the executor call fn wherever goroutines may meet.
func (x *Executor) Shake(fn func()) { x.shake = fn }
