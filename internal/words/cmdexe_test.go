package words

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	t.Setenv("SystemRoot", `C:\Windows`)
	const cmd = `C:\Windows\System32\cmd.exe`
	const batch = `cmd.exe /e:ON /v:OFF /d /c ""C:\x y\a.bat"`
	for _, test := range []struct {
		path    string
		args    []string
		program string
		line    string
		err     error
	}{
		{path: `C:\x\go.exe`, args: []string{`a b`, "x\ny"}, program: `C:\x\go.exe`},
		{path: `C:\x\bat`, program: `C:\x\bat`},
		{path: `C:\x.bat\y`, program: `C:\x.bat\y`},

		{path: cmd, program: cmd},
		{path: cmd, args: []string{"/d"}, program: cmd},
		{path: cmd, args: []string{"/c", "echo", `{"state":"done"}`}, program: cmd, line: `cmd.exe /c "echo {"state":"done"}"`},
		{path: cmd, args: []string{"/c", `echo {"a": 1} & dir`}, program: cmd, line: `cmd.exe /c "echo {"a": 1} & dir"`},
		{path: cmd, args: []string{"/d", "/S", "/K", "dir", `C:\my files`, ""}, program: cmd, line: `cmd.exe /d /S /K "dir "C:\my files" """`},
		{path: `D:\CMD.EXE. `, args: []string{"/Cdir", "/c"}, program: `D:\CMD.EXE. `, line: `cmd.exe /C "dir /c"`},
		{path: cmd, args: []string{"/d/c", "echo", `{"a":1}`}, program: cmd, line: `cmd.exe /d/c "echo {"a":1}"`},
		{path: cmd, args: []string{"/v:on /Kdir", "/"}, program: cmd, line: `cmd.exe /v:on /K "dir /"`},
		{path: cmd, args: []string{"/c", `C:\my prog.exe`}, program: cmd, line: `cmd.exe /c "C:\my prog.exe"`},
		{path: cmd, args: []string{"/c", "curl", "http://h/?a=1&b=2", "&&", "x", "2>nul", ">", "a b", "||", "3&4"}, program: cmd,
			line: `cmd.exe /c "curl "http://h/?a=1&b=2" && x 2>nul > "a b" || "3&4""`},
		{path: cmd, args: []string{"/c", "echo", "%PATH%", "^&"}, program: cmd, line: `cmd.exe /c "echo %PATH% "^&""`},
		{path: cmd, args: []string{"/c", "echo\ndir"}, err: errLines},

		{path: `C:\x y\a.bat`, program: cmd, line: batch + `"`},
		{path: `C:\x y\a.bat. .`, args: []string{"a", "-b=1", "", `a\`, `\b`}, program: cmd, line: batch + ` a "-b=1" "" "a\\" \b"`},
		{path: `C:\x y\a.bat`, args: []string{"a&b", "é"}, program: cmd, line: batch + ` "a&b" "é""`},
		{path: `C:\x y\a.bat`, args: []string{"%PATH%"}, program: cmd, line: batch + ` "%%cd:~,%PATH%%cd:~,%""`},
		{path: `C:\1%\A.CMD`, program: cmd, line: `cmd.exe /e:ON /v:OFF /d /c ""C:\1%%cd:~,%\A.CMD""`},
		{path: `C:\a.bat`, args: []string{"a\r"}, err: errUnfit},
		{path: `C:\a.bat`, args: []string{"b", `a"`}, err: errUnfit},
		{path: `C:\a.bat`, args: []string{"a\x00"}, err: errUnfit},
		{path: `C:\a.bat`, args: []string{strings.Repeat("a", mostBytes)}, err: errLong},
	} {
		program, line, err := CommandLine(test.path, append([]string{"name"}, test.args...))
		if !errors.Is(err, test.err) || err == nil && (program != test.program || line != test.line) {
			t.Errorf("%s %q: have %s, %s, %v, want %s, %s, %v", test.path, test.args, program, line, err, test.program, test.line, test.err)
		}
	}
}

// Whatever the arguments of a batch file are, it gets them, and nothing else is run.
func TestBatchLine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{`%`, `%`, `\`, `&`, `|`, `<`, `>`, `^`, `(`, `)`, `!`, `,`, `;`, `=`, ` `, "\t", `:~,`, `:`, `cd`, `path`, `*`, `1`, `~1`, "\u00a0", "é", `/c`, "\xff"}
	for range 50_000 {
		args := make([]string, random.IntN(4))
		for i := range args {
			for range random.IntN(8) {
				args[i] += pieces[random.IntN(len(pieces))]
			}
		}
		checkBatch(t, args)
	}
}

func checkBatch(t *testing.T, args []string) {
	t.Helper()
	const path = `C:\a&b %path%\x.bat`
	_, script, _ := strings.Cut(batchLine(path, args), " /c ")
	text := expanded(unwrapped(script))
	if outside(text, "&|<>^()") {
		t.Fatalf("%q: something else is run: %s", args, text)
	}
	words := split(text)
	if words[0] != `"`+path+`"` || len(words) != 1+len(args) {
		t.Fatalf("%q: have words %q", args, words)
	}
	for _, word := range words[1:] { // as in "%~1"
		if bare := `"` + strings.TrimSuffix(strings.TrimPrefix(word, `"`), `"`) + `"`; outside(bare, "&|<>^()") {
			t.Fatalf("%q: something else is run within quotes of the batch file's: %s", args, bare)
		}
	}
	if have := runtimeArgs(text)[1:]; !slices.Equal(have, args) {
		t.Fatalf("%q: a program gets %q", args, have)
	}
}

// unwrapped takes the first and the last quote away, as cmd.exe does of more than two.
func unwrapped(script string) string {
	last := strings.LastIndex(script, `"`)
	return script[1:last] + script[last+1:]
}

// expanded expands variables as cmd.exe does on a command line with its extensions.
func expanded(text string) string {
	variables := map[string]string{"cd": `C:\"&calc`, "path": `"&calc&"`}
	var b strings.Builder
	for text != "" {
		before, rest, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			break
		}
		inner, after, closed := strings.Cut(rest, "%")
		name, part, modified := strings.Cut(inner, ":")
		value, exists := variables[strings.ToLower(name)]
		switch {
		case !closed, !exists:
			b.WriteByte('%')
			text = rest
			continue
		case modified && part == "~,":
			value = ""
		}
		b.WriteString(value)
		text = after
	}
	return b.String()
}

// outside reports whether some of chars is outside of quotes.
func outside(text, chars string) bool {
	quoted := false
	for _, c := range []byte(text) {
		if c == '"' {
			quoted = !quoted
		} else if !quoted && strings.IndexByte(chars, c) >= 0 {
			return true
		}
	}
	return quoted // what follows the line would be in the quotes
}

// split splits a line as a batch file sees its arguments.
func split(text string) []string {
	quoted := false
	return strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && strings.ContainsRune(" \t,;=\v\f\u00a0", r)
	})
}

// runtimeArgs takes a command line apart as the C runtime does.
func runtimeArgs(line string) (args []string) {
	var arg strings.Builder
	quoted, begun, backslashes := false, false, 0
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c == '\\' {
			backslashes++
			begun = true
			continue
		}
		if c == '"' {
			arg.WriteString(strings.Repeat(`\`, backslashes/2))
			begun = true
			switch {
			case backslashes%2 == 1:
				arg.WriteByte(c)
			case quoted && i+1 < len(line) && line[i+1] == '"':
				arg.WriteByte(c)
				i++
			default:
				quoted = !quoted
			}
			backslashes = 0
			continue
		}
		arg.WriteString(strings.Repeat(`\`, backslashes))
		backslashes = 0
		if !quoted && (c == ' ' || c == '\t') {
			if begun {
				args = append(args, arg.String())
			}
			arg.Reset()
			begun = false
			continue
		}
		arg.WriteByte(c)
		begun = true
	}
	arg.WriteString(strings.Repeat(`\`, backslashes))
	if begun {
		args = append(args, arg.String())
	}
	return args
}
