package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longestName = 100 // bytes
	extension   = ".jsonl"
)

// DefaultDir returns $XDG_STATE_HOME/poll/history, or ~/.local/state/poll/history
// if the variable is not an absolute path (XDG Base Directory Specification); on
// Windows, without a HOME, %LocalAppData%\poll\history.
func DefaultDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "poll", "history"), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "poll", "history"), nil
	}
	if dir := getenv("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "poll", "history"), nil
	}
	return "", errors.New("nowhere to keep a history: neither XDG_STATE_HOME nor HOME is set")
}

// CheckName reports what is wrong with the name of a history. It is a file name: 1
// to 100 bytes, no separators or control characters, and no leading dot. On Windows
// it must also be valid there.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a history is empty")
	case len(name) > longestName:
		return fmt.Errorf("the name of a history has %d bytes, at most %d are allowed", len(name), longestName)
	case name[0] == '.':
		return fmt.Errorf("history name %q: must not begin with a dot", name)
	case strings.ContainsAny(name, `/\`):
		return fmt.Errorf("history name %q: must not contain / or \\", name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("history name %q: must be printable text", name)
	case !filepath.IsLocal(name + extension), runtime.GOOS == "windows" && strings.ContainsAny(name, `*?"<>|`):
		return fmt.Errorf("history name %q: no file can be called that on Windows", name)
	}
	return nil
}

// List returns the names of the histories, sorted; none if the directory does
// not exist.
func (h History) List() ([]string, error) {
	entries, err := os.ReadDir(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list histories: %w", err)
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extension)
		if ok && !e.IsDir() && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names) // a.jsonl and a-b.jsonl sort differently than a and a-b
	return names, nil
}

// path returns the path of a history's file.
func (h History) path(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	return filepath.Join(h.Dir, name+extension), nil
}
