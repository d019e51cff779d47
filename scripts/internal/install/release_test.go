//go:build unix

package install

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// program is what the archives of a version hold.
func program(version string) string { return "#!/bin/sh\necho 'poll " + version + " (fake) go0'\n" }

// A published release is what a server has of one version, which is the latest.
type published struct {
	version string
	systems []string
	url     string
	files   map[string][]byte
	cut     string              // this file ends half-way
	broken  bool                // every answer is 500
	hang    func(*http.Request) // instead of an archive, unless nil

	mu       sync.Mutex
	requests []string
}

// newRelease publishes a version for systems such as linux_amd64.
func newRelease(t *testing.T, version string, systems ...string) *published {
	t.Helper()
	r := &published{version: version, systems: systems, files: make(map[string][]byte)}
	for _, system := range systems {
		r.pack(system, program(version))
	}
	r.sumUp()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *published) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	path := request.URL.Path
	r.mu.Lock()
	r.requests = append(r.requests, path)
	data, ok := r.files[path]
	r.mu.Unlock()
	switch {
	case r.broken:
		http.Error(w, "it broke", http.StatusInternalServerError)
	case !ok:
		http.NotFound(w, request)
	case r.hang != nil && !strings.HasSuffix(path, "SHA256SUMS"):
		r.hang(request)
	case r.cut == path:
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Write(data[:len(data)/2])
	default:
		w.Write(data)
	}
}

func (r *published) asked(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.requests, path)
}

func (r *published) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = nil
}

// archive returns where the archive for a system is.
func (r *published) archive(system string) string {
	name := "/download/" + r.version + "/poll_" + r.version + "_" + system
	if strings.HasPrefix(system, "windows_") {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// pack makes the archive for a system.
func (r *published) pack(system, program string) {
	var text bytes.Buffer
	name := "poll_" + r.version + "_" + system + "/poll"
	if strings.HasPrefix(system, "windows_") {
		archive := zip.NewWriter(&text)
		member, _ := archive.Create(name + ".exe")
		io.WriteString(member, program)
		archive.Close()
	} else {
		compressed := gzip.NewWriter(&text)
		archive := tar.NewWriter(compressed)
		archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(program))})
		io.WriteString(archive, program)
		archive.Close()
		compressed.Close()
	}
	r.files[r.archive(system)] = text.Bytes()
}

// damage changes an archive, and not its checksum.
func (r *published) damage(system string, change func([]byte) []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[r.archive(system)] = change(slices.Clone(r.files[r.archive(system)]))
}

// sumUp makes the checksums.
func (r *published) sumUp() {
	var sums bytes.Buffer
	fmt.Fprintf(&sums, "%x  install.sh\n", sha256.Sum256(nil))
	for _, system := range r.systems {
		path := r.archive(system)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(r.files[path]), path[strings.LastIndex(path, "/")+1:])
	}
	r.files["/download/"+r.version+"/SHA256SUMS"] = sums.Bytes()
	r.files["/latest/download/SHA256SUMS"] = sums.Bytes()
}
