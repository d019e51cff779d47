//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/pollcli/poll/scripts/internal/proc"
)

func startUp() table {
	return table{
		title: "Start-up",
		about: "A program that succeeds at once is run once. Limit: 1.2 times a program in Go that links net/http\n" +
			"and urfave/cli, catches signals and keeps both outputs. What poll adds to that is a larger program to load, which makes\n" +
			"140 page faults more, and reading its own flags; no chart is drawn and no preset read.",
		print: func(out io.Writer, w *workshop) error {
			return contest{"", milliseconds, append(w.polls("`poll -q --immediate -- true`", func(poll string) func() (float64, error) {
				return once(10, poll, "-q", "--immediate", "--", w.yes)
			}), []entry{
				{"floor: Go with net/http and urfave/cli, signals caught, outputs kept", w.start, once(10, w.start, "--attend", "--", w.yes)},
				{"floor: the same, which only runs it", w.start, once(10, w.start, "--", w.yes)},
				{"bash -c", w.bash, once(10, w.bash, "-c", w.yes+"; exit $?")},
				{"retry (Debian)", w.debian, once(10, w.debian, "--", w.yes)},
				{"retry (joshdk)", w.joshd, once(10, w.joshd, "-quiet", w.yes)},
				{"recur", w.recur, once(10, w.recur, w.yes)},
			}...)}.print(out, w.rounds)
		},
	}
}

// attempts is how many are made to measure the cost of one.
const attempts = 300

func commandAttempt() table {
	return table{
		title: "An attempt with a command",
		about: fmt.Sprintf("false(1) is run %d times without a wait, minus the same with one attempt. "+
			"Limit: 1.25 times a loop of os/exec.", attempts),
		print: func(out io.Writer, w *workshop) error {
			return contest{"", microseconds, append(w.polls("`poll -q --interval 0 -- false`", func(poll string) func() (float64, error) {
				return each(attempts, poll, "-q", "--interval", "0", "--max-attempts", "N#", "--", w.no)
			}), []entry{
				{"floor: os/exec, outputs kept", w.exec, each(attempts, w.exec, "keep", "N#", w.no)},
				{"floor: os/exec, no outputs", w.exec, each(attempts, w.exec, "bare", "N#", w.no)},
				{"floor: posix_spawn in C, no outputs", w.spawn, each(attempts, w.spawn, "N#", w.no)},
				{"bash loop, output kept", w.bash, each(attempts, w.bash, "-c", "for ((i = 0; i < N#; i++)); do x=$("+w.no+"); done")},
				{"bash loop, no outputs", w.bash, each(attempts, w.bash, "-c", "for ((i = 0; i < N#; i++)); do "+w.no+"; done")},
				{"retry (Debian)", w.debian, each(attempts, w.debian, "--times=N#", "--delay=0", "--", w.no)},
				{"retry (joshdk)", w.joshd, each(attempts, w.joshd, "-quiet", "-attempts", "N#", "-sleep", "0s", w.no)},
				{"recur, outputs kept (-O -E)", w.recur, each(attempts, w.recur, "-O", "-E", "-a", "N#", "-d", "0", w.no)},
			}...)}.print(out, w.rounds)
		},
	}
}

func httpAttempt() table {
	const n = 2000
	condition := `.state=="done"`
	return table{
		title: "An attempt with a URL",
		about: fmt.Sprintf("A small JSON answer is asked for %d times on loopback (a script's loop: 30 times), minus the same with one attempt. "+
			"The server's time is not counted.\n"+
			"What poll adds to net/http are, by profile, the timers of attempt and run (a tenth of the whole), the verdict with its\n"+
			"reason (a twentieth), the hints of the header, the trace that tells whether a request has left, and the events.", n),
		print: func(out io.Writer, w *workshop) error {
			script := "for ((i = 0; i < N#; i++)); do test \"$(" + w.curl + " -s " + w.url + " | " + w.jq + " -r .state)\" = done && break; done"
			both := w.bash
			if w.curl == "" || w.jq == "" {
				both = ""
			}
			name := "`poll -q --interval 0 --until '" + condition + "' URL`"
			return contest{"", microseconds, append(w.polls(name, func(poll string) func() (float64, error) {
				return each(n, poll, "-q", "--interval", "0", "--max-attempts", "N#", "--until", condition, w.url)
			}), []entry{
				{"floor: net/http, body read, a timeout", w.http, each(n, w.http, "timeout", "N#", w.url)},
				{"floor: net/http, body read", w.http, each(n, w.http, "plain", "N#", w.url)},
				{"curl, all in one process, no condition", w.curl, each(n, w.curl, "-s", "-o", "/dev/null", w.url+"/[1-N#]")},
				{"bash loop around curl and jq", both, each(30, w.bash, "-c", script)},
			}...)}.print(out, w.rounds)
		},
	}
}

func memory() table {
	return table{
		title: "Memory",
		about: "The peak of resident memory during 300 attempts with a command, 2000 with a URL. Limit: 20 MiB.",
		print: func(out io.Writer, w *workshop) error {
			commands := append(w.polls("poll, command", func(poll string) func() (float64, error) {
				return peak(poll, "-q", "--interval", "0", "--max-attempts", "300", "--", w.no)
			}), []entry{
				{"floor: os/exec, outputs kept", w.exec, peak(w.exec, "keep", "300", w.no)},
				{"recur", w.recur, peak(w.recur, "-O", "-E", "-a", "300", "-d", "0", w.no)},
				{"retry (joshdk)", w.joshd, peak(w.joshd, "-quiet", "-attempts", "300", "-sleep", "0s", w.no)},
			}...)
			urls := append(w.polls("poll, URL", func(poll string) func() (float64, error) {
				return peak(poll, "-q", "--interval", "0", "--max-attempts", "2000", "--until", `.state=="done"`, w.url)
			}), entry{"floor: net/http", w.http, peak(w.http, "plain", "2000", w.url)})
			if err := (contest{"", mebibytes, commands}).print(out, min(w.rounds, 5)); err != nil {
				return err
			}
			fmt.Fprintln(out)
			return contest{"", mebibytes, urls}.print(out, min(w.rounds, 5))
		},
	}
}

func peak(line ...string) func() (float64, error) {
	return func() (float64, error) {
		cmd := exec.Command(line[0], line[1:]...)
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		gauge := proc.WatchMemory(cmd.Process.Pid)
		err := cmd.Wait()
		most := gauge.Stop()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			return 0, err
		}
		return float64(most), nil
	}
}

func size() table {
	return table{
		title: "Size of the binary",
		about: "Built as for a release: CGO_ENABLED=0, -trimpath -tags=urfave_cli_no_docs -ldflags='-s -w'. Limit: 16 MB.",
		print: func(out io.Writer, w *workshop) error {
			return contest{"", mebibytes, []entry{
				{"poll", w.poll, bytesOf(w.poll)},
				{"floor: Go with net/http and urfave/cli", w.start, bytesOf(w.start)},
				{"retry (joshdk)", w.joshd, bytesOf(w.joshd)},
				{"recur", w.recur, bytesOf(w.recur)},
			}}.print(out, 1)
		},
	}
}

func bytesOf(path string) func() (float64, error) {
	return func() (float64, error) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		return float64(info.Size()), nil
	}
}
