package main

import (
	"os"
	"testing"
)

func TestPageIsUpToDate(t *testing.T) {
	page, err := os.ReadFile("../" + output)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != render() {
		t.Error("docs/transactions.md differs from the tables: run make generate")
	}
}
