package argv

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program is one that takes URLs, or a command, as the tests need it.
func program() *Program {
	word := func(name string) Constructor {
		return Constructor{name, func() *Command {
			return &Command{Name: name, Flags: Flags{{Name: "exit", Value: "N"}, {Name: "json"}, {Name: "header", Aliases: []string{"H"}, Value: "LINE", Many: true}}}
		}}
	}
	return &Program{
		Name: "poll", Variables: "POLL_",
		Main: &Command{
			Flags: Flags{
				{Name: "until", Value: "EXPR", Many: true, Distinctive: true}, {Name: "strict"}, {Name: "timeout", Value: "D"},
				{Name: "strategy", Value: "S", Words: []string{"exponential", "linear", "fixed"}, Default: "exponential"},
				{Name: "interval", Value: "D"}, {Name: "factor", Value: "F"}, {Name: "overshoot", Value: "PCT"}, {Name: "max-wait", Value: "D"},
				{Name: "request", Aliases: []string{"X"}, Value: "METHOD"}, {Name: "data", Aliases: []string{"d"}, Value: "DATA", Many: true, MayBeEmpty: true},
				{Name: "header", Aliases: []string{"H"}, Value: "LINE", Many: true}, {Name: "insecure", Aliases: []string{"k"}},
				{Name: "silent", Aliases: []string{"s"}, Hidden: true}, {Name: "show-error", Aliases: []string{"S"}, Hidden: true},
				{Name: "fail", Aliases: []string{"f"}, Hidden: true}, {Name: "location", Aliases: []string{"L"}, Hidden: true},
				{Name: "show-stderr"}, {Name: "json"}, {Name: "quiet", Aliases: []string{"q"}}, {Name: "verbose", Aliases: []string{"v"}},
				{Name: "progress", Value: "P", Words: []string{"lines", "json", "none"}},
			},
			MaxOperands: Any,
			Conflicts: []Conflict{
				{Flag: "interval", Other: "factor"}, {Flag: "overshoot", Other: "strategy", Unless: "exponential"},
				{Flag: "quiet", Other: "progress", Unless: "none"}, {Flag: "quiet", Other: "verbose"},
				{Flag: "show-stderr", Other: "progress", Only: "json"},
			},
			Run: func(context.Context, *Line) error { return nil },
		},
		Subcommands: []Constructor{word("demo"), word("eval")},
		Synonyms:    map[string]string{"max-time": "timeout", "m": "timeout", "body": "data"},
		IsOperand:   func(word string) bool { return strings.Contains(word, "://") },
		Describe:    func(string) (string, string) { return "", "" },
		Lookup:      func(string) (string, bool) { return "", false },
		Write:       func(context.Context, string) error { return nil },
	}
}

// show writes what was read in one line: the flags, then "cmd" or "url" or
// "sub", then the words.
func (r *reader) show() string {
	var b strings.Builder
	for _, f := range r.flags {
		b.WriteString(f[2:] + " ")
	}
	switch {
	case r.command != r.program.Main:
		fmt.Fprintf(&b, "sub %s %q", r.command.Name, r.Operands)
	case r.isProgram:
		fmt.Fprintf(&b, "cmd %q", r.Operands)
	case len(r.Operands) > 0:
		fmt.Fprintf(&b, "url %q", r.Operands)
	}
	if len(r.Then) > 0 {
		fmt.Fprintf(&b, " then %q", r.Then)
	}
	return strings.TrimSpace(b.String())
}

// show writes a line that was read as [reader.show] does.
func (l *Line) show() string {
	r := l.reader
	r.flags = nil
	for _, g := range l.Given {
		r.flags = append(r.flags, "--"+g.Flag.Name+"="+g.Value)
	}
	return r.show()
}

// readAll reads all words, up to an error.
func readAll(args []string) (r reader, err error) {
	p := program()
	r = reader{program: p, command: p.Main}
	for len(args) > 0 && err == nil {
		args, err = r.read(args)
	}
	return r, err
}

// readLine reads a line of the main command to its end, with variables.
func readLine(t *testing.T, args []string, env map[string]string) (*Line, error) {
	t.Helper()
	p := program()
	p.Lookup = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	return p.Run(t.Context(), args)
}

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"nothing", nil, ``},
		{"a URL", []string{"http://h/x"}, `url ["http://h/x"]`},
		{"a URL of any scheme", []string{"ftp://h/x"}, `url ["ftp://h/x"]`},
		{"flags before the URL", []string{"--timeout", "5s", "http://h"}, `timeout=5s url ["http://h"]`},
		{"flags after the URL", []string{"http://h", "--timeout", "5s", "-q"}, `timeout=5s quiet=true url ["http://h"]`},
		{"flags on both sides", []string{"-q", "http://h", "--timeout=5s"}, `quiet=true timeout=5s url ["http://h"]`},
		{"two URLs", []string{"http://a", "-q", "http://b"}, `quiet=true url ["http://a" "http://b"]`},
		{"a URL behind dashes", []string{"--", "http://h"}, `url ["http://h"]`},
		{"a URL and a program", []string{"http://h", "-q", "--", "app", "--", "-v"}, `quiet=true url ["http://h"] then ["app" "--" "-v"]`},
		{"URLs and a program", []string{"http://a", "http://b", "--", "--odd"}, `url ["http://a" "http://b"] then ["--odd"]`},
		{"a URL and a program like a subcommand", []string{"http://h", "--", "demo"}, `url ["http://h"] then ["demo"]`},

		{"a command", []string{"ls", "-l", "--timeout", "x"}, `cmd ["ls" "-l" "--timeout" "x"]`},
		{"a command behind dashes", []string{"-q", "--", "ls", "--", "-v"}, `quiet=true cmd ["ls" "--" "-v"]`},
		{"a command's own dashes", []string{"ssh", "--", "host"}, `cmd ["ssh" "--" "host"]`},
		{"a command with a URL", []string{"curl", "http://h"}, `cmd ["curl" "http://h"]`},
		{"a command like a flag", []string{"--", "--odd"}, `cmd ["--odd"]`},
		{"a command like a subcommand", []string{"--", "demo"}, `cmd ["demo"]`},
		{"an empty word", []string{""}, `cmd [""]`},
		{"a dash", []string{"-"}, `cmd ["-"]`},
		{"nothing behind dashes", []string{"-q", "--"}, `quiet=true`},

		{"a subcommand", []string{"demo", "--json", "y"}, `json=true sub demo ["y"]`},
		{"a subcommand's name as a value", []string{"--until", "demo", "ls"}, `until=demo cmd ["ls"]`},

		{"a value with an equals sign", []string{"--until=a==b", "ls"}, `until=a==b cmd ["ls"]`},
		{"an empty value", []string{"--until=", "ls"}, `until= cmd ["ls"]`},
		{"a value like a flag", []string{"--until", "-1 < .n", "ls"}, `until=-1 < .n cmd ["ls"]`},
		{"a value like an unknown flag", []string{"-d", "--boundary", "http://h"}, `data=--boundary url ["http://h"]`},
		{"a repeated flag", []string{"--until", "a", "--until", "b,c", "ls"}, `until=a until=b,c cmd ["ls"]`},
		{"a switch turned off", []string{"--strict=false", "--json=no", "ls"}, `strict=false json=false cmd ["ls"]`},
		{"a switch turned on", []string{"--strict=1", "--json=yes", "ls"}, `strict=true json=true cmd ["ls"]`},
		{"an alias", []string{"--request", "PUT", "http://h"}, `request=PUT url ["http://h"]`},

		{"short", []string{"-X", "PUT", "http://h"}, `request=PUT url ["http://h"]`},
		{"short glued", []string{"-XPUT", "http://h"}, `request=PUT url ["http://h"]`},
		{"short glued to a file", []string{"-d@f", "http://h"}, `data=@f url ["http://h"]`},
		{"short glued to a header", []string{"-HAccept: a", "http://h"}, `header=Accept: a url ["http://h"]`},
		{"short switches glued", []string{"-sSfL", "http://h"}, `silent=true show-error=true fail=true location=true url ["http://h"]`},
		{"short switches and a value", []string{"-skXPUT", "http://h"}, `silent=true insecure=true request=PUT url ["http://h"]`},
		{"short switches and the next word", []string{"-skd", "a=1", "http://h"}, `silent=true insecure=true data=a=1 url ["http://h"]`},
		{"data keeps its equals sign", []string{"-da=1", "http://h"}, `data=a=1 url ["http://h"]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := readAll(test.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.show()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What was read before an error is kept: --json shapes how it is told.
func TestRead_errorKeepsFlags(t *testing.T) {
	t.Parallel()
	l, err := program().Run(t.Context(), []string{"--json", "--tiemout", "5s", "ls"})
	if err == nil || !l.On("json") {
		t.Errorf("have json %v and error %v", l.On("json"), err)
	}
}

func TestRead_subcommand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"flags between operands", []string{"a", "--exit", "3", "b", "--json"}, `exit=3 json=true sub eval ["a" "b"]`},
		{"dashes", []string{"a", "--", "--exit", "--", "b"}, `sub eval ["a" "--exit" "--" "b"]`},
		{"a dash", []string{".x", "-"}, `sub eval [".x" "-"]`},
		{"short", []string{"-HA: b", "x"}, `header=A: b sub eval ["x"]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := readAll(append([]string{"eval"}, test.args...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, r.show()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want string
	}{
		{"a value", []string{"ls"}, map[string]string{"POLL_TIMEOUT": "5s"}, `timeout=5s cmd ["ls"]`},
		{"a flag wins", []string{"--timeout", "1s", "ls"}, map[string]string{"POLL_TIMEOUT": "5s"}, `timeout=1s cmd ["ls"]`},
		{"a flag wins over all of a list", []string{"--until", "a", "ls"}, map[string]string{"POLL_UNTIL": "b\nc"}, `until=a cmd ["ls"]`},
		{"empty is unset", []string{"ls"}, map[string]string{"POLL_TIMEOUT": "", "POLL_STRICT": ""}, `cmd ["ls"]`},
		{"one line each", []string{"ls"}, map[string]string{"POLL_UNTIL": "a,b\nc\n"}, `until=a,b until=c cmd ["ls"]`},
		{"a switch", []string{"ls"}, map[string]string{"POLL_STRICT": "1", "POLL_JSON": "off"}, `strict=true json=false cmd ["ls"]`},
		{"a switch turned off again", []string{"--strict=false", "ls"}, map[string]string{"POLL_STRICT": "1"}, `strict=false cmd ["ls"]`},
		{"dashes are underscores", []string{"ls"}, map[string]string{"POLL_MAX_WAIT": "1s"}, `max-wait=1s cmd ["ls"]`},
		{"an empty value that means something", []string{"--data=", "ls"}, nil, `data= cmd ["ls"]`},
		{"a hidden flag has none", []string{"ls"}, map[string]string{"POLL_SILENT": "1"}, `cmd ["ls"]`},
		{"the child's are not flags", []string{"ls"}, map[string]string{"POLL_ATTEMPT": "3", "POLL_ELAPSED": "1", "POLL_STATUS": "ERROR"}, `cmd ["ls"]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, err := readLine(t, test.args, test.env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, l.show()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every word reaches the library as it was typed, whatever is in it.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"--until a --timeout=5s http://h -q", "-sSfL -XPOST -d@f http://h", "-- ls -l", "demo x", "-", "--", "-d", "--=", "-=", "--x=",
		"http://a -- http://b", "-\xff", "--until -- --until", "-é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		s, err := readAll(args)
		if err != nil {
			if !IsUsage(err) {
				t.Errorf("%q: %v is no usage error", args, err)
			}
			return
		}
		if n := len(s.Operands); s.isProgram && !cmp.Equal(s.Operands, args[len(args)-n:]) {
			t.Errorf("%q: the command %q is not verbatim", args, s.Operands)
		}
		for i, f := range s.flags {
			_, value, _ := strings.Cut(f, "=")
			if !s.seen[i].IsSwitch() && !strings.Contains(line, value) {
				t.Errorf("%q: %q was never given", args, value)
			}
		}
	})
}
