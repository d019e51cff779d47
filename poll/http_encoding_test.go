package poll

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/connect"
)

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// encodedBy returns a transport to a server that answers every request so.
func encodedBy(t *testing.T, code int, coding, body string) http.RoundTripper {
	transport, err := connect.Options{Proxy: "direct"}.Transport()
	if err != nil {
		t.Fatal(err)
	}
	transport.DialContext = pipeTo(func(conn net.Conn) {
		defer conn.Close()
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		fmt.Fprintf(conn, "HTTP/1.1 %d X\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", code, coding, len(body), body)
	})
	return transport
}

// What net/http decodes is decoded, and no answer in another coding is taken for the
// document.
func TestEncodings(t *testing.T) {
	const plain = `{"state":"done"}`
	const unasked = "the answer has an encoding that the request did not ask for"
	for _, test := range []struct {
		name, header, body string
		want               string // the body, or the reason why there is none
		code               int    // 0 is 200
		asks               string // a header of the user
	}{
		{name: "none", body: plain, want: plain},
		{name: "identity", header: "identity", body: plain, want: plain},
		{name: "gzip", header: "gzip", body: gzipped(plain), want: plain},
		{name: "brotli", header: "br", body: "x", want: unasked},
		{name: "doubled", header: "gzip, gzip", body: gzipped(gzipped(plain)), want: unasked},
		{name: "unknown", header: "s3cret", body: "x", want: unasked},
		{name: "an error's", header: "br", body: "x", code: 404, want: "x"},
		{name: "empty", header: "br", want: ""},
		{name: "asked for", header: "br", body: "x", asks: "Accept-Encoding: br", want: "x"},
		{name: "asked for gzip", header: "gzip", body: gzipped(plain), asks: "Accept-Encoding: gzip", want: gzipped(plain)},
		{name: "none asked for", header: "gzip", body: gzipped(plain), asks: "Accept-Encoding", want: unasked},
		{name: "part of it", header: "gzip", body: "x", code: 206, asks: "Range: bytes=0-0", want: "x"},
		{name: "no gzip", header: "gzip", body: "what is it?", want: "gzip: invalid header"},
		{name: "broken off", header: "gzip", body: gzipped(plain)[:20], want: "the answer breaks off after"},
		{name: "a part", body: plain, code: 206, want: "HTTP 206 Partial Content, but the request asked for the whole"},
		{name: "a part that was asked for", body: plain, code: 206, asks: "Range: bytes=0-15", want: plain},
	} {
		h := HTTP{URL: "http://api.example.com/", Header: http.Header{}, Transport: encodedBy(t, max(test.code, 200), test.header, test.body)}
		if name, value, ok := strings.Cut(test.asks, ": "); ok {
			h.Header.Set(name, value)
		} else if name != "" {
			h.Header[name] = nil
		}
		o := h.Check(t.Context(), Attempt{Number: 1})
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

// A few bytes that are much more are not read to their end.
func TestEncodedBomb(t *testing.T) {
	bomb := encodedBy(t, 200, "gzip", gzipped(strings.Repeat("0", 10_000_000)))
	o := HTTP{URL: "http://api.example.com/", MaxBody: 1000, Transport: bomb}.Check(t.Context(), Attempt{Number: 1})
	if o.Failure != nil || o.Size != 1001 {
		t.Errorf("have %d bytes, %v", o.Size, o.Failure)
	}
}
