package poll

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll/internal/cause"
)

// encode encodes text by layers: g is gzip, z is zlib, f is deflate without zlib.
func encode(text, layers string) string {
	for _, layer := range layers {
		var b bytes.Buffer
		var w io.WriteCloser
		switch layer {
		case 'g':
			w = gzip.NewWriter(&b)
		case 'z':
			w = zlib.NewWriter(&b)
		case 'f':
			w, _ = flate.NewWriter(&b, flate.BestSpeed)
		}
		io.WriteString(w, text)
		w.Close()
		text = b.String()
	}
	return text
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	const plain = `{"state":"done"}`
	const broken = "the answer's compression is broken"
	for _, test := range []struct {
		name, header, body string
		want               string // the body, or the reason why there is none
		code               int    // 0 is 200
		asks               string // a header of the user
		method             string
	}{
		{name: "none", body: plain, want: plain},
		{name: "identity", header: "identity", body: plain, want: plain},
		{name: "gzip", header: "gzip", body: encode(plain, "g"), want: plain},
		{name: "x-gzip", header: "X-GZIP", body: encode(plain, "g"), want: plain},
		{name: "deflate", header: "deflate", body: encode(plain, "z"), want: plain},
		{name: "raw deflate", header: "deflate", body: encode(plain, "f"), want: plain},
		{name: "stored, with the sum of zlib", header: "deflate", body: "\x01\x17\x00\xe8\xff" + plain + "       ", want: plain + "       "},
		{name: "doubled", header: "gzip, gzip", body: encode(plain, "gg"), want: plain},
		{name: "a stack", header: "gzip , deflate,identity,x-gzip", body: encode(plain, "gzg"), want: plain},
		{name: "as deep as may be", header: "gzip,gzip,gzip,gzip,gzip", body: encode(plain, "ggggg"), want: plain},
		{name: "deeper", header: "gzip,gzip,gzip,gzip,gzip,gzip", body: encode(plain, "gggggg"), want: "the answer is encoded too many times over"},
		{name: "brotli", header: "br", body: "x", want: "the answer is encoded with br, which was not asked for"},
		{name: "below gzip", header: "br, gzip", body: encode("x", "g"), want: "the answer is encoded with br, which was not asked for"},
		{name: "unknown", header: "s3cret", body: "x", want: "the answer is encoded in a way that is not known and was not asked for"},
		{name: "an error's", header: "br", body: "x", code: 404, want: "x"},
		{name: "empty", header: "br", want: ""},
		{name: "asked for", header: "br", body: "x", asks: "Accept-Encoding: br", want: "x"},
		{name: "asked for gzip", header: "gzip", body: encode(plain, "g"), asks: "Accept-Encoding: gzip", want: encode(plain, "g")},
		{name: "part of it", header: "x-gzip", body: "x", code: 206, asks: "Range: bytes=0-0", want: "x"},
		{name: "no gzip", header: "gzip, gzip", body: encode(plain, "g"), want: broken},
		{name: "no zlib", header: "deflate", body: "\x78\x9c\xff\xff\xff\xff", want: broken},
		{name: "no deflate", header: "deflate", body: "\xff\xff\xff\xff", want: broken},
		{name: "broken off", header: "x-gzip", body: encode(plain, "g")[:20], want: "the answer breaks off after"},
		{name: "a part", body: plain, code: 206, want: "HTTP 206 Partial Content, and the whole was asked for"},
		{name: "a part that was asked for", body: plain, code: 206, asks: "Range: bytes=0-15", want: plain},
	} {
		h := HTTP{URL: "http://api.example.com/", Header: http.Header{}, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			resp := response(max(test.code, 200), strings.NewReader(test.body))
			resp.ContentLength = int64(len(test.body))
			resp.Header.Set("Content-Encoding", test.header)
			return resp, nil
		})}
		if name, value, ok := strings.Cut(test.asks, ": "); ok {
			h.Header.Set(name, value)
		}
		o := h.Probe(t.Context(), Attempt{Number: 1})
		if o.Failure == nil && string(o.Body) != test.want {
			t.Errorf("%s: have %q, want %q", test.name, o.Body, test.want)
		}
		if coding := o.Header.Get("Content-Encoding"); string(o.Body) != test.body && coding != "" {
			t.Errorf("%s: is decoded, and still said to be %s", test.name, coding)
		}
		if o.Failure != nil && (!strings.HasPrefix(o.Failure.Reason, test.want) || test.want == "" || test.want == plain) {
			t.Errorf("%s: have %q, want %q", test.name, o.Failure.Reason, test.want)
		}
	}
}

// TestEncodedBombs gives a few bytes that are much more, or years of nothing.
func TestEncodedBombs(t *testing.T) {
	t.Parallel()
	var nothing bytes.Buffer // gzip members may follow each other, also empty ones
	member := encode("", "g")
	for range 1_000_000 {
		nothing.WriteString(member)
	}
	for _, test := range []struct {
		header, body string
		size         int64 // 0 for none in time
	}{
		{"x-gzip", encode(strings.Repeat("0", 10_000_000), "g"), 1001},
		{"gzip, gzip", encode(strings.Repeat("0", 10_000_000), "gg"), 1001},
		{"gzip, gzip, gzip", encode(encode(nothing.String(), "g"), "g"), 0},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		o := HTTP{URL: "http://api.example.com/", MaxBody: 1000, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			raw := strings.NewReader(test.body)
			resp := response(200, readFunc(func(p []byte) (int, error) {
				if test.size == 0 {
					cancel(cause.ErrAttemptTimeout) // all is read, and nearly nothing decoded
				}
				return raw.Read(p)
			}))
			resp.Header.Set("Content-Encoding", test.header)
			return resp, nil
		})}.Probe(ctx, Attempt{Number: 1})
		cancel(nil)
		if test.size == 0 && (o.Failure == nil || !strings.HasPrefix(o.Failure.Reason, "timed out")) {
			t.Errorf("%s: have %v of %d bytes", test.header, o.Failure, o.Size)
		}
		if test.size > 0 && (o.Failure != nil || o.Size != test.size) {
			t.Errorf("%s: have %d bytes, %v", test.header, o.Size, o.Failure)
		}
	}
}
