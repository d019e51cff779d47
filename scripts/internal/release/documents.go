package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// documentsDir has what is the same on all systems, as archives hold it.
const documentsDir = "documents"

// manual is the manual page, and compressedManual the same as packages hold it,
// which archives do not.
const (
	manual           = documentsDir + "/man/man1/poll.1"
	compressedManual = "packages/poll.1.gz"
)

// documents writes the documents of the source and those that the program prints.
func (r *release) documents() error {
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := r.keep(documentsDir+"/"+name, data); err != nil {
			return err
		}
	}
	poll, err := r.buildHere()
	if err != nil {
		return err
	}
	for _, printed := range []struct {
		name string
		args []string
	}{
		{documentsDir + "/completions/poll.bash", []string{"completion", "bash"}},
		{documentsDir + "/completions/_poll", []string{"completion", "zsh"}},
		{documentsDir + "/completions/poll.fish", []string{"completion", "fish"}},
		{manual, []string{"man"}},
	} {
		data, err := exec.Command(poll, printed.args...).Output()
		if err != nil {
			return fmt.Errorf("make %s: %w", printed.name, err)
		}
		if err := r.keep(printed.name, data); err != nil {
			return err
		}
	}
	return r.compressManual()
}

func (r *release) compressManual() error {
	text, err := os.ReadFile(filepath.Join(r.work, manual))
	if err != nil {
		return err
	}
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.keep(compressedManual, compressed.Bytes())
}

// keep writes a file for later steps.
func (r *release) keep(name string, data []byte) error {
	path := filepath.Join(r.work, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
