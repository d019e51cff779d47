package request

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func TestParseFollow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in                 string
		none, ok, explicit bool
	}{
		{in: "", ok: true},
		{in: "auto", ok: true},
		{in: "none", none: true, ok: true},
		{in: ".url", explicit: true, ok: true},
		{in: "https://h/v1/{.name}", explicit: true, ok: true},
		{in: "/v1/{.name}", explicit: true, ok: true},
		{in: "HTTPS://{.host}/x", explicit: true, ok: true},
		{in: "url", explicit: true, ok: true},
		{in: ".location", explicit: true, ok: true},
		{in: "$header.Location", explicit: true, ok: true},
		{in: `"jobs/1"`, ok: false},
		{in: "1 == 1", ok: false},
		{in: "7", ok: false},
		{in: "https://h/{.name", ok: false},
		{in: "https://", ok: false},
		{in: "https://h:x/{.name}", ok: false},
	} {
		f, err := parseFollow(test.in)
		if (err == nil) != test.ok {
			t.Errorf("%q: %v", test.in, err)
			continue
		}
		if test.ok && ((f.word == "none") != test.none || f.explicit() != test.explicit) {
			t.Errorf("%q: have %+v", test.in, f)
		}
	}
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	const doc = `{"name":"operations/a b","odd":"x?y#z&w=%2F","abs":"/ops/1","host":"eu-1","evil":"evil.com/","slashes":"//evil.com/x","up":"a/../../b","empty":"","n":12,"list":[1]}`
	for _, test := range []struct{ template, want, problem string }{
		{template: "https://h/v1/{.name}", want: "https://h/v1/operations/a%20b"},
		{template: "https://h/v1/{.odd}/z", want: "https://h/v1/x%3Fy%23z&w=%252F/z"},
		{template: "https://h/v1?a={.odd}&b={ .name }", want: "https://h/v1?a=x%3Fy%23z%26w%3D%252F&b=operations%2Fa+b"},
		{template: "https://h/v1/{.abs}", want: "https://h/v1/ops/1"},
		{template: "https://{.host}.h/{.n}", want: "https://eu-1.h/12"},
		{template: "https://{.name}/x", problem: "invalid URL escape"},
		{template: "https://h:{.n}/x", want: "https://h:12/x"},
		{template: "/x/{.n}", want: "/x/12"},
		{template: "/x/é/{.abs}", want: "/x/é/ops/1"},
		{template: "/{.slashes}", want: "/evil.com/x"},
		{template: "/v1/{.up}", problem: "a value leads out of its place in the path"},
		{template: "/v1?x={.up}", want: "/v1?x=a%2F..%2F..%2Fb"},
		{template: "https://{.evil}.h/", problem: "invalid URL escape"},
		{template: "https://h/{.empty}", problem: ".empty is empty"},
		{template: "https://h/{.none}", problem: ".none"},
		{template: "https://h/{.list}", problem: ".list"},
	} {
		f, err := parseFollow(test.template)
		if err != nil {
			t.Errorf("%s: %v", test.template, err)
			continue
		}
		have, err := f.fill(nil, &expr.Env{Doc: expr.NewDoc([]byte(doc))}, text)
		if _, malformed := url.Parse(have); malformed != nil { // as for a value that is no part of a host
			have, err = "", malformed
		}
		if have != test.want || !strings.Contains(fmt.Sprint(err), test.problem) || (err == nil) != (test.problem == "") {
			t.Errorf("%s: have %q %v, want %q %q", test.template, have, err, test.want, test.problem)
		}
	}
}

// TestFollowWords keeps what stands in a template's query out of words.
func TestFollowWords(t *testing.T) {
	t.Parallel()
	if _, err := parseFollow("https://h/?token=s3cret&id={"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("have %v", err)
	}
	secret := expr.WithEnviron(func(string) (string, bool) { return "s3cret", true })
	for source, refused := range map[string]bool{
		"https://h/{.id}?key={$ENV.KEY}": false, "/{.id}?key={$ENV.KEY}": false,
		"https://h/{$ENV.KEY}/{.id}": true, "https://{$ENV.KEY}/{.id}": true, ".url // $ENV.KEY": true,
	} {
		_, err := parseFollow(source, secret)
		if refused != (err != nil) || err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", source, err)
		}
	}
	f, err := parseFollow("https://h:{.port}/?token=s3cret")
	if err != nil {
		t.Fatal(err)
	}
	a := &answer{asked: call{at: placeOf(t, "https://from/")}, Observation: status.Observation{Body: []byte(`{"port":"x"}`)}}
	if l, why := f.find(t.Context(), clientOf(t, Request{URL: "https://from/", Method: "POST"}), a); l.to.url != nil || why == nil || strings.Contains(why.Error(), "s3cret") {
		t.Errorf("have %v, %q", l.to.url, why)
	}
}

func FuzzParseFollow(f *testing.F) {
	for _, seed := range []string{"auto", "https://h/v1/{.name}?x={.y}", "https://{.h}/", "/{.a}{.b}", "{", "https://h/{.[\"}\"]}", "/{.x}"} {
		f.Add(seed, `{"name":"a/b","y":"c","h":"x","x":"//evil.com/.."}`)
	}
	f.Fuzz(func(t *testing.T, source, doc string) {
		follow, err := parseFollow(source)
		if err != nil || follow.texts == nil {
			return
		}
		a := &answer{asked: call{at: placeOf(t, "https://from/")}, Observation: status.Observation{Body: []byte(doc)}, code: 200}
		l, problem := follow.find(t.Context(), clientOf(t, Request{URL: "https://from/", Method: "POST"}), a)
		if (l.to.url == nil) != (problem != nil) {
			t.Errorf("%q of %q: have %v and problem %v", source, doc, l.to.url, problem)
		}
		if isPath := len(source) > 1 && source[0] == '/' && !strings.ContainsRune(`/\`, rune(source[1])); isPath && l.to.url != nil && !l.to.trusted {
			t.Errorf("%q of %q: leads to another host, %v", source, doc, l.to.url)
		}
	})
}

// What jq joins or interpolates is a template here.
func TestParseFollow_hint(t *testing.T) {
	t.Parallel()
	for _, source := range []string{`"/jobs/"+.id`, `"/jobs/\(.id)"`, `/jobs/\(.id)`} {
		_, err := parseFollow(source)
		if e, ok := errors.AsType[*expr.Error](err); ok {
			err = errors.New(e.Hint)
		}
		if err == nil || err.Error() != inBraces {
			t.Errorf("%s: have %v", source, err)
		}
	}
}

// A word that names no place is refused before anything starts.
func TestParseFollow_noPlace(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"None": "write none or auto", "no": "write none or auto", "false": "write none or auto", "OFF": "write none or auto",
		"true": "write none or auto", "Location": "$header.Location for the header",
	} {
		if _, err := parseFollow(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: have %v, want %q", word, err, want)
		}
	}
}

// A start that named nothing to follow is not sent again; what would help is data.
func TestAStartThatLedNowhere(t *testing.T) {
	t.Parallel()
	s, err := NewSession(Request{URL: "https://h/jobs", Method: "POST"})
	if err != nil {
		t.Fatal(err)
	}
	s.startDue = false
	o := s.Look(t.Context(), Attempt{})
	if o.Failure == nil || o.Failure.Kind != status.FailureMayHaveStarted || o.Failure.Advice.Code != status.AdviceFollow {
		t.Errorf("have %+v", o.Failure)
	}
}
