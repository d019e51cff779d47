// Command many is the least that looking at many targets costs a Go program: a heap of
// due times, a pool of workers, and the last answer of each target kept.
//
//	many [flags] N URL                 looks at URL1 to URLN with net/http
//	many [flags] N -- PROGRAM [ARG...] runs the program for each of N targets
package main

import (
	"bytes"
	"container/heap"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"
)

func main() {
	workers := flag.Int("workers", 50, "looks at once")
	looks := flag.Int("looks", 1, "how often each target is looked at; 0 = forever")
	interval := flag.Duration("interval", 0, "between the looks at a target")
	rate := flag.Int("rate", 0, "first looks a second; 0 = at once")
	flag.Parse()
	n, err := strconv.Atoi(flag.Arg(0))
	if err != nil || flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	look := request(flag.Arg(1), *workers)
	if flag.Arg(1) == "--" {
		look = command(flag.Args()[2:])
	}
	g := group{interval: *interval, limit: *looks, asked: make(chan *target), answered: make(chan *target, *workers)}
	for range *workers {
		go func() {
			for t := range g.asked {
				t.body = look(t.n)
				g.answered <- t
			}
		}()
	}
	g.run(targets(n, *rate))
}

type target struct {
	n, looks int
	due      time.Time
	body     []byte
}

func targets(n, rate int) queue {
	now := time.Now()
	q := make(queue, n)
	for i := range q {
		q[i] = &target{n: i + 1, due: now}
		if rate > 0 {
			q[i].due = now.Add(time.Duration(i) * time.Second / time.Duration(rate))
		}
	}
	return q
}

type group struct {
	interval        time.Duration
	limit           int
	asked, answered chan *target
}

// run looks at the targets as they become due, until each has had its looks.
func (g *group) run(waiting queue) {
	heap.Init(&waiting)
	for busy := 0; len(waiting)+busy > 0; {
		var asked chan *target
		var next *target
		var later <-chan time.Time
		if len(waiting) > 0 {
			next = waiting[0]
			if d := time.Until(next.due); d > 0 {
				later = time.After(d)
			} else {
				asked = g.asked
			}
		}
		select {
		case asked <- next:
			heap.Pop(&waiting)
			busy++
		case t := <-g.answered:
			busy--
			if t.looks++; t.looks != g.limit {
				t.due = time.Now().Add(g.interval)
				heap.Push(&waiting, t)
			}
		case <-later:
		}
	}
}

func request(url string, workers int) func(n int) []byte {
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: workers, MaxIdleConnsPerHost: workers}}
	return func(n int) []byte {
		answer, err := client.Get(url + strconv.Itoa(n))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return body
	}
}

func command(line []string) func(n int) []byte {
	return func(int) []byte {
		var out bytes.Buffer
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Stdout, cmd.Stderr = &out, new(bytes.Buffer)
		cmd.Run()
		return out.Bytes()
	}
}

// A queue is a heap of targets by their due times.
type queue []*target

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*target)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
