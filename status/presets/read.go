package presets

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// fields returns the byte offsets of the start and the end of each field in text. A field is a line of the form
// "key: value", together with the indented lines that continue it.
func fields(text string) (all [][2]int) {
	from, isOpen := 0, false
	for line := range strings.Lines(text) {
		to := from + len(strings.TrimSuffix(line, "\n"))
		switch isBlank := line[0] == ' ' || line[0] == '\t'; {
		case isOpen && isBlank:
			all[len(all)-1][1] = to
		case line[0] == '#' || line[0] == '\n':
			isOpen = false
		default:
			all, isOpen = append(all, [2]int{from, to}), true
		}
		from += len(line)
	}
	return all
}

// isKey matches a string that could be a key. Errors quote a key only if it matches, because a file that is not a
// preset file may contain secrets.
var isKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z-]{1,20}$`) })

// isName matches the name of a preset.
var isName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:-]*$`) })

// isNoText reports whether c cannot appear in a preset file: c is a control character other than a line feed or a
// tab, or stands for malformed UTF-8.
func isNoText(c rune) bool {
	return unicode.IsControl(c) && c != '\n' && c != '\t' || c == utf8.RuneError
}

// Read parses text, the content of file, and returns its presets. A preset consists of lines of the form "key:
// value". An empty line usually separates presets. A line that starts with a space or a tab continues the line
// above. A line that starts with # is a comment.
//
// Each preset starts with the key name. The name must not be a name or an alias of an earlier preset. The other
// keys are:
//
//   - the keys of rules, which are the results of [status.Status.RuleName]; the value is a condition, and after " -- " the reason of the
//     verdict if the rule matches
//   - the keys of a [Setting]
//   - alias, api, example, note, many, object, match and detail
//
// Each preset has at least one rule. The keys of rules, and alias, many, detail, id and print, may occur several
// times, and every other key once. The keys object and each exclude each other. Expressions must not use $ENV.
//
// An error starts with the file, the line and the column, as in "mine.txt:3:8: ". Lines and columns are counted
// from 1, and columns are counted in characters. An error does not quote a line that is not part of a preset,
// because it may contain a secret.
func Read(file, text string) ([]Preset, error) { return read(file, text, compiles) }

// read implements Read, and calls check for each field. It stops at the first error that check returns.
func read(file, text string, check func(key, value string) error) (presets []Preset, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if i := strings.IndexFunc(text, isNoText); i >= 0 {
		return nil, fmt.Errorf("%s: a preset is text, without control characters", position(file, text, i))
	}
	for _, at := range fields(text) {
		field := text[at[0]:at[1]]
		joined := strings.ReplaceAll(field, "\n", "")
		key, value, isField := strings.Cut(joined, ":")
		value = strings.TrimSpace(value)
		switch begins := key == "name"; {
		case !isField || !isKey().MatchString(key):
			err = errors.New("a line of a preset is key: value")
		case !begins && len(presets) == 0:
			err = fmt.Errorf("a stanza begins with its name, not with %q", key)
		case begins && slices.ContainsFunc(presets, func(p Preset) bool { return p.Named(value) }):
			err = fmt.Errorf("there are two presets of the name %s", value)
		default:
			if begins {
				presets = append(presets, Preset{File: file})
			}
			start := at[0] + strings.Index(field, value)
			p := &presets[len(presets)-1]
			p.Text += field + "\n"
			err = p.set(key, value, func() string { return position(file, text, start) })
			if err == nil {
				err = check(key, value)
			}
		}
		if problem, ok := errors.AsType[*expr.Error](err); ok {
			at[0] += offsetIn(field, joined, problem)
			err = errors.New(strings.TrimSuffix(problem.Message+": "+problem.Hint, ": "))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", position(file, text, at[0]), err)
		}
	}
	for _, p := range presets {
		if len(p.rules) == 0 {
			return nil, fmt.Errorf("%s: preset %s has no rule, such as until: .state == \"done\"", file, p.Name)
		}
	}
	return presets, nil
}

// position returns the position of the byte offset in text, in the form FILE:LINE:COLUMN. Lines and columns are
// counted from 1.
func position(file, text string, offset int) string {
	before := text[:offset]
	column := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	return fmt.Sprintf("%s:%d:%d", file, strings.Count(before, "\n")+1, column+1)
}

// offsetIn returns the byte offset of problem in field, which may have several lines. joined is field without line
// feeds. joined contains problem.Source.
func offsetIn(field, joined string, problem *expr.Error) int {
	offset := strings.Index(joined, problem.Source) + problem.Offset
	for i, c := range field {
		if c == '\n' && i <= offset {
			offset++
		}
	}
	return offset
}

// set stores value under key in p. If key may occur several times, set appends value. It returns an error if the key
// is unknown, if the value is empty or malformed, if the key must not be repeated, or if it is not allowed in this
// preset. at returns the position of the value.
func (p *Preset) set(key, value string, at func() string) error {
	texts := map[string]*string{"name": &p.Name, "api": &p.API, "example": &p.Example, "note": &p.note, "object": &p.Object, "match": &p.Match}
	lists := map[string]*[]string{"alias": &p.Aliases, "many": &p.many, "detail": &p.detail}
	ruled := ruled(key)
	text, list := texts[key], lists[key]
	setting, isSeveral := p.setting(key), key == "id" || key == "print"
	isSetting := isSeveral || slices.Contains([]string{"interval", "timeout", "max-wait", "follow", "each", "success-threshold", "error-threshold"}, key)
	switch {
	case text == nil && list == nil && ruled == status.None && !isSetting:
		return fmt.Errorf("there is no key %q", key)
	case value == "":
		return fmt.Errorf("%q has no value", key)
	case text != nil && *text != "", setting != nil && !isSeveral:
		return fmt.Errorf("%q is given twice", key)
	case (key == "name" || key == "alias") && !isName().MatchString(value):
		return fmt.Errorf("%q is not a name: write letters, digits and . _ / : -, and begin with a letter or digit", key)
	case key == "match" && !strings.Contains(p.Name, "/"):
		return errors.New("match is only for a stanza of a group, with a name such as NAME/X")
	case key == "each" && p.Object != "", key == "object" && p.setting("each") != nil:
		return errors.New("a preset has either each or object: with each, write paths from the element, such as .job.state, and no object")
	case text != nil:
		*text = value
	case list != nil:
		*list = append(*list, value)
	case setting != nil:
		setting.Values = append(setting.Values, value)
	case isSetting:
		p.Settings = append(p.Settings, Setting{Key: key, Values: []string{value}, At: at()})
	default:
		condition, why, _ := strings.Cut(value, " -- ")
		p.rules = append(p.rules, rule{Status: ruled, Expr: condition, Why: why})
	}
	return nil
}

// ruled returns the status whose rules have the given key, or [status.None] if key is not the key of a rule.
func ruled(key string) status.Status {
	for _, s := range []status.Status{status.Throttled, status.Error, status.Success, status.NotReady} {
		if s.RuleName() == key {
			return s
		}
	}
	return status.None
}

// compiles returns an error if key requires an expression, but value is not a valid expression for that key.
func compiles(key, value string) (err error) {
	switch s := ruled(key); {
	case s != status.None:
		value, _, _ = strings.Cut(value, " -- ")
		_, err = status.NewRule(s, value)
	case key == "match":
		_, err = status.NewRule(status.NotReady, value) // compiled as a rule, because a condition must depend on the response
	case key == "detail", key == "id", key == "print":
		x, problem := expr.CompileValue(value)
		if err = problem; err == nil && key != "print" && x.Reads("header") { // the header may contain a secret, and these values are logged
			err = errors.New("$header may hold a secret, and this value is shown")
		}
	case key == "object":
		_, err = expr.CompileObjects(value)
	case key == "each":
		_, err = expr.CompileEach(value)
	}
	return err
}
