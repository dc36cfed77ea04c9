package ops

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// clockWarn is the error of the clock above which proposals may come too early for
// others: a tenth of what the rules allow.
const clockWarn = 500 * time.Millisecond

// clock asks the kernel whether something keeps its clock right.
func clock() Finding {
	f := Finding{Check: "clock", Status: OK}
	var state unix.Timex
	status, err := unix.Adjtimex(&state)
	if err != nil {
		f.Status, f.Detail, f.Fix = Warn, "cannot be asked: "+err.Error(), "check chronyc tracking or timedatectl by hand"
		return f
	}
	off := time.Duration(state.Maxerror) * time.Microsecond
	f.Detail = fmt.Sprintf("kept by the system, off by at most %v", off)
	switch {
	case status == unix.TIME_ERROR || state.Status&unix.STA_UNSYNC != 0:
		f.Status, f.Detail = Warn, "nothing keeps it right, as far as the kernel knows"
		f.Fix = "run chrony or systemd-timesyncd (timedatectl set-ntp true); in a container the host's may do it: see cowboy_validator_clock_ahead_seconds"
	case off > clockWarn:
		f.Status, f.Fix = Warn, "choose a nearer time server: chronyc sources"
	}
	return f
}
