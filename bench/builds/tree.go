package builds

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

// build is a tree with its suites compiled.
type build struct {
	name string // for people
	root string // of the tree
	dir  string // for programs and reports
}

// prepare exports a commit into dir and compiles the suites. The working tree stays where
// it is.
func prepare(ctx context.Context, cfg *Config, commit, dir string, log io.Writer) (*build, error) {
	b := &build{name: "the working tree", root: cfg.Repository, dir: dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder of a build: %w", err)
	}
	if commit != WorkingTree {
		hash, err := resolve(ctx, cfg.Repository, commit)
		if err != nil {
			return nil, err
		}
		b.name, b.root = fmt.Sprintf("%s (%.12s)", commit, hash), filepath.Join(dir, "tree")
		if err := export(ctx, cfg.Repository, hash, b.root); err != nil {
			return nil, fmt.Errorf("export %s: %w", b.name, err)
		}
	}
	for _, suite := range cfg.Suites {
		fmt.Fprintf(log, "building %s of %s\n", suite, b.name)
		if err := b.compile(ctx, suite); err != nil {
			return nil, fmt.Errorf("build %s of %s: %w", suite, b.name, err)
		}
	}
	return b, nil
}

// resolve returns the hash of a commit.
func resolve(ctx context.Context, repository, commit string) (string, error) {
	// --end-of-options: a name that begins with a dash is no option of git's.
	out, err := command(ctx, repository, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%w: %q is no commit here: name one, or %q for the working tree", ErrConfig, commit, WorkingTree)
	}
	return strings.TrimSpace(string(out)), nil
}

// export writes the files of a commit below root.
func export(ctx context.Context, repository, hash, root string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // git ends where the archive is not read to its end
	cmd := exec.CommandContext(ctx, "git", "archive", "--format=tar", hash)
	cmd.Dir = repository
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git archive: %w", err)
	}
	errFiles := writeFiles(tar.NewReader(pipe), root)
	if errFiles != nil {
		stop()
	}
	if err := cmd.Wait(); err != nil && errFiles == nil {
		return fmt.Errorf("git archive: %w: %s", err, bytes.TrimSpace(complaint.Bytes()))
	}
	return errFiles
}

// writeFiles writes folders and plain files of an archive; a name that leaves root is an
// error of [os.Root].
func writeFiles(archive *tar.Reader, root string) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	defer r.Close()
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		name := filepath.Clean(h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = r.MkdirAll(name, 0o755)
		case tar.TypeReg:
			err = writeFile(r, name, h.FileInfo().Mode().Perm(), archive)
		case tar.TypeSymlink:
			err = r.Symlink(h.Linkname, name)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
}

func writeFile(r *os.Root, name string, mode os.FileMode, from io.Reader) error {
	if err := r.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := r.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// compile builds the program of a suite.
func (b *build) compile(ctx context.Context, suite string) error {
	peers := filepath.Join(b.root, "bench", "peers")
	if _, err := os.Stat(filepath.Join(peers, suite)); err != nil {
		return fmt.Errorf("%w: it has no suite %s: %w", ErrConfig, suite, err)
	}
	_, err := command(ctx, peers, "go", "build", "-buildvcs=false", "-o", b.program(suite), "./"+suite)
	return err
}

func (b *build) program(suite string) string { return filepath.Join(b.dir, suite) }

// run measures a suite once.
func (b *build) run(ctx context.Context, cfg *Config, suite string, round int) (*bars.Report, error) {
	out := filepath.Join(b.dir, "out")
	path := filepath.Join(out, suite+".json")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("report of the run before: %w", err)
	}
	_, errRun := command(ctx, filepath.Join(b.root, "bench", "peers"), b.program(suite),
		"-rounds", fmt.Sprint(cfg.Samples), "-seed", fmt.Sprint(cfg.Seed+uint64(round)), "-run", cfg.Bars, "-out", out)
	// A bar that could not be measured fails the program and stands in its report: the
	// others are compared.
	report, err := bars.ReadReport(path)
	if err != nil {
		return nil, errors.Join(errRun, err)
	}
	return report, ctx.Err()
}

// complaintMax is how much of what a program says against itself is kept.
const complaintMax = 4 << 10

// command runs a program in a folder and returns what it printed; an error has the end of
// what it complained of.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		text := bytes.TrimSpace(complaint.Bytes())
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(name), err, text[max(0, len(text)-complaintMax):])
	}
	return out.Bytes(), nil
}
