package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// isOfServer reports whether this process asked a server.
func isOfServer(o *status.Observation) bool {
	return o != nil && !o.Taken && (o.Kind == status.KindHTTP || o.Kind == status.KindTCP)
}

// atLeastOne formats how long something took; less than 1ms would show as 0s.
func atLeastOne(d time.Duration) string { return words.Short(max(d, time.Millisecond)) }

// A latency is how long attempts took, in JSON.
type latency struct {
	Min    Seconds `json:"min_s"`
	Median Seconds `json:"median_s"`
	Max    Seconds `json:"max_s"`
}

// made returns the moments of attempts that this process made.
func made(moments []Moment) []Moment {
	return slices.DeleteFunc(moments, func(m Moment) bool { return m.Taken })
}

// latencyOf returns the latency of moments, of which there is at least one.
func latencyOf(moments []Moment) latency {
	var took []Seconds
	for _, m := range moments {
		took = append(took, m.Took)
	}
	slices.Sort(took)
	return latency{took[0], took[(len(took)-1)/2], took[len(took)-1]}
}

// latencyWords says how the latency of a run went, if it was for a server and has failed.
func (r *Reporter) latencyWords(o *poll.Outcome) string {
	if r.run == nil || r.run.attempt == nil || o.Ending == poll.Succeeded && !r.cfg.Verbose || !isOfServer(r.run.attempt.Observation) {
		return ""
	}
	all := r.run.timeline.moments()
	which := ""
	if len(all) < r.run.attempts {
		all = all[firstMoments:]
		which = fmt.Sprintf(" of the last %d attempts", len(all))
	}
	if all = made(all); len(all) < 2 {
		return ""
	}
	l := latencyOf(all)
	text := "poll: latency" + which + ": " + l.Min.words()
	if l.Max.words() != l.Min.words() {
		text += " to " + l.Max.words() + ", median " + l.Median.words()
	}
	if r.cfg.Face == Live && r.cfg.Streams.Unicode {
		text += "  " + sparkline(all, l.Max)
	}
	return text + "\n"
}

func (s Seconds) words() string { return atLeastOne(time.Duration(float64(s) * float64(time.Second))) }

// sparkWidth is how many columns a sparkline has at most.
const sparkWidth = 40

// sparkline draws how long attempts took, from 0 to most. A column stands for one, or for
// the slowest of several.
func sparkline(moments []Moment, most Seconds) string {
	columns := min(len(moments), sparkWidth)
	levels := []rune("▁▂▃▄▅▆▇█")
	line := make([]rune, columns)
	for i := range line {
		part := moments[i*len(moments)/columns : (i+1)*len(moments)/columns]
		level := 0
		if most > 0 {
			level = int(float64(latencyOf(part).Max/most) * float64(len(levels)-1))
		}
		line[i] = levels[level]
	}
	return string(line)
}
