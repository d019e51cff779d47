package process

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
)

const (
	chunkSize = 64 << 10 // what a pipe holds on Linux
	tailSize  = 64 << 10 // what is kept of stderr
)

// outputs are what a command writes, attempt after attempt.
type outputs struct {
	stdout head
	stderr tail

	readers [2]*os.File
	stdin   *os.File      // the end that is written to, nil for none
	running atomic.Int32  // readers that have not reached an end
	done    chan struct{} // closed when none is running
	held    atomic.Bool   // a reader was cut off before its end
}

// start starts cmd with its outputs and its input connected.
func (o *outputs) start(cmd *exec.Cmd, c Command) (err error) {
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
			return err
		}
	}
	cmd.Stdout, cmd.Stderr = theirs[1], theirs[2]
	if len(c.Stdin) > 0 {
		if theirs[0], o.stdin, err = os.Pipe(); err != nil {
			return err
		}
		cmd.Stdin = theirs[0]
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	o.copy(c)
	return nil
}

// copy starts the copying.
func (o *outputs) copy(c Command) {
	if o.stdout.chunk == nil {
		o.stdout.chunk, o.stderr.ring = make([]byte, chunkSize), make([]byte, tailSize)
	}
	o.done = make(chan struct{})
	o.held.Store(false)
	o.running.Store(int32(len(o.readers)))
	o.stdout = head{chunk: o.stdout.chunk, max: c.MaxBody}
	o.stderr = tail{ring: o.stderr.ring, also: c.Stderr}
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

// cut ends the copying; what has been written so far is read. It reports
// whether somebody still held an output open.
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

// A head keeps the beginning of what is written to it and counts the rest.
type head struct {
	chunk []byte
	max   int64
	kept  []byte
	size  int64
}

func (h *head) room() []byte { return h.chunk }

// Write keeps what there is room for.
func (h *head) Write(p []byte) (int, error) {
	h.size += int64(len(p))
	keep := p[:min(int64(len(p)), max(0, h.max-int64(len(h.kept))))]
	if need := len(h.kept) + len(keep); need > cap(h.kept) && h.kept != nil {
		// Doubling copies less than append's growth, and never passes the limit.
		grown := make([]byte, len(h.kept), min(int64(max(2*cap(h.kept), need)), h.max))
		copy(grown, h.kept)
		h.kept = grown
	}
	h.kept = append(h.kept, keep...)
	return len(p), nil
}

// take returns what was kept, which is then the caller's, and the size of the whole.
func (h *head) take() (kept []byte, size int64) {
	kept, h.kept = h.kept, nil
	return kept, h.size
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
