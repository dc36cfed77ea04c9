package main

import (
	"bytes"
	"os"
	"testing"
)

func TestCodeIsUpToDate(t *testing.T) {
	for file, generate := range outputs {
		want, err := generate("..")
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from the declarations: run make generate", file)
		}
	}
}
