// Package fleet has processes that poll the same place be polite to it together: they share
// how fast it is asked, that it is closed, and what it answered, in a directory of one machine
// or in Redis.
//
//	shared, err := fleet.Open("rediss://cache:6379", fleet.Options{Secret: secret})
//	if err != nil { ... }
//	defer shared.Close()
//	limiter := &fleet.Limiter{Fleet: shared, PerSecond: 20, Known: true}
//
// No wait fails because of what is shared. If it is away, slow, full, or says what makes no
// sense, each process goes on alone, at the last rate that it was told, and says so once.
package fleet

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// prefix begins the name of each record. It has to change with the meaning of a record.
const prefix = "poll-2-"

const (
	// bound is how long a call waits for the store, and settling how long it does at first,
	// when many processes begin together.
	bound, settling = 500 * time.Millisecond, 2 * time.Second
	// crowded is how long a change is tried again that others are always faster with.
	crowded = 2 * time.Second
	// pause is how long nothing is asked of a store that failed, and at most as long again.
	pause = 500 * time.Millisecond
)

// Options say how a [Fleet] is used.
type Options struct {
	// Secret keeps who can read what is shared from guessing whose limits and answers these
	// are. All processes need the same; empty means none.
	Secret []byte
	// Note is told, once, why this process goes on alone, in words without passwords. It
	// may be called from any goroutine. Nil means that nobody is told.
	Note func(string)
	// TLS is the configuration for rediss://; nil means that of the system.
	TLS *tls.Config
}

// A Fleet is what processes share. It may be used from several goroutines.
type Fleet struct {
	store  store
	where  string // without passwords
	secret []byte
	note   func(string)
	began  time.Time

	own     sync.Map     // the records of this process while it is alone
	waiters atomic.Int64 // the most that share a question with this process

	mu     sync.Mutex
	down   map[string]time.Time // until when a record is not asked for; "" is all of them
	said   map[string]bool
	closed bool
}

// Open returns the fleet of those who name the same place: a directory, which is created,
// redis://HOST, rediss://HOST, with encryption, or unix:///PATH, each of them with
// USER:PASSWORD@ before HOST and a database behind it if need be. An error means that where
// can never be right; it has no password. Otherwise it is reached when it is needed.
func Open(where string, o Options) (*Fleet, error) {
	s, shown, err := openStore(where, o.TLS)
	if err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	return newFleet(s, shown, o), nil
}

// openStore returns the store at a place, and the place without its password. An error means
// that the place can never be right. It has no part of a URL, since any may be the password.
func openStore(where string, config *tls.Config) (store, string, error) {
	scheme, _, isURL := strings.Cut(where, "://")
	_, missing := os.Stat(where)
	switch {
	case where == "":
		return nil, "", errors.New("a directory, redis://HOST or rediss://HOST is needed")
	case isURL && (scheme == "redis" || scheme == "rediss" || scheme == "unix"):
		return openServer(scheme, where, config)
	case isURL:
		return nil, "", errors.New("it is none of a directory, redis://, rediss:// and unix:///")
	case missing != nil && likeAddress.MatchString(where[len(filepath.VolumeName(where)):]):
		return nil, "", errors.New("there is no directory of that name; for a Redis, write redis:// before HOST:PORT, or unix:// before /PATH")
	}
	d, err := openDirectory(where)
	return d, where, err
}

// likeAddress matches a word that has a password perhaps: a URL of which a slash is missing,
// USER:PASSWORD@ and HOST:PORT. No directory is made of it.
var likeAddress = regexp.MustCompile(`^(?i:rediss?|unix):|:.*@|@[^/]*:[0-9]+$|^[^/]+:[0-9]+$`)

func newFleet(s store, where string, o Options) *Fleet {
	return &Fleet{
		store: s, where: where, secret: o.Secret, note: o.Note, began: time.Now(),
		down: map[string]time.Time{}, said: map[string]bool{},
	}
}

// Close gives back what the fleet holds. Who still uses it goes on alone.
func (f *Fleet) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.store.close()
}

// key returns the name under which a record is shared. Without the secret nobody can tell what
// it is about.
func (f *Fleet) key(kind, text string) string {
	return prefix + kind + hex.EncodeToString(f.mac(kind, text)[:16])
}

func (f *Fleet) mac(use, text string) []byte {
	h := hmac.New(sha256.New, f.secret)
	fmt.Fprintf(h, "pollcli/poll 2 %s\x00%s", use, text)
	return h.Sum(nil)
}

// A store keeps small records.
type store interface {
	// swap puts next in the place of the record under a key if that is old, and reports whether
	// it did. If not, now is the record, "" for none. An empty next only looks. at is the
	// store's time in microseconds.
	swap(ctx context.Context, key, old, next string) (now string, at int64, swapped bool, err error)
	close()
}

// life is how long a record is kept that nobody changes.
const life = 2 * time.Hour

// mostRecord is the size of a record at most: a sealed answer in base64, and some numbers.
const mostRecord = 1 << 18

// A step returns the record that follows another, at a time of the clock of those who have it.
type step func(record string, now int64, shared bool) string

// try takes a step on the record of all, unless that has just failed.
func (f *Fleet) try(key string, s step) bool {
	f.mu.Lock()
	now := time.Now()
	down := f.closed || now.Before(f.down[""]) || now.Before(f.down[key])
	f.mu.Unlock()
	if down {
		return false
	}
	err := f.swap(key, s)
	if err == nil {
		return true
	}
	f.mu.Lock()
	if _, isRefused := errors.AsType[errRefused](err); !isRefused {
		key = ""
	}
	f.down[key] = time.Now().Add(pause + rand.N(pause))
	f.mu.Unlock()
	why := err.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		why = "it does not answer in time"
	}
	f.say("alone", fmt.Sprintf("%s cannot be shared for now, and this process goes on alone: %s", f.where, why))
	return false
}

func (f *Fleet) swap(key string, s step) error {
	begun := time.Now()
	record, now, _, err := f.call(key, "", "")
	for try := 1; err == nil; try++ {
		next := s(record, now, true)
		if next == record {
			return nil
		}
		var swapped bool
		record, now, swapped, err = f.call(key, record, next)
		switch {
		case swapped:
			return nil
		case err == nil && time.Since(begun) > crowded:
			return context.DeadlineExceeded
		case err == nil && try > 1: // in a crowd; what is known is old after the pause
			time.Sleep(rand.N(time.Millisecond << min(try, 7)))
			record, now, _, err = f.call(key, "", "")
		}
	}
	return err
}

func (f *Fleet) call(key, old, next string) (string, int64, bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), max(bound, time.Until(f.began.Add(settling))))
	defer cancel()
	return f.store.swap(ctx, key, old, next)
}

// say tells something once.
func (f *Fleet) say(about, text string) {
	f.mu.Lock()
	silent := f.said[about] || f.closed || f.note == nil
	f.said[about] = true
	f.mu.Unlock()
	if !silent {
		f.note(text)
	}
}

// A record is what processes share under a key.
type record interface{ isValid() bool }

// change takes a step on a record: that of all or, if it cannot be had, that of this process.
// The step may have to be taken again. A record of which nothing is known is the zero value.
// window is the last one in which this process was counted.
func change[R record, P interface {
	*R
	processes() *crowd
}](f *Fleet, key string, window *int64, do func(rec P, now int64, shared bool) (changed bool)) (rec R, shared bool) {
	var signed int64
	u := rand.Float64()
	take := func(text string, now int64, shared bool) string {
		rec = read[R](f, text)
		changed, processes := do(&rec, now, shared), P(&rec).processes()
		before := *processes
		if signed = processes.signIn(now, *window, u); !changed && *processes == before {
			return text
		}
		return encode(rec)
	}
	if f.try(key, take) {
		f.own.Delete(key)
		*window = signed
		return rec, true
	}
	own, _ := f.own.Load(key)
	text, _ := own.(string)
	f.own.Store(key, take(text, time.Now().UnixMicro(), false))
	return rec, false
}

// read returns a record, the zero value if there is none that makes sense.
func read[R record](f *Fleet, text string) (rec R) {
	if text == "" {
		return rec
	}
	if json.Unmarshal([]byte(text), &rec) != nil || !rec.isValid() {
		f.say("nonsense", f.where+" has something that makes no sense, or is of another version, and is taken for nothing")
		return *new(R)
	}
	return rec
}

func encode(record any) string {
	text, _ := json.Marshal(record) // of numbers and texts
	return string(text)
}

// micros returns a number of microseconds.
func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// A crowd counts who uses a record.
type crowd struct {
	Window int64   `json:"window"`
	Here   float64 `json:"here"`   // processes of this window
	Before float64 `json:"before"` // of the one before
}

const (
	window    = 30_000_000 // microseconds
	signers   = 50         // about as many processes sign in
	mostCrowd = 10_000
)

// signIn counts a process, once in each window. Of many only some sign, each for several, or
// they would do nothing else: u is between 0 and 1.
func (c *crowd) signIn(now, last int64, u float64) (signed int64) {
	if w := now / window; w != c.Window {
		if c.Before = c.Here; w != c.Window+1 {
			c.Before = 0
		}
		c.Window, c.Here = w, 0
	}
	if each := max(1, c.size()/signers); last != c.Window && u*each < 1 {
		c.Here += each
	}
	return c.Window
}

func (c *crowd) size() float64 { return min(max(1, c.Here, c.Before), mostCrowd) }
