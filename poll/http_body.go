package poll

import (
	"bytes"
	"io"
	"net/http"
)

// read reads the body of an answer, of which limit bytes are kept. There is none
// after 101, where the connection goes on in another protocol. It is decoded but
// where it is wanted as it is.
func (a *answer) read(req *http.Request, resp *http.Response, limit int64, asIs bool) error {
	if resp.StatusCode < http.StatusOK {
		return nil
	}
	body, decoded, err := io.Reader(resp.Body), resp.Uncompressed, error(nil)
	if !asIs {
		body, decoded, err = decode(req.Context(), resp)
	}
	if err != nil {
		return err
	}
	a.body, a.size, err = readBody(body, resp.ContentLength, limit, decoded)
	a.truncated = a.size > int64(len(a.body))
	if err == nil && a.code == http.StatusPartialContent && req.Header.Get("Range") == "" {
		return unusable("HTTP 206 Partial Content, and the whole was asked for")
	}
	return err
}

// readBody reads a body to its end, keeps up to limit bytes of it and returns
// the size of the whole. The length that was announced is a hint, -1 for none.
//
// What was decoded is not read past the limit: a small answer can unfold to any
// size. Its size is then the least that it is.
func readBody(body io.Reader, length, limit int64, decoded bool) (kept []byte, size int64, err error) {
	var buf bytes.Buffer
	if length > 0 {
		buf.Grow(int(min(length, limit, 1<<20)) + bytes.MinRead)
	}
	size, err = buf.ReadFrom(io.LimitReader(body, limit))
	if err != nil {
		return nil, size, err
	}
	rest := body
	if decoded {
		rest = io.LimitReader(body, 1)
	}
	more, err := io.Copy(io.Discard, rest)
	size += more
	if err != nil {
		return nil, size, err
	}
	return buf.Bytes(), size, nil
}
