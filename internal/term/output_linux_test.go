package term

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// pipe returns a pipe that the runtime takes for a blocking one, as it does with
// an inherited output, and whose capacity is a page.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(uintptr(fds[1]), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// Whoever has the same output may make it nonblocking at any time.
func TestOutputWaitsForANonblockingOutput(t *testing.T) {
	t.Parallel()
	for _, piece := range []int{0, maxPiece} {
		r, w := pipe(t)
		fd := int(w.Fd())
		if err := unix.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
		want := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
		if n, err := w.Write(want); err == nil {
			t.Fatalf("a plain write of %d bytes came to %d without an error", len(want), n)
		}
		if _, err := io.CopyN(io.Discard, r, int64(unread(fd))); err != nil {
			t.Fatal(err)
		}
		wrote := make(chan error, 1)
		f := &output{w: w, piece: piece}
		go func() {
			n, err := f.Write(want)
			if n != len(want) {
				t.Errorf("piece %d: %d of %d bytes are said to be written", piece, n, len(want))
			}
			wrote <- err
		}()
		have := make([]byte, len(want))
		if _, err := io.ReadFull(r, have); err != nil || !bytes.Equal(have, want) {
			t.Errorf("piece %d: read %v, or other bytes", piece, err)
		}
		if err := <-wrote; err != nil {
			t.Errorf("piece %d: %v", piece, err)
		}
	}
}

func TestOutputEndsWithItsReader(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	r.Close()
	f := &output{w: w, piece: maxPiece}
	if _, err := f.Write(make([]byte, 3*maxPiece)); err == nil {
		t.Error("no error")
	}
}

// sizes counts what it gets in one piece.
type sizes []int

func (s *sizes) Write(p []byte) (int, error) {
	*s = append(*s, len(p))
	return len(p), nil
}

func TestOutputWritesAFileInOnePiece(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, w := pipe(t)
	var other sizes
	for _, test := range []struct {
		w     io.Writer
		piece int
		want  int
	}{{file, maxPiece, 9000}, {w, maxPiece, maxPiece}, {&other, maxPiece, maxPiece}, {w, 0, 9000}} {
		if have := (&output{w: test.w, piece: test.piece}).pieceOf(9000); have != test.want {
			t.Errorf("%T, piece %d: have %d, want %d", test.w, test.piece, have, test.want)
		}
	}
	f := &output{w: &other, piece: maxPiece}
	for _, n := range []int{0, 9000} {
		if have, err := f.Write(make([]byte, n)); have != n || err != nil {
			t.Errorf("have %d, %v, want %d", have, err, n)
		}
	}
	if want := (sizes{0, 4096, 4096, 808}); len(other) != len(want) || [4]int(other) != [4]int(want) {
		t.Errorf("pieces: have %v, want %v", other, want)
	}
}

// Delivered tells reading of the smallest bit apart from none.
func TestDelivered(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	f := &output{w: w, piece: maxPiece}
	s := Streams{Delivered: func() int64 { return f.written.Load() - int64(unread(int(w.Fd()))) }}
	if _, err := f.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	before := s.Delivered()
	if again := s.Delivered(); again != before {
		t.Errorf("unread: have %d after %d", again, before)
	}
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if after := s.Delivered(); after == before {
		t.Errorf("a byte was read: have %d as before", after)
	}
}
