package poll

import (
	"encoding/json"
	"errors"
	"strings"
)

// value is a stand-in.
type value struct{ src string }

func compileValue(src string) (value, error) {
	if !strings.HasPrefix(src, ".") {
		return value{}, errors.New("no path")
	}
	return value{src}, nil
}

func (v value) text(a *answer) (string, string) {
	var doc any
	if json.Unmarshal(a.body, &doc) != nil {
		return "", "the answer is not JSON"
	}
	for key := range strings.SplitSeq(v.src[1:], ".") {
		m, _ := doc.(map[string]any)
		doc = m[key]
	}
	s, ok := doc.(string)
	if !ok {
		return "", v.src + " is not there"
	}
	return s, ""
}
