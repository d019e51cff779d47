// Command start is what a program in Go with these two libraries costs at least:
// it runs its arguments once.
package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"

	"github.com/urfave/cli/v3"
)

func main() {
	app := &cli.Command{
		Flags: []cli.Flag{&cli.StringFlag{Name: "url"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			if url := c.String("url"); url != "" {
				_, err := http.Get(url)
				return err
			}
			return exec.CommandContext(ctx, c.Args().First(), c.Args().Tail()...).Run()
		},
	}
	if app.Run(context.Background(), os.Args) != nil {
		os.Exit(1)
	}
}
