package cpu

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

var everything = Features{BMI: true, AVX2: true, AVX512F: true, AVX512BW: true, AVX512VL: true, AVX512IFMA: true, ShortShuffles: true}

func TestParseReadsWhatStringWrites(t *testing.T) {
	for level := Generic; level <= Auto; level++ {
		if got, err := Parse(level.String()); err != nil || got != level {
			t.Errorf("Parse(%q) = %v, %v", level, got, err)
		}
	}
	if got, err := Parse(""); err != nil || got != Auto {
		t.Errorf(`Parse("") = %v, %v; want auto`, got, err)
	}
	for _, name := range []string{"AVX2", "avx", "sse", " generic"} {
		if _, err := Parse(name); !errors.Is(err, ErrLevel) {
			t.Errorf("Parse(%q): %v, want %v", name, err, ErrLevel)
		}
	}
}

func TestLimitOnlyTakesAway(t *testing.T) {
	f := func(has Features, level Level, want Features) {
		t.Helper()
		if got := has.Limit(level); got != want {
			t.Errorf("%v limited to %v = %v, want %v", has, level, got, want)
		}
	}
	f(everything, Auto, everything)
	f(everything, AVX512, everything)
	f(everything, AVX2, Features{BMI: true, AVX2: true})
	f(everything, Generic, Features{})
	f(Features{}, AVX512, Features{})
	f(Features{AVX2: true}, AVX512, Features{AVX2: true})
}

func TestLevelNeedsEveryPart(t *testing.T) {
	f := func(has Features, want Level) {
		t.Helper()
		if got := has.Level(); got != want {
			t.Errorf("%v is level %v, want %v", has, got, want)
		}
	}
	f(everything, AVX512)
	f(Features{}, Generic)
	f(Features{AVX2: true}, AVX2)
	for _, drop := range []func(*Features){
		func(f *Features) { f.AVX512F = false },
		func(f *Features) { f.AVX512BW = false },
		func(f *Features) { f.AVX512VL = false },
		func(f *Features) { f.AVX512IFMA = false },
	} {
		part := everything
		drop(&part)
		f(part, AVX2)
	}
}

func TestDetect(t *testing.T) {
	has := Detect()
	t.Logf("this machine: %v, level %v", has, has.Level())
	if has != Detect() {
		t.Error("two detections differ")
	}
	if has.AVX512F && !has.AVX2 {
		t.Error("AVX-512 without AVX2")
	}
}

// TestChosenObeysTheVariable asks a process of its own, since the choice is made
// once.
func TestChosenObeysTheVariable(t *testing.T) {
	if level := os.Getenv("COWBOY_TEST_LEVEL"); level != "" {
		want, err := Parse(level)
		if err != nil {
			t.Fatal(err)
		}
		if got := Chosen(); got != Detect().Limit(want) {
			t.Fatalf("chose %v under %s", got, level)
		}
		return
	}
	for _, level := range []string{"generic", "avx2", "avx512", "auto"} {
		cmd := exec.Command(os.Args[0], "-test.run=TestChosenObeysTheVariable")
		cmd.Env = append(os.Environ(), LevelVariable+"="+level, "COWBOY_TEST_LEVEL="+level)
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("an emulated test cannot start itself: runs on every real machine")
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", level, err, out)
		}
	}
	t.Setenv(LevelVariable, "sse9")
	if err := CheckVariable(); !errors.Is(err, ErrLevel) {
		t.Errorf("CheckVariable: %v, want %v", err, ErrLevel)
	}
}
