package status

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// maxLine is the length in bytes to which a line of output is cut for a reason.
const maxLine = 240

// exitText says how a command ended, and the line of its output that says why.
func exitText(o *Observation) string {
	text := fmt.Sprintf("exit code %d", *o.Exit)
	switch {
	case o.Signal != "":
		text = "killed by signal " + o.Signal
	case int64(*o.Exit) >= 1<<31: // of Windows, whose own codes are known so
		text += fmt.Sprintf(" (0x%X)", *o.Exit)
	case *o.Exit == exitNotExecutable:
		text += " (cannot be executed)"
	case *o.Exit == exitNotFound:
		text += " (command not found)"
	}
	output := o.Stderr
	if len(bytes.TrimSpace(output)) == 0 {
		output = o.Body
	}
	if line := errorLine(output); line != "" {
		text += ": " + line
	}
	return text
}

// errorLine returns the last line that contains "error", "fatal" or "failed" in any case,
// else the last line with a letter or a digit, else "". A klog line counts only as the
// latter: kubectl logs each of its tries as an error, and then says in plain words what
// is wrong.
func errorLine(output []byte) string {
	const most = 64 << 10 // bytes
	last := ""
	for rest := output[max(0, len(output)-most):]; len(rest) > 0; {
		i := bytes.LastIndexByte(rest, '\n')
		line := rest[i+1:]
		rest = rest[:max(i, 0)]
		if !bytes.ContainsFunc(line, isWordRune) {
			continue
		}
		if last == "" {
			last = excerpt(line)
		}
		if lower := bytes.ToLower(line); !klogPrefix().Match(line) && (bytes.Contains(lower, []byte("error")) ||
			bytes.Contains(lower, []byte("fatal")) || bytes.Contains(lower, []byte("failed"))) {
			return excerpt(line)
		}
	}
	return last
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// excerpt returns the part of a line that goes into a reason. Without the prefix of a
// logger the reason is the same at each attempt.
func excerpt(line []byte) string {
	line = bytes.TrimSpace(line)
	for _, prefix := range []*regexp.Regexp{klogPrefix(), timePrefix()} {
		line = line[len(prefix.Find(line)):]
	}
	if len(line) <= maxLine {
		return string(line)
	}
	return strings.ToValidUTF8(string(line[:maxLine]), "") + "..."
}

// klogPrefix is the prefix of klog, which kubectl and much of Kubernetes use: level and
// date, time, process id, place in the source.
var klogPrefix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^ \]]+:\d+\] +`)
})

// timePrefix is a date and time, or a time alone, bare, in brackets or as the
// first key of logfmt.
var timePrefix = sync.OnceValue(func() *regexp.Regexp {
	const date, time = `\d{4}[-/]\d\d[-/]\d\d`, `\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?`
	return regexp.MustCompile(`^(?:time="?|[\[(])?(?:` + date + `[T ])?` + time + `["\])]?[:,]? +(?:- +)?`)
})

// throttlingWords matches what command-line clients print when a service throttles them.
// The codes are those that the AWS SDKs treat as throttling (DefaultThrottleErrorCodes in
// aws-sdk-go-v2, _THROTTLED_ERROR_CODES in botocore); the rest is how gh, kubectl, az,
// gcloud and curl put it.
var throttlingWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:` + strings.Join([]string{
		"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException",
		"TooManyRequestsException", "ProvisionedThroughputExceededException",
		"TransactionInProgressException", "RequestLimitExceeded", "BandwidthLimitExceeded",
		"LimitExceededException", "RequestThrottled", "SlowDown", "PriorRequestNotComplete",
		"EC2ThrottledException", "RESOURCE_EXHAUSTED", "TooManyRequests",
		"(?i:HTTP(?:/[0-9.]+)? 429)", "(?i:rate limit exceeded)", "(?i:secondary rate limit)",
		"(?i:too many requests)", "(?i:returned error: 429)",
	}, "|") + `)\b`)
})
