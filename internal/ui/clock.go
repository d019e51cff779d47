package ui

import (
	"fmt"
	"time"
)

// clock formats the age of a run for a column, where digits keep their places:
// "4.2s", "2m05s", "1h02m05s". It rounds down.
func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h == 0 {
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%dh%02dm%02ds", h, m, s)
}
