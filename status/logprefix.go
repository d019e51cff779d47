package status

import (
	"bytes"
	"regexp"
	"sync"
)

// Many programs begin a line of their log with what is new in each of their
// runs. It says nothing of why the program failed, and would make the reason of
// every attempt another one.

// klogPrefix is the prefix of klog, which kubectl and much of Kubernetes log by:
// level and date, time, process id, place in the source.
var klogPrefix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^ \]]+:\d+\] +`)
})

// timePrefix is a date and time, or a time alone, bare, in brackets or as the
// first key of logfmt.
var timePrefix = sync.OnceValue(func() *regexp.Regexp {
	const date, time = `\d{4}[-/]\d\d[-/]\d\d`, `\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?`
	return regexp.MustCompile(`^(?:time="?|[\[(])?(?:` + date + `[T ])?` + time + `["\])]?[:,]? +(?:- +)?`)
})

func isKlog(line []byte) bool { return klogPrefix().Match(line) }

// withoutLogPrefix returns a line without what a logger puts before it.
func withoutLogPrefix(line []byte) []byte {
	line = bytes.TrimSpace(line)
	for _, prefix := range []*regexp.Regexp{klogPrefix(), timePrefix()} {
		line = line[len(prefix.Find(line)):]
	}
	return line
}
