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

// Check implements poll.Command's Check.
func (c Command) Check() error {
	if c.MaxBody < 0 {
		return errors.New("the limit of the body is negative")
	}
	path, failure := c.look()
	if failure != nil {
		return failure
	}
	_, err := prepare(path, c.Args, false)
	return err
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
		path, failure = c.lookAt(c.Args[0])
	} else {
		path, failure = c.lookInPath()
	}
	if failure == nil && !mayRun(path) {
		return "", c.notExecutable(whyNotProgram)
	}
	return path, failure
}

// lookAt finds the file that name, a path, stands for, and says whether it can be run.
func (c Command) lookAt(name string) (path string, failure *status.Failure) {
	full := c.inDir(name)
	found, err := exec.LookPath(full)
	switch {
	case err == nil && runtime.GOOS == "windows": // with its extension, which says how it is run
		if abs, err := filepath.Abs(found); err == nil {
			name = abs
		}
	case isDir(full):
		failure = c.notExecutable("is a directory")
	case errors.Is(err, fs.ErrPermission):
		failure = c.notExecutable("permission denied")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound), errors.Is(err, syscall.ENOTDIR):
		failure = c.notFound("")
	}
	return name, failure // starting it will show any other problem
}

// lookInPath looks for the program in the caller's PATH, as execvp(3) does: directories
// in it may be relative, and a file of that name that cannot be executed is reported if
// there is no better one.
func (c Command) lookInPath() (string, *status.Failure) {
	name := c.Args[0]
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) && runtime.GOOS != "windows" {
		err = nil
	}
	if err == nil {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs // since the child looks from c.Dir
		}
		return path, nil
	}
	if errors.Is(err, exec.ErrDot) {
		failure := c.notFound(`the one in the current directory is .\` + name + ", and one in PATH then needs its whole path")
		failure.Err = exec.ErrDot
		return "", failure
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return "", c.notExecutable("permission denied")
		}
	}
	return "", c.notFound("")
}

// notStarted turns the error of a failed start into a failure.
func (c Command) notStarted(path string, err error) (failure *status.Failure) {
	errno, isErrno := errors.AsType[syscall.Errno](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		failure = c.notFound(c.whatIsMissing(path))
	case errors.Is(err, notPermitted):
		failure = c.notExecutable("permission denied")
		if _, missing := c.lookAt(path); c.Dir != "" && missing == nil {
			failure = c.notExecutable("permission denied, for it or for the directory to run it in")
		}
	case errors.Is(err, notProgram):
		failure = c.notExecutable(whyNotProgram)
	case forbidden(errno):
		failure = c.notExecutable(errno.Error())
	default: // it may pass
		failure = &status.Failure{}
	}
	failure.Err = err
	if isErrno {
		failure.Err = errno // what the system said, without the paths around it
	}
	if failure.Reason == "" {
		failure.Reason = fmt.Sprintf("%s could not be started: %v", c.name(), failure.Err)
	}
	return failure
}

// whatIsMissing says what a start that ended with "no such file" did not find, "" if it
// was the program itself. The kernel does not tell them apart.
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

func isSeparator(r rune) bool {
	return r == '/' || runtime.GOOS == "windows" && (r == '\\' || r == ':')
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
