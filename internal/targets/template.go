package targets

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
)

// A Template is a URL or a command with placeholders that entries replace.
type Template struct {
	url    Text   // the URL; the zero Text if the template is a command
	args   []Text // the arguments of a command; nil for a URL
	lists  bool   // whether several entries may fill the template at the same time
	sample string // the URL with "0" in place of each placeholder
}

const escapedBrace = "a brace itself is written %7B"

// ParseURL parses s, a URL with the placeholders {} or {.field}. If isSame is true, the URL may lack placeholders,
// because the targets differ in other settings. The message of a usage error repeats at most the name of a field.
// ParseURL does not check whether the URL is valid after the placeholders are replaced.
func ParseURL(s string, isSame bool) (*Template, error) {
	for _, braces := range regexp.MustCompile(`\{[^}]*\}?`).FindAllString(s, -1) {
		name, isClosed := strings.CutSuffix(braces[1:], "}")
		hint := escapedBrace
		switch {
		case !isClosed:
			return nil, argv.Usagef("a { of the URL is not closed").Hint("%s", hint)
		case holePattern().FindString(braces) == braces:
			continue
		case HasHole("{." + name + "}"):
			hint = "did you mean {}, or {." + name + "} for a field of an entry that is an object?"
		}
		return nil, argv.Usagef("braces may be empty, {}, or name a field of an entry, {.id}").Hint("%s", hint)
	}
	t := &Template{url: newText("", address, s), sample: holePattern().ReplaceAllString(s, "0")}
	sent, _, _ := strings.Cut(s, "#") // the fragment of a URL is never sent
	switch first, _, hasHole := strings.Cut(sent, "{"); {
	case !hasHole && !isSame:
		return nil, argv.Usagef("the URL has no {} or {.field}, so all targets would be the same").
			Hint("put {} where the text of an entry belongs, or give no URL if each entry is one")
	case hasHole && !strings.HasPrefix(first, "/") && !strings.Contains(first, "://"):
		return nil, argv.Usagef("the scheme of the URL has a {").Hint("%s", escapedBrace)
	case regexp.MustCompile(`%[^{]?\{`).MatchString(s):
		return nil, argv.Usagef("the URL has a { within a character that is escaped with %%").Hint("%s", escapedBrace)
	}
	removed := 0 // the number of bytes by which the sample is shorter than the URL up to the current placeholder
	for i := range t.url.holes {
		h := &t.url.holes[i]
		h.place = placeOf(t.sample, h.start-removed)
		removed += h.end - h.start - 1
	}
	return t, nil
}

// Fields returns the names of the fields in the template, in order. The name "" stands for the placeholder {}. If
// t is nil, Fields returns nil.
func (t *Template) Fields() []string {
	switch {
	case t == nil:
		return nil
	case t.args != nil:
		return []string{""}
	}
	return t.url.Fields()
}

// Batch prepares t for entries that are keys. After the call, several entries can fill the template at the same
// time. most is their maximum number. Batch returns a usage error if t contains a field such as {.id}, because a key
// has no fields. If most is greater than 1, it also returns a usage error if {} is part of the host or the port.
func (t *Template) Batch(most int) error {
	t.lists = most > 1
	for _, h := range t.url.holes {
		switch {
		case h.field != "":
			return argv.Usagef("here an entry is a key, and has no field for %s", hole(h.field)).Hint("write {} for the entry itself")
		case t.lists && h.place != inPath && h.place != inQuery:
			return argv.Usagef("several entries do not fit into the host or the port")
		}
	}
	return nil
}

// Fill returns the URL or the command after replacing {} with items. In a URL, it joins the items with commas. In
// a command, an argument that is just {} becomes one argument per item, and {} in other arguments becomes the
// items joined with commas.
func (t *Template) Fill(items []string) (url string, command []string, err error) {
	return t.fill(map[string][]string{"": items})
}

// fill returns the URL or the command after replacing its placeholders. values maps the name of each field to its
// values. The name "" stands for {}.
func (t *Template) fill(values map[string][]string) (url string, command []string, err error) {
	if t.args == nil {
		url, err = t.fillURL(values)
	} else {
		command, err = t.fillCommand(values[""])
	}
	return url, command, err
}

// fillURL returns the URL after replacing its placeholders with values. It joins several values for the same
// placeholder with commas.
//
// Each value is escaped so that it cannot change any other part of the URL. A value in the path is always part of
// one path segment, and cannot turn the segment into "." or "..". A value in the query cannot add a parameter. A
// value can only change the host or the port if the placeholder is in the host or the port. A placeholder that
// stands for both the host and the port accepts "host", "host:port" and "[IPv6]:port".
//
// fillURL also escapes unsafe bytes in the template's own path. Otherwise [net/url.URL] would escape the whole
// path again, and an escaped slash in a value would become a slash.
func (t *Template) fillURL(values map[string][]string) (string, error) {
	filled, err := t.url.fill(values)
	if err == nil && dotSegments(filled) > dotSegments(t.sample) {
		err = errors.New("leads out of its place in the path")
	}
	if err != nil {
		return "", fmt.Errorf("in the URL, the text %w", err)
	}
	start, end := pathOf(filled)
	return filled[:start] + escapeUnsafe(filled[start:end]) + filled[end:], nil
}

// ParseCommand returns a template for the command args. At least one argument must contain [Item], but the
// program, args[0], must not contain it. An [Item] within a shell script is an error, because the shell would
// execute text from the targets file. Any error is a usage error.
func ParseCommand(args []string) (*Template, error) {
	if strings.Contains(args[0], Item) {
		return nil, argv.Usagef("{} is not a program: items fill the arguments of a command").
			Hint("without a command, each entry is a URL, or an object with a url or a command")
	}
	words := strings.Join(args, "\x00")
	isCmd := regexp.MustCompile(`(?i)(?:^|[/\\:])cmd(?:\.exe)?[. ]*$`).MatchString(args[0]) // with cmd.exe, an item in any argument may become a flag
	for at := range words {
		if strings.HasPrefix(words[at:], Item) && (isCmd || isInScript(words[:at])) {
			return nil, argv.Usagef("{} is in the script of a shell, which would run what the items say").
				Hint(`give it to the script as an argument: sh -c 'echo "$1"' sh {}`)
		}
	}
	if !strings.Contains(words, Item) {
		return nil, argv.Usagef("no argument of the command has a {}, so all targets would be the same").
			Hint("put {} where the text of an entry belongs; a command has no fields such as {.id}")
	}
	t := &Template{}
	for _, arg := range args {
		t.args = append(t.args, newText("", argument, arg))
	}
	return t, nil
}

// fillCommand returns the arguments after replacing [Item] with items. Other braces do not change. An argument
// that is just [Item] becomes one argument per item. In other arguments, the items are joined with commas.
// fillCommand returns an error if an item makes an argument start with "-", because the program would interpret
// the argument as a flag.
func (t *Template) fillCommand(items []string) (command []string, err error) {
	for i, arg := range t.args {
		parts := [][]string{items}
		if arg.source == Item {
			parts = slices.Collect(slices.Chunk(items, 1))
		}
		for _, part := range parts {
			filled, _ := arg.fill(map[string][]string{"": part}) // in an argument, any item is valid
			isJoined := t.lists && arg.source != Item && arg.holes != nil
			switch {
			case isJoined && len(items) == 1 && strings.Contains(items[0], ","):
				return nil, fmt.Errorf("argument %d of the command joins entries by commas, and this one holds a comma", i)
			case strings.HasPrefix(filled, "-") && !strings.HasPrefix(arg.source, "-"):
				return nil, fmt.Errorf("argument %d of the command begins with -, and would be read as a flag", i)
			}
			command = append(command, filled)
		}
	}
	return command, nil
}

// isInScript reports whether a position in a command is inside a script that a shell executes. before is the part of
// the command in front of the position, with NUL bytes between the arguments.
//
// A script is the value of a flag such as -c, or an argument after that flag, perhaps with more flags and option
// names between them. Some programs, such as watch, pass all of their arguments to a shell.
func isInScript(before string) bool {
	const (
		words  = `\x00(?:[^\x00]*\x00)*`
		shells = `sh|bash|rbash|dash|ash|zsh|ksh|ksh93|mksh|yash|csh|tcsh|fish|nu|xonsh|elvish|rc|osh|posh|` +
			`npx|npm|capsh|vagrant|su|runuser|flock|script`
		flag   = `(?:-\w*c[^\x00]*|--(?:init-)?c[omand]*(?:=[^\x00]*)?)`
		behind = `\x00(?:[-+]\w*o[^\x00]*\x00[^\x00]*\x00|[-+][^\x00]+\x00)*[^\x00]*`
	)
	found := func(programs, rest string) bool { // Windows ignores dots and blanks at the end of a file name
		return regexp.MustCompile(`(?is)(?:^|[\x00/\\:])(?:` + programs + `)(?:\.exe)?[. ]*` + rest).MatchString(before)
	}
	return found(shells, words+flag+`(?:`+behind+`)?$`) ||
		found(`sg|watch|tmux|hyperfine`, `\x00`) ||
		found(`env`, words+`(?-i:-[i0v]*S|--s[plit]*(?:[-=\x00]|$))`) ||
		found(`cmd`, words+`[^\x00]*/[ckr]`) ||
		found(`powershell|pwsh`, `\x00`) && !found(`powershell|pwsh`, words+`[-/]f(?:i(?:le?)?)?\x00`)
}
