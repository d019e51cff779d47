package read

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
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

// FindPreset returns the preset with the given name. name is FILE, FILE:NAME, a built-in preset, a waiter of
// AWS, or a preset of the user's directory. An unreadable file of that directory is noted on l. A group gets
// the stanzas of the user's directory in front of its own stanzas; see [Grouped].
func (p Env) FindPreset(l *argv.Line, origin, name string) (preset presets.Preset, err error) {
	if file, one, ok := PresetFile(name); ok {
		return p.presetIn(l, origin, file, one)
	}
	mine, unread := p.OwnPresets()
	named := slices.DeleteFunc(slices.Clone(mine), func(preset presets.Preset) bool { return !preset.Named(name) })
	if preset, found := presets.Lookup(name); found && (len(named) == 0 || named[0].Match == "") {
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
	return Grouped(named[0], mine), nil
}

// Grouped returns p with the stanzas of list, followed by the stanzas of p's built-in group.
func Grouped(p presets.Preset, list []presets.Preset) presets.Preset {
	p = p.With(list)
	if p.File == "" || p.Match == "" {
		return p
	}
	group, _ := presets.Lookup(p.Group())
	return p.With([]presets.Preset{group})
}

// PresetFile splits FILE:NAME, and reports whether value names a file. A file name contains a slash or a dot,
// which names of presets do not contain. Exceptions are aws:SERVICE/WAITER and a stanza as GROUP/NAME: both
// contain a slash without naming a file.
func PresetFile(value string) (file, name string, ok bool) {
	file = value
	if m := regexp.MustCompile(`^(..+):([^:\\.]*)$`).FindStringSubmatch(value); m != nil && strings.Count(m[2], "/") < 2 {
		if _, err := os.Stat(m[1]); err == nil || !strings.Contains(m[2], "/") {
			file, name = m[1], m[2]
		}
	}
	if ok = strings.ContainsAny(file, `/\.`) && !strings.HasPrefix(value, "aws:"); ok {
		group, _, _ := strings.Cut(value, "/")
		_, isStanza := presets.Lookup(group)
		ok = !isStanza
	}
	return file, name, ok
}

// presetIn returns a preset of file: the preset called name or, if name is "", the only preset or the group
// that the file extends.
func (p Env) presetIn(l *argv.Line, origin, file, name string) (preset presets.Preset, err error) {
	list, err := p.ReadPresets(origin, file)
	if err != nil {
		return preset, err
	}
	if group := groupOf(list); name == "" && group != "" {
		name = group
	}
	if name == "" && len(list) == 1 {
		return list[0], nil
	}
	var names []string
	for _, preset := range list {
		if preset.Named(name) {
			return Grouped(preset, list), nil
		}
		names = append(names, preset.Name)
	}
	switch {
	case slices.ContainsFunc(list, func(preset presets.Preset) bool { return preset.Group() != "" && preset.Group() == name }):
		preset, err = p.FindPreset(l, origin, name)
		return preset.With(list), err
	case name == "":
		return preset, argv.Usagef("%s: %s has several presets: %s", origin, file, strings.Join(names, ", ")).
			Hint("--preset %s:%s", file, names[0])
	}
	return preset, argv.Usagef("%s: %s has no preset %q", origin, file, name).Meant(name, names).Hint("it has %s", strings.Join(names, ", "))
}

// groupOf returns the common group of all presets of a file, or "".
func groupOf(list []presets.Preset) (group string) {
	for i, p := range list {
		own := cmp.Or(p.Group(), p.Name)
		if i > 0 && own != group || len(list) == 1 && p.Match == "" {
			return ""
		}
		group = own
	}
	return group
}

// ReadPresets reads the presets of a file and checks their settings. A file is read once per run.
func (p Env) ReadPresets(origin, file string) ([]presets.Preset, error) {
	if known := p.presets.files[file]; known != nil {
		return known, nil
	}
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
			_, err = New().withSettings(&preset, OfAll, argv.Typed)
		}
	}
	if err != nil {
		return nil, argv.Usagef("%w", err)
	}
	p.presets.files[file] = list
	return list, nil
}

// WithPreset returns a copy of s with the settings of its --preset, which must be set, added at the given rank.
func (p Env) WithPreset(s *Run, kinds argv.Kinds, rank argv.Rank) (*Run, error) {
	preset := p.presets.named[s.Preset]
	if preset == nil {
		found, err := p.FindPreset(s.Line, s.Origin("preset"), s.Preset)
		if err == nil {
			err = refuseOfStanza(found)
		}
		if err != nil {
			return nil, err
		}
		preset = &found
		p.presets.named[s.Preset] = preset
	}
	return s.withSettings(preset, kinds, rank)
}

// refuseOfStanza returns a usage error if a stanza of a file has a setting other than id. A setting applies to
// the whole wait, but the group also evaluates objects that do not match the stanza.
func refuseOfStanza(group presets.Preset) error {
	for _, p := range group.Stanzas() {
		for _, setting := range p.Settings {
			if p.File != "" && setting.Key != "id" {
				return argv.Usagef("%s: %s is about the whole wait, and preset %s judges other objects, too", setting.At, setting.Key, group.Name).
					Hint("give --%s, or name the stanza alone: %s", setting.Key, p.Name)
			}
		}
	}
	return nil
}

// withSettings returns a copy of s with those settings of p whose flags s does not set. It skips settings that
// do not fit kinds or rank.
func (s *Run) withSettings(p *presets.Preset, kinds argv.Kinds, rank argv.Rank) (*Run, error) {
	given, err := s.Settings, error(nil)
	for _, setting := range p.Settings {
		f := s.Flags.Named(setting.Key)
		if f == nil || given.Has(f.Name) || !f.Fits(kinds) || rank == argv.Entry && f.WholeRun {
			continue
		}
		for _, value := range setting.Values {
			given, err = given.With(f, value, setting.At, rank)
			if err = cmp.Or(err, refuseSetting(setting, value)); err != nil {
				return nil, err
			}
		}
	}
	return s.With(given, p), nil
}

// leastInterval is the shortest interval of a preset, since another person may have written the preset.
const leastInterval = 100 * time.Millisecond

// refuseSetting returns a usage error for a setting that presets may not contain. Examples are a short
// interval, and "none", a different host or environment variables in --follow.
func refuseSetting(setting presets.Setting, value string) error {
	if d, err := argv.ParseDuration(value); err == nil && d < leastInterval &&
		(setting.Key == "interval" || setting.Key == "max-wait" && d > 0) {
		return argv.Usagef("%s: %s is below %s, the least for a preset", setting.At, value, leastInterval)
	}
	if setting.Key != "follow" {
		return nil
	}
	otherHost := regexp.MustCompile(`^[^?]*(//|\\)|^\s*[A-Za-z][\w+.-]*:`)
	if value == "none" || otherHost.MatchString(value) {
		return argv.Usagef("%s: a preset follows a path or a field only; type none, or another host: --follow %s", setting.At, value)
	}
	if err := (poll.HTTP{URL: "http://localhost/", Follow: value}).Plan().Invalid; err != nil {
		return argv.Usagef("%s: %w", setting.At, err)
	}
	return nil
}

// readRegular reads a file of presets. It returns an error for other than regular files, since a pipe could
// block and a device has no end.
func (p Env) readRegular(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return p.ReadFile(name, maxLines)
}

// OwnPresets returns the presets of the user's directory, and the first error in a file. It returns nil if the
// directory does not exist.
func (p Env) OwnPresets() (all []presets.Preset, unread error) {
	dir := p.presetDir()
	entries, err := os.ReadDir(dir)
	if dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, argv.Usagef("read the presets: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".json") {
			continue // a recorded response, for poll eval
		}
		list, err := p.ReadPresets("read the presets", filepath.Join(dir, e.Name()))
		all, unread = append(all, list...), cmp.Or(unread, err)
	}
	return all, unread
}

// presetDir returns $XDG_CONFIG_HOME/poll/presets, or else ~/.config/poll/presets. Without HOME, as on
// Windows, it returns %AppData%\poll\presets. It returns "" if no such variable is set.
func (p Env) presetDir() string {
	for _, base := range []string{p.Getenv("XDG_CONFIG_HOME"), filepath.Join(p.Getenv("HOME"), ".config"), p.Getenv("AppData")} {
		if filepath.IsAbs(base) {
			return filepath.Join(base, "poll", "presets")
		}
	}
	return ""
}

// A presetCache holds the presets that a run has read, since thousands of entries of a targets file may name
// the same preset.
type presetCache struct {
	files    map[string][]presets.Preset // by the path of the file
	named    map[string]*presets.Preset  // by the value of --preset
	compiled map[compilation]compiledPreset
}

// A compilation holds the arguments of [presets.Preset.Compile].
type compilation struct {
	preset    *presets.Preset
	kind      status.Kind
	ofElement bool
}

// A compiledPreset holds the results of [presets.Preset.Compile].
type compiledPreset struct {
	preset *status.Preset
	unfit  []string
}

// compile returns the result of [presets.Preset.Compile] for args, from the cache if args were compiled
// before.
func (c *presetCache) compile(args compilation) (compiledPreset, error) {
	if known, ok := c.compiled[args]; ok {
		return known, nil
	}
	preset, unfit, err := args.preset.Compile(args.kind, args.ofElement)
	c.compiled[args] = compiledPreset{preset, unfit}
	return c.compiled[args], err
}

// unknownPreset returns the usage error for an unknown preset. Its hint lists presets with similar names or of
// the same service. mine are the presets of the user's directory.
func unknownPreset(origin, name string, mine []presets.Preset) error {
	err := argv.Usagef("%s: there is no preset %q", origin, name)
	if _, missing := os.Stat(name); missing == nil {
		return err.Hint("to use the file of that name: --preset ./%s", name)
	}
	var names, related []string
	list, isAWS := presets.All(), strings.HasPrefix(name, "aws:")
	if isAWS {
		list = presets.Waiters()
	}
	for _, c := range candidates(mine, list) {
		word, about, _ := strings.Cut(c, "\t")
		names = append(names, word)
		if len(name) > 2 && strings.Contains(" "+strings.ToLower(word+" "+about), " "+strings.ToLower(name)) {
			related = append(related, word)
		}
	}
	switch group, _, isMember := strings.Cut(name, "/"); {
	case isMember || isAWS:
		return err.Meant(name, names).Hint("poll presets %s lists its members", group)
	case related != nil:
		return err.Hint("did you mean %s?", strings.Join(related[:min(len(related), 5)], " or "))
	}
	if err.Meant(name, names); len(err.Hints) == 0 {
		err.Hint("poll presets lists them")
	}
	return err
}
