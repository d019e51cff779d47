package lockedfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

const makeOwn = "one that is not there yet is made so"

// makeDirectory gives nobody what others have in the directory above, as mode 0700 does.
func makeDirectory(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	path = filepath.Clean(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	user, err := currentUser()
	if err != nil {
		return err
	}
	// What is in it inherits the rights of the user, of the system and of the administrators.
	err = mkdir(path, fmt.Sprintf("O:%[1]sD:P(A;OICI;FA;;;%[1]s)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", user))
	if err != nil && !errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return nil
}

// mkdir makes a directory with a security descriptor, in the words of SDDL.
func mkdir(path, descriptor string) error {
	sd, err := windows.SecurityDescriptorFromString(descriptor)
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	attributes := windows.SecurityAttributes{SecurityDescriptor: sd}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	return windows.CreateDirectory(name, &attributes)
}

// access reports whether a directory belongs to the user, and whether others may write to it.
func access(path string, _ fs.FileInfo) (own, shared bool, err error) {
	user, err := currentUser()
	if err != nil {
		return false, false, err
	}
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return false, false, err
	}
	return accessBy(user, sd)
}

// accessBy is access of a user to what sd describes. What others are denied besides, it does
// not look at.
func accessBy(user *windows.SID, sd *windows.SECURITY_DESCRIPTOR) (own, shared bool, err error) {
	owner, _, err := sd.Owner()
	if err != nil {
		return false, false, err
	}
	own = owner != nil && mayDoAnything(owner, user)
	list, _, err := sd.DACL()
	if list == nil && (err == nil || errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND)) {
		return own, true, nil // everybody may do everything
	}
	if err != nil {
		return false, false, err
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &entry); err != nil {
			return false, false, err
		}
		who := (*windows.SID)(unsafe.Pointer(&entry.SidStart))
		shared = shared || allowsWriting(entry) && !mayDoAnything(who, user)
	}
	return own, shared, nil
}

// mayDoAnything reports whether who is the user, or one of those that no rights keep away, or
// stands for the owner.
func mayDoAnything(who, user *windows.SID) bool {
	return who.Equals(user) || who.IsWellKnown(windows.WinLocalSystemSid) || who.IsWellKnown(windows.WinBuiltinAdministratorsSid) ||
		who.IsWellKnown(windows.WinCreatorOwnerRightsSid)
}

// allowsWriting reports whether an entry allows somebody to put files into a directory, to
// remove them, or to allow themselves that.
func allowsWriting(entry *windows.ACCESS_ALLOWED_ACE) bool {
	const (
		callback    = 9    // ACCESS_ALLOWED_CALLBACK_ACE_TYPE: under a condition
		deleteChild = 0x40 // FILE_DELETE_CHILD
		writing     = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | deleteChild | windows.DELETE |
			windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL
	)
	allows := entry.Header.AceType == windows.ACCESS_ALLOWED_ACE_TYPE || entry.Header.AceType == callback
	return allows && entry.Header.AceFlags&windows.INHERIT_ONLY_ACE == 0 && entry.Mask&writing != 0
}

func currentUser() (*windows.SID, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	return user.User.Sid, nil
}
