package exchange

import (
	"bytes"
	"testing"
	"testing/iotest"
)

func TestReadBody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		size, limit int
		decoded     bool
		kept        int
		want        int64
	}{
		{0, 10, false, 0, 0},
		{9, 10, false, 9, 9},
		{10, 10, false, 10, 10},
		{11, 10, false, 10, 11},
		{5000, 10, false, 10, 5000},
		{10, 10, true, 10, 10},
		{5000, 10, true, 10, 11},
	} {
		kept, size, err := readBody(bytes.NewReader(make([]byte, test.size)), -1, int64(test.limit), test.decoded)
		if err != nil || len(kept) != test.kept || size != test.want {
			t.Errorf("%+v: have %d bytes of %d, %v", test, len(kept), size, err)
		}
	}
}

// However long a body, its buffer is no longer than what is kept of it.
func TestReadUpTo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ length, limit, room, kept int64 }{
		{0, 10, 0, 0}, {0, 10, 512, 0}, {10, 10, 1, 10}, {11, 10, 1, 10}, {9, 10, 512, 9},
		{100_000, 1 << 20, 512, 100_000}, {3 << 20, 1<<20 + 1, 512, 1<<20 + 1},
	} {
		body := bytes.Repeat([]byte("0123456789"), int(test.length/10)+1)[:test.length]
		have, err := readUpTo(iotest.HalfReader(bytes.NewReader(body)), test.limit, test.room)
		if err != nil || !bytes.Equal(have, body[:test.kept]) || int64(cap(have)) > test.limit {
			t.Errorf("%+v: have %d bytes in %d, %v", test, len(have), cap(have), err)
		}
	}
	if have, err := readUpTo(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader([]byte("abc")))), 10, 10); err != iotest.ErrTimeout || string(have) != "a" {
		t.Errorf("have %q, %v", have, err)
	}
}
