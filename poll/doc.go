// Package poll waits for an asynchronous operation: it looks again and again, with growing
// waits in between, until the operation is done or has failed.
//
// [GetJSON] requests a URL until the answer meets a condition, as [Get] does:
//
//	job, err := poll.GetJSON[Job](ctx, "https://api.example.com/jobs/42", `.state == "done"`)
//
// [Until] calls a function until that reports that it is done:
//
//	job, err := poll.Until(ctx, func(ctx context.Context) (*Job, bool, error) {
//		job, err := client.Job(ctx, id)
//		return job, err == nil && job.Finished, err
//	})
//
// An error of the function does not end the wait, since the next call may succeed.
// [Permanent] marks an error that does, and [Throttled] one that asks for a longer wait.
// The wait ends with ctx; [UntilWith] sets other limits and schedules.
//
// A [Poller] has every setting. Its [Probe] checks the operation once: [HTTP] sends a request, [Command]
// runs a program, [TCP] opens a connection, and a [ProbeFunc] does whatever a Go program
// can do; [Wrap] puts a function around a probe. Its rules, of package status, say what an answer
// means. Its schedule comes from package backoff or backoff/learn:
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
// Each answer becomes one of four verdicts: SUCCESS and ERROR end the wait, NOT_READY and
// THROTTLED go on with it. A wait that the server asks for, as with Retry-After, makes a
// wait between attempts longer. The deadline is the earlier of ctx's and Timeout's, and the
// last wait before it is cut short to leave time for one more look.
//
// The error says how the wait ended: errors.Is(err, poll.TimedOut) and errors.Is(err,
// context.DeadlineExceeded) hold after the deadline, and errors.Is(err, poll.Interrupted)
// when ctx was canceled. [Poller.Events] reports every wait and attempt as it happens.
//
// A [State] is what a later run needs to continue a wait. It has a JSON form: Past
// continues from it in another process, and [Poller.Step] makes one attempt of a wait that
// a workflow engine drives.
//
// A [Group] waits for many Pollers, until all of them, or as many as are needed, have
// succeeded. Its requests share a [Limiter], so that no place gets more of them than it
// allows: a [Pacer] is one in memory, and package fleet has one for several processes.
//
// # Compatibility
//
// Before v1 a release may change this package, and its change log says how. From v1 on,
// what compiles with one release compiles with the next, and means the same. Texts of
// reasons and errors may change at any time: compare errors with errors.Is, and verdicts by
// their status. The JSON form of a [State] is for the release that wrote it, and for
// later ones that say so. The command has promises of its own: exit codes, flags,
// variables, and JSON of v 1 stay.
package poll
