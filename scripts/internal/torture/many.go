//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/scripts/internal/proc"
)

func manyTargets() []testCase {
	return []testCase{
		{"5,000 targets, a hostile server", besieged},
		{"5,000 targets, killed at 12 moments", killedCrowds},
		{"200 commands, 7 at once", commandsAtOnce},
	}
}

const (
	manyURLs     = 4500
	manyCommands = 500
	many         = manyURLs + manyCommands
)

// A siege is a server of many targets that turns hostile half-way and knows how each
// target has to end.
type siege struct {
	*httpscript.Server
	url string

	mu      sync.Mutex
	rand    *rand.Rand
	looks   int         // so far
	begun   time.Time   // the refusals
	good    map[int]int // answers that say how a target is, by its number
	done    map[int]bool
	failed  map[int]bool
	answers map[string]*httpscript.Answer
}

// The requests between which the server is hostile, and how long it then refuses for load.
const (
	hostileFrom, hostileUntil = 7000, 14000
	refuses                   = 2 * time.Second
)

const (
	runs  = `200:{"state":"running"}`
	done  = `200:{"state":"done"}`
	fails = `200:{"state":"failed"}`
	busy  = `429,Retry-After=1:{"state":"done"}`
)

// hostility is what a hostile server answers. None of it says that a target is done or
// has failed.
var hostility = []string{
	"close",
	"raw\nHTTP/1.1 200 OK\nContent-Length: 16\n",
	"raw:\x00\xff\x7f garbage",
	`200,cut=15:{"state":"done"}`,
	`200:{"state":"done"`,
	`200:{"state":["done"]}`,
	`200:{"State":"done"}`,
	`200:<html>"state":"done"</html>`,
	`200,Content-Encoding=gzip:{"state":"done"}`,
	`200,drip=500ms:{"state":"done"}`,
	`500:{"state":"done"}`,
	`503:{"state":"failed"}`,
	`408:{"state":"done"}`,
	`200:`,
	`202:{"state":"running"}`,
}

func besiege(random *rand.Rand) (*siege, error) {
	s := &siege{rand: random, good: map[int]int{}, done: map[int]bool{}, failed: map[int]bool{}, answers: map[string]*httpscript.Answer{}}
	for _, text := range append([]string{runs, done, fails, busy}, hostility...) {
		parsed, err := httpscript.Parse(text, nil)
		if err != nil {
			return nil, fmt.Errorf("read the answer %q: %w", text, err)
		}
		s.answers[text] = &parsed[0]
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s.url = "http://" + listener.Addr().String() + "/"
	s.Server = httpscript.Start(listener, s.answer)
	return s, nil
}

// answer is called for one request at a time. A target is done, or has failed, at its
// first to fourth good answer.
func (s *siege) answer(r httpscript.Request) *httpscript.Answer {
	n, _ := strconv.Atoi(strings.TrimPrefix(r.URI, "/"))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	text := runs
	switch {
	case s.looks > hostileFrom && s.looks < hostileUntil && s.rand.IntN(4) > 0:
		text = hostility[s.rand.IntN(len(hostility))]
	case s.looks == hostileUntil:
		s.begun = time.Now()
		text = busy
	case s.looks > hostileUntil && time.Since(s.begun) < refuses:
		text = busy
	default:
		if s.good[n]++; s.good[n] > n%4 {
			text = done
			if n%50 == 0 {
				text = fails
			}
			s.done[n], s.failed[n] = text == done, text == fails
		}
	}
	return s.answers[text]
}

// targets writes the targets file: URLs, and commands of which every tenth hangs and
// every tenth fails for good.
func (s *siege) targets(path string) error {
	var b strings.Builder
	for n := 1; n <= many; n++ {
		target := map[string]any{"name": strconv.Itoa(n)}
		switch {
		case n <= manyURLs:
			target["url"] = s.url + strconv.Itoa(n)
		case n%10 == 0:
			target["command"] = []string{"sleep", "60"}
		case n%10 == 1:
			target["command"] = []string{"echo", `{"state":"failed"}`}
			s.failed[n] = true
		default:
			target["command"] = []string{"echo", `{"state":"done"}`}
			s.done[n] = true
		}
		line, err := json.Marshal(target)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// storm starts poll on all targets of the siege.
func (s *suite) storm(server *siege, more string) (*running, error) {
	file := s.file("targets.ndjson")
	if err := server.targets(file); err != nil {
		return nil, fmt.Errorf("write the targets: %w", err)
	}
	return s.start(wait{args: args("-q --targets "+file+" --rate 0 --interval 300ms --attempt-timeout 400ms --grace 200ms "+
		more, "--until", `.state=="done"`, "--error-if", `.state=="failed"`)})
}

// A result is the line of a target.
type result struct {
	Name   string
	Status *string
	Exit   *int // null if it was cancelled
}

// results reads the lines of the targets. torn allows for a last line that is not whole.
func (e ended) results(torn bool) (map[int]result, error) {
	all := map[int]result{}
	lines := bufio.NewScanner(strings.NewReader(e.stdout))
	for number := 1; lines.Scan(); number++ {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			if torn && !strings.HasSuffix(e.stdout, "\n") && !lines.Scan() {
				break
			}
			return nil, fmt.Errorf("line %d of the results: %w: %.100q", number, err, lines.Text())
		}
		n, err := strconv.Atoi(r.Name)
		if err != nil || n < 1 || n > many {
			return nil, fmt.Errorf("line %d: there is no target %q", number, r.Name)
		}
		if _, twice := all[n]; twice {
			return nil, fmt.Errorf("target %d has ended twice", n)
		}
		all[n] = r
	}
	return all, lines.Err()
}

// judge compares the results with what the server knows.
func (s *siege) judge(results map[int]result) (succeeded int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wrong []error
	for n, r := range results {
		status := ""
		if r.Status != nil {
			status = *r.Status
		}
		switch {
		case r.Exit == nil:
			wrong = append(wrong, fmt.Errorf("target %d: cancelled", n))
			continue
		case (status == "SUCCESS") != (*r.Exit == 0):
			wrong = append(wrong, fmt.Errorf("target %d: %s with exit code %d", n, status, *r.Exit))
		case status == "SUCCESS" && !s.done[n]:
			wrong = append(wrong, fmt.Errorf("target %d: SUCCESS, and it is not done", n))
		case *r.Exit == 1 && !s.failed[n]:
			wrong = append(wrong, fmt.Errorf("target %d: ERROR, and it has not failed", n))
		}
		if status == "SUCCESS" {
			succeeded++
		}
	}
	if len(wrong) > 10 {
		wrong = append(wrong[:10], fmt.Errorf("and %d more", len(wrong)-10))
	}
	return succeeded, errors.Join(wrong...)
}

// exit is the exit code that these results make.
func exit(results map[int]result) int {
	have := map[int]bool{}
	for _, r := range results {
		if r.Exit != nil {
			have[*r.Exit] = true
		}
	}
	for _, code := range []int{1, 4, 3, 124} {
		if have[code] {
			return code
		}
	}
	return 0
}

func besieged(s *suite) (string, error) {
	server, err := besiege(s.rand)
	if err != nil {
		return "", err
	}
	defer server.Close()
	r, err := s.storm(server, "--parallel-max-host 50 --timeout 25s --max-attempts 30")
	if err != nil {
		return "", err
	}
	e := r.end()
	server.Close()
	results, err := e.results(false)
	if err != nil {
		return "", err
	}
	if len(results) != many {
		err = fmt.Errorf("%d of %d targets have ended", len(results), many)
	}
	succeeded, wrong := server.judge(results)
	return fmt.Sprintf("exit %d after %s, %d SUCCESS, %d requests, %s resident", e.code, e.took.Round(100*time.Millisecond), succeeded,
		server.looks, mebi(e.peak)), errors.Join(err, wrong, e.expect(exit(results)))
}

// killedCrowds kills poll at random moments. Whatever it has said until then is true, and
// a signal that can be caught leaves a line for each target.
func killedCrowds(s *suite) (string, error) {
	var latest time.Duration
	lines := 0
	for range 4 {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
			late, ended, err := s.killCrowd(sig, 100*time.Millisecond+time.Duration(s.rand.Int64N(int64(2*time.Second))))
			if err != nil {
				return "", err
			}
			latest, lines = max(latest, late), lines+ended
		}
	}
	return fmt.Sprintf("nobody left, %d targets had ended, %s at most", lines, latest.Round(10*time.Millisecond)), nil
}

func (s *suite) killCrowd(sig syscall.Signal, moment time.Duration) (late time.Duration, lines int, err error) {
	server, err := besiege(s.rand)
	if err != nil {
		return 0, 0, err
	}
	defer server.Close()
	r, err := s.storm(server, "--parallel-max-host 50 --timeout 50s")
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(moment)
	killed := time.Now()
	r.Process.Signal(sig)
	e := r.end()
	late = time.Since(killed)
	server.Close()
	results, err := e.results(sig == syscall.SIGKILL)
	begun := len(results) > 0 || strings.Contains(e.stderr, "targets not done")
	if err == nil && sig != syscall.SIGKILL && begun && len(results) != many {
		err = fmt.Errorf("%d of %d targets have ended: %s", len(results), many, e.stderr)
	}
	_, wrong := server.judge(results)
	err = errors.Join(err, wrong, e.expect(128+int(sig)))
	if err != nil {
		err = fmt.Errorf("signal %d after %s: %w", sig, moment, err)
	}
	return late, len(results), err
}

// commandsAtOnce counts the commands that run at any moment.
func commandsAtOnce(s *suite) (string, error) {
	const n, limit = 200, 7
	var items strings.Builder
	for i := range n {
		fmt.Fprintln(&items, i)
	}
	file := s.file("items")
	if err := os.WriteFile(file, []byte(items.String()), 0o644); err != nil {
		return "", err
	}
	r, err := s.start(wait{args: args("-q --targets "+file+" --rate 1000/s --interval 1s --parallel-max 7 --parallel-max-host 20",
		append(shell("sleep 0.1; exit 0"), "{}")...)})
	if err != nil {
		return "", err
	}
	most := 0
	for proc.Memory(r.Process.Pid, "VmRSS") > 0 {
		leaders := 0
		for _, p := range proc.Marked(r.mark) {
			if p.PID == p.Group && p.PID != r.Process.Pid {
				leaders++
			}
		}
		most = max(most, leaders)
	}
	e := r.end()
	if most > limit || most < limit-1 {
		err = fmt.Errorf("%d commands at once, not %d", most, limit)
	}
	return fmt.Sprintf("%d at most, in %s", most, e.took.Round(100*time.Millisecond)), errors.Join(err, e.expect(0))
}
