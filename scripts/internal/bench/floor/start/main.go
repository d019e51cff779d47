// Command start is the least that a Go program with these two libraries costs: it
// runs its arguments once. With --attend it also catches signals and keeps both
// outputs, as a program that passes them on has to.
package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
)

func main() {
	app := &cli.App{
		Flags: []cli.Flag{&cli.StringFlag{Name: "url"}, &cli.BoolFlag{Name: "attend"}},
		Action: func(c *cli.Context) error {
			if url := c.String("url"); url != "" {
				_, err := http.Get(url)
				return err
			}
			cmd := exec.CommandContext(c.Context, c.Args().First(), c.Args().Tail()...)
			if c.Bool("attend") {
				return attend(cmd)
			}
			return cmd.Run()
		},
	}
	if app.Run(os.Args) != nil {
		os.Exit(1)
	}
}

func attend(cmd *exec.Cmd) error {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	go func() {
		<-caught
		cmd.Process.Kill()
	}()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	_, err := os.Stdout.Write(stdout.Bytes())
	return err
}
