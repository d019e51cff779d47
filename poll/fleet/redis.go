package fleet

import (
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/tls"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// openServer reads the URL of a Redis.
func openServer(scheme, where string, config *tls.Config) (store, string, error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, "", fmt.Errorf("the %s URL cannot be read: in a password, write %%40 for @, %%2F for / and %%23 for #", scheme)
	}
	shown := scheme + "://" + u.Host + u.Path
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
		return nil, "", errors.New("behind the host there may only be the number of a database: in a password, write %2F for /, %3F for ? and %23 for #")
	}
	password, _ := u.User.Password()
	dial := (&net.Dialer{Timeout: dialing}).DialContext
	if scheme == "rediss" {
		dial = (&tls.Dialer{NetDialer: &net.Dialer{Timeout: dialing}, Config: config}).DialContext
	}
	return swapping{&server{
		network: network, host: host, pools: map[string]*redis.Pool{}, routes: map[string]string{},
		options: []redis.DialOption{
			redis.DialContextFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				return &reply{Conn: conn}, err
			}),
			redis.DialReadTimeout(dialing), redis.DialWriteTimeout(dialing),
			redis.DialUsername(u.User.Username()), redis.DialPassword(password), redis.DialDatabase(number),
		},
	}}, shown, nil
}

//go:embed swap.lua
var swapText string

var swapScript = redis.NewScript(1, swapText)

// dialing is how long an attempt to connect may take. It outlasts one packet that is lost,
// which is sent again after a second (RFC 6298).
const dialing = 2 * time.Second

// maxReply is more than the script answers, in bytes: three elements, of which the record is the
// longest.
const maxReply = 300 << 10

// A reply is a connection to a Redis whose answers are no longer than they can be. redigo believes
// each length, and makes room for it.
type reply struct {
	net.Conn
	left   int // how many bytes the answer may still have,
	digits int // and the number that is being read, digits
}

func (r *reply) Write(p []byte) (int, error) {
	r.left = maxReply
	return r.Conn.Write(p)
}

// Read takes every "*" and "$" for the beginning of a length. In a record there is none.
func (r *reply) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	for _, b := range p[:n] {
		switch r.left, r.digits = r.left-1, r.digits-1; {
		case b == '*':
			r.digits = 1 // elements
		case b == '$':
			r.digits = 6 // bytes
		case b < '0' || b > '9':
			r.digits = maxReply
		}
		if r.left < 0 || r.digits < 0 {
			return 0, errors.New("it answers with more than a record")
		}
	}
	return n, err
}

// A server is a Redis or compatible with it: a single one or a cluster.
type server struct {
	network, host string
	options       []redis.DialOption

	mu     sync.Mutex
	pools  map[string]*redis.Pool // by host
	routes map[string]string      // where a cluster has a key, if that is not host
}

// A swapping store changes a record by compare-and-swap, and tries again if others were faster.
type swapping struct{ swapper }

type swapper interface {
	// swap puts next in the place of the record under a key if that is old, and reports whether
	// it did. If not, now is the record, "" for none. An empty next only looks.
	swap(ctx context.Context, key, old, next string) (now string, at int64, swapped bool, err error)
	close()
}

// tries is how often a change is tried that others are always faster with: for about two seconds.
const tries = 40

func (s swapping) change(bound time.Duration, key string, step func(text string, at int64) string) error {
	swap := func(old, next string) (string, int64, bool, error) {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		return s.swap(ctx, key, old, next)
	}
	for try := range tries {
		text, at, _, err := swap("", "")
		if err != nil {
			return err
		}
		next := step(text, at)
		if next == text {
			return nil
		}
		if _, _, swapped, err := swap(text, next); swapped || err != nil {
			return err
		}
		time.Sleep(within(time.Millisecond << min(try, 7)))
	}
	return context.DeadlineExceeded
}

func (s *server) swap(ctx context.Context, key, old, next string) (now string, at int64, swapped bool, err error) {
	sum := sha1.Sum([]byte(old))
	var reply []any
	for range 3 { // a cluster says where it has a key
		reply, err = redis.Values(s.run(ctx, key, hex.EncodeToString(sum[:]), next, life.Milliseconds()))
		if !s.moved(key, err) {
			break
		}
	}
	if err == nil {
		_, err = redis.Scan(reply, &swapped, &at, &now)
	}
	return now, at, swapped, inWords(err)
}

// run has the server run the script.
func (s *server) run(ctx context.Context, key string, args ...any) (any, error) {
	conn, err := s.connect(ctx, key)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return swapScript.DoContext(ctx, conn, append([]any{key}, args...)...)
}

// connect returns a connection. One that comes too late is there for the next call.
func (s *server) connect(ctx context.Context, key string) (redis.Conn, error) {
	pool := s.pool(key)
	connected := make(chan redis.Conn, 1)
	go func() { connected <- pool.Get() }()
	select {
	case conn := <-connected:
		return conn, conn.Err()
	case <-ctx.Done():
		go func() { (<-connected).Close() }()
		return nil, ctx.Err()
	}
}

func (s *server) pool(key string) *redis.Pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	host := cmp.Or(s.routes[key], s.host)
	pool := s.pools[host]
	if pool == nil {
		pool = &redis.Pool{MaxIdle: 4, MaxActive: 8, Wait: true, IdleTimeout: time.Minute, Dial: func() (redis.Conn, error) {
			return redis.Dial(s.network, host, s.options...)
		}}
		s.pools[host] = pool
	}
	return pool
}

// moved reports whether a cluster has a key elsewhere, and notes where. A server that no longer
// answers is forgotten: the cluster may have moved its keys.
func (s *server) moved(key string, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var said redis.Error
	if errors.As(err, &said); err != nil && said == "" {
		delete(s.routes, key)
	}
	fields := strings.Fields(string(said))
	isMoved := len(fields) == 3 && fields[0] == "MOVED"
	if isMoved {
		s.routes[key] = fields[2]
	}
	return isMoved
}

func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pool := range s.pools {
		pool.Close()
	}
}

// An errRefused is the first word of an error of Redis. Others than it was about may work.
type errRefused string

func (e errRefused) Error() string { return "it answers with an error (" + string(e) + ")" }

// inWords makes an error plain. It has no part of the request.
func inWords(err error) error {
	var said redis.Error
	if !errors.As(err, &said) {
		return err
	}
	code, _, _ := strings.Cut(string(said), " ")
	switch {
	case strings.Contains(string(said), "executing the script can't"), strings.Contains(string(said), "ACL failure in script"):
		return errRefused("NOPERM") // as Redis 7 and Valkey 8 say it of a command in a script
	case code == "" || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "":
		return errRefused("ERR")
	}
	return errRefused(code)
}
