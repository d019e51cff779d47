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

const noDir = "the working directory does not exist"

var errMaxBody = errors.New("the limit of the body is negative")

// Check implements the Check method of poll.Command. It returns an error if MaxBody is negative. It also
// returns an error if the program is missing, is not executable, or cannot receive its arguments.
func (c Command) Check() error {
	if c.MaxBody < 0 {
		return errMaxBody
	}
	path, failure := c.find()
	if failure != nil {
		return failure
	}
	_, err := prepare(path, c.Args, false)
	return err
}

// find returns the absolute path of the program. It searches PATH like execvp(3), so directories in PATH may be
// relative. A name with a path separator is relative to Dir. If the search fails for a known reason, such as a
// missing program, find returns a failure. If the reason is unknown, find returns the name itself. Starting the
// program then fails with an error that explains the problem.
func (c Command) find() (path string, failure *status.Failure) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return "", &status.Failure{Kind: status.FailureNotFound, Reason: "no command given"}
	}
	if c.Dir != "" && !isDir(c.Dir) {
		return "", c.notFound(noDir)
	}
	name := c.Args[0]
	if strings.ContainsFunc(name, isSeparator) && !filepath.IsAbs(name) {
		name, _ = filepath.Abs(filepath.Join(c.Dir, name))
	}
	found, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) && runtime.GOOS != "windows" {
		found, _ = filepath.Abs(found) // a relative path would be wrong, because the program is started in c.Dir
		return found, nil
	}
	if failure = c.notRun(name, err); failure.Kind == status.FailureTransient {
		return name, nil
	}
	return name, failure
}

// notRun returns the failure of a program that could not be found or started. err is the error of the search or
// of the start. path is the absolute path of the program, or its name if the search in PATH has failed. If the
// reason is unknown, the failure is transient.
func (c Command) notRun(path string, err error) *status.Failure {
	errno, isErrno := errors.AsType[syscall.Errno](err)
	if isErrno {
		err = errno // drops the paths in the message, because they can hold secrets
	}
	switch why := whyNever(errno); {
	case errors.Is(err, exec.ErrDot):
		failure := c.notFound(`write .\` + path + " for the program in the current directory, or the whole path of a program in PATH")
		failure.Err = exec.ErrDot
		return failure
	case filepath.IsAbs(path) && isDir(path):
		return c.notExecutable("is a directory")
	case errors.Is(err, fs.ErrPermission):
		return c.notExecutable("permission denied")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound), errors.Is(err, syscall.ENOTDIR):
		return c.notFound(c.whatIsMissing(path))
	case why != "":
		return c.notExecutable(why)
	}
	return &status.Failure{Reason: fmt.Sprintf("%s could not be started: %v", c.name(), err), Err: err}
}

// whatIsMissing explains why starting the program at path failed with "no such file or directory". The system returns
// that error if the working directory, the program or the program's interpreter is missing. whatIsMissing returns ""
// if the program itself is missing.
func (c Command) whatIsMissing(path string) string {
	if c.Dir != "" && !isDir(c.Dir) {
		return noDir
	}
	if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
		return ""
	}
	return "the file exists, but its interpreter or loader does not"
}

// notFound returns the failure of a program that cannot be run. why is the reason, or "" if the program is missing.
func (c Command) notFound(why string) *status.Failure {
	reason := c.name() + " cannot be run: " + why
	switch name := c.Args[0]; {
	case why != "":
	case strings.ContainsAny(name, " \t\r\n?=#@;&|"): // not only a path, so it may hold a secret
		reason = c.name() + " not found"
	default:
		reason = name + " not found"
	}
	return &status.Failure{Kind: status.FailureNotFound, Reason: reason, Err: fs.ErrNotExist}
}

// notExecutable returns the failure of a program that exists but cannot be executed. why is the reason.
func (c Command) notExecutable(why string) *status.Failure {
	reason := c.name() + " cannot be executed: " + why
	return &status.Failure{Kind: status.FailureNotExecutable, Reason: reason, Err: fs.ErrPermission}
}

// name returns the last element of the program's path, for messages. Unlike the arguments, the name holds no secret.
func (c Command) name() string { return filepath.Base(c.Args[0]) }

// isSeparator reports whether r separates the elements of a path. On Windows these are slash, backslash, and the
// colon after a drive letter.
func isSeparator(r rune) bool {
	return r == '/' || runtime.GOOS == "windows" && (r == '\\' || r == ':')
}

// isDir reports whether path is an existing directory.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
