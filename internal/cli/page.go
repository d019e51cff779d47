package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/ui/term"
)

// showPage shows a page of the documentation: on a terminal at its width and through the pager,
// elsewhere as it is.
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

// lend runs a program that shows text on the terminal, and reports whether it could. What is typed then
// belongs to it: Ctrl-C does not end poll.
func (p app) lend(c *exec.Cmd, text string) bool {
	dropped := make(chan os.Signal, 1) // never read
	if p.Release != nil {
		p.Release()
	}
	signal.Notify(dropped, os.Interrupt)
	defer signal.Stop(dropped)
	c.Stdin, c.Stdout = strings.NewReader(text), os.Stdout
	return c.Run() == nil
}

// pageWidth is how many columns a page has at most: longer lines are hard to read.
const pageWidth = 110

// folded wraps the paragraphs of a page in Markdown at a number of columns. Code and tables stay as they are.
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
		line = strings.TrimRight(line, " \n")
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

// wrapped breaks a paragraph between words. The lines below the first of a list's item are indented as its words.
func wrapped(paragraph string, columns int) []string {
	words := strings.Fields(paragraph)
	indent := paragraph[:len(paragraph)-len(strings.TrimLeft(paragraph, " "))]
	below := indent
	if slices.Contains([]string{"-", "1.", "2.", "3.", "4.", "5.", "6."}, words[0]) {
		below += strings.Repeat(" ", len(words[0])+1)
	}
	return term.Fold(indent+strings.Join(words, " "), columns, below)
}
