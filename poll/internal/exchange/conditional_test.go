package exchange

import (
	"net/http"
	"strings"
	"testing"
)

func TestValidatorsOf(t *testing.T) {
	t.Parallel()
	const now, second, two = "Fri, 20 Nov 2026 12:00:10 GMT", "Fri, 20 Nov 2026 12:00:09 GMT", "Fri, 20 Nov 2026 12:00:08 GMT"
	for _, test := range []struct {
		name   string
		header []string
		want   validators
	}{
		{"nothing", nil, validators{}},
		{"entity tag", []string{`ETag: "a"`}, validators{etag: `"a"`}},
		{"weak entity tag", []string{`ETag: W/"a"`}, validators{etag: `W/"a"`}},
		{"both", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + two}, validators{`"a"`, two}},
		{"a second old", []string{"Date: " + now, "Last-Modified: " + second}, validators{}},
		{"two seconds old", []string{"Date: " + now, "Last-Modified: " + two}, validators{lastModified: two}},
		{"from the future", []string{"Date: " + two, "Last-Modified: " + now}, validators{}},
		{"no Date", []string{`ETag: "a"`, "Last-Modified: " + two}, validators{etag: `"a"`}},
		{"no date at all", []string{`ETag: "a"`, "Last-Modified: soon"}, validators{etag: `"a"`}},
		{"strong and fresh", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + second}, validators{etag: `"a"`}},
		{"weak and fresh", []string{`ETag: W/"a"`, "Date: " + now, "Last-Modified: " + second}, validators{}},
		{"weak and not fresh", []string{`ETag: W/"a"`, "Date: " + now, "Last-Modified: " + two}, validators{`W/"a"`, two}},
		{"of the second", []string{`ETag: "6B00364A-1f"`, "Date: " + now, "Last-Modified: Fri, 20 Nov 2026 12:00:10 GMT"}, validators{}},
	} {
		if have := validatorsOf(headerOf(test.header...)); have != test.want {
			t.Errorf("%s: have %+v, want %+v", test.name, have, test.want)
		}
	}
}

func FuzzValidators(f *testing.F) {
	f.Add(`W/"a"`, "Fri, 20 Nov 2026 12:00:08 GMT", "Fri, 20 Nov 2026 12:00:10 GMT")
	f.Fuzz(func(t *testing.T, etag, modified, date string) {
		have := validatorsOf(headerOf("ETag: "+etag, "Last-Modified: "+modified, "Date: "+date))
		if have.etag != "" && have.etag != etag || have.lastModified != "" && have.lastModified != modified {
			t.Errorf("have %+v of %q and %q", have, etag, modified)
		}
	})
}

// headerOf reads "Name: value" lines.
func headerOf(lines ...string) http.Header {
	header := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	return header
}
