package poll

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/pollcli/poll/status/expr"
)

// noPlace says what to write instead of a word that by mistake would name a
// field; "" for any other. The mistake would show when the start has been sent.
func noPlace(s string) string {
	switch lower := strings.ToLower(s); lower {
	case "none", "no", "off", "never", "false":
		return "write none"
	case "auto", "yes", "on", "always", "true":
		return "write auto"
	case "location":
		return "write $header.Location for the header, .location for the field"
	}
	return ""
}

// joinedParts matches text and paths that are joined in jq's ways.
var joinedParts = sync.OnceValue(func() *regexp.Regexp {
	const text, path = `"(?:[^"\\{}]|\\\([^()"]*\))*"`, `\(?\s*\.[A-Za-z_][\w.]*(?:\s*\|\s*tostring)?\s*\)?`
	return regexp.MustCompile(`^(?:` + text + `|` + path + `)(?:\s*\+\s*(?:` + text + `|` + path + `))*$`)
})

// interpolated matches a value inside of text.
var interpolated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\\(([^()"]*)\)`) })

// hinted adds to the error of an expression the template that joins the same text
// and values.
func hinted(source string, err error) error {
	e, ok := errors.AsType[*expr.Error](err)
	if !ok || !joinedParts().MatchString(strings.TrimSpace(source)) {
		return err
	}
	var b strings.Builder
	for part := range strings.SplitSeq(source, "+") {
		part = strings.TrimSpace(part)
		if text, quoted := strings.CutPrefix(part, `"`); quoted {
			b.WriteString(interpolated().ReplaceAllString(strings.TrimSuffix(text, `"`), "{$1}"))
			continue
		}
		value, _, _ := strings.Cut(strings.Trim(part, "() "), "|")
		b.WriteString("{" + strings.TrimSpace(value) + "}")
	}
	template := b.String()
	if !isTemplate(template) {
		return err
	}
	if _, malformed := parseTemplate(template); malformed == nil {
		e.Hint = "write " + template
	}
	return e
}
