package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// A file is a member of an archive.
type file struct {
	name string // with slashes
	mode fs.FileMode
	data []byte
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
