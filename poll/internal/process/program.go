package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/pollcli/poll/status"
)

// Missing says why the program cannot be run, without running it; nil if it seems
// that it can.
func (c Command) Missing() *status.Failure {
	_, failure := c.look()
	return failure
}

// look finds the program. The path is relative to c.Dir if it is not absolute.
func (c Command) look() (path string, failure *status.Failure) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return "", &status.Failure{Kind: status.FailureNotFound, Reason: "no command given"}
	}
	if c.Dir != "" && !isDir(c.Dir) {
		return "", c.notFound("the directory to run it in does not exist")
	}
	if strings.ContainsFunc(c.Args[0], isSeparator) {
		return c.Args[0], c.lookAt(c.Args[0])
	}
	return c.lookInPath()
}

// lookAt says whether the file that path names can be run.
func (c Command) lookAt(path string) *status.Failure {
	full := c.inDir(path)
	if isDir(full) {
		return c.notExecutable("is a directory")
	}
	switch _, err := exec.LookPath(full); {
	case errors.Is(err, fs.ErrPermission):
		return c.notExecutable("permission denied")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound), errors.Is(err, syscall.ENOTDIR):
		return c.notFound("")
	}
	return nil // what else there may be, the start will tell
}

// lookInPath looks for the program in the caller's PATH, as execvp(3) does: a
// directory that the caller has put there may be relative, and a file of that
// name which cannot be executed is remembered if there is no better one.
func (c Command) lookInPath() (string, *status.Failure) {
	name := c.Args[0]
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) && runtime.GOOS != "windows" {
		err = nil
	}
	if err == nil {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs // for the child looks from c.Dir
		}
		return path, nil
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return "", c.notExecutable("permission denied")
		}
	}
	return "", c.notFound("")
}

// whyNotStarted turns the error of a failed start into a failure. Only the first
// attempt can find that the program cannot be run at all.
func (c Command) whyNotStarted(path string, a Attempt, err error) *status.Failure {
	var failure *status.Failure
	switch {
	case errors.Is(err, fs.ErrNotExist):
		failure = c.notFound(c.whatIsMissing(path))
	case isNotPermitted(err):
		failure = c.notExecutable("permission denied")
		if c.Dir != "" && c.lookAt(path) == nil {
			failure = c.notExecutable("permission denied, for it or for the directory to run it in")
		}
	case isNotProgram(err):
		failure = c.notExecutable("not a program for this machine, nor a script that begins with #!")
	default:
		return c.transient(systemError(err))
	}
	failure.Err = systemError(err)
	if a.Number > 1 {
		failure.Kind = status.FailureTransient
	}
	return failure
}

// transient is a failure to start that may pass.
func (c Command) transient(err error) *status.Failure {
	return &status.Failure{
		Kind:   status.FailureTransient,
		Reason: fmt.Sprintf("%s could not be started: %v", c.name(), err),
		Err:    err,
	}
}

// whatIsMissing says what a start that ended with "no such file" did not find;
// "" is the program itself. The kernel says the same for all of them.
func (c Command) whatIsMissing(path string) string {
	if c.Dir != "" && !isDir(c.Dir) {
		return "the directory to run it in does not exist"
	}
	file, err := os.Open(c.inDir(path))
	if err != nil {
		return ""
	}
	defer file.Close()
	head := make([]byte, 256) // as much as Linux reads
	n, _ := file.Read(head)
	line, isScript := strings.CutPrefix(string(head[:n]), "#!")
	if !isScript {
		return "it is there, but the loader it names is not"
	}
	line, _, _ = strings.Cut(line, "\n")
	interpreter, _, _ := strings.Cut(strings.Trim(line, " \t"), " ")
	return fmt.Sprintf("it is there, but its interpreter %q is not", interpreter)
}

func (c Command) notFound(why string) *status.Failure {
	reason := c.named() + " not found"
	if why != "" {
		reason = c.name() + " cannot be run: " + why
	}
	return &status.Failure{Kind: status.FailureNotFound, Reason: reason, Err: fs.ErrNotExist}
}

func (c Command) notExecutable(why string) *status.Failure {
	return &status.Failure{Kind: status.FailureNotExecutable, Reason: c.name() + " cannot be executed: " + why, Err: fs.ErrPermission}
}

// name is the program as it may be shown.
func (c Command) name() string {
	if len(c.Args) == 0 {
		return "the command"
	}
	return filepath.Base(c.Args[0])
}

// named is the program as it was asked for, path and all, where that is nothing
// but a path: anything else may hold a secret.
func (c Command) named() string {
	if len(c.Args) == 0 || strings.ContainsAny(c.Args[0], " \t\r\n?=#@;&|") {
		return c.name()
	}
	return c.Args[0]
}

// inDir returns path as seen from the calling process.
func (c Command) inDir(path string) string {
	if c.Dir == "" || filepath.IsAbs(path) {
		return path
	}
	full := filepath.Join(c.Dir, path)
	if filepath.Base(full) == full {
		return "." + string(filepath.Separator) + full // or it would be looked for in PATH
	}
	return full
}

// systemError returns what the system said, without the paths around it.
func systemError(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

func isSeparator(r rune) bool {
	return r == '/' || runtime.GOOS == "windows" && (r == '\\' || r == ':')
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
