package read

import (
	_ "embed"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/presets"
)

// The headings under which the help lists the flags.
const (
	groupConditions = "Conditions (flags with EXPR may be repeated: one that is true is enough)"
	groupWaiting    = "Waiting"
	groupLearning   = "Learning (from past runs of the same operation)"
	groupLimits     = "Limits"
	groupSeveral    = "Several targets"
	groupHTTP       = "HTTP, with the flags of curl"
	groupCommand    = "Command"
	groupOutput     = "Output"
)

// manual holds the texts that the manual page adds to the help texts of the flags.
//
//go:embed manual.txt
var manual string

// WaitFlags returns the flags of a wait in the order of the help. Their values are stored in a [Run].
func WaitFlags() argv.Flags {
	waits, learning := WaitsTable().In(groupWaiting, 0), learn.Table().In(groupLearning, 0)
	all := slices.Concat(conditions(), limits(), waits, learning, several(), ofURL(), ofProgram(), output())
	for i := range all {
		f := &all[i]
		f.WholeRun = f.WholeRun || slices.Contains([]string{groupSeveral, groupCommand, groupOutput}, f.Group)
	}
	return all
}

func conditions() argv.Flags {
	return argv.Flags{
		{Name: "until", Value: "EXPR", Many: true, Brief: true, Distinctive: true, Set: inSettings, Usage: "SUCCESS when true, e.g. '.state==\"done\"'"},
		{Name: "error-if", Value: "EXPR", Many: true, Brief: true, Distinctive: true, Set: inSettings, Usage: "ERROR when true: stop"},
		{Name: "throttled-if", Value: "EXPR", Many: true, Distinctive: true, Set: inSettings, Usage: "THROTTLED when true: slow down"},
		{Name: "not-ready-if", Value: "EXPR", Many: true, Distinctive: true, Set: inSettings, Usage: "NOT_READY when true, e.g. '$status==404'"},
		{Name: "gone", Set: argv.Switch(func(s *Run, on bool) { s.Gone = on }), For: ofHTTP | ofTCP, Distinctive: true, Usage: "SUCCESS when nothing listens there, or on 404 or 410"},
		{Name: "accept", Value: "CODES", For: ofHTTP | ofCommand, Many: true, Set: inSettings, Distinctive: true, Usage: "the successful statuses or exit codes, e.g. 2xx,429"},
		{Name: "strict", Set: argv.Switch(func(s *Run, on bool) { s.Poller.Rules.Strict = on }), Distinctive: true, Usage: "ERROR on a successful response that nothing matches"},
		{Name: "preset", Value: "NAME|FILE", For: ofHTTP | ofCommand, Set: argv.Text(func(s *Run, v string) { s.Preset = v }), Offers: OfferedPresets, Brief: true, Usage: "named conditions for an API, or yours: poll presets"},
		{Name: "detail", Value: "EXPR", Many: true, Distinctive: true, Set: inSettings, Usage: "add this value of the response to the reason"},
		{Name: "retry-after", Value: "EXPR", For: ofHTTP | ofCommand, Distinctive: true, Set: inSettings, Usage: "wait at least as long as this value of the response"},
		{Name: "success-threshold", Value: "N|D", Default: "1", Set: argv.Parsed(parseThreshold, func(s *Run, v poll.Threshold) { s.Poller.SuccessThreshold = v }), Distinctive: true, Brief: true, Usage: "SUCCESS verdicts needed in a row, or how long"},
		{Name: "error-threshold", Value: "N|D", Default: "1", Set: argv.Parsed(parseThreshold, func(s *Run, v poll.Threshold) { s.Poller.ErrorThreshold = v }), Distinctive: true, Usage: "ERROR verdicts needed in a row, or how long"},
	}.In(groupConditions, OfAll)
}

func limits() argv.Flags {
	return argv.Flags{
		{Name: "timeout", HasVariable: true, Value: "D", Default: "10m", Set: argv.Parsed(argv.ParseDuration, func(s *Run, v time.Duration) { s.Timeout = v }), Brief: true, Usage: "the time for everything; 0 = no limit"},
		{Name: "slice", HasVariable: true, Value: "D", Set: argv.Parsed(ParsePositive, func(s *Run, v time.Duration) { s.Slice = v }), WholeRun: true, Brief: true, Distinctive: true, Not: "timeout joblog resume pass-exit-code", Usage: "end this call after D (exit 124); the next continues"},
		{Name: "attempt-timeout", HasVariable: true, Value: "D", Default: "30s; none for a command", Set: argv.Parsed(argv.ParseDuration, func(s *Run, v time.Duration) { s.Poller.AttemptTimeout = v }), Distinctive: true, Usage: "the time for one attempt"},
		{Name: "max-attempts", HasVariable: true, Value: "N", Default: "0 = no limit", Set: argv.Parsed(argv.ParseCount(0), func(s *Run, v int) { s.Poller.MaxAttempts = v }), Distinctive: true, Usage: "how many attempts to make"},
		{Name: "stream", Set: argv.Switch(func(s *Run, on bool) { s.HTTP.Stream, s.Command.Stream = on, on }), For: ofHTTP | ofCommand, Brief: true, Usage: "evaluate each line or event as it comes"},
		{Name: "pid", Value: "PID", Set: argv.Parsed(parsePid, func(s *Run, v int) { s.Pid = append(s.Pid, v) }), Many: true, WholeRun: true, Usage: "ERROR as soon as this process ends"},
		{Name: "max-body", HasVariable: true, Value: "SIZE", Default: "64MiB", Set: argv.Parsed(parseMaxBody, func(s *Run, v int64) { s.HTTP.MaxBody, s.Command.MaxBody = v, v }), Usage: "keep at most this much of a response"},
	}.In(groupLimits, 0)
}

func several() argv.Flags {
	return argv.Flags{
		{Name: "targets", Value: "FILE", Set: argv.Text(func(s *Run, v string) { s.Targets = v }), Brief: true, Usage: "wait for each entry, or fill {} with it; - is stdin"},
		{Name: "each", Value: "EXPR", For: ofHTTP | ofCommand, Set: argv.Text(func(s *Run, v string) { s.Each = v }), Brief: true, Distinctive: true, Usage: "wait for each element of a list in the response"},
		{Name: "id", Value: "EXPR", Default: ".id, .name, .metadata.name", Needs: "each", Many: true, Brief: true, Set: inSettings, Usage: "the name of an element"},
		{Name: "next", Value: "EXPR", Default: "Link: rel=\"next\"", Set: argv.Text(func(s *Run, v string) { s.HTTP.Next = v }), Needs: "each", Distinctive: true, Usage: "the next page of the list (a URL or a cursor), or none"},
		{Name: "batch", Value: "N", Default: "1", Set: argv.Parsed(argv.ParseCount(1), func(s *Run, v int) { s.Batch = v }), Needs: "each", Distinctive: true, Usage: "fill {} with this many entries at once, for --each"},
		{Name: "all", Hidden: true, Not: "any at-least"}, // has no effect, because waiting for all targets is the default
		{Name: "any", Set: argv.Switch(func(s *Run, on bool) { s.Any = on }), Not: "at-least", Usage: "one SUCCESS is enough"},
		{Name: "at-least", Value: "N|P%", Default: "all", Set: argv.Parsed(argv.ParseShare, func(s *Run, v argv.Share) { s.AtLeast = v }), Distinctive: true, Usage: "the number of targets that have to succeed"},
		{Name: "fail-fast", Set: argv.Switch(func(s *Run, on bool) { s.Group.FailFast = on }), Usage: "stop as soon as the goal can no longer be reached"},
		{Name: "expect", Value: "N", Default: "1", Brief: true, Set: argv.Parsed(argv.ParseCount(0), func(s *Run, v int) { s.Expect = v }), Usage: "the least number of targets or elements; 0: none"},
		{Name: "target-timeout", HasVariable: true, Value: "D", Default: "0 = none", Set: argv.Parsed(argv.ParseDuration, func(s *Run, v time.Duration) { s.Poller.Timeout = v }), Distinctive: true, Usage: "the time for each target, within --timeout"},
		{Name: "parallel-max", HasVariable: true, Value: "N", Default: "50", Brief: true, Set: argv.Parsed(argv.ParseCount(1), func(s *Run, v int) { s.Group.Parallel = v }), Distinctive: true, Usage: "attempts at once"},
		{Name: "parallel-max-host", HasVariable: true, Value: "N", Default: "6, or --parallel-max; commands: processors", Set: argv.Parsed(argv.ParseCount(1), func(s *Run, v int) { s.ParallelMaxHost = v }), Distinctive: true, Usage: "attempts at once to one host"},
		{Name: "joblog", HasVariable: true, Value: "FILE", Set: argv.Text(func(s *Run, v string) { s.Joblog = v }), Distinctive: true, Usage: "record the wait in FILE; --resume continues it later"},
		{Name: "resume", HasVariable: true, Set: argv.Switch(func(s *Run, on bool) { s.Resume = on }), Needs: "joblog", Distinctive: true, Usage: "continue the wait of --joblog FILE, or start it"},
		{Name: "rate", HasVariable: true, Value: "N/U", Default: "50/s", Set: argv.Parsed(argv.ParseRate, func(s *Run, v float64) { s.Fleet.PerSecond, s.Fleet.Known = v, true }), Usage: "requests to one host, e.g. 10/m; 0 = no limit"},
		{Name: "share", HasVariable: true, Value: "WHERE", Set: argv.Text(func(s *Run, v string) { s.Share = v }), Usage: "one limit for many processes: a directory, or rediss://HOST"},
		{Name: "share-key", HasVariable: true, Value: "NAME", Default: "origin and credentials", Set: argv.Text(func(s *Run, v string) { s.Fleet.Name = v }), Needs: "share", Distinctive: true, Usage: "the name of the limit; a command needs one"},
	}.In(groupSeveral, 0)
}

func ofURL() argv.Flags {
	return argv.Flags{
		{Name: "request", Aliases: []string{"X"}, Value: "METHOD", Brief: true, Set: argv.Text(func(s *Run, v string) { s.HTTP.Method = v }), Offers: func() []string { return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} }, Usage: "the method; GET, or POST with -d"},
		{Name: "data", Aliases: []string{"d"}, Value: "DATA", Set: inSettings, Many: true, FromFile: true, MayBeEmpty: true, Brief: true, Usage: "the request body; @FILE reads it, @- from stdin"},
		{Name: "data-raw", Value: "DATA", Set: inSettings, Many: true, MayBeEmpty: true, Usage: "a request body in which @ is plain text"},
		{Name: "data-binary", Value: "DATA", Set: inSettings, Many: true, FromFile: true, MayBeEmpty: true, Usage: "a request body; @FILE keeps its line breaks"},
		{Name: "header", HasVariable: true, Aliases: []string{"H"}, Value: "LINE", Many: true, FromFile: true, Brief: true, Set: inSettings, Usage: "a header; @FILE has several, and is read again"},
		{Name: "user", HasVariable: true, Aliases: []string{"u"}, Value: "USER:PASS", Set: argv.Parsed(parseUser, func(s *Run, v *url.Userinfo) { s.HTTP.User = v }), Not: "oauth2-bearer", Usage: "basic authentication"},
		{Name: "oauth2-bearer", HasVariable: true, Value: "TOKEN", FromFile: true, Brief: true, Set: inSettings, Usage: "a bearer token; @FILE is read again when it changes"},
		{Name: "cookie", HasVariable: true, Aliases: []string{"b"}, Value: "NAME=VALUE", Set: argv.Parsed(parseCookie, func(s *Run, v string) { s.Cookie = append(s.Cookie, v) }), Many: true, Usage: "a cookie to send"},
		{Name: "user-agent", HasVariable: true, Aliases: []string{"A"}, Value: "NAME", Set: argv.Text(func(s *Run, v string) { s.UserAgent = v }), MayBeEmpty: true, Usage: "the User-Agent header"},
		{Name: "netrc", HasVariable: true, Aliases: []string{"n"}, Set: argv.Switch(func(s *Run, on bool) { s.Netrc = on }), Usage: "take the password from ~/.netrc"},
		{Name: "insecure", HasVariable: true, Aliases: []string{"k"}, Set: argv.Switch(func(s *Run, on bool) { s.Connect.Insecure = on }), Usage: "accept any certificate"},
		{Name: "cacert", HasVariable: true, Value: "FILE", Set: argv.Text(func(s *Run, v string) { s.Connect.CACert = v }), Usage: "trust these certificate authorities"},
		{Name: "cert", HasVariable: true, Aliases: []string{"E"}, Value: "FILE", Set: argv.Text(func(s *Run, v string) { s.Connect.Cert = v }), Usage: "client certificate (PEM)"},
		{Name: "key", HasVariable: true, Value: "FILE", Set: argv.Text(func(s *Run, v string) { s.Connect.Key = v }), Needs: "cert", Usage: "the key of --cert"},
		{Name: "unix-socket", HasVariable: true, Value: "PATH", Set: argv.Text(func(s *Run, v string) { s.Connect.UnixSocket = v }), Usage: "connect to this socket"},
		{Name: "proxy", HasVariable: true, Aliases: []string{"x"}, Value: "URL", Set: argv.Parsed(parseProxy, func(s *Run, v string) { s.Connect.Proxy = v }), MayBeEmpty: true, Default: "from the environment", Usage: "the proxy for all requests; none if empty"},
		{Name: "resolve", HasVariable: true, Value: "HOST:PORT:ADDRESS", Set: route("HOST:PORT:ADDRESS", resolved), Many: true, Usage: "connect to this address for the host"},
		{Name: "connect-to", HasVariable: true, Value: "HOST:PORT:HOST:PORT", Set: route("HOST:PORT:HOST:PORT", connectedTo), Many: true, Usage: "connect to the second host and port for the first"},
		{Name: "max-redirs", HasVariable: true, Value: "N", Set: argv.Parsed(parseRedirects, func(s *Run, v int) { s.HTTP.MaxRedirects = v }), Default: "50", Usage: "redirects in one attempt; -1 = 1000, the most"},
		{Name: "location-trusted", HasVariable: true, Set: argv.Switch(func(s *Run, on bool) { s.HTTP.LocationTrusted = on }), Usage: "send credentials and body to other origins, too"},
		{Name: "follow", Value: "WHERE", Default: "auto", Set: argv.Text(func(s *Run, v string) { s.HTTP.Follow = v }), Usage: "what to poll after the start: none or EXPR"},
		{Name: "no-conditional", HasVariable: true, Set: argv.Switch(func(s *Run, on bool) { s.NoConditional = on }), Distinctive: true, Usage: "never send If-None-Match / If-Modified-Since"},
		{Name: "silent", Aliases: []string{"s"}, Hidden: true},
		{Name: "show-error", Aliases: []string{"S"}, Hidden: true},
		{Name: "fail", Aliases: []string{"f"}, Hidden: true},
		{Name: "location", Aliases: []string{"L"}, Hidden: true},
		{Name: "compressed", Hidden: true},
	}.In(groupHTTP, ofHTTP)
}

func ofProgram() argv.Flags {
	return argv.Flags{
		{Name: "stdin", Set: argv.Switch(func(s *Run, on bool) { s.Stdin = on }), For: ofCommand, Usage: "read stdin once, give it to every attempt"},
		{Name: "foreground", Set: argv.Switch(func(s *Run, on bool) { s.Command.Foreground = on }), For: ofCommand, Usage: "let the command use the terminal"},
		{Name: "grace", HasVariable: true, Value: "D", Default: "2s", Set: argv.Parsed(argv.ParseDuration, func(s *Run, v time.Duration) { s.Grace = v }), Usage: "time between TERM and KILL of an attempt"},
		{Name: "show-stderr", Set: argv.Switch(func(s *Run, on bool) { s.ShowStderr = on }), For: ofCommand, Distinctive: true, Not: "progress=json", Usage: "pass the command's stderr through as it comes"},
		{Name: "pass-exit-code", Set: argv.Switch(func(s *Run, on bool) { s.PassExitCode = on }), Distinctive: true, Usage: "when the wait fails, exit with the command's code"},
	}.In(groupCommand, 0)
}

func output() argv.Flags {
	return argv.Flags{
		{Name: "name", Value: "LABEL", Default: "from the target", Set: argv.Text(func(s *Run, v string) { s.Name = v }), Usage: "the name of the target"},
		{Name: "print", Value: "EXPR", Many: true, Brief: true, Set: inSettings, Usage: "print this value, not the whole response"},
		{Name: "show", Value: "EXPR", Many: true, Set: inSettings, Usage: "show a value of each response; a progress as a bar"},
		{Name: "json", Set: argv.Switch(func(s *Run, on bool) { s.Output.JSON = on }), Brief: true, Usage: "print the outcome as one JSON object"},
		{Name: "result-file", Value: "FILE", Set: argv.Text(func(s *Run, v string) { s.ResultFile = v }), Hidden: true}, // for the GitHub action: the output of --json cannot hold arbitrary bytes
		{Name: "progress", HasVariable: true, Value: "P", Default: "auto", Set: argv.Text(func(s *Run, v string) { s.UI.Face = ui.Face(v) }), Usage: "live, lines, json or none", Words: argv.Texts(ui.Faces())},
		{Name: "quiet", HasVariable: true, Aliases: []string{"q"}, Set: argv.Switch(func(s *Run, on bool) { s.UI.Face = map[bool]ui.Face{true: ui.None, false: s.UI.Face}[on] }), Brief: true, Not: "verbose show-stderr progress!=none", Usage: "no log, only errors (--progress none)"},
		{Name: "verbose", HasVariable: true, Aliases: []string{"v"}, Set: argv.Switch(func(s *Run, on bool) { s.UI.Verbose = on }), Usage: "log every attempt with its response and decisions"},
		{Name: "heartbeat", HasVariable: true, Value: "D", Default: "30s, growing to 5m", Set: argv.Parsed(argv.ParseDuration, func(s *Run, v time.Duration) { s.UI.Heartbeat = &v }), Distinctive: true, Usage: "log a line at least this often"},
		{Name: "color", HasVariable: true, Value: "WHEN", Default: "auto", Set: argv.Text(func(s *Run, v string) { s.Color = term.ColorMode(v) }), Usage: "always or never", Words: argv.Texts(term.ColorModes())},
		{Name: "help", Aliases: []string{"h"}, Usage: "the most important flags; poll help all has all"},
		{Name: "version", Aliases: []string{"V"}, Usage: "the version"},
	}.In(groupOutput, 0)
}

// WithManual adds the manual's text and the environment variable's name to the field More of each flag. It changes
// flags in place and returns it.
func WithManual(flags argv.Flags) argv.Flags {
	for row := range strings.Lines(manual) {
		name, text, _ := strings.Cut(strings.TrimSpace(row), "\t")
		if f := flags.Lookup(name); f != nil {
			f.More = text
		}
	}
	for i := range flags {
		if f := &flags[i]; f.HasVariable {
			f.More = strings.TrimSpace(f.More + "\nVariable: " + f.Variable() + ".")
		}
	}
	return flags
}

// OfferedPresets returns the completion candidates for the value of --preset.
func OfferedPresets() []string { return candidates(presets.All(), presets.Waiters()) }

// candidates returns the names and aliases of the presets, each followed by a tab and the description of the
// preset's API.
func candidates(of ...[]presets.Preset) (list []string) {
	for _, p := range slices.Concat(of...) {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			list = append(list, name+"\t"+p.API)
		}
	}
	return list
}

// inSettings stores nothing. It is the Reader of a flag whose values are read from the settings later, with
// [argv.Settings.Texts].
func inSettings(string) (apply func(any), err error) { return nil, nil }

// parseThreshold parses the threshold for a verdict. A number such as "3" means that many equal verdicts in a row.
// A duration such as "30s" means that the verdict must hold for this time.
func parseThreshold(text string) (t poll.Threshold, err error) {
	if _, noNumber := strconv.Atoi(text); noNumber == nil {
		t.Times, err = argv.ParseCount(1)(text)
	} else {
		t.For, err = ParsePositive(text)
	}
	return t, err
}

func parsePid(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, argv.Usagef("%q is not the number of a process", text).
			Hint("$! is the process of the shell's last background program")
	}
	return int(n), nil
}

func parseMaxBody(text string) (int64, error) {
	n, err := argv.ParseSize(text)
	if err == nil && n == 0 {
		return 1 << 50, nil // 0 means no limit: the limit becomes so large that it never applies
	}
	return n, err
}

// parseRedirects converts the value of curl's --max-redirs to [poll.HTTP.MaxRedirects]. For curl, 0 allows no
// redirects, and -1 allows any number.
func parseRedirects(text string) (int, error) {
	n, err := argv.ParseCount(-1)(text)
	return map[int]int{0: -1, -1: math.MaxInt}[n] + max(n, 0), err
}

// parseUser parses USER:PASS. Its errors do not contain text, because text may contain a password.
func parseUser(text string) (*url.Userinfo, error) {
	name, password, ok := strings.Cut(text, ":")
	if !ok {
		return nil, argv.Usagef("a colon is missing, as in USER:PASS, since poll does not ask for a password")
	}
	return url.UserPassword(name, password), nil
}
