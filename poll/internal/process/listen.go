package process

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/detail"
	"github.com/pollcli/poll/poll/internal/stream"
	"github.com/pollcli/poll/status"
)

// listen tells the messages of a program until one is enough, which it returns after the end of the program
// and of all that it has started, or until the program has ended, or ctx is done.
func (s *Session) listen(ctx context.Context, c *child) (decided *status.Observation) {
	o := &c.outputs
	defer close(o.unheard)
	tell := func(line status.Observation) (enough bool) {
		line.Kind = status.KindCommand
		if enough = s.Tell(line); enough {
			decided = new(line)
		}
		return enough
	}
	both := [...]*stream.Lines{
		stream.NewLines(s.MaxBody, func(m stream.Message) bool {
			o.stdout.kept, o.stdout.size, o.part = slices.Concat(m.Data, []byte("\n")), m.Size+1, m.Part
			return tell(status.Observation{Body: o.stdout.kept, Size: o.stdout.size, Truncated: m.Size > int64(len(m.Data)),
				Answer: detail.Answer{Part: m.Part}})
		}),
		stream.NewLines(tailSize, func(m stream.Message) bool {
			return tell(status.Observation{Stderr: bytes.Clone(m.Data), Answer: detail.Answer{StderrCut: m.Size > int64(len(m.Data))}})
		}),
	}
	for {
		select {
		case next := <-o.chunks:
			if both[next.from].Write(next.text) {
				c.end()
				return decided
			}
		case <-c.finished:
			if c.hasSaidAll() && (both[0].End() || both[1].End()) {
				return decided
			}
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// hasSaidAll reports whether a program has ended by itself, and nobody holds its outputs open. The last
// line of any other may not be whole.
func (c *child) hasSaidAll() bool {
	select {
	case <-c.outputs.done:
		return c.cmd.ProcessState != nil && c.cmd.ProcessState.Exited()
	default:
		return false
	}
}

// end ends a program that has said enough, with all that it has started, at once.
func (c *child) end() {
	c.kill()
	select {
	case <-c.exited:
	case <-time.After(killTime):
		c.unkillable = true
	}
	closeAll(c.outputs.readers)
}
