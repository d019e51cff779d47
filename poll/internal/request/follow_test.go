package request

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func TestParseFollow(t *testing.T) {
	const word = "write none or auto"
	for source, want := range map[string]string{ // the kind, or the error
		"": "auto", "auto": "auto", "none": "auto", ".url": "explicit", "url": "explicit", "$header.Location": "explicit",
		"https://h/v1/{.name}": "explicit", "/v1/{.name}": "explicit", "HTTPS://{.host}/x": "explicit",
		"{$header.Location}api/json": "explicit", "{.href}": "explicit", `$header.Location + "api/json"`: inBraces, ".href/status": inBraces,
		"None": word, "no": word, "false": word, "OFF": word, "true": word, "Location": "$header.Location for the header",
		`"/jobs/"+.id`: inBraces, `"/jobs/\(.id)"`: inBraces, `/jobs/\(.id)`: inBraces,
		`"jobs/1"`: "", "1 == 1": "", "7": "", "https://h/{.name": "is not closed", "{.name": "is not closed", "https://": "no host", "https://h:x/{.name}": "malformed",
	} {
		f, err := parseFollow(source)
		have := map[bool]string{true: "explicit", false: "auto"}[f.explicit()]
		if e, ok := errors.AsType[*expr.Error](err); ok && e.Hint != "" {
			have = e.Hint
		} else if err != nil {
			have = err.Error()
		}
		if accepted := want == "auto" || want == "explicit"; accepted != (err == nil) || !strings.Contains(have, want) || (f.word == "none") != (source == "none") {
			t.Errorf("%q: have %s, want %s", source, have, want)
		}
	}
}

func TestTemplate(t *testing.T) {
	const doc = `{"name":"operations/a b","odd":"x?y#z&w=%2F","abs":"/ops/1","host":"eu-1","evil":"evil.com/","slashes":"//evil.com/x","up":"a/../../b","empty":"","queue":"https://h/queue/item/25/","n":12,"list":[1]}`
	for _, test := range []struct{ template, want, problem string }{
		{template: "https://h/v1/{.name}", want: "https://h/v1/operations/a%20b"},
		{template: "https://h/v1/{.abs}", want: "https://h/v1/ops/1"},
		{template: "https://{.name}/x", problem: "invalid URL escape"},
		{template: "https://h:{.n}/x", want: "https://h:12/x"},
		{template: "/{.slashes}", want: "/evil.com/x"},
		{template: "/v1/{.up}", problem: "a value would change another part of the path"},
		{template: "/v1?x={.up}", want: "/v1?x=a%2F..%2F..%2Fb"},
		{template: "https://{.evil}.h/", problem: "invalid URL escape"},
		{template: "{.abs}/status", want: "/ops/1/status"},
		{template: "{.queue}api/json", want: "https://h/queue/item/25/api/json"},
		{template: "{.queue}{.up}", problem: "a value would change another part of the path"},
	} {
		f, err := parseFollow(test.template)
		if err != nil {
			t.Errorf("%s: %v", test.template, err)
			continue
		}
		have, err := f.fill(nil, &expr.Env{Doc: expr.NewDoc([]byte(doc))}, readText)
		if _, malformed := url.Parse(have); malformed != nil { // as for a value that is no part of a host
			have, err = "", malformed
		}
		if have != test.want || !strings.Contains(fmt.Sprint(err), test.problem) || (err == nil) != (test.problem == "") {
			t.Errorf("%s: have %q %v, want %q %q", test.template, have, err, test.want, test.problem)
		}
	}
}

// An error about a URL with expressions does not repeat the query of the URL.
func TestFollowWords(t *testing.T) {
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
	f := must(parseFollow("https://h:{.port}/?token=s3cret"))
	a := &response{call: call{at: locationOf(t, "https://from/")}, Observation: status.Observation{Body: []byte(`{"port":"x"}`)}}
	if l, why := f.findLink(t.Context(), clientOf(t, Request{URL: "https://from/", Method: "POST"}), a); l.to.url != nil || why == nil || strings.Contains(why.Error(), "s3cret") {
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
		a := &response{call: call{at: locationOf(t, "https://from/")}, Observation: status.Observation{Body: []byte(doc)}, code: 200}
		l, problem := follow.findLink(t.Context(), clientOf(t, Request{URL: "https://from/", Method: "POST"}), a)
		if (l.to.url == nil) != (problem != nil) {
			t.Errorf("%q of %q: have %v and problem %v", source, doc, l.to.url, problem)
		}
		if isPath := len(source) > 1 && source[0] == '/' && !strings.ContainsRune(`/\`, rune(source[1])); isPath && l.to.url != nil && !l.to.trusted {
			t.Errorf("%q of %q: leads to another host, %v", source, doc, l.to.url)
		}
	})
}

func locationOf(t testing.TB, s string) location {
	t.Helper()
	u := must(url.Parse(s))
	return newLocation(u, true)
}

func clientOf(t testing.TB, r Request) *client {
	t.Helper()
	c := must(newClient(r))
	return c
}

func TestRefer(t *testing.T) {
	for _, test := range []struct {
		from, reference, want string
		trusted               bool
	}{
		{"https://h/a", "//other/c", "https://other/c", false},
		{"https://h/a", "https://H:443/c", "https://H:443/c", true},
		{"https://h/a", "http://h/c", "http://h/c", false},
		{"http://h:80/a", "http://h/c", "http://h/c", true},
		{"https://h/a", "https://h.evil/c", "https://h.evil/c", false},
		{"https://h/a", "https://h@evil/c", "https://evil/c", false},
		{"https://[::1]/a", "https://[::1]:443/c", "https://[::1]:443/c", true},
		{"https://secure.example/a", "https://ſecure.example/c", "https://%C5%BFecure.example/c", false},
	} {
		have, err := locationOf(t, test.from).resolve(test.reference, false)
		if err != nil {
			t.Errorf("%s and %s: %v", test.from, test.reference, err)
			continue
		}
		if have.url.String() != test.want || have.trusted != test.trusted {
			t.Errorf("%s and %s: have %s trusted %t, want %s trusted %t",
				test.from, test.reference, have.url, have.trusted, test.want, test.trusted)
		}
	}
	for _, bad := range []string{"", "ftp://h/", "javascript:alert(1)", "http://", "http://[::1", "http://h:x/", "%zz"} {
		if have, err := locationOf(t, "https://h/a").resolve(bad, false); err == nil {
			t.Errorf("%q: have %s", bad, have.url)
		}
	}
}

// FuzzLocation tests the references in Location, Operation-Location and Azure-AsyncOperation. The client resolves all of
// them in the same way.
func FuzzLocation(f *testing.F) {
	for _, seed := range []string{"/a", "//evil", "https://h/", "https://u:p@h/", "http://h:80", "\\\\evil", "https:evil", "?", "#", "%", "https://h:99999/", "https://H/", "https://ſ/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		to, err := locationOf(t, "https://h/a/b").resolve(reference, false)
		if err != nil {
			if len(reference) > 12 && strings.Contains(err.Error(), reference) {
				t.Errorf("the reference is in the error: %v", err)
			}
			return
		}
		if to.url.User != nil || to.url.Host == "" || to.url.Scheme != "https" && to.url.Scheme != "http" {
			t.Errorf("%q: have %s", reference, to.url)
		}
		if to.trusted && (to.url.Scheme != "https" || to.url.Hostname() != "h" && to.url.Hostname() != "H" || connect.Origin(to.url) != "https://h:443") {
			t.Errorf("%q: %s is trusted", reference, to.url)
		}
	})
}
