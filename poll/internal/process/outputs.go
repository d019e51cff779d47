package process

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/poll/internal/body"
)

const (
	chunkSize = 64 << 10 // what a pipe holds on Linux
	tailSize  = 64 << 10 // what is kept of stderr
)

// buffers are what outputs are read into.
type buffers struct {
	chunk [chunkSize]byte
	ring  [tailSize]byte
}

// idle are the buffers that no attempt uses: thousands of sessions wait without any.
var idle = sync.Pool{New: func() any { return new(buffers) }}

// outputs are what a command writes, attempt after attempt.
type outputs struct {
	hold    body.Hold // of the Bodies, for the last answer
	stdout  head
	stderr  tail
	buffers *buffers // during an attempt

	readers [2]*os.File
	stdin   *os.File      // the end that is written to, nil for none
	running atomic.Int32  // readers that have not reached an end
	done    chan struct{} // closed when none is running
	held    atomic.Bool   // a reader was cut off before its end
}

// start starts cmd with its outputs and its input connected.
func (o *outputs) start(ctx context.Context, cmd *exec.Cmd, c Command) (in job, err error) {
	var theirs [3]*os.File // the child's ends
	o.readers, o.stdin = [2]*os.File{}, nil
	defer func() {
		closeAll(theirs[:]...)
		if err != nil {
			closeAll(o.readers[0], o.readers[1], o.stdin)
		}
	}()
	for i := range o.readers {
		if o.readers[i], theirs[1+i], err = os.Pipe(); err != nil {
			return in, err
		}
	}
	cmd.Stdout, cmd.Stderr = theirs[1], theirs[2]
	if len(c.Stdin) > 0 {
		if theirs[0], o.stdin, err = os.Pipe(); err != nil {
			return in, err
		}
		cmd.Stdin = theirs[0]
	}
	if in, err = launch(cmd); err != nil {
		return in, err
	}
	o.copy(ctx, c)
	return in, nil
}

// copy starts the copying.
func (o *outputs) copy(ctx context.Context, c Command) {
	o.buffers = idle.Get().(*buffers)
	o.done = make(chan struct{})
	o.held.Store(false)
	o.running.Store(int32(len(o.readers)))
	o.hold.Budget = c.Bodies
	o.stdout = head{ctx: ctx, chunk: o.buffers.chunk[:], Buffer: body.Buffer{Limit: c.MaxBody, Hold: &o.hold}}
	o.stderr = tail{ring: o.buffers.ring[:], also: c.Stderr}
	go o.drain(o.readers[0], &o.stdout)
	go o.drain(o.readers[1], &o.stderr)
	if o.stdin != nil {
		// The command need not read it: cut ends the writing.
		go func(w *os.File) {
			w.Write(c.Stdin)
			w.Close()
		}(o.stdin)
	}
}

// A sink takes what was read into its room. Its Write never fails.
type sink interface {
	room() []byte
	io.Writer
}

// drain copies r into s until its end, or until it is cut off.
func (o *outputs) drain(r *os.File, s sink) {
	var err error
	for err == nil {
		var n int
		buf := s.room()
		n, err = r.Read(buf)
		s.Write(buf[:n])
	}
	if err != io.EOF && rest(r, s) {
		o.held.Store(true)
	}
	r.Close()
	if o.running.Add(-1) == 0 {
		close(o.done)
	}
}

// awaitEnd waits until nobody holds an output open any more, for at most d.
func (o *outputs) awaitEnd(d time.Duration) {
	if d > 0 {
		select {
		case <-o.done:
		case <-time.After(d):
		}
	}
}

// cut ends the copying; what has been written so far is read, for which a long answer may
// have to wait for a place. It reports whether somebody still held an output open.
func (o *outputs) cut() (held bool) {
	if o.stdin != nil {
		o.stdin.Close()
	}
	select {
	case <-o.done:
	default:
		for _, r := range o.readers {
			interrupt(r)
		}
		<-o.done
	}
	return o.held.Load()
}

// take returns what was kept of both outputs, which is then the caller's, and the size of
// the whole standard output.
func (o *outputs) take() (stdout []byte, size int64, stderr []byte) {
	stdout, size, stderr = o.stdout.Kept, o.stdout.size, o.stderr.take()
	o.stdout, o.stderr = head{}, tail{}
	idle.Put(o.buffers)
	o.buffers = nil
	return stdout, size, stderr
}

// A head keeps the beginning of what is written to it and counts the rest.
type head struct {
	body.Buffer
	ctx   context.Context // ends the waiting for a place
	chunk []byte
	size  int64
}

func (h *head) room() []byte { return h.chunk }

// Write keeps what there is room for.
func (h *head) Write(p []byte) (int, error) {
	h.size += int64(len(p))
	h.Buffer.Write(h.ctx, p)
	return len(p), nil
}

// A tail keeps the end of what is written to it.
type tail struct {
	ring []byte
	next int // where the next byte goes
	full bool
	also io.Writer // gets everything, nil after an error
}

// room is the part of the ring that comes next. What is read into it can be
// written without being copied.
func (t *tail) room() []byte { return t.ring[t.next:] }

func (t *tail) Write(p []byte) (int, error) {
	if t.also != nil && len(p) > 0 {
		if _, err := t.also.Write(p); err != nil {
			t.also = nil
		}
	}
	t.next += len(p)
	if t.next == len(t.ring) {
		t.next, t.full = 0, true
	}
	return len(p), nil
}

// take returns a copy of what is in the ring.
func (t *tail) take() []byte {
	if !t.full {
		return bytes.Clone(t.ring[:t.next:t.next])
	}
	return append(bytes.Clone(t.ring[t.next:]), t.ring[:t.next]...)
}

// closeAll closes the files that are not nil.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
