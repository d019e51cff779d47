package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/pollcli/poll/internal/pace"
)

// sends uses n slots at a place that allows a thousand a second, and returns what was told.
func sends(t *testing.T, f *Fleet, notes chan string, n int) string {
	t.Helper()
	l := &Limiter{Fleet: f, PerSecond: 1000, Known: true}
	for range n {
		slot := l.Reserve("place")
		time.Sleep(time.Until(slot.At))
		if !l.Confirm(slot) {
			t.Error("a slot does not hold")
		}
	}
	select {
	case note := <-notes:
		return note
	case <-time.After(50 * time.Millisecond):
		return ""
	}
}

func TestRedis(t *testing.T) {
	t.Parallel()
	s := serve(t, false)
	a, notes := share(t, s.url)
	b, _ := share(t, s.url)
	if note := sends(t, a, notes, 20); note != "" {
		t.Errorf("a note: %s", note)
	}
	la, lb := &Limiter{Fleet: a, PerSecond: 10, Known: true}, &Limiter{Fleet: b, PerSecond: 10, Known: true}
	slot := la.Reserve("elsewhere")
	if second := lb.Reserve("elsewhere"); second.At.Before(slot.At.Add(100 * time.Millisecond)) {
		t.Errorf("slots at %s and %s", slot.At, second.At)
	}
	if !la.Confirm(slot) {
		t.Error("a slot does not hold")
	}
	closed := la.Throttled(slot, time.Minute).ClosedUntil
	if second := lb.Reserve("elsewhere"); second.At.Before(closed.Add(-time.Second)) {
		t.Errorf("closed until %s, and a slot at %s", closed, second.At)
	}
	limits, err := a.List(t.Context())
	if err != nil || len(limits) != 2 {
		t.Fatalf("%+v, %v", limits, err)
	}
	for _, l := range limits {
		if isClosed := l.Closed > 50*time.Second; isClosed != (l.Key == a.Key("elsewhere")) || l.PerSecond == 0 && isClosed {
			t.Errorf("%+v", l)
		}
	}
}

// What is no record, or has a name that no record has, is not listed.
func TestRedis_listsRecords(t *testing.T) {
	t.Parallel()
	s := serve(t, false)
	f, _ := share(t, s.url)
	awaitUp(t, f)
	conn := s.connect(t)
	record := (&pace.State{Now: 1, Version: 1}).Record()
	for _, key := range []string{"cc", f.Key("place")[1:] + "G", f.Key("place")[4:] + "\x1b[2J", f.Key("place") + "0", f.Key("place")} {
		command(t, conn, "SET", redisKey(key), record)
	}
	command(t, conn, "LPUSH", redisKey("dd"), "x")
	command(t, conn, "LPUSH", redisKey(f.Key("a list")), "x")
	command(t, conn, "SET", redisKey(f.Key("too long")), strings.Repeat("x", 1e6))
	limits, err := f.List(t.Context())
	if err != nil || len(limits) != 1 || limits[0].Key != f.Key("place") {
		t.Errorf("%+v, %v", limits, err)
	}
}

// A user needs few rights.
func TestRedis_leastRights(t *testing.T) {
	t.Parallel()
	s := serve(t, true)
	command(t, s.connect(t), "ACL", "SETUSER", "me", "on", ">hunter2", "~poll:*", "+evalsha", "+eval", "+time", "+get", "+set")
	f, notes := share(t, strings.Replace(s.url, "//", "//me:hunter2@", 1))
	if note := sends(t, f, notes, 5); note != "" {
		t.Error(note)
	}
}

// Whatever a server says, each process goes on alone, and says so once.
func TestRedis_refuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		flags    []string
		user     string
		commands []string
		want     string
	}{
		{"full", nil, "", []string{"CONFIG SET maxmemory 1"}, "no memory left (OOM)"},
		{"replica", nil, "", []string{"REPLICAOF 127.0.0.1 1"}, "it is a replica, which can only be read (READONLY)"},
		{"no password", []string{"--requirepass", "hunter2"}, "", nil, "it wants a password (NOAUTH)"},
		{"wrong password", []string{"--requirepass", "hunter2"}, ":hunter3@", nil, "the password is wrong (WRONGPASS)"},
		{"no such user", nil, "me:hunter3@", nil, "the password is wrong (WRONGPASS)"},
		{"no rights", nil, "me:hunter2@", []string{"ACL SETUSER me on >hunter2 ~poll:* +eval +get"}, "may not run scripts, or use the keys poll:* (NOPERM)"},
		{"cluster", []string{"--cluster-enabled", "yes", "--bind", "127.0.0.1", "--cluster-port", freePort(t)}, "", nil, "a Redis Cluster cannot be used"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, true, test.flags...)
			if len(test.commands) > 0 {
				conn := s.connect(t)
				for _, c := range test.commands {
					words := strings.Fields(c)
					args := make([]any, 0, 3)
					for _, word := range words[1:] {
						args = append(args, word)
					}
					command(t, conn, words[0], args...)
				}
			}
			f, notes := share(t, strings.Replace(s.url, "//", "//"+test.user, 1))
			note := sends(t, f, notes, 20)
			if !strings.Contains(note, test.want) || strings.Contains(note, "hunter") {
				t.Errorf("told %q, want %q", note, test.want)
			}
			if again := sends(t, f, notes, 3); again != "" {
				t.Errorf("told again: %s", again)
			}
		})
	}
}

// awaitUp waits until a fleet shares again.
func awaitUp(t *testing.T, f *Fleet) {
	t.Helper()
	for range 1000 {
		f.mu.Lock()
		up := f.up
		f.mu.Unlock()
		if up {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("it does not share again")
}

// A server that was restarted, and is empty, is shared again, and its connections are new.
func TestRedis_restarted(t *testing.T) {
	t.Parallel()
	s := serve(t, true)
	f, notes := share(t, s.url)
	sends(t, f, notes, 2)
	conn := s.connect(t)
	command(t, conn, "FLUSHALL")
	command(t, conn, "SCRIPT", "FLUSH")
	if note := sends(t, f, notes, 2); note != "" {
		t.Errorf("told %q of an empty server", note)
	}
	command(t, conn, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	if note := sends(t, f, notes, 2); note == "" {
		t.Error("nothing told of a lost connection")
	}
	awaitUp(t, f)
	if limits, err := f.List(t.Context()); err != nil || len(limits) != 1 {
		t.Errorf("%+v, %v", limits, err)
	}
}

// A server answers each command with a text.
func babble(t *testing.T, answer func(command string) string) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				for {
					command, err := readCommand(r)
					if err != nil {
						return
					}
					io.WriteString(conn, answer(command))
				}
			}()
		}
	}()
	return "redis://" + listener.Addr().String()
}

// readCommand returns the first word of a command.
func readCommand(r *bufio.Reader) (first string, err error) {
	var words, size int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &words); err != nil {
		return "", err
	}
	for i := range words {
		if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return "", err
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(r, word); err != nil {
			return "", err
		}
		if i == 0 {
			first = string(word[:size])
		}
	}
	return first, nil
}

func TestRedis_babbles(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"-MOVED 42 10.0.0.1:6379\r\n":                "a Redis Cluster cannot be used",
		"-MISCONF Redis is configured to save\r\n":   "it cannot save to its disk, and takes nothing (MISCONF)",
		"-NOSCRIPT No matching script\r\n":           "it answers with an error (NOSCRIPT)",
		"-LOADING Redis is loading\r\n":              "it is still loading its data",
		"-ERR unknown command 'secret' \x1b[31m\r\n": "it answers with an error (ERR)",
		"-\x1b[31msecret\r\n":                        "it answers with an error (ERR)",
		"-\r\n":                                      "it answers with an error",
		"+OK\r\n":                                    "an unexpected answer",
		":5\r\n":                                     "an unexpected answer",
		"$-1\r\n":                                    "an unexpected answer",
		"*1\r\n$1\r\na\r\n":                          "an unexpected answer",
		"$40\r\n1 1 1 9999999999999999999 0 0.5\r\n": "it does not answer in time",
		"$27\r\n1 1 1 9999999999999999999 0 0\r\n":   "an unexpected answer",
		"$17\r\n1 1 1 5 7 0.5 xxx\r\n":               "an unexpected answer",
		"HTTP/1.1 400 Bad Request\r\n":               "an unexpected answer",
		"$99999999999999999999\r\n":                  "",
		"*1000000000000\r\n":                         "",
		"$":                                          "it does not answer in time",
		strings.Repeat("x", 100_000):                 "it does not answer in time",
	} {
		t.Run(strings.ToValidUTF8(answer[:min(20, len(answer))], ""), func(t *testing.T) {
			t.Parallel()
			url := babble(t, func(command string) string {
				if strings.HasPrefix(command, "EVAL") {
					return answer
				}
				return "+OK\r\n"
			})
			f, notes := share(t, url)
			note := sends(t, f, notes, 5)
			if note == "" || !strings.Contains(note, want) || strings.Contains(note, "secret") || strings.Contains(note, "\x1b") {
				t.Errorf("told %q, want %q", note, want)
			}
		})
	}
}

// A server that was never there, or never answers, is as good as none.
func TestRedis_away(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	for where, want := range map[string]string{
		"redis://me:hunter2@127.0.0.1:1":              "refused",
		"rediss://me:hunter2@127.0.0.1:1":             "refused",
		"unix://me:hunter2@/nowhere/socket":           "no such file",
		"redis://:hunter2@" + silent.Addr().String():  "it does not answer in time",
		"rediss://:hunter2@" + silent.Addr().String(): "it does not answer in time",
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && strings.HasPrefix(where, "unix:") {
				t.Skip("other words, or no such sockets, as under Wine")
			}
			f, notes := share(t, where)
			sends(t, f, make(chan string), 3)
			if note := <-notes; !strings.Contains(note, want) || strings.Contains(note, "hunter2") {
				t.Errorf("told %q, want %q", note, want)
			}
		})
	}
}

// Many processes that begin at once, and find nobody there, go on.
func TestRedis_manyRefused(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 2000 {
		f, err := Open("redis://127.0.0.1:1", Options{})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer f.Close()
			l := &Limiter{Fleet: f}
			if !l.Confirm(l.Reserve("place")) {
				t.Error("a slot does not hold")
			}
		})
	}
	all.Wait()
}

// Nothing in Redis, nor what is sent there, has a text of the caller's in clear.
func TestRedis_tellsNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, true, "--rdbcompression", "no")
	watch := s.connect(t)
	command(t, watch, "MONITOR")
	const place, token = "https://api.example.com:443", "Bearer hunter2"
	for _, secret := range []string{"", "open sesame"} {
		f, err := Open(s.url, Options{Secret: []byte(secret)})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		l := &Limiter{Fleet: f, Key: func(place string) string { return place + " " + token }}
		slot := l.Reserve(place)
		l.Confirm(slot)
		l.Throttled(slot, time.Minute)
		l.Remaining(slot, 5, time.Minute)
		l.Release(l.Reserve(place))
		sharesSecrets(f, place, token)
	}
	conn := s.connect(t)
	command(t, conn, "SAVE")
	all, err := os.ReadFile(filepath.Join(filepath.Dir(s.socket), "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(all), "poll:1:{"); n != 4 {
		t.Errorf("%d records, want two for each secret", n)
	}
	for lines := 0; lines < 24; lines++ {
		line, err := redis.String(redis.ReceiveWithTimeout(watch, 5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line...)
	}
	tellsNothing(t, string(all), "example", "hunter2", "Bearer", "sesame", "body", "etag", "hereafter")
}

// sharesSecrets shares an answer in which there are secrets, as there are in what it answers.
func sharesSecrets(f *Fleet, secrets ...string) {
	q := (&Answers{Fleet: f}).Question([]byte(strings.Join(secrets, " ")), time.Now(), func() {})
	q.Claim(time.Minute, true)
	q.Answered([]byte("the body, its ETag, and what comes hereafter: "+strings.Join(secrets, " ")), time.Minute)
	q.Claim(time.Minute, true)
}

func tellsNothing(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
			t.Errorf("%q is in clear", secret)
		}
	}
}

// BenchmarkRedis takes slots over several connections at once. Of the time, most is that
// of the server, of which usec_per_call says how long it took for a step.
func BenchmarkRedis(b *testing.B) {
	url := os.Getenv("POLL_BENCH_REDIS")
	if url == "" {
		b.Skip("POLL_BENCH_REDIS names no server")
	}
	benchmark(b, url)
}

func benchmark(b *testing.B, where string) {
	b.SetParallelism(16)
	rules := pace.Rules{Most: 1e6, Horizon: horizon}
	b.RunParallel(func(pb *testing.PB) {
		f, err := Open(where, Options{})
		if err != nil {
			b.Error(err)
			return
		}
		defer f.Close()
		key := f.Key(fmt.Sprint(rand.IntN(2)))
		<-f.reached
		for pb.Next() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			if _, err := f.engine.step(ctx, key, rules, pace.Call{Op: pace.Reserve}); err != nil {
				b.Error(err)
			}
			cancel()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "takes/s")
}
