// Package fleet has processes that poll the same place be polite to it together: they share
// how fast it is asked, and that it is closed, in a directory of one machine or in Redis.
//
//	shared, err := fleet.Open("rediss://cache:6379", fleet.Options{Secret: secret})
//	if err != nil { ... }
//	defer shared.Close()
//	group := poll.Group{Limiter: &fleet.Limiter{Fleet: shared, PerSecond: 20, Known: true}}
//
// No wait fails because of what is shared. If it is away, slow, full, or says what makes no
// sense, each process goes on alone, at the pace that it had, and is told so once.
package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/lockedfile"
	"github.com/pollcli/poll/internal/pace"
)

const (
	// bound is how long a call waits for what is shared, unless it is within patience of the
	// beginning, when many begin together.
	bound = 500 * time.Millisecond
	// farewell is how long it takes at most to give back at the end what others wait for.
	farewell = 200 * time.Millisecond
	// patience is how long an attempt to reach it takes. It outlasts one packet that is lost,
	// which is sent again after a second (RFC 6298).
	patience = 2 * time.Second
	// firstJitter is the longest wait before it is reached for the first time: a thousand
	// connections at once overrun a server.
	firstJitter = 10 * time.Millisecond
	// leastPause and mostPause bound the time between two attempts to reach it again.
	leastPause, mostPause = 200 * time.Millisecond, 30 * time.Second
	// horizon is how far ahead anything that is shared is believed.
	horizon = pace.SharedHorizon
)

// Options say how a [Fleet] is used.
type Options struct {
	// Secret keeps who can read what is shared from guessing whose limits they are. All
	// processes need the same; empty means none.
	Secret []byte
	// Note is told, once, why this process goes on alone, in words without passwords. It
	// may be called from any goroutine. Nil means that nobody is told.
	Note func(string)
	// TLS is the configuration for rediss://; nil means that of the system.
	TLS *tls.Config
}

// A Fleet is what processes share. It may be used from several goroutines.
type Fleet struct {
	engine  engine
	keys    keyer
	answers answerKeyer
	note    func(string)
	where   string // without passwords

	begun   time.Time
	reached chan struct{} // closed once it was tried to reach the engine
	closed  context.Context
	close   context.CancelFunc

	releases sync.WaitGroup // that are under way

	mu    sync.Mutex
	up    bool
	told  bool
	pause time.Duration // before the next attempt to reach it
}

// An engine keeps the records of places, and takes the steps from one to the next.
type engine interface {
	connect(context.Context) error
	// step takes one step before the context, which has a deadline, is done.
	step(context.Context, string, pace.Rules, pace.Call) (pace.Reply, error)
	list(context.Context) ([]record, error)
	// swap looks at what is shared of a question, with the answer if that began after known,
	// and makes of it what change returned last, at a time of its clock.
	swap(ctx context.Context, name string, g guess, change func(sheet) *edit) (at int64, err error)
	// watch tells the watched what becomes of them, as soon as it can, until ctx is done.
	watch(ctx context.Context, w *watched)
	close()
}

// A record is what an engine has under a key, at a time of its clock.
type record struct {
	key, text string
	now       int64
}

// Open returns the fleet of those who name the same place: a directory, which is created,
// redis://HOST, rediss://HOST, with encryption, or unix:///PATH, each of them with
// USER:PASSWORD@ before HOST and a database behind it if need be. An error means that where
// can never be right; it has no password. Otherwise it is reached in the background.
func Open(where string, o Options) (*Fleet, error) {
	e, shown, err := open(where, o)
	if err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	return start(e, shown, o)
}

func open(where string, o Options) (e engine, shown string, err error) {
	scheme, _, isURL := strings.Cut(where, "://")
	switch {
	case where == "":
		return nil, "", errors.New("a directory, redis://HOST or rediss://HOST is needed")
	case !isURL:
		return openDirectory(where)
	case scheme == "redis" || scheme == "rediss" || scheme == "unix":
		a, err := readAddress(where, o)
		if err != nil {
			return nil, "", err
		}
		return newRedisEngine(a), a.words, nil
	}
	return nil, "", errors.New("it is none of a directory, redis://, rediss:// and unix:///")
}

// openDirectory refuses what has to be an error of the command line. A word that may be an
// address, and have a password, is not repeated, nor made a directory.
func openDirectory(where string) (engine, string, error) {
	if _, err := os.Stat(where); err != nil && looksLikeAddress(where) {
		return nil, "", errors.New("there is no directory of that name; for a Redis, write redis:// before HOST:PORT, or unix:// before /PATH")
	}
	if err := lockedfile.CheckDirectory(where); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, "", err
	}
	return directory(where), where, nil
}

// looksLikeAddress reports whether a word is a URL of which a slash is missing, or HOST:PORT,
// or has USER:PASSWORD@.
func looksLikeAddress(where string) bool {
	where = where[len(filepath.VolumeName(where)):] // C: is no user
	scheme, _, hasColon := strings.Cut(where, ":")
	at := strings.LastIndex(where, "@") + 1
	host, port, _ := strings.Cut(where[at:], ":")
	isPort := len(host) > 1 && port != "" && strings.Trim(port, "0123456789") == ""
	return hasColon && slices.Contains([]string{"redis", "rediss", "unix"}, strings.ToLower(scheme)) ||
		strings.Contains(where[:at], ":") || isPort && !strings.Contains(host, "/")
}

func start(e engine, where string, o Options) (*Fleet, error) {
	keys, err := newKeyer(o.Secret, "names of limits, 1")
	if err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	answers, err := newAnswerKeyer(o.Secret)
	if err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	f := &Fleet{engine: e, keys: keys, answers: answers, note: o.Note, where: where, begun: time.Now(), reached: make(chan struct{}), pause: leastPause}
	f.closed, f.close = context.WithCancel(context.Background())
	go func() {
		defer close(f.reached)
		if !f.sleep(rand.N(firstJitter)) {
			return
		}
		if f.connect(patience) != nil {
			go f.reconnect()
		}
	}()
	return f, nil
}

// Close gives back what the fleet holds. Its limiters then go on alone.
func (f *Fleet) Close() {
	released := make(chan struct{})
	go func() {
		f.releases.Wait()
		close(released)
	}()
	select {
	case <-released:
	case <-time.After(farewell):
	}
	f.close()
	f.mu.Lock()
	f.up, f.told = false, true
	f.mu.Unlock()
	go f.engine.close() // a call may still be waiting for an answer
}

// step takes a step at a place, unless this process is alone.
func (f *Fleet) step(key string, r pace.Rules, c pace.Call) (reply pace.Reply, shared bool) {
	shared = f.call(func(ctx context.Context) (err error) {
		reply, err = f.engine.step(ctx, key, r, c)
		return err
	})
	return reply, shared
}

// call calls the engine, unless this process is alone, or is so from then on.
func (f *Fleet) call(do func(context.Context) error) (shared bool) {
	<-f.reached
	f.mu.Lock()
	up := f.up
	f.mu.Unlock()
	if !up {
		f.tell(context.DeadlineExceeded) // unless it is known why
		return false
	}
	within := max(bound, time.Until(f.begun.Add(patience)))
	ctx, cancel := context.WithTimeout(f.closed, within)
	defer cancel()
	if err := do(ctx); err != nil {
		f.lose(err)
		return false
	}
	f.mu.Lock()
	f.pause = leastPause
	f.mu.Unlock()
	return true
}

// lose notes that the engine cannot be used for now.
func (f *Fleet) lose(err error) {
	f.tell(err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.up && f.closed.Err() == nil {
		f.up = false
		go f.reconnect()
	}
}

// connect reaches the engine.
func (f *Fleet) connect(within time.Duration) error {
	ctx, cancel := context.WithTimeout(f.closed, within)
	defer cancel()
	if err := f.engine.connect(ctx); err != nil {
		f.tell(err)
		return err
	}
	f.mu.Lock()
	f.up = f.closed.Err() == nil
	f.mu.Unlock()
	if f.closed.Err() != nil {
		f.engine.close()
	}
	return nil
}

// reconnect tries until the engine is reached.
func (f *Fleet) reconnect() {
	for {
		f.mu.Lock()
		pause := f.pause
		f.pause = min(2*pause, mostPause)
		f.mu.Unlock()
		if !f.sleep(pause/2+rand.N(pause)) || f.connect(patience) == nil {
			return
		}
	}
}

// sleep reports whether the fleet is still open after a time.
func (f *Fleet) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.closed.Done():
		return false
	}
}

// say tells something about what is shared.
func (f *Fleet) say(note string) {
	if f.note != nil && f.closed.Err() == nil {
		f.note(note)
	}
}

// tell says once why this process goes on alone.
func (f *Fleet) tell(err error) {
	f.mu.Lock()
	told := f.told || f.closed.Err() != nil
	f.told = true
	f.mu.Unlock()
	if told {
		return
	}
	why := err.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		why = "it does not answer in time"
	}
	f.say(fmt.Sprintf("%s cannot be shared for now, and this process goes on alone: %s", f.where, why))
}

// A Limit is what a fleet shares about a place.
type Limit struct {
	Key    string        // see [Fleet.Key]
	Closed time.Duration // for how long the place is closed, 0 if it is open
	// PerSecond is how many attempts a second the place gets at most from now on or, if it
	// is closed, from its opening on; 0 means that no limit is known. Who shares it may have
	// been given a lower one.
	PerSecond float64
	Queue     time.Duration // until the slot after the newest one
}

// Key returns the key of a place, of which [Limiter.Key] has returned text.
func (f *Fleet) Key(text string) string { return f.keys.name([]byte(text)) }

// List returns what is shared now. What is there besides is left out.
func (f *Fleet) List(ctx context.Context) ([]Limit, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*bound)
	defer cancel()
	records, err := f.engine.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list what %s shares: %w", f.where, err)
	}
	var limits []Limit
	for _, r := range records {
		state, ok := pace.Parse(r.text)
		if !ok || !isName(r.key) {
			continue
		}
		outlook := state.Step(pace.Rules{Horizon: horizon}, r.now, pace.Call{Op: pace.Look})
		l := Limit{Key: r.key, PerSecond: outlook.Rate, Queue: pace.Duration(max(0, state.Last-r.now))}
		if outlook.Closed != 0 {
			l.Closed = pace.Duration(outlook.Closed - r.now)
		}
		limits = append(limits, l)
	}
	return limits, nil
}
