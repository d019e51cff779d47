package world

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/cli"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// lineFlags are what only a command line has.
type lineFlags struct {
	Log    string // "slice", "joblog", or "" for one run
	Print  string // "print", "json", or "" for the answer
	Events bool   // --progress json
	Twice  bool   // two runs at once
	Share  bool   // --share DIR
	Batch  int    // entries at once, 0 for no batches
	File   bool   // the header stands in a file
}

func (p *plan) drawLine(r *rand.Rand) {
	l := &p.Line
	if !strings.HasPrefix(p.Caller, "line") {
		return
	}
	l.Log, l.Print = pick(r, "", "joblog", "joblog", "slice"), pick(r, "", "", "print", "json")
	l.Events, l.Twice, l.Share, l.File = r.IntN(5) == 0, l.Log != "" && r.IntN(4) == 0, *shared && r.IntN(2) == 0, r.IntN(3) == 0
	if p.List != nil && p.List.Known != nil && !p.List.Follow && r.IntN(2) == 0 {
		l.Batch = 1 + r.IntN(3)
	}
	l.Twice = l.Twice && l.Log == "joblog" // slices begin anew after the end
	if p.Gone && l.Print == "print" {
		l.Print = ""
	}
	if l.Log == "slice" {
		p.Timeout = drawn(r, time.Second, 15*time.Second)
	}
}

// args returns the command line of a plan, whose files are in dir.
func (p *plan) args(dir string) []string {
	args := []string{"--seed", strconv.FormatUint(p.Seed, 10), "--progress", "lines"}
	add := func(words ...string) { args = append(args, words...) }
	addIf := func(is bool, words ...string) {
		if is {
			add(words...)
		}
	}
	seconds := func(d time.Duration) string { return d.String() }
	addIf(p.Line.Events, "--progress", "json")
	if p.Gone {
		add("--gone")
	} else {
		add("--until", p.untilText())
	}
	if p.ErrorIf != nil {
		add("--error-if", p.ErrorIf.text())
	}
	addIf(p.NotYet && !p.Gone, "--not-ready-if", "$status == 404")
	addIf(p.Threshold > 1, "--success-threshold", strconv.Itoa(p.Threshold))
	addIf(p.Interval > 0, "--interval", seconds(p.Interval))
	addIf(p.Attempt > 0, "--attempt-timeout", seconds(p.Attempt))
	addIf(p.Most > 0, "--max-attempts", strconv.Itoa(p.Most))
	addIf(p.AtLeast > 0, "--at-least", strconv.Itoa(p.AtLeast))
	addIf(p.FailFast && p.AtLeast > 0, "--fail-fast")
	addIf(p.Rate > 0, "--rate", fmt.Sprint(1+int(p.Rate), "/s"))
	addIf(p.Line.Log == "slice", "--slice", seconds(p.Timeout))
	addIf(p.Line.Log != "slice", "--timeout", seconds(p.Timeout))
	addIf(p.Line.Log == "joblog", "--joblog", filepath.Join(dir, "log"), "--resume")
	addIf(p.Line.Print == "print", "--print", ".result")
	addIf(p.Line.Print == "json", "--json")
	addIf(p.Line.Share, "--share", filepath.Join(dir, "share"))
	addIf(p.Line.File, "-H", "@"+filepath.Join(dir, "header"))
	addIf(!p.Line.File, "-H", "Authorization: Bearer "+token)
	return append(args, p.operands(dir)...)
}

// operands returns what a command line waits for, and how that is asked.
func (p *plan) operands(dir string) (args []string) {
	var ids []string
	if l := p.List; l != nil {
		args = []string{"--each", ".jobs", "--next", l.Next, "--id", ".id"}
		if l.Next == "auto" {
			args = []string{"--each", ".jobs"}
		}
		if l.Follow {
			args = append(args, "--follow", "/ops/{.id}")
		}
		if l.Expect > 0 {
			args = append(args, "--expect", strconv.Itoa(l.Expect))
		}
		for _, id := range l.Known {
			ids = append(ids, strconv.Itoa(id))
		}
		if ids == nil {
			return append(args, "http://a.test/list")
		}
		args = append(args, "--targets", writeIDs(dir, ids))
		if p.Line.Batch > 0 {
			return append(args, "--batch", strconv.Itoa(p.Line.Batch), "http://a.test/list?ids={}")
		}
		return append(args, "http://a.test/list")
	}
	o := p.Ops[0]
	if o.Method != "" {
		args = append(args, "-X", o.Method)
	}
	if o.Method != "" && o.Method != "DELETE" {
		args = append(args, "-d", `{"secret":"`+body+`"}`)
	}
	switch o.Follow {
	case "":
	case "self":
		if !p.Gone {
			args = append(args, "--follow", "/ops/{.id}")
		}
	default:
		args = append(args, "--follow", o.Follow)
	}
	if len(p.Ops) == 1 {
		return append(args, fmt.Sprint("http://a.test/ops/", o.ID))
	}
	for _, o := range p.Ops {
		ids = append(ids, strconv.Itoa(o.ID))
	}
	return append(args, "--targets", writeIDs(dir, ids), "http://a.test/ops/{}")
}

func writeIDs(dir string, ids []string) string {
	name := filepath.Join(dir, "ids")
	os.WriteFile(name, []byte(strings.Join(ids, "\n")+"\n"), 0o600)
	return name
}

// runLine runs the command line, again and again as long as its exit code asks for that, or it was
// killed.
func (w *world) runLine() *result {
	res, r := newResult(), rand.New(rand.NewPCG(w.plan.Seed, 7))
	dir, err := os.MkdirTemp("", "world")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "header"), []byte("Authorization: Bearer "+token+"\n"), 0o600)
	calls := 1
	if w.plan.Line.Log != "" {
		calls = 8
	}
	var out string
	for run := range calls {
		if w.plan.Line.Twice && run == 0 {
			done := make(chan cli.ExitCode, 1)
			go func() {
				time.Sleep(drawn(w.dice("twice", 1), 0, 3*time.Second))
				code, _, _ := w.call(dir, -1)
				done <- code
			}()
			defer func() { w.saw["two at once"] = <-done == cli.ExitUsage }()
		}
		began, cuts := time.Now(), w.cuts
		code, stdout, stderr := w.call(dir, run)
		res.Deadline, res.End, res.Runs = began.Add(w.plan.Timeout), time.Now(), res.Runs+1
		res.Code, res.How = int(code), endings[code]
		res.Said = append(res.Said, stderr)
		if w.cuts > cuts {
			out += stdout[:w.printed]
			w.troubled = time.Now().Add(3 * time.Second)
			clear(w.hints) // no file has them
			w.restore(dir)
			time.Sleep(drawn(r, time.Millisecond, 3*time.Second))
			continue
		}
		w.mu.Lock()
		out += stdout
		w.tell("exit %d: %s", code, strings.ReplaceAll(lastLine(stderr), dir, "DIR"))
		w.checkWords(res, stdout, stderr)
		w.mu.Unlock()
		if again := code == 124 || code == 4 || code >= 128 || w.signalled; !again {
			break
		}
		time.Sleep(drawn(r, time.Millisecond, 3*time.Second))
	}
	w.readResults(res, out)
	w.searchFiles(res, dir)
	return res
}

var endings = map[cli.ExitCode]poll.Ending{0: poll.Succeeded, 1: poll.Failed, 3: poll.AttemptsExhausted, 4: poll.HintTooLong, 124: poll.TimedOut}

// call runs the command line once.
func (w *world) call(dir string, run int) (code cli.ExitCode, stdout, stderr string) {
	streams, out, errs := term.Buffers("")
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	w.mu.Lock()
	proc := w.process(stop)
	w.onKill = func() { w.files, w.printed = readFiles(dir), out.Len() }
	w.signalled = false
	timer := w.killLater(proc, run, stop)
	w.mu.Unlock()
	env := map[string]string{"HOME": dir, "XDG_STATE_HOME": filepath.Join(dir, "state"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "GOGC": "100"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	code = cli.Run(ctx, cli.World{Args: w.plan.args(dir), Streams: streams, Lookup: lookup, Dial: proc.dial})
	timer.Stop()
	for _, c := range proc.conns {
		c.Close()
	}
	return code, out.String(), errs.String()
}

// readFiles returns the files of a directory, by their paths.
func readFiles(dir string) map[string][]byte {
	files := make(map[string][]byte)
	filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name], _ = os.ReadFile(name)
		}
		return nil
	})
	return files
}

// restore makes the files what they were when the process was killed. If it was torn, the lines
// behind the last start and its answer are lost, as they may not have been synced.
func (w *world) restore(dir string) {
	torn := w.plan.Seed%3 == 0
	for name := range readFiles(dir) {
		if w.files[name] == nil {
			os.Remove(name)
		}
	}
	for name, text := range w.files {
		isLog := strings.HasSuffix(name, "log") || strings.HasSuffix(name, ".jsonl")
		if isLog && torn {
			w.saw["unsynced lines lost"] = true
			text = synced(text)
		}
		if now, _ := os.ReadFile(name); !bytes.Equal(now, text) {
			os.WriteFile(name, text, 0o600)
		}
	}
}

// synced returns the lines of a job log up to the last that is on the disk when it is written, and
// a half of the next.
func synced(text []byte) []byte {
	end := bytes.IndexByte(text, '\n') + 1
	for i := end; i < len(text); {
		line := text[i : i+max(1, bytes.IndexByte(text[i:], '\n')+1)]
		i += len(line)
		if bytes.Contains(line, []byte(`"event":"start"`)) || bytes.Contains(line, []byte(`"event":"follow"`)) {
			end = i
		}
	}
	return text[:end+(len(text)-end)/2]
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// checkWords checks that the words of a run agree with its exit code.
func (w *world) checkWords(res *result, stdout, stderr string) {
	status := map[int]string{0: "SUCCESS", 1: "ERROR", 3: "NOT_READY", 124: "NOT_READY", 4: "THROTTLED"}[res.Code]
	if status == "" {
		return
	}
	last := lastLine(stderr)
	if !w.plan.Line.Events && !strings.HasPrefix(last, "poll: "+status+" ") {
		w.blame("told", "exit %d, and the last line is %q", res.Code, last)
	}
	if w.plan.Line.Print == "json" {
		var all struct {
			Exit   int    `json:"exit"`
			Status string `json:"status"`
		}
		if json.Unmarshal([]byte(stdout), &all) != nil || all.Exit != res.Code || all.Status != status {
			w.blame("told", "exit %d, and --json prints exit %d, %s", res.Code, all.Exit, all.Status)
		}
	}
}

// readResults reads what was printed in all runs.
func (w *world) readResults(res *result, out string) {
	isSeveral := len(w.plan.Ops) > 1 || w.plan.List != nil
	switch {
	case !isSeveral:
		res.Ends[strconv.Itoa(w.plan.Ops[0].ID)] = []poll.Ending{res.How}
		if res.Code == 0 && w.plan.Line.Print != "json" && !strings.Contains(out, "r"+strconv.Itoa(w.plan.Ops[0].ID)) && !w.plan.Gone {
			w.blame("told", "the result was not printed: %q", out)
		}
		return
	case w.plan.Line.Print == "print":
		for name := range strings.FieldsSeq(out) {
			name = strings.TrimPrefix(name, "r")
			res.Ends[name] = append(res.Ends[name], poll.Succeeded)
		}
		return
	}
	for line := range strings.Lines(out) {
		var one struct {
			Name, Ending string
			Targets      []struct{ Name, Ending string }
		}
		json.Unmarshal([]byte(line), &one)
		if one.Name != "" {
			one.Targets = append(one.Targets, struct{ Name, Ending string }{one.Name, one.Ending})
		}
		for _, t := range one.Targets {
			if t.Ending == "succeeded" {
				res.Ends[t.Name] = append(res.Ends[t.Name], poll.Succeeded)
			}
		}
	}
}

// searchFiles looks for secrets in what runs have left.
func (w *world) searchFiles(res *result, dir string) {
	for name, text := range readFiles(dir) {
		for _, secret := range []string{token, body} {
			if bytes.Contains(text, []byte(secret)) && filepath.Base(name) != "header" {
				w.blame("quiet", "%s stands in %s", secret, filepath.Base(name))
			}
		}
	}
	res.Said = append(res.Said, "")
}
