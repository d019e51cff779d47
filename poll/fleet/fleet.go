// Package fleet lets several processes that poll the same origins share one limit: the rate of their requests,
// and the waits that a server requires. A store keeps the limit: a directory of one machine, or Redis.
//
//	shared, err := fleet.Open("rediss://cache:6379", fleet.Options{PerSecond: 20, Known: true})
//	if err != nil { ... }
//	defer shared.Close()
//	poller := poll.Poller{Limiter: shared, ...}
//
// No wait fails because of the store. While the store is unreachable, slow or full, each process continues alone
// with its share of the last rate. It notes the reason once. An invalid record counts as no record.
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
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/pace"
)

// prefix is the prefix of the name of each record. It changes with the meaning of a record.
const prefix = "poll-3-"

const (
	// callTimeout limits one operation of the store. The limit is startTimeout for as long after Open, when
	// many processes may start at the same time.
	callTimeout, startTimeout = 500 * time.Millisecond, 2 * time.Second
	// retryAfter is how long the process leaves a store alone that has failed, and at most twice as long.
	retryAfter = 500 * time.Millisecond
	// recordTTL is how long the store keeps a record that no process changes.
	recordTTL = 2 * time.Hour
)

// Options configure a [Fleet].
type Options struct {
	// PerSecond and Known are as in a [poll.Pacer], for all processes together. A rate that is not known
	// starts with a quarter of PerSecond. 0 or less means no limit until a request is refused.
	PerSecond float64
	Known     bool
	// Name names the limit: all processes with the same name have one limit, at any origin. With "" each
	// origin has a limit, and a loopback address has one for each machine.
	Name string
	// Key returns a string that distinguishes limits at one origin, such as the credentials that are sent
	// there. Nil means one limit for each origin. Key is not called if there is a Name.
	Key func(origin string) string
	// Secret keeps readers of the store from guessing URLs and credentials. All processes need the same Secret.
	// It may be empty.
	Secret []byte
	// Note is called once, with the reason why this process continues alone. The text contains no password.
	// Note may be called from any goroutine; nil ignores the note.
	Note func(string)
}

// A Fleet is a [poll.Limiter] that spaces the requests of all processes together. Several goroutines may use
// it at once.
//
// An operation of the store takes at most half a second, or two seconds during the first two seconds. A call
// needs two operations, and two more each time another process has changed the record meanwhile: if that
// happens 40 times, the process continues alone. The process follows no record for more than an hour.
type Fleet struct {
	store  store
	where  string // without a password
	o      Options
	rules  pace.Rules
	opened time.Time
	noted  sync.Once

	mu      sync.Mutex
	origins map[string]*origin
	retry   time.Time // the store has failed, and is not used before
}

var _ poll.Limiter = (*Fleet)(nil)

// Open returns the fleet of all processes that use the same store. where is a directory, which is created,
// redis://HOST, rediss://HOST for an encrypted connection, or unix:///PATH. A URL may contain USER:PASSWORD@
// and the number of a database as its path. Open does not connect. It returns an error, without the password,
// if where cannot name a store.
func Open(where string, o Options) (*Fleet, error) {
	s, shown, err := openStore(where, nil)
	if err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	return newFleet(s, shown, o), nil
}

// openStore returns the store that where names, and where without its password. Its error contains no part of
// a URL, since each part may be the password.
func openStore(where string, config *tls.Config) (s store, shown string, err error) {
	scheme, _, isURL := strings.Cut(where, "://")
	_, missing := os.Stat(where)
	switch {
	case where == "":
		return nil, "", errors.New("a directory, redis://HOST or rediss://HOST is needed")
	case isURL && (scheme == "redis" || scheme == "rediss" || scheme == "unix"):
		return openServer(scheme, where, config)
	case isURL:
		return nil, "", errors.New("it is neither a directory nor a redis://, rediss:// or unix:/// URL")
	case missing != nil && regexp.MustCompile(likeAddress).MatchString(where[len(filepath.VolumeName(where)):]):
		return nil, "", errors.New("there is no directory of that name; for a Redis, write redis:// before HOST:PORT, or unix:// before /PATH")
	}
	s, err = openDirectory(where)
	return s, where, err
}

// likeAddress matches a string that may contain a password: a URL without a slash, USER:PASSWORD@ and HOST:PORT.
// No directory of such a name is created.
const likeAddress = `^(?i:rediss?|unix):|:.*@|@[^/]*:[0-9]+$|^[^/]+:[0-9]+$`

func newFleet(s store, where string, o Options) *Fleet {
	return &Fleet{
		store: s, where: where, o: o, opened: time.Now(), origins: map[string]*origin{},
		rules: pace.NewRules(o.PerSecond, o.Known, startShare, farthest.Microseconds()),
	}
}

// Close closes the connections of the fleet. A wait that still uses the fleet continues alone.
func (f *Fleet) Close() { f.store.close() }

// key returns the name of a record. A reader without the Secret cannot find the text in the name.
func (f *Fleet) key(kind, text string) string {
	h := hmac.New(sha256.New, f.o.Secret)
	fmt.Fprintf(h, "pollcli/poll 2 %s\x00%s", kind, text)
	return prefix + kind + hex.EncodeToString(h.Sum(nil)[:16])
}

// A store keeps small records.
type store interface {
	// change replaces the record under key by the result of step. text is the record, or "" if the record is
	// missing. at is the time of the store in microseconds. change writes nothing if step returns text. change
	// may call step several times. No single operation takes longer than timeout.
	change(timeout time.Duration, key string, step func(text string, at int64) string) error
	close()
}

// change applies step to the limit under key. now is the time of the store in microseconds. change may call
// step several times. If the store cannot be used, change returns false and notes the reason.
func (f *Fleet) change(key string, step func(l *limit, now int64)) (shared bool) {
	if f.isDown() {
		return false
	}
	timeout := max(callTimeout, time.Until(f.opened.Add(startTimeout)))
	err := f.store.change(timeout, key, func(text string, now int64) string {
		var l limit
		if json.Unmarshal([]byte(text), &l) != nil || !l.Valid() {
			l = limit{} // a missing or invalid record, or a record of another version
		}
		before := l
		if step(&l, now); l == before {
			return text
		}
		next, _ := json.Marshal(l) // numbers cannot fail
		return string(next)
	})
	if err != nil {
		f.fail(err)
	}
	return err == nil
}

// isDown reports whether the store has failed a moment ago.
func (f *Fleet) isDown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Before(f.retry)
}

// fail notes that the store cannot be used.
func (f *Fleet) fail(err error) {
	f.mu.Lock()
	f.retry = time.Now().Add(retryAfter + rand.N(retryAfter))
	f.mu.Unlock()
	why := err.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		why = "it does not answer in time"
	}
	if f.o.Note != nil {
		f.noted.Do(func() {
			f.o.Note(fmt.Sprintf("%s cannot be used for now, so this process goes on alone: %s", f.where, why))
		})
	}
}
