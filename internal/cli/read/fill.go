package read

import (
	"errors"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/words"
)

// quotedText matches the string literals of an expression.
var quotedText = words.Pattern(`"(?:[^"\\]|\\.)*"`)

// readTexts returns the values of flags that the entries of --targets fill. {} and {.field} are filled in a
// body and a header, and {} in --follow. Braces in other flags are a usage error, since they would be sent or
// compared literally.
func (s *Run) readTexts() (texts []targets.Text, err error) {
	own := []string{"learn", "next", "each"} // braces have another meaning
	forms := map[string]targets.Form{"header": targets.Plain, "follow": targets.Path, "data": targets.Body, "data-raw": targets.Body, "data-binary": targets.Body}
	for _, f := range s.Flags {
		form, isFilled := forms[f.Name]
		values := s.Texts(f.Name)
		if isFilled {
			filled, err := targets.ParseTexts(f.Name, form, values)
			if e, ok := errors.AsType[*targets.Error](err); ok {
				return nil, argv.Usagef("%s: %w", s.Origin(f.Name), e).Hint("%s", e.Hint)
			}
			texts = append(texts, filled...)
			continue
		}
		for _, text := range values {
			if f.Group == groupConditions || f.Value == "EXPR" { // braces are JSON, except in a text
				text = strings.Join(quotedText().FindAllString(strings.TrimPrefix(text, "jq:"), -1), "")
			}
			if targets.HasHole(text) && !slices.Contains(own, f.Name) {
				return nil, argv.Usagef("%s: {} is filled in the URL or command, -d, -H and --follow", s.Origin(f.Name)).
					Hint("$name is the name of the target, in a condition and in --print; or give each entry its own %s", f.Name)
			}
		}
	}
	if texts != nil && s.Each != "" {
		return nil, argv.Usagef("with %s, keys fill only the URL or the command", s.Origin("each"))
	}
	return texts, nil
}
