// Package poll waits for an asynchronous operation: it looks again and again,
// with growing pauses, until the operation is done or has failed.
//
// [Until] waits for a function of one's own:
//
//	job, err := poll.Until(ctx, func(ctx context.Context) (*Job, bool, error) {
//		job, err := client.Job(ctx, id)
//		return job, err == nil && job.Finished, err
//	})
//
// The function returns a value, whether the wait is over, and what went wrong.
// An error is no reason to give up: the next attempt may succeed. [Permanent]
// marks an error that no attempt can mend, and [Throttled] one that asks for a
// longer pause. The wait ends with ctx, and [UntilWith] sets more limits.
//
// A [Poller] is the whole of it. It has a [Probe], which looks once: [HTTP] sends
// a request, [Command] runs a program, [TCP] opens a connection, and a [ProbeFunc]
// does whatever a Go program can do. It has rules of package status, which say
// what an answer means, a schedule of package backoff or of backoff/learn, and
// limits:
//
//	done, err := status.NewRule(status.Success, `.state == "done"`)
//	...
//	p := poll.Poller{
//		Probe:   poll.HTTP{URL: "https://api.example.com/jobs/42"},
//		Rules:   status.Rules{Own: []status.Rule{done}},
//		Timeout: 10 * time.Minute,
//	}
//	outcome, err := p.Run(ctx)
//
// Each answer becomes one of four verdicts: SUCCESS and ERROR end the wait,
// NOT_READY and THROTTLED go on with it. What a server asks for, as with
// Retry-After, makes a pause longer. The deadline is that of ctx or of Timeout,
// whichever is earlier, and the pause before it is cut short so that one more look
// fits in.
//
// The error says how the wait ended: errors.Is(err, poll.TimedOut) and
// errors.Is(err, context.DeadlineExceeded) hold after the deadline, and
// errors.Is(err, poll.Interrupted) when ctx was canceled. [Poller.Events] tells of
// every wait and attempt as it happens.
package poll
