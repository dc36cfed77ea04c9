// Package release names what is released: node, tools and clients of one build of
// this module carry the same version.
package release

// Version is the release that this tree builds, shown by every command and by
// GET /health.
const Version = "0.1.0"
