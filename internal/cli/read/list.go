package read

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/expr"
)

const (
	defaultRate         = 50 // attempts per second to one host
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

// An elementList holds --each and its flags. Each element is a target.
type elementList struct {
	poll.Elements
	Known bool // a file names all elements by key
	Size  int  // the number of elements if Known, else the minimum
}

// ReadList compiles --each and --id, and reads the least number of elements.
func (s *Run) ReadList() (l *elementList, err error) {
	l = new(elementList)
	if l.Each, err = expr.CompileEach(s.Each); err != nil {
		return nil, BadExpression(s.Origin("each"), err)
	}
	l.Keys, err = s.Values("id", s.ID, func(id *expr.Expr) error {
		if id.Reads() {
			return nil
		}
		return argv.Usagef("%s is the same for every element", id).Hint("name a part of the element, such as .id")
	})
	if s.Has("expect") {
		l.Expect = cmp.Or(s.Expect, -1)
	}
	l.Whole = s.HTTP.Next != "none" && l.Each.String() != ".." // otherwise a response may be one page of the list
	l.Size = max(l.Expect, 0)
	return l, err
}

// batches returns a target for each batch of the keys in entries, and the keys of each batch. Without template
// all keys form one batch.
func (r *Reader) batches(entries []*targets.Entry, template *targets.Template) (lists []*targets.Entry, batches [][]string, err error) {
	var keys []string
	for _, e := range entries {
		keys = append(keys, e.Item)
	}
	r.List.Known, r.List.Size, r.List.Expect = true, len(keys), 0
	batch := r.run.Batch
	if template == nil {
		batch = max(1, len(keys))
	}
	batches = slices.Collect(slices.Chunk(keys, batch))
	for _, some := range batches {
		e := new(targets.Entry)
		switch {
		case template != nil:
			if e.URL, e.Command, err = template.Fill(some); err != nil {
				return nil, nil, argv.Usagef("%w", err)
			}
		case r.run.IsCommand:
			e.Command = r.run.Operands
		default:
			e.URL = r.run.Operands[0]
		}
		lists = append(lists, e)
	}
	return lists, batches, nil
}

// withKeys returns the elements with the given keys. With template, each attempt requests only the elements
// that have not ended.
func (l *elementList) withKeys(keys []string, t *Target, template *targets.Template) *poll.Elements {
	elements := l.Elements
	elements.Known = keys
	if template == nil {
		return &elements
	}
	elements.Narrow = func(keys []string) poll.Probe {
		url, args, _ := template.Fill(keys) // template.Fill succeeded for all keys before
		if command, ok := t.Poller.Probe.(*poll.Command); ok {
			narrow := *command
			narrow.Args = args
			return &narrow
		}
		narrow := *t.Poller.Probe.(*poll.HTTP)
		narrow.URL = url
		return &narrow
	}
	return &elements
}

// Goal describes the goal, such as "at least 2 elements of .items". need is the number of elements that must
// succeed. If need is 0, part replaces the number, such as "all".
func (l *elementList) Goal(need int, part string) string {
	of := " of " + l.Each.String()
	if of == " of ." || of == " of .." {
		of = " of the answer"
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

// Note returns the note on the origin and completeness of the elements, or "" with --expect.
func (l *elementList) Note(s *Run) string {
	switch {
	case l.Known:
		return "the elements are those of " + s.TargetsFile()
	case l.Expect > 0:
		return ""
	}
	return "the list is complete once two answers, 5s apart, show no new element"
}
