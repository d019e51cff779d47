package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
)

// coverSchedule answers how well a schedule watches one moment.
func (in *invocation) coverSchedule() error {
	config, err := in.schedule()
	if err != nil {
		return err
	}
	at := in.values.duration("until-time", 0)
	table := backoff.Table{Immediate: in.split.on("immediate")}
	if in.bounded() {
		table = in.tableOf(config)
	}
	table.InitialDelay = in.values.duration("initial-delay", 0)
	format := in.format()
	if in.values.err != nil {
		return in.values.err
	}
	if table.Schedule, _, err = config.Schedules(); err != nil {
		return usagef("--%w", err)
	}
	c, err := table.Coverage(at)
	if err != nil {
		return usagef("--until-time: %w", err)
	}
	text, err := coverage{at, c}.in(format)
	if err != nil {
		return err
	}
	return in.put(text)
}

// A coverage is how well a schedule watches the time at.
type coverage struct {
	at time.Duration
	backoff.Coverage
}

// in sets the answer in a format.
func (c coverage) in(format string) (string, error) {
	switch format {
	case formatJSON:
		return jsonLine(c.record())
	case formatCSV:
		return c.data().csv(), nil
	}
	return c.words(), nil
}

// A coverageRecord is the answer as JSON; null is what there is not.
type coverageRecord struct {
	Until    float64  `json:"until_s"`
	Attempts int      `json:"attempts"`
	Last     *float64 `json:"last_at_s"`
	Next     *float64 `json:"next_at_s"`
	Delay    *float64 `json:"longest_delay_s"`
}

func (c coverage) record() coverageRecord {
	r := coverageRecord{Until: seconds(c.at), Attempts: c.Attempts}
	if c.Attempts > 0 {
		r.Last = new(seconds(c.Last))
	}
	if c.seen() {
		r.Next, r.Delay = new(seconds(c.Next)), new(seconds(c.Delay))
	}
	return r
}

func (c coverage) data() *sheet {
	r := c.record()
	s := &sheet{header: []string{"until_s", "attempts", "last_at_s", "next_at_s", "longest_delay_s"}}
	cells := []string{spellNumber(r.Until), fmt.Sprint(r.Attempts)}
	for _, n := range []*float64{r.Last, r.Next, r.Delay} {
		if n == nil {
			cells = append(cells, "")
			continue
		}
		cells = append(cells, spellNumber(*n))
	}
	s.add(cells...)
	return s
}

// seen reports whether an attempt comes after that time.
func (c coverage) seen() bool { return c.Next > 0 }

func (c coverage) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "by %s: %s", spellBoth(c.at), counted(c.Attempts))
	if c.Attempts > 0 {
		fmt.Fprintf(&b, ", the last at %s", spellBoth(c.Last))
	}
	if !c.seen() {
		b.WriteString("; none comes after it\n")
		return b.String()
	}
	fmt.Fprintf(&b, ", the next at %s\n", spellBoth(c.Next))
	fmt.Fprintf(&b, "a completion near %s is seen at most %s later\n", spellTime(c.at), spellBoth(c.Delay))
	return b.String()
}
