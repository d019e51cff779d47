package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/pollcli/poll/docs"
	"github.com/pollcli/poll/internal/argv"
)

// topics returns the pages of the documentation that help shows, as they are.
func topics() []argv.Topic {
	topic := func(name, summary string) argv.Topic {
		return argv.Topic{Name: name, Summary: summary, Text: func() string { return pageOf(name) }}
	}
	return []argv.Topic{
		topic("conditions", "the language of --until and its kin, by examples"),
		topic("waiting", "how waits grow, and how to choose them"),
		topic("many", "waiting for several targets"),
		topic("fleet", "many processes that are polite together"),
		topic("exit-codes", "what a script can tell by the exit code"),
		topic("environment", "the variables that poll reads and sets"),
	}
}

// pageOf returns a page of the documentation, in Markdown.
func pageOf(topic string) string {
	text, err := docs.Pages.ReadFile(topic + ".md")
	if err != nil {
		panic(err) // it is in the binary, or the program is not built
	}
	return string(text)
}

func versionCommand() *argv.Command {
	return &argv.Command{
		Name:     "version",
		Summary:  "the version, as --version shows it",
		About:    "poll version shows the version of poll, and what it was built from.",
		Examples: []argv.Example{{Line: "poll version"}},
		Flags:    argv.Flags{argv.HelpFlag()},
		Run:      func(ctx context.Context, l *argv.Line) error { return l.Write(ctx, version()+"\n") },
	}
}

// showManual shows a manual page on the terminal, by man(1) and its pager, and reports
// whether it could. What is typed then belongs to them: Ctrl-C does not end poll.
func (w World) showManual(page string) bool {
	man, err := exec.LookPath("man")
	if err != nil {
		return false
	}
	dropped := make(chan os.Signal, 1) // never read
	if w.release != nil {
		w.release()
	}
	signal.Notify(dropped, os.Interrupt)
	defer signal.Stop(dropped)
	c := exec.Command(man, "-l", "-")
	c.Stdin = strings.NewReader(page)
	c.Stdout, c.Stderr = os.Stdout, io.Discard // a man that does not know -l says so
	return c.Run() == nil
}
