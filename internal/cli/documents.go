package cli

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status"
)

// manTemplate is the manual page in the macros of man(7). Comments mark where the
// lists that are made of the tables go, and the pages of the documentation.
//
//go:embed man/poll.1
var manTemplate string

func manCommand(w World, p *argv.Program) *argv.Command {
	return &argv.Command{
		Name:    "man",
		Summary: "the manual page",
		About: "poll man shows the manual page, on a terminal by man(1). Elsewhere, and without\n" +
			"man(1), it writes the source for that. The page says how a wait works, and more\nabout each flag than the help.",
		Examples: []argv.Example{
			{Line: "poll man"},
			{Line: "poll man >~/.local/share/man/man1/poll.1"},
		},
		Flags: argv.Flags{argv.HelpFlag()},
		Run: func(ctx context.Context, l *argv.Line) error {
			page := manPage(p)
			if w.Streams.OutIsTerminal && !w.Streams.Dumb && w.showManual(page) {
				return nil
			}
			return l.Write(ctx, page)
		},
	}
}

func manPage(p *argv.Program) string {
	return strings.NewReplacer(
		".\\\" @options\n", p.Main.Flags.Man(manMore()),
		".\\\" @subcommands\n", p.ManCommands(),
		".\\\" @presets\n", manPresets(),
		".\\\" @exit-codes\n", manSection(pageOf("exit-codes")),
		".\\\" @environment\n", manSection(pageOf("environment")),
	).Replace(manTemplate)
}

func manPresets() string {
	var b strings.Builder
	b.WriteString(".PP\n.PD 0\n")
	for _, p := range status.Presets() {
		fmt.Fprintf(&b, ".TP 26\n\\fB%s\\fR\n%s\n", argv.Roff(strings.Join(namesOf(p), ", ")), argv.Roff(p.API))
	}
	b.WriteString(".PD\n")
	return b.String()
}

// manMore maps flags to what the manual page says beyond the help.
func manMore() map[string]string {
	return map[string]string{
		"error-if":     "It is evaluated before --until.",
		"not-ready-if": "It keeps the wait going on an answer that would otherwise be an ERROR, such as a 404 while the resource does not exist yet.",
		"gone": "It is --until '$error in [\"refused\", \"dns\"] or $status in [404, 410]'. After a timeout, a reset or a failure of TLS " +
			"something may be there: --until '$error != null' takes any of these. A DELETE, PUT or PATCH is sent once, and its URL then looked at by GET.",
		"strict":            "Without it such an answer is NOT_READY, and an unexpected state keeps the wait going until the timeout.",
		"preset":            "Its rules are evaluated after your own.",
		"success-threshold": "For services that are unstable while they start.",
		"error-threshold":   "It does not hold for the answer to a request that starts an operation, which is sent once: its first ERROR is final.",
		"max-attempts":      "The first one counts, too.",
		"pid":               "It is for a server that was started in the background, as tail(1) has it, and may be repeated: any one that has ended is enough.",
		"max-body":          "The rest of a longer answer is read and discarded, and what was kept is not parsed as JSON.",
		"targets": "Plain lines, NDJSON, or a list in JSON or YAML. An entry is a URL, or a text for {} of the URL or of the command's " +
			"arguments; or an object with name, url or command, fields for {.field} of the URL, and flags of its own. " +
			"All of it is checked before the first attempt.",
		"at-least":       "A share is rounded up.",
		"fail-fast":      "Otherwise the targets that may still succeed are waited for even so.",
		"target-timeout": "In a targets file the key timeout sets it for one.",
		"parallel-max-host": "A host is a scheme, a host and a port. A program counts as one. " +
			"An attempt that takes far longer than others leaves its room to another.",
		"rate": "N/U as curl's: U is s, m, h or d, or several of them, as in 5/10s. A given rate is kept to 95%. One target is limited only if it is given.",
		"share": "The processes of one user on one machine share a directory, which is created; others a Redis, version 5 or later, or Valkey. " +
			"Together they keep to one limit at each place, and where they ask the same, one asks and all get the answer. " +
			"If it is away, each goes on alone, and no wait fails. POLL_SHARE_SECRET is their secret. See poll help fleet.",
		"share-key":     "All with the same NAME share one limit, whatever they send and wherever; without it those do who send the same credentials to the same origin.",
		"share-answers": "Auto is all GET and HEAD requests without a body. A NAME vouches that commands, or requests with a body, change nothing and may be made by another.",
		"name":          "$name is the same in --print. In a targets file the key name sets it.",
		"strategy": "Wait n, counted from 0, is base * factor^n for exponential, base for fixed, base * (n+1) for linear, " +
			"base * (1, 1, 2, 3, 5, ...) for fibonacci and base * ((n+1)^power + 2) for polynomial.",
		"max-wait":  "The cap applies to jitter, too, but not to a wait that the server asks for.",
		"overshoot": "This is --factor 1 + PCT without a cap, unless --max-wait is given. With 10%, the end is noticed at most a tenth too late.",
		"jitter":    "Full is between 0 and the wait, equal between half of it and all of it, decorrelated between the base and three times the wait before. Auto is none, but equal after THROTTLED.",
		"request":   "A request other than GET, HEAD and OPTIONS starts the operation: see \"Starting and following\".",
		"data": "Several values are joined with &. An object or array in JSON is sent as application/json, " +
			"anything else as application/x-www-form-urlencoded, unless -H names a Content-Type.",
		"header": "A file is read again when it has changed, and once more before a 401 is final, " +
			"so that a token may be renewed while poll waits. While it is missing or incomplete, what it said last holds.",
		"cookie":        "Several are joined. What answers set is sent back to the same origin until the end of the run; -H Cookie: turns that off.",
		"oauth2-bearer": "An Authorization of -H wins over it. For a token that is renewed, see -H @FILE.",
		"proxy":         "http, https, socks5 or socks5h, with USER:PASS@ if it asks for that. NO_PROXY does not count for it.",
		"resolve":       "Several ADDRESSes with commas in between are tried in order; a HOST of * is any. No proxy is used for it.",
		"connect-to":    "An empty HOST or PORT on the left is any, on the right the same. Certificates are still checked for the first host.",
		"netrc":         "The variable NETRC names another file.",
		"location-trusted": "Without it, credentials, a client certificate and most headers are sent to the first origin only, " +
			"and a redirect that would take the body to another origin, or credentials from https to http, is an ERROR.",
		"follow": "Auto follows Azure-AsyncOperation, Operation-Location and Location. None repeats the same request, for GraphQL and JSON-RPC. " +
			"An EXPR such as .urls.get finds the URL in the answer, and 'https://host/v1/{.name}' builds it.",
		"no-conditional": "Without it, the server need not send an unchanged answer again.",
		"stdin":          "Without it the command's stdin is empty.",
		"foreground":     "The command stays in poll's own process group, as with timeout(1); processes it has started are then not stopped with it, except on Windows.",
		"grace": "An attempt is stopped with TERM, and with KILL when the grace has passed; on Windows with Ctrl-Break, and then with all that it has started. " +
			"If poll itself runs under another poll, its grace is at most three quarters of the other's, so that nothing is left running.",
		"pass-exit-code": "Only a nonzero exit code of a command that ended by itself is passed on.",
		"print":          "Text is printed as it is, other values as JSON, followed by a newline. A missing value makes the wait fail. Several values have tabs between them.",
		"json":           "It is printed whatever the outcome and holds the exit code, the answer and a timeline.",
		"progress": "Live redraws one line on a terminal; lines, for logs, reports when something changes; json writes one event per line. " +
			"Auto is live on a terminal and lines elsewhere.",
		"heartbeat": "It applies to --progress lines.",
	}
}

// completionScripts make the shells ask poll for candidates.
//
//go:embed completion
var completionScripts embed.FS

func shells() []string { return []string{"bash", "zsh", "fish"} }

func completionCommand(p *argv.Program) *argv.Command {
	return &argv.Command{
		Name:     "completion",
		Operands: strings.Join(shells(), "|"),
		Summary:  "a shell script for tab completion",
		About: "poll completion writes a script that makes the Tab key complete flags, presets,\n" +
			"subcommands, files, and the command to run.",
		Examples: []argv.Example{
			{Line: `eval "$(poll completion bash)"`, About: "in ~/.bashrc"},
			{Line: "source <(poll completion zsh)", About: "in ~/.zshrc, after compinit"},
			{Line: "poll completion fish >~/.config/fish/completions/poll.fish"},
		},
		Flags: argv.Flags{
			{Name: "complete", Hidden: true, Usage: "say what the last operand may become: the scripts ask this"},
			argv.HelpFlag(),
		},
		Arguments:   argv.OfferFirst(func() []argv.Candidate { return argv.Candidates(shells()...) }),
		MaxOperands: argv.Any,
		Run: func(ctx context.Context, l *argv.Line) error {
			text, err := completionText(p, l)
			if err != nil {
				return err
			}
			return l.Write(ctx, text)
		},
	}
}

// completionText returns the script for a shell, or the answer to its question.
func completionText(p *argv.Program, l *argv.Line) (string, error) {
	switch {
	case l.On("complete") && len(l.Operands) == 0:
		return p.Complete([]string{""}).Text(), nil
	case l.On("complete"):
		return p.Complete(l.Operands).Text(), nil
	case len(l.Operands) != 1:
		return "", argv.Usagef("completion takes the name of a shell: %s", strings.Join(shells(), ", ")).
			Hint(`eval "$(poll completion bash)"`)
	}
	shell := l.Operands[0]
	script, err := completionScripts.ReadFile("completion/poll." + shell)
	if err != nil {
		return "", argv.Usagef("there is no completion for %q, only for %s", shell, strings.Join(shells(), ", ")).
			Meant(shell, shells())
	}
	return string(script), nil
}
