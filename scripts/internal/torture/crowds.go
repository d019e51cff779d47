//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"time"

	"github.com/pollcli/poll/scripts/internal/proc"
)

func crowds() []testCase {
	return []testCase{
		{"10,000 command attempts", func(s *suite) (string, error) { return s.crowd(10_000, "--", "false") }},
		{"100,000 HTTP attempts", requests},
	}
}

func requests(s *suite) (string, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"state":"pending"}`))
	}))
	defer server.Close()
	return s.crowd(100_000, "--until", `.state=="done"`, server.URL)
}

// crowd watches the memory and descriptors of the program while it makes many
// attempts: they must not grow after the first ones.
func (s *suite) crowd(attempts int, more ...string) (string, error) {
	line := args("-q --interval 0 --timeout 55s --max-attempts", append([]string{strconv.Itoa(attempts)}, more...)...)
	r, err := s.start(wait{args: line})
	if err != nil {
		return "", err
	}
	resident, files, err := watch(r)
	e := r.end()
	if err != nil {
		return "", err
	}
	n := len(resident)
	growth := slices.Max(resident[n*3/4:]) - slices.Max(resident[n/10:n/4])
	err = e.expect(3)
	if growth > 4<<20 || e.peak > 32<<20 {
		err = errors.Join(err, errors.New("too much memory"))
	}
	if files > 20 {
		err = errors.Join(err, errors.New("the descriptors grow"))
	}
	return fmt.Sprintf("%s each, %s resident at most, %s more than early on, %d descriptors",
		(e.took / time.Duration(attempts)).Round(time.Microsecond), mebi(e.peak), mebi(growth), files), err
}

// watch samples a run until it ends.
func watch(r *running) (resident []int64, files int, err error) {
	pid := r.Process.Pid
	for {
		now := proc.Memory(pid, "VmRSS")
		if now == 0 {
			break
		}
		resident = append(resident, now)
		files = max(files, proc.Descriptors(pid))
		time.Sleep(20 * time.Millisecond)
	}
	if len(resident) < 40 {
		return nil, 0, fmt.Errorf("it ended after %d samples: %s", len(resident), r.stderr.String())
	}
	return resident, files, nil
}
