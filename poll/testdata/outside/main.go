// Command outside is a program of another module that waits in three ways.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"state":"done"}`) }))
	defer api.Close()
	if err := errors.Join(until(ctx), url(ctx, api.URL), own(ctx)); err != nil {
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

func url(ctx context.Context, u string) error {
	done, err := status.NewRule(status.Success, `.state == "done"`)
	if err != nil {
		return err
	}
	p := poll.Poller{Probe: poll.HTTP{URL: u}, Rules: status.Rules{Own: []status.Rule{done}}}
	outcome, err := p.Run(ctx)
	fmt.Println("url:", outcome.Reason)
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
