package exchange

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/poll/internal/body"
)

// maxCodings is how many content codings an answer may have, as in curl.
const maxCodings = 5

// codings returns the codings of an answer in the order in which they were applied
// (RFC 9110 section 8.4). A transport may have undone a gzip, and removed the header.
func codings(header http.Header) []string {
	var list []string
	for coding := range strings.SplitSeq(strings.Join(header.Values("Content-Encoding"), ","), ",") {
		coding = strings.ToLower(strings.TrimSpace(coding))
		if coding != "" && coding != "identity" {
			list = append(list, coding)
		}
	}
	return list
}

// decode returns the body of resp as it was before its codings, and whether
// there were any.
func decode(ctx context.Context, resp *http.Response) (body io.Reader, decoded bool, err error) {
	list := codings(resp.Header)
	if len(list) == 0 {
		return resp.Body, resp.Uncompressed, nil
	}
	in := bufio.NewReader(resp.Body)
	if _, err := in.Peek(1); err == io.EOF {
		return in, false, nil // nothing is encoded, as after HEAD
	}
	if err := known(list); err != nil {
		if isGood(resp.StatusCode) {
			return nil, false, err
		}
		return in, false, nil // the code says enough
	}
	for _, coding := range slices.Backward(list) {
		layer, err := decodeOne(in, coding)
		if err != nil {
			return nil, true, err
		}
		in = bufio.NewReader(&contextReader{ctx, layer})
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1 // it counts the encoded bytes
	return in, true, nil
}

// known reports the codings that cannot be undone.
func known(codings []string) error {
	if len(codings) > maxCodings {
		return plainError("the answer is encoded too many times over")
	}
	for _, coding := range codings {
		switch coding {
		case "gzip", "x-gzip", "deflate":
		case "br", "zstd", "compress", "x-compress":
			return plainError("the answer is encoded with " + coding + ", which was not asked for")
		default:
			return plainError("the answer is encoded in a way that is not known and was not asked for")
		}
	}
	return nil
}

func decodeOne(in *bufio.Reader, coding string) (io.Reader, error) {
	if coding != "deflate" {
		return gzip.NewReader(in)
	}
	// RFC 9110 requires the header of RFC 1950. Some servers leave it out, and browsers
	// accept that.
	if h, err := in.Peek(2); err == nil && h[0]&0x0f == 8 && (int(h[0])<<8|int(h[1]))%31 == 0 {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}

// A contextReader checks its context at each Read: a few bytes can decompress into years
// of work that never reads the connection again.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (a *contextReader) Read(p []byte) (int, error) {
	if a.ctx.Err() != nil {
		return 0, context.Cause(a.ctx)
	}
	return a.r.Read(p)
}

// isBrokenCoding reports whether err says that a body is not encoded as its header
// says.
func isBrokenCoding(err error) bool {
	if _, ok := errors.AsType[flate.CorruptInputError](err); ok {
		return true
	}
	broken := []error{gzip.ErrHeader, gzip.ErrChecksum, zlib.ErrHeader, zlib.ErrChecksum, zlib.ErrDictionary}
	return slices.ContainsFunc(broken, func(known error) bool { return errors.Is(err, known) })
}

// read reads the body of an answer, keeps up to limit bytes of it, and decodes it unless
// it is wanted as it is. After a 101 the connection goes on in another protocol, without
// a body.
func (a *answer) read(req *http.Request, resp *http.Response, into body.Buffer, asIs bool) error {
	if resp.StatusCode < http.StatusOK {
		return nil
	}
	from, decoded, err := io.Reader(resp.Body), resp.Uncompressed, error(nil)
	if !asIs {
		from, decoded, err = decode(req.Context(), resp)
	}
	if err != nil {
		return err
	}
	a.Body, a.Size, err = readBody(req.Context(), from, resp.ContentLength, into, decoded)
	a.Truncated = a.Size > int64(len(a.Body))
	if err == nil && a.code == http.StatusPartialContent && req.Header.Get("Range") == "" {
		return plainError("HTTP 206 Partial Content, and the whole was asked for")
	}
	return err
}

// readBody reads a body to its end, keeps the beginning of it and returns its whole size.
// length is the announced length, -1 if unknown.
//
// A decoded body is not read past the limit, since a small answer can decompress to any
// size. The size is then limit+1.
func readBody(
	ctx context.Context, from io.Reader, length int64, into body.Buffer, decoded bool,
) (kept []byte, size int64, err error) {
	into.Kept = []byte{}
	end, err := into.ReadFrom(ctx, from, length)
	size = int64(len(into.Kept))
	switch {
	case err != nil:
		return nil, size, err
	case end:
		return into.Kept, size, nil
	case decoded:
		from = io.LimitReader(from, 1)
	}
	more, err := io.Copy(io.Discard, from)
	if err != nil {
		into.Kept = nil
	}
	return into.Kept, size + more, err
}
