// Command start is what a program in Go with these two libraries costs at least:
// it runs its arguments once.
package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"

	"github.com/urfave/cli/v2"
)

func main() {
	app := &cli.App{
		Flags: []cli.Flag{&cli.StringFlag{Name: "url"}},
		Action: func(c *cli.Context) error {
			if url := c.String("url"); url != "" {
				_, err := http.Get(url)
				return err
			}
			return exec.CommandContext(context.Background(), c.Args().First(), c.Args().Tail()...).Run()
		},
	}
	if app.Run(os.Args) != nil {
		os.Exit(1)
	}
}
