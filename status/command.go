package status

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// maxLine is the length in bytes to which a line of a command's output is cut
// when it becomes part of a reason.
const maxLine = 240

// exitText says how a command ended, and the line of its output that says why.
func exitText(o *Observation) string {
	text := fmt.Sprintf("exit code %d", *o.Exit)
	switch {
	case o.Signal != "":
		text = "killed by signal " + o.Signal
	case *o.Exit == exitNotExecutable:
		text += " (cannot be executed)"
	case *o.Exit == exitNotFound:
		text += " (command not found)"
	}
	output := o.Stderr
	if len(bytes.TrimSpace(output)) == 0 {
		output = o.Body
	}
	if line := tellingLine(output); line != "" {
		text += ": " + line
	}
	return text
}

// tellingLine returns the last line that holds "error", "fatal" or "failed" in
// any case, else the last one with a letter or a digit, else "". What klog wrote
// is only taken as the last one: kubectl logs each of its tries as an error, and
// then says in plain words what is wrong.
func tellingLine(output []byte) string {
	last := ""
	for rest := tail(output, 64<<10); len(rest) > 0; {
		i := bytes.LastIndexByte(rest, '\n')
		line := rest[i+1:]
		rest = rest[:max(i, 0)]
		if bytes.IndexFunc(line, isWordRune) < 0 {
			continue
		}
		if last == "" {
			last = cut(line)
		}
		if isKlog(line) {
			continue
		}
		lower := bytes.ToLower(line)
		for _, word := range []string{"error", "fatal", "failed"} {
			if bytes.Contains(lower, []byte(word)) {
				return cut(line)
			}
		}
	}
	return last
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func cut(line []byte) string {
	line = withoutLogPrefix(line)
	if len(line) <= maxLine {
		return string(line)
	}
	return strings.ToValidUTF8(string(line[:maxLine]), "") + "..."
}

// throttlingWords matches what command-line clients print when a service says
// "asked too often". The codes are those that the AWS SDKs treat as throttling
// (DefaultThrottleErrorCodes in aws-sdk-go-v2, _THROTTLED_ERROR_CODES in
// botocore); the rest is how gh, kubectl, az, gcloud and curl put it.
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

// throttlingWord returns the word of stderr that means throttling, "" if none.
func throttlingWord(stderr []byte) string { return string(throttlingWords().Find(stderr)) }
