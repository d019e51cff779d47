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
	if _, failure := c.look(); failure != nil {
		return failure
	}
	return nil
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
	return nil // starting it will show any other problem
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
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return "", c.notExecutable("permission denied")
		}
	}
	return "", c.notFound("")
}

// notStarted turns the error of a failed start into a failure.
func (c Command) notStarted(path string, err error) (failure *status.Failure) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		failure = c.notFound(c.whatIsMissing(path))
	case errors.Is(err, notPermitted):
		failure = c.notExecutable("permission denied")
		if c.Dir != "" && c.lookAt(path) == nil {
			failure = c.notExecutable("permission denied, for it or for the directory to run it in")
		}
	case errors.Is(err, notProgram):
		failure = c.notExecutable("not a program for this machine, nor a script that begins with #!")
	default: // it may pass
		failure = &status.Failure{}
	}
	failure.Err = err
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
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
