// Command cowboy is the wallet and the looking glass: it makes keys, signs and
// sends transactions, and shows blocks, accounts and receipts of a node.
//
// # Flow
//
//	arguments → kong → one command's Run(*session) → node/client → lines or JSON
//
// A command returns an error and prints nothing about it; run.go is the only
// place that decides how an error looks and which code the process exits with:
// 0 done, 1 refused or failed, 2 used wrongly. What other programs parse is
// printed to stdout, remarks for people go to stderr. With --json every command
// prints one JSON document in one line.
//
// Output lines follow what existing clients of this executable parse: a line
// "Wallet address: 0x…" and "Next steps:" of init, the bare address of wallet
// address, "Transaction hash: 0x…", the last line {r, s, v} of transaction
// sign-hash, "Actor address: 0x…" and "Actor deployment transaction submitted
// successfully" of actor deploy, the last line {ok, …} of dev, and "cowboy x.y.z" of
// version.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], world{
		stdin:  os.Stdin,
		stdout: os.Stdout,
		stderr: os.Stderr,
		env:    os.Getenv,
	})
	stop()
	os.Exit(code)
}
