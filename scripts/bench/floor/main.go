// Command floor is the least that the work of poll costs a Go program that links net/http and
// urfave/cli.
//
//	floor start PROGRAM        runs it once: signals are caught, the outputs are kept
//	floor exec N PROGRAM       runs it N times, one after the other
//	floor http N URL           gets the URL N times, with a timeout
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
)

func main() {
	app := &cli.App{Commands: []*cli.Command{
		{Name: "start", Action: start},
		{Name: "exec", Action: func(c *cli.Context) error {
			return times(c.Args().First(), func() error { run(c.Args().Get(1)); return nil })
		}},
		{Name: "http", Action: func(c *cli.Context) error {
			return times(c.Args().First(), func() error { return get(c.Args().Get(1)) })
		}},
	}}
	if err := app.Run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func times(count string, do func() error) error {
	n, err := strconv.Atoi(count)
	for range n {
		if err == nil {
			err = do()
		}
	}
	return err
}

func start(c *cli.Context) error {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	out, err := run(c.Args().First())
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(out)
	return err
}

func run(program string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	return stdout.Bytes(), err
}

func get(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.ReadAll(answer.Body)
	return err
}
