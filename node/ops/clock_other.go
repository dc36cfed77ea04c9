//go:build !linux

package ops

// clock cannot be asked for here.
func clock() Finding {
	return Finding{
		Check: "clock", Status: Warn, Detail: "the system does not say whether something keeps it right",
		Fix: "make sure that it follows a time server; cowboy_validator_clock_ahead_seconds shows how far others are",
	}
}
