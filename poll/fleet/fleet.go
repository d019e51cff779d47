// Package fleet makes several processes that poll the same origins share one limit. The limit consists of the
// request rate, and the pauses that a server asks for. The limit is kept in a store: a directory on one
// machine, or a Redis server.
//
//	shared, err := fleet.Open("rediss://cache:6379", fleet.Options{PerSecond: 20, Known: true})
//	if err != nil { ... }
//	defer shared.Close()
//	poller := poll.Poller{Limiter: shared, ...}
//
// A failing store never makes a wait fail. While the store is unreachable, slow or full, each process continues
// alone, with its share of the last known rate. It reports the reason once. A record that is not valid is
// treated as missing.
//
// The files:
//
//	fleet.go            Open and its options; the store, and a store that fails
//	limit.go            the shared limit of an origin, and the estimated number of processes
//	directory.go        the store in a directory
//	directory_unix.go   the check that only the user can change the directory, on Unix
//	directory_other.go  the same on other systems
//	redis.go            the store on a Redis server; swap.lua is its script
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

// prefix starts the name of every record. It must change when the meaning of a record changes.
const prefix = "poll-3-"

const (
	// callTimeout limits each operation of the store. Just after Open, when many processes may start at once,
	// an operation may take longer: until startTimeout has passed since Open.
	callTimeout, startTimeout = 500 * time.Millisecond, 2 * time.Second
	// retryAfter is the minimum time before a store that has failed is used again. The actual time is random,
	// and at most twice as long.
	retryAfter = 500 * time.Millisecond
	// recordTTL is how long the store keeps a record that is not changed.
	recordTTL = 2 * time.Hour
)

// Options are the settings of a [Fleet].
type Options struct {
	// PerSecond is the maximum request rate of all processes together, and Known is true if PerSecond is the
	// exact limit of the origins, as in a [poll.Pacer]. If Known is false, the processes start with a quarter
	// of PerSecond. If PerSecond is 0, negative or NaN, there is no limit until a request is rejected.
	PerSecond float64
	Known     bool
	// Name identifies the limit: all processes with the same Name share one limit for all origins. "" means a
	// separate limit for each origin. A loopback address then has a separate limit on each machine.
	Name string
	// Key returns a string that distinguishes several limits at one origin, for example the credentials for
	// that origin. Nil means one limit for each origin. Key is not called if Name is set.
	Key func(origin string) string
	// Secret prevents readers of the store from finding out URLs and credentials by guessing. All processes
	// that share a limit need the same Secret. It may be empty.
	Secret []byte
	// Note, if not nil, is called once, when the process has to continue alone, with the reason. The message
	// does not contain a password. Note may be called from any goroutine.
	Note func(string)
}

// A Fleet is a [poll.Limiter] that spaces out the requests of several processes together. Its methods may be
// called concurrently.
//
// Each operation of the store takes at most half a second, or two seconds just after Open. A method call needs
// two operations, and two more each time another process has changed the record meanwhile. After 40 such
// conflicts the process continues alone. A record never makes a process wait for more than an hour.
type Fleet struct {
	store  store
	where  string // human-readable name of the store, without a password
	o      Options
	rules  pace.Rules
	opened time.Time
	noted  sync.Once

	mu      sync.Mutex
	origins map[string]*origin
	retry   time.Time // the store has failed, and must not be used before this time
}

var _ poll.Limiter = (*Fleet)(nil)

// Open returns a Fleet that shares its limits with all processes that use the same store. The argument where
// names the store: a directory (created if necessary), redis://HOST, rediss://HOST (an encrypted connection) or
// unix:///PATH. A URL may contain USER:PASSWORD@ before HOST. The number of the database is the path of the
// URL, or ?db=NUMBER after unix:///PATH.
//
// Open does not connect to a server. If the argument where is not valid, Open returns an error that does not
// contain the password.
func Open(where string, o Options) (*Fleet, error) {
	s, shown, err := openStore(where, nil)
	if err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	return newFleet(s, shown, o), nil
}

// openStore returns the store that the argument where names, and a form of that name without the password. If
// the argument is a URL, the error contains no part of the URL, because any part may be the password.
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
		return nil, "", errors.New("there is no directory of that name; for a Redis server, write redis:// before HOST:PORT, or unix:// before /PATH")
	}
	s, err = openDirectory(where)
	return s, where, err
}

// likeAddress matches strings that resemble the address of a server, and so may contain a password: a URL
// without slashes, USER:PASSWORD@HOST, or HOST:PORT. No directory with such a name is created.
const likeAddress = `^(?i:rediss?|unix):|:.*@|@[^/]*:[0-9]+$|^[^/]+:[0-9]+$`

// newFleet returns a Fleet that uses the store s. where is the human-readable name of s.
func newFleet(s store, where string, o Options) *Fleet {
	return &Fleet{
		store: s, where: where, o: o, opened: time.Now(), origins: map[string]*origin{},
		rules: pace.NewRules(o.PerSecond, o.Known, startShare, farthest.Microseconds()),
	}
}

// Close closes the connections to the store. Waits that still use the Fleet continue alone.
func (f *Fleet) Close() { f.store.close() }

// key returns a record name that consists of prefix, kind and a keyed hash of text. A reader of the store who
// does not have the Secret cannot recover text from the name.
func (f *Fleet) key(kind, text string) string {
	h := hmac.New(sha256.New, f.o.Secret)
	fmt.Fprintf(h, "pollcli/poll 2 %s\x00%s", kind, text)
	return prefix + kind + hex.EncodeToString(h.Sum(nil)[:16])
}

// A store keeps small records that several processes share.
type store interface {
	// change replaces the record under key by the result of the function step. The arguments of step are the
	// current record, "" if there is none, and the current time of the store in microseconds. If step returns
	// the current record, nothing is written. change may call step several times. None of its operations takes
	// longer than timeout.
	change(timeout time.Duration, key string, step func(text string, at int64) string) error
	close()
}

// change applies the function step to the limit under key; now is the current time of the store in
// microseconds. It may call step several times. If the store cannot be used, change reports the reason and
// returns false.
func (f *Fleet) change(key string, step func(l *limit, now int64)) (shared bool) {
	if f.isDown() {
		return false
	}
	timeout := max(callTimeout, time.Until(f.opened.Add(startTimeout)))
	err := f.store.change(timeout, key, func(text string, now int64) string {
		var l limit
		if json.Unmarshal([]byte(text), &l) != nil || !l.Valid() {
			l = limit{} // the record is missing, invalid or of another version
		}
		before := l
		if step(&l, now); l == before {
			return text
		}
		next, _ := json.Marshal(l) // numbers can always be marshaled
		return string(next)
	})
	if err != nil {
		f.fail(err)
	}
	return err == nil
}

// isDown reports whether the store has failed so recently that it must not be used again yet.
func (f *Fleet) isDown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Before(f.retry)
}

// fail records that the store has failed because of err. The first failure is passed to Note.
func (f *Fleet) fail(err error) {
	f.mu.Lock()
	f.retry = time.Now().Add(retryAfter + rand.N(retryAfter))
	f.mu.Unlock()
	why := err.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		why = "no response in time"
	}
	if f.o.Note != nil {
		f.noted.Do(func() {
			f.o.Note(fmt.Sprintf("%s cannot be used for now, so this process continues alone: %s", f.where, why))
		})
	}
}
