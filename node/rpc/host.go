package rpc

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// foreignHost reports whether a request came to an address that only this
// machine reaches, or to a development chain at any address, under a name that is
// not this machine's. A page that a
// browser here has loaded from elsewhere can do that: its own name is made to
// point to the loopback address (DNS rebinding), and the browser takes our
// answers for the page's. Addresses need no name, so those are served.
//
// A development chain has paths that move funds and blocks without a signature,
// and stands on a local network, where a page can reach it as well. Other nodes are
// called by their names from outside and have nothing that a page could abuse.
func (s *Server) foreignHost(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false // not a request from the network
	}
	at, _, err := net.SplitHostPort(local.String())
	if ip := net.ParseIP(at); err != nil || ip == nil || !ip.IsLoopback() && !s.cfg.Devnet {
		return false
	}
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "" || name == "localhost" || net.ParseIP(name) != nil {
		return false
	}
	return !slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}
