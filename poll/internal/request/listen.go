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

// eventStream is the media type of server-sent events.
const eventStream = "text/event-stream"

// acceptedStreams is the Accept of a request with Stream.
const acceptedStreams = eventStream + ", application/x-ndjson, application/json;q=0.9, */*;q=0.1"

const (
	// maxQuiet is the time without any byte after which poll requests a stream again, because its server may be gone.
	maxQuiet = time.Minute
	// lastQuiet is the shortest such time close to the deadline. lastRequest is the time that is kept for a last request
	// before the deadline.
	lastQuiet, lastRequest = 5 * time.Second, 2 * time.Second
)

// errQuiet is the cause of the end of a stream that sends no bytes.
var errQuiet = errors.New("the stream is silent")

// A listener reads a response that is a stream of messages.
type listener struct {
	client *client
	answer *answer
	body   io.Reader
	framer stream.Framer

	messages int           // number of messages
	allowed  time.Duration // allowed time without any byte
}

// listener returns the listener for a response, or nil if the response is not read as a stream: the request has no
// Stream, the response is not successful, or its media type is not a stream. A JSON response without a length is a
// stream of documents, unless it is the response to a start request.
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

// tell passes m to the Tell of the attempt, and returns its result. With true, m becomes the answer of the listener.
func (l *listener) tell(m stream.Message) (enough bool) {
	seen := *l.answer
	seen.Body, seen.Size, seen.Event = bytes.Clone(m.Data), m.Size, m.Event
	seen.Truncated = m.Size > int64(len(m.Data))
	l.messages++
	described := seen
	l.client.describe(&described)
	if enough = l.answer.asked.Tell(described.observation()); enough {
		*l.answer = seen
	}
	return enough
}

// listen reads the stream until a message decides the wait, and returns that message. If the stream ends earlier, it
// returns a failure. own is the context of the request, and stop ends it. ctx is the context of the attempt.
func (l *listener) listen(ctx, own context.Context, stop context.CancelCauseFunc) *answer {
	quiet := time.AfterFunc(math.MaxInt64, func() { stop(errQuiet) })
	defer quiet.Stop()
	part := make([]byte, 32<<10)
	for {
		if l.allowed = quietTime(ctx); !l.answer.asked.start { // a start request is not sent again
			quiet.Reset(l.allowed)
		}
		n, err := l.body.Read(part)
		if l.framer.Write(part[:n]) {
			return l.answer
		}
		if err != nil {
			if context.Cause(own) == errQuiet {
				err = errQuiet
			}
			return l.ended(ctx, err)
		}
	}
}

// quietTime returns the allowed time without any byte, from now on. ctx is the context of the attempt.
func quietTime(ctx context.Context) time.Duration {
	if deadline, isLimited := ctx.Deadline(); isLimited {
		return min(maxQuiet, max(lastQuiet, time.Until(deadline)-lastRequest))
	}
	return maxQuiet
}

// ended returns the failure of a stream that has ended with err.
func (l *listener) ended(ctx context.Context, err error) *answer {
	a := l.client.unanswered(ctx, err, true, l.answer.asked)
	a.Ended, a.Hint, a.Quota = true, l.answer.Hint, l.answer.Quota
	if ctx.Err() != nil {
		return a
	}
	f := a.Failure
	after := " after " + words.Count(l.messages, "message")
	switch err {
	case io.EOF:
		f.Reason = "the stream ended" + after
	case io.ErrUnexpectedEOF:
		f.Reason = "the stream was cut" + after
	case errQuiet:
		f.Reason = fmt.Sprintf("the stream sent nothing for %s%s", words.Short(l.allowed), after)
	default:
		f.Reason = "the stream was cut" + after + ": " + f.Reason
	}
	f.Err = &safeError{words: f.Reason, cause: err}
	return a
}
