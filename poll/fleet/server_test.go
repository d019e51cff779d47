package fleet

import (
	"bytes"
	"cmp"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/gomodule/redigo/redis"
)

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
	conn, err := redis.Dial(network, s.socket)
	if err != nil {
		t.Fatal(err)
	}
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
