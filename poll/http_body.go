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
	kept, err = readUpTo(body, limit, min(max(length, 0), limit, 1<<20)+bytes.MinRead)
	size = int64(len(kept))
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
	return kept, size, nil
}

// readUpTo reads up to limit bytes. Its buffer begins with room for so many and
// is doubled as it fills, but is never longer than the limit.
func readUpTo(r io.Reader, limit, room int64) ([]byte, error) {
	buf := make([]byte, 0, min(room, limit))
	for int64(len(buf)) < limit {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(2*int64(cap(buf)), limit)), buf...)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}
