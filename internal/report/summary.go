package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
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
			text += " for " + clock(s.lasted)
		}
		seen = append(seen, fmt.Sprintf("%s (%s)", text, count(s.attempts, "attempt")))
	}
	took := fmt.Sprintf("attempts took %s on average, %s at most", short(u.took.sum/time.Duration(u.took.n)), short(u.took.max))
	if u.waits > 0 {
		took += fmt.Sprintf("; %s, %s in all", count(u.waits, "wait"), clock(u.waited))
	}
	return "poll: " + strings.Join(seen, ", ") + "\n" + "poll: " + took + "\n"
}
