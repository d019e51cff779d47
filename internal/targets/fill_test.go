package targets

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/argv"
)

// fillAll returns the URL with the same value in every field.
func (t *Template) fillAll(value string) (string, error) {
	values := map[string][]string{}
	for _, field := range t.Fields() {
		values[field] = []string{value}
	}
	return t.fillURL(values)
}

func TestFill(t *testing.T) {
	for _, test := range []struct{ template, value, want string }{
		// The path.
		{"https://h/{}", "a", "https://h/a"},
		{"https://h/{}", "/a", "https://h/%2Fa"},
		{"/{}", "//evil/a", "/%2F%2Fevil%2Fa"},
		{"https://h/v/{}", "..", "!leads out of its place in the path"},
		{"https://h/v/.{}", ".", "!leads out of its place in the path"},
		{"https://h/v/{}{}", ".", "!leads out of its place in the path"},
		{"https://h/v/{}%2e", ".", "!leads out of its place in the path"},
		{"https://h/v/x{}", "..", "https://h/v/x.."},
		{"https://h/../{}", "a.b", "https://h/../a.b"},
		{"https://h/../{}", "..", "!leads out of its place in the path"},
		{"https://h/v/{}/w", "../..", "https://h/v/..%2F../w"},
		{"/v/{}/http://x", "..", "!leads out of its place in the path"},
		{"https://h/v/{}", "%2e%2e", "https://h/v/%252e%252e"},
		{"https://h/v/{}", "a?b=c#d;e,f:g@h&i", "https://h/v/a%3Fb=c%23d%3Be%2Cf:g@h&i"},
		{"https://h/v/{}", "a b\r\nX: y\x00\\é", "https://h/v/a%20b%0D%0AX:%20y%00%5C%C3%A9"},
		{"https://h/é\"|x y/{}?é", "a/b", "https://h/%C3%A9%22%7Cx%20y/a%2Fb?é"},
		// The query and the fragment.
		{"https://h/v?a={}&b=1", "x&b=2#/../%", "https://h/v?a=x%26b%3D2%23%2F..%2F%25&b=1"},
		{"https://h/{}#{}", "a/b c", "https://h/a%2Fb%20c#a%2Fb+c"},
		// The host and the port.
		{"https://{}.h/x", "a_b.c", "https://a_b.c.h/x"},
		{"https://{}.h", "evil:1", "!is not a part of a host name"},
		{"https://{}.h", "me@evil", "!is not a part of a host name"},
		{"https://h{}?x", "é", "!is not a part of a host name"},
		{"https://{}@h/", "evil/", "!is not a part of a host name"},
		{"https://h:{}/x", "80", "https://h:80/x"},
		{"https://h:{}/x", "80@evil", "!is not a port"},
		{"https://h:8{}/x", "-1", "!is not a port"},
		{"https://u:{}@h/x", "a1", "https://u:a1@h/x"},
		{"https://u:p@{}:80/x", "a1", "https://u:p@a1:80/x"},
		{"tcp://{}", "db:5432", "tcp://db:5432"},
		{"http://{}/x", "[::1]:80", "http://[::1]:80/x"},
		{"http://{}?x", "[fe80::1]", "http://[fe80::1]?x"},
		{"http://{}/x", "::1", "!is not a host, with or without a port"},
		{"http://{}/x", ":80", "!is not a host, with or without a port"},
		{"http://{}/x", "h:123456", "!is not a host, with or without a port"},
		{"http://{}/x", "[::1]80", "!is not a host, with or without a port"},
		{"http://{}/x", "[127.0.0.1]", "!is not a host, with or without a port"},
		{"http://{}/x", "[fe80::1%eth0]", "!is not a host, with or without a port"},
		{"http://{}/x", "me@h", "!is not a host, with or without a port"},
	} {
		u, err := ParseURL(test.template, false)
		if err != nil {
			t.Errorf("%s: %v", test.template, err)
			continue
		}
		have, err := u.fillAll(test.value)
		if err != nil {
			have = "!" + strings.TrimPrefix(err.Error(), "in the URL, the text ")
		}
		if have != test.want {
			t.Errorf("%s with %q: have %s, want %s", test.template, test.value, have, test.want)
		}
	}
}

func TestParseCommand_scripts(t *testing.T) {
	const inScript = "{} is in the script of a shell"
	for _, test := range []struct {
		args string
		want string
	}{
		{"get {}", ""},
		{"get a", "no argument of the command has a {}"},
		{"get {.metadata.name}", "no argument of the command has a {}"},
		{"{} a", "{} is not a program"},
		{"./{} {}", "{} is not a program"},
		{"sh -c {}", inScript},
		{"sh -c -- {}", inScript},
		{"bash -x -c {}", inScript},
		{"su -c {}", inScript},
		{"bash -c -x script {}", ""},
		{"/bin/bash -euc {} x", inScript},
		{"env A=b sh -e -c {}", inScript},
		{`C:\sh.exe -c {}`, inScript},
		{`C:\Windows\CMD.EXE /d /K echo {}`, inScript},
		{"cmd.exe. /c {}", inScript}, // Windows sees no dots there
		{"cmd /cx{}", inScript},
		{"cmd /d/c {}", inScript},
		{"cmd /d {}", inScript}, // an item may be /c
		{"wine cmd {}", ""},
		{"wine cmd /v:on/c {}", inScript},
		{"pwsh -NoProfile -c {}", inScript},
		{`C:\x\PowerShell.exe Get-Item {}`, inScript},
		{"ssh host pwsh -Command x{}", inScript},
		{"pwsh -NoProfile -File a.ps1 {}", ""},
		{"./deploy.cmd /c {}", ""},
		{"sh -c script sh {}", ""},
		{"sh -c script sh a{}", ""},
		{"sh -ce x{}", inScript},
		{"sh -cx x{}", inScript},
		{"bash -ceu {}", inScript},
		{"bash -o pipefail -cl x{}", inScript},
		{"bash -c -o pipefail {}", inScript},
		{"bash -c +O extglob -o pipefail x{}", inScript},
		{"bash -o pipefail -c script {}", ""},
		{"bash --norc script x{}", ""},
		{"tcsh -c x{}", inScript},
		{"csh -fc x{}", inScript},
		{"fish -C x{}", inScript},
		{"fish --command=x{}", inScript},
		{"fish --init-command x{}", inScript},
		{"ksh93 -xc x{}", inScript},
		{"busybox sh -ce x{}", inScript},
		{"timeout 5 sh -ce x{}", inScript},
		{"xargs -a f sh -ce x{}", inScript},
		{"find . -exec sh -ce x{} ;", inScript},
		{"flock f -c x{}", inScript},
		{"flock f curl x{}", ""},
		{"runuser -u me -c x{}", inScript},
		{"runuser -u {} -- id", ""},
		{"su me -lc x{}", inScript},
		{"su -cx{}", inScript},
		{"nu -c x{}", inScript},
		{"npx -c x{}", inScript},
		{"watch -t x{}", inScript},
		{"tmux new-session -d x{}", inScript},
		{"su --command=x{}", inScript},
		{"su --comm x{}", inScript},
		{"sg group x{}", inScript},
		{"script -q -cx{} f", inScript},
		{"script -qc {} f", inScript},
		{"env -S x{}", inScript},
		{"env -u A -iSx{}", inScript},
		{"env --split-string=x{}", inScript},
		{"env -S sh -c {}", inScript},
		{"env A=b curl -sS https://h/{}", ""},
		{"env -i A=b get {}", ""},
		{"env A=b ls /c/{}", ""},
		{"powershell -ExecutionPolicy Bypass -f a.ps1 {}", ""},
		{"cmd /c del /f {}", inScript},
		{"grep -c {}", ""},
		{"sh --rc {}", ""},
	} {
		_, err := ParseCommand(strings.Fields(test.args))
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: have %v, want %q", test.args, err, test.want)
		}
	}
}

// A filled URL keeps the origin of its template, unless a field is in the origin. It keeps the segments of its
// path and the parameters of its query. The value can be read back from the filled URL.
func FuzzFill(f *testing.F) {
	for _, value := range []string{"a", "..", ".", "a/b", "//evil", "%2e%2e", "a?b#c", "x&y=z", "\r\nHost: evil", "h:1", "[::1]:80", "me@evil", `\evil`, "é\xff", "-"} {
		for _, template := range []string{"https://h/{}", "https://h:1/v/{}/w/{}?x={}&y=1#{}", "http://{}/x", "https://{}.h/", "https://h:{}/", "/v/.{}", "https://h?{}", "/{} ", "{}://h"} {
			f.Add(template, value)
		}
	}
	isInOrigin := func(g gap) bool { return g.place != inPath && g.place != inQuery }
	f.Fuzz(func(t *testing.T, template, value string) {
		u, err := ParseURL(template, false)
		if err != nil {
			return
		}
		sample, err := url.Parse(u.sample)
		if err != nil || strings.HasPrefix(template, "//") || strings.HasPrefix(template, "/") == (sample.Host != "") || sample.Opaque != "" {
			return
		}
		filled, err := u.fillAll(value)
		if err != nil {
			return
		}
		have, err := url.Parse(filled)
		if err != nil {
			if slices.ContainsFunc(u.url.holes, isInOrigin) {
				return // such as a port of too many digits, or half an address
			}
			t.Fatalf("%q with %q: %q: %v", template, value, filled, err)
		}
		inOrigin := slices.ContainsFunc(u.url.holes, isInOrigin)
		if have.Scheme != sample.Scheme || !inOrigin && (have.Host != sample.Host || have.User.String() != sample.User.String()) ||
			inOrigin && strings.ContainsAny(strings.Replace(have.Host, sample.Host, "", 1), "/?#@\\% \r\n") {
			t.Fatalf("%q with %q: %q has another origin", template, value, filled)
		}
		if a, b := strings.Count(sample.EscapedPath(), "/"), strings.Count(have.EscapedPath(), "/"); a != b {
			t.Fatalf("%q with %q: %q has %d segments, want %d", template, value, filled, b, a)
		}
		if a, b := sample.JoinPath(), have.JoinPath(); strings.Count(a.EscapedPath(), "/") != strings.Count(b.EscapedPath(), "/") {
			t.Fatalf("%q with %q: %q leads to %q, want %q", template, value, filled, b, a)
		}
		if !slices.ContainsFunc(u.url.holes, func(g gap) bool { return g.place == inQuery }) {
			if have.RawQuery != sample.RawQuery || have.Fragment != sample.Fragment {
				t.Fatalf("%q with %q: %q has another query", template, value, filled)
			}
		} else if a, b := len(sample.Query()), len(have.Query()); a != b && !strings.Contains(sample.RawQuery+sample.RawFragment, "0=") {
			t.Fatalf("%q with %q: %q has %d parameters, want %d: %v", template, value, filled, b, a, slices.Collect(maps.Keys(have.Query())))
		}
	})
}

// A body, a header and --follow are filled. Each value is escaped for its position.
func TestText(t *testing.T) {
	for _, test := range []struct {
		form                Form
		source, value, want string
	}{
		{Plain, "X-Id: {}", "a b", "X-Id: a b"},
		{Plain, "X: { }", "a", "X: { }"},
		{Body, `{"id":"{}"}`, `a"b\`, `{"id":"a\"b\\"}`},
		{Body, `{"id":{.id}}`, "7", `{"id":7}`},
		{Body, `{"id":{.id}}`, "7 8", `{"id":"7 8"}`},
		{Body, `{"\"":"{.id}"}`, "a", `{"\"":"a"}`},
		{Body, `[{.id}, { }]`, "true", `[true, { }]`},
		{Body, "id={}&x=1", "a&b c", "id=a%26b+c&x=1"},
		{Body, "<id>{}</id>", "a&b", "<id>a&b</id>"},
		{Body, "{}", "a", "a"},
		{Body, "{}", "@/etc/passwd", "!--data would begin with @, and be the name of a file"},
		{Body, "@{}.json", "a", "@a.json"},
		{Body, `{"id":{}}`, "", "!{} in JSON could be an empty object, or the text of an entry"},
		{Path, "/jobs/{}/{.id}", "a/b", "/jobs/a%2Fb/{.id}"},
	} {
		texts, err := ParseTexts("data", test.form, []string{test.source})
		have := test.source
		if err == nil && texts != nil {
			have, err = texts[0].fill(map[string][]string{"": {test.value}, "id": {test.value}})
		}
		if err != nil {
			have = "!" + err.Error()
		}
		if have != test.want {
			t.Errorf("%s with %q: have %q, want %q", test.source, test.value, have, test.want)
		}
	}
}

func TestParseURL(t *testing.T) {
	const brace = "a brace itself is written %7B"
	for template, want := range map[string]string{
		"http://h/{}":          "",
		"http://h/{ .a-b_C1 }": "",
		"http://h/{id}":        "braces may be empty, {}, or name a field of an entry, {.id}; did you mean {}, or {.id} for a field of an entry that is an object?",
		"h{}/://h":             "the scheme of the URL has a {; " + brace,
		"http://h/%{}":         "the URL has a { within a character that is escaped with %; " + brace,
		"http://h/%2{}":        "the URL has a { within a character that is escaped with %; " + brace,
		"http://h/%20{}%2F{}x": "",
		"http://h/{.a}/{":      "a { of the URL is not closed; " + brace,
		"http://h/{.a.b}":      "braces may be empty, {}, or name a field of an entry, {.id}; " + brace,
		`http://h/{"a":1}`:     "braces may be empty, {}, or name a field of an entry, {.id}; " + brace,
		"http://h/#{}": "the URL has no {} or {.field}, so all targets would be the same; " +
			"put {} where the text of an entry belongs, or give no URL if each entry is one",
		"http://h/": "the URL has no {} or {.field}, so all targets would be the same; " +
			"put {} where the text of an entry belongs, or give no URL if each entry is one",
	} {
		_, err := ParseURL(template, false)
		if have := wordsOf(err); have != want {
			t.Errorf("%s: have %q, want %q", template, have, want)
		}
	}
}

// wordsOf returns the message of err, and its hints if err is a usage error. It returns "" for nil.
func wordsOf(err error) string {
	if e, ok := errors.AsType[*argv.UsageError](err); ok {
		return e.Error() + "; " + strings.Join(e.Hints, "; ")
	}
	return strings.TrimPrefix(fmt.Sprint(err), "<nil>")
}

// Several entries fill a template at once: joined by commas, or each in a separate argument.
func TestTemplate_Fill(t *testing.T) {
	for _, test := range []struct{ template, items, want string }{
		{"http://h/jobs/{}?x=1", "1 2 3", "http://h/jobs/1,2,3?x=1"},
		{"http://h/?ids={}&again={}", "a&b c,d", "http://h/?ids=a%26b,c%2Cd&again=a%26b,c%2Cd"},
		{"http://h/a/{}/b", "x/y .hidden", "http://h/a/x%2Fy,.hidden/b"},
		{"get {} -o json {}", "1 2", `["get" "1" "2" "-o" "json" "1" "2"]`},
		{"get --ids={} -{}", "1 2", `["get" "--ids=1,2" "-1,2"]`},
		{"get {}", "7", `["get" "7"]`},
		{"get {}", "7 -x", "argument 1 of the command begins with -, and would be read as a flag"},
		{"get x{}", "a,b", "argument 1 of the command joins entries by commas, and this one holds a comma"},
		{"get {}", "a,b", `["get" "a,b"]`},
		{"http://h/{}", "..", "in the URL, the text leads out of its place in the path"},
	} {
		parsed, err := ParseURL(test.template, false)
		if !strings.Contains(test.template, "://") {
			parsed, err = ParseCommand(strings.Fields(test.template))
		}
		if err == nil {
			err = parsed.Batch(2)
		}
		if err != nil {
			t.Fatalf("%s: %v", test.template, err)
		}
		url, command, err := parsed.Fill(strings.Fields(test.items))
		have := url
		if err != nil {
			have = err.Error()
		} else if command != nil {
			have = fmt.Sprintf("%q", command)
		}
		if have != test.want {
			t.Errorf("%s with %s: have %q, want %q", test.template, test.items, have, test.want)
		}
	}
}

func TestTemplate_Batch(t *testing.T) {
	for _, test := range []struct {
		template string
		most     int
		want     string
	}{
		{"http://{}/", 1, ""},
		{"http://{}/", 2, "several entries do not fit into the host or the port; "},
		{"http://h:{}/", 2, "several entries do not fit into the host or the port; "},
		{"http://h/{}?{}#{}", 2, ""},
		{"http://h/{.id}", 1, "here an entry is a key, and has no field for {.id}; write {} for the entry itself"},
	} {
		parsed, err := ParseURL(test.template, false)
		if err != nil {
			t.Fatal(err)
		}
		if have := wordsOf(parsed.Batch(test.most)); have != test.want {
			t.Errorf("%s, %d: have %q, want %q", test.template, test.most, have, test.want)
		}
	}
	parsed, err := ParseCommand([]string{"get", "x{}"})
	if err == nil {
		err = parsed.Batch(1)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, command, err := parsed.Fill([]string{"a,b"}); err != nil || command[1] != "xa,b" {
		t.Errorf("one entry at a time: have %q, %v", command, err)
	}
}
