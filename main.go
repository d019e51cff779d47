// Poll waits for a URL or a command, and ends with an exit code that scripts can rely on.
package main

import (
	"os"

	"github.com/pollcli/poll/internal/cli"
	"github.com/pollcli/poll/internal/ui/term"
)

func main() {
	cli.Main(cli.NewProcess(os.Args[1:], os.LookupEnv, term.System(os.Getenv)))
}
