package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/presets"
)

// findPreset returns the preset that a flag names: one of a file, as FILE or FILE:NAME, a built-in
// one, a waiter of AWS, or one of the user's directory. A file there that cannot be read is noted.
func (p Process) findPreset(l *argv.Line, origin, name string) (preset presets.Preset, err error) {
	if file, one, ok := presetFile(name); ok {
		return p.presetIn(origin, file, one)
	}
	mine, unread := p.ownPresets()
	named := slices.DeleteFunc(slices.Clone(mine), func(preset presets.Preset) bool { return !preset.Named(name) })
	if preset, found := presets.Lookup(name); found {
		named = append(named, preset)
	}
	switch {
	case len(named) > 1:
		return preset, argv.Usagef("%s: preset %s is %s, too", named[0].File, name, cmp.Or(named[1].File, "built in")).
			Hint("give this one another name")
	case len(named) == 0:
		return preset, cmp.Or(unread, unknownPreset(origin, name, mine))
	case unread != nil:
		l.Note("%s", unread)
	}
	return named[0], nil
}

// presetFile splits FILE:NAME and reports whether a value is that, or a FILE: these have a slash or a
// dot in them, which no name of a preset has, but for the slash of aws:SERVICE/WAITER.
func presetFile(value string) (file, name string, ok bool) {
	file = value
	if i := strings.LastIndexByte(value, ':'); i > 1 && !strings.ContainsAny(value[i:], `/\.`) {
		file, name = value[:i], value[i+1:]
	}
	return file, name, strings.ContainsAny(file, `/\.`) && !strings.HasPrefix(value, "aws:")
}

// presetIn returns the preset of a name in a file, or its only one.
func (p Process) presetIn(origin, file, name string) (preset presets.Preset, err error) {
	list, err := p.readPresets(origin, file)
	if err != nil {
		return preset, err
	}
	if name == "" && len(list) == 1 {
		return list[0], nil
	}
	var names []string
	for _, preset := range list {
		if preset.Named(name) {
			return preset, nil
		}
		names = append(names, preset.Name)
	}
	if name == "" {
		return preset, argv.Usagef("%s: %s has several presets: %s", origin, file, strings.Join(names, ", ")).
			Hint("--preset %s:%s", file, names[0])
	}
	return preset, argv.Usagef("%s: %s has no preset %q", origin, file, name).Meant(name, names).Hint("it has %s", strings.Join(names, ", "))
}

// readPresets reads the presets of a file, and checks how they say to wait.
func (p Process) readPresets(origin, file string) ([]presets.Preset, error) {
	text, err := p.readRegular(file)
	if err != nil {
		return nil, argv.Usagef("%s: %w", origin, err)
	}
	list, err := presets.Read(file, string(text))
	if err == nil && len(list) == 0 {
		return nil, argv.Usagef("%s has no preset", file).Hint("a preset begins with the line name: NAME")
	}
	for _, preset := range list {
		if err == nil {
			_, err = newSpec().withSettings(preset, ofAll, argv.Typed)
		}
	}
	if err != nil {
		return nil, argv.Usagef("%w", err)
	}
	return list, nil
}

// withPreset returns a spec that has the settings of the preset of --preset, too.
func (p Process) withPreset(s *Spec, kinds argv.Kinds, rank argv.Rank) (*Spec, error) {
	if s.Preset == "" {
		return s, nil
	}
	preset, err := p.findPreset(s.Line, s.Origin("preset"), s.Preset)
	if err != nil {
		return nil, err
	}
	return s.withSettings(preset, kinds, rank)
}

// withSettings returns a spec that has the settings of a preset, too, of flags that are not set.
func (s *Spec) withSettings(p presets.Preset, kinds argv.Kinds, rank argv.Rank) (*Spec, error) {
	given := s.Given
	for _, setting := range p.Settings {
		f := s.Flags.Named(setting.Key)
		if f == nil || given.Has(f.Name) || !f.Fits(kinds) || rank == argv.Entry && f.WholeRun {
			continue
		}
		for _, value := range setting.Values {
			if err := cmp.Or(given.Add(f, value, setting.At, rank), refuseSetting(setting, value)); err != nil {
				return nil, err
			}
		}
	}
	return s.with(given, &p)
}

// leastInterval is how often a preset, which may be another's, makes poll ask at most.
const leastInterval = 100 * time.Millisecond

// refuseSetting refuses what a preset must not say: to ask too often, to send a start at each attempt,
// and another host or variables of the environment in the URL that is followed.
func refuseSetting(setting presets.Setting, value string) error {
	if d, err := argv.ParseDuration(value); err == nil && d < leastInterval &&
		(setting.Key == "interval" || setting.Key == "max-wait" && d > 0) {
		return argv.Usagef("%s: %s is less than the %s that a preset may say", setting.At, value, leastInterval)
	}
	if setting.Key != "follow" {
		return nil
	}
	otherHost := regexp.MustCompile(`^[^?]*(//|\\)|^\s*[A-Za-z][\w+.-]*:`)
	if value == "none" || otherHost.MatchString(value) {
		return argv.Usagef("%s: a preset says what path or field to follow; none, and another host, are typed: --follow %s", setting.At, value)
	}
	if err := (poll.HTTP{URL: "http://localhost/", Follow: value}).Check(); err != nil {
		return argv.Usagef("%s: %w", setting.At, err)
	}
	return nil
}

// readRegular reads a file that says how to wait. A pipe could hold that up for ever, and a device has no end.
func (p Process) readRegular(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return p.readFile(name, maxLines)
}

// ownPresets reads the presets of the user's directory, and returns the first error about one of
// its files.
func (p Process) ownPresets() (all []presets.Preset, unread error) {
	dir := p.presetDir()
	entries, err := os.ReadDir(dir)
	if dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, argv.Usagef("read the presets: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".json") {
			continue // an answer to test a preset with
		}
		list, err := p.readPresets("read the presets", filepath.Join(dir, e.Name()))
		all, unread = append(all, list...), cmp.Or(unread, err)
	}
	return all, unread
}

// presetDir returns $XDG_CONFIG_HOME/poll/presets, or ~/.config/poll/presets without it, and on
// Windows, without a HOME, %AppData%\poll\presets; "" if none of these is set.
func (p Process) presetDir() string {
	for _, base := range []string{p.getenv("XDG_CONFIG_HOME"), filepath.Join(p.getenv("HOME"), ".config"), p.getenv("AppData")} {
		if filepath.IsAbs(base) {
			return filepath.Join(base, "poll", "presets")
		}
	}
	return ""
}
