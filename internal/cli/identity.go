package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// identities returns the IDs of targets in a job log, and that of their elements if they are
// lists. Two targets that are the same would take each other's place in a later run; URLs in
// which there are variables of the environment must not be kept.
func identities(origin string, all []*target) (ids []string, elements string, err error) {
	given := make(map[string]*target)
	for _, t := range all {
		s, probe := t.spec, t.poller.Probe
		if s.Follow != "" && keepsEnviron(probe) {
			return nil, "", argv.Usagef("%s keeps the URL that %s builds, and $ENV would put a secret into it", origin, s.Origin("follow")).
				Hint("headers are not kept: -H 'Authorization: Bearer ...'")
		}
		what, body := aimOf(probe)
		id := identity("target", t.identity, t.name, what, body)
		if same := given[id]; same != nil {
			return nil, "", argv.Usagef("%s cannot tell %s and %s apart: they differ only in limits or credentials", origin, same.poller.Target, t.poller.Target).
				Hint(`give each a name in a targets file: {"name": "blue", "url": "https://..."}`)
		}
		given[id] = t
		if ids = append(ids, id); t.poller.Elements != nil { // which are the same in all batches
			what = append(what[:2:2], withoutUser(s.Operands[0]))
			elements = identity("elements", t.identity, "", append(what, s.Operands[1:]...), body)
		}
	}
	return ids, elements, nil
}

// keepsEnviron reports whether the URL that is followed has variables of the environment in it.
func keepsEnviron(probe poll.Probe) bool {
	session, ok := sessionOf(probe).(interface{ KeepsEnviron() bool })
	return ok && session.KeepsEnviron()
}

func identity(kind, settings, name string, what []string, body []byte) string {
	return store.ID(fmt.Appendf(nil, "%q", []any{kind, settings, name, what, body, body != nil}))
}

// aimOf returns what a probe looks at, and what it sends there.
func aimOf(probe poll.Probe) (what []string, body []byte) {
	switch probe := probe.(type) {
	case *poll.HTTP:
		return []string{"http", probe.Method, withoutUser(probe.URL)}, probe.Body
	case *poll.Command:
		dir, _ := os.Getwd()
		return append([]string{"command", dir}, probe.Args...), probe.Stdin
	case poll.TCP:
		return []string{"tcp", probe.Address}, nil
	}
	return nil, nil
}

// identity returns, by their names, the flags that have to do with which target it is: the
// conditions, with the variables that they name, what they are about, and which server is
// asked for what, but no limit, and nothing that is renewed.
func (s *Spec) identity(kind status.Kind) map[string][]string {
	parts := make(map[string][]string)
	for _, f := range s.Command.Flags {
		isPart := f.Group == groupConditions && f.Name != "success-threshold" && f.Name != "error-threshold" ||
			f.Name == "follow" || f.Name == "each" || f.Name == "id" ||
			kind == status.KindHTTP && slices.Contains([]string{"resolve", "connect-to", "unix-socket", "user-agent", "header", "proxy"}, f.Name)
		if isPart && s.Has(f.Name) {
			parts[f.Name] = slices.Clone(s.Strings(f.Name))
		}
	}
	for _, names := range environName().FindAllStringSubmatch(fmt.Sprint(parts), -1) {
		name := "$ENV." + names[1] + names[2]
		parts[name] = []string{s.Getenv(names[1] + names[2])}
	}
	if parts["proxy"] != nil {
		parts["proxy"] = []string{withoutUser(s.Proxy)}
	}
	if socket := parts["unix-socket"]; socket != nil {
		socket[0], _ = filepath.Abs(socket[0])
	}
	parts["header"] = identityHeader(parts["header"])
	return parts
}

// environName finds the names of variables in expressions: $ENV.NAME and $ENV["NAME"], of jq
// env.NAME, too.
var environName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\$ENV|\benv)\s*(?:\.\s*(\w+)|\.?\s*\[?\s*["']([^"']+))`)
})

// identityHeader returns lines of a header without credentials, and "@" for those that stand in
// a file, which is read again.
func identityHeader(lines []string) (kept []string) {
	for _, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		switch name = http.CanonicalHeaderKey(strings.TrimSpace(name)); {
		case strings.HasPrefix(line, "@"):
			kept = append(kept, "@")
		case name != "Authorization" && name != "Cookie" && name != "Proxy-Authorization":
			kept = append(kept, line)
		}
	}
	return kept
}

// withoutUser returns a URL without its user and password.
func withoutUser(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return text
	}
	u.User = nil
	return u.String()
}
