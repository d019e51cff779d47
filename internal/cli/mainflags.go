package cli

import (
	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/report"
	"github.com/pollcli/poll/internal/term"
)

// The headings of the main command's help.
const (
	groupConditions = "Conditions (each may be repeated: any one that is true is enough)"
	groupWaiting    = "Waiting"
	groupLearning   = "Learning (from past runs of the same operation)"
	groupLimits     = "Limits"
	groupHTTP       = "HTTP (as curl's)"
	groupCommand    = "Command"
	groupOutput     = "Output"
)

// mainFlags are the options of a wait.
func mainFlags() flags {
	return flags{
		{name: "until", value: "EXPR", many: true, onlyPolls: true, group: groupConditions, usage: "SUCCESS when true, e.g. '.state==\"done\"'"},
		{name: "error-if", value: "EXPR", many: true, onlyPolls: true, group: groupConditions, usage: "ERROR when true: stop"},
		{name: "throttled-if", value: "EXPR", many: true, onlyPolls: true, group: groupConditions, usage: "THROTTLED when true: slow down"},
		{name: "not-ready-if", value: "EXPR", many: true, onlyPolls: true, group: groupConditions, usage: "NOT_READY when true, e.g. '$status==404'"},
		{name: "strict", onlyPolls: true, group: groupConditions, usage: "a good answer that no condition matches is ERROR"},
		{name: "preset", value: "NAME", offers: offeredPresets, onlyPolls: true, group: groupConditions, usage: "built-in conditions for an API: poll presets"},
		{name: "success-threshold", value: "N", def: "1", onlyPolls: true, group: groupConditions, usage: "consecutive SUCCESS verdicts needed"},
		{name: "error-threshold", value: "N", def: "1", onlyPolls: true, group: groupConditions, usage: "consecutive ERROR verdicts needed"},

		{name: "timeout", value: "D", def: "10m", group: groupLimits, usage: "for everything; 0 = none"},
		{name: "attempt-timeout", value: "D", onlyPolls: true, group: groupLimits, def: "30s; none for a command", usage: "for one attempt"},
		{name: "max-attempts", value: "N", onlyPolls: true, group: groupLimits, def: "0 = no limit", usage: "attempts in all"},
		{name: "max-body", value: "SIZE", group: groupLimits, def: "64MiB", usage: "the most that is kept of an answer"},

		{name: "strategy", value: "S", group: groupWaiting, def: "exponential", usage: "or fixed, linear, fibonacci, polynomial", words: names(backoff.Strategies())},
		{name: "base", value: "D", group: groupWaiting, def: "100ms", usage: "the first wait, roughly"},
		{name: "factor", value: "F", group: groupWaiting, def: "2", usage: "growth of exponential"},
		{name: "power", value: "P", group: groupWaiting, def: "4", usage: "growth of polynomial"},
		{name: "max-wait", value: "D", group: groupWaiting, def: "20s", usage: "no own wait is longer; 0 = no cap"},
		{name: "interval", value: "D", group: groupWaiting, usage: "look at once, then every D"},
		{name: "overshoot", value: "PCT", onlyPolls: true, group: groupWaiting, usage: "each wait is about PCT of the time waited so far"},
		{name: "jitter", value: "J", group: groupWaiting, def: "auto", usage: "or none, full, equal, decorrelated", words: names(backoff.Jitters())},
		{name: "seed", value: "N", group: groupWaiting, usage: "makes jitter repeatable"},
		{name: "immediate", group: groupWaiting, usage: "first attempt at once; with --interval unless =false"},
		{name: "initial-delay", value: "D", group: groupWaiting, def: "0", usage: "wait this long before anything"},

		{name: "learn", value: "NAME", onlyPolls: true, group: groupLearning, usage: "remember how long runs take, poll when they end"},
		{name: "poll-cost", value: "C", def: "1%", onlyPolls: true, group: groupLearning, usage: "what an attempt is worth: % of the median, or D"},
		{name: "age", value: "D", def: "0", group: groupLearning, usage: "how long the operation has been running already"},
		{name: "history", value: "DIR", def: "~/.local/state/poll/history", group: groupLearning, usage: "keep past runs here"},
		{name: "started-at", value: "EXPR", onlyPolls: true, group: groupLearning, usage: "when it started, by the last answer"},
		{name: "finished-at", value: "EXPR", onlyPolls: true, group: groupLearning, usage: "when it ended, by the last answer"},

		{name: "request", aliases: []string{"X"}, value: "METHOD", offers: offeredMethods, group: groupHTTP, usage: "the method; GET, or POST with -d"},
		{name: "data", aliases: []string{"d"}, value: "DATA", mayBeEmpty: true, many: true, fromFile: true, group: groupHTTP, usage: "the request body; @FILE reads it, @- from stdin"},
		{name: "header", aliases: []string{"H"}, value: "LINE", many: true, fromFile: true, group: groupHTTP, usage: "a request header; @FILE reads several"},
		{name: "user", aliases: []string{"u"}, value: "USER:PASS", group: groupHTTP, usage: "basic authentication"},
		{name: "user-agent", aliases: []string{"A"}, value: "NAME", mayBeEmpty: true, group: groupHTTP, usage: "the User-Agent header"},
		{name: "netrc", aliases: []string{"n"}, group: groupHTTP, usage: "take the password from ~/.netrc"},
		{name: "insecure", aliases: []string{"k"}, group: groupHTTP, usage: "accept any certificate"},
		{name: "cacert", value: "FILE", group: groupHTTP, usage: "trust these certificate authorities"},
		{name: "cert", aliases: []string{"E"}, value: "FILE", group: groupHTTP, usage: "client certificate (PEM)"},
		{name: "key", value: "FILE", group: groupHTTP, usage: "its key, if not in the same file"},
		{name: "unix-socket", value: "PATH", group: groupHTTP, usage: "connect to this socket"},
		{name: "max-redirs", value: "N", group: groupHTTP, def: "50", usage: "redirects in one attempt; -1 = 1000, the most"},
		{name: "location-trusted", group: groupHTTP, usage: "send credentials and body to other origins, too"},
		{name: "follow", value: "WHERE", offers: offeredFollows, onlyPolls: true, group: groupHTTP, def: "auto", usage: "where to look after the start: none, EXPR"},
		{name: "no-conditional", onlyPolls: true, group: groupHTTP, usage: "never send If-None-Match / If-Modified-Since"},
		{name: "silent", aliases: []string{"s"}, hidden: true},
		{name: "show-error", aliases: []string{"S"}, hidden: true},
		{name: "fail", aliases: []string{"f"}, hidden: true},
		{name: "location", aliases: []string{"L"}, hidden: true},
		{name: "compressed", hidden: true},

		{name: "stdin", group: groupCommand, usage: "read stdin once, give it to every attempt"},
		{name: "foreground", group: groupCommand, usage: "let the command use the terminal"},
		{name: "grace", value: "D", group: groupCommand, def: "2s", usage: "between TERM and KILL of an attempt"},
		{name: "show-stderr", onlyPolls: true, group: groupCommand, usage: "pass the command's stderr through as it comes"},
		{name: "pass-exit-code", onlyPolls: true, group: groupCommand, usage: "when the wait fails, exit with the command's code"},

		{name: "print", value: "EXPR", group: groupOutput, usage: "print this value, not the whole answer"},
		{name: "json", group: groupOutput, usage: "print one JSON object that describes the outcome"},
		{name: "result-file", value: "FILE", hidden: true}, // for the action: --json does not keep bytes as they are
		{name: "progress", value: "P", group: groupOutput, def: "auto", usage: "live, lines, json or none", words: report.FaceNames()},
		{name: "quiet", aliases: []string{"q"}, group: groupOutput, usage: "only errors: --progress none"},
		{name: "verbose", aliases: []string{"v"}, group: groupOutput, usage: "every attempt with its answer and decisions"},
		{name: "heartbeat", value: "D", onlyPolls: true, group: groupOutput, def: "30s, growing to 5m", usage: "speak at least this often"},
		{name: "color", value: "WHEN", group: groupOutput, def: "auto", usage: "always or never", words: term.ColorModeNames()},
		{name: "help", aliases: []string{"h"}, group: groupOutput, usage: "this text"},
		{name: "version", group: groupOutput, usage: "the version"},
	}
}

func offeredMethods() []candidate {
	return candidates("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
}

func offeredFollows() []candidate {
	return []candidate{{"auto", "where the answer says"}, {"none", "repeat the same request"}}
}

func names[T ~string](words []T) []string {
	plain := make([]string, len(words))
	for i, w := range words {
		plain[i] = string(w)
	}
	return plain
}
