package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/pollcli/poll/status"
)

const noDir = "the directory to run it in does not exist"

// Check implements poll.Command's Check.
func (c Command) Check() error {
	if c.MaxBody < 0 {
		return errors.New("the limit of the body is negative")
	}
	path, failure := c.find()
	if failure != nil {
		return failure
	}
	_, err := prepare(path, c.Args, false)
	return err
}

// find finds the program, in PATH as execvp(3) does: directories in it may be relative.
func (c Command) find() (path string, failure *status.Failure) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return "", &status.Failure{Kind: status.FailureNotFound, Reason: "no command given"}
	}
	if c.Dir != "" && !isDir(c.Dir) {
		return "", c.notFound(noDir)
	}
	name := c.Args[0]
	isPath := strings.ContainsFunc(name, isSeparator)
	if isPath && !filepath.IsAbs(name) {
		name, _ = filepath.Abs(filepath.Join(c.Dir, name))
	}
	found, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) && runtime.GOOS != "windows" {
		found, _ = filepath.Abs(found) // since the program is started from c.Dir
		return found, nil
	}
	return name, c.notLookedUp(name, isPath, err) // starting it will show any other problem
}

// notLookedUp turns an error of exec.LookPath into a failure, nil if it says too little.
func (c Command) notLookedUp(name string, isPath bool, err error) (failure *status.Failure) {
	switch {
	case errors.Is(err, exec.ErrDot):
		failure = c.notFound(`the one in the current directory is .\` + name + ", and one in PATH then needs its whole path")
		failure.Err = exec.ErrDot
	case isPath && isDir(name):
		failure = c.notExecutable("is a directory")
	case errors.Is(err, fs.ErrPermission), !isPath && isFileInPath(name):
		failure = c.notExecutable("permission denied")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound), errors.Is(err, syscall.ENOTDIR):
		failure = c.notFound("")
	}
	return failure
}

// isFileInPath reports whether there is a file of that name in PATH, which then cannot be
// executed.
func isFileInPath(name string) bool {
	return slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// notStarted turns the error of a failed start into a failure.
func (c Command) notStarted(path string, err error) (failure *status.Failure) {
	errno, isErrno := errors.AsType[syscall.Errno](err)
	if isErrno {
		err = errno // what the system said, without the paths around it
	}
	switch why := whyNever(errno); {
	case errors.Is(err, fs.ErrNotExist):
		failure = c.notFound(c.whatIsMissing(path))
	case errors.Is(err, fs.ErrPermission) && c.Dir != "":
		failure = c.notExecutable("permission denied, for it or for the directory to run it in")
	case errors.Is(err, fs.ErrPermission):
		failure = c.notExecutable("permission denied")
	case why != "":
		failure = c.notExecutable(why)
	default: // it may pass
		failure = &status.Failure{Reason: fmt.Sprintf("%s could not be started: %v", c.name(), err)}
	}
	failure.Err = err
	return failure
}

// whatIsMissing says what a start that ended with "no such file" did not find, "" if it
// was the program itself. The kernel does not tell them apart.
func (c Command) whatIsMissing(path string) string {
	if c.Dir != "" && !isDir(c.Dir) {
		return noDir
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return "it is there, but the interpreter or loader that it names is not"
}

func (c Command) notFound(why string) *status.Failure {
	reason := c.name() + " cannot be run: " + why
	switch name := c.Args[0]; {
	case why != "":
	case strings.ContainsAny(name, " \t\r\n?=#@;&|"): // more than a path, and may hold a secret
		reason = c.name() + " not found"
	default:
		reason = name + " not found"
	}
	return &status.Failure{Kind: status.FailureNotFound, Reason: reason, Err: fs.ErrNotExist}
}

func (c Command) notExecutable(why string) *status.Failure {
	reason := c.name() + " cannot be executed: " + why
	return &status.Failure{Kind: status.FailureNotExecutable, Reason: reason, Err: fs.ErrPermission}
}

// name is the program's name without anything secret.
func (c Command) name() string { return filepath.Base(c.Args[0]) }

func isSeparator(r rune) bool {
	return r == '/' || runtime.GOOS == "windows" && (r == '\\' || r == ':')
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
