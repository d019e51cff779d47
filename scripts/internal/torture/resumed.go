//go:build linux

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pollcli/poll/internal/httpscript"
)

func resumed() []testCase {
	return []testCase{{"KILL at 200 random moments, --joblog", killedAndResumed}}
}

// An office starts operations by POST /ROUND/I, or all of a round by POST /ROUND/list, and
// answers at /ROUND/I/status. It counts what it is asked.
type office struct {
	*httpscript.Server
	url string // of all rounds

	mu     sync.Mutex
	starts map[string]int // by path
	looks  map[string]int
}

func openOffice() (*office, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	o := &office{url: "http://" + listener.Addr().String(), starts: map[string]int{}, looks: map[string]int{}}
	o.Server = httpscript.Start(listener, o.answer)
	return o, nil
}

// answer says that an operation is done at its eighth look, or has failed if its number is 3.
func (o *office) answer(r httpscript.Request) *httpscript.Answer {
	o.mu.Lock()
	defer o.mu.Unlock()
	path, isStatus := strings.CutSuffix(r.URI, "/status")
	text := runs
	switch {
	case strings.HasSuffix(path, "/list"):
		o.starts[path]++
		text = `202:{"jobs":[{"id":0},{"id":1},{"id":2},{"id":3},{"id":4},{"id":5},{"id":6},{"id":7}]}`
	case r.Method == "POST":
		o.starts[path]++
		text = "202,Location=" + path + "/status"
	case isStatus:
		if o.looks[path]++; o.looks[path] >= 8 {
			text = done
			if strings.HasSuffix(path, "/3") {
				text = fails
			}
		}
	}
	parsed, err := httpscript.Parse(text, nil)
	if err != nil {
		panic(err)
	}
	return &parsed[0]
}

// A round is some targets that are waited for until all have ended, however often that is
// killed.
type round struct {
	*office
	log    string
	args   []string
	names  []string // of the targets: their URLs
	url    string   // of the round
	list   bool     // the targets are elements of a list
	kills  int
	ended  map[string]int // by the target, how often it had been looked at when its end was noted
	unsure int            // ends because the operation may have started
	shown  map[string]int // how often a result was printed
}

// killedAndResumed kills runs, and lets others go on.
func killedAndResumed(s *suite) (string, error) {
	const most = 200
	o, err := openOffice()
	if err != nil {
		return "", err
	}
	defer o.Close()
	kills, rounds, unsure, twice := 0, 0, 0, 0
	for ; kills < most; rounds++ {
		r := s.newRound(o, rounds)
		if err := s.runRound(r, min(25, most-kills)); err != nil {
			return fmt.Sprintf("round %d, after %d kills", rounds, r.kills), err
		}
		kills, unsure = kills+r.kills, unsure+r.unsure
		for _, n := range r.shown {
			if n > 1 {
				twice++
			}
		}
	}
	return fmt.Sprintf("%d kills in %d rounds: %d starts not sent again, %d results printed twice", kills, rounds, unsure, twice), nil
}

// newRound makes a round of one target, of twelve, or of the eight elements of a list.
func (s *suite) newRound(o *office, n int) *round {
	r := &round{
		office: o, url: fmt.Sprintf("%s/%d", o.url, n), log: s.file(fmt.Sprintf("joblog-%d", n)),
		ended: map[string]int{}, shown: map[string]int{}, list: n%3 == 2,
	}
	size := [...]int{1, 12, 8}[n%3]
	for i := range size {
		r.names = append(r.names, fmt.Sprintf("%s/%d", r.url, i))
	}
	r.args = args("-q -X POST --timeout 20s --interval 10ms --rate 0 --until .state==\"done\" --error-if .state==\"failed\" --resume --joblog", r.log)
	if r.list {
		r.args = append(r.args, "--each", ".jobs", "--follow", fmt.Sprintf("/%d/{.id}/status", n), r.url+"/list")
	} else {
		r.args = append(r.args, r.names...)
	}
	return r
}

// name returns the URL of a target that is called so.
func (r *round) name(called string) string {
	if strings.Contains(called, "/") {
		return called
	}
	return r.url + "/" + called
}

// runRound runs the program until it ends by itself.
func (s *suite) runRound(r *round, most int) error {
	for {
		run, err := s.start(wait{args: r.args})
		if err != nil {
			return err
		}
		if r.kills < most {
			time.AfterFunc(time.Duration(s.rand.Int64N(int64(70*time.Millisecond))), func() { run.Process.Signal(syscall.SIGKILL) })
		}
		e := run.end()
		if err := r.check(e.stdout); err != nil {
			return err
		}
		if e.signal != syscall.SIGKILL {
			if e.code != 0 && e.code != 1 {
				return e.expect(1)
			}
			return r.finish()
		}
		r.kills++
	}
}

// check compares the log with what was printed and with what the office was asked.
func (r *round) check(stdout string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	isOne := len(r.names) == 1
	for line := range strings.Lines(stdout) {
		var result struct{ Name string }
		if json.Unmarshal([]byte(line), &result) == nil && strings.HasSuffix(line, "\n") {
			r.shown[r.name(result.Name)]++
		}
		if isOne && strings.Contains(line, "state") {
			r.shown[r.names[0]]++
		}
	}
	ends, err := r.ends()
	if err != nil {
		return err
	}
	var wrong []error
	for name, reasons := range ends {
		path := strings.TrimPrefix(name, r.office.url)
		if len(reasons) != 1 {
			wrong = append(wrong, fmt.Errorf("%s ended %d times", path, len(reasons)))
		}
		before, known := r.ended[name]
		if known && r.looks[path] != before && !isOne { // whose result is fetched, and printed, again
			wrong = append(wrong, fmt.Errorf("%s was looked at again after its end", path))
		}
		if r.ended[name] = r.looks[path]; !known && strings.Contains(reasons[0], "may have started") {
			r.unsure++
		}
		quiet := isOne && !strings.Contains(reasons[0], "done") || name == r.url+"/list" // a failure, and the list, print nothing
		if r.shown[name] == 0 && !quiet {
			wrong = append(wrong, fmt.Errorf("%s ended, and its result was not printed", path))
		}
	}
	for path, n := range r.starts {
		if n > 1 {
			wrong = append(wrong, fmt.Errorf("%s was started %d times", path, n))
		}
	}
	return errors.Join(wrong...)
}

// finish checks that all have ended.
func (r *round) finish() error {
	_, none := r.ended[r.url+"/list"] // the list itself, so that nothing is known of its elements
	for _, name := range r.names {
		if _, ok := r.ended[name]; !ok && !none {
			return fmt.Errorf("%s has not ended", name)
		}
	}
	return os.Remove(r.log)
}

// ends returns the reasons of the ends in the log, by the names of the targets.
func (r *round) ends() (map[string][]string, error) {
	f, err := os.Open(r.log)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // killed before there was one
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ends := make(map[string][]string)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var line struct {
			Event, Name, Key string
			State            struct{ Reason string }
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Event == "end" {
			name := r.name(cmp.Or(line.Key, line.Name))
			ends[name] = append(ends[name], line.State.Reason)
		}
	}
	return ends, lines.Err()
}
