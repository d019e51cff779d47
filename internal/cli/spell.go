package cli

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// spellTime writes a time for people: "100ms", "3.075s", "1h 18m 18s". From a
// minute on it is rounded to seconds. The longest time that can be counted
// stands for all that are longer.
func spellTime(d time.Duration) string {
	switch {
	case d == math.MaxInt64:
		return "over 292 years"
	case d < time.Millisecond:
		return d.String()
	case d < time.Second:
		return d.Round(time.Microsecond).String()
	case d.Round(time.Millisecond) < time.Minute:
		return d.Round(time.Millisecond).String()
	}
	d = d.Round(time.Second)
	var parts []string
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if n := d / unit.of; n > 0 {
			parts = append(parts, strconv.Itoa(int(n))+unit.name)
		}
		d %= unit.of
	}
	return strings.Join(parts, " ")
}

// spellSeconds writes a time as a number of seconds, to the millisecond unless
// it is shorter than that.
func spellSeconds(d time.Duration) string {
	if d >= time.Millisecond && d < math.MaxInt64-time.Millisecond {
		d = d.Round(time.Millisecond)
	}
	return spellNumber(seconds(d))
}

// spellBoth writes a time for people and, unless that is one already, as a
// number of seconds.
func spellBoth(d time.Duration) string {
	people, number := spellTime(d), spellSeconds(d)+"s"
	if people == number || d == math.MaxInt64 {
		return people
	}
	return people + " (" + number + ")"
}

// spellFlag writes a time as a flag takes it: "1h18m18s", "10m".
func spellFlag(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

func spellNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// seconds returns d in seconds, rounded once.
func seconds(d time.Duration) float64 { return float64(d) / float64(time.Second) }

// spellPercent writes a ratio as a percentage.
func spellPercent(ratio float64) string {
	return strconv.FormatFloat(100*ratio, 'g', 4, 64) + "%"
}
