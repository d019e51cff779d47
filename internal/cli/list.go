package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/expr"
)

const (
	defaultRate         = 50 // attempts a second at one place
	defaultParallelHost = 6
	defaultParallel     = 50
)

// tooFew says that there are not as many targets as are expected.
func (s *Spec) tooFew(have int) error {
	if have > 0 {
		return argv.Usagef("%s %d, and only %s given", s.Origin("expect"), s.Expect, words.Count(have, "target")).
			Advise(fmt.Sprint("expect ", s.Expect))
	}
	err := argv.Usagef("%s names no target", s.targetsFile())
	if s.Expect == 1 {
		err.Hint("--expect 0 if there may be none")
	}
	return err
}

func goalWords(n, need int, thing string) string {
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

// A elementList is what the command line says about the elements of an answer, each of which is a
// target.
type elementList struct {
	poll.Elements
	known bool // beforehand, by their keys
	size  int  // how many there are then, and otherwise at least
}

// refuseEach returns an error for a list that cannot be waited for.
func (s *Spec) refuseEach() error {
	each := s.Origin("each")
	switch n := len(s.Operands); {
	case s.Each == "":
	case n == 0:
		return argv.Usagef("%s needs a URL or a command, whose answer has the list", each)
	case !s.IsCommand && n > 1:
		return argv.Usagef("%s is about one list, and %d URLs are given", each, n).Hint("one after the other: poll ... && poll ...")
	case !s.IsCommand && strings.HasPrefix(strings.ToLower(s.Operands[0]), "tcp:"):
		return argv.Usagef("%s needs an answer, and a TCP address gives none", each)
	}
	return nil
}

// hasPlaceholder reports whether entries fill the URL or the command.
func (s *Spec) hasPlaceholder() bool {
	if !s.IsCommand {
		return len(s.Operands) > 0 && strings.Contains(s.Operands[0], "{")
	}
	return slices.ContainsFunc(s.Operands, func(arg string) bool { return strings.Contains(arg, targets.Item) })
}

// readList reads what names the elements, and how many there are at least.
func (s *Spec) readList() (l *elementList, err error) {
	l = new(elementList)
	if l.Each, err = expr.CompileEach(s.Each); err != nil {
		return nil, badExpression(s.Origin("each"), err)
	}
	l.Keys, err = s.values("id", s.ID, func(id *expr.Expr) error {
		if id.Reads() {
			return nil
		}
		return argv.Usagef("%s is the same for every element", id).Hint("name a part of the element, such as .id")
	})
	if s.Has("expect") {
		l.Expect = cmp.Or(s.Expect, -1)
	}
	l.Whole = s.HTTP.Next != "none" && l.Each.String() != ".." // what is read then is no page
	l.size = max(l.Expect, 0)
	return l, err
}

// batches returns a target for each batch of the keys that a file has, and the keys.
func (r *targetReader) batches(entries []*targets.Entry, template *targets.Template) (lists []*targets.Entry, batches [][]string, err error) {
	var keys []string
	for _, e := range entries {
		keys = append(keys, e.Item)
	}
	r.list.known, r.list.size, r.list.Expect = true, len(keys), 0
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

// withKeys returns the elements with these keys. With a template, the target is asked about those that
// have not ended.
func (l *elementList) withKeys(keys []string, t *target, template *targets.Template) *poll.Elements {
	elements := l.Elements
	elements.Known = keys
	if template == nil {
		return &elements
	}
	elements.Narrow = func(keys []string) poll.Probe {
		url, args, _ := template.Fill(keys) // each of them was filled in before
		if command, ok := t.poller.Probe.(*poll.Command); ok {
			narrow := *command
			narrow.Args = args
			return &narrow
		}
		narrow := *t.poller.Probe.(*poll.HTTP)
		narrow.URL = url
		return &narrow
	}
	return &elements
}

// goal says in words what is waited for: need elements, or the part of them, such as all.
func (l *elementList) goal(need int, part string) string {
	of := " of " + l.Each.String()
	if of == " of ." || of == " of .." {
		of = " of the answer"
	}
	switch {
	case l.known:
		return goalWords(l.size, need, "element") + of
	case need == 1:
		return "any element" + of
	case need > 1:
		return "at least " + words.Count(need, "element") + of
	case l.Expect > 1:
		return fmt.Sprintf("%s elements%s (%d or more)", part, of, l.Expect)
	}
	return part + " elements" + of
}

// note says which elements those are, "" if there is nothing to say.
func (l *elementList) note(s *Spec) string {
	switch {
	case l.known:
		return "the elements are those of " + s.targetsFile()
	case l.Expect > 0:
		return ""
	}
	return "the list is complete once two answers, 5s apart, show no new element"
}
