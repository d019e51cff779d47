package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/gomodule/redigo/redis"
)

// bubble runs a parallel test with virtual time.
func bubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// A swapping store changes records by compare-and-swap.
type swapping struct{ swapper }

type swapper interface {
	swap(ctx context.Context, key, old, next string) (now string, at int64, swapped bool, err error)
	close()
}

func (s swapping) change(timeout time.Duration, key string, step func(text string, at int64) string) error {
	return swapFunc(s.swap).change(timeout, key, step)
}

// A memory is a store in memory.
type memory struct {
	mu      sync.Mutex
	records map[string]string
}

func (m *memory) swap(_ context.Context, key, old, next string) (now string, at int64, swapped bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at = time.Now().UnixMicro()
	if next == "" || m.records[key] != old {
		return m.records[key], at, false, nil
	}
	m.records[key] = next
	return "", at, true, nil
}

func (m *memory) close() {}

// A fake is a store in memory that can fail.
type fake struct {
	memory
	mu    sync.Mutex
	delay time.Duration
	away  error
	clock time.Duration // how far the store's clock is ahead
	calls int

	script func() // runs during the test and causes the faults
}

func newFake() *fake {
	return &fake{memory: memory{records: map[string]string{}}, delay: time.Millisecond}
}

func (s *fake) set(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *fake) swap(ctx context.Context, key, old, next string) (string, int64, bool, error) {
	s.mu.Lock()
	delay, away := s.delay, s.away
	s.calls++
	s.mu.Unlock()
	select {
	case <-time.After(delay / 2):
	case <-ctx.Done():
		return "", 0, false, ctx.Err()
	}
	if away != nil {
		return "", 0, false, away
	}
	now, at, swapped, err := s.memory.swap(ctx, key, old, next)
	s.mu.Lock()
	at += s.clock.Microseconds()
	s.mu.Unlock()
	time.Sleep(delay / 2)
	return now, at, swapped, err
}

// become replaces the records of the store.
func (s *fake) become(records map[string]string) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.records = records
}

// faults returns functions that make a store fail or change, by name.
func faults() map[string]func(*fake) {
	away := func(e *fake, err error, delay, span time.Duration) {
		e.set(func() { e.away, e.delay = err, delay })
		time.Sleep(span)
		e.set(func() { e.away, e.delay = nil, time.Millisecond })
	}
	return map[string]func(*fake){
		"paused": func(e *fake) { away(e, nil, time.Hour, 10*time.Second) },
		"broken": func(e *fake) { away(e, errors.New("broken"), time.Millisecond, 10*time.Second) },
		"lost soon after a window has begun": func(e *fake) {
			time.Sleep(10*time.Second + 200*time.Millisecond)
			away(e, errors.New("killed"), time.Millisecond, 10*time.Second)
		},
		"flushed": func(e *fake) { e.become(map[string]string{}) },
		"flushed again and again": func(e *fake) {
			for range 20 {
				e.become(map[string]string{})
				time.Sleep(500 * time.Millisecond)
			}
		},
		"an hour back": func(e *fake) { e.set(func() { e.clock = -time.Hour }) },
		"lost, and half a minute back": func(e *fake) {
			e.become(map[string]string{})
			e.set(func() { e.clock = -30 * time.Second })
		},
		"an hour ahead": func(e *fake) { e.set(func() { e.clock = time.Hour }) },
		"all nonsense": func(e *fake) {
			e.memory.mu.Lock()
			defer e.memory.mu.Unlock()
			for key := range e.records {
				e.records[key] = "nonsense"
			}
		},
	}
}

// A realServer is a Redis for one test: redis-server of this machine, or the program that REDIS_SERVER names, such
// as valkey-server. Without such a program it is a miniredis in this process.
type realServer struct {
	url, socket string
	process     *os.Process // nil for a miniredis in this process
}

// serve starts a Redis. It skips the test if real is true and no real Redis is installed.
func serve(t testing.TB, real bool, flags ...string) *realServer {
	t.Helper()
	name := cmp.Or(os.Getenv("REDIS_SERVER"), "redis-server")
	program, err := exec.LookPath(name)
	if err != nil {
		if real {
			t.Skip("there is no " + name)
		}
		t.Log("miniredis")
		mini := miniredis.RunT(t)
		return &realServer{url: "redis://" + mini.Addr(), socket: mini.Addr()}
	}
	t.Log(name)
	dir, err := os.MkdirTemp("", "poll") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &realServer{socket: filepath.Join(dir, "socket"), url: "unix://" + filepath.Join(dir, "socket")}
	var log bytes.Buffer
	cmd := exec.Command(program, append([]string{"--port", "0", "--unixsocket", s.socket, "--save", "", "--dir", dir}, flags...)...)
	cmd.Stdout = &log
	check(t, cmd.Start())
	s.process = cmd.Process
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 1000 {
		if conn, err := net.Dial("unix", s.socket); err == nil {
			conn.Close()
			return s
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the server does not start: %s", &log)
	return nil
}

// connect returns a connection that stays open until the end of the test.
func (s *realServer) connect(t testing.TB) redis.Conn {
	t.Helper()
	network := "tcp"
	if filepath.IsAbs(s.socket) {
		network = "unix"
	}
	conn := must(redis.Dial(network, s.socket))
	t.Cleanup(func() { conn.Close() })
	return conn
}

// command runs a command, which must succeed.
func command(t testing.TB, conn redis.Conn, name string, args ...any) any {
	t.Helper()
	reply, err := conn.Do(name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return reply
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
