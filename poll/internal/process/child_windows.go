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

// prepare returns the command that runs the program at path. args are the arguments, starting with the program's
// name. If group is true, the program becomes the leader of a new process group. The command starts in a suspended
// state, so it must be started by launch, which resumes it. prepare returns an error if args cannot be passed to the
// program.
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

// whyNever returns the reason why a program can never be started after CreateProcess has failed with err: the program
// was built for another machine, holds a virus, needs an administrator, or is forbidden by a policy. It returns "" if
// a later attempt may succeed.
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

// A job is the handle of a job object, which holds a program and all processes that the program has started. Only
// poll has the handle, so the system ends these processes when poll is killed. A job is 0 if the system has not
// created a job object, for example because poll itself is in a job that restricts the user interface. Then only the
// program itself can be ended.
type job windows.Handle

// launch starts cmd in a new job. It resumes the program only after the program is in the job, so that every process
// that the program starts is also in the job.
func launch(cmd *exec.Cmd) (j job, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	handled := cmd.Process.WithHandle(func(process uintptr) {
		j = newJob(windows.Handle(process))
		// ResumeThread needs the handle of the program's thread, which os/exec has closed. NtResumeProcess resumes a
		// whole process. Debuggers use it, and all versions of Windows have it.
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

// newJob returns a job that holds process, or 0 if the system does not allow it. Processes cannot leave the job. If
// they could, every program of Git Bash would start its processes outside of the job.
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

// limit replaces the limits of j by flags, a combination of the JOB_OBJECT_LIMIT constants.
func (j job) limit(flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(windows.Handle(j), windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// ending returns the exit code of a program that has ended. signal is always "", because Windows has no signals.
func ending(state *os.ProcessState) (exit int, signal string) { return state.ExitCode(), "" }

// terminate sends Ctrl-Break to the program and its process group, and reports whether the event was sent. (Ctrl-C
// would not reach a new process group.) The event cannot be sent if poll has no console, as in a service, or if the
// program has another console. After the program has ended, no event is sent, because the system may have reused the
// ID of the group. A program without a group of its own receives Ctrl-C from the console, so terminate sends no event
// and returns true.
func (c *child) terminate() (asked bool) {
	if !c.group {
		return true
	}
	c.cmd.Process.WithHandle(func(uintptr) {
		asked = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.cmd.Process.Pid)) == nil
	})
	return asked
}

// kill ends the program and all processes in its job. It always returns nil.
func (c *child) kill() error {
	c.cmd.Process.Kill()
	if c.job != 0 {
		windows.TerminateJobObject(windows.Handle(c.job), 1)
	}
	return nil
}

// reap does nothing. Windows does not keep processes that have ended.
func reap(int) {}

// empty reports whether no process is active in the job of c, for a program that has ended. It returns true if c has
// no job, or if the system does not return the number of processes.
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

// release closes the handle of the job. Processes that are still in the job continue to run.
func (c *child) release() {
	if c.job != 0 && c.job.limit(0) == nil {
		windows.CloseHandle(windows.Handle(c.job))
	}
}
