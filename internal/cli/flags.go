package cli

import (
	"slices"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
)

// The headings of the main command's help.
const (
	groupConditions = "Conditions (each may be repeated: any one that is true is enough)"
	groupWaiting    = "Waiting"
	groupLearning   = "Learning (from past runs of the same operation)"
	groupLimits     = "Limits"
	groupSeveral    = "Several targets"
	groupHTTP       = "HTTP (as curl's)"
	groupCommand    = "Command"
	groupOutput     = "Output"
)

// waitFlags returns the options of a wait, in the order of the help.
func waitFlags() argv.Flags {
	return slices.Concat(argv.Flags{
		{Name: "until", Value: "EXPR", Many: true, Decides: true, Distinctive: true, Group: groupConditions, Usage: "SUCCESS when true, e.g. '.state==\"done\"'"},
		{Name: "error-if", Value: "EXPR", Many: true, Decides: true, Distinctive: true, Group: groupConditions, Usage: "ERROR when true: stop"},
		{Name: "throttled-if", Value: "EXPR", Many: true, Decides: true, Distinctive: true, Group: groupConditions, Usage: "THROTTLED when true: slow down"},
		{Name: "not-ready-if", Value: "EXPR", Many: true, Decides: true, Distinctive: true, Group: groupConditions, Usage: "NOT_READY when true, e.g. '$status==404'"},
		{Name: "gone", Distinctive: true, Group: groupConditions, Usage: "SUCCESS when nothing listens there, or on 404 or 410"},
		{Name: "strict", Distinctive: true, Group: groupConditions, Usage: "a good answer that no condition matches is ERROR"},
		{Name: "preset", Value: "NAME", Offers: offeredPresets, Decides: true, Distinctive: true, Group: groupConditions, Usage: "built-in conditions for an API: poll presets"},
		{Name: "success-threshold", Value: "N|D", Default: "1", Distinctive: true, Group: groupConditions, Usage: "SUCCESS verdicts needed in a row, or for how long"},
		{Name: "error-threshold", Value: "N", Default: "1", Distinctive: true, Group: groupConditions, Usage: "ERROR verdicts needed in a row"},

		{Name: "timeout", Value: "D", Default: "10m", Group: groupLimits, Usage: "for everything; 0 = none"},
		{Name: "attempt-timeout", Value: "D", Distinctive: true, Group: groupLimits, Default: "30s; none for a command", Usage: "for one attempt"},
		{Name: "max-attempts", Value: "N", Distinctive: true, Group: groupLimits, Default: "0 = no limit", Usage: "attempts in all"},
		{Name: "pid", Value: "PID", Many: true, Group: groupLimits, Usage: "ERROR as soon as this process has ended"},
		{Name: "max-body", Value: "SIZE", Rare: true, Group: groupLimits, Default: "64MiB", Usage: "keep at most this much of an answer"},
	}, plan.Flags(groupWaiting), learning.Flags(groupLearning), severalFlags(), argv.Flags{
		{Name: "request", Aliases: []string{"X"}, Value: "METHOD", Offers: offeredMethods, Group: groupHTTP, Usage: "the method; GET, or POST with -d"},
		{Name: "data", Aliases: []string{"d"}, Value: "DATA", Many: true, FromFile: true, MayBeEmpty: true, Group: groupHTTP, Usage: "the request body; @FILE reads it, @- from stdin"},
		{Name: "data-raw", Value: "DATA", Many: true, MayBeEmpty: true, Rare: true, Group: groupHTTP, Usage: "a request body in which @ is plain text"},
		{Name: "data-binary", Value: "DATA", Many: true, FromFile: true, MayBeEmpty: true, Rare: true, Group: groupHTTP, Usage: "a request body; of @FILE with its line breaks"},
		{Name: "header", Aliases: []string{"H"}, Value: "LINE", Many: true, FromFile: true, Group: groupHTTP, Usage: "a request header; @FILE: several, renewed"},
		{Name: "user", Aliases: []string{"u"}, Value: "USER:PASS", Group: groupHTTP, Usage: "basic authentication"},
		{Name: "oauth2-bearer", Value: "TOKEN", Rare: true, Group: groupHTTP, Usage: "the header Authorization: Bearer TOKEN"},
		{Name: "cookie", Aliases: []string{"b"}, Value: "NAME=VALUE", Many: true, Rare: true, Group: groupHTTP, Usage: "a cookie to send"},
		{Name: "user-agent", Aliases: []string{"A"}, Value: "NAME", MayBeEmpty: true, Rare: true, Group: groupHTTP, Usage: "the User-Agent header"},
		{Name: "netrc", Aliases: []string{"n"}, Group: groupHTTP, Usage: "take the password from ~/.netrc"},
		{Name: "insecure", Aliases: []string{"k"}, Group: groupHTTP, Usage: "accept any certificate"},
		{Name: "cacert", Value: "FILE", Group: groupHTTP, Usage: "trust these certificate authorities"},
		{Name: "cert", Aliases: []string{"E"}, Value: "FILE", Group: groupHTTP, Usage: "client certificate (PEM)"},
		{Name: "unix-socket", Value: "PATH", Rare: true, Group: groupHTTP, Usage: "connect to this socket"},
		{Name: "proxy", Aliases: []string{"x"}, Value: "URL", MayBeEmpty: true, Rare: true, Group: groupHTTP, Default: "from the environment", Usage: "the proxy for all requests; none if empty"},
		{Name: "resolve", Value: "HOST:PORT:ADDRESS", Many: true, Rare: true, Group: groupHTTP, Usage: "connect to this address for the host"},
		{Name: "connect-to", Value: "HOST:PORT:HOST:PORT", Many: true, Rare: true, Group: groupHTTP, Usage: "connect to the second host and port for the first"},
		{Name: "max-redirs", Value: "N", Rare: true, Group: groupHTTP, Default: "50", Usage: "redirects in one attempt; -1 = 1000, the most"},
		{Name: "location-trusted", Rare: true, Group: groupHTTP, Usage: "send credentials and body to other origins, too"},
		{Name: "follow", Value: "WHERE", Offers: offeredFollows, Distinctive: true, Group: groupHTTP, Default: "auto", Usage: "what to poll after the start: none, EXPR"},
		{Name: "no-conditional", Distinctive: true, Rare: true, Group: groupHTTP, Usage: "never send If-None-Match / If-Modified-Since"},
		{Name: "silent", Aliases: []string{"s"}, Hidden: true},
		{Name: "show-error", Aliases: []string{"S"}, Hidden: true},
		{Name: "fail", Aliases: []string{"f"}, Hidden: true},
		{Name: "location", Aliases: []string{"L"}, Hidden: true},
		{Name: "compressed", Hidden: true},

		{Name: "stdin", Group: groupCommand, Usage: "read stdin once, give it to every attempt"},
		{Name: "foreground", Group: groupCommand, Usage: "let the command use the terminal"},
		{Name: "grace", Value: "D", Group: groupCommand, Default: "2s", Usage: "time between TERM and KILL of an attempt"},
		{Name: "show-stderr", Distinctive: true, Group: groupCommand, Usage: "pass the command's stderr through as it comes"},
		{Name: "pass-exit-code", Distinctive: true, Group: groupCommand, Usage: "when the wait fails, exit with the command's code"},

		{Name: "name", Value: "LABEL", Group: groupOutput, Default: "from the target", Usage: "what the target is called"},
		{Name: "print", Value: "EXPR", Many: true, Group: groupOutput, Usage: "print this value, not the whole answer"},
		{Name: "show", Value: "EXPR", Many: true, Group: groupOutput, Usage: "show a value of each answer, a progress as a bar"},
		{Name: "json", Group: groupOutput, Usage: "print one JSON object that describes the outcome"},
		{Name: "result-file", Value: "FILE", Hidden: true}, // for the action: --json does not keep bytes as they are
		{Name: "progress", Value: "P", Group: groupOutput, Default: "auto", Usage: "live, lines, json or none", Words: argv.Texts(ui.Faces())},
		{Name: "quiet", Aliases: []string{"q"}, Group: groupOutput, Usage: "only errors: --progress none"},
		{Name: "verbose", Aliases: []string{"v"}, Group: groupOutput, Usage: "every attempt with its answer and decisions"},
		{Name: "heartbeat", Value: "D", Distinctive: true, Rare: true, Group: groupOutput, Default: "30s, growing to 5m", Usage: "report at least this often"},
		{Name: "color", Value: "WHEN", Group: groupOutput, Default: "auto", Usage: "always or never", Words: argv.Texts(term.ColorModes())},
		{Name: "help", Aliases: []string{"h"}, Group: groupOutput, Usage: "this text"},
		{Name: "version", Aliases: []string{"V"}, Group: groupOutput, Usage: "the version"},
	})
}

// severalFlags returns the options of a wait for several targets.
func severalFlags() argv.Flags {
	return argv.Flags{
		{Name: "targets", Value: "FILE", Group: groupSeveral, Usage: "wait for each entry, or fill {} with it; - is stdin"},
		{Name: "each", Value: "EXPR", Distinctive: true, Group: groupSeveral, Usage: "wait for each element of a list in the answer"},
		{Name: "key", Value: "EXPR", Many: true, Group: groupSeveral, Usage: "an element's name [.id]; or FILE: the key of --cert"},
		{Name: "next", Value: "EXPR", Distinctive: true, Rare: true, Group: groupSeveral, Default: "Link: rel=\"next\"", Usage: "the next page of the list: a URL or a cursor; or none"},
		{Name: "batch", Value: "N", Distinctive: true, Rare: true, Group: groupSeveral, Default: "1", Usage: "fill {} with this many entries at once, for --each"},
		{Name: "all", Hidden: true}, // the default
		{Name: "any", Group: groupSeveral, Usage: "one SUCCESS is enough"},
		{Name: "at-least", Value: "N|P%", Distinctive: true, Group: groupSeveral, Default: "all", Usage: "this many are enough; cancel the others"},
		{Name: "fail-fast", Group: groupSeveral, Usage: "end once a failure rules the goal out"},
		{Name: "expect", Value: "N", Rare: true, Group: groupSeveral, Default: "1", Usage: "fewer targets or elements are an error; 0 allows none"},
		{Name: "target-timeout", Value: "D", Distinctive: true, Group: groupSeveral, Default: "0 = none", Usage: "for each target, within --timeout"},
		{Name: "parallel-max", Value: "N", Distinctive: true, Group: groupSeveral, Default: "50", Usage: "attempts at once"},
		{Name: "parallel-max-host", Value: "N", Distinctive: true, Rare: true, Group: groupSeveral, Default: "--parallel-max if given, else 6; commands: processors", Usage: "of them to one host"},
		{Name: "joblog", Value: "FILE", Distinctive: true, Rare: true, Group: groupSeveral, Usage: "keep there what targets have come to; one will do"},
		{Name: "resume", Distinctive: true, Rare: true, Group: groupSeveral, Usage: "go on with --joblog FILE, or begin it"},
		{Name: "rate", Value: "N/U", Group: groupSeveral, Default: "50/s", Usage: "attempts at one host, e.g. 10/m; 0 = no limit"},
		{Name: "share", Value: "WHERE", Group: groupSeveral, Usage: "be polite together: a directory, or rediss://HOST"},
		{Name: "share-key", Value: "NAME", Distinctive: true, Rare: true, Group: groupSeveral, Default: "origin and credentials", Usage: "whose limit it is; needed for a command"},
		{Name: "share-answers", Value: "W", Distinctive: true, Rare: true, Group: groupSeveral, Default: "auto", Usage: "none; or a NAME, for commands and requests with a body"},
	}
}

func waitConflicts() []argv.Conflict {
	return slices.Concat(plan.Conflicts(), argv.Conflicting("quiet", "verbose", "show-stderr"), []argv.Conflict{
		{Flag: "any", Other: "at-least"}, {Flag: "any", Other: "all"}, {Flag: "at-least", Other: "all"},
		{Flag: "quiet", Other: "progress", Unless: "none"},
		{Flag: "show-stderr", Other: "progress", Only: "json"},
	})
}

// flagSynonyms maps the names that other tools use to flags of poll.
func flagSynonyms() map[string]string {
	return map[string]string{
		"attempts": "max-attempts", "retry": "max-attempts", "retries": "max-attempts",
		"max-retries": "max-attempts", "times": "max-attempts", "tries": "max-attempts",
		"max-time": "timeout", "retry-max-time": "timeout", "m": "timeout", "t": "timeout",
		"delay": "interval", "retry-delay": "interval", "sleep": "interval", "every": "interval",
		"wait": "interval", "retry-interval": "interval",
		"backoff": "strategy", "max-delay": "max-wait", "max-interval": "max-wait",
		"connect-timeout": "attempt-timeout", "fail-if": "error-if", "success-if": "until", "invert-check": "gone",
		"for": "until", "while": "not-ready-if", "quiet-stderr": "quiet", "silence": "quiet",
		"method": "request", "headers": "header", "body": "data",
		"parallel": "parallel-max", "P": "parallel-max", "j": "parallel-max", "jobs": "parallel-max",
		"max-procs": "parallel-max", "max-parallel": "parallel-max", "concurrency": "parallel-max",
		"threads": "parallel-max", "workers": "parallel-max",
		"one": "any", "any-of": "any", "first": "any", "min": "at-least", "quorum": "at-least",
		"input": "targets", "file": "targets", "urls": "targets", "arg-file": "targets",
		"redis": "share", "fleet": "share", "shared": "share", "together": "share",
		"rate-limit": "rate", "max-rate": "rate", "rps": "rate", "halt": "fail-fast", "fail-early": "fail-fast",
		"per-target-timeout": "target-timeout", "label": "name",
		"for-each": "each", "foreach": "each", "elements": "each", "items": "each",
		"chunk": "batch", "batch-size": "batch", "max-args": "batch", "next-page": "next", "paginate": "next", "min-targets": "expect",
		"watch": "show", "progress-expr": "show", "percent": "show", "display": "show",
	}
}

func offeredMethods() []argv.Candidate {
	return argv.Candidates("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
}

func offeredFollows() []argv.Candidate {
	return []argv.Candidate{{Word: "auto", About: "where the answer says"}, {Word: "none", About: "repeat the same request"}}
}
