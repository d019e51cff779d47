package run

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
)

// openLog opens the job log and resumes the targets from the states in the log. It returns nil if the run has
// no job log.
func openLog(s *read.Run, all []*read.Target) (*resume.Log, error) {
	if !s.IsLogged() {
		return nil, nil
	}
	o := resume.Options{Origin: s.Origin("joblog"), File: s.Joblog, Resume: s.Resume, Slice: s.Slice,
		List: s.Operands, Method: cmp.Or(strings.ToUpper(s.HTTP.Method), http.MethodPost)}
	if s.Slice > 0 {
		o.Origin = s.Origin("slice")
		if err := readSlice(s, &o); err != nil {
			return nil, argv.Usagef("%s: %w", o.Origin, err)
		}
	}
	var targets []resume.Target
	for _, t := range all {
		targets = append(targets, resume.Target{Poller: &t.Poller, Name: t.Name, Settings: t.Identity, IsStream: t.IsStream})
	}
	return resume.Open(o, targets)
}

// readSlice creates the directory of poll's own job logs, and fills o with the parts of the job log's name:
// the command line, the working directory and the CI run.
func readSlice(s *read.Run, o *resume.Options) (err error) {
	if o.Dir, err = system.StateDir(s.Getenv, "slices"); err == nil {
		err = os.MkdirAll(o.Dir, 0o700)
	}
	o.Line = []string{s.Name, o.Method, s.Targets}
	for _, p := range s.Data {
		o.Line = append(o.Line, p.Text)
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

// shareSecret is the environment variable with the secret of the sharing processes. The secret has no flag,
// since other users can read the arguments of a process.
const shareSecret = "POLL_SHARE_SECRET"

// openShare returns the limiter that --share names, or nil without --share. If a target is a command,
// --share-key must name the limit. Without --share-key, openShare ignores a --share of the environment, and
// rejects any other --share.
func openShare(s *read.Run, all []*read.Target, note func(string)) (*fleet.Fleet, error) {
	isCommand := func(t *read.Target) bool { return t.Kind == status.KindCommand }
	switch isUnknown := s.Fleet.Name == "" && slices.ContainsFunc(all, isCommand); {
	case s.Share == "" || isUnknown && s.Rank("share") == argv.Variable:
		return nil, nil
	case isUnknown:
		return nil, argv.Usagef("%s: poll cannot know which limit a command uses", s.Origin("share")).
			Hint("with --share-key NAME, all with the same NAME keep to one limit, such as --share-key aws-cfn")
	}
	o := s.Fleet
	o.Key, o.Secret, o.Note = credentialsOf(all).at, []byte(s.Getenv(shareSecret)), note
	shared, err := fleet.Open(s.Share, o)
	if err != nil {
		return nil, argv.Usagef("%s: %w", s.Origin("share"), cmp.Or(errors.Unwrap(err), err)).
			Hint("rediss://HOST or redis://HOST, or a directory of your own for the processes of one machine")
	}
	return shared, nil
}

// credentials maps each origin to the secrets that targets send. The key "" holds secrets that may be sent to
// any origin.
type credentials map[string][]string

// credentialsOf returns the credentials of all HTTP targets.
func credentialsOf(all []*read.Target) credentials {
	sent := credentials{}
	for _, t := range all {
		request, ok := t.Poller.Probe.(*poll.HTTP)
		if !ok {
			continue
		}
		first, err := request.Resume(nil)
		if err != nil {
			continue
		}
		secret, place := first.(interface{ Credentials() string }).Credentials(), first.Plan().Origin
		if t.Socket != "" {
			machine, _ := os.Hostname() // each container has its own name
			secret += fmt.Sprintf(" at %q of %q", t.Socket, machine)
		}
		if request.LocationTrusted {
			place = "" // the secrets follow redirects to any origin
		}
		if secret != "" {
			sent[place] = append(sent[place], secret)
		}
	}
	return sent
}

// at returns all secrets that may be sent to an origin as one string. Callers hash the string before storing
// or sending it.
func (c credentials) at(place string) string {
	secrets := slices.Sorted(slices.Values(slices.Concat(c[""], c[place])))
	return fmt.Sprintf("%q", slices.Compact(secrets))
}
