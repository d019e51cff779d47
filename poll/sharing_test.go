package poll_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/ask"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
)

// A counted probe can be shared. It is done from a moment on.
type counted struct {
	mu     sync.Mutex
	looks  []time.Duration // when it was looked at
	began  time.Time
	takes  time.Duration
	doneAt time.Duration
}

func (c *counted) Place() string { return "p" }

func (c *counted) Look(context.Context, poll.Attempt) status.Observation {
	c.mu.Lock()
	at := time.Since(c.began)
	c.looks = append(c.looks, at)
	c.mu.Unlock()
	time.Sleep(c.takes)
	return status.Observation{Body: fmt.Appendf(nil, `{"state":%q}`, map[bool]string{true: "done", false: "run"}[at >= c.doneAt])}
}

func (c *counted) Identity(string) []byte { return []byte("counted") }
func (c *counted) Leave() json.RawMessage { return nil }
func (c *counted) Adopt(o status.Observation, _ json.RawMessage) error {
	if bytes.Contains(o.Body, []byte("never")) {
		return errors.New("no")
	}
	return nil
}

// inDirectory shares answers in a new directory, as another process does.
func inDirectory(t *testing.T) *fleet.Fleet {
	t.Helper()
	f, err := fleet.Open(t.TempDir(), fleet.Options{Note: func(note string) { t.Error(note) }})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// together runs n pollers that share answers, each in its own goroutine as in its own process,
// and returns their outcomes.
func together(t *testing.T, n int, p func(i int) poll.Poller) []poll.Outcome {
	f := inDirectory(t)
	outcomes := make([]poll.Outcome, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			own := p(i)
			own.Answers = f
			outcomes[i], _ = own.Run(t.Context())
		})
	}
	wg.Wait()
	return outcomes
}

// What a function has made of an answer is not what others have asked for.
func TestSharedAnswers_wrapped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := &counted{began: time.Now(), takes: 300 * time.Millisecond, doneAt: time.Hour}
		done := func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
			o := next(ctx, a)
			o.Body = []byte(`{"state":"done of a part"}`)
			return o
		}
		outcomes := together(t, 10, func(i int) poll.Poller {
			p := poll.Poller{Probe: c, Rules: until(t, `.state startswith "done"`), Timeout: 10 * time.Second}
			if i%2 == 0 {
				p.Probe, p.SuccessThreshold.Times = poll.Wrap(c, done), 5
			}
			return p
		})
		for i, o := range outcomes {
			if want := map[bool]poll.Ending{true: poll.Succeeded, false: poll.TimedOut}[i%2 == 0]; o.Ending != want {
				t.Errorf("%d: %v, want %v", i, o.Ending, want)
			}
		}
	})
}

// Another's answer tells how it was when that was asked, not when it is taken.
func TestSharedAnswers_hold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const takes, hold = 4 * time.Second, 12 * time.Second
		c := &counted{began: time.Now(), takes: takes}
		outcomes := together(t, 5, func(i int) poll.Poller {
			return poll.Poller{Probe: c, Rules: until(t, `.state == "done"`), SuccessThreshold: poll.Threshold{For: hold}, Schedule: backoff.Fixed(time.Second), Timeout: time.Minute}
		})
		for i, o := range outcomes {
			shows := func(look time.Duration) bool {
				return look >= c.looks[0]+takes+hold && look+takes <= o.Elapsed
			}
			if o.Ending != poll.Succeeded || !slices.ContainsFunc(c.looks, shows) {
				t.Errorf("%d: %v after %s, looks at %v", i, o.Ending, o.Elapsed, c.looks)
			}
		}
	})
}

// What a thousand want to know is asked as often as one would ask, and all see the end of it
// when the first does.
func TestSharedAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		began := time.Now()
		c := &counted{began: began, takes: 300 * time.Millisecond, doneAt: time.Minute}
		outcomes := together(t, 100, func(i int) poll.Poller {
			return poll.Poller{Probe: c, Rules: until(t, `.state=="done"`), Timeout: 10 * time.Minute, Rand: rand.New(rand.NewPCG(uint64(i), 1))}
		})
		taken := 0
		for i, o := range outcomes {
			if o.Ending != poll.Succeeded || (o.Elapsed-outcomes[0].Elapsed).Abs() > 2*time.Second {
				t.Errorf("%d: %v after %s, the first after %s", i, o.Ending, o.Elapsed, outcomes[0].Elapsed)
			}
			taken += o.State.Taken
			if o.State.Attempts-o.State.Taken < 0 || o.State.Unshared != 0 {
				t.Errorf("%d: %d attempts, %d taken, %d alone", i, o.State.Attempts, o.State.Taken, o.State.Unshared)
			}
		}
		alone := &counted{began: time.Now(), takes: 300 * time.Millisecond, doneAt: time.Minute}
		(&poll.Poller{Probe: alone, Rules: until(t, `.state=="done"`), Timeout: 10 * time.Minute}).Run(t.Context())
		if len(c.looks) > len(alone.looks)+1 {
			t.Errorf("asked %d times, one asks %d times:\n%v\n%v", len(c.looks), len(alone.looks), c.looks, alone.looks)
		}
		if want := 100*outcomes[0].State.Attempts - len(c.looks); taken < want*9/10 {
			t.Errorf("%d of %d attempts were another's", taken, want)
		}
	})
}

// A wait says that another asks.
func TestSharedAnswers_events(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := &counted{began: time.Now(), takes: 2 * time.Second}
		own := poll.Poller{Probe: c, Rules: until(t, `.state=="done"`), Schedule: backoff.Fixed(time.Second), Answers: inDirectory(t), Timeout: time.Minute}
		go own.Run(t.Context())
		time.Sleep(500 * time.Millisecond)
		var held int
		var told []string
		for e := range own.Events(t.Context()) {
			if e.HeldBy == "another" {
				held++
			} else {
				told = append(told, strings.Fields(line(e))[1])
			}
		}
		if have := strings.Join(told, " "); have != "wait start attempt end" || held < 2 {
			t.Errorf("have %s, held %d times", have, held)
		}
	})
}

// What is forged, or of another version, is as if there were no answer.
func TestSharedAnswers_unreadable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", "null", `{"v":1,"observation":{}}`, `{"v":3,"observation":{"failure":{}}}`,
		`{"v":3,"observation":{"following":{"start":true}}}`, `{"v":3,"observation":{"body":"bmV2ZXI="}}`} {
		synctest.Test(t, func(t *testing.T) {
			c := &counted{began: time.Now()}
			b := forging(text)
			p := poll.Poller{Probe: c, Rules: until(t, `.state=="done"`), Answers: b, Timeout: time.Minute}
			o, err := p.Run(t.Context())
			if err != nil || len(c.looks) != 1 || o.State.Taken != 0 || o.State.Unshared != 1 {
				t.Errorf("%q: %v, looks at %v, %d taken, %d alone", text, err, c.looks, o.State.Taken, o.State.Unshared)
			}
		})
	}
}

// A run that goes on from another has its place in the schedule, too.
func TestSharedAnswers_resumed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := &counted{began: time.Now(), doneAt: time.Hour}
		p := poll.Poller{Probe: c, Rules: until(t, `.state=="done"`), Answers: inDirectory(t), Timeout: 30 * time.Second}
		first, _ := p.Run(t.Context())
		before := len(c.looks)
		p.Past, p.Start = &first.State, time.Now()
		p.Run(t.Context())
		if looks := c.looks[before:]; len(looks) == 0 || len(looks) > 4 {
			t.Errorf("after %d looks, %d more in 30 s: %v", before, len(looks), looks)
		}
	})
}

// forging is Answers whose only answer is a text.
type forging []byte

func (f forging) Question(string, []byte, func(int, float64) time.Duration, int) ask.Question {
	return forgery(f)
}

type forgery []byte

func (f forgery) Claim(time.Time) ask.Turn  { return ask.Turn{Answer: f} }
func (f forgery) Answered([]byte) time.Time { return time.Time{} }
func (f forgery) Close()                    {}

// What is followed survives a change of who asks. The entity tag is everybody's own.
func TestSharedAnswers_session(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var sent []string
		transport := roundTrip(func(r *http.Request) *http.Response {
			sent = append(sent, r.URL.Path+r.Header.Get("If-None-Match"))
			answer := &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"1"`}}, Body: io.NopCloser(strings.NewReader(`{"state":"run","at":"/now"}`))}
			switch {
			case len(sent) == 6:
				answer.Body = io.NopCloser(strings.NewReader(`{"state":"done"}`))
			case r.Header.Get("If-None-Match") != "":
				answer.StatusCode, answer.Body = 304, http.NoBody
			}
			return answer
		})
		together(t, 2, func(i int) poll.Poller {
			request := poll.HTTP{URL: "https://api.example.com/job", Follow: ".at", Transport: connect.Known{RoundTripper: transport, ID: "here"}}
			// They take turns.
			return poll.Poller{Probe: request, Rules: until(t, `.state=="done"`), Timeout: time.Minute,
				Schedule: alternating{i}}
		})
		want := `/job /job /now /now /now"1" /now"1"` // what says where to look is a start
		slices.Sort(sent)
		if got := strings.Join(sent, " "); got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	})
}

// alternating is a schedule by which one of two is first at every other attempt.
type alternating struct{ i int }

func (a alternating) Wait(s backoff.Step, _ *rand.Rand) time.Duration {
	return time.Second + time.Duration((s.N+a.i)%2)*100*time.Millisecond
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := f(r)
	answer.Request = r
	return answer, nil
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	base := poll.HTTP{URL: "https://me:pw@api.example.com/job?id=1"}
	identity := func(h poll.HTTP, name string) string {
		return string(h.Session().(interface{ Identity(string) []byte }).Identity(name))
	}
	known := map[string]string{}
	for what, change := range map[string]func(*poll.HTTP){
		"base":                      func(*poll.HTTP) {},
		"url":                       func(h *poll.HTTP) { h.URL = "https://me:pw@api.example.com/job?id=2" },
		"header":                    func(h *poll.HTTP) { h.Header = http.Header{"Authorization": {"Bearer t"}} },
		"a Latin-1 e with an acute": func(h *poll.HTTP) { h.Header = http.Header{"X-Key": {"caf\xe9"}} },
		"one with a grave":          func(h *poll.HTTP) { h.Header = http.Header{"X-Key": {"caf\xe8"}} },
		"connection":                func(h *poll.HTTP) { h.Transport = connect.Known{RoundTripper: http.DefaultTransport, ID: "y"} },
		"redirects":                 func(h *poll.HTTP) { h.MaxRedirects = -1 },
		"trust":                     func(h *poll.HTTP) { h.LocationTrusted = true },
		"size":                      func(h *poll.HTTP) { h.MaxBody = 5 },
		"next":                      func(h *poll.HTTP) { h.Next = "auto" },
		"follow":                    func(h *poll.HTTP) { h.Follow = ".url" },
	} {
		h := base
		change(&h)
		i := identity(h, "")
		if other, again := known[i]; again || i == "" {
			t.Errorf("%s is as %s: %q", what, other, i)
		}
		known[i] = what
		if named := identity(h, "n"); named == i {
			t.Errorf("%s: a name makes no difference", what)
		}
	}
	for what, h := range map[string]poll.HTTP{
		"a start":            {URL: base.URL, Method: "POST"},
		"a body":             {URL: base.URL, Method: "GET", Body: []byte("x"), Follow: "none"},
		"an unknown way":     {URL: base.URL, Transport: roundTrip(nil)},
		"renewed credential": {URL: base.URL, Refresh: func(context.Context, bool) (http.Header, error) { return nil, nil }},
		"a page by $ENV":     {URL: base.URL, Next: "?t={$ENV.T}&n={.next}", LookupEnv: func(string) (string, bool) { return "t", true }},
		"many":               {URL: base.URL, Follow: ".id", FollowEach: true},
	} {
		if got := identity(h, ""); got != "" {
			t.Errorf("%s can be shared: %s", what, got)
		}
	}
	query := poll.HTTP{URL: base.URL, Method: "POST", Body: []byte("x"), Follow: "none"}
	if identity(query, "") != "" || identity(query, "n") == "" {
		t.Error("a request with a body is shared without a name, or not with one")
	}
	command := func(name string, args ...string) string {
		return string(poll.Command{Args: args}.Session().(interface{ Identity(string) []byte }).Identity(name))
	}
	in := func(dir string, env ...string) string {
		c := poll.Command{Args: []string{"cat", "state.json"}, Dir: dir, Env: env}
		return string(c.Session().(interface{ Identity(string) []byte }).Identity("n"))
	}
	if in("a") == in("b") || in("") != in(".") {
		t.Error("what is read in one directory is as in another")
	}
	if in("", "A=1") == in("", "A=2") || in("", "A=1") == in("") {
		t.Error("an environment makes no difference")
	}
	if in("", append(os.Environ(), "POLL_X=1")...) != in("") {
		t.Error("what is inherited, or about the run, makes a difference")
	}
	if command("", "true") != "" || command("n", "true") == "" || command("n", "true") == command("m", "true") ||
		command("n", "a", "b c") == command("n", "a b", "c") {
		t.Error("a command without a name is shared, or one is another")
	}
	short := poll.Command{Args: []string{"true"}, MaxBody: 5}.Session().(interface{ Identity(string) []byte })
	if string(short.Identity("n")) == command("n", "true") {
		t.Error("an answer of which less is kept is shared")
	}
}

// A place that others have closed until the deadline ends one run, too.
func TestPollerLimiter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := after("a", 0)
		p.Probe, p.Timeout = placed{p.Probe.(poll.ProbeFunc), "p"}, 5*time.Second
		p.Limiter = &spaced{known: map[string]*spacedPlace{"p": {closed: time.Now().Add(time.Minute), reason: "busy"}}}
		o, err := p.Run(t.Context())
		if want := "p is closed for 1m (busy), and 5s are left before the deadline"; !errors.Is(err, poll.HintTooLong) || o.Reason != want {
			t.Errorf("%v: have %s, want %s", err, o.Reason, want)
		}
	})
}

// A target with a Limiter of its own holds up no other at the same place.
func TestGroupOwnLimiters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		looks := make(map[string]int)
		var mu sync.Mutex
		target := func(name string, perSecond float64) poll.Poller {
			probe := placed{func(ctx context.Context, _ poll.Attempt) status.Observation {
				mu.Lock()
				defer mu.Unlock()
				looks[name]++
				return poll.Observe(ctx, nil, errors.New("not yet"))
			}, "p"}
			return poll.Poller{Target: name, Probe: probe, Limiter: &poll.Pacer{PerSecond: perSecond, Known: true}, Schedule: backoff.Fixed(time.Second)}
		}
		g := poll.Group{Timeout: time.Minute}
		g.Run(t.Context(), slices.Values([]poll.Poller{target("slow", 0.05), target("quick", 10)}))
		if looks["slow"] > 3 || looks["quick"] < 55 {
			t.Errorf("looks: %v", looks)
		}
	})
}

// Whatever is read as an answer of another, the wait goes on.
func FuzzSharedAnswer(f *testing.F) {
	f.Add([]byte(`{"v":3,"observation":{"Kind":2,"Code":200,"Body":"e30="},"left":{"kept":{"at":"https://x/"},"etag":"1"}}`))
	f.Add([]byte(`{"v":3,"observation":{"Kind":2,"Code":503,"Hint":{"Wait":-5},"Quota":{"Reset":0},"Stages":{"Took":[1]}}}`))
	f.Add([]byte(`{"v":3,"observation":{"Kind":2,"Code":200,"Presence":9,"Following":{"Monitor":77},"Page":-1,"Pages":[""]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		transport := roundTrip(func(*http.Request) *http.Response {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}
		})
		p := poll.Poller{
			Probe:   poll.HTTP{URL: "https://api.example.com/job", Transport: connect.Known{RoundTripper: transport, ID: "here"}},
			Answers: forging(text), Immediate: true, MaxAttempts: 2, Schedule: backoff.Fixed(0),
		}
		if o, _ := p.Run(t.Context()); o.State.Attempts == 0 {
			t.Errorf("%q: %v", text, o.Reason)
		}
	})
}

// Who is interrupted while it asks leaves that to another at once.
func TestSharedAnswers_interrupted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := inDirectory(t)
		probe := stoppable{&counted{began: time.Now(), takes: time.Minute}}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		p := poll.Poller{Probe: probe, Answers: f, Schedule: backoff.Fixed(time.Second)}
		p.Run(ctx)
		other := f.Question("p", probe.Identity(""), func(int, float64) time.Duration { return time.Second }, 0)
		defer other.Close()
		for n := 0; !other.Claim(time.Now()).Ask; n++ {
			if time.Sleep(100 * time.Millisecond); n == 50 {
				t.Fatal("it is not another's turn")
			}
		}
	})
}

// A stoppable probe ends with its context.
type stoppable struct{ *counted }

func (s stoppable) Look(ctx context.Context, _ poll.Attempt) status.Observation {
	<-ctx.Done()
	return status.Observation{Failure: &status.Failure{Kind: status.FailureStopped, Reason: "stopped"}}
}

// Another who asks, and does not end, holds nobody beyond the last look.
func TestSharedAnswers_hangs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := &counted{began: time.Now()}
		f := inDirectory(t)
		other := f.Question("p", c.Identity(""), func(int, float64) time.Duration { return time.Second }, 0)
		other.Claim(time.Now()) // and never answers
		defer other.Close()
		p := poll.Poller{Probe: c, Rules: until(t, `.state=="done"`), Answers: f, Schedule: backoff.Fixed(time.Second), Timeout: 4 * time.Second}
		if o, err := p.Run(t.Context()); err != nil || o.Elapsed < 2*time.Second {
			t.Errorf("%v: ended after %s", err, o.Elapsed)
		}
	})
}

// An answer that was asked for during the initial delay does not count.
func TestSharedAnswers_initialDelay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := inDirectory(t)
		other := f.Question("p", (&counted{}).Identity(""), func(int, float64) time.Duration { return time.Second }, 0)
		go func() {
			time.Sleep(3 * time.Second)
			other.Claim(time.Now())
			other.Answered([]byte(`{"v":3,"observation":{"body":"eyJzdGF0ZSI6ImRvbmUifQ=="}}`)) // {"state":"done"}
		}()
		c := &counted{began: time.Now(), doneAt: 10 * time.Second}
		p := poll.Poller{Probe: c, Rules: until(t, `.state=="done"`), Answers: f, InitialDelay: 5 * time.Second, Immediate: true, Schedule: backoff.Fixed(time.Second)}
		if o, _ := p.Run(t.Context()); o.Elapsed != 10*time.Second || o.State.Taken != 0 {
			t.Errorf("ended after %s, %d taken", o.Elapsed, o.State.Taken)
		}
	})
}

// Each answer counts once, whoever has common.
func TestSharedAnswers_threshold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := &counted{began: time.Now()}
		outcomes := together(t, 3, func(int) poll.Poller {
			return poll.Poller{Probe: c, Rules: until(t, `.state=="done"`), SuccessThreshold: poll.Threshold{Times: 3}, Schedule: backoff.Fixed(time.Second), Timeout: time.Minute}
		})
		for _, o := range outcomes {
			if o.State.Attempts != 3 || o.Elapsed > 4*time.Second {
				t.Errorf("%d attempts in %s", o.State.Attempts, o.Elapsed)
			}
		}
		if len(c.looks) > 4 {
			t.Errorf("looks at %v", c.looks)
		}
	})
}
