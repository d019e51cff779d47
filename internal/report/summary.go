package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
)

// summary says which statuses were seen and for how long, what the attempts
// took and how long was waited. A run of one attempt has none.
func summary(u *run, p term.Palette) string {
	if u.took.n < 2 {
		return ""
	}
	var seen []string
	for _, s := range u.states {
		text := paint(p, s.status.String())
		if s.lasted >= 100*time.Millisecond { // less would read as 0.0s
			text += " for " + words.Clock(s.lasted)
		}
		seen = append(seen, fmt.Sprintf("%s (%s)", text, words.Count(s.attempts, "attempt")))
	}
	took := fmt.Sprintf("attempts took %s on average, %s at most", words.Short(u.took.sum/time.Duration(u.took.n)), words.Short(u.took.max))
	if u.waits > 0 {
		took += fmt.Sprintf("; %s, %s in all", words.Count(u.waits, "wait"), words.Clock(u.waited))
	}
	return "poll: " + strings.Join(seen, ", ") + "\n" + "poll: " + took + "\n"
}
