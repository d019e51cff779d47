package world

import (
	"regexp"
	"strings"
)

// known are faults that are not mended yet. The table counts them, and no test fails by them. What is
// mended goes from here, and its plan into testdata/found.txt.
var known = []struct {
	what string
	is   func(p *plan, b breach) bool
}{
	{"a look that the deadline has cut is no measure for the next last look", func(p *plan, b breach) bool {
		return strings.HasSuffix(b.what, lateAnswer) && (p.Lag > 0 || p.List != nil)
	}},
	{"no time is kept before the deadline for as many looks, or as long, as --success-threshold asks for", func(p *plan, b breach) bool {
		isEnd := strings.HasSuffix(b.what, seenTooLate) || strings.HasSuffix(b.what, lateAnswer)
		return isEnd && (p.Threshold > 1 || p.Steady > 0)
	}},
	{"SUCCESS that has to hold for a time holds as long as the last look takes, too", func(p *plan, b breach) bool {
		return p.Steady > 0 && strings.HasSuffix(b.what, tooShort)
	}},
	{"a 429 whose body a preset knows as a state is NOT_READY, so that the last look comes before its hint is over", func(p *plan, b breach) bool {
		return p.Ops[0].API != "" && regexp.MustCompile(`^/\S* came `).MatchString(b.what)
	}},
	{"with --share each run of --resume, or of --slice, begins the schedule anew", func(p *plan, b breach) bool {
		return p.Share && p.Line.Log != "" && strings.HasSuffix(b.what, "looks")
	}},
	{"the status in JSON is that of the last answer where exit code and last line say NOT_READY", func(_ *plan, b breach) bool {
		return regexp.MustCompile(`^exit (124|3), and --json prints exit (124|3), (THROTTLED|ERROR)$`).MatchString(b.what)
	}},
	{"slices of several targets that have failed begin anew, though others of them were started", func(p *plan, b breach) bool {
		return strings.HasSuffix(b.what, "times") && p.Line.Log == "slice" && (p.FailFast || p.Gone) && len(p.Ops) > 1
	}},
	{"the hint of an element that is looked at alone is lost where a later run looks at the list", func(p *plan, b breach) bool {
		return strings.HasPrefix(b.what, "/ops/") && p.List != nil && p.List.Follow && p.Line.Log != ""
	}},
}

// newFaults returns the breaches that are of no known fault, and names the known ones.
func (p *plan) newFaults(broken []breach) (others []breach, names []string) {
	for _, b := range broken {
		name := ""
		for _, k := range known {
			if k.is(p, b) {
				name = k.what
			}
		}
		if name == "" {
			others = append(others, b)
		} else {
			names = append(names, name)
		}
	}
	return others, names
}
