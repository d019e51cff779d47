package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
)

// shareCommand returns the command that shows what is shared.
func shareCommand(world World) *argv.Command {
	return &argv.Command{
		Name:     "share",
		Operands: "[WHERE] [URL...]",
		Summary:  "the limits that all with --share WHERE keep to",
		About: "poll share lists the limits that all with --share WHERE keep to: how many\n" +
			"attempts a second, unless each keeps to the --rate it was given; for how long\n" +
			"the place is closed; and how long the queue is. No name is shared, but those\n" +
			"that you give are recognized: URLs, with the -H or -u that they are polled\n" +
			"with, and those of --share-key.",
		Examples: []argv.Example{
			{Line: "poll share ./shared"},
			{Line: "poll share rediss://cache.example.com --share-key aws-cfn"},
			{Line: "poll share ./shared -u me:secret https://api.example.com"},
		},
		Flags: slices.Concat(
			argv.Flags{{Name: "share-key", Value: "NAME", Many: true, Usage: "a name to recognize"}},
			waitFlags().Only("header", "user", "oauth2-bearer", "cookie", "netrc"),
			argv.Flags{{Name: "json", Usage: "print the list as JSON"}, argv.HelpFlag()}),
		After: "Without WHERE it is that of POLL_SHARE. Names are recognized only with the\n" +
			"secret of those who share, in POLL_SHARE_SECRET.",
		MaxOperands: argv.Any,
		Run:         func(ctx context.Context, l *argv.Line) error { return listShared(ctx, l, world) },
	}
}

// A namedText is what a limit is called, and the text that its key is made of.
type namedText struct{ name, text string }

// A sharedLimit is a limit with its name, nil if that is not known.
type sharedLimit struct {
	fleet.Limit
	name *string
}

func listShared(ctx context.Context, l *argv.Line, world World) error {
	where, origin, urls := world.getenv("POLL_SHARE"), "POLL_SHARE", l.Operands
	if len(urls) > 0 && (where == "" || !isPollable(urls[0])) {
		where, origin, urls = urls[0], "WHERE", urls[1:]
	}
	if where == "" {
		return argv.Usagef("poll share needs WHERE, as --share has it").Hint("poll share ./shared, or poll share redis://HOST")
	}
	names, err := namesOfLimits(ctx, l, world, urls)
	if err != nil {
		return err
	}
	if _, missing := os.Stat(where); missing != nil && !hasScheme(where) {
		return argv.Usagef("%s: there is no directory of that name", origin).Hint("for a Redis, write redis://HOST or rediss://HOST")
	}
	shared, err := openFleet(l, where, origin, nil)
	if err != nil {
		return err
	}
	defer shared.Close()
	limits, err := shared.List(ctx)
	if err != nil {
		return err
	}
	rows := make([]sharedLimit, len(limits))
	for i, limit := range limits {
		rows[i].Limit = limit
	}
	for _, one := range names {
		key := shared.Key(one.text)
		if i := slices.IndexFunc(rows, func(r sharedLimit) bool { return r.Key == key }); i >= 0 {
			rows[i].name = &one.name
		} else {
			fmt.Fprintf(world.Streams.Err, "poll: %s: nothing is shared under this name now\n", one.name)
		}
	}
	slices.SortFunc(rows, func(a, b sharedLimit) int {
		return cmp.Or(cmp.Compare(b.Closed, a.Closed), cmp.Compare(b.Queue, a.Queue), cmp.Compare(a.Key, b.Key))
	})
	switch t := sharedTable(rows); {
	case l.On("json"):
		text, err := t.In(table.JSON)
		return cmp.Or(err, l.Write(ctx, text))
	case len(rows) == 0:
		fmt.Fprintln(world.Streams.Err, "poll: nothing is shared there now")
		return l.Write(ctx, "")
	default:
		return l.Write(ctx, t.String())
	}
}

// isPollable reports whether a word is the URL of a target.
func isPollable(word string) bool {
	_, err := kindOfURL(word)
	return err == nil
}

// namesOfLimits returns the limits that the command line names.
func namesOfLimits(ctx context.Context, l *argv.Line, world World, urls []string) (names []namedText, err error) {
	for _, name := range l.Strings("share-key") {
		names = append(names, namedText{name, namedLimit(name)})
	}
	for i, address := range urls {
		kind, err := kindOfURL(address)
		reader := targetReader{world: world}
		var t target
		if err == nil {
			t, err = reader.readProbe(ctx, l, kind)
		}
		if err == nil {
			err = reader.aim(l, &t, []string{address})
		}
		if err = l.ErrOr(err); err != nil {
			return nil, argv.Usagef("%s: %w", argv.NameOperand(i+1, poll.TargetName(address)), err)
		}
		own := limitsOf("", []*poll.Poller{&t.poller}, []*argv.Line{l})
		names = append(names, namedText{poll.TargetName(address), own.text(placeOf(t.poller.Probe))})
	}
	return names, nil
}

// sharedTable describes the columns of the list.
func sharedTable(rows []sharedLimit) table.Table[sharedLimit] {
	const shown = 12 // characters of a key
	columns := []table.Column[sharedLimit]{
		{Name: "key", Value: func(r sharedLimit) any { return r.Key },
			Head: "limit", Text: func(r sharedLimit) string { return r.Key[:min(shown, len(r.Key))] }},
		{Name: "name", Value: func(r sharedLimit) any { return r.name }},
		{Name: "rate", Value: func(r sharedLimit) any { return knownRate(r.PerSecond) },
			Head: "rate", Text: func(r sharedLimit) string { return rateOf(r.PerSecond) }},
		{Name: "closed_s", Value: func(r sharedLimit) any { return milliseconds(r.Closed) },
			Head: "closed for", Text: func(r sharedLimit) string { return spanOf(r.Closed) }},
		{Name: "queue_s", Value: func(r sharedLimit) any { return milliseconds(r.Queue) },
			Head: "queue", Text: func(r sharedLimit) string { return spanOf(r.Queue) }},
	}
	if slices.ContainsFunc(rows, func(r sharedLimit) bool { return r.name != nil }) {
		columns[1].Head, columns[1].Text = "name", func(r sharedLimit) string { return *cmp.Or(r.name, new("")) }
	}
	return table.Table[sharedLimit]{Columns: columns, Rows: rows}
}

// knownRate returns a number of attempts a second, nil while each keeps to what it was given.
func knownRate(perSecond float64) *float64 {
	if perSecond == 0 {
		return nil
	}
	return new(words.TwoDigits(perSecond))
}

// rateOf spells a number of attempts a second, by the minute or the hour if they are few.
func rateOf(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "-"
	case perSecond >= 1:
		return words.Number(words.TwoDigits(perSecond)) + "/s"
	case perSecond*60 >= 1:
		return words.Number(words.TwoDigits(perSecond*60)) + "/m"
	}
	return words.Number(words.TwoDigits(perSecond*3600)) + "/h"
}

func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

func spanOf(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return words.Short(d)
}
