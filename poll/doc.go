// Package poll waits until an asynchronous operation is done. It checks the operation repeatedly, with
// increasing waits between the checks, until the operation has succeeded or failed.
//
// [GetJSON] requests a URL until the response meets a condition, and decodes that response:
//
//	job, err := poll.GetJSON[Job](ctx, "https://api.example.com/jobs/42", `.state == "done"`)
//
// [Until] calls a function until the function reports that the operation is done:
//
//	job, err := poll.Until(ctx, func(ctx context.Context) (*Job, bool, error) {
//		job, err := client.Job(ctx, id)
//		return job, err == nil && job.Finished, err
//	})
//
// If the function returns an error, Until calls the function again, because the next call may succeed.
// [Permanent] marks an error that ends the wait, and [Throttled] an error that makes the next wait longer. The
// wait also ends when ctx is done. Use [UntilWith] to set other limits or another schedule.
//
// A [Poller] offers all settings. Its [Probe] checks the operation once: [HTTP] sends a request, [Command] runs
// a program, [TCP] opens a connection, and a [ProbeFunc] calls a Go function. [Wrap] adds a function to an
// existing probe, for example to change its responses. The rules, from package status, determine the verdict on
// each response. The schedule, from package backoff or backoff/learn, determines the waits:
//
//	rules, err := status.Until(`.state == "done"`)
//	...
//	p := poll.Poller{
//		Probe:   poll.HTTP{URL: "https://api.example.com/jobs/42"},
//		Rules:   rules,
//		Timeout: 10 * time.Minute,
//	}
//	outcome, err := p.Run(ctx)
//
// There are four verdicts. SUCCESS and ERROR end the wait; after NOT_READY and THROTTLED the wait continues. A
// server can make the next wait longer, for example with a Retry-After header. The deadline is the earlier of
// ctx's deadline and the end of Timeout. The last wait before the deadline is shortened, if necessary, so that
// there is time for one more attempt.
//
// The error shows how the wait ended. After the deadline, errors.Is(err, poll.TimedOut) and errors.Is(err,
// context.DeadlineExceeded) are true. If ctx was canceled, errors.Is(err, poll.Interrupted) is true.
// [Poller.Events] reports each wait and each attempt as it happens.
//
// A [State] holds everything that a later run needs to continue a wait. It can be stored as JSON; to continue
// in another process, set [Poller.Past]. [Poller.Step] makes only one attempt at a time, for programs that do
// the waiting themselves, such as a workflow engine.
//
// A [Group] waits for many Pollers, until all of them or a given number have succeeded. Their requests can
// share a [Limiter], so that no origin receives more requests than it allows. A [Pacer] is a Limiter for one
// process, and package fleet provides a Limiter for several processes.
//
// # Compatibility
//
// Before v1, any release may change this package; the change log lists the changes. From v1 on, code that
// compiles with one release compiles with the next, and behaves in the same way. The wording of reasons and
// errors may change at any time, so compare errors with errors.Is, and verdicts by their status.
//
// The JSON form of a [State] can be read by the release that wrote it. Later releases can read it if the change
// log says so. The poll command makes promises of its own: its exit codes, flags and environment variables do
// not change, and neither does its JSON output with "v": 1.
//
// # Files
//
// The files of the package:
//
//	easy.go        Get, GetJSON, Start and Until: waits in one call
//	poller.go      Poller: the settings of a wait, and their defaults in the comments
//	group.go       Group: the settings and the result of a wait for several targets
//	probe.go       the interfaces of probes; functions as probes; Wrap, Permanent, Throttled
//	http.go        the probe HTTP
//	command.go     the probe Command
//	tcp.go         the probe TCP
//	event.go       events, the constants of endings, Outcome and its error
//	state.go       the State between two runs, and its JSON form
//	loop.go        the round of a wait: plan, sleep, attempt, conclusion
//	wait.go        a wait: its defaults, and its start from an earlier State
//	attempt.go     one attempt: its context, its timeout, the probe of the next attempt
//	stream.go      the messages of a stream during an attempt
//	verdict.go     the verdict on a response, the new State, outdated responses
//	plan.go        the due time of the next attempt; thresholds
//	ending.go      the ending of a wait, its reason, and the State to save
//	list.go        lists: each element of a response is a target
//	listreader.go  the elements of a list in a response, and their names
//	schedule.go    the order of a group's attempts: the agenda, lines for origins
//	gate.go        limits before an attempt starts: origins, parallel attempts, request rate
//	score.go       the targets of a group: their numbers, their ends, and the goal
//	run.go         the state that all waits of a loop share; the emission of events
//	pacer.go       Limiter and Pacer: the rate and the pauses of origins
package poll
