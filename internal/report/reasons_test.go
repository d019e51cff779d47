package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func TestReasons(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ a, b, want string }{
		{"progress 41%", "progress 7%", "progress …%"},
		{".progress is 4, want == 100", ".progress is 40, want == 100", ".progress is …, want == 100"},
		{"took 1m30s.", "took 45.5s.", "took …."},
		{"connect to 10.0.0.7:8080: refused", "connect to 10.0.0.8:8080: refused", "connect to …:8080: refused"},
		{"job f47ac10b-58cc-4372-a567-0e02b2c3d479 waits", "job 0b2c7d11-9f3e-4a21-8c55-1d2e3f4a5b6c waits", "job … waits"},
		{"pod web-7d9f-abcde is pending", "pod web-7d9f-fghij is pending", "pod … is pending"},
		{"node7 is down", "node12 is down", "node… is down"},
		{"HTTP 503", "HTTP 502", ""},
		{"exit 3: line 7", "exit 3: line 8", "exit 3: line …"},
		{"exit 3", "exit 4", ""},
		{`.state is "queued"`, `.state is "running"`, ""},
	} {
		var r reasons
		a, b := r.find(test.a), r.find(test.b)
		switch {
		case test.want == "" && a == b:
			t.Errorf("%q and %q are one reason", test.a, test.b)
		case test.want != "" && (a != b || a.text("…") != test.want):
			t.Errorf("%q and %q are %q and %q, want %q", test.a, test.b, a.text("…"), b.text("…"), test.want)
		}
	}
}

// However many reasons there are, few are kept, and none that no target has.
func TestReasons_bounded(t *testing.T) {
	t.Parallel()
	g := newGroup(3 * maxReasons)
	look := func(n int, reason string) {
		g.update(poll.Event{Kind: poll.EventAttempt, N: n, At: time.Now(), Verdict: verdict(status.NotReady, "", reason)})
	}
	word := func(n int) string { return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(n)) }
	for n := range 2 * maxReasons {
		look(n+1, word(n))
	}
	if n := len(g.reasons.byKey); n != maxReasons+1 {
		t.Errorf("%d reasons are kept, want %d and one for the others", n, maxReasons)
	}
	if most := g.commonest(1)[0]; most.waiting != maxReasons || most.text("…") != "other reasons" {
		t.Errorf("have %d of %q", most.waiting, most.text("…"))
	}
	for n := range 4 * maxReasons {
		look(n%(2*maxReasons)+1, "the same")
	}
	if n := len(g.reasons.byKey); n != 1 {
		t.Errorf("%d reasons are kept, though all targets have one", n)
	}
}

// A line that stands alone is shown as it is, and its own reason is found again.
func FuzzReasons(f *testing.F) {
	for _, s := range []string{"", "1", "HTTP 503", "a1b2c3d4e5", "1.2.3.", "....", "é7", "exit 3x", "_1-", "9é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := oneLine(s)
		var r reasons
		one := r.find(line)
		if have := one.text("…"); have != line {
			t.Errorf("%q is shown as %q", line, have)
		}
		if r.find(line) != one || len(r.byKey) != 1 {
			t.Errorf("%q has %d reasons", line, len(r.byKey))
		}
	})
}

func TestRate(t *testing.T) {
	t.Parallel()
	var r rate
	for tenth := range 30 {
		r.add(time.Duration(tenth) * 100 * time.Millisecond)
	}
	for at, want := range map[time.Duration]float64{3 * time.Second: 10} {
		if have := r.perSecond(at); have != want {
			t.Errorf("at %v: have %v, want %v", at, have, want)
		}
	}
	for _, step := range []struct {
		at   time.Duration
		want float64
	}{{5 * time.Second, 6}, {7500 * time.Millisecond, 2}, {20 * time.Second, 0}, {21 * time.Second, 0}} {
		if have := r.perSecond(step.at); have != step.want {
			t.Errorf("at %v: have %v, want %v", step.at, have, step.want)
		}
	}
	if have := new(rate).perSecond(900 * time.Millisecond); have != 0 {
		t.Errorf("within the first second: have %v", have)
	}
}

// An attempt that several targets share is counted once.
func TestGroup_sharedAttempts(t *testing.T) {
	t.Parallel()
	g, began := newGroup(3), time.Now()
	for look := range 4 {
		answer := httpAnswer(200, "{}")
		for n := range 3 {
			at := time.Duration(look) * time.Second
			g.update(poll.Event{Kind: poll.EventAttempt, N: n + 1, At: began.Add(at), Elapsed: at, Observation: answer, Verdict: notReady("x")})
		}
	}
	if have := g.rate.perSecond(4 * time.Second); have != 1 {
		t.Errorf("%v attempts a second, want 1", have)
	}
}
