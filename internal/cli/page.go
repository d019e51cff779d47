package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"unicode"

	"github.com/pollcli/poll/internal/ui/term"
)

// showPage writes a Markdown page to stdout. On a terminal it folds the page to the width and uses the pager
// ($PAGER, default less). If stdout is not a terminal, the page is not changed.
func (p app) showPage(ctx context.Context, text string) error {
	if !p.Streams.OutIsTerminal {
		return p.write(ctx, text)
	}
	if width := p.Streams.OutWidth(); width > 0 {
		text = folded(text, min(width, pageWidth)-1)
	}
	pager := "less"
	if given, isGiven := p.Lookup("PAGER"); isGiven {
		pager = given
	}
	if shell, err := exec.LookPath("sh"); err == nil && !p.Streams.Dumb && pager != "" {
		c := exec.Command(shell, "-c", pager)
		c.Env = os.Environ()
		if _, isSet := p.Lookup("LESS"); !isSet {
			c.Env = append(c.Env, "LESS=FRX") // a page that fits is only printed
		}
		c.Stderr = io.Discard
		if p.lend(c, text) {
			return nil
		}
	}
	return p.write(ctx, text)
}

// lend runs c with text as its stdin, and reports whether c exited with 0. Ctrl-C then goes to c, and does not
// end poll.
func (p app) lend(c *exec.Cmd, text string) bool {
	dropped := make(chan os.Signal, 1) // never received from
	if p.Release != nil {
		p.Release()
	}
	signal.Notify(dropped, os.Interrupt)
	defer signal.Stop(dropped)
	c.Stdin, c.Stdout = strings.NewReader(text), os.Stdout
	return c.Run() == nil
}

// pageWidth is the maximum number of columns of a page: longer lines are hard to read.
const pageWidth = 110

// folded returns a Markdown page with its paragraphs wrapped at the given number of columns. It keeps the line
// breaks of code and tables.
func folded(page string, columns int) string {
	var text, paragraph []string
	isCode := false
	end := func() {
		if paragraph != nil {
			text = append(text, wrapped(strings.Join(paragraph, " "), columns)...)
		}
		paragraph = nil
	}
	for line := range strings.Lines(page) {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		isFence := strings.HasPrefix(strings.TrimSpace(line), "```")
		isKept := isCode || line == "" || strings.HasPrefix(line, "|")
		if isFence || isKept || strings.HasPrefix(line, "#") || strings.HasPrefix(strings.TrimSpace(line), "- ") {
			end()
		}
		switch {
		case isFence:
			isCode = !isCode
		case isKept:
			text = append(text, line)
		default:
			paragraph = append(paragraph, line)
		}
	}
	end()
	return strings.Join(text, "\n") + "\n"
}

// wrapped returns the lines of a paragraph, broken between words. The following lines of a list item are
// indented to the item's first word.
func wrapped(paragraph string, columns int) []string {
	words := strings.Fields(paragraph)
	indent := paragraph[:len(paragraph)-len(strings.TrimLeft(paragraph, " "))]
	below := indent
	if slices.Contains([]string{"-", "1.", "2.", "3.", "4.", "5.", "6."}, words[0]) {
		below += strings.Repeat(" ", len(words[0])+1)
	}
	return term.Fold(indent+strings.Join(words, " "), columns, below)
}
