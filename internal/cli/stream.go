package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
)

// hasSuccess reports whether a condition says what is SUCCESS.
func (s *Spec) hasSuccess() bool { return len(s.Until) > 0 || s.Preset != "" || s.Gone }

// listens reports whether each message is judged: a variable that says so is for waits with a condition.
func (s *Spec) listens() bool {
	return s.Stream && (s.hasSuccess() || s.Rank("stream") > argv.Variable)
}

// checkStream refuses a stream of which any message would be SUCCESS, or that of one object of several.
func checkStream(t *target) error {
	if s := t.spec; s.listens() && !s.hasSuccess() {
		return argv.Usagef("%s needs a condition, or its first message would be SUCCESS", s.Origin("stream")).
			Hint(`--stream --until '$stdout contains "ready"' for a line of a command, --until '.state == "done"' for an event`)
	}
	if p := t.spec.preset; t.spec.listens() && p != nil && p.Match == "" && p.Stanzas() != nil {
		return argv.Usagef("preset %s needs all objects to be done, and a message holds one of them", p.Name).
			Hint("of one object: --stream --preset %s/Pod; of all of them: without --stream", p.Name)
	}
	return nil
}

// streamNote says of a command what --stream would mean for it, or means; "" if that is no news.
func streamNote(s *Spec) string {
	if !s.IsCommand || s.isSeveral() {
		return ""
	}
	name := programName(filepath.Base(s.Operands[0]))
	switch follows := follows(name, s.Operands[1:]); {
	case !s.listens() && follows:
		return "note: " + name + " does not end by itself, and poll judges its output at its end: --stream judges each line as it comes"
	case s.listens() && !follows && !isViewer(name):
		return "note: the line that decides ends " + name + "; to keep a server running: ./server >log 2>&1 & poll --stream --pid $! ... -- tail -n 0 -F log"
	}
	return ""
}

// isViewer reports whether a program only shows what goes on elsewhere.
func isViewer(name string) bool {
	return slices.Contains([]string{"tail", "journalctl", "kubectl", "oc", "docker", "podman"}, name)
}

// follows reports whether a program is told to show what comes, until it is ended.
func follows(name string, args []string) bool {
	isLog := name == "tail" || name == "journalctl" || slices.Contains(args, "logs")
	return isViewer(name) && slices.ContainsFunc(args, func(arg string) bool {
		flag, _, _ := strings.Cut(arg, "=")
		isShort := len(arg) > 1 && arg[0] == '-' && arg[1] != '-'
		return flag == "-w" || flag == "--watch" || isLog && (flag == "--follow" || flag == "--retry" || isShort && strings.ContainsAny(arg[1:], "fF"))
	})
}
