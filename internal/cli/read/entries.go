package read

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/expr"
)

// readEntries returns one entry for each target. Without --targets, the operands are the entries. With --targets,
// the file lists the entries. With both --targets and --each, the file lists keys, and each batch of keys is an
// entry.
func (r *Reader) readEntries() ([]*targets.Entry, error) {
	if r.run.Targets == "" {
		return r.operands(), nil
	}
	if err := r.readFile(); err != nil {
		return nil, err
	}
	r.Repeats = r.file.Repeats
	if r.List == nil {
		return r.file.Entries, nil
	}
	r.List.Known, r.List.Size, r.List.Expect = true, len(r.file.Entries), 0
	batches, err := r.file.Batches(r.run.Batch)
	for _, e := range batches {
		if r.config.Template == nil {
			own := r.operands()[0]
			e.URL, e.Command = own.URL, own.Command
		}
	}
	return batches, err
}

// operands returns an entry for the command, or for each different URL among the operands.
func (r *Reader) operands() (entries []*targets.Entry) {
	name := r.run.Name
	if r.Several { // --name then names the whole run
		name = ""
	}
	if r.run.IsCommand {
		return []*targets.Entry{{Name: name, Command: r.run.Operands}}
	}
	given := make(map[string]bool)
	for _, operand := range r.run.Operands {
		page := fmt.Sprint(connect.PageOf(operand))
		if given[page] {
			r.Repeats++
			continue
		}
		given[page] = true
		entries = append(entries, &targets.Entry{Name: name, URL: operand})
	}
	return entries
}

// readFile reads the --targets file, or stdin for "-". Each entry replaces the placeholders in r.config.
func (r *Reader) readFile() (err error) {
	if err := r.readConfig(); err != nil {
		return err
	}
	if r.run.Targets == "-" && r.process.Streams.InIsTerminal {
		return argv.Usagef("%s - reads stdin, which is a terminal", r.run.Origin("targets")).
			Hint("kubectl get jobs -o name | poll --targets - ...")
	}
	if err := refuseStdinTwice(r.run.Line); err != nil {
		return err
	}
	text, err := r.process.ReadFile(r.run.Targets, targets.MaxSize)
	if err != nil {
		return argv.Usagef("%s: %w", r.run.Origin("targets"), err).Advise("open " + r.run.Targets)
	}
	r.file, err = targets.Read(text, r.config)
	return err
}

// readConfig sets r.config. It returns an error for a placeholder such as {.timeout}, which could be a field of the
// entry or a flag.
func (r *Reader) readConfig() (err error) {
	r.config = targets.Config{Name: r.run.Targets, Keys: r.List != nil}
	if r.config.Texts, err = r.run.readTexts(); err != nil {
		return err
	}
	if len(r.run.Operands) > 0 && (r.List == nil || r.run.hasPlaceholder()) { // otherwise the entries are targets, or keys of elements
		if r.config.Template, err = r.readTemplate(); err != nil {
			return err
		}
	}
	for _, field := range r.config.Fields() {
		if f := r.run.Flags.Named(field); f != nil && !f.Hidden && !f.WholeRun {
			return argv.Usagef("{.%[1]s} could be a field or the flag --%[1]s", field).Hint("rename the field, in the URL and in the file")
		}
	}
	return nil
}

// readTemplate returns the URL or command with placeholders that the entries of --targets replace. It returns an
// error for several URLs.
func (r *Reader) readTemplate() (t *targets.Template, err error) {
	switch {
	case r.run.IsCommand:
		t, err = targets.ParseCommand(r.run.Operands)
	case len(r.run.Operands) > 1:
		return nil, argv.Usagef("%d URLs are given, but entries of %s fill one URL", len(r.run.Operands), r.run.Origin("targets")).
			Hint("put the URLs into the file, too")
	default:
		t, err = targets.ParseURL(r.run.Operands[0], r.config.Texts != nil)
	}
	if err == nil && r.List != nil {
		err = t.Batch(r.run.Batch)
	}
	if err == nil {
		return t, nil
	}
	wrong := argv.Usagef("%w", err).Advise("word " + r.run.Operands[0])
	if r.run.IsCommand && r.run.Dashes && !r.run.hasPlaceholder() {
		wrong.Hint("a program to run on SUCCESS: poll --targets %s ... && %s", r.run.Targets, ProgramName(r.run.Operands[0]))
	}
	return nil, wrong
}

// withEntry returns the run's settings, overridden by settings, the settings of an entry of the targets file. In
// errors, the names of the entry's settings start with place.
func (s *Run) withEntry(place string, settings []targets.Setting) (given argv.Settings, err error) {
	given = s.Settings
	for _, setting := range settings {
		f, origin := s.Flags.Named(setting.Flag), place+setting.Flag
		switch {
		case f == nil || f.Hidden:
			return given, argv.Usagef("%s: an entry cannot have this key", origin).
				Meant(strings.TrimLeft(setting.Flag, "-"), append(s.Flags.Shown(), "name", "url", "command")).
				Hint("an entry has a name, a url or a command, fields for {.field} of the URL, and flags such as until and timeout")
		case f.WholeRun:
			return given, argv.Usagef("%s: this flag applies to all targets", origin).Hint("give it on the command line: --%s", setting.Flag)
		case len(setting.Texts) > 1 && !f.Many:
			return given, argv.Usagef("%s: this flag has one value", origin)
		}
		for _, text := range setting.Texts {
			if given, err = given.With(f, text, origin, argv.Entry); err != nil {
				return given, err
			}
		}
	}
	return given, nil
}

// placeOf returns a prefix for errors that identifies the target of the entry e: "FILE:LINE: ", or the target's
// URL followed by ": " if there are several URLs. It returns "" for a single target, and with --each.
func (r *Reader) placeOf(e *targets.Entry) string {
	switch {
	case !r.Several || r.List != nil:
		return ""
	case r.file == nil:
		return poll.HTTP{URL: e.URL}.Target() + ": "
	}
	return fmt.Sprintf("%s:%d: ", r.file.Name, e.Line)
}

// quotedText matches the string literals in an expression.
var quotedText = words.Pattern(`"(?:[^"\\]|\\.)*"`)

// readTexts returns the flag values with placeholders that the entries of --targets replace. The placeholders {}
// and {.field} are valid in the request body and in headers, and {} is valid in --follow. Braces in the values of
// other flags are a usage error, because poll would send or compare them literally.
func (s *Run) readTexts() (texts []targets.Text, err error) {
	own := []string{"learn", "next", "each"} // flags that give braces a meaning of their own
	forms := map[string]targets.Form{"header": targets.Plain, "follow": targets.Path, "data": targets.Body, "data-raw": targets.Body, "data-binary": targets.Body}
	for _, f := range s.Flags {
		form, isFilled := forms[f.Name]
		values := s.Texts(f.Name)
		if isFilled {
			filled, err := targets.ParseTexts(f.Name, form, values)
			if err != nil {
				return nil, argv.Usagef("%s: %w", s.Origin(f.Name), err)
			}
			texts = append(texts, filled...)
			continue
		}
		for _, text := range values {
			if f.Group == groupConditions || f.Value == "EXPR" { // braces are JSON syntax, except inside string literals
				text = strings.Join(quotedText().FindAllString(strings.TrimPrefix(text, "jq:"), -1), "")
			}
			if targets.HasHole(text) && !slices.Contains(own, f.Name) {
				return nil, argv.Usagef("%s: poll fills {} only in the URL or command, -d, -H and --follow", s.Origin(f.Name)).
					Hint("$name is the name of the target, in a condition and in --print; or give each entry its own %s", f.Name)
			}
		}
	}
	if texts != nil && s.Each != "" {
		return nil, argv.Usagef("with %s, keys fill only the URL or the command", s.Origin("each"))
	}
	return texts, nil
}

const (
	defaultRate         = 50 // requests per second to one host
	DefaultParallelHost = 6
	defaultParallel     = 50
)

func GoalWords(n, need int, thing string) string {
	of := words.Count(n, thing)
	switch {
	case n == 0:
		return "there is no " + thing
	case need == 0 || need == n:
		return "all of " + of
	case need == 1:
		return "any of " + of
	}
	return fmt.Sprintf("at least %d of %s", need, of)
}

// An elementList holds the settings of --each, which makes each element of a list in the response a target.
type elementList struct {
	poll.Elements
	Known bool // whether a targets file names all elements by key
	Size  int  // the number of elements if Known is true, otherwise the minimum number
}

// ReadList compiles the expressions of --each and --id, and reads --expect, the minimum number of elements.
func (s *Run) ReadList() (l *elementList, err error) {
	l = new(elementList)
	if l.Each, err = expr.CompileEach(s.Each); err != nil {
		return nil, BadExpression(s.Origin("each"), err)
	}
	l.Keys, err = s.Values("id", s.Texts("id"), func(id *expr.Expr) error {
		if id.Reads() {
			return nil
		}
		return argv.Usagef("%s is the same for every element", id).Hint("write a part of the element, such as .id")
	})
	if s.Has("expect") {
		l.Expect = cmp.Or(s.Expect, -1)
	}
	l.Whole = s.HTTP.Next != "none" && l.Each.String() != ".." // otherwise a response may contain only one page of the list
	l.Size = max(l.Expect, 0)
	return l, err
}

// withKeys returns the elements of a list for the target t, which requests the list. keys are the keys of the
// elements; without keys, the response determines the elements. If template is not nil, each attempt requests only
// elements that have not ended, by filling their keys into template.
func (l *elementList) withKeys(keys []string, t *Target, template *targets.Template) *poll.Elements {
	elements := l.Elements
	elements.Known = keys
	if template != nil {
		elements.Narrow = func(keys []string) poll.Probe {
			url, args, _ := template.Fill(keys) // cannot fail: Fill has succeeded for the full list of keys
			return requestOf(t.Poller.Probe, url, args)
		}
	}
	return &elements
}

// Goal describes the goal of the wait, such as "at least 2 elements of .items". need is the number of elements that
// must succeed. If need is 0, the description usually starts with part, such as "all".
func (l *elementList) Goal(need int, part string) string {
	of := " of " + l.Each.String()
	if of == " of ." || of == " of .." {
		of = " of the response"
	}
	switch {
	case l.Known:
		return GoalWords(l.Size, need, "element") + of
	case need == 1:
		return "any element" + of
	case need > 1:
		return "at least " + words.Count(need, "element") + of
	case l.Expect > 1:
		return fmt.Sprintf("%s elements%s (%d or more)", part, of, l.Expect)
	}
	return part + " elements" + of
}

// Note returns a note for the user that states the source of the elements, or how poll recognizes that the list is
// complete. It returns "" if --expect gives the number of elements.
func (l *elementList) Note(s *Run) string {
	switch {
	case l.Known:
		return "the elements are from " + s.TargetsFile()
	case l.Expect > 0:
		return ""
	}
	return "the list is complete once two responses, 5s apart, show no new element"
}
