// Package fleet lets processes that poll the same place keep to its limit together: they
// share its rate and its refusals, in a directory of one machine or in Redis.
//
//	shared, err := fleet.Open("rediss://cache:6379", fleet.Options{PerSecond: 20, Known: true})
//	if err != nil { ... }
//	defer shared.Close()
//	poller := poll.Poller{Limiter: shared, ...}
//
// No wait fails because of the store. If it is unreachable, slow or full, or its records
// make no sense, each process goes on alone, at its share of the last rate, and notes that
// once.
package fleet

import (
	"cmp"
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

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/pace"
)

// prefix begins the name of each record. It has to change with the meaning of a record.
const prefix = "poll-3-"

const (
	// bound is how long a call waits for the store, and settling how long it does at first,
	// when many processes begin together.
	bound, settling = 500 * time.Millisecond, 2 * time.Second
	// pause is how long nothing is asked of a store that failed, and at most as long again.
	pause = 500 * time.Millisecond
)

// Options say how a [Fleet] is used.
type Options struct {
	// PerSecond and Known are as in a [poll.Pacer], for all processes together. A rate that
	// is not known begins with a quarter of PerSecond. 0 or less means no limit until a request is
	// refused.
	PerSecond float64
	Known     bool
	// Name is that of the limit. All with the same name keep to one, at any place.
	// Without a name each place has a limit, and a loopback address one for each machine.
	Name string
	// Key returns a text that tells limits at a place apart, such as the credentials that are sent
	// there. Nil means that there is one limit. It is not called if there is a Name.
	Key func(place string) string
	// Secret keeps readers of the store from guessing URLs and credentials. All processes need
	// the same; empty means none.
	Secret []byte
	// Note is called once with the reason for which this process goes on alone. The reason has no
	// password. Note may be called from any goroutine; nil is for none.
	Note func(string)
}

// A Fleet is a [poll.Limiter] that spaces the requests of all processes together. It may be used
// from several goroutines.
//
// A call takes half a second at most, and two seconds at the beginning. Nothing that is shared
// is believed for longer than an hour.
type Fleet struct {
	store store
	where string // without passwords
	o     Options
	rules pace.Rules
	began time.Time
	said  sync.Map

	mu      sync.Mutex
	origins map[string]*origin
	down    map[string]time.Time // until when a record is not asked for; "" is all of them
	clock   int64                // the last time of the store
	moved   time.Time            // when it showed that first
}

var _ poll.Limiter = (*Fleet)(nil)

// Open returns the fleet of all processes that name the same place: a directory, which is created,
// redis://HOST, rediss://HOST, with encryption, or unix:///PATH, each of them with
// USER:PASSWORD@ before HOST and a database behind it if need be. An error means that where
// can never be right; it has no password. Otherwise it is reached when it is needed.
func Open(where string, o Options) (*Fleet, error) {
	s, shown, err := openStore(where, nil)
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
		return nil, "", errors.New("it is neither a directory nor a redis://, rediss:// or unix:/// URL")
	case missing != nil && regexp.MustCompile(likeAddress).MatchString(where[len(filepath.VolumeName(where)):]):
		return nil, "", errors.New("there is no directory of that name; for a Redis, write redis:// before HOST:PORT, or unix:// before /PATH")
	}
	d, err := openDirectory(where)
	return d, where, err
}

// likeAddress matches a word that has a password perhaps: a URL of which a slash is missing,
// USER:PASSWORD@ and HOST:PORT. No directory is made of it.
const likeAddress = `^(?i:rediss?|unix):|:.*@|@[^/]*:[0-9]+$|^[^/]+:[0-9]+$`

func newFleet(s store, where string, o Options) *Fleet {
	return &Fleet{
		store: s, where: where, o: o, began: time.Now(),
		rules:   pace.NewRules(o.PerSecond, o.Known, startShare, farthest.Microseconds()),
		origins: map[string]*origin{}, down: map[string]time.Time{},
	}
}

// Close releases the connections of the fleet. A wait that still uses it goes on alone.
func (f *Fleet) Close() { f.store.close() }

// key returns the name under which a record is shared. Its subject is hidden from a reader
// without the secret.
func (f *Fleet) key(kind, text string) string {
	return prefix + kind + hex.EncodeToString(f.mac(kind, text)[:16])
}

func (f *Fleet) mac(use, text string) []byte {
	h := hmac.New(sha256.New, f.o.Secret)
	fmt.Fprintf(h, "pollcli/poll 2 %s\x00%s", use, text)
	return h.Sum(nil)
}

// A store keeps small records.
type store interface {
	// change replaces the record under a key, "" for none, by the result of a step, if that
	// differs. at is the store's time in microseconds. The step may be taken again. No single
	// operation takes longer than bound.
	change(bound time.Duration, key string, step func(text string, at int64) string) error
	close()
}

// life is how long a record is kept that nobody changes.
const life = 2 * time.Hour

// change applies a step to the limit that is shared under a key; now is the store's time in
// microseconds. The step may be applied again. If the store cannot be used, change returns false and
// notes the reason.
func (f *Fleet) change(key string, step func(l *limit, now int64)) (shared bool) {
	if f.isDown(key) {
		return false
	}
	var refused error
	err := f.store.change(max(bound, time.Until(f.began.Add(settling))), key, func(text string, now int64) string {
		if refused = f.checkClock(now); refused != nil {
			return text
		}
		l := f.read(text)
		before := l
		if step(&l, now); l == before {
			return text
		}
		next, _ := json.Marshal(l) // of numbers
		return string(next)
	})
	if err = cmp.Or(err, refused); err != nil {
		f.failed(key, err)
	}
	return err == nil
}

// read returns the limit in a text. It returns the zero value if the text is empty or makes no sense.
func (f *Fleet) read(text string) (l limit) {
	if text == "" {
		return l
	}
	if json.Unmarshal([]byte(text), &l) != nil || !l.Valid() {
		f.say("nonsense", f.where+" has something that makes no sense, or is of another version, and is taken for nothing")
		return limit{}
	}
	return l
}

// within returns a time at random between half of one and all of it.
func within(d time.Duration) time.Duration {
	return backoff.Equal(backoff.Fixed(d)).Wait(backoff.Step{}, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
}

// checkClock refuses a clock of the store that cannot tell how long anything lasts.
func (f *Fleet) checkClock(at int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if at != f.clock {
		f.clock, f.moved = at, now
	}
	if now.Sub(time.UnixMicro(at)).Abs() > 24*time.Hour || now.Sub(f.moved) > time.Second {
		return errors.New("its clock stands still, or is more than a day off")
	}
	return nil
}

// isDown reports whether a record could not be had a moment ago.
func (f *Fleet) isDown(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	return now.Before(f.down[""]) || now.Before(f.down[key])
}

// failed notes that a record cannot be had.
func (f *Fleet) failed(key string, err error) {
	if _, isRefused := errors.AsType[errRefused](err); !isRefused {
		key = ""
	}
	f.mu.Lock()
	f.down[key] = time.Now().Add(within(2 * pause))
	f.mu.Unlock()
	why := err.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		why = "it does not answer in time"
	}
	f.say("alone", fmt.Sprintf("%s cannot be used for now, so this process goes on alone: %s", f.where, why))
}

// say tells something once.
func (f *Fleet) say(about, text string) {
	if _, isSaid := f.said.LoadOrStore(about, true); !isSaid && f.o.Note != nil {
		f.o.Note(text)
	}
}
