package targets

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Item is the part of a template that is replaced by the text of an entry.
const Item = "{}"

// A Template is a URL or a command that each entry fills.
type Template struct {
	args  []string // the arguments of a command; nil for a URL
	lists bool     // several entries may fill the template at once

	texts  []string // the parts of the URL around the fields, one more than fields
	fields []string // the fields between texts; "" is the item
	places []place  // the parts of the URL where the fields are
	sample string   // the URL with a 0 for each field
	dots   int      // the number of dot segments in the path of sample
}

const escapedBrace = "a brace itself is written %7B"

// ParseURL parses s, a URL that contains {} or {.field}. If isSame is true, the URL may do without them, since
// entries fill other texts. The error is an [*Error] that repeats at most a field. The caller checks whether a
// filled URL can be requested.
func ParseURL(s string, isSame bool) (*Template, error) {
	t := &Template{}
	for {
		text, rest, found := strings.Cut(s, "{")
		t.texts = append(t.texts, text)
		if !found {
			break
		}
		hole, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, wrong(0, escapedBrace, "a { of the URL is not closed")
		}
		field, err := fieldOf(strings.TrimSpace(hole))
		if err != nil {
			return nil, err
		}
		t.fields, s = append(t.fields, field), after
	}
	switch first := t.texts[0]; {
	case len(t.fields) == 0 && isSame:
	case len(t.fields) == 0:
		return nil, wrong(0, "put {} where the text of an entry belongs, or give no URL if each entry is one",
			"the URL has no {} or {.field}, so all targets would be the same")
	case !strings.HasPrefix(first, "/") && !strings.Contains(first, "://"):
		return nil, wrong(0, escapedBrace, "the scheme of the URL has a {")
	}
	return t, t.locate()
}

// fieldOf returns the field that the text between braces names. It returns "" for the item.
func fieldOf(hole string) (string, error) {
	name := regexp.MustCompile(`^\.?[A-Za-z_][A-Za-z0-9_-]*$`)
	switch {
	case hole == "":
		return "", nil
	case !name.MatchString(hole):
		return "", wrong(0, escapedBrace, "braces may be empty, {}, or name a field of an entry, {.id}")
	case hole[0] != '.':
		return "", wrong(0, "did you mean {}, or {."+hole+"} for a field of an entry that is an object?",
			"braces may be empty, {}, or name a field of an entry, {.id}")
	}
	return hole[1:], nil
}

// locate sets the place of each field. It also escapes unsafe characters in the path of the template. Otherwise
// [net/url.URL] would escape the whole path again, and an escaped slash in a value would become a slash.
func (t *Template) locate() error {
	start, end := pathOf(strings.Join(t.texts, "0"))
	for i, text := range t.texts {
		from, to := min(max(start, 0), len(text)), min(max(end, 0), len(text))
		t.texts[i] = text[:from] + escapeUnsafe(text[from:to]) + text[to:]
		start, end = start-len(text)-1, end-len(text)-1
	}
	t.sample = strings.Join(t.texts, "0")
	t.dots = dotSegments(t.sample)
	at := 0
	for _, text := range t.texts[:len(t.fields)] {
		at += len(text)
		if splitsEscape(t.sample[:at]) {
			return wrong(0, escapedBrace, "the URL has a { within a character that is escaped with %%")
		}
		t.places = append(t.places, placeOf(t.sample, at))
		at++
	}
	return nil
}

// Fields returns the fields of the template, in their order. "" stands for the item. t may be nil, which has no
// fields.
func (t *Template) Fields() []string {
	switch {
	case t == nil:
		return nil
	case t.args != nil:
		return []string{""}
	}
	return t.fields
}

// Batch prepares t for entries that are only keys, so that up to most entries fill t at once. The error is an
// [*Error]. Batch fails if t has a field of an object. It also fails if most is above 1 and {} is in the host or
// the port.
func (t *Template) Batch(most int) error {
	t.lists = most > 1
	for i, field := range t.fields {
		switch {
		case field != "":
			return wrong(0, "write {} for the entry itself", "here an entry is a key, and has no field for %s", hole(field))
		case t.lists && t.places[i] != inPath && t.places[i] != inQuery:
			return wrong(0, "", "several entries do not fit into the host or the port")
		}
	}
	return nil
}

// Fill returns the URL or the command filled with items. A URL has the items joined by commas. In a command, an
// argument {} becomes an argument for each item.
func (t *Template) Fill(items []string) (url string, command []string, err error) {
	return t.fill(map[string][]string{"": items})
}

// fill returns the URL or the command filled with values, by the names of the fields.
func (t *Template) fill(values map[string][]string) (url string, command []string, err error) {
	if t.args == nil {
		url, err = t.fillURL(values)
	} else {
		command, err = t.fillCommand(values[""])
	}
	return url, command, err
}

// fillURL returns the URL filled with values. Several values of a field are joined by commas.
//
// Each value is escaped for its place, so that it cannot start another part of the URL. A value in the path is
// always one segment, and cannot leave its position in the path. A value in the query cannot add a parameter.
// Only a field in the host or the port changes the host or the port. A field that is the whole host and port
// takes "host", "host:port" and "[IPv6]:port".
func (t *Template) fillURL(values map[string][]string) (string, error) {
	var b strings.Builder
	b.Grow(len(t.sample) + 16*len(t.fields))
	for i, field := range t.fields {
		b.WriteString(t.texts[i])
		for j, text := range values[field] {
			escaped, problem := t.places[i].escape(text)
			if problem == "" && t.places[i] == inPath && strings.Contains(text, ".") &&
				dotSegments(b.String()+escaped+strings.Join(t.texts[i+1:], "0")) > t.dots {
				problem = "leads out of its place in the path"
			}
			if problem != "" {
				return "", errors.New("in the URL, the text " + problem)
			}
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(escaped)
		}
	}
	b.WriteString(t.texts[len(t.fields)])
	return b.String(), nil
}

// ParseCommand returns a template for a command that entries fill. The error is an [*Error]. At least one of
// args must contain [Item], but not the program. No [Item] may be in the script of a shell, since the shell
// would run the text of an entry.
func ParseCommand(args []string) (*Template, error) {
	if strings.Contains(args[0], Item) {
		return nil, wrong(0, "without a command, each entry is a URL, or an object with a url or a command",
			"{} is no program: items fill the arguments of a command")
	}
	words := strings.Join(args, "\x00")
	isCmd := regexp.MustCompile(`(?i)(?:^|[/\\:])cmd(?:\.exe)?[. ]*$`).MatchString(args[0]) // in cmd, an item in any argument may become a flag
	for at := range words {
		if strings.HasPrefix(words[at:], Item) && (isCmd || isInScript(words[:at])) {
			return nil, wrong(0, `give it to the script as an argument: sh -c 'echo "$1"' sh {}`,
				"{} is in the script of a shell, which would run what the items say")
		}
	}
	if !strings.Contains(words, Item) {
		return nil, wrong(0, "put {} where the text of an entry belongs",
			"no argument of the command has a {}, so all targets would be the same")
	}
	return &Template{args: args}, nil
}

// fillCommand returns the arguments filled with items. Only [Item] is replaced; other braces stay. An argument
// that is equal to [Item] becomes an argument for each item. Any other argument has the items joined by commas.
// It fails if an argument starts with "-" only because of an item: the program would read the argument as a
// flag.
func (t *Template) fillCommand(items []string) (command []string, err error) {
	for i, arg := range t.args {
		texts := items
		if arg != Item {
			texts = []string{strings.Join(items, ",")}
		}
		for _, text := range texts {
			filled := strings.ReplaceAll(arg, Item, text)
			isList := t.lists && arg != Item && filled != arg
			switch {
			case isList && len(items) == 1 && strings.Contains(text, ","):
				return nil, fmt.Errorf("argument %d of the command joins entries by commas, and this one holds a comma", i)
			case strings.HasPrefix(filled, "-") && !strings.HasPrefix(arg, "-"):
				return nil, fmt.Errorf("argument %d of the command begins with -, and would be read as a flag", i)
			}
			command = append(command, filled)
		}
	}
	return command, nil
}

// isInScript reports whether a position in a command is inside a script that a shell runs. before holds the
// earlier arguments and the start of the current argument, separated by NUL bytes.
//
// A script is in the argument of a flag such as -c, or follows that flag, other flags, and the names of options.
// Some programs, such as watch, run all of their arguments.
func isInScript(before string) bool {
	const (
		words  = `\x00(?:[^\x00]*\x00)*`
		shells = `sh|bash|rbash|dash|ash|zsh|ksh|ksh93|mksh|yash|csh|tcsh|fish|nu|xonsh|elvish|rc|osh|posh|` +
			`npx|npm|capsh|vagrant|su|runuser|flock|script`
		flag   = `(?:-\w*c[^\x00]*|--(?:init-)?c[omand]*(?:=[^\x00]*)?)`
		behind = `\x00(?:[-+]\w*o[^\x00]*\x00[^\x00]*\x00|[-+][^\x00]+\x00)*[^\x00]*`
	)
	found := func(programs, rest string) bool { // Windows ignores dots and blanks at the end of a name
		return regexp.MustCompile(`(?is)(?:^|[\x00/\\:])(?:` + programs + `)(?:\.exe)?[. ]*` + rest).MatchString(before)
	}
	return found(shells, words+flag+`(?:`+behind+`)?$`) ||
		found(`sg|watch|tmux|hyperfine`, `\x00`) ||
		found(`env`, words+`(?-i:-[i0v]*S|--s[plit]*(?:[-=\x00]|$))`) ||
		found(`cmd`, words+`[^\x00]*/[ckr]`) ||
		found(`powershell|pwsh`, `\x00`) && !found(`powershell|pwsh`, words+`[-/]f(?:i(?:le?)?)?\x00`)
}

// A place is a part of a URL that a value is put into.
type place uint8

const (
	inPath      place = iota
	inQuery           // in the query or the fragment
	inHost            // in the host name, or in the user name or password before it
	inPort            // in the port
	inAuthority       // the field is the whole host and port
)

// placeOf returns the part of the URL u that contains the byte at the offset at.
func placeOf(u string, at int) place {
	start, end := pathOf(u)
	switch {
	case at >= end:
		return inQuery
	case at >= start:
		return inPath
	}
	scheme := strings.Index(u, "://") + len("://")
	before, after := u[scheme:at], u[at+1:start]
	switch {
	case before+after == "":
		return inAuthority
	case !strings.Contains(after, "@") && strings.Contains(before[strings.LastIndexAny(before, "@]")+1:], ":"):
		return inPort
	}
	return inHost
}

// pathOf returns the offsets of the start and the end of the path in the URL u.
func pathOf(u string) (start, end int) {
	end = strings.IndexAny(u+"?", "?#")
	scheme, rest, absolute := strings.Cut(u[:end], "://")
	if !absolute || strings.Contains(scheme, "/") {
		return 0, end
	}
	return end - len(rest) + strings.IndexByte(rest+"/", '/'), end
}

// escape returns text escaped for the place p, or the reason why text cannot be there.
func (p place) escape(text string) (escaped, problem string) {
	switch {
	case text == "":
		return "", "is empty"
	case p == inQuery:
		return url.QueryEscape(text), ""
	case p == inHost && strings.ContainsFunc(text, notInHost):
		return "", "is no part of a host name"
	case p == inPort && strings.ContainsFunc(text, notDigit):
		return "", "is no port"
	case p == inAuthority && !isAuthority(text):
		return "", "is no host, with or without a port"
	case p != inPath:
		return text, ""
	}
	return url.PathEscape(text), ""
}

// notInHost reports whether r cannot be in a host name.
func notInHost(r rune) bool {
	return r != '-' && r != '.' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && notDigit(r)
}

// notDigit reports whether r is not an ASCII digit.
func notDigit(r rune) bool { return r < '0' || r > '9' }

// isAuthority reports whether text, which is not empty, is a host, or a host and a port. An IPv6 address must be
// in brackets.
func isAuthority(text string) bool {
	host, port, hasPort := strings.Cut(text, ":")
	if address, rest, bracket := strings.Cut(strings.TrimPrefix(text, "["), "]"); text[0] == '[' && bracket {
		ip, err := netip.ParseAddr(address)
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return false
		}
		host, port, hasPort = "ip", strings.TrimPrefix(rest, ":"), rest != ""
		if hasPort && rest[0] != ':' {
			return false
		}
	}
	if _, err := strconv.ParseUint(port, 10, 16); hasPort && err != nil {
		return false
	}
	return host != "" && !strings.ContainsFunc(host, notInHost)
}

// dotSegments returns the number of segments "." and ".." in the path of the URL u. When the URL is resolved,
// these segments are removed, and ".." removes the previous segment (RFC 3986 section 5.2.4).
func dotSegments(u string) int {
	start, end := pathOf(u)
	n := 0
	for segment := range strings.SplitSeq(u[start:end], "/") {
		if plain, err := url.PathUnescape(segment); err == nil && (plain == "." || plain == "..") {
			n++
		}
	}
	return n
}

// escapeUnsafe returns path after escaping the bytes that must not be in a path (RFC 3986 section 3.3).
func escapeUnsafe(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c >= 0x80 || strings.IndexByte(" \"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// splitsEscape reports whether text ends within an escape such as "%2F".
func splitsEscape(text string) bool {
	i := strings.LastIndexByte(text, '%')
	return i >= 0 && i > len(text)-3
}
