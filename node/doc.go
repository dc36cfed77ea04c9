// Package node assembles a validator: it opens the data folder, wires the
// owners of topology.go, serves RPC and metrics, and starts and stops all of it
// in order.
//
// It is the only place where consensus, exec, lanes and the outside world meet.
// It decides nothing that the protocol defines.
//
// # Rooms
//
// What needs no running node is in packages of its own, none of which knows this one:
//
//	node/datadir  the folder: names of files, genesis, keys, peers, opening store,
//	              journal and guard, and what to do where one is refused
//	node/setup    makes such folders: development chains, trusted deals
//	node/tools    works on the folder of a stopped node
//	node/query    answers readers, over the head, the store and the pool
//
// Here are the wiring (node.go, topology.go), the parts that belong to a running
// validator (evidence, its submitter, the watch for damage, the mesh), and what is told
// of it (health.go, metrics).
//
// Whoever is to hear of final blocks adds a line to finalListeners.
package node
