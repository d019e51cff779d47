package body

import (
	"bytes"

	"errors"
	"math"
	"testing"
	"testing/iotest"
)

// text returns so many bytes.
func text(size int) []byte { return bytes.Repeat([]byte("0123456789"), size/10+1)[:size] }

// However long an answer, and whatever it announces, what is kept of it takes little more
// room than it needs.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		length, limit int
		announced     int64
		kept          int
		end           bool
		room          int // at most
	}{
		{0, 10, -1, 0, true, 0},
		{0, 10, 0, 0, true, 0},
		{9, 10, -1, 9, true, 16},
		{10, 10, -1, 10, false, 1024},
		{11, 10, -1, 10, false, 1024},
		{300, 1 << 20, 300, 300, true, 320},
		{300, 8 << 20, 1 << 40, 300, true, 320},
		{300, math.MaxInt, math.MaxInt64, 300, true, 320},
		{300, 300, 300, 300, false, 1024},
		{8_000, 1 << 20, 8_000, 8_000, true, 8_192},
		{100_000, 1 << 20, -1, 100_000, true, 1 << 18},
		{free, 8 << 20, -1, free, true, 3 << 20},
		{3 << 20, 1<<20 + 1, -1, 1<<20 + 1, false, 3 << 20},
		{3 << 20, 8 << 20, 3 << 20, 3 << 20, true, 4 << 20},
		{3 << 20, 8 << 20, 5 << 20, 3 << 20, true, 6 << 20},
	} {
		all := text(test.length)
		kept, end, err := new(Hold).Read(t.Context(), iotest.HalfReader(bytes.NewReader(all)), test.announced, int64(test.limit))
		if err != nil || end != test.end || !bytes.Equal(kept, all[:test.kept]) || cap(kept) > test.room {
			t.Errorf("%+v: have %d bytes in %d, %t, %v", test, len(kept), cap(kept), end, err)
		}
	}
	kept, _, err := new(Hold).Read(t.Context(), iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader([]byte("abc")))), 10, 10)
	if !errors.Is(err, iotest.ErrTimeout) || string(kept) != "a" {
		t.Errorf("have %q, %v", kept, err)
	}
}
