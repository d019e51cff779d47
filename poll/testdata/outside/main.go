// Command outside is a program of another module that waits in four ways.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"state":"done"}`) }))
	defer api.Close()
	if err := errors.Join(until(ctx), get(ctx, api.URL), own(ctx), group(ctx, api.URL)); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func until(ctx context.Context) error {
	n := 0
	v, err := poll.Until(ctx, func(context.Context) (int, bool, error) {
		n++
		return n, n == 2, nil
	})
	fmt.Println("until:", v)
	return err
}

func get(ctx context.Context, url string) error {
	answer, err := poll.Get(ctx, url, `.state == "done"`)
	fmt.Println("get:", string(answer))
	return err
}

func own(ctx context.Context) error {
	p := poll.Poller{Probe: poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
		if a.Number < 2 {
			return poll.Observe(ctx, nil, errors.New("not yet"))
		}
		return poll.Observe(ctx, []byte("here"), nil)
	})}
	outcome, err := p.Run(ctx)
	fmt.Println("own:", string(outcome.Observation.Body))
	return err
}

// perSecond is a poll.Limiter, the same for all places.
type perSecond struct{ *rate.Limiter }

func (l perSecond) Next(_ string, had time.Time) (time.Time, string) {
	if had.IsZero() {
		had = time.Now().Add(l.Reserve().Delay())
	}
	return had, ""
}

func (perSecond) Done(string, poll.Result) {}

func group(ctx context.Context, url string) error {
	g := poll.Group{Limiter: perSecond{rate.NewLimiter(50, 1)}}
	targets := []poll.Poller{{Probe: poll.HTTP{URL: url + "/a"}}, {Probe: poll.HTTP{URL: url + "/b"}}}
	summary, err := g.Run(ctx, slices.Values(targets))
	fmt.Println("group:", summary.Endings[poll.Succeeded])
	return err
}
