package world

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/cli"
	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/poll"
)

// lineFlags are what only a command line has.
type lineFlags struct {
	Log    string `json:",omitzero"` // "slice", "joblog", or "" for one run
	Print  string `json:",omitzero"` // "print", "json", or "" for the answer
	Events bool   `json:",omitzero"` // --progress json
	Twice  bool   `json:",omitzero"` // two runs at once
	Torn   bool   `json:",omitzero"` // what a killed run has not synced is lost
	Full   bool   `json:",omitzero"` // the disk is full from a start to the end of its run
	File   bool   `json:",omitzero"` // the header stands in a file

	Other    bool          `json:",omitzero"` // between two runs there is a call for another account, with a --name
	Strict   bool          `json:",omitzero"` // --strict
	Patience time.Duration `json:",omitzero"` // after which --error-if gives up, 0 for never

	Learn time.Duration `json:",omitzero"` // how long past runs took, 0 if nothing is learned
}

func (p *plan) drawLine(r *rand.Rand) {
	l := &p.Line
	if p.isLine() && p.Most > 0 {
		p.Most = max(p.Most, p.Threshold, p.Errors)
	}
	if p.isLine() && p.Steady > 0 {
		p.Threshold, p.Steady = 0, min(p.Steady, p.Timeout/2) // poll rejects a threshold beyond its limits
	}
	l.Log, l.Print = pick(r, "", "joblog", "joblog", "slice"), pick(r, "", "", "print", "json")
	l.Events, l.Torn, l.File = r.IntN(5) == 0, r.IntN(3) > 0, r.IntN(3) == 0
	l.Twice = l.Log == "joblog" && r.IntN(3) == 0 // slices start another wait after the end
	if isEach := p.List != nil && p.List.Batch > 0; r.IntN(4) == 0 && !isEach {
		l.Learn = drawn(r, time.Millisecond, time.Minute)
	}
	if (p.isGone() || p.Probe == byTCP) && l.Print == "print" {
		l.Print = ""
	}
	if p.isLine() && l.Log == "slice" {
		p.Timeout = drawn(r, time.Second, 15*time.Second)
	}
}

// args returns the command line of a plan, whose files are in dir.
func (p *plan) args(dir string) (args []string) {
	add := func(is bool, words ...any) {
		for _, word := range words {
			if is {
				args = append(args, fmt.Sprint(word))
			}
		}
	}
	add(true, "--seed", p.Seed, "--progress", "lines")
	add(p.Line.Events, "--progress", "json")
	add(p.Gone, "--gone")
	add(p.Probe == "" && !p.Gone && !p.Unless && !p.Plain && p.presetName() == "", "--until", p.untilText())
	add(p.Unless, "--not-ready-if", "not ("+p.untilText()+")")
	failures := []string{}
	if p.ErrorIf != nil && !p.Mine && !p.Plain {
		failures = append(failures, p.ofState(p.ErrorIf.text()))
	}
	if p.Line.Patience > 0 {
		failures = append(failures, fmt.Sprint("$elapsed > ", p.Line.Patience))
	}
	add(len(failures) > 0, "--error-if", strings.Join(failures, " or "))
	add(p.Line.Strict, "--strict")
	add(p.Stream != nil, "--stream")
	add(p.presetName() != "", "--preset", p.presetName())
	add(p.NotYet && !p.Gone && p.Probe == "", "--not-ready-if", "$status == 404")
	add(p.Threshold > 0, "--success-threshold", p.Threshold)
	add(p.Steady > 0, "--success-threshold", p.Steady)
	add(p.Errors > 0, "--error-threshold", p.Errors)
	add(p.Healing > 0, "--error-threshold", p.Healing)
	add(p.Interval > 0 && !p.Mine, "--interval", p.Interval)
	add(p.Attempt > 0, "--attempt-timeout", p.Attempt)
	add(p.Most > 0, "--max-attempts", p.Most)
	add(p.AtLeast > 0, "--at-least", p.AtLeast)
	add(p.Percent > 0, "--at-least", fmt.Sprint(p.Percent, "%"))
	add(p.FailFast && p.AtLeast > 0, "--fail-fast")
	add(p.Rate > 0, "--rate", fmt.Sprint(p.Rate, "/s"))
	add(p.Line.Log == "slice", "--slice", p.Timeout)
	add(p.Line.Log != "slice", "--timeout", p.Timeout)
	add(p.Line.Log == "joblog", "--joblog", filepath.Join(dir, "log"), "--resume")
	add(p.Line.Learn > 0, "--history", filepath.Join(dir, "history"), "--learn", p.learned("{}"))
	if p.Names != nil && p.Names.Routed {
		args = append(args, "--resolve", p.routes())
	}
	add(p.Share, "--share", filepath.Join(dir, "share"))
	add(p.Line.Print == "print", "--print", strings.ReplaceAll(p.inObject(".result"), "[]", "[0]"))
	add(p.Line.Print == "json", "--json")
	add(p.Probe == "" && !p.User && p.Line.File, "-H", "@"+filepath.Join(dir, "header"))
	add(p.Probe == "" && !p.User && !p.Line.File, "-H", "Authorization: Bearer "+token)
	o := p.Ops[0]
	follow := p.way(answers[o.Answer].follow)
	add(o.Method != "", "-X", o.Method)
	add(o.Method != "" && o.Method != "DELETE", "-d", `{"secret":"`+body+`"}`)
	add(p.List == nil && o.Method != "" && follow != "" && follow != "self", "--follow", follow)
	ids, each := filepath.Join(dir, "ids"), p.url("/ops/")
	if p.Probe == byTCP {
		each = "tcp://" + tcpHost + ":"
	}
	switch l := p.List; {
	case l != nil:
		add(!p.Mine || p.Object, "--each", p.path(".jobs"))
		add(!p.Mine, "--id", ".id")
		add(l.Next != "auto", "--next", p.path(p.List.Next))
		add(l.Expect > 0, "--expect", l.Expect)
		add(l.Known != nil, "--targets", ids)
		add(l.Batch > 0, "--batch", l.Batch, p.url("/list?ids={}"))
		add(l.Batch == 0, p.url("/list"))
	case len(p.Ops) > 1:
		add(true, "--targets", ids, each+"{}")
	default:
		add(true, fmt.Sprint(each, o.ID))
	}
	return args
}

// learned returns the name under which is remembered how long a target takes.
func (p *plan) learned(id string) string {
	if p.List == nil && len(p.Ops) > 1 {
		return "job-" + id
	}
	return "job"
}

// A machine is where a command line runs: its directory lasts from run to run.
type machine struct {
	*world
	dir           string
	before, files map[string][]byte // when a run began, and when it was killed
	hints         map[string]hint   // when a run ended in order
	isOther       bool              // the call is for the other account
}

// runLine runs the command line, again and again as long as its exit code asks for that, or it was
// killed.
func (w *world) runLine() *result {
	res, r := newResult(), rand.New(rand.NewPCG(w.Seed, 7))
	m := &machine{world: w, dir: newDir(), hints: make(map[string]hint)}
	defer os.RemoveAll(m.dir)
	m.write("header", "Authorization: Bearer "+token+"\n")
	for _, o := range w.Ops {
		if long := w.Line.Learn; long > 0 {
			past := fmt.Sprintf(`{"end":"1999-12-31T00:00:00Z","lo_s":%g,"hi_s":%g,"outcome":"success"}`, long.Seconds()*.9, long.Seconds())
			m.write("history/"+w.learned(strconv.Itoa(o.ID))+".jsonl", strings.Repeat(past+"\n", 3))
		}
	}
	if w.Mine {
		m.write(".config/poll/presets/all", w.presetText())
	}
	if w.Renewal > 0 {
		renewal := time.AfterFunc(w.Renewal-100*time.Millisecond, func() { m.write("header", "Authorization: Bearer "+token+renewed+"\n") })
		defer renewal.Stop()
	}
	if w.Line.Full {
		w.onStart = func() {
			w.saw["disk full"] = true
			fill(m.dir)
		}
	}
	ids := ""
	for _, o := range w.Ops {
		if w.List == nil || isAbout("list "+strings.Trim(strings.ReplaceAll(fmt.Sprint(w.List.Known), " ", ","), "[]"), o.ID) {
			ids += fmt.Sprintln(o.ID)
		}
	}
	m.write("ids", ids)
	if w.Line.Twice {
		done := make(chan run.ExitCode, 1)
		go func() {
			time.Sleep(drawn(w.dice("twice", 1), 0, 3*time.Second))
			code, _, _, _ := m.call(-1)
			done <- code
		}()
		defer func() {
			code := <-done
			w.mu.Lock()
			defer w.mu.Unlock()
			w.saw["two at once, of which one is refused"] = code == run.ExitUsage
			w.saw["two at once that share"] = w.Share
			isOpen := func(l *life) bool { return !w.isDone(l) }
			if code == run.ExitSuccess && w.List == nil && w.AtLeast == 0 && slices.ContainsFunc(w.lives, isOpen) {
				w.blame("true", "the other of two at once has succeeded, and that was not seen")
			}
		}()
	}
	out := ""
	for ; res.Runs < 1 || w.Line.Log != "" && res.Runs < 12 && time.Since(w.began) < 5*time.Minute; res.Runs++ {
		res.Deadline = time.Now().Add(w.Timeout)
		code, isKilled, stdout, stderr := m.call(res.Runs)
		res.End, res.Code, res.How = time.Now(), int(code), endings[code]
		res.Said = append(res.Said, stderr)
		w.mu.Lock()
		if isKilled {
			m.forget()
			m.restore()
			m.end(0, true) // perhaps the run has printed its end
		} else {
			if m.keep(); code == run.ExitInternal && m.List != nil { // what a page has asked for while the others are waited for is not kept
				m.hints = map[string]hint{}
				m.forget()
			}
			w.tell("exit %d: %.200s", code, strings.ReplaceAll(lastLine(stderr), m.dir, "DIR"))
			m.end(code, false)
			w.checkWords(res, stdout, stderr)
		}
		w.mu.Unlock()
		if out += stdout; !isKilled && code != 124 && code != 4 && (code < 125 || w.Line.Full) {
			break
		}
		time.Sleep(drawn(r, time.Millisecond, 3*time.Second))
		if w.Line.Other && !isKilled && !w.saw["another account"] {
			m.callOther()
		}
	}
	if w.Line.Log != "" && !w.Line.Full && !(w.Line.Twice && res.Code > 1) { // the other may still run
		m.callAgain(res)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readResults(res, out)
	for name, text := range m.read() {
		if filepath.Base(name) != "header" { // the URL that is followed is kept, with its cookies
			res.Said = append(res.Said, strings.ReplaceAll(string(text), cookie, ""))
		}
	}
	return res
}

var endings = map[run.ExitCode]poll.Ending{0: poll.Succeeded, 1: poll.Failed, 3: poll.AttemptsExhausted, 4: poll.ThrottledTooLong, 124: poll.TimedOut}

// end notes the end of a run. In slices, the same line may then start an operation again if its end was reported.
func (m *machine) end(code run.ExitCode, isKilled bool) {
	isOpen := func(l *life) bool { return !l.told }
	isAll := !slices.ContainsFunc(m.lives, isOpen)
	for _, l := range m.lives {
		if m.Line.Patience > 0 && time.Since(m.began) > m.Line.Patience {
			l.excuse, m.saw["patience"] = "it takes longer than --error-if allows", true
		}
		is := l.told || !isKilled && code == 0 // of several, a part may be enough
		if m.List != nil && isKilled {
			is = isAll
		}
		l.over = l.over || is && m.Line.Log == "slice" && (isKilled || code <= run.ExitError)
	}
}

// callAgain makes the same call after any end. The call may start only operations whose end was reported.
func (m *machine) callAgain(res *result) {
	lives, wholes, troubled, longest := make([]life, len(m.lives)), m.wholes, m.troubled, maps.Clone(m.longest)
	for i, l := range m.lives {
		lives[i] = *l
	}
	if m.Line.Log == "slice" && res.Code <= int(run.ExitError) { // a new wait, which remembers no limits
		clear(m.hints)
		clear(m.world.hints)
	}
	calls := map[bool]int{true: 2}[m.Ops[0].Method != ""]
	if m.Line.Log == "joblog" {
		calls = 1
	}
	for n := range calls {
		time.Sleep(drawn(m.dice("again", n), time.Millisecond, 3*time.Second))
		code, _, _, _ := m.call(-1)
		m.mu.Lock()
		m.saw[fmt.Sprint("again after exit ", res.Code)] = true
		isRejected := slices.ContainsFunc(m.Faults, func(f fault) bool { // which ends no operation
			return slices.Contains([]string{"4xx", "missing", "login"}, f.Kind)
		})
		isKept := !isRejected && m.Line.Log == "joblog" && m.List == nil && res.Code <= 1 && m.Most == 0 && !m.Line.Twice && !m.Line.Strict && m.Line.Patience == 0
		if m.tell("called again: exit %d", code); int(code) != res.Code && isKept && (res.Code == 0 || len(m.Ops) == 1 && (lives[0].Method == "" || lives[0].told)) {
			m.blame("resumable", "exit %d, and when it is called again %d", res.Code, code)
		}
		m.end(code, false)
		m.mu.Unlock()
	}
	for i, l := range m.lives {
		lives[i].starts, lives[i].again = l.starts, l.again
		*l = lives[i]
	}
	m.wholes, m.troubled, m.longest = wholes, troubled, longest
}

// hasOther reports whether Other fits the plan.
func (p *plan) hasOther() bool {
	l := p.Line
	isSeveral := p.isLine() && l.Log == "slice" && (p.List != nil || len(p.Ops) > 1) && p.Ops[0].Method == "" && !p.isGone()
	return isSeveral && !l.File && !l.Twice && !l.Strict && l.Patience == 0 && !p.User && p.Probe == "" && p.Stream == nil && p.Cache == nil && p.Most == 0 && !p.Unless && !p.Alias // a redirect drops the account
}

// callOther makes the same call for the other account, all operations of which run for ever.
func (m *machine) callOther() {
	m.isOther = true
	code, isKilled, _, stderr := m.call(-1)
	m.isOther = false
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saw["another account"] = true
	if m.tell("called for another account: exit %d", code); code <= run.ExitUsage && !isKilled {
		m.blame("true", "exit %d for another account, whose operations run: %s", code, lastLine(stderr))
	}
}

// keep notes what a later run knows, once a run has ended in order.
func (m *machine) keep() {
	m.hints = maps.Clone(m.world.hints)
	for _, l := range m.lives {
		l.kept = len(l.seen)
	}
}

// forget makes the world forget what no later run knows: no file has it.
func (m *machine) forget() {
	m.world.hints = maps.Clone(m.hints)
	for _, l := range m.lives {
		isOpen := func(s sighting) bool { return !m.isSuccess(s) }
		l.seen = append(l.seen[:l.kept:l.kept], slices.DeleteFunc(slices.Clone(l.seen[l.kept:]), isOpen)...)
	}
}

// call runs the command line once.
func (m *machine) call(run int) (code run.ExitCode, isKilled bool, stdout, stderr string) {
	streams, out, errs := httpscript.Streams("")
	p, ctx, end := m.newProcess(run)
	defer end()
	streams.Out, m.before = pipe{p, out}, m.read()
	m.mu.Lock()
	m.onKill = func() { m.files = m.read() }
	m.mu.Unlock()
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"HOME": m.dir}[name]
		return value, ok
	}
	args := m.args(m.dir)
	if m.isOther {
		args = append([]string{"--name", "other"}, args...)
		for i, arg := range args {
			args[i] = strings.ReplaceAll(arg, token, token+otherAccount)
		}
	}
	process := cli.NewProcess(args, lookup, streams)
	process.Dial = p.dial
	code = cli.Run(ctx, process)
	time.Sleep(time.Microsecond) // until all answers are noted
	return code, p.isDead(), out.String(), errs.String()
}

// A pipe is what a process writes to as long as it lives.
type pipe struct {
	*process
	to io.Writer
}

func (p pipe) Write(text []byte) (int, error) {
	if p.isDead() {
		return len(text), nil
	}
	return p.to.Write(text)
}

// newDir makes a directory: in memory, if there are files in memory, since no machine is switched off here.
func newDir() string {
	if dir, err := os.MkdirTemp("/dev/shm", "world"); err == nil {
		return dir
	}
	return must(os.MkdirTemp("", "world"))
}

func (m *machine) write(name, text string) {
	name = filepath.Join(m.dir, name)
	if err := cmp.Or(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		panic(err)
	}
}

// read returns the files of the directory, by their paths.
func (m *machine) read() map[string][]byte {
	files := make(map[string][]byte)
	filepath.WalkDir(m.dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name], err = os.ReadFile(name)
		}
		return err
	})
	return files
}

// restore restores the files as of the end of the run, or the part of them that was on the disk.
func (m *machine) restore() {
	for name, now := range m.read() {
		text, there := m.files[name]
		if strings.HasSuffix(name, "log") || strings.HasSuffix(name, ".jsonl") {
			text = m.synced(text, len(m.before[name]))
		}
		if !there {
			os.Remove(name)
		} else if !bytes.Equal(now, text) {
			os.WriteFile(name, text, 0o600)
		}
	}
}

// synced returns the lines of a job log that have to be on the disk: the lines of runs that ended in
// order, and all lines up to the last one about a target that was started; and half of the lines after them.
func (m *machine) synced(text []byte, before int) []byte {
	if !m.Line.Torn {
		return text
	}
	m.saw["unsynced lines lost"] = true
	end, at := min(before, len(text)), 0
	for line := range bytes.Lines(text) {
		at += len(line)
		isStarted := bytes.Contains(line, []byte(`"starting":true`)) || bytes.Contains(line, []byte(`"sent":`))
		if isStarted && !bytes.Contains(line, []byte(`"key":`)) {
			end = max(end, at)
		}
	}
	return text[:end+(len(text)-end)/2]
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// checkWords checks that the words of a run agree with its exit code.
func (w *world) checkWords(res *result, stdout, stderr string) {
	status := map[int]string{0: "SUCCESS", 1: "ERROR", 3: "NOT_READY", 124: "NOT_READY", 4: "THROTTLED"}[res.Code]
	if status == "" {
		return
	}
	if last := lastLine(stderr); !w.Line.Events && !strings.HasPrefix(last, "poll: "+status+" ") {
		w.blame("told", "exit %d, and the last line is %q", res.Code, last)
	}
	var all struct {
		Exit   int
		Status string
	}
	if w.Line.Print == "json" && (json.Unmarshal([]byte(stdout), &all) != nil || all.Exit != res.Code || all.Status != status) {
		w.blame("told", "exit %d, and --json prints exit %d, %s", res.Code, all.Exit, all.Status)
	}
}

// readResults reads the results of all runs.
func (w *world) readResults(res *result, out string) {
	id := strconv.Itoa(w.Ops[0].ID)
	if len(w.Ops) == 1 && w.List == nil {
		res.Ends[id] = []poll.Ending{res.How}
		if res.Code == 0 && !w.Gone && w.Probe == "" && w.Line.Print != "json" && !strings.Contains(out, "r"+id) {
			w.blame("told", "the result was not printed: %q", out)
		}
		return
	}
	type target struct{ Name, Ending string }
	for line := range strings.Lines(out) {
		one := struct {
			target
			Targets []target
		}{}
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "r"); ok {
			one.target = target{name, string(poll.Succeeded)}
		} else if json.Unmarshal([]byte(line), &one) != nil {
			w.blame("told", "stdout has %q", line)
		}
		for _, t := range append(one.Targets, one.target) {
			if t.Ending == string(poll.Succeeded) && t.Name != "" {
				res.Ends[t.Name] = append(res.Ends[t.Name], poll.Succeeded)
			}
		}
	}
}
