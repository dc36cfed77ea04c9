// Package rpc serves the node's HTTP API: JSON from snapshots, transactions
// in, finalized blocks out as server-sent events.
//
// It decides nothing that the protocol defines. Everything it knows it asks of
// a [Source], which the node implements over its ledger and lanes; this package
// parses strictly, bounds every request, and shapes the answers (shapes.go).
//
// # Flow
//
//	connection → table of connections → panic guard → route (404, 405)
//	  → rate and debt of the client (429) → body, within its cap (413) and a share of
//	  memory → slot (503, 429) → deadline → handler → bill (429) → Source → JSON → slot
//	  given back → answer, within a share of memory
//
// GET /events keeps its slot, a subscription, as long as the client stays, and each
// of its writes has its own deadline. GET /health and /metrics pass all limits, and
// are answered on spare connections when the table is full.
//
// # Clients
//
// One client, an IPv4 address or an IPv6 /48 network, holds at most ClientShare percent
// of what others leave of the connections, slots, subscriptions, bodies and answers, so
// that it takes a dozen greedy ones to shut out another. A host's (IPv6: /64) requests draw on its rate by what they cost: a price of the
// route, and what is billed ([Bill]) before bytes are read or written. One request of a
// client at a time may take more than there is, which the client then owes. Behind a proxy the client is who the proxy says, if an
// operator trusts it.
//
// # Invariants
//
// Every error has the body {code, message} with a code of codes.go, unknown
// paths and wrong methods included. No request makes the server hold more than
// its body cap plus one answer. A panic in a handler costs that request only.
//
// Concurrency: one goroutine per connection (net/http); handlers own nothing.
// [Server.Run] owns the listener and waits for all of them. References: the
// public API's documented paths, resolutions 11.12, 11.32, 11.33, 11.37.
package rpc
