package cli

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

// A Spec is all that a wait is told. What is given by flags, variables, presets and the entry of a
// targets file fills it by one table. Nobody changes it after that: to give more, or less, makes
// another one.
type Spec struct {
	*argv.Line       // what is given, of a target with its entry, and the operands
	form       *Spec // what the table fills, of which each spec is a copy

	// conditions
	Until, ErrorIf, ThrottledIf, NotReadyIf []string
	Detail, RetryAfter                      []string
	Gone, Strict                            bool
	Accept                                  []string
	Preset                                  string
	preset                                  *presets.Preset // of that name
	SuccessThreshold, ErrorThreshold        poll.Threshold

	// waits
	Waits    plan.Waits
	Learning plan.Learning

	// limits
	Timeout, TargetTimeout time.Duration // 0 for none
	Slice                  time.Duration // the Timeout of a wait that the next run goes on with; 0 for none
	AttemptTimeout         *time.Duration
	MaxAttempts            int
	Stream                 bool
	Pid                    []int
	MaxBody                int64

	// several targets
	Targets, Each, Next   string
	ID                    []string
	Batch, Expect         int
	Any, FailFast, Resume bool
	AtLeast               string
	ParallelMax           int
	ParallelMaxHost       *int
	Rate                  *float64 // attempts a second
	Joblog                string
	Share, ShareKey       string

	// HTTP
	Request                        string
	Data                           []part
	Header                         []string
	Bearer                         []string
	Resolve, ConnectTo             map[string][]string // as the routes of a [connect.Options]
	Cookie                         []string
	User                           string
	UserAgent                      string
	Proxy                          string // "" for that of the environment, "direct" for none
	Netrc, Insecure                bool
	CACert, Cert, Key, UnixSocket  string
	MaxRedirs                      int
	LocationTrusted, NoConditional bool
	Follow                         string

	// command
	Stdin, Foreground        bool
	Grace                    time.Duration
	ShowStderr, PassExitCode bool

	// output
	Name                 string
	Print, Show          []string
	JSON, Quiet, Verbose bool
	ResultFile           string
	Progress             ui.Face
	Color                term.ColorMode
	Heartbeat            *time.Duration
}

// newSpec returns a spec of the defaults, with a line that is not read yet.
func newSpec() *Spec {
	form := new(Spec)
	form.form = form
	form.Line = argv.NewLine(&argv.Command{Flags: form.table()})
	s, _ := form.with(form.Given, nil) // of which none can be wrong
	return s
}

// with returns a spec of the same operands that is filled with what is given.
func (s *Spec) with(given argv.Given, preset *presets.Preset) (*Spec, error) {
	line := *s.Line
	line.Given = given
	line.Flags = s.Flags
	*s.form = Spec{
		Line: &line, form: s.form, preset: preset,
		Timeout: plan.DefaultTimeout, Grace: defaultGrace,
		Batch: 1, Expect: 1, ParallelMax: defaultParallel, MaxRedirs: defaultRedirects,
	}
	err := line.Fill()
	filled := *s.form
	filled.Timeout = cmp.Or(filled.Slice, filled.Timeout)
	return &filled, err
}

// The kinds of targets that a flag is about.
const (
	ofHTTP    = argv.Kinds(1 << status.KindHTTP)
	ofTCP     = argv.Kinds(1 << status.KindTCP)
	ofCommand = argv.Kinds(1 << status.KindCommand)
	ofAll     = ofHTTP | ofTCP | ofCommand
)

// The headings of the help.
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

// manual has what the manual says of a flag beyond the help.
//
//go:embed manual.txt
var manual string

// waitFlags returns the flags of a wait, in the order of the help.
func waitFlags() argv.Flags { return newSpec().Command.Flags }

// table returns all flags of a wait, which fill s.
func (s *Spec) table() argv.Flags {
	all := slices.Concat(s.conditions(), s.limits(), s.Waits.Table().In(groupWaiting, 0), s.Learning.Table().In(groupLearning, 0),
		s.several(), s.ofHTTP(), s.ofCommand(), s.output())
	for i := range all {
		f := &all[i]
		f.WholeRun = f.WholeRun || slices.Contains([]string{groupSeveral, groupCommand, groupOutput}, f.Group)
	}
	return all
}

func (s *Spec) conditions() argv.Flags {
	return argv.Flags{
		{Name: "until", Value: "EXPR", Many: true, Brief: true, Distinctive: true, To: argv.TextsVar(&s.Until), Usage: "SUCCESS when true, e.g. '.state==\"done\"'"},
		{Name: "error-if", Value: "EXPR", Many: true, Brief: true, Distinctive: true, To: argv.TextsVar(&s.ErrorIf), Usage: "ERROR when true: stop"},
		{Name: "throttled-if", Value: "EXPR", Many: true, Distinctive: true, To: argv.TextsVar(&s.ThrottledIf), Usage: "THROTTLED when true: slow down"},
		{Name: "not-ready-if", Value: "EXPR", Many: true, Distinctive: true, To: argv.TextsVar(&s.NotReadyIf), Usage: "NOT_READY when true, e.g. '$status==404'"},
		{Name: "gone", To: argv.BoolVar(&s.Gone), For: ofHTTP | ofTCP, Distinctive: true, Usage: "SUCCESS when nothing listens there, or on 404 or 410"},
		{Name: "accept", Value: "CODES", For: ofHTTP | ofCommand, Many: true, To: argv.TextsVar(&s.Accept), Distinctive: true, Usage: "the successful statuses or exit codes, e.g. 2xx,429"},
		{Name: "strict", To: argv.BoolVar(&s.Strict), Distinctive: true, Usage: "ERROR on a good answer that no condition matches"},
		{Name: "preset", Value: "NAME|FILE", For: ofHTTP | ofCommand, To: argv.TextVar(&s.Preset), Offers: offeredPresets, Brief: true, Usage: "named conditions for an API, or yours: poll presets"},
		{Name: "detail", Value: "EXPR", Many: true, Distinctive: true, To: argv.TextsVar(&s.Detail), Usage: "add this value of the answer to the reason"},
		{Name: "retry-after", Value: "EXPR", For: ofHTTP | ofCommand, Distinctive: true, To: argv.TextsVar(&s.RetryAfter), Usage: "wait at least as long as this value of the answer"},
		{Name: "success-threshold", Value: "N|D", Default: "1", To: argv.Var(&s.SuccessThreshold, parseThreshold), Distinctive: true, Usage: "SUCCESS verdicts needed in a row, or how long"},
		{Name: "error-threshold", Value: "N|D", Default: "1", To: argv.Var(&s.ErrorThreshold, parseThreshold), Distinctive: true, Usage: "ERROR verdicts needed in a row, or how long"},
	}.In(groupConditions, ofAll)
}

func (s *Spec) limits() argv.Flags {
	return argv.Flags{
		{Name: "timeout", HasVariable: true, Value: "D", Default: "10m", To: argv.Var(&s.Timeout, argv.ParseDuration), Brief: true, Usage: "the time for everything; 0 = no limit"},
		{Name: "slice", HasVariable: true, Value: "D", To: argv.Var(&s.Slice, plan.ParsePositive), WholeRun: true, Brief: true, Distinctive: true, Not: "timeout joblog resume pass-exit-code", Usage: "end this call after D (exit 124); the next continues"},
		{Name: "attempt-timeout", HasVariable: true, Value: "D", Default: "30s; none for a command", To: argv.OptionalVar(&s.AttemptTimeout, argv.ParseDuration), Distinctive: true, Usage: "the time for one attempt"},
		{Name: "max-attempts", HasVariable: true, Value: "N", Default: "0 = no limit", To: argv.Var(&s.MaxAttempts, argv.ParseCount(0)), Distinctive: true, Usage: "how many attempts to make"},
		{Name: "stream", To: argv.BoolVar(&s.Stream), For: ofHTTP | ofCommand, Brief: true, Usage: "judge each line or event as it comes"},
		{Name: "pid", Value: "PID", To: argv.ListVar(&s.Pid, parsePid), Many: true, WholeRun: true, Usage: "ERROR as soon as this process ends"},
		{Name: "max-body", HasVariable: true, Value: "SIZE", Default: "64MiB", To: argv.Var(&s.MaxBody, parseMaxBody), Usage: "keep at most this much of an answer"},
	}.In(groupLimits, 0)
}

func (s *Spec) several() argv.Flags {
	return argv.Flags{
		{Name: "targets", Value: "FILE", To: argv.TextVar(&s.Targets), Brief: true, Usage: "wait for each entry, or fill {} with it; - is stdin"},
		{Name: "each", Value: "EXPR", To: argv.TextVar(&s.Each), Brief: true, Distinctive: true, Usage: "wait for each element of a list in the answer"},
		{Name: "id", Value: "EXPR", Default: ".id, .name, .metadata.name", Needs: "each", Many: true, To: argv.TextsVar(&s.ID), Usage: "the name of an element"},
		{Name: "next", Value: "EXPR", Default: "Link: rel=\"next\"", To: argv.TextVar(&s.Next), Needs: "each", Distinctive: true, Usage: "the next page of the list (a URL or a cursor), or none"},
		{Name: "batch", Value: "N", Default: "1", To: argv.Var(&s.Batch, argv.ParseCount(1)), Needs: "each", Distinctive: true, Usage: "fill {} with this many entries at once, for --each"},
		{Name: "all", Hidden: true, Not: "any at-least"}, // the default
		{Name: "any", To: argv.BoolVar(&s.Any), Not: "at-least", Usage: "one SUCCESS is enough"},
		{Name: "at-least", Value: "N|P%", Default: "all", To: argv.TextVar(&s.AtLeast), Distinctive: true, Usage: "so many SUCCESS are enough; cancel the others"},
		{Name: "fail-fast", To: argv.BoolVar(&s.FailFast), Usage: "stop as soon as the goal can no longer be reached"},
		{Name: "expect", Value: "N", Default: "1", To: argv.Var(&s.Expect, argv.ParseCount(0)), Usage: "fewer targets or elements are an error; 0 allows none"},
		{Name: "target-timeout", HasVariable: true, Value: "D", Default: "0 = none", To: argv.Var(&s.TargetTimeout, argv.ParseDuration), Distinctive: true, Usage: "the time for each target, within --timeout"},
		{Name: "parallel-max", HasVariable: true, Value: "N", Default: "50", Brief: true, To: argv.Var(&s.ParallelMax, argv.ParseCount(1)), Distinctive: true, Usage: "attempts at once"},
		{Name: "parallel-max-host", HasVariable: true, Value: "N", Default: "6, or --parallel-max; commands: processors", To: argv.OptionalVar(&s.ParallelMaxHost, argv.ParseCount(1)), Distinctive: true, Usage: "attempts at once to one host"},
		{Name: "joblog", HasVariable: true, Value: "FILE", To: argv.TextVar(&s.Joblog), Brief: true, Distinctive: true, Usage: "record the wait in FILE; --resume continues it later"},
		{Name: "resume", HasVariable: true, To: argv.BoolVar(&s.Resume), Needs: "joblog", Distinctive: true, Usage: "continue the wait of --joblog FILE, or begin it"},
		{Name: "rate", HasVariable: true, Value: "N/U", Default: "50/s", To: argv.OptionalVar(&s.Rate, argv.ParseRate), Usage: "requests to one host, e.g. 10/m; 0 = no limit"},
		{Name: "share", HasVariable: true, Value: "WHERE", To: argv.TextVar(&s.Share), Usage: "one limit for many processes: a directory, or rediss://HOST"},
		{Name: "share-key", HasVariable: true, Value: "NAME", Default: "origin and credentials", To: argv.TextVar(&s.ShareKey), Needs: "share", Distinctive: true, Usage: "the name of the limit; a command needs one"},
	}.In(groupSeveral, 0)
}

func (s *Spec) ofHTTP() argv.Flags {
	return argv.Flags{
		{Name: "request", Aliases: []string{"X"}, Value: "METHOD", Brief: true, To: argv.TextVar(&s.Request), Offers: offeredMethods, Usage: "the method; GET, or POST with -d"},
		{Name: "data", Aliases: []string{"d"}, Value: "DATA", To: s.part("data"), Many: true, FromFile: true, MayBeEmpty: true, Brief: true, Usage: "the request body; @FILE reads it, @- from stdin"},
		{Name: "data-raw", Value: "DATA", To: s.part("data-raw"), Many: true, MayBeEmpty: true, Usage: "a request body in which @ is plain text"},
		{Name: "data-binary", Value: "DATA", To: s.part("data-binary"), Many: true, FromFile: true, MayBeEmpty: true, Usage: "a request body; of @FILE with its line breaks"},
		{Name: "header", HasVariable: true, Aliases: []string{"H"}, Value: "LINE", Many: true, FromFile: true, Brief: true, To: argv.TextsVar(&s.Header), Usage: "a header; @FILE has several, and is read again"},
		{Name: "user", HasVariable: true, Aliases: []string{"u"}, Value: "USER:PASS", To: argv.TextVar(&s.User), Not: "oauth2-bearer", Usage: "basic authentication"},
		{Name: "oauth2-bearer", HasVariable: true, Value: "TOKEN", FromFile: true, Brief: true, To: argv.TextsVar(&s.Bearer), Usage: "a bearer token; @FILE is read again when it changes"},
		{Name: "cookie", HasVariable: true, Aliases: []string{"b"}, Value: "NAME=VALUE", To: argv.ListVar(&s.Cookie, parseCookie), Many: true, Usage: "a cookie to send"},
		{Name: "user-agent", HasVariable: true, Aliases: []string{"A"}, Value: "NAME", To: argv.TextVar(&s.UserAgent), MayBeEmpty: true, Usage: "the User-Agent header"},
		{Name: "netrc", HasVariable: true, Aliases: []string{"n"}, To: argv.BoolVar(&s.Netrc), Usage: "take the password from ~/.netrc"},
		{Name: "insecure", HasVariable: true, Aliases: []string{"k"}, To: argv.BoolVar(&s.Insecure), Usage: "accept any certificate"},
		{Name: "cacert", HasVariable: true, Value: "FILE", To: argv.TextVar(&s.CACert), Usage: "trust these certificate authorities"},
		{Name: "cert", HasVariable: true, Aliases: []string{"E"}, Value: "FILE", To: argv.TextVar(&s.Cert), Usage: "client certificate (PEM)"},
		{Name: "key", HasVariable: true, Value: "FILE", To: argv.TextVar(&s.Key), Needs: "cert", Usage: "the key of --cert"},
		{Name: "unix-socket", HasVariable: true, Value: "PATH", To: argv.TextVar(&s.UnixSocket), Usage: "connect to this socket"},
		{Name: "proxy", HasVariable: true, Aliases: []string{"x"}, Value: "URL", To: argv.Var(&s.Proxy, parseProxy), MayBeEmpty: true, Default: "from the environment", Usage: "the proxy for all requests; none if empty"},
		{Name: "resolve", HasVariable: true, Value: "HOST:PORT:ADDRESS", To: route(&s.Resolve, "HOST:PORT:ADDRESS", resolved), Many: true, Usage: "connect to this address for the host"},
		{Name: "connect-to", HasVariable: true, Value: "HOST:PORT:HOST:PORT", To: route(&s.ConnectTo, "HOST:PORT:HOST:PORT", connectedTo), Many: true, Usage: "connect to the second host and port for the first"},
		{Name: "max-redirs", HasVariable: true, Value: "N", To: argv.Var(&s.MaxRedirs, argv.ParseCount(-1)), Default: "50", Usage: "redirects in one attempt; -1 = 1000, the most"},
		{Name: "location-trusted", HasVariable: true, To: argv.BoolVar(&s.LocationTrusted), Usage: "send credentials and body to other origins, too"},
		{Name: "follow", Value: "WHERE", Default: "auto", To: argv.TextVar(&s.Follow), Usage: "what to poll after the start: none or EXPR"},
		{Name: "no-conditional", HasVariable: true, To: argv.BoolVar(&s.NoConditional), Distinctive: true, Usage: "never send If-None-Match / If-Modified-Since"},
		{Name: "silent", Aliases: []string{"s"}, Hidden: true},
		{Name: "show-error", Aliases: []string{"S"}, Hidden: true},
		{Name: "fail", Aliases: []string{"f"}, Hidden: true},
		{Name: "location", Aliases: []string{"L"}, Hidden: true},
		{Name: "compressed", Hidden: true},
	}.In(groupHTTP, ofHTTP)
}

func (s *Spec) ofCommand() argv.Flags {
	return argv.Flags{
		{Name: "stdin", To: argv.BoolVar(&s.Stdin), For: ofCommand, Usage: "read stdin once, give it to every attempt"},
		{Name: "foreground", To: argv.BoolVar(&s.Foreground), For: ofCommand, Usage: "let the command use the terminal"},
		{Name: "grace", HasVariable: true, Value: "D", Default: "2s", To: argv.Var(&s.Grace, argv.ParseDuration), Usage: "time between TERM and KILL of an attempt"},
		{Name: "show-stderr", To: argv.BoolVar(&s.ShowStderr), For: ofCommand, Distinctive: true, Not: "progress=json", Usage: "pass the command's stderr through as it comes"},
		{Name: "pass-exit-code", To: argv.BoolVar(&s.PassExitCode), Distinctive: true, Usage: "when the wait fails, exit with the command's code"},
	}.In(groupCommand, 0)
}

func (s *Spec) output() argv.Flags {
	return argv.Flags{
		{Name: "name", Value: "LABEL", Default: "from the target", To: argv.TextVar(&s.Name), Usage: "the name of the target"},
		{Name: "print", Value: "EXPR", Many: true, Brief: true, To: argv.TextsVar(&s.Print), Usage: "print this value, not the whole answer"},
		{Name: "show", Value: "EXPR", Many: true, To: argv.TextsVar(&s.Show), Usage: "show a value of each answer; a progress as a bar"},
		{Name: "json", To: argv.BoolVar(&s.JSON), Brief: true, Usage: "print the outcome as one JSON object"},
		{Name: "result-file", Value: "FILE", To: argv.Var(&s.ResultFile, system.CheckFile), Hidden: true}, // for the action: --json does not keep bytes as they are
		{Name: "progress", HasVariable: true, Value: "P", Default: "auto", To: argv.TextVar(&s.Progress), Usage: "live, lines, json or none", Words: argv.Texts(ui.Faces())},
		{Name: "quiet", HasVariable: true, Aliases: []string{"q"}, To: argv.BoolVar(&s.Quiet), Brief: true, Not: "verbose show-stderr progress!=none", Usage: "no log, only errors (--progress none)"},
		{Name: "verbose", HasVariable: true, Aliases: []string{"v"}, To: argv.BoolVar(&s.Verbose), Usage: "log every attempt with its answer and decisions"},
		{Name: "heartbeat", HasVariable: true, Value: "D", Default: "30s, growing to 5m", To: argv.OptionalVar(&s.Heartbeat, argv.ParseDuration), Distinctive: true, Usage: "log a line at least this often"},
		{Name: "color", HasVariable: true, Value: "WHEN", Default: "auto", To: argv.TextVar(&s.Color), Usage: "always or never", Words: argv.Texts(term.ColorModes())},
		{Name: "help", Aliases: []string{"h"}, Usage: "the most important flags; poll help all has all"},
		{Name: "version", Aliases: []string{"V"}, Usage: "the version"},
	}.In(groupOutput, 0)
}

// withManual adds to the flags what the manual says beyond the help, and their variables.
func withManual(flags argv.Flags) argv.Flags {
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

func offeredMethods() []argv.Candidate {
	return argv.Candidates("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
}

// parseThreshold reads how many verdicts are needed in a row, or for how long they have to hold.
func parseThreshold(text string) (poll.Threshold, error) {
	d, noTime := argv.ParseDuration(text)
	if noTime == nil && d > 0 {
		return poll.Threshold{For: d}, nil
	}
	n, err := argv.ParseCount(1)(text)
	if _, noNumber := strconv.Atoi(text); noNumber != nil {
		err = cmp.Or(noTime, err)
	}
	return poll.Threshold{Times: n}, err
}

func parsePid(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, argv.Usagef("%q is not the number of a process", text).
			Hint("$! is that of the shell's last background program")
	}
	return int(n), nil
}

func parseMaxBody(text string) (int64, error) {
	n, err := argv.ParseSize(text)
	if err == nil && n == 0 {
		return 1 << 50, nil // 0 is no limit, as elsewhere
	}
	return n, err
}
