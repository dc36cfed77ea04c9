// Package rpc serves the node's HTTP API: JSON from snapshots, transactions
// in, finalized blocks out as server-sent events.
//
// It decides nothing that the protocol defines. Everything it knows it asks of
// a [Source], which the node implements over its ledger and lanes; this package
// parses strictly, bounds every request, and shapes the answers (shapes.go).
//
// # Flow
//
//	connection → connection limit → panic guard → route (404, 405)
//	  → rate limit per client (429) → in-flight limit (503) → deadline
//	  → body cap (413) → handler → Source → JSON
//
// GET /events leaves that path after the rate limit: it holds a subscription
// instead of an in-flight slot, and each of its writes has its own deadline.
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
