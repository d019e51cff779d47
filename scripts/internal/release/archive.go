package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A file is a member of an archive.
type file struct {
	name string // with slashes
	mode fs.FileMode
	data []byte
}

// archiveName returns the name of the archive for a target.
func (r *release) archiveName(t target) string {
	suffix := ".tar.gz"
	if t.os == "windows" {
		suffix = ".zip"
	}
	return "poll_" + r.version + "_" + t.String() + suffix
}

// archives writes an archive for each target: one directory with the program and
// the documents.
func (r *release) archives() error {
	for _, t := range targets() {
		name := r.archiveName(t)
		dir, write := strings.TrimSuffix(name, ".tar.gz"), writeTar
		if t.os == "windows" {
			dir, write = strings.TrimSuffix(name, ".zip"), writeZip
		}
		program, err := os.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		documents, err := readDir(filepath.Join(r.work, documentsDir), dir)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		files := append([]file{{dir + "/" + t.program(), 0o755, program}}, documents...)
		if err := write(&packed, files, r.at); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := r.add(name, packed.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// readDir returns the files below a directory in the order of their names, which
// begin with prefix.
func readDir(dir, prefix string) (files []file, err error) {
	tree := os.DirFS(dir)
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		files = append(files, file{path.Join(prefix, name), 0o644, data})
		return err
	})
	return files, err
}

// writeTar writes a compressed tar archive, and writeZip a zip archive. They record
// no owner and no time but at: the same files at the same time make the same bytes.
func writeTar(w io.Writer, files []file, at time.Time) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		header := tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)),
			ModTime: at.UTC().Truncate(time.Second), Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(&header); err != nil {
			return fmt.Errorf("add %s: %w", f.name, err)
		}
		if _, err := archive.Write(f.data); err != nil {
			return fmt.Errorf("add %s: %w", f.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func writeZip(w io.Writer, files []file, at time.Time) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		header := zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at.UTC().Truncate(2 * time.Second)}
		header.SetMode(f.mode)
		member, err := archive.CreateHeader(&header)
		if err != nil {
			return fmt.Errorf("add %s: %w", f.name, err)
		}
		if _, err := member.Write(f.data); err != nil {
			return fmt.Errorf("add %s: %w", f.name, err)
		}
	}
	return archive.Close()
}
