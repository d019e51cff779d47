package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func members() []file {
	return []file{
		{"poll_1/poll", 0o755, bytes.Repeat([]byte("program "), 1000)},
		{"poll_1/README.md", 0o644, []byte("read me\n")},
	}
}

// at is not a whole number of seconds: archives do not keep more.
var at = time.Date(2026, 5, 4, 3, 2, 0, 999, time.FixedZone("here", 3600))

func TestArchivesAreTheSameAgain(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer, []file, time.Time) error{"tar": writeTar, "zip": writeZip} {
		var one, two bytes.Buffer
		if err := write(&one, members(), at); err != nil {
			t.Fatal(err)
		}
		if err := write(&two, members(), at.In(time.UTC)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%s: the same files at the same time make other bytes", name)
		}
	}
}

func TestTarHolds(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := writeTar(&text, members(), at); err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(&text)
	if err != nil {
		t.Fatal(err)
	}
	var have []file
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Uname != "" || header.ModTime.Unix() != at.Unix() {
			t.Errorf("%s: owner %d %q at %v", header.Name, header.Uid, header.Uname, header.ModTime)
		}
		have = append(have, file{header.Name, header.FileInfo().Mode(), data})
	}
	if diff := cmp.Diff(members(), have, cmp.AllowUnexported(file{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestZipHolds(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := writeZip(&text, members(), at); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(text.Bytes()), int64(text.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var have []file
	for _, member := range archive.File {
		r, err := member.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		have = append(have, file{member.Name, member.Mode(), data})
	}
	if diff := cmp.Diff(members(), have, cmp.AllowUnexported(file{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
