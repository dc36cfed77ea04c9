package rpc

import (
	"net/netip"
	"time"
)

// Owe lets a client owe for what it read.
func Owe(s *Server, client string) {
	s.rates.charge(netip.MustParseAddr(client), 10*s.rates.hosts.perPeriod, time.Now())
}

// ParseJobPlace reads the place of a job in a list.
func ParseJobPlace(text string) (JobPlace, error) { return parseJobPlace(text) }
