//go:build unix

// Command share shows what sharing is worth: how often an API is asked by many, what it
// refuses, and what it costs when the one who asks is killed, or what is shared is paused,
// slow or cut off. It prints one line per case; the exit code is 1 if a count is not as
// promised. Times are only reported. It uses only the loopback interface, and needs
// redis-server on PATH, or the program that REDIS_SERVER names, such as valkey-server.
//
//	scripts/share [-run REGEXP] [-small] [-for DURATION] [-poll FILE]
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pollcli/poll/internal/cli"
	"github.com/pollcli/poll/internal/ui/term"
)

func main() {
	failed, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "share:", err)
		os.Exit(125)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// A suite is what the cases share.
type suite struct {
	poll  string        // the program
	dir   string        // for files, removed at the end
	redis string        // the address of the server
	small bool          // fewer processes, and shorter
	long  time.Duration // how long faults go on
	pid   int           // of the server
}

var cases = []struct {
	name, promise string
	run           func(*suite) (seen string, kept bool, err error)
}{
	{"thing", "many who wait for one thing cost at most 1.2 times what one does", (*suite).thing},
	{"directory", "the same, over a directory", (*suite).directory},
	{"known", "no refusal, 90% of the limit used", (*suite).known},
	{"learned", "at most 1% refused, 70% used", (*suite).learned},
	{"slow", "at most 2% refused of 5 a second, 70% used", (*suite).slow},
	{"extended", "the same where asking while it is closed prolongs that", (*suite).extended},
	{"alone", "what it is like without sharing", (*suite).unshared},
	{"kill", "who asks is killed: at most one lease, three times of three", (*suite).kill},
	{"pause", "the server is paused for 10 s: no wait fails, and nobody asks faster than before", (*suite).pause},
	{"cost", "an attempt costs at most 0.5 ms more", (*suite).cost},
	{"faults", "latency, cuts and resets: no wait fails", (*suite).faults},
}

func run() (failed int, err error) {
	only := flag.String("run", "", "only the cases whose names match this `REGEXP`")
	small := flag.Bool("small", false, "fewer processes, and shorter")
	long := flag.Duration("for", 10*time.Minute, "how long faults go on")
	built := flag.String("poll", "", "the program, if it is built already: `FILE`")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return 0, fmt.Errorf("-run: %w", err)
	}
	s := &suite{small: *small, long: *long}
	if s.dir, err = os.MkdirTemp("", "share"); err != nil {
		return 0, fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(s.dir)
	if s.poll, err = filepath.Abs(*built); *built == "" {
		s.poll = filepath.Join(s.dir, "poll")
		err = build(s.poll)
	}
	if err != nil {
		return 0, err
	}
	own := append(environ(), "REDIS_SERVER="+os.Getenv("REDIS_SERVER"))
	os.Clearenv() // what a connection goes through has to be the same in this process
	for _, variable := range own {
		name, value, _ := strings.Cut(variable, "=")
		os.Setenv(name, value)
	}
	stop, err := s.startRedis()
	if errors.Is(err, exec.ErrNotFound) {
		fmt.Println("skipped: there is no redis-server on PATH")
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	defer stop()
	for _, c := range cases {
		if !chosen.MatchString(c.name) {
			continue
		}
		began := time.Now()
		seen, kept, err := c.run(s)
		if err != nil {
			return failed, fmt.Errorf("%s: %w", c.name, err)
		}
		word := "ok  "
		if !kept {
			word = "FAIL"
			failed++
		}
		fmt.Printf("%s %-9s %s: %s (%s)\n", word, c.name, c.promise, seen, time.Since(began).Round(time.Second))
	}
	return failed, nil
}

// build builds poll from the directory of the whole project.
func build(to string) error {
	cmd := exec.Command("go", "build", "-o", to, "github.com/pollcli/poll")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build poll: %w: %s", err, text)
	}
	return nil
}

// startRedis starts a server for these cases alone.
func (s *suite) startRedis() (stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.redis = listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(s.redis)
	server := cmp.Or(os.Getenv("REDIS_SERVER"), "redis-server")
	cmd := exec.Command(server, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--tcp-backlog", "4096", "--dir", s.dir)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	s.pid = cmd.Process.Pid
	stop = func() {
		cmd.Process.Signal(syscall.SIGCONT)
		cmd.Process.Kill()
		cmd.Wait()
	}
	for range 100 {
		if conn, err := net.Dial("tcp", s.redis); err == nil {
			conn.Close()
			return stop, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return nil, errors.New("the server does not answer")
}

// url is where Redis is.
func (s *suite) url() string { return "redis://" + s.redis }

// An end is how a wait ended.
type end struct {
	code int
	at   time.Time
	said string
}

// processes runs poll as so many processes, each with what args returns, spread over a time.
func (s *suite) processes(n int, spread time.Duration, args func(i int) []string) []end {
	return crowd(n, spread, func(i int) end {
		var said strings.Builder
		cmd := exec.Command(s.poll, args(i)...)
		cmd.Env = environ()
		cmd.Stderr = &said
		cmd.Run()
		return end{cmd.ProcessState.ExitCode(), time.Now(), said.String()}
	})
}

// inProcess runs poll so many times in this process.
func inProcess(n int, spread time.Duration, args func(i int) []string) []end {
	return crowd(n, spread, func(i int) end {
		streams, _, said := term.Buffers("")
		world := cli.World{Args: args(i), Lookup: lookup, Streams: streams}
		code := cli.Run(context.Background(), world)
		return end{int(code), time.Now(), said.String()}
	})
}

func crowd(n int, spread time.Duration, wait func(i int) end) []end {
	ends := make([]end, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			time.Sleep(spread * time.Duration(i) / time.Duration(n))
			ends[i] = wait(i)
		})
	}
	all.Wait()
	return ends
}

// environ is the environment of poll: nothing of the user's configuration.
func environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "POLL_SHARE_SECRET=secret"}
}

func lookup(name string) (string, bool) {
	for _, variable := range environ() {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// failures counts the waits that did not end with one of some codes.
func failures(ends []end, codes ...int) (n int, first string) {
	for _, e := range ends {
		if !slices.Contains(codes, e.code) {
			if n++; n == 1 {
				first = fmt.Sprintf("; the first: exit %d, %s", e.code, strings.TrimSpace(e.said))
			}
		}
	}
	return n, first
}

// pick returns what is for a small suite, or for a full one.
func pick[T any](s *suite, small, full T) T {
	if s.small {
		return small
	}
	return full
}
