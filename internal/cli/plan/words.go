package plan

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/words"
)

// asFlag formats a duration exactly, as flags take it: "108h30m", "10m".
func asFlag(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// secondsText formats a duration as a number of seconds, to the millisecond unless it
// is shorter than that.
func secondsText(d time.Duration) string {
	if d >= time.Millisecond && d < math.MaxInt64-time.Millisecond {
		d = d.Round(time.Millisecond)
	}
	return words.Number(words.InSeconds(d))
}

// withSeconds formats a duration for people and, unless that is in seconds already,
// adds the number of seconds: "10m (600s)".
func withSeconds(d time.Duration) string {
	people, number := words.Duration(d), secondsText(d)+"s"
	if people == number || d == math.MaxInt64 {
		return people
	}
	return people + " (" + number + ")"
}

// percent formats a ratio as a percentage, with four digits.
func percent(ratio float64) string {
	return strconv.FormatFloat(100*ratio, 'g', 4, 64) + "%"
}
