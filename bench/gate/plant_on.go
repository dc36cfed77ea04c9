//go:build plant

package gate

// planted says whether every kind measures slow code on purpose: see the package's doc.
const planted = true
