package httpscript

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	resolve := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(resolve("page"), []byte("of a file"), 0o666); err != nil {
		t.Fatal(err)
	}
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, test := range []struct {
		text, want string
		goesOn     bool
		took       time.Duration
	}{
		{text: "200:{\"a\":1}", want: ok + "Content-Length: 7\r\n\r\n{\"a\":1}", goesOn: true},
		{text: `200:line\n`, want: ok + "Content-Length: 5\r\n\r\nline\n", goesOn: true},
		{text: "200:@page", want: ok + "Content-Length: 9\r\n\r\nof a file", goesOn: true},
		{text: "204,next=</b?page=2>", want: "HTTP/1.1 204 No Content\r\nLink: </b?page=2>; rel=\"next\"\r\n\r\n", goesOn: true},
		{text: "204", want: "HTTP/1.1 204 No Content\r\n\r\n", goesOn: true},
		{text: "200,A=b,C=<d:e, f>,Date={date +1m}", goesOn: true,
			want: ok + "A: b\r\nC: d:e, f\r\nDate: Sat, 01 Jan 2000 00:01:00 GMT\r\nContent-Length: 0\r\n\r\n"},
		{text: "200\nA: b\nodd\n\nx\ny", want: ok + "A: b\r\nodd\r\nContent-Length: 3\r\n\r\nx\ny", goesOn: true},
		{text: "200,cut=2:body", want: ok + "Content-Length: 4\r\n\r\nbo"},
		{text: "200,repeat=3:ab", want: ok + "Content-Length: 6\r\n\r\nababab", goesOn: true},
		{text: "200,delay=2s,drip=1s:abc", want: ok + "Content-Length: 3\r\n\r\nabc", goesOn: true, took: 5 * time.Second},
		{text: "raw:SSH", want: "SSH"},
		{text: "raw\nHTTP/1.1 200 OK\n\n", want: ok + "\r\n"},
		{text: "close"},
		{text: "hang,touch=asked"},
	} {
		answers, err := Parse(test.text, resolve)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			begun := time.Now()
			goesOn := answers[0].write(&b, "GET")
			if b.String() != test.want || goesOn != test.goesOn || time.Since(begun) != test.took {
				t.Errorf("%s: have %q, goes on: %t, after %s", test.text, b.String(), goesOn, time.Since(begun))
			}
		})
	}
	if _, err := os.Stat(resolve("asked")); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "ok", "200,", "200 OK", "200,cut=x", "200:@none", "200:x\nA: b"} {
		if _, err := Parse(bad, resolve); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// What is repeated comes in pieces, and as several members where it is compressed.
func TestAnswer_large(t *testing.T) {
	t.Parallel()
	answers, err := Parse("2*200,repeat=3000000:0", nil)
	if err != nil || len(answers) != 2 {
		t.Fatalf("have %d answers, %v", len(answers), err)
	}
	if pieces := answers[0].content(); len(pieces) != 3 || !bytes.Equal(bytes.Join(pieces, nil), bytes.Repeat([]byte("0"), 3_000_000)) {
		t.Errorf("have %d pieces", len(pieces))
	}
	answers[0].gzip = true
	if body := bytes.Join(answers[0].content(), nil); len(body) > 5000 {
		t.Errorf("have %d bytes, want them compressed", len(body))
	}
}
