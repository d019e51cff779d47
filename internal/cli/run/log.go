package run

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
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
