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

// acceptedStreams is the Accept field of a request whose Stream is true.
const acceptedStreams = eventStream + ", application/x-ndjson, application/json;q=0.9, */*;q=0.1"

const (
	// maxQuiet is the longest time to wait for the next byte of a stream. After that time poll requests the stream
	// again, because the server may be gone.
	maxQuiet = time.Minute
	// Close to the deadline, poll waits a shorter time, but at least lastQuiet. It reserves lastRequest for one more
	// request before the deadline.
	lastQuiet, lastRequest = 5 * time.Second, 2 * time.Second
)

// errQuiet is the reason for canceling a stream that has sent no bytes for too long.
var errQuiet = errors.New("the stream is silent")

// A listener reads the messages of a response that is a stream.
type listener struct {
	client   *client
	response *response // the header of the response; once a message has decided the wait, also that message
	body     io.Reader
	framer   stream.Framer

	messages int           // number of messages so far
	allowed  time.Duration // longest time to wait for the next byte
}

// listener returns a listener for the stream in resp, whose header has already been read into a. It returns nil
// if resp should not be read as a stream: Stream is false, the attempt has no Message, the response is
// unsuccessful, partial or compressed, or its media type is not a stream. A JSON response without a
// Content-Length is a stream of documents, except for the response to a start request.
func (c *client) listener(a *response, resp *http.Response) *listener {
	coding := resp.Header.Get("Content-Encoding")
	isPart := a.code == http.StatusPartialContent && len(c.header["Range"]) == 0
	if !c.Stream || a.call.Message == nil || a.call.single || !a.Good() || isPart || coding != "" && coding != "identity" {
		return nil
	}
	l := &listener{client: c, response: a, body: resp.Body}
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	isEndless := resp.ContentLength < 0 && !a.call.start
	switch format := kind[strings.LastIndexAny(kind, "/+")+1:]; {
	case kind == eventStream:
		if origin := a.call.at.origin; c.from != origin {
			c.memory.LastID, c.from = "", origin
		}
		l.framer = stream.NewEvents(c.MaxBody, &c.memory, l.receive)
	case slices.Contains([]string{"x-ndjson", "ndjson", "jsonl", "jsonlines", "x-jsonlines"}, format):
		l.framer = stream.NewDocuments(c.MaxBody, true, l.receive)
	case format == "json-seq", format == "json" && isEndless:
		l.framer = stream.NewDocuments(c.MaxBody, false, l.receive)
	default:
		return nil
	}
	return l
}

// receive passes m to the attempt's Message, and returns the result. If the result is true, m becomes part of the
// listener's response.
func (l *listener) receive(m stream.Message) (enough bool) {
	seen := *l.response
	seen.Body, seen.Size, seen.Event = bytes.Clone(m.Data), m.Size, m.Event
	seen.Truncated = m.Size > int64(len(m.Data))
	l.messages++
	described := seen
	l.client.describe(&described)
	if enough = l.response.call.Message(described.observation()); enough {
		*l.response = seen
	}
	return enough
}

// listen reads the stream until a message decides the wait, and returns a response with that message. If the stream
// ends earlier, it returns a response with a failure. ctx is the context of the attempt, own is the context of the
// request, and stop cancels own.
func (l *listener) listen(ctx, own context.Context, stop context.CancelCauseFunc) *response {
	quiet := time.AfterFunc(math.MaxInt64, func() { stop(errQuiet) })
	defer quiet.Stop()
	part := make([]byte, 32<<10)
	for {
		if l.allowed = quietTime(ctx); !l.response.call.start { // a start request is never sent again, so its stream may be silent for any time
			quiet.Reset(l.allowed)
		}
		n, err := l.body.Read(part)
		if l.framer.Write(part[:n]) {
			return l.response
		}
		if err != nil {
			if context.Cause(own) == errQuiet {
				err = errQuiet
			}
			return l.ended(ctx, err)
		}
	}
}

// quietTime returns how long to wait for the next byte of a stream, from now on. ctx is the context of the attempt.
func quietTime(ctx context.Context) time.Duration {
	if deadline, isLimited := ctx.Deadline(); isLimited {
		return min(maxQuiet, max(lastQuiet, time.Until(deadline)-lastRequest))
	}
	return maxQuiet
}

// ended returns the response for a stream that has ended with err before a message decided the wait. It always has a
// Failure.
func (l *listener) ended(ctx context.Context, err error) *response {
	a := l.client.withoutResponse(ctx, err, true, l.response.call)
	a.Ended, a.RetryAfter, a.Quota = true, l.response.RetryAfter, l.response.Quota
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
