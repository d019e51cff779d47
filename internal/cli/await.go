package cli

import "context"

// await returns what f returns, or the cause of ctx if that is done before.
// Nothing can end a read from a pipe that nobody writes to, so f is then left
// to itself, and what it has under its hands must not be used any more.
func await(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deliver writes the result, and gives up at a signal. What comes of a signal
// is written, too, and then it is for the guard to see to the end.
func deliver(ctx context.Context, write func() error) error {
	if ctx.Err() != nil {
		return write()
	}
	return await(ctx, write)
}
