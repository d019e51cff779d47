package cli

import (
	"strings"
	"unicode"

	"github.com/pollcli/poll/poll"
)

// refuseBlanks refuses white space and what cannot be seen in a URL. It would be
// sent, escaped, with all that was to be words of their own.
func refuseBlanks(operand string) error {
	i := strings.IndexFunc(operand, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	if i < 0 {
		return nil
	}
	err := usagef("the URL %s holds a blank or a control character", poll.TargetName(operand[:i]))
	for _, word := range strings.Fields(operand[i:]) {
		if isFlag(word) {
			return err.hint("%s stands within the quotes of the URL: end them before it", harmless(word))
		}
	}
	return err.hint("in a URL a blank is written %%20")
}
