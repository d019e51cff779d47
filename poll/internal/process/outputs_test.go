package process

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pollcli/poll/poll/internal/body"
)

func TestHead(t *testing.T) {
	t.Parallel()
	h := head{ctx: t.Context(), hold: new(body.Hold), limit: 5}
	h.read(iotest.HalfReader(strings.NewReader("abcdefg")))
	if string(h.kept) != "abcde" || h.size != 7 || h.refused {
		t.Errorf("have %q of %d bytes, refused: %t", h.kept, h.size, h.refused)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 5000, tailSize - 1, tailSize, tailSize + 1, 2*tailSize + 1, 5*tailSize + 7} {
		all := []byte(strings.Repeat("0123456789a", size/11+1)[:size])
		var passed bytes.Buffer
		end := tail{also: &passed}
		for chunk := range slices.Chunk(all, 1000) {
			end.Write(chunk)
		}
		want := all[max(0, size-tailSize):]
		if !bytes.Equal(end.last(), want) || end.size != int64(size) || passed.Len() != size || cap(end.kept) > 3*tailSize {
			t.Errorf("of %d bytes: have %d in %d, want the last %d", size, len(end.last()), cap(end.kept), len(want))
		}
	}
}
