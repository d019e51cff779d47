// Command floor is the least that the work of poll costs a Go program that links net/http and
// urfave/cli.
//
//	floor start PROGRAM        runs it once: signals are caught, the outputs are kept
//	floor exec N PROGRAM       runs it N times, one after the other
//	floor http N URL           gets the URL N times, with a timeout
//	floor many N LOOKS URL     gets URL1 to URLN with 50 workers, LOOKS times, and keeps the answers
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
	"sync"
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
			return times(c.Args().First(), func() error { _, err := get(http.DefaultClient, c.Args().Get(1)); return err })
		}},
		{Name: "many", Action: many},
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

func get(client *http.Client, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

func many(c *cli.Context) error {
	const workers = 50
	n, err := strconv.Atoi(c.Args().First())
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	answers := make([][]byte, n)
	return times(c.Args().Get(1), func() error {
		next := make(chan int)
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for i := range next {
					answers[i], _ = get(client, c.Args().Get(2)+strconv.Itoa(i+1))
				}
			})
		}
		for i := range n {
			next <- i
		}
		close(next)
		all.Wait()
		return nil
	})
}
