package read

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// keepsEnviron reports whether the URL of --follow contains environment variables.
func keepsEnviron(probe poll.Probe) bool {
	request, ok := probe.(*poll.HTTP)
	if !ok {
		return false
	}
	first, _ := request.Resume(nil)
	return first.(interface{ KeepsEnviron() bool }).KeepsEnviron()
}

// identity returns the settings that distinguish the target from targets of other command lines, by flag name.
// They are the conditions with their environment variables, --follow, --each and --id, and how the server is
// reached. Limits and renewed values, such as tokens, are left out: changing them must not make a new target.
func (s *Run) identity(kind status.Kind) map[string][]string {
	parts := make(map[string][]string)
	for _, set := range s.Settings {
		f := set.Flag
		isPart := f.Group == groupConditions && !slices.Contains([]string{"success-threshold", "error-threshold", "detail"}, f.Name) ||
			f.Name == "follow" || f.Name == "each" || f.Name == "id" || f.Name == "name" && s.IsSeveral() ||
			kind == status.KindHTTP && slices.Contains([]string{"resolve", "connect-to", "unix-socket", "user-agent", "header", "proxy"}, f.Name)
		if isPart {
			parts[f.Name] = append(parts[f.Name], set.Text)
		}
	}
	for _, names := range environName().FindAllStringSubmatch(fmt.Sprint(parts), -1) {
		name := "$ENV." + names[1] + names[2]
		parts[name] = []string{s.Getenv(names[1] + names[2])}
	}
	if parts["proxy"] != nil {
		parts["proxy"] = []string{resume.Page(s.Connect.Proxy)}
	}
	if socket := parts["unix-socket"]; socket != nil {
		socket[0], _ = filepath.Abs(socket[0])
	}
	parts["header"] = slices.DeleteFunc(parts["header"], func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains([]string{"Authorization", "Cookie", "Proxy-Authorization"}, http.CanonicalHeaderKey(strings.TrimSpace(name)))
	})
	for i, line := range parts["header"] {
		if strings.HasPrefix(line, "@") { // the file is read again
			parts["header"][i] = "@"
		}
	}
	if parts["preset"] != nil && s.preset.File != "" { // the file may have changed
		parts["preset"] = []string{s.preset.ID()}
	}
	return parts
}

// environName matches variables of the environment in expressions: $ENV.NAME and $ENV["NAME"], and env.NAME in
// jq.
var environName = words.Pattern(`(?:\$ENV|\benv)\s*(?:\.\s*(\w+)|\.?\s*\[?\s*["']([^"']+))`)
