package cli

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// isLogged reports whether a job log is kept.
func (s *Spec) isLogged() bool { return s.Joblog != "" || s.Slice > 0 }

// openLog opens the job log, nil if there is none. The targets continue with their states in the log.
func openLog(s *Spec, all []*target) (*resume.Log, error) {
	if !s.isLogged() {
		return nil, nil
	}
	o := resume.Options{Origin: s.Origin("joblog"), File: s.Joblog, Resume: s.Resume, Slice: s.Slice,
		List: s.Operands, Method: cmp.Or(strings.ToUpper(s.HTTP.Method), http.MethodPost)}
	if s.Slice > 0 {
		o.Origin = s.Origin("slice")
		if err := s.readSlice(&o); err != nil {
			return nil, argv.Usagef("%s: %w", o.Origin, err)
		}
	}
	var targets []resume.Target
	for _, t := range all {
		targets = append(targets, resume.Target{Poller: &t.poller, Name: t.name, Settings: t.identity, IsStream: t.isStream})
	}
	return resume.Open(o, targets)
}

// readSlice reads the directory of poll's own job logs, which it creates, and the parts of the name of one.
func (s *Spec) readSlice(o *resume.Options) (err error) {
	if o.Dir, err = system.StateDir(s.Getenv, "slices"); err == nil {
		err = os.MkdirAll(o.Dir, 0o700)
	}
	o.Line = []string{s.Name, o.Method, s.Targets}
	for _, p := range s.Data {
		o.Line = append(o.Line, p.text)
	}
	for _, word := range s.Operands {
		o.Line = append(o.Line, resume.Page(word))
	}
	dir, _ := os.Getwd()
	dir, _ = filepath.EvalSymlinks(dir)
	run := ""
	for _, name := range []string{"GITHUB_RUN_ID", "CI_PIPELINE_ID", "BUILDKITE_BUILD_ID", "CIRCLE_WORKFLOW_ID", "BUILD_TAG", "BUILD_BUILDID"} {
		run = cmp.Or(run, s.Getenv(name))
	}
	o.Place = []string{dir, run, s.Getenv("GITHUB_RUN_ATTEMPT")}
	return err
}

// keepsEnviron reports whether the URL that is followed has variables of the environment in it.
func keepsEnviron(probe poll.Probe) bool {
	request, ok := probe.(*poll.HTTP)
	if !ok {
		return false
	}
	first, _ := request.Resume(nil)
	return first.(interface{ KeepsEnviron() bool }).KeepsEnviron()
}

// identity returns, by their names, the flags that have to do with which target it is: the
// conditions, with the variables that they name, what they are about, and which server is
// asked for what, but no limit, and nothing that is renewed.
func (s *Spec) identity(kind status.Kind) map[string][]string {
	parts := make(map[string][]string)
	for _, set := range s.Settings {
		f := set.Flag
		isPart := f.Group == groupConditions && !slices.Contains([]string{"success-threshold", "error-threshold", "detail"}, f.Name) ||
			f.Name == "follow" || f.Name == "each" || f.Name == "id" || f.Name == "name" && s.isSeveral() ||
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
	if parts["preset"] != nil && s.preset.File != "" { // which may say another thing by now
		parts["preset"] = []string{s.preset.ID()}
	}
	return parts
}

// environName finds the names of variables in expressions: $ENV.NAME and $ENV["NAME"], of jq
// env.NAME, too.
var environName = words.Pattern(`(?:\$ENV|\benv)\s*(?:\.\s*(\w+)|\.?\s*\[?\s*["']([^"']+))`)
