//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/httpscript"
)

// A flood is far more data than poll keeps. It comes from one of three sources.
type flood struct {
	name    string
	answer  string        // of a server, in the language of httpscript
	child   []string      // arguments for this program as the command
	history func() string // the content of a history
	flags   string
	code    int
	words   string // on stderr
	most    int64  // MiB that may be resident
}

func floods() []testCase {
	const pair = `{"end":"2026-11-20T12:46:25Z","lo_s":-1e308,"hi_s":1e308,"outcome":"success"}` + "\n"
	const once = "--immediate --max-attempts 1 --max-body 1MiB"
	const asked = `--immediate --max-attempts 1 --until .state=="done" --error-if any(.x[];.y==1)`
	var all []testCase
	for _, f := range []flood{
		{name: "stdout of 5 GB", child: []string{"1", "5120"}, flags: once, code: 1, words: "of 5368709120 bytes", most: 24},
		{name: "stderr of 1 GB", child: []string{"2", "1024"}, flags: once, most: 24},
		{name: "answer of 2 GB", answer: "200,repeat=2147483648:0", flags: once, code: 1, words: "--max-body", most: 24},
		{name: "answer of 1 GB, compressed", answer: "200,repeat=1073741824,gzip:0", flags: once, code: 1, words: "--max-body", most: 24},
		{name: "answer of 10 MB of [", answer: "200,repeat=10485760:[", flags: asked, code: 3, words: "NOT_READY", most: 80},
		{name: "headers of 64 MB", answer: "200,headers=1000000", flags: once, code: 3, words: "response headers exceeded", most: 40},
		{name: "history of 16 MB of [", history: func() string { return strings.Repeat("[", 16<<20) }, most: 64},
		{name: "history of 16 MB of empty lines", history: func() string { return strings.Repeat("\n", 16<<20) }, most: 64},
		{name: "history of 5,000,000 empty objects", history: func() string { return strings.Repeat("{}\n", 5<<20) }, most: 64},
		{name: "history of 65,536 endless runs", history: func() string { return strings.Repeat(pair, 1<<16) }, most: 64},
	} {
		all = append(all, testCase{f.name, f.try})
	}
	return all
}

func (f flood) try(s *suite) (string, error) {
	line := args(f.flags)
	switch {
	case f.answer != "":
		server, url, err := serve(f.answer)
		if err != nil {
			return "", err
		}
		defer server.Close()
		line = append(line, url)
	case f.child != nil:
		line = append(append(line, "--", s.self, floodWord), f.child...)
	case f.history != nil:
		if err := os.WriteFile(s.file("flood.jsonl"), []byte(f.history()), 0o600); err != nil {
			return "", err
		}
		line = append(line, "--interval", "1ms", "--learn", "flood", "--history", s.dir, "--", "true")
	}
	e, err := s.run(line...)
	if err != nil {
		return "", err
	}
	if e.peak > f.most<<20 {
		err = fmt.Errorf("more than %d MiB", f.most)
	}
	return fmt.Sprintf("exit %d after %s, %s resident", e.code, e.took.Round(10*time.Millisecond), mebi(e.peak)),
		errors.Join(e.expect(f.code, f.words), err)
}

// serve starts a server on loopback that gives these answers in turn.
func serve(answers ...string) (server *httpscript.Server, url string, err error) {
	next, err := httpscript.InTurn(answers, nil)
	if err != nil {
		return nil, "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("listen: %w", err)
	}
	return httpscript.Start(listener, next), "http://" + listener.Addr().String() + "/job", nil
}

// floodWord as the first argument makes this program a child of poll that writes so
// many MiB to a descriptor.
const floodWord = "flood"

func writeFlood(descriptor, mib string) (code int) {
	fd, _ := strconv.Atoi(descriptor)
	count, _ := strconv.Atoi(mib)
	out := os.NewFile(uintptr(fd), "out")
	block := []byte(strings.Repeat("abcdefghijklmno\n", 1<<16))
	for range count {
		if _, err := out.Write(block); err != nil {
			return 1
		}
	}
	return 0
}
