package request

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/pollcli/poll/poll/internal/body"
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
		text := io.NopCloser(bytes.NewReader(make([]byte, test.size)))
		resp := &http.Response{Body: text, ContentLength: -1, Uncompressed: test.decoded}
		kept, size, err := readBody(t.Context(), resp, new(body.Hold), int64(test.limit))
		if err != nil || len(kept) != test.kept || size != test.want {
			t.Errorf("%+v: have %d bytes of %d, %v", test, len(kept), size, err)
		}
	}
}
