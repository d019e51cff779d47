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

	"github.com/pollcli/poll/poll/internal/stream"
	"github.com/pollcli/poll/status"
)

// tailSize limits how much of the standard error is kept: its last tailSize bytes.
const tailSize = 64 << 10

// outputs reads the standard output and the standard error of a program during one attempt.
type outputs struct {
	stdout  head
	stderr  tail
	both    head // both outputs together, in the order of their arrival
	readers []*os.File
	done    chan struct{} // closed when reading has ended
	open    [2]bool       // for each output, whether it was not read to its end, because poll has stopped the program or stopped reading

	chunks chan chunk    // parts of both outputs, received by listen; nil without Stream
	unread chan struct{} // closed when listen has returned
	part   bool          // the last line belongs to a JSON document that is incomplete or too long
}

// A chunk is a part of stdout or of stderr.
type chunk struct {
	from int // 0 for standard output, 1 for standard error
	text []byte
}

// connect creates pipes for the outputs of cmd, and returns the write ends of the pipes. The caller must close the
// write ends after it has started cmd, even if connect returns an error.
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

// read reads both outputs until no process holds them open, or until the read ends of the pipes are closed. Then it
// closes done.
func (o *outputs) read() {
	stdout, stderr := io.MultiWriter(&o.both, &o.stdout), io.MultiWriter(&o.both, &o.stderr)
	if o.chunks != nil {
		stdout, stderr = listened{o, 0}, io.MultiWriter(&o.stderr, listened{o, 1})
	}
	var other sync.WaitGroup
	other.Go(func() { o.copy(stderr, 1) })
	o.copy(stdout, 0)
	other.Wait()
	closeAll(o.readers)
	close(o.done)
}

// copy copies one output to kept. from is 0 for standard output and 1 for standard error. copy sets o.open[from] if
// the read end of the pipe is closed before the output has ended.
func (o *outputs) copy(kept io.Writer, from int) {
	_, err := io.Copy(kept, o.readers[from])
	o.open[from] = err != nil
}

// A listened is a writer for one output of a program. It sends each part of the output to listen as a chunk. After
// listen has returned, it drops the output.
type listened struct {
	*outputs
	from int
}

func (l listened) Write(text []byte) (int, error) {
	select {
	case l.chunks <- chunk{l.from, bytes.Clone(text)}:
	case <-l.unread:
	}
	return len(text), nil
}

// finish waits until reading has ended. If processes hold the outputs open for longer than drainTime, finish closes
// the read ends of the pipes, which ends the reading. By then, everything that the program has written has been read.
func (o *outputs) finish() {
	select {
	case <-o.done:
	case <-time.After(drainTime):
		closeAll(o.readers)
		<-o.done
	}
}

// observe sets the fields of obs that hold outputs. It leaves Output nil if Output would equal Body.
func (o *outputs) observe(obs *status.Observation) {
	obs.Body, obs.Size, obs.Part = o.stdout.kept, o.stdout.size, o.part
	obs.StdoutOpen, obs.StderrOpen = o.open[0], o.open[1]
	obs.Truncated = obs.StdoutOpen || obs.Size > int64(len(obs.Body))
	if o.both.size > o.stdout.size || obs.StderrOpen { // otherwise Output would equal Body
		obs.Output, obs.OutputCut = o.both.kept, o.isHeld() || o.both.size > int64(len(o.both.kept))
	}
	obs.Stderr, obs.StderrCut = bytes.Clone(o.stderr.last()), o.stderr.size > tailSize
}

// isHeld reports whether an output was not read to its end, because poll has stopped the program or stopped
// reading.
func (o *outputs) isHeld() bool { return o.open[0] || o.open[1] }

// A head is a writer that keeps the first bytes, up to a limit, and counts all bytes. Several goroutines may call
// Write.
type head struct {
	mu    sync.Mutex
	limit int64 // number of bytes to keep
	kept  []byte
	size  int64
}

// Write always succeeds. After an error, poll would stop reading, and the program would block on a full pipe.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, p[:min(int64(len(p)), h.limit-int64(len(h.kept)))]...)
	h.size += int64(len(p))
	return len(p), nil
}

// A tail is a writer that keeps the last tailSize bytes, and counts all bytes. It can also pass them to another
// writer.
type tail struct {
	kept []byte // up to 2*tailSize bytes, so that not every write has to move them
	size int64
	also io.Writer // receives all bytes; nil if there is no such writer, or after it has returned an error
}

// Write always succeeds. After an error, poll would stop reading, and the program would block on a full pipe.
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

// last returns the last tailSize bytes, or all bytes if there are fewer.
func (t *tail) last() []byte { return t.kept[max(0, len(t.kept)-tailSize):] }

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// listen passes each line of the program's outputs to evaluate. If evaluate returns true for a line, listen ends the
// program and the processes that the program has started, sets obs to the observation of that line, and returns true.
// It returns false if evaluate has not returned true before the program ends or ctx is done.
func (s *Session) listen(ctx context.Context, c *child, evaluate func(status.Observation) (enough bool), obs *status.Observation) (decided bool) {
	o := &c.outputs
	defer close(o.unread)
	receive := func(line status.Observation) (enough bool) {
		line.Kind, line.Protocol = obs.Kind, obs.Protocol
		if enough = evaluate(line); enough {
			*obs = line
		}
		return enough
	}
	both := [...]*stream.Lines{
		stream.NewLines(s.MaxBody, func(m stream.Message) bool {
			o.stdout.kept, o.stdout.size, o.part = slices.Concat(m.Data, []byte("\n")), m.Size+1, m.Part
			return receive(status.Observation{Body: o.stdout.kept, Size: o.stdout.size, Truncated: m.Size > int64(len(m.Data)),
				Part: m.Part})
		}),
		stream.NewLines(tailSize, func(m stream.Message) bool {
			line, isCut := bytes.Clone(m.Data), m.Size > int64(len(m.Data))
			return receive(status.Observation{Stderr: line, Output: line, StderrCut: isCut, OutputCut: isCut})
		}),
	}
	for {
		select {
		case next := <-o.chunks:
			if both[next.from].Write(next.text) {
				c.end()
				return true
			}
		case <-c.finished:
			return c.isComplete() && (both[0].End() || both[1].End())
		case <-ctx.Done():
			return false
		}
	}
}

// isComplete reports whether the outputs are complete: the program has exited by itself, and no process holds its
// outputs open. Otherwise the last line of an output may be cut off.
func (c *child) isComplete() bool {
	return isClosed(c.outputs.done) && c.cmd.ProcessState != nil && c.cmd.ProcessState.Exited()
}

// end kills the program and the processes that it has started, without a grace, and closes the read ends of the
// pipes. It is called after a line has decided the wait, so the rest of the outputs is not needed.
func (c *child) end() {
	c.kill()
	select {
	case <-c.exited:
	case <-time.After(killTime):
		c.unkillable = true
	}
	closeAll(c.outputs.readers)
}
