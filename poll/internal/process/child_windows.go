package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/pollcli/poll/internal/words"
)

// prepare returns the command that starts the program at path. The error says why it cannot be given
// its arguments.
func prepare(path string, args []string, group bool) (*exec.Cmd, error) {
	program, line, err := words.CommandLine(path, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(args[0]), err)
	}
	attr := &syscall.SysProcAttr{CmdLine: line, CreationFlags: windows.CREATE_SUSPENDED}
	if group {
		attr.CreationFlags |= windows.CREATE_NEW_PROCESS_GROUP
	}
	return &exec.Cmd{Path: program, Args: args, SysProcAttr: attr}, nil
}

const whyNotProgram = "not a program: a script comes after its interpreter, such as powershell -File"

// whyNever says what is wrong with a program for which CreateProcess fails with an error that
// will not pass, "" for an error that may: the program is for another machine, holds a virus,
// needs an administrator, or a policy is against it.
func whyNever(err syscall.Errno) string {
	switch err {
	case windows.ERROR_BAD_EXE_FORMAT:
		return whyNotProgram
	case windows.ERROR_EXE_MACHINE_TYPE_MISMATCH, windows.ERROR_VIRUS_INFECTED, windows.ERROR_ELEVATION_REQUIRED,
		windows.ERROR_ACCESS_DISABLED_BY_POLICY:
		return err.Error()
	}
	return ""
}

// A job is a job object: a program and all that it has started, even if poll, which alone
// has the handle, is killed. It is 0 where the system refuses one, as it does if poll itself
// is in a job with limits on the user interface; then the program is alone.
type job windows.Handle

// launch starts a program in a job. The program does not run before it is there, so nothing
// that it starts can be outside.
func launch(cmd *exec.Cmd) (j job, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	handled := cmd.Process.WithHandle(func(process uintptr) {
		j = newJob(windows.Handle(process))
		// Of a thread there is no handle. All systems have this call, which debuggers use.
		if status, _, _ := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess").Call(process); status != 0 {
			err = windows.NTStatus(status)
		}
	})
	if err = errors.Join(handled, err); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		windows.CloseHandle(windows.Handle(j))
		return 0, err
	}
	return j, nil
}

// newJob returns a job with a process in it, which nothing can leave: where leaving is
// allowed, each program of Git Bash lets all that it starts leave.
func newJob(process windows.Handle) job {
	object, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	j := job(object)
	if err = j.limit(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err == nil {
		err = windows.AssignProcessToJobObject(object, process)
	}
	if err != nil {
		windows.CloseHandle(object)
		return 0
	}
	return j
}

func (j job) limit(flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(windows.Handle(j), windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// ending returns how a program has ended.
func ending(state *os.ProcessState) (exit int, signal string) { return state.ExitCode(), "" }

// terminate asks the program and its group to end, as Ctrl-Break does: of Ctrl-C a group of
// its own hears nothing. It reports whether it could: without a console, as in a service,
// or with another one than the program nobody can be asked, nor when the program has ended,
// since the number of its group may be another's by then. A program that is not in a group
// of its own hears of Ctrl-C by itself, and nobody else may be asked.
func (c *child) terminate() (asked bool) {
	if !c.group {
		return true
	}
	c.cmd.Process.WithHandle(func(uintptr) {
		asked = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.cmd.Process.Pid)) == nil
	})
	return asked
}

func (c *child) kill() error {
	c.cmd.Process.Kill()
	if c.job != 0 {
		windows.TerminateJobObject(windows.Handle(c.job), 1)
	}
	return nil
}

func reap(int) {}

// empty reports whether the job of a program that has ended has no member left.
func (c *child) empty() bool {
	if c.job == 0 {
		return true
	}
	var info struct { // JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
		times                             [4]int64
		pageFaults, total, active, killed uint32
	}
	err := windows.QueryInformationJobObject(windows.Handle(c.job), windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err != nil || info.active == 0
}

// release gives back what the system has of a child. Processes that are left live on.
func (c *child) release() {
	if c.job != 0 && c.job.limit(0) == nil {
		windows.CloseHandle(windows.Handle(c.job))
	}
}
