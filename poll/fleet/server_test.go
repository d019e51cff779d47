package fleet

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/gomodule/redigo/redis"
)

// A server is a Redis for one test: redis-server of this machine, or what REDIS_SERVER names, such
// as valkey-server; where there is none, one in this process.
type server struct {
	url, socket string
	process     *os.Process // nil for one in this process
	log         bytes.Buffer
}

// serve starts a Redis. If the test needs a real one, and there is none, it is skipped.
func serve(t testing.TB, real bool, flags ...string) *server {
	t.Helper()
	name := cmp.Or(os.Getenv("REDIS_SERVER"), "redis-server")
	program, err := exec.LookPath(name)
	if err != nil {
		if real {
			t.Skip("there is no " + name)
		}
		t.Log("miniredis")
		mini := miniredis.RunT(t)
		return &server{url: "redis://" + mini.Addr(), socket: mini.Addr()}
	}
	t.Log(name)
	dir, err := os.MkdirTemp("", "poll") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &server{socket: filepath.Join(dir, "socket")}
	s.url = "unix://" + s.socket
	args := append([]string{"--port", "0", "--unixsocket", s.socket, "--save", "", "--dir", dir}, flags...)
	s.start(t, exec.Command(program, args...))
	return s
}

func (s *server) start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stdout = &s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = cmd.Process
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 1000 {
		if conn, err := net.Dial("unix", s.socket); err == nil {
			conn.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	t.Fatalf("the server does not start: %s", &s.log)
}

// freePort returns a port of this machine for a server that cannot take any. It is one of those
// that no system hands out by itself, to a client or to the server of another test.
func freePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		address := fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000))
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			_, port, _ := net.SplitHostPort(address)
			return port
		}
	}
	t.Fatal("there is no free port")
	return ""
}

// connect returns a connection that stays open until the end of the test.
func (s *server) connect(t testing.TB) redis.Conn {
	t.Helper()
	network := "tcp"
	if filepath.IsAbs(s.socket) {
		network = "unix"
	}
	conn, err := redis.Dial(network, s.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// share opens a fleet, whose notes go to the channel.
func share(t testing.TB, where string) (*Fleet, chan string) {
	t.Helper()
	notes := make(chan string, 100)
	f, err := Open(where, Options{Note: func(note string) { notes <- note }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, notes
}

// command carries out a command that works.
func command(t testing.TB, conn redis.Conn, name string, args ...any) any {
	t.Helper()
	reply, err := conn.Do(name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return reply
}
