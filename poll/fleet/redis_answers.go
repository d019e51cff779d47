package fleet

import (
	"context"
	_ "embed"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

//go:embed swap.lua
var swapText string

const (
	// listenerPing is how often a connection that only listens is tried.
	listenerPing = 20 * time.Second
	// mostSubscriptions is how many are made at once.
	mostSubscriptions = 500
)

func (e *redisEngine) swap(ctx context.Context, name string, g guess, change func(sheet) *edit) (at int64, err error) {
	look := []any{answerKey(name), answerChannel(name), g.known}
	args := look
	if g.sheet != nil {
		args = editArgs(look, *g.sheet, g.sheet.state.Record(), change(*g.sheet))
	}
	for {
		text, err := e.run(ctx, e.swaps, 2, args...)
		if err != nil {
			return 0, err
		}
		s, record, done, err := readSheet(text)
		if err != nil || done {
			return s.now, err
		}
		made := change(s)
		if made == nil {
			return s.now, nil
		}
		args = editArgs(look, s, record, made)
	}
}

// editArgs returns the arguments of an edit of a sheet that has a record; those of a look if
// there is none.
func editArgs(look []any, s sheet, record string, made *edit) []any {
	if made == nil {
		return look
	}
	keep, tell := (made.state.Keep(s.now)+999)/1000, 0
	if made.tell {
		tell = 1
	}
	args := append(look[:3:3], record, made.state.Record(), keep, tell)
	if made.sealed != nil {
		args = append(args, made.sealed)
	}
	return args
}

// answerKey names what is shared of a question.
func answerKey(name string) string { return "poll:1:{" + name + "}:a" }

// answerChannel names where its answers are published.
func answerChannel(name string) string { return "poll:1:{" + name + "}:c" }

// questionOf returns the name of a question from that of its channel.
func questionOf(channel string) string {
	before, after, _ := strings.Cut(answerChannel("*"), "*")
	return strings.TrimSuffix(strings.TrimPrefix(channel, before), after)
}

// watch listens on a connection of its own, since one that listens does nothing else. Who
// cannot listen learns of answers when it claims.
func (e *redisEngine) watch(ctx context.Context, w *watched) {
	for pause := leastPause; ctx.Err() == nil; pause = min(2*pause, mostPause) {
		begun := time.Now()
		e.listen(ctx, w)
		if time.Since(begun) > mostPause {
			pause = leastPause
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
		}
	}
}

// listen tells the watched what is published, until the connection is lost.
func (e *redisEngine) listen(ctx context.Context, w *watched) {
	reach, cancel := context.WithTimeout(ctx, patience)
	conn, err := e.dial(reach, true)
	cancel()
	if err != nil {
		return
	}
	listener := redis.PubSubConn{Conn: conn}
	ctx, cancel = context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		subscribe(ctx, listener, w)
		conn.Close() // which ends what is received
	}()
	defer func() { <-stopped }()
	defer cancel()
	for {
		switch said := listener.ReceiveWithTimeout(2 * listenerPing).(type) {
		case error:
			return
		case redis.Message:
			if s, _, _, err := readSheet(string(said.Data)); err == nil {
				w.tell(questionOf(said.Channel), s)
			}
		case redis.Subscription:
			// What came before that was lost.
			if said.Kind == "subscribe" && !w.look(questionOf(said.Channel)) {
				return
			}
		}
	}
}

// subscribe subscribes to what is watched until ctx is done.
func subscribe(ctx context.Context, listener redis.PubSubConn, w *watched) {
	ping := time.NewTicker(listenerPing)
	defer ping.Stop()
	var subscribed map[string]bool
	for {
		names := w.names()
		var more, fewer []any
		for name := range names {
			if !subscribed[name] {
				more = append(more, answerChannel(name))
			}
		}
		for name := range subscribed {
			if !names[name] {
				fewer = append(fewer, answerChannel(name))
			}
		}
		if inParts(more, listener.Subscribe) != nil || inParts(fewer, listener.Unsubscribe) != nil {
			return
		}
		subscribed = names
		select {
		case <-ctx.Done():
			return
		case <-w.changed:
		case <-ping.C:
			if listener.Ping("") != nil {
				return
			}
		}
	}
}

// inParts does something with all channels, of which there may be many. Unsubscribing from
// none would mean all.
func inParts(channels []any, do func(...any) error) error {
	for len(channels) > 0 {
		n := min(len(channels), mostSubscriptions)
		if err := do(channels[:n]...); err != nil {
			return err
		}
		channels = channels[n:]
	}
	return nil
}
