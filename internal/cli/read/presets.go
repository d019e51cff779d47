package read

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

// FindPreset returns the preset called name. A preset is a named set of conditions and other settings for an API.
// The name may be FILE, FILE:NAME, the name of a built-in preset, an AWS waiter such as aws:SERVICE/WAITER, or the
// name of a preset in the user's preset directory.
//
// If a file in that directory cannot be read, FindPreset adds a note to l. If the preset is a group, which applies
// one member (stanza) to each kind of object, FindPreset adds the stanzas in the user's directory; see [Grouped].
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

// Grouped returns p completed with the related presets in list, as [presets.Preset.With] does. For example, a group
// gets the members (stanzas) that list has for the group. If p is itself a stanza from a file, Grouped also completes
// p with the built-in group that has the name p.Group(), if such a group exists.
func Grouped(p presets.Preset, list []presets.Preset) presets.Preset {
	p = p.With(list)
	if p.File == "" || p.Match == "" {
		return p
	}
	group, _ := presets.Lookup(p.Group())
	return p.With([]presets.Preset{group})
}

// PresetFile splits value, which may have the form FILE:NAME, and reports whether it names a file. Unlike the name
// of a preset, a file name contains a slash, a backslash or a dot. There are two exceptions: aws:SERVICE/WAITER,
// and GROUP/NAME for a member of a built-in group.
func PresetFile(value string) (file, name string, ok bool) {
	file = value
	if m := find(`^(..+):([^:\\.]*)$`, value); m != nil && strings.Count(m[2], "/") < 2 {
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

// presetIn returns a preset from the file called file. If name is "", it returns the file's only preset, or the
// common group of all presets in the file. Otherwise it returns the preset called name.
func (p Env) presetIn(l *argv.Line, origin, file, name string) (preset presets.Preset, err error) {
	list, err := p.ReadPresets(origin, file)
	if err != nil {
		return preset, err
	}
	if name = cmp.Or(name, groupOf(list)); name == "" && len(list) == 1 {
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

// groupOf returns the common group of all presets in list. It returns "" if they have no common group.
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

// ReadPresets reads the presets in a file, and checks their settings.
func (p Env) ReadPresets(origin, file string) ([]presets.Preset, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // to read a pipe could block, and a device may never end
		return nil, argv.Usagef("%s: %s is not a regular file", origin, file)
	}
	text, err := p.ReadFile(file, maxLines)
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
	return list, nil
}

// WithPreset returns a copy of s with the settings of the preset that s.Preset names, added at the given rank.
// s.Preset must not be "".
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

// refuseOfStanza returns a usage error if a member (stanza) of a group comes from a file and has a setting other
// than id. Settings apply to the whole wait, but the group also evaluates objects that the stanza is not meant
// for.
func refuseOfStanza(group presets.Preset) error {
	for _, p := range group.Stanzas() {
		for _, setting := range p.Settings {
			if p.File != "" && setting.Key != "id" {
				return argv.Usagef("%s: %s is about the whole wait, but preset %s evaluates other objects, too", setting.At, setting.Key, group.Name).
					Hint("give --%s, or name the stanza alone: %s", setting.Key, p.Name)
			}
		}
	}
	return nil
}

// withSettings returns a copy of s with the settings of the preset p added at the given rank. It returns a usage error
// if a value is invalid, or if presets must not set the value (see refuseSetting). It skips these settings:
//
//   - settings whose key is not the name of a flag in s.Flags
//   - flags that are already set in s
//   - flags that apply to no target of the given kinds
//   - at the rank of an entry of a targets file, flags that concern the whole run
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

// leastInterval is the shortest interval that a preset may set. Presets may come from other people, and must not
// make poll flood a server with requests.
const leastInterval = 100 * time.Millisecond

// refuseSetting returns a usage error if value is a value of setting that presets must not set, and nil otherwise.
// Presets must not set these values:
//
//   - for --interval, a duration below leastInterval
//   - for --max-wait, a duration below leastInterval, except 0
//   - for --follow, "none", a URL with a host, an expression that reads environment variables, or any other value
//     that is invalid as the Follow of a [poll.HTTP]
func refuseSetting(setting presets.Setting, value string) error {
	if d, err := argv.ParseDuration(value); err == nil && d < leastInterval &&
		(setting.Key == "interval" || setting.Key == "max-wait" && d > 0) {
		return argv.Usagef("%s: %s is below %s, the least for a preset", setting.At, value, leastInterval)
	}
	if setting.Key != "follow" {
		return nil
	}
	const otherHost = `^[^?]*(//|\\)|^\s*[A-Za-z][\w+.-]*:`
	if value == "none" || find(otherHost, value) != nil {
		return argv.Usagef("%s: a preset can follow only a path or a field; for none or another host: --follow %s", setting.At, value)
	}
	if err := (poll.HTTP{URL: "http://localhost/", Follow: value}).Plan().Invalid; err != nil {
		return argv.Usagef("%s: %w", setting.At, err)
	}
	return nil
}

// OwnPresets returns the presets in the user's preset directory, and the first error in one of its files. The
// directory is $XDG_CONFIG_HOME/poll/presets, ~/.config/poll/presets or %AppData%\poll\presets. OwnPresets returns
// nil for both results if the directory does not exist.
func (p Env) OwnPresets() (all []presets.Preset, unread error) {
	dir := system.UserDir(p.Lookup.Get, "presets", "XDG_CONFIG_HOME", ".config", "AppData")
	entries, err := os.ReadDir(dir)
	if dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, argv.Usagef("read the presets: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".json") {
			continue // a .json file is a recorded response for poll eval
		}
		list, err := p.ReadPresets("read the presets", filepath.Join(dir, e.Name()))
		all, unread = append(all, list...), cmp.Or(unread, err)
	}
	return all, unread
}

// A presetCache holds the presets that have been read and compiled, because thousands of entries of a targets file
// may name the same preset.
type presetCache struct {
	named    map[string]*presets.Preset // by the value of the --preset flag
	compiled map[compilation]*status.Preset
}

// A compilation holds the arguments of [presets.Preset.Compile]. It is the key of a compiled preset in the cache.
type compilation struct {
	preset    *presets.Preset
	kind      status.Kind
	ofElement bool
}

// compile returns the compiled preset for args, which [presets.Preset.Compile] returns at the first call. It then
// also adds a note to l about the rules that the preset leaves out.
func (c *presetCache) compile(l *argv.Line, args compilation) (*status.Preset, error) {
	if known := c.compiled[args]; known != nil {
		return known, nil
	}
	preset, unfit, err := args.preset.Compile(args.kind, args.ofElement)
	if unfit != nil {
		l.Note("preset %s: left out for %s: %s", args.preset.Name, args.kind, strings.Join(unfit, "; "))
	}
	c.compiled[args] = preset
	return preset, err
}

// unknownPreset returns the usage error for a preset that does not exist. It suggests presets with a similar name or
// for the same service. mine holds the presets in the user's directory.
func unknownPreset(origin, name string, mine []presets.Preset) error {
	err := argv.Usagef("%s: there is no preset %q", origin, name)
	if err.Advise("preset " + name); len(err.Hints) > 0 {
		return err
	}
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
		err.Hint("poll presets lists the presets")
	}
	return err
}
