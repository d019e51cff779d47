package targets

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxShown is how many problems of a file are shown.
const maxShown = 20

// Problems is the error of a targets file.
type Problems struct {
	File  string
	Shown []Problem // the first 20 in the order of the file
	Total int
}

// A Problem is something that is wrong in a targets file.
type Problem struct {
	File         string
	Line, Column int    // from 1, in characters; 0 if it is the file as a whole
	Message      string // "until: done is not quoted"
	Hint         string // "" for none
	// Source is the text that the problem is in, as far as it can hold no secret, "" for
	// none; Caret is the place in it, in characters from 0.
	Source string
	Caret  int
}

// Error returns the place and the message: "targets.yaml:14:10: until: done is not quoted".
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Error returns the first problem, and how many others there are.
func (p *Problems) Error() string {
	text := p.Shown[0].Error()
	if p.Total > 1 {
		text += fmt.Sprintf(" (and %d more)", p.Total-1)
	}
	return text
}

// A finding is a problem before it is put into words for the reader.
type finding struct {
	Value         // the text that it is about, where it stands
	offset int    // in that text, in bytes
	key    string // whose value it is, "" for an entry that is a text
	shown  shown
	file   bool // it is about the file as a whole

	message, hint string
}

// shown is what may be shown of the file: anything in it can be a secret.
type shown uint8

const (
	showNothing shown = iota
	showText          // the text itself
	showValue         // its key, too
	showMasked        // the line, with x in place of what is no known word
)

// Err returns what is wrong with the file as [*Problems], nil if nothing is.
func (f *File) Err() error {
	if f.found == 0 {
		return nil
	}
	p := &Problems{File: f.config.Name, Total: f.found}
	for i := range f.findings {
		p.Shown = append(p.Shown, f.describe(&f.findings[i]))
	}
	return p
}

// Reject notes that something is wrong with an entry as a whole or, if it has one of its
// own, with its URL.
func (f *File) Reject(e *Entry, message, hint string) {
	f.findIn(e.key, e.at, 0, message, hint)
}

// RejectSetting notes that something is wrong with one of the values of a setting, at an
// offset of its text in bytes.
func (f *File) RejectSetting(s *Setting, value, offset int, message, hint string) {
	f.findIn(s.Flag, s.Values[value], offset, message, hint)
}

// rejectFile notes that something is wrong with the file as a whole.
func (f *File) rejectFile(message, hint string) {
	f.find(finding{file: true, message: message, hint: hint})
}

// rejectAt notes that something is wrong at a byte of the file.
func (f *File) rejectAt(at int, message, hint string) {
	f.find(finding{Value: Value{at: at, form: formNone}, message: message, hint: hint})
}

// rejectSyntax is rejectAt, and shows what the line looks like.
func (f *File) rejectSyntax(at int, message, hint string) {
	f.find(finding{Value: Value{at: at, form: formNone}, shown: showMasked, message: message, hint: hint})
}

// rejectKey notes that something is wrong with a key.
func (f *File) rejectKey(key Value, message, hint string) {
	f.find(finding{Value: key, shown: showText, message: key.Text + ": " + message, hint: hint})
}

// findIn notes that something is wrong with the value of a key or, if that is "", with the
// text of an entry.
func (f *File) findIn(key string, v Value, offset int, message, hint string) {
	c := finding{Value: v, offset: offset, key: key, shown: showValue, message: message, hint: hint}
	if key != "" {
		c.message = key + ": " + message
	} else {
		c.shown = showText
	}
	if f.isSecret(key) {
		c.shown = showNothing
	}
	f.find(c)
}

// find keeps a finding if it is one of the first in the file.
func (f *File) find(c finding) {
	f.found++
	i := len(f.findings)
	for i > 0 && f.findings[i-1].at > c.at {
		i--
	}
	if i < maxShown {
		f.findings = slices.Insert(f.findings, i, c)
		f.findings = f.findings[:min(len(f.findings), maxShown)]
	}
}

// describe makes a problem of a finding.
func (f *File) describe(c *finding) Problem {
	p := Problem{File: f.config.Name, Message: c.message, Hint: c.hint}
	if c.file {
		return p
	}
	at := c.inSource(f.text, c.offset)
	p.Line, p.Column = f.index().position(at)
	if c.form == formNone && c.shown != showMasked {
		return p
	}
	start, end := f.line(at)
	switch c.shown {
	case showMasked:
		p.Source = f.mask(f.text[start:end])
	case showText, showValue:
		end = min(end, c.end(f.text))
		if c.at >= start {
			start = c.at
			if c.shown == showValue {
				p.Source = c.key + ": "
			}
		}
		p.Caret = utf8.RuneCountInString(p.Source)
		p.Source += f.text[start:max(end, start)]
	default:
		return p
	}
	indent := len(p.Source) - len(strings.TrimLeft(p.Source, " \t"))
	p.Source = strings.TrimRight(p.Source[indent:], " \t\r")
	p.Caret += utf8.RuneCountInString(f.text[start:at]) - indent
	return p
}

// end returns where a value ends in the file.
func (v *Value) end(file string) int {
	end := v.inSource(file, len(v.Text))
	if v.form == formSingle || v.form == formDouble {
		end = min(end+1, len(file))
	}
	return end
}

// line returns where the line of a byte begins and ends.
func (f *File) line(at int) (start, end int) {
	start = strings.LastIndexByte(f.text[:at], '\n') + 1
	return start, at + strings.IndexByte(f.text[at:]+"\n", '\n')
}

// mask replaces the letters of a line by x, but for the keys that an entry may have. A
// line of YAML with a value that is no secret is left as it is.
func (f *File) mask(line string) string {
	if m := yamlKey().FindStringSubmatch(line); m != nil && f.isKey(m[1]) && !f.isSecret(m[1]) {
		return line
	}
	return wordOrSign().ReplaceAllStringFunc(line, func(s string) string {
		if f.isKey(s) {
			return s
		}
		return strings.Repeat("x", utf8.RuneCountInString(s))
	})
}

// isSecret reports whether the value of a key may be a secret. That of "" is the text of
// an entry.
func (f *File) isSecret(key string) bool {
	isTarget := f.config.Template == nil && key == "" || key == keyURL || key == keyCommand
	return isTarget || f.config.Flags[key].Secret
}

// yamlKey matches a line of YAML that begins with a key.
func yamlKey() *regexp.Regexp { return regexp.MustCompile(`^ *(?:- +)?([a-z-]+): `) }

// wordOrSign matches a word, and any sign that has no meaning in JSON or YAML.
func wordOrSign() *regexp.Regexp {
	return regexp.MustCompile("[\\pL\\pN_-]{2,}|[^-\\s\\[\\]{}:,\"'#&*!|>%@`?\\\\]")
}
