//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

const isDone = `.state=="done"`

// sizes are the sizes of the works.
type sizes struct {
	targets  int
	elements int
	hanging  int // commands that ignore TERM
	lines    int
	attempts int // the largest number of attempts of one program
}

// full are the sizes that docs/bench.md names.
var full = sizes{targets: 10_000, elements: 5_000, hanging: 50, lines: 100_000, attempts: 2_000}

// A work is what poll, the floor and a peer do, each by a line.
type work struct {
	name, about string // of poll's line, -q is left out
	measure     measure
	unit        unit
	limit       limit
	gap         string // why the limit is not met, where it is not
	poll, floor []string
	peer        []string // nil for none
}

// A limit is for poll's cost in the unit, or for its ratio to the floor's.
type limit struct{ cost, ratio float64 }

// A unit is how a cost in seconds or bytes is shown.
type unit struct {
	name string
	size float64
}

func (u unit) show(cost float64) string { return fmt.Sprintf("%.2f %s", cost/u.size, u.name) }

// works returns the works to measure. N# in a line stands for a number of attempts.
func (b *workshop) works() []work {
	few, many := min(300, b.attempts), b.attempts
	ms, us, s, mib, mb := unit{"ms", 1e-3}, unit{"µs", 1e-6}, unit{"s", 1}, unit{"MiB", 1 << 20}, unit{"MB", 1e6}
	url := b.server.URL
	poll := func(flags string, more ...string) []string { return words(b.poll+" -q "+flags, more...) }
	floor := func(args string) []string { return words(b.floor + " " + args) }
	attempts := "--interval 0 --max-attempts N# --until " + isDone + " " + url
	loop := func(how, text string, of ...string) []string { return append([]string{b.loop, how, text}, of...) }
	cat, ndjson := words("cat "+filepath.Join(b.dir, "log")), url+"/ndjson"
	says := words("sh -c", `sleep 0.2; echo "{\"at\":$(date +%s%N)}"; exec sleep 60`)
	list := "--rate 0 --parallel-max-host 50 --max-attempts N# --until " + isDone + " --targets " + filepath.Join(b.dir, "targets") + " " + url + "/{}"
	return []work{{
		name: "start", measure: cpu, unit: ms, limit: limit{ratio: 1.35},
		about: "CPU of `poll --immediate -- true`, beside a program that links net/http and urfave/cli, catches signals and keeps both outputs",
		gap:   "poll is the larger program to load, and reads its own flags",
		poll:  poll("--immediate -- true"), floor: floor("start true"), peer: words("bash -c", "true; exit $?"),
	}, {
		name: "an attempt with a command", measure: each(few, cpu), unit: us, limit: limit{ratio: 1.25},
		about: "CPU of `poll --interval 0 -- false` by 300 attempts less one, beside a loop of os/exec that keeps both outputs; bash: a loop of `x=$(false)`",
		gap:   "poll has a group of processes and a deadline for each attempt",
		poll:  poll("--interval 0 --max-attempts N# -- false"), floor: floor("exec N# false"),
		peer: words("bash -c", "enable -n false; for ((i = 0; i < N#; i++)); do x=$(false); done"),
	}, {
		name: "an attempt with a URL", measure: each(many, cpu), unit: us, limit: limit{ratio: 1.5},
		about: "CPU of `poll --interval 0 --until '" + isDone + "' URL` by 2,000 attempts less one, beside a loop of net/http with a timeout",
		gap:   "poll has timers for the attempt and the run, a verdict with its reason, the hints of the header, and events",
		poll:  poll(attempts), floor: floor("http N# " + url), peer: words("curl -s -o /dev/null " + url + "/[1-N#]"),
	}, {
		name: "100,000 lines of a command", measure: cpu, unit: ms, limit: limit{ratio: 1.2},
		about: "CPU of `poll --stream --until '$stdout == \"ready\"' -- cat FILE`, beside a loop of bufio.Scanner that asks the same rule; peer: one that compares texts",
		gap:   "poll keeps the time, the number and a checksum of each message, and a copy of the last",
		poll:  poll(`--stream --until $stdout=="ready" --`, cat...), floor: loop("ask", `$stdout=="ready"`, cat...), peer: loop("is", "ready", cat...),
	}, {
		name: "100,000 documents of a URL", measure: cpu, unit: ms, limit: limit{ratio: 1.4},
		about: "the same of `poll --stream --until '" + isDone + "' URL` and NDJSON",
		gap:   "poll, besides, finds the end of each document itself",
		poll:  poll("--stream --until " + isDone + " " + ndjson), floor: loop("ask", isDone, ndjson), peer: loop("is", `{"state":"done"}`, ndjson),
	}, {
		name: "the end is known after its line", measure: known, unit: ms, limit: limit{cost: 10},
		about: "time from a line of a command that goes on to the end of poll and of the command, beside the same loop",
		poll:  poll("--stream --until .at --", says...), floor: loop("ask", ".at", says...),
	}, {
		name: "the end is known after its event", measure: known, unit: ms, limit: limit{cost: 10},
		about: "the same of server-sent events",
		poll:  poll("--stream --until " + isDone + " " + url + "/events"), floor: loop("ask", `$stdout contains "done"`, url+"/events"),
	}, {
		name: "memory, a command", measure: peak(few), unit: mib, limit: limit{cost: 20}, about: "peak of resident memory in 300 attempts",
		poll: poll("--interval 0 --max-attempts N# -- false"), floor: floor("exec N# false"),
	}, {
		name: "memory, a URL", measure: peak(many), unit: mib, limit: limit{cost: 20}, about: "the same in 2,000 attempts",
		poll: poll(attempts), floor: floor("http N# " + url),
	}, {
		name: "size", measure: bytesOf, unit: mb, limit: limit{cost: 16}, about: "of the program as it is released",
		poll: poll(""), floor: floor(""),
	}, {
		name: "10,000 targets, the first looks", measure: b.firstLooks, unit: s, limit: limit{cost: 1.5},
		about: "time from the start until all have been asked, 50 requests at once",
		gap:   "poll checks all targets before the first request, and judges each answer; the server takes its share of the cores",
		poll:  poll(list + " --interval 20s"),
	}, {
		name: "10,000 targets, memory", measure: peak(min(5, many)), unit: mib, limit: limit{cost: 64}, about: "peak of resident memory in five looks at each",
		gap:  "most of it is garbage that waits to be collected",
		poll: poll(list + " --interval 0"),
	}, {
		name: "an element, 5,000 in one answer", measure: each(min(21, many), cpu), unit: unit{"µs", 1e-6 * float64(b.elements)}, limit: limit{cost: 15},
		about: "CPU of a further look by `--each .jobs` at 280 B an element, one request",
		gap:   "each element has a verdict, and the reason of it",
		poll:  poll("--interval 0 --rate 0 --max-attempts N# --each .jobs --until " + isDone + " " + url + "/list"),
	}, {
		name: "TERM to the end, 50 commands", measure: b.stopped, unit: s, limit: limit{cost: 1.5},
		about: "commands that ignore TERM, with a child each, and `--grace 1s`; no process is left",
		gap:   "to end 100 processes takes the machine its time",
		poll: poll("--rate 0 --parallel-max 50 --parallel-max-host 50 --grace 1s --targets "+filepath.Join(b.dir, "targets")+" -- sh -c",
			`trap "" TERM; sleep 60 & wait; sleep 60`, "{}"),
	}}
}

// words splits a line, and appends arguments that contain spaces.
func words(line string, more ...string) []string { return append(strings.Fields(line), more...) }
