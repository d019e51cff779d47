package poll

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
)

// maxCodings is how many content codings an answer may have, one over another:
// as many as with curl.
const maxCodings = 5

// An unusable answer came, and is not the whole answer in a form that is known.
type unusable string

func (e unusable) Error() string { return string(e) }

// codings returns what an answer was encoded by, in the order in which it was
// (RFC 9110 section 8.4). Some transports have undone a gzip and its header.
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
		in = bufio.NewReader(&attentive{ctx, layer})
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1 // that of what came, not of what it unfolds to
	return in, true, nil
}

// known reports the codings that cannot be undone.
func known(codings []string) error {
	if len(codings) > maxCodings {
		return unusable("the answer is encoded too many times over")
	}
	for _, coding := range codings {
		switch coding {
		case "gzip", "x-gzip", "deflate":
		case "br", "zstd", "compress", "x-compress":
			return unusable("the answer is encoded with " + coding + ", which was not asked for")
		default:
			return unusable("the answer is encoded in a way that is not known and was not asked for")
		}
	}
	return nil
}

func decodeOne(in *bufio.Reader, coding string) (io.Reader, error) {
	if coding != "deflate" {
		return gzip.NewReader(in)
	}
	if first, err := in.Peek(2); err == nil && isZlib(first) {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil // not what RFC 9110 says; some send it, and browsers read it
}

// isZlib reports whether a stream begins with the header of RFC 1950.
func isZlib(first []byte) bool {
	return first[0]&0x0f == 8 && (int(first[0])<<8|int(first[1]))%31 == 0
}

// An attentive reader looks at its context each time it is read: a few bytes can
// unfold to years of work that never reads the connection again.
type attentive struct {
	ctx context.Context
	r   io.Reader
}

func (a *attentive) Read(p []byte) (int, error) {
	if a.ctx.Err() != nil {
		return 0, context.Cause(a.ctx)
	}
	return a.r.Read(p)
}

// brokenCoding reports whether err says that what came was not encoded as the
// header says.
func brokenCoding(err error) bool {
	if _, ok := errors.AsType[flate.CorruptInputError](err); ok {
		return true
	}
	return slices.ContainsFunc([]error{gzip.ErrHeader, gzip.ErrChecksum, zlib.ErrHeader, zlib.ErrChecksum, zlib.ErrDictionary},
		func(known error) bool { return errors.Is(err, known) })
}
