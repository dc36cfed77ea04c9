// Package examples runs the example actors that ask runners for work (sdk/python/examples) on a
// devnet of four validators, with runners that do what a script says.
//
// In: the program cowboyd and the sources of the examples. The tests see the chain as everybody
// does, by transactions and the HTTP API; nothing of exec or state is imported. Out: what the
// actors have stored when honest, lying and silent runners have answered, and when somebody has
// forged answers. The tests of package exec run the same examples without a network.
package examples
