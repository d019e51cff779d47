package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// manFlags lists flags, under their headings if they have any. The flag for
// help is not worth a place in each list.
func manFlags(b *strings.Builder, table flags, more map[string]string) {
	group := ""
	for i := range table {
		f := &table[i]
		if f.hidden || f.name == "help" {
			continue
		}
		if f.group != group {
			group = f.group
			fmt.Fprintf(b, ".SS %s\n", roff(group))
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", f.roff(), roff(f.sentences(more[f.name])))
	}
}

// roff is how a flag is typed, with its name in bold.
func (f *flag) roff() string {
	var names []string
	for _, alias := range f.aliases {
		if len(alias) == 1 {
			names = append(names, `\fB`+roff("-"+alias)+`\fR`)
		}
	}
	names = append(names, `\fB`+roff("--"+f.name)+`\fR`)
	text := strings.Join(names, ", ")
	if f.value != "" {
		text += ` \fI` + roff(f.value) + `\fR`
	}
	return text
}

// sentences explain a flag as help does, with room for whole sentences.
func (f *flag) sentences(more string) string {
	text := sentence(f.usage)
	if f.words != nil {
		text = sentence("one of " + strings.Join(f.words, ", "))
	}
	if more != "" {
		text += "\n" + more
	}
	if f.def != "" {
		text += "\n" + sentence("default: "+f.def)
	}
	return text
}

// sentence begins a text with a capital letter and ends it with a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// manMore is what the manual page says of a flag beyond what help says.
func manMore() map[string]string {
	return map[string]string{
		"error-if":          "It is asked before --until.",
		"not-ready-if":      "It keeps the wait going where an answer would otherwise be an ERROR, such as a 404 while the thing does not exist yet.",
		"strict":            "Without it that is NOT_READY, and a state that nobody has thought of is waited for until the end.",
		"preset":            "Its rules are asked after your own.",
		"success-threshold": "For services that come and go while they start.",
		"max-attempts":      "The first one counts.",
		"max-body":          "The rest of a longer answer is read and forgotten, and what was kept is not taken for JSON.",
		"strategy": "Wait n, counted from 0, is base * factor^n for exponential, base for fixed, base * (n+1) for linear, " +
			"base * (1, 1, 2, 3, 5, ...) for fibonacci and base * ((n+1)^power + 2) for polynomial.",
		"max-wait":  "The cap holds for jitter, too, but not for a wait that the server asks for.",
		"overshoot": "This is --factor 1 + PCT without a cap, unless --max-wait is given. 10% sees the end at most a tenth too late.",
		"jitter":    "Full is between 0 and the wait, equal between half of it and all of it, decorrelated between the base and three times the wait before. Auto is none, but equal after THROTTLED.",
		"request":   "A request other than GET, HEAD and OPTIONS starts the operation: see \"Starting and following\".",
		"data":      "Several are joined with &.",
		"netrc":     "The variable NETRC names another file.",
		"location-trusted": "Without it credentials, a client certificate and most headers stay where they were meant for, " +
			"and an ERROR comes where a redirect would take the body to another origin, or credentials from https to http.",
		"follow": "Auto follows Azure-AsyncOperation, Operation-Location and Location. None repeats the same request, for GraphQL and JSON-RPC. " +
			"An EXPR such as .urls.get finds the URL in the answer, and 'https://host/v1/{.name}' builds it.",
		"no-conditional": "Otherwise an answer that has not changed is not sent again.",
		"stdin":          "Without it the command's stdin is empty.",
		"foreground":     "The command stays in poll's own process group, as with timeout(1); what it has started is not stopped with it then.",
		"grace": "An attempt is stopped with TERM, and with KILL when the grace has passed. " +
			"Where poll is run by the command of another poll and gets TERM, its own grace ends after three quarters of the other one's, so that nothing is left behind.",
		"pass-exit-code": "Only a code of a command that ended by itself, other than 0, is passed.",
		"print":          "A text is printed as it is, other values as JSON, with a newline behind. A value that is missing makes the wait fail.",
		"json":           "Whatever the outcome is: the object says it, with the exit code, the answer and a timeline.",
		"progress": "Live redraws one line on a terminal; lines, for logs, speaks when something changes; json writes an event a line. " +
			"Auto is live on a terminal and lines elsewhere.",
		"heartbeat": "This is for lines.",
	}
}
