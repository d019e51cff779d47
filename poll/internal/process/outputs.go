package process

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/stream"
	"github.com/pollcli/poll/status"
)

// tailSize is how much of the standard error is kept, in bytes.
const tailSize = 64 << 10

// outputs are those of a program in one attempt.
type outputs struct {
	stdout  head
	stderr  tail
	both    head // both outputs as they come
	readers []*os.File
	done    chan struct{} // closed when nothing is read any more
	open    [2]bool       // by output: poll ended its writer, or read no further

	chunks  chan chunk    // of a stream, to who listens
	unheard chan struct{} // closed when nobody listens any more
	part    bool          // the last line is part of a document that was cut
}

// A chunk is a part of an output. Its bytes hold until the next one is taken.
type chunk struct {
	from int // the index of the output: 0 is standard output
	text []byte
}

// connect makes the pipes that cmd writes to. Their writers, which it returns, are to be
// closed when cmd has them.
func (o *outputs) connect(cmd *exec.Cmd) (writers []*os.File, err error) {
	for _, end := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return writers, err
		}
		o.readers, writers = append(o.readers, r), append(writers, w)
		*end = w
	}
	return writers, nil
}

// read reads both outputs until nobody holds them open, or they are closed.
func (o *outputs) read() {
	var stderr sync.WaitGroup
	if o.chunks == nil {
		stderr.Go(func() { o.keep(1, &o.stderr) })
		o.keep(0, &o.stdout)
	} else {
		stderr.Go(func() { o.pass(1, &o.stderr) })
		o.pass(0, io.Discard)
	}
	stderr.Wait()
	closeAll(o.readers)
	close(o.done)
}

// keep reads an output to its end, unless the output is closed before.
func (o *outputs) keep(from int, kept io.Writer) {
	_, err := io.Copy(io.MultiWriter(&o.both, kept), o.readers[from])
	o.open[from] = err != nil
}

// pass passes an output on to who listens. It reads ahead while a chunk is listened to.
func (o *outputs) pass(from int, also io.Writer) {
	const size = 64 << 10
	text, other := make([]byte, size), make([]byte, size)
	for {
		n, err := o.readers[from].Read(text)
		also.Write(text[:n])
		select {
		case o.chunks <- chunk{from, text[:n]}:
		case <-o.unheard:
		}
		if err != nil {
			o.open[from] = err != io.EOF
			return
		}
		text, other = other, text
	}
}

// finish ends the reading, once all is read that the program wrote before it ended.
func (o *outputs) finish() {
	select {
	case <-o.done:
	case <-time.After(drainTime):
		closeAll(o.readers)
		<-o.done
	}
}

// observe hands the kept outputs to an observation.
func (o *outputs) observe(obs *status.Observation) {
	obs.Body, obs.Size, obs.Part = o.stdout.kept, o.stdout.size, o.part
	obs.StdoutOpen, obs.StderrOpen = o.open[0], o.open[1]
	obs.Truncated = obs.StdoutOpen || obs.Size > int64(len(obs.Body))
	if o.both.size > o.stdout.size || obs.StderrOpen { // otherwise Body is the same
		obs.Output, obs.OutputCut = o.both.kept, o.isHeld() || o.both.size > int64(len(o.both.kept))
	}
	obs.Stderr, obs.StderrCut = bytes.Clone(o.stderr.last()), o.stderr.size > tailSize
}

// isHeld reports whether the end of an output is missing.
func (o *outputs) isHeld() bool { return o.open[0] || o.open[1] }

// A head keeps the beginning of the text that is written to it, and counts the rest. Several goroutines may
// write to it.
type head struct {
	mu    sync.Mutex
	limit int64 // how much is kept, in bytes
	kept  []byte
	size  int64
}

// Write never fails, so that the program can continue.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, p[:min(int64(len(p)), h.limit-int64(len(h.kept)))]...)
	h.size += int64(len(p))
	return len(p), nil
}

// A tail keeps the end of what is written to it.
type tail struct {
	kept []byte // at most twice as much as wanted, and a chunk
	size int64
	also io.Writer // gets everything, nil after an error
}

// Write never fails, so that the program can go on.
func (t *tail) Write(p []byte) (int, error) {
	t.size += int64(len(p))
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*tailSize {
		t.kept = append(t.kept[:0], t.last()...)
	}
	if t.also != nil {
		if _, err := t.also.Write(p); err != nil {
			t.also = nil
		}
	}
	return len(p), nil
}

func (t *tail) last() []byte { return t.kept[max(0, len(t.kept)-tailSize):] }

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// listen tells the messages of a program until one is enough, which it returns after the end of the program
// and of all that it has started, or until the program has ended, or ctx is done.
func (s *Session) listen(ctx context.Context, c *child, evaluate func(status.Observation) (enough bool)) (decided *status.Observation) {
	o := &c.outputs
	defer close(o.unheard)
	tell := func(line status.Observation) (enough bool) {
		line.Kind, line.Protocol = status.KindCommand, meaning.Command{}
		if enough = evaluate(line); enough {
			decided = new(line)
		}
		return enough
	}
	both := [...]*stream.Lines{
		stream.NewLines(s.MaxBody, func(m stream.Message) bool {
			o.stdout.kept, o.stdout.size, o.part = slices.Concat(m.Data, []byte("\n")), m.Size+1, m.Part
			return tell(status.Observation{Body: o.stdout.kept, Size: o.stdout.size, Truncated: m.Size > int64(len(m.Data)),
				Part: m.Part})
		}),
		stream.NewLines(tailSize, func(m stream.Message) bool {
			line, isCut := bytes.Clone(m.Data), m.Size > int64(len(m.Data))
			return tell(status.Observation{Stderr: line, Output: line, StderrCut: isCut, OutputCut: isCut})
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
	return isClosed(c.outputs.done) && c.cmd.ProcessState != nil && c.cmd.ProcessState.Exited()
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
