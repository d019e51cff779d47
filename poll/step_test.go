package poll_test

import (
	"context"
	"encoding/json"
	"iter"
	"testing"
	"time"

	"github.com/pollcli/poll/poll"
)

// steps waits by steps. What they pass on goes through JSON.
func steps(t *testing.T, p *poll.Poller, ctx context.Context) iter.Seq[poll.Event] {
	return func(yield func(poll.Event) bool) {
		kept := []byte(`{"v":1}`)
		for {
			var state poll.State
			if err := json.Unmarshal(kept, &state); err != nil {
				t.Errorf("%v: %s", err, kept)
				return
			}
			state, events := p.Step(ctx, state)
			for _, e := range events {
				if !yield(e) || e.Kind == poll.EventEnd {
					return
				}
			}
			var err error
			if kept, err = json.Marshal(state); err != nil {
				t.Error(err)
				return
			}
			last := events[len(events)-1]
			due := last.NextAt
			if d := last.Deadline; !d.IsZero() && d.Before(due) {
				due = d
			}
			sleep(ctx, time.Until(due))
		}
	}
}

// Every conversation goes the same way by steps. A State holds no cookies and no
// validators; and a result that is not there yet is looked for where the operation's status
// is.
func TestConversations_bySteps(t *testing.T) {
	t.Parallel()
	otherwise := map[string]bool{
		"conditional": true,
		"cookies":     true,
		"the result is looked for until the attempts are used up": true,
		"the result is looked for until it is there":              true,
		"a page that a redirect led to is not the result":         true,
	}
	converse(t, func(t *testing.T, c conversation) {
		if otherwise[c.file] || otherwise[c.name] {
			t.SkipNow()
		}
		c.run(t, func(p *poll.Poller, ctx context.Context) iter.Seq[poll.Event] { return steps(t, p, ctx) })
	})
}
