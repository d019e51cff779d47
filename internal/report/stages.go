package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// stageWords says how far an attempt got, and how long each stage took; "" if that is not
// known.
func stageWords(o *status.Observation) string {
	if o == nil || o.Taken {
		return ""
	}
	last, known := o.Stages.Last()
	if !known {
		return ""
	}
	var parts []string
	if o.Stages.Reused {
		parts = append(parts, "connection reused")
	}
	for i, took := range o.Stages.Took {
		stage := status.Stage(i)
		switch {
		case took == 0:
		case stage != last || !o.Stages.Unfinished:
			parts = append(parts, doneWords(stage, o)+" "+atLeastOne(took))
		case o.Stopped() || o.Failure != nil && o.Failure.Class == status.FailureTimeout:
			parts = append(parts, underWay(stage)+" for "+atLeastOne(took))
		default:
			parts = append(parts, brokenOff(stage)+" after "+atLeastOne(took))
		}
	}
	return strings.Join(parts, ", ")
}

// atLeastOne formats how long something took; less than 1ms would show as 0s.
func atLeastOne(d time.Duration) string { return words.Short(max(d, time.Millisecond)) }

// doneWords says of a stage that it ended, before the time.
func doneWords(s status.Stage, o *status.Observation) string {
	if s == status.StageAnswer {
		if code := answerCode(o); code != "" {
			return code + " after"
		}
		return "the answer began after"
	}
	return [...]string{
		status.StageName: "name resolved", status.StageConnect: "connected", status.StageProxy: "proxy connected",
		status.StageTLS: "TLS", status.StageBody: "the rest",
	}[s]
}

// underWay says of a stage that it did not end in time.
func underWay(s status.Stage) string {
	return [...]string{
		status.StageName: "looking up the name", status.StageConnect: "connecting",
		status.StageProxy: "waiting for the proxy to connect", status.StageTLS: "TLS handshake",
		status.StageAnswer: "waiting for the answer", status.StageBody: "waiting for the rest",
	}[s]
}

// brokenOff says of a stage that it failed.
func brokenOff(s status.Stage) string {
	return [...]string{
		status.StageName: "name not resolved", status.StageConnect: "not connected", status.StageProxy: "not connected by the proxy",
		status.StageTLS: "TLS failed", status.StageAnswer: "no answer", status.StageBody: "broken off",
	}[s]
}

// A jsonStages is how far the last attempt got, in JSON.
type jsonStages struct {
	Reused     bool     `json:"reused"`
	Name       *Seconds `json:"name_s,omitempty"`
	Connect    *Seconds `json:"connect_s,omitempty"`
	Proxy      *Seconds `json:"proxy_s,omitempty"`
	TLS        *Seconds `json:"tls_s,omitempty"`
	Answer     *Seconds `json:"answer_s,omitempty"`
	Body       *Seconds `json:"body_s,omitempty"`
	Unfinished string   `json:"unfinished,omitempty"` // the stage that did not end
}

// stagesOf returns nil if nothing is known, or another process knows.
func stagesOf(o *status.Observation) *jsonStages {
	if o == nil || o.Taken {
		return nil
	}
	last, known := o.Stages.Last()
	if !known {
		return nil
	}
	s := &jsonStages{Reused: o.Stages.Reused}
	if o.Stages.Unfinished {
		s.Unfinished = [...]string{"name", "connect", "proxy", "tls", "answer", "body"}[last]
	}
	for i, field := range []**Seconds{&s.Name, &s.Connect, &s.Proxy, &s.TLS, &s.Answer, &s.Body} {
		if took := o.Stages.Took[i]; took > 0 {
			*field = new(seconds(took))
		}
	}
	return s
}

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

// reach says how far the last attempt of a run got and how the latency went, if it was
// for a server.
func (r *Reporter) reach(o *poll.Outcome) string {
	failed := o.Ending != poll.Succeeded
	if r.run == nil || r.run.attempt == nil || !failed && !r.cfg.Verbose {
		return ""
	}
	text := stageWords(r.run.attempt.Observation)
	if text == "" {
		return ""
	}
	if text = "poll: the last attempt: " + text + "\n"; !failed {
		text = "" // its row was there
	}
	all := r.run.timeline.moments()
	which := ""
	if len(all) < r.run.attempts {
		all = all[firstMoments:]
		which = fmt.Sprintf(" of the last %d attempts", len(all))
	}
	if all = made(all); len(all) < 2 {
		return text
	}
	l := latencyOf(all)
	text += "poll: latency" + which + ": " + l.Min.words()
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
