package fleet

import (
	"cmp"
	"context"
	"crypto/tls"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// openServer returns the Redis server whose URL is the argument where, and the URL without its password. It
// does not connect.
func openServer(scheme, where string, config *tls.Config) (s store, shown string, err error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, "", fmt.Errorf("the %s URL cannot be read: in a password, write %%40 for @, %%2F for / and %%23 for #", scheme)
	}
	shown = scheme + "://" + u.Host + u.Path
	network, host, database := "tcp", u.Host, strings.Trim(u.Path, "/")
	switch {
	case scheme == "unix" && (u.Host != "" || u.Path == ""):
		return nil, "", errors.New("a unix URL has three slashes: unix:///run/redis.sock")
	case scheme == "unix":
		network, host, database = "unix", u.Path, u.Query().Get("db")
		u.RawQuery = ""
	case u.Hostname() == "":
		return nil, "", errors.New("the URL names no host")
	case u.Port() == "":
		host = net.JoinHostPort(u.Hostname(), "6379")
	}
	number, err := strconv.Atoi(cmp.Or(database, "0"))
	if err != nil || number < 0 || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", errors.New("only the number of a database can follow the host: in a password, write %2F for /, %3F for ? and %23 for #")
	}
	password, _ := u.User.Password()
	dial := (&net.Dialer{Timeout: dialTimeout}).DialContext
	if scheme == "rediss" {
		dial = (&tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTimeout}, Config: config}).DialContext
	}
	return &server{&redis.Pool{MaxIdle: 4, MaxActive: 8, Wait: true, IdleTimeout: time.Minute, Dial: func() (redis.Conn, error) {
		return redis.Dial(network, host, redis.DialContextFunc(dial),
			redis.DialReadTimeout(dialTimeout), redis.DialWriteTimeout(dialTimeout),
			redis.DialUsername(u.User.Username()), redis.DialPassword(password), redis.DialDatabase(number))
	}}}, shown, nil
}

//go:embed swap.lua
var swapText string

var swapScript = redis.NewScript(1, swapText)

// dialTimeout limits one attempt to connect to the server. It is longer than one second, because TCP repeats a
// lost packet only after a second (RFC 6298).
const dialTimeout = 2 * time.Second

// A server is a store on a Redis server, or on a server that is compatible with Redis.
type server struct{ pool *redis.Pool }

// change implements [store.change].
func (s *server) change(timeout time.Duration, key string, step func(text string, at int64) string) error {
	return swapFunc(s.swap).change(timeout, key, step)
}

// tries is the maximum number of attempts to change a record while other processes keep changing it. All
// attempts together take about two seconds.
const tries = 40

// A swapFunc atomically replaces the record under key by next, if the current record is equal to old. swapped
// is then true. Otherwise swapped is false, and now is the current record. The empty string stands for a
// missing record; if next is empty, the record is only read. at is the current time of the store in
// microseconds.
type swapFunc func(ctx context.Context, key, old, next string) (now string, at int64, swapped bool, err error)

// change implements [store.change]. If another process changes the record between reading and writing, it tries
// again.
func (swap swapFunc) change(timeout time.Duration, key string, step func(text string, at int64) string) error {
	timed := func(old, next string) (string, int64, bool, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		return swap(ctx, key, old, next)
	}
	for try := range tries {
		text, at, _, err := timed("", "")
		if err != nil {
			return err
		}
		next := step(text, at)
		if next == text {
			return nil
		}
		if _, _, swapped, err := timed(text, next); swapped || err != nil {
			return err
		}
		pause := time.Millisecond << min(try, 7) / 2
		time.Sleep(pause + rand.N(pause+1))
	}
	return context.DeadlineExceeded
}

// swap implements [swapFunc] by running the script swap.lua on the server.
func (s *server) swap(ctx context.Context, key, old, next string) (now string, at int64, swapped bool, err error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return "", 0, false, plain(err)
	}
	defer conn.Close()
	reply, err := redis.Values(swapScript.DoContext(ctx, conn, key, old, next, recordTTL.Milliseconds()))
	if err == nil {
		_, err = redis.Scan(reply, &swapped, &at, &now)
	}
	return now, at, swapped, plain(err)
}

// connect returns a connection from the pool. If ctx is done first, connect returns ctx.Err(), and a connection
// that is established later goes back to the pool.
func (s *server) connect(ctx context.Context) (redis.Conn, error) {
	connected := make(chan redis.Conn, 1)
	go func() { connected <- s.pool.Get() }()
	select {
	case conn := <-connected:
		return conn, conn.Err()
	case <-ctx.Done():
		go func() { (<-connected).Close() }()
		return nil, ctx.Err()
	}
}

// close closes all connections of the pool.
func (s *server) close() { s.pool.Close() }

// plain returns err without any part of the request, which might be secret. An error response of Redis is
// reduced to its error code.
func plain(err error) error {
	var said redis.Error
	if !errors.As(err, &said) {
		return err
	}
	code, _, _ := strings.Cut(string(said), " ")
	switch {
	case strings.Contains(string(said), "executing the script can't"), strings.Contains(string(said), "ACL failure in script"):
		code = "NOPERM" // Redis 7 and Valkey 8 report in this way that a command of the script is not permitted
	case code == "" || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "":
		code = "ERR"
	}
	return fmt.Errorf("the server responds with an error (%s)", code)
}
