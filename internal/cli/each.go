package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/expr"
	"github.com/pollcli/poll/words"
)

// A list is what the command line says about the elements of an answer, each of which is a
// target.
type list struct {
	poll.Elements
	known   bool // beforehand, by their keys
	alone   bool // each is looked at by itself
	size    int  // how many there are then, and otherwise at least
	batches int
	learns  *learning.Recorder // nil without --learn
}

// refuseForList refuses what cannot be said of a list, and what only can be said of one.
func refuseForList(l *argv.Line) error {
	if l.Has("each") {
		if err := refuseEach(l); err == nil || !l.DropVariable("each") {
			return err
		}
	}
	for _, name := range []string{"next", "batch"} {
		if l.Typed(name) != nil {
			return argv.Usagef("--%s is about a list, and needs --each EXPR, which says where its elements are", name)
		}
	}
	return nil
}

// refuseEach refuses a list that cannot be waited for. What only variables say against it is
// for others.
func refuseEach(l *argv.Line) error {
	each, isFilled := l.Origin("each"), l.Has("targets") && hasPlaceholder(l)
	switch n := len(l.Operands); {
	case n == 0:
		return argv.Usagef("%s needs a URL or a command, whose answer has the list", each)
	case l.IsCommand() && l.Typed("next") != nil && l.String("next") != "none":
		return argv.Usagef("--next is for http and https, but the target is a command").
			Hint("a command gives the whole list at once; many have a flag for that, such as gh api --paginate --slurp")
	case !l.IsCommand() && n > 1:
		return argv.Usagef("%s is about one list, and %d URLs are given", each, n).Hint("one after the other: poll ... && poll ...")
	case !l.IsCommand() && strings.HasPrefix(strings.ToLower(l.Operands[0]), "tcp:"):
		return argv.Usagef("%s needs an answer, and a TCP address gives none", each)
	case l.Typed("batch") != nil && !isFilled:
		return argv.Usagef("--batch is how many entries of --targets FILE fill {} at once, and nothing is to be filled")
	case l.Typed("gone") != nil:
		return argv.Usagef("--gone is about the URL, and with %s the targets are elements of its answer", each).
			Hint("--until '$gone' waits until each element is no longer in the list")
	case l.Typed("learn") != nil && isFilled:
		return argv.Usagef("%s: a history is of one list, and {} makes several", l.Origin("learn"))
	case l.Typed("learn") != nil && followsEach(l) && !l.DropVariable("follow"):
		return argv.Usagef("%s: a history is of one list, and %s looks at each element by itself", l.Origin("learn"), l.Origin("follow"))
	case l.Has("learn") && (l.Typed("started-at") != nil || l.Typed("finished-at") != nil):
		return argv.Usagef("--started-at and --finished-at are about one operation, and a list has many").
			Hint("without them, %s takes the time until the last element has ended", l.Origin("learn"))
	case !slices.ContainsFunc([]string{"until", "not-ready-if", "preset"}, l.Has):
		return needsCondition(l)
	}
	for _, name := range []string{"gone", "started-at", "finished-at"} {
		l.DropVariable(name)
	}
	if isFilled || followsEach(l) {
		l.DropVariable("learn")
	}
	return learning.RefuseUnlearned(l)
}

func needsCondition(l *argv.Line) error {
	return argv.Usagef("%s needs a condition: without one, every element is SUCCESS at once", l.Origin("each")).
		Hint(`--until '.state=="done"', where . is the element, or --preset NAME`)
}

// hasPlaceholder reports whether entries fill the URL or the command.
func hasPlaceholder(l *argv.Line) bool {
	if !l.IsCommand() {
		return len(l.Operands) > 0 && strings.Contains(l.Operands[0], "{")
	}
	return slices.ContainsFunc(l.Operands, func(arg string) bool { return strings.Contains(arg, targets.Item) })
}

// readList reads what names the elements, and how many there are at least.
func readList(l *argv.Line) (*list, error) {
	each, err := expr.CompileEach(l.String("each"))
	if err != nil {
		return nil, badExpression(l.Origin("each"), err)
	}
	own := &list{Elements: poll.Elements{Each: each}}
	for g := range l.All("key") {
		key, err := readKey(l, g)
		if err != nil {
			return nil, err
		}
		own.Keys = append(own.Keys, key)
	}
	own.Expect = l.Count("expect", 0, 0)
	own.Whole = l.IsCommand() && l.String("next") != "none" && each.String() != ".." // what is read then is no page
	own.size = own.Expect
	if l.Has("expect") && own.Expect == 0 {
		own.Expect = -1
	}
	own.alone = followsEach(l)
	return own, l.Err()
}

// followsEach reports whether each element is looked at alone, where --follow says.
func followsEach(l *argv.Line) bool {
	return l.Has("each") && l.Has("follow") && !l.IsCommand() && !slices.Contains([]string{"auto", "none"}, l.String("follow"))
}

// readKey reads a part of what names an element, unless it was meant as the key of a
// certificate.
func readKey(l *argv.Line, g *argv.Given) (*expr.Expr, error) {
	key, err := expr.CompileValue(g.Value, expr.WithEnviron(l.LookupEnv))
	if err == nil && key.Uses() == 0 {
		err = argv.Usagef("%s is the same for every element", key).Hint("a part of it is its name, such as .id")
	}
	if _, missing := os.Stat(g.Value); err == nil && l.Has("cert") && missing == nil {
		err = argv.Usagef("%s is a file", g.Value)
	}
	if err == nil {
		return key, nil
	}
	err = badExpression(g.Origin, err)
	if usage, ok := errors.AsType[*argv.UsageError](err); ok && l.Has("cert") {
		usage.Hint("with --each, --key names an element, such as .id; the key of the certificate may stand in the file of --cert")
	}
	return nil, err
}

// readLists reads the list, or with {} several that hold some of the keys each.
func (r *severalReader) readLists(ctx context.Context) error {
	l := r.line
	batch := l.Count("batch", 1, 1)
	var err error
	if r.list, err = readList(l); l.ErrOr(err) != nil {
		return l.ErrOr(err)
	}
	entry := targets.Entry{URL: l.Operands[0]}
	if l.IsCommand() {
		entry = targets.Entry{Command: l.Operands}
	}
	if !l.Has("targets") {
		return r.addList(ctx, &entry, r.list.Elements, nil)
	}
	entries, err := r.readFile(l)
	if err == nil && r.file.Err() != nil {
		err = argv.Usagef("%w", r.file.Err())
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Item
	}
	r.list.known, r.list.size, r.list.Expect = true, len(keys), 0
	if r.template == nil {
		batch = len(keys)
	}
	r.list.batches = (len(keys) + batch - 1) / batch
	for some := range slices.Chunk(keys, batch) {
		elements := r.list.Elements
		elements.Known = some
		if r.template != nil {
			if entry.URL, entry.Command, err = r.template.Fill(some); err != nil {
				return argv.Usagef("%w", err)
			}
		}
		if err := r.addList(ctx, &entry, elements, r.template); err != nil {
			return err
		}
	}
	return errors.Join(r.missing...)
}

// addList adds a list. With a template, it is asked about the elements that have not ended.
func (r *severalReader) addList(ctx context.Context, e *targets.Entry, elements poll.Elements, fills *targets.Template) error {
	t, err := r.readEntry(ctx, e)
	if line, ok := errors.AsType[*lineError](err); ok {
		err = line.error
	}
	if err != nil {
		return err
	}
	t.poller.Elements = &elements
	if r.list.batches > 1 {
		t.poller.Target = fmt.Sprintf("batch %d of %d", len(r.pollers)+1, r.list.batches)
	}
	if fills != nil && !starts(t.poller.Probe) { // to ask about fewer would be another start
		elements.Narrow = func(keys []string) poll.Probe {
			url, args, _ := fills.Fill(keys) // each of them was filled in before
			if t.command != nil {
				narrow := *t.command
				narrow.Args = args
				return &narrow
			}
			narrow := *t.http
			narrow.URL = url
			return &narrow
		}
	}
	r.add(&t)
	return errors.Join(r.missing...)
}

// goal says in words what is waited for.
func (own *list) goal(need int) string {
	of := " of " + own.Each.String()
	if of == " of ." || of == " of .." {
		of = " of the answer"
	}
	switch {
	case own.known:
		return goalWords(own.size, need, "element") + of
	case need == 1:
		return "any element" + of
	case need > 1:
		return "at least " + words.Count(need, "element") + of
	case own.Expect > 1:
		return fmt.Sprintf("all elements%s (%d or more)", of, own.Expect)
	}
	return "all elements" + of
}

// note says which elements those are, "" if there is nothing to say.
func (own *list) note(l *argv.Line) string {
	switch {
	case own.known && own.batches > 1:
		return fmt.Sprintf("the elements are those of %s, %d at a time", targetsFile(l), l.Count("batch", 1, 1))
	case own.known:
		return "the elements are those of " + targetsFile(l)
	case own.alone:
		return "the first answer lists the elements, and each is then asked about by itself"
	case own.Expect > 0:
		return ""
	}
	return "the list is complete once two answers, 5s apart, show nothing new"
}
