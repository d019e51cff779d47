//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pollcli/poll/scripts/internal/proc"
)

const (
	crowd    = 10_000 // targets
	compared = 300    // targets of the peers that start a program for each
	hanging  = 50     // commands that do not end
)

func manyTargets() table {
	return table{
		title: "Many targets",
		about: fmt.Sprintf("%d URLs with answers of %d B on loopback; the server's time is not counted. The floor is a pool of 50 workers,\n"+
			"a heap of due times and net/http, which keeps the last answer of each target. It judges nothing, prints nothing, and\n"+
			"knows no deadline. `-q --rate 0 --parallel-max-host 50` is left out of poll's lines. Most of what poll adds to the memory\n"+
			"is garbage: of each target it keeps 3 KiB, and as much again waits to be collected.", crowd, len(crowdAnswer)),
		print: func(out io.Writer, w *workshop) error {
			if err := w.gather(); err != nil {
				return err
			}
			for _, part := range []struct {
				contest
				rounds int
			}{
				{w.looks(), 5}, {w.moreLooks(), 3}, {w.crowdMemory(), 5}, {w.waiting(), 3}, {w.firstRequest(), 5}, {w.firstLooks(), 5},
				{w.idle(), 3}, {w.late(), 3}, {w.commands(), 5}, {w.stopped(), 3}, {w.peers(), 3},
			} {
				if err := part.print(out, min(w.rounds, part.rounds)); err != nil {
					return err
				}
				fmt.Fprintln(out)
			}
			return nil
		},
	}
}

// gather writes the targets: files with the words 1 to N, and with the URLs.
func (w *workshop) gather() error {
	for _, n := range []int{1, compared, 1000, 2000, listed, crowd} {
		var words, urls strings.Builder
		for i := 1; i <= n; i++ {
			fmt.Fprintln(&words, i)
			fmt.Fprintf(&urls, "%s%d\n", w.crowd.url, i)
		}
		for name, text := range map[string]string{"words": words.String(), "urls": urls.String()} {
			if err := os.WriteFile(w.list(name, fmt.Sprint(n)), []byte(text), 0o644); err != nil {
				return fmt.Errorf("write the targets: %w", err)
			}
		}
	}
	return nil
}

func (w *workshop) list(name, n string) string { return filepath.Join(w.dir, name+"-"+n) }

// ask is a line of poll that looks at n URLs, N# for each to fill in.
func (w *workshop) ask(n string, flags ...string) []string {
	line := []string{w.poll, "-q", "--parallel-max-host", "50", "--targets", w.list("words", n)}
	if !slices.Contains(flags, "--rate") {
		line = append(line, "--rate", "0")
	}
	return slices.Concat(line, flags, []string{"--until", `.state=="done"`, w.crowd.url + "{}"})
}

// floor is a line of the floor that looks at n URLs.
func (w *workshop) floor(n string, flags ...string) []string {
	return slices.Concat([]string{w.many}, flags, []string{n, w.crowd.url})
}

func (w *workshop) looks() contest {
	return contest{"CPU, one look at each target, with what a target costs once", microseconds, []entry{
		{"`poll --interval 20s --max-attempts 1 --targets FILE --until '.state==\"done\"' URL/{}`; limit: 2", w.poll,
			each(crowd, w.ask("N#", "--interval", "20s", "--max-attempts", "1")...)},
		{"floor", w.many, each(crowd, w.floor("N#")...)},
	}}
}

func (w *workshop) moreLooks() contest {
	ofEach := func(line func(looks string) []string) func() (float64, error) {
		look := further(5, line)
		return func() (float64, error) { all, err := look(); return all / crowd, err }
	}
	n := fmt.Sprint(crowd)
	return contest{"CPU, a further look at each", microseconds, []entry{
		{"poll, `--interval 0`; limit: 2", w.poll, ofEach(func(looks string) []string {
			return w.ask(n, "--interval", "0", "--max-attempts", looks)
		})},
		{"floor", w.many, ofEach(func(looks string) []string { return w.floor(n, "-looks", looks) })},
	}}
}

func (w *workshop) crowdMemory() contest {
	n := fmt.Sprint(crowd)
	return contest{"Peak memory, five looks at each; limit: 64 MiB", mebibytes, []entry{
		{"poll, `--interval 0`", w.poll, peak(w.ask(n, "--interval", "0", "--max-attempts", "5")...)},
		{"floor", w.many, peak(w.floor(n, "-looks", "5")...)},
	}}
}

// waiting is the memory of what waits for its second look.
func (w *workshop) waiting() contest {
	resident := func(line func(n string) []string) func() (float64, error) {
		return func() (float64, error) {
			var sizes []float64
			for _, n := range []int{crowd, 1} {
				err := w.crowd.watch(line(fmt.Sprint(n)), func(r *visitor) error {
					if err := r.seen(n); err != nil {
						return err
					}
					time.Sleep(500 * time.Millisecond)
					sizes = append(sizes, float64(proc.Memory(r.Process.Pid, "VmRSS")))
					return nil
				})
				if err != nil {
					return 0, err
				}
			}
			return (sizes[0]-sizes[1])/(crowd-1) - float64(len(crowdAnswer)), nil
		}
	}
	return contest{"Resident memory of a target that waits, without its answer; limit: 4 KiB", kibibytes, []entry{
		{"poll, `--interval 60s`", w.poll, resident(func(n string) []string { return w.ask(n, "--interval", "60s") })},
		{"floor", w.many, resident(func(n string) []string { return w.floor(n, "-looks", "0", "-interval", "60s") })},
	}}
}

// since measures the time from the start of a program to the nth request.
func (w *workshop) since(n int, line []string) func() (float64, error) {
	return func() (took float64, err error) {
		err = w.crowd.watch(line, func(r *visitor) error {
			if err := r.seen(n); err != nil {
				return err
			}
			took = r.nth(n).Sub(r.began).Seconds()
			return nil
		})
		return took, err
	}
}

func (w *workshop) firstRequest() contest {
	n := fmt.Sprint(crowd)
	return contest{fmt.Sprintf("From the start to the first request, of %d; limit: 100 ms", crowd), milliseconds, []entry{
		{"poll, which has read and checked all targets", w.poll, w.since(1, w.ask(n, "--interval", "20s"))},
		{"poll, one target", w.poll, w.since(1, w.ask("1", "--interval", "20s"))},
		{"floor", w.many, w.since(1, w.floor(n))},
	}}
}

func (w *workshop) firstLooks() contest {
	n := fmt.Sprint(crowd)
	return contest{fmt.Sprintf("From the start to the last of %d first looks; limit: 1 s", crowd), milliseconds, []entry{
		{"poll", w.poll, w.since(crowd, w.ask(n, "--interval", "20s"))},
		{"floor", w.many, w.since(crowd, w.floor(n))},
	}}
}

// idle is the share of a core that looks at each of the crowd every 20 s take.
func (w *workshop) idle() contest {
	const rate, measured = crowd / 20, 8 * time.Second
	share := func(line []string) func() (float64, error) {
		return func() (used float64, err error) {
			err = w.crowd.watch(line, func(r *visitor) error {
				if err := r.seen(rate); err != nil { // a second
					return err
				}
				before := proc.CPU(r.Process.Pid)
				time.Sleep(measured)
				used = (proc.CPU(r.Process.Pid) - before).Seconds() / measured.Seconds()
				return nil
			})
			return used, err
		}
	}
	n := fmt.Sprint(crowd)
	return contest{fmt.Sprintf("Share of a core, a look every 20 s at each, which is %d a second; limit: 2%%", rate), percent, []entry{
		{"poll, `--interval 20s --rate 500/s`", w.poll, share(w.ask(n, "--interval", "20s", "--rate", fmt.Sprintf("%d/s", rate)))},
		{"floor", w.many, share(w.floor(n, "-looks", "0", "-interval", "20s", "-rate", fmt.Sprint(rate)))},
	}}
}

// late is how much later than an interval after the last answer a target is looked at again.
func (w *workshop) late() contest {
	const n, interval, rate, measured = 2000, 2 * time.Second, 1100, 8 * time.Second
	lateness := func(line []string) func() (float64, error) {
		return func() (p99 float64, err error) {
			err = w.crowd.watch(line, func(r *visitor) error {
				if err := r.seen(1); err != nil {
					return err
				}
				time.Sleep(measured)
				late := r.late(interval)
				if len(late) < n {
					return fmt.Errorf("only %d looks", len(late))
				}
				p99 = late[len(late)*99/100].Seconds()
				return nil
			})
			return p99, err
		}
	}
	return contest{"How late 1 of 100 looks is, 1,000 a second; limit: 50 ms", milliseconds, []entry{
		{"poll, `--interval 2s` for 2000 targets", w.poll,
			lateness(w.ask(fmt.Sprint(n), "--interval", interval.String(), "--rate", fmt.Sprintf("%d/s", rate)))},
		{"floor", w.many,
			lateness(w.floor(fmt.Sprint(n), "-looks", "0", "-interval", interval.String(), "-rate", fmt.Sprint(rate)))},
	}}
}

func (w *workshop) commands() contest {
	return contest{"CPU of a command, true(1) for each of 1000, 2 at once; limit: 1.25", microseconds, []entry{
		{"poll, `-- true {}`", w.poll, each(1000, w.poll, "-q", "--rate", "0", "--parallel-max-host", "2", "--interval", "20s",
			"--targets", w.list("words", "N#"), "--", w.yes, "{}")},
		{"floor: a pool of os/exec, outputs kept", w.many, each(1000, w.many, "-workers", "2", "N#", "--", w.yes)},
	}}
}

// stopped is how long commands that ignore TERM keep the program from ending.
func (w *workshop) stopped() contest {
	const mark = "POLL_BENCH_MARK=stopped"
	stop := func() (float64, error) {
		cmd := quiet(w.poll, "-q", "--rate", "0", "--parallel-max-host", fmt.Sprint(hanging), "--interval", "20s", "--grace", "1s",
			"--targets", w.list("words", fmt.Sprint(compared)), "--", "sh", "-c", `trap "" TERM; sleep 60 & wait; sleep 60`, "{}")
		cmd.Env = append(os.Environ(), mark)
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		for began := time.Now(); len(proc.Marked(mark)) < 1+2*hanging; time.Sleep(20 * time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				cmd.Process.Kill()
				return 0, fmt.Errorf("there are %d processes, not %d", len(proc.Marked(mark)), 1+2*hanging)
			}
		}
		began := time.Now()
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		took := time.Since(began)
		if left := proc.Marked(mark); len(left) > 0 {
			return 0, fmt.Errorf("left behind: %v", left)
		}
		return took.Seconds(), nil
	}
	return contest{fmt.Sprintf("From TERM to the end, %d commands that ignore it and their children, no process left; limit: 1.5 s", hanging),
		milliseconds, []entry{{"poll, `--grace 1s`", w.poll, stop}}}
}

// peers make the same requests by other means.
func (w *workshop) peers() contest {
	urls := w.list("urls", "N#")
	script := func(n int, line string) func() (float64, error) { return each(n, "bash", "-c", line) }
	pipe := func(program string) string {
		if w.bash == "" || w.curl == "" {
			return ""
		}
		return program
	}
	return contest{fmt.Sprintf("CPU of a look, beside peers, %d URLs, 50 at once", compared), microseconds, []entry{
		{"poll", w.poll, each(compared, w.ask("N#", "--interval", "20s", "--max-attempts", "1")...)},
		{"xargs -P 50 -n 1 curl", pipe(w.xargs), script(compared, "xargs -P 50 -n 1 curl -s <"+urls)},
		{"xargs -P 50 -n 10 curl", pipe(w.xargs), script(compared, "xargs -P 50 -n 10 curl -s <"+urls)},
		{"curl --parallel --parallel-max 50", pipe(w.curl), script(compared, "xargs curl -s -Z --parallel-max 50 <"+urls)},
		{"GNU parallel -j 50 curl", pipe(w.parallel), script(compared, "parallel --will-cite -j 50 -a "+urls+" curl -s")},
	}}
}
