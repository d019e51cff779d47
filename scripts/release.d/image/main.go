// Command image writes the OCI image of a release for several platforms, from
// scratch: the program, the certificate authorities of Mozilla, and nothing else.
//
//	image PROGRAMS LAYOUT
//
// PROGRAMS holds linux_amd64/poll and its like; the OCI layout LAYOUT is made. The
// environment has VERSION, COMMIT and SOURCE_DATE_EPOCH.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// platforms are those of the image, by the directory of their program.
var platforms = []struct {
	dir string
	v1.Platform
}{
	{"linux_amd64", v1.Platform{OS: "linux", Architecture: "amd64"}},
	{"linux_arm64", v1.Platform{OS: "linux", Architecture: "arm64", Variant: "v8"}},
	{"linux_armv7", v1.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}},
	{"linux_386", v1.Platform{OS: "linux", Architecture: "386"}},
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: image PROGRAMS LAYOUT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func write(programs, to string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	at := time.Unix(seconds, 0).UTC()
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range platforms {
		program, err := os.ReadFile(filepath.Join(programs, p.dir, "poll"))
		if err != nil {
			return err
		}
		image, err := imageOf(program, p.Platform, at)
		if err != nil {
			return fmt.Errorf("%s: %w", p.dir, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &p.Platform}})
	}
	index = mutate.Annotations(index, labels(at)).(v1.ImageIndex)
	// A layout names what it holds in an index of its own.
	named := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: index, Descriptor: v1.Descriptor{
		Annotations: map[string]string{"org.opencontainers.image.ref.name": os.Getenv("VERSION")},
	}})
	_, err = layout.Write(to, named)
	return err
}

func labels(at time.Time) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "poll",
		"org.opencontainers.image.description": "Wait for a URL or a command until a condition holds",
		"org.opencontainers.image.source":      "https://github.com/pollcli/poll",
		"org.opencontainers.image.licenses":    "MIT",
		"org.opencontainers.image.version":     os.Getenv("VERSION"),
		"org.opencontainers.image.revision":    os.Getenv("COMMIT"),
		"org.opencontainers.image.created":     at.Format(time.RFC3339),
	}
}

// imageOf returns the image of a program for one platform.
func imageOf(program []byte, platform v1.Platform, at time.Time) (v1.Image, error) {
	files, err := rootfs(program, at)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files)), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: at}, CreatedBy: "scripts/release"},
	})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Created = v1.Time{Time: at}
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/poll"},
		Env:        []string{"PATH=/usr/bin"},
		User:       "65532:65532",
		WorkingDir: "/",
		Labels:     labels(at),
	}
	return mutate.ConfigFile(image, config)
}

// rootfs returns all files of the image as a tar archive.
func rootfs(program []byte, at time.Time) ([]byte, error) {
	var text bytes.Buffer
	archive := tar.NewWriter(&text)
	for _, f := range []struct {
		name string
		mode int64
		data []byte
	}{
		{"etc/", 0o755, nil}, {"etc/ssl/", 0o755, nil}, {"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, authorities()},
		{"usr/", 0o755, nil}, {"usr/bin/", 0o755, nil},
		{"usr/bin/poll", 0o755, program},
	} {
		header := tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR}
		header.Typeflag = tar.TypeReg
		if f.data == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), archive.Close()
}

// authorities returns the certificates that are trusted without a constraint: a
// file of certificates cannot say one.
func authorities() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return text.Bytes()
}
