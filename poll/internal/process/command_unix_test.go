//go:build unix

package process

import (
	"testing"
)

func TestCommandCompleteBeforeTheEnd(t *testing.T) {
	t.Parallel()
	// A select with two choices takes either.
	wantComplete(t, Command{Args: []string{"sh", "-c", "echo answer; exit 5"}}, 20)
}
