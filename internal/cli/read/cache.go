package read

import (
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

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

func newPresetCache() *presetCache {
	return &presetCache{make(map[string][]presets.Preset), make(map[string]*presets.Preset), make(map[compilation]compiledPreset)}
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
