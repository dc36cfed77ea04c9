package main

import (
	"bytes"
	"os"
	"testing"
)

func TestCodecIsUpToDate(t *testing.T) {
	want, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../" + output)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the declarations: run make generate", output)
	}
}
