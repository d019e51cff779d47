//go:build torture && linux

package torture

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pollcli/poll/internal/httpscript"
)

// stubborn ignores signals, and so do its children.
const stubborn = `trap "" TERM INT HUP; sleep 60 & sleep 60 & wait; sleep 60`

// A kill is a wait that does not end by itself, and when it gets which signal.
type kill struct {
	name       string
	args       []string
	onTerminal bool
	moment     time.Duration
	signal     syscall.Signal
	second     time.Duration // until another signal, 0 for none
}

func kills(url string) []kill {
	return []kill{
		{name: "short attempts", args: words("--immediate --interval 1ms -- false")},
		{name: "attempts of 5 ms", args: shell("--immediate --interval 1ms", "sleep 0.005; exit 1")},
		{name: "a group", args: shell("--immediate", "sleep 60 & sleep 60 & (sleep 60; true) & wait")},
		{name: "a group that ignores signals", args: shell("--immediate --grace 30ms", stubborn)},
		{name: "a group that changes all the time", args: shell("--immediate --grace 200ms",
			"while :; do (sleep 60 & sleep 0.002 & wait $!; kill %1) & (exec sleep 0.003); done")},
		{name: "a wait", args: words("--strategy fixed --base 60s -- true")},
		{name: "a URL that never answers", args: words("--immediate", url)},
		{name: "a group that ignores signals, and a second signal", args: shell("--immediate --grace 20s", stubborn), second: 1},
	}
}

// Whenever a signal comes, poll dies of it, leaves no process behind, and the terminal as it was.
func TestKills(t *testing.T) {
	random := random(t)
	hanging := answer(t, "hang")
	planned := kills(serve(t, func(httpscript.Request) *httpscript.Answer { return hanging }))
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	for i := range 200 {
		k := planned[i%len(planned)]
		k.onTerminal = random.IntN(2) == 0
		k.moment = below(random, 150*time.Millisecond)
		k.signal = signals[random.IntN(len(signals))]
		if k.second > 0 {
			k.signal, k.second = syscall.SIGTERM, k.second+below(random, 100*time.Millisecond)
		}
		name := fmt.Sprintf("%s, %s after %s, terminal %v", k.name, unix.SignalName(k.signal), k.moment, k.onTerminal)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k.test(t)
		})
	}
}

func (k kill) test(t *testing.T) {
	var tty *terminal
	if k.onTerminal {
		tty = openTerminal(t)
	}
	w := start(t, tty, k.args...)
	time.Sleep(k.moment)
	killed := time.Now()
	w.Process.Signal(k.signal)
	if k.second > 0 {
		time.Sleep(k.second)
		w.Process.Signal(syscall.SIGINT)
	}
	e := w.finish(t)
	if e.signal != k.signal && !(k.second > 0 && e.signal == syscall.SIGINT) { // of two pending signals the system picks one
		t.Errorf("it died of %s with exit code %d, want %s", e.signal, e.code, k.signal)
	}
	if late := time.Since(killed); late > 10*time.Second {
		t.Errorf("it died %s late", late)
	}
	if tty != nil {
		tty.check(t)
	}
}
