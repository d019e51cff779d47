package fleet

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/pollcli/poll/internal/pace"
)

//go:embed step.lua
var stepText string

// readText reads a record, unless it is too long for one: the connection would not outlive that.
const readText = `
local text = redis.pcall('GET', KEYS[1])
if type(text) == 'string' and #text > tonumber(ARGV[1]) then return false end
return text`

var errUnexpected = errors.New("an unexpected answer")

// A redisEngine has the records in Redis, or what speaks its language. Steps are taken
// there, by a script on the server's clock, each in one round trip.
type redisEngine struct {
	address address
	steps   *script
	swaps   *script
	turn    chan redis.Conn // who has it may use the connection, nil for none
}

// A script is a program that the server runs.
type script struct{ text, hash string }

func newScript(text string) *script {
	return &script{text: text, hash: redis.NewScript(0, text).Hash()}
}

func newRedisEngine(a address) *redisEngine {
	e := &redisEngine{address: a, steps: newScript(stepText), swaps: newScript(swapText), turn: make(chan redis.Conn, 1)}
	e.turn <- nil
	return e
}

func (e *redisEngine) connect(ctx context.Context) error {
	conn, err := e.dial(ctx, false)
	if err != nil {
		return err
	}
	select {
	case old := <-e.turn:
		if old != nil {
			old.Close()
		}
		e.turn <- conn
		return nil
	case <-ctx.Done():
		conn.Close()
		return ctx.Err()
	}
}

// dial returns a connection over which an answer has come. Pages may come, too, if they are
// expected.
func (e *redisEngine) dial(ctx context.Context, pages bool) (redis.Conn, error) {
	deadline, _ := ctx.Deadline()
	left := redis.DialReadTimeout(time.Until(deadline))
	conn, err := redis.DialContext(ctx, e.address.network, e.address.host, append(e.address.options(pages), left)...)
	if err != nil {
		return nil, inWords(err)
	}
	_, err = redis.DoWithTimeout(conn, time.Until(deadline), "PING")
	if err != nil && !hasCode(err, "NOPERM") { // the user may do no more than is needed
		conn.Close()
		return nil, inWords(err)
	}
	return conn, nil
}

func (e *redisEngine) step(ctx context.Context, key string, r pace.Rules, c pace.Call) (pace.Reply, error) {
	reply, err := e.run(ctx, e.steps, 1, redisKey(key), int(c.Op), number(r.Most), number(r.Start), r.Horizon, c.Version, c.Span, c.N)
	if err != nil {
		return pace.Reply{}, err
	}
	return parseReply(reply)
}

// run has the server run a script with so many keys among its arguments.
func (e *redisEngine) run(ctx context.Context, s *script, keys int, args ...any) (string, error) {
	var conn redis.Conn
	select {
	case conn = <-e.turn:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { e.turn <- conn }()
	if conn == nil {
		return "", errors.New("the connection is lost")
	}
	args = append([]any{s.hash, keys}, args...)
	reply, err := redis.String(do(ctx, conn, "EVALSHA", args...))
	if hasCode(err, "NOSCRIPT") {
		args[0] = s.text
		reply, err = redis.String(do(ctx, conn, "EVAL", args...))
	}
	if err != nil {
		if conn.Err() != nil {
			conn.Close()
			conn = nil
		}
		return "", inWords(err)
	}
	return reply, nil
}

// do carries out a command before ctx is done.
func do(ctx context.Context, conn redis.Conn, command string, args ...any) (any, error) {
	deadline, _ := ctx.Deadline()
	return redis.DoWithTimeout(conn, max(time.Until(deadline), time.Millisecond), command, args...)
}

func (e *redisEngine) list(ctx context.Context) ([]record, error) {
	conn, err := e.dial(ctx, true)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	now, err := clock(ctx, conn)
	if err != nil {
		return nil, inWords(err)
	}
	var records []record
	for cursor := "0"; ; {
		names, next, err := page(ctx, conn, cursor)
		if err != nil {
			return nil, inWords(err)
		}
		for _, name := range names {
			text, err := redis.String(do(ctx, conn, "EVAL", readText, 1, name, recordSize))
			switch {
			case errors.Is(err, redis.ErrNil), hasCode(err, "WRONGTYPE"): // it has expired, or is no record
				continue
			case err != nil:
				return nil, inWords(err)
			}
			before, after, _ := strings.Cut(redisKey("*"), "*")
			key := strings.TrimSuffix(strings.TrimPrefix(name, before), after)
			records = append(records, record{key: key, text: text, now: now})
		}
		if cursor = next; cursor == "0" {
			return records, nil
		}
	}
}

// clock returns the server's time.
func clock(ctx context.Context, conn redis.Conn) (int64, error) {
	parts, err := redis.Strings(do(ctx, conn, "TIME"))
	if err != nil || len(parts) != 2 {
		return 0, cmp.Or(err, errUnexpected)
	}
	seconds, err := strconv.ParseUint(parts[0], 10, 40)
	if err != nil {
		return 0, errUnexpected
	}
	return int64(seconds) * pace.Second, nil
}

// page returns names of records, and the cursor behind them.
func page(ctx context.Context, conn redis.Conn, cursor string) (names []string, next string, err error) {
	parts, err := redis.Values(do(ctx, conn, "SCAN", cursor, "MATCH", redisKey(strings.Repeat("?", nameLength)), "COUNT", 1000))
	if err != nil || len(parts) != 2 {
		return nil, "", cmp.Or(err, errUnexpected)
	}
	next, err = redis.String(parts[0], nil)
	if err == nil {
		names, err = redis.Strings(parts[1], nil)
	}
	return names, next, err
}

func (e *redisEngine) close() {
	if conn := <-e.turn; conn != nil {
		conn.Close()
	}
	e.turn <- nil
}

// redisKey names a record. The braces keep all that belongs to a place on one server.
func redisKey(key string) string { return "poll:1:{" + key + "}:t" }

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// parseReply reads the script's answer.
func parseReply(text string) (r pace.Reply, err error) {
	fields := strings.Split(text, " ")
	if len(fields) != 6 {
		return pace.Reply{}, errUnexpected
	}
	var holds int64
	for i, n := range [...]*int64{&r.Now, &r.Version, &holds, &r.At, &r.Closed} {
		*n, err = strconv.ParseInt(fields[i], 10, 64)
		if err != nil || *n < 0 || *n > 2*pace.Forever {
			return pace.Reply{}, errUnexpected
		}
	}
	r.Holds, r.Used = holds == 1 || holds == 2, holds == 2
	r.Rate, err = strconv.ParseFloat(fields[5], 64)
	if err != nil || !(r.Rate >= 0 && r.Rate <= pace.Forever) {
		return pace.Reply{}, errUnexpected
	}
	return r, nil
}

// hasCode reports whether Redis has answered with an error whose first word is code.
func hasCode(err error, code string) bool {
	var said redis.Error
	return errors.As(err, &said) && strings.HasPrefix(string(said), code)
}

// inWords says what an error means for those who share. It has nothing of what was sent.
func inWords(err error) error {
	var said redis.Error
	switch {
	case errors.As(err, &said):
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case strings.HasPrefix(err.Error(), "redigo: "):
		return errUnexpected
	default:
		return err
	}
	code, _, _ := strings.Cut(string(said), " ")
	// As Redis 7 and Valkey 8 say it of a command in a script.
	if strings.Contains(string(said), "executing the script can't") || strings.Contains(string(said), "ACL failure in script") {
		code = "NOPERM"
	}
	for _, known := range [...]struct{ code, words string }{
		{"MOVED", "a Redis Cluster cannot be used: name a single server"},
		{"ASK", "a Redis Cluster cannot be used: name a single server"},
		{"CLUSTERDOWN", "a Redis Cluster cannot be used: name a single server"},
		{"READONLY", "it is a replica, which can only be read"},
		{"OOM", "it has no memory left"},
		{"MISCONF", "it cannot save to its disk, and takes nothing"},
		{"NOAUTH", "it wants a password"},
		{"WRONGPASS", "the password is wrong"},
		{"NOPERM", "the user may not run scripts, or use the keys poll:*"},
		{"LOADING", "it is still loading its data"},
		{"BUSY", "it is busy with a script"},
	} {
		if code == known.code {
			return fmt.Errorf("%s (%s)", known.words, code)
		}
	}
	if strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		code = "ERR"
	}
	return fmt.Errorf("it answers with an error (%s)", code)
}
