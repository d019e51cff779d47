package cli

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func (in *invocation) configureCommand(w *wait, args []string) error {
	if err := in.refuseGiven(groupHTTP, "is for a URL, and a command is waited for"); err != nil {
		if stray := strayBefore(args); stray != nil {
			return stray
		}
		return err
	}
	v := in.values
	c := poll.Command{
		Args:        args,
		Foreground:  in.split.on("foreground"),
		Grace:       v.duration("grace", poll.DefaultGrace),
		MaxBody:     v.size("max-body", 0),
		ReapOrphans: os.Getpid() == 1, // as which a container may run poll
		Hurry:       in.Hurry,
	}
	if c.Grace == 0 {
		c.Grace = poll.NoGrace
	}
	in.nest(&c)
	if in.split.on("stdin") {
		input, err := in.readFile("-", mostInput)
		if err != nil {
			return fmt.Errorf("read stdin: %w", err)
		}
		c.Stdin = append([]byte{}, input...)
	}
	w.kind, w.command = status.KindCommand, &c
	w.poller.Probe = c
	return in.mistaken(c)
}

// mistaken finds out whether a program that does not exist was meant as
// something else: an address without its scheme, or what no program is. One that is nothing but
// missing is left to the run to report, with a word about a subcommand of
// nearly that name.
func (in *invocation) mistaken(c poll.Command) error {
	if c.Check() == nil {
		return nil
	}
	word := c.Args[0]
	if err := noProgram(word); err != nil {
		return err
	}
	if typed, meant := meantURL(c.Args); meant != "" {
		return usagef("%s is neither a URL nor a program", typed).hint("did you mean %s?", meant)
	}
	if _, err := exec.LookPath(word); err != nil && filepath.Base(word) == word {
		in.meant = meantByProgram(word)
	}
	return nil
}

// meantByProgram is what a program that does not exist may have been meant to be.
func meantByProgram(word string) string {
	if word == "version" {
		return "poll --version"
	}
	if near := nearest(word, subcommandNames()); near != "" {
		return "the subcommand: poll " + near
	}
	return ""
}

// meantURL is the URL that words which name no program were meant as, and the
// words as they may be shown; both are "" if they look like none. Without its
// query and userinfo it holds no secret.
func meantURL(args []string) (typed, meant string) {
	word, half := args[0], ""
	var scheme string
	if m := halfScheme().FindStringSubmatch(word); m != nil {
		half, scheme, word = m[1], strings.ToLower(m[2])+"://", m[3]
	}
	bare := userinfo().ReplaceAllString(word, "")
	switch {
	case scheme != "":
	case len(args) == 2 && isNumber(args[1]) && hostAlone().MatchString(bare):
		return bare + " " + args[1], "tcp://" + bare + ":" + args[1]
	case portAlone().MatchString(bare):
		scheme = "http://localhost"
	default:
		scheme = schemeOf(bare)
	}
	if _, err := url.Parse(scheme + bare); scheme == "" || err != nil {
		return "", ""
	}
	meant = poll.TargetName(scheme + bare)
	return half + strings.TrimPrefix(meant, scheme), meant
}

// halfScheme matches http:/host and tcp:host:port, hostAlone what may stand
// before a port as a word of its own, and portAlone :8080/path.
var (
	halfScheme = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^((?i:(https?|tcp)):/?)([^/].*)$`) })
	hostAlone  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-fA-F:]+\])$`)
	})
	portAlone = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:\d+(?:[/?].*)?$`) })
)

// userinfo matches what stands before the host of an address.
var userinfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^/?#\s]*@`) })

// address matches what looks like host:port or host.name/path.
var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(localhost|[\w.-]+|\[[0-9a-fA-F:]+\]):\d+(?:[/?].*)?|([\w-]+(?:\.[\w-]+)+)/.*)$`)
})

// schemeOf is the scheme that an address without one probably has.
func schemeOf(word string) string {
	m := address().FindStringSubmatch(word)
	switch {
	case m == nil || m[2] == "." || m[2] == "..":
		return ""
	case m[2] != "":
		return "https://"
	}
	return "http://"
}

// refuseGiven refuses the flags of a group that were given on the command line.
// Those in the environment are for other waits.
func (in *invocation) refuseGiven(group, why string) error {
	for _, g := range in.split.given {
		if g.flag.group == group && !g.env && !off(&g) {
			return usagef("--%s %s", g.flag.name, why)
		}
	}
	return nil
}
