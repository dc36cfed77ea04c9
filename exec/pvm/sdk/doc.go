//spec:implements whitepaper 10

// Package sdk is cowboy_sdk, the module through which an actor meets the chain
// (whitepaper, SDK Ergonomics, §3.3, §3.4; resolution 11.44), and open(), which
// reaches the scratch files under /tmp and nothing else (§3.1).
//
// # Flow
//
// Whoever runs a call makes a [Session] of a [host.Host] and puts it into
// Machine.Host. The program's calls flow in as Python values; the session
// charges for them, turns values into canonical bytes (package values), asks the
// host, and turns answers back. [Deliver] hands a message to the handler of the
// loaded program, with the SDK's rules of who may call what.
//
// # Parts
//
// Functions are natives in the internal module _cowboy. Decorators, guards,
// messages and the builders of job specifications are Python, in the folder
// python: they are code of the library, compiled once by [Modules].
//
// The whitepaper's examples call current_block, set_timer and their like without
// importing them, so those names are builtins, which any definition of the
// program hides. [Builtins] lists them.
//
// # Invariants
//
//   - Nothing outlives a session: scratch files, identifiers and classes end
//     with the call.
//   - A refusal of the host is CowboyError with its code; any other error of the
//     host ends the call.
//   - Every call is charged before the host is asked, per byte where
//     [host.Costs] says so.
package sdk
