// Package poll waits for an asynchronous operation. It checks the operation again and again, with
// growing waits in between, until the operation is done or has failed.
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
// An error of the function does not end the wait, since the next call may succeed.
// [Permanent] marks an error that ends the wait, and [Throttled] an error that makes the next wait longer.
// The wait ends when ctx is done. [UntilWith] sets other limits and schedules.
//
// A [Poller] has every setting. Its [Probe] checks the operation once: [HTTP] sends a request, [Command]
// runs a program, [TCP] opens a connection, and a [ProbeFunc] calls a Go function. [Wrap] puts a function
// around a probe. The rules, from package status, give each response a verdict. The schedule comes from
// package backoff or backoff/learn:
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
// Each response gets one of four verdicts. SUCCESS and ERROR end the wait; after NOT_READY and
// THROTTLED the wait continues. A server can make the wait before the next attempt longer, for example
// with Retry-After. The deadline is the earlier of ctx's deadline and the end of Timeout. The last wait
// before the deadline is shortened to leave time for one more attempt.
//
// The error reports how the wait ended: errors.Is(err, poll.TimedOut) and errors.Is(err,
// context.DeadlineExceeded) hold after the deadline, and errors.Is(err, poll.Interrupted)
// holds if ctx was canceled. [Poller.Events] reports every wait and attempt as it happens.
//
// A [State] has the facts that a later run needs to continue a wait. With the JSON form of the State,
// [Poller.Past] continues the wait in another process. [Poller.Step] makes one attempt of a wait that
// a workflow engine drives.
//
// A [Group] waits for many Pollers, until all of them, or a given number, have succeeded. Its requests
// share a [Limiter], so that no origin gets more requests than it allows. A [Pacer] is a Limiter in
// memory, and package fleet has a Limiter for several processes.
//
// # Compatibility
//
// Before v1 a release may change this package; the change log lists the changes. From v1 on, code that
// compiles with one release compiles with the next release and means the same. The wording of
// reasons and errors may change at any time: compare errors with errors.Is, and verdicts by
// their status. Only the release that wrote the JSON form of a [State] is sure to read it; the change
// log names later releases that read it, too. The command has promises of its own: exit codes, flags,
// variables, and JSON with "v": 1 stay.
package poll
