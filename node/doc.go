// Package node assembles a validator: it opens the data folder, wires the
// owners of topology.go, serves RPC and metrics, and starts and stops all of it
// in order.
//
// It is the only place where consensus, exec, lanes and the outside world meet.
// It decides nothing that the protocol defines.
package node
