package request

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/stream"
)

// eventStream is the type of a response that is a stream of events.
const eventStream = "text/event-stream"

// acceptedStreams are the types that a Stream asks for.
const acceptedStreams = eventStream + ", application/x-ndjson, application/json;q=0.9, */*;q=0.1"

const (
	// defaultQuiet is how long a stream may say nothing at all before it is asked for again, since its server may be
	// gone. If it shows heartbeats, it may miss three, but within these limits.
	defaultQuiet       = time.Minute
	minQuiet, maxQuiet = 10 * time.Second, 3 * time.Minute
	// lastQuiet is how long it may say nothing shortly before the deadline. lastLook is kept then.
	lastQuiet, lastLook = 5 * time.Second, 2 * time.Second
	// heartbeat is how long a part may be, in bytes, that completes no message and is no part of a long one.
	heartbeat = 64
)

// errQuiet ends a stream that says nothing.
var errQuiet = errors.New("the stream is silent")

// A listener reads an answer that goes on.
type listener struct {
	client *client
	answer *answer
	body   io.Reader
	framer stream.Framer

	told     int // messages
	allowed  time.Duration
	lastBeat time.Time     // of the heartbeats in a row; zero if a message came after it
	longest  time.Duration // between two of them
}

// listener returns what reads an answer if that goes on, nil if it does not.
func (c *client) listener(a *answer, resp *http.Response) *listener {
	coding := resp.Header.Get("Content-Encoding")
	isPart := a.code == http.StatusPartialContent && len(c.header["Range"]) == 0
	if !c.Stream || a.asked.Tell == nil || a.asked.single || !a.Good() || isPart || coding != "" && coding != "identity" {
		return nil
	}
	l := &listener{client: c, answer: a, body: resp.Body}
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	isEndless := resp.ContentLength < 0 && !a.asked.start
	switch format := kind[strings.LastIndexAny(kind, "/+")+1:]; {
	case kind == eventStream:
		if origin := a.asked.at.origin(); c.from != origin {
			c.memory.LastID, c.from = "", origin
		}
		l.framer = stream.NewEvents(c.MaxBody, &c.memory, l.tell)
	case slices.Contains([]string{"x-ndjson", "ndjson", "jsonl", "jsonlines", "x-jsonlines"}, format):
		l.framer = stream.NewDocuments(c.MaxBody, true, l.tell)
	case format == "json-seq", format == "json" && isEndless:
		l.framer = stream.NewDocuments(c.MaxBody, false, l.tell)
	default:
		return nil
	}
	return l
}

// tell tells a message. One that is enough is the answer.
func (l *listener) tell(m stream.Message) (enough bool) {
	seen := *l.answer
	seen.Body, seen.Size, seen.Event = bytes.Clone(m.Data), m.Size, m.Event
	seen.Truncated = m.Size > int64(len(m.Data))
	l.told++
	told := seen
	l.client.describe(&told)
	if enough = l.answer.asked.Tell(told.observation()); enough {
		*l.answer = seen
	}
	return enough
}

// listen reads until a message is enough, which it returns, or the stream ends. stop ends its own context.
func (l *listener) listen(ctx, own context.Context, stop context.CancelCauseFunc) *answer {
	deadline, isLimited := ctx.Deadline()
	quiet := time.AfterFunc(math.MaxInt64, func() { stop(errQuiet) })
	defer quiet.Stop()
	part := make([]byte, 32<<10)
	for {
		if l.allowed = l.quietTime(deadline, isLimited); !l.answer.asked.start { // which is not sent again
			quiet.Reset(l.allowed)
		}
		n, err := l.body.Read(part)
		before := l.told
		if l.framer.Write(part[:n]) {
			return l.answer
		}
		l.noteBeat(n, l.told > before)
		if err != nil {
			if context.Cause(own) == errQuiet {
				err = errQuiet
			}
			return l.ended(ctx, err)
		}
	}
}

// noteBeat notes a part of n bytes if it is a heartbeat.
func (l *listener) noteBeat(n int, isMessage bool) {
	now := time.Now()
	switch {
	case n == 0 && !isMessage:
	case isMessage || n > heartbeat: // of which the parts before may have been some
		l.lastBeat, l.longest = time.Time{}, 0
	default:
		if !l.lastBeat.IsZero() {
			l.longest = max(l.longest, now.Sub(l.lastBeat))
		}
		l.lastBeat = now
	}
}

// quietTime returns how long the stream may say nothing from now on.
func (l *listener) quietTime(deadline time.Time, isLimited bool) time.Duration {
	allowed := defaultQuiet
	if l.longest > 0 {
		allowed = min(max(3*l.longest, minQuiet), maxQuiet)
	}
	if isLimited {
		allowed = min(allowed, max(lastQuiet, time.Until(deadline)-lastLook))
	}
	return allowed
}

// ended returns the answer of a stream that has ended with err.
func (l *listener) ended(ctx context.Context, err error) *answer {
	a := l.client.unanswered(ctx, err, true, l.answer.asked)
	a.Ended, a.Hint, a.Quota = true, l.answer.Hint, l.answer.Quota
	if ctx.Err() != nil {
		return a
	}
	f := a.Failure
	after := " after " + words.Count(l.told, "message")
	switch err {
	case io.EOF:
		f.Reason = "the stream ended" + after
	case io.ErrUnexpectedEOF:
		f.Reason = "the stream was cut" + after
	case errQuiet:
		f.Reason = fmt.Sprintf("the stream said nothing for %s%s", words.Short(l.allowed), after)
	default:
		f.Reason = "the stream was cut" + after + ": " + f.Reason
	}
	f.Err = &safeError{words: f.Reason, cause: err}
	return a
}
