package poll

import (
	"bytes"
	"io"
	"net/http"
)

// readBody reads the answer's body to its end, keeps up to limit bytes of it
// and returns the size of the whole.
//
// What was compressed on the way is not read past the limit: a small answer can
// unfold to any size. Its size is then the least that it is.
func readBody(resp *http.Response, limit int64) (kept []byte, size int64, err error) {
	var buf bytes.Buffer
	if n := resp.ContentLength; n > 0 {
		buf.Grow(int(min(n, limit, 1<<20)) + bytes.MinRead)
	}
	size, err = buf.ReadFrom(io.LimitReader(resp.Body, limit))
	if err != nil {
		return nil, size, err
	}
	rest := io.Reader(resp.Body)
	if resp.Uncompressed {
		rest = io.LimitReader(resp.Body, 1)
	}
	more, err := io.Copy(io.Discard, rest)
	size += more
	if err != nil {
		return nil, size, err
	}
	return buf.Bytes(), size, nil
}
