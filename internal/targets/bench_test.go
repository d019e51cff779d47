package targets

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead reads 10,000 entries in each format.
func BenchmarkRead(b *testing.B) {
	template, err := ParseURL("https://api.example.com/jobs/{}")
	if err != nil {
		b.Fatal(err)
	}
	for _, format := range []struct {
		name, head, entry, tail string
		template                *Template
	}{
		{"lines", "", "job-%[1]d\n", "", template},
		{"urls", "", "https://api.example.com/v1/jobs/%[1]d\n", "", nil},
		{"ndjson", "", `{"name":"job-%[1]d","url":"https://api.example.com/v1/jobs/%[1]d","until":".state==\"done\"","timeout":"10m"}` + "\n", "", nil},
		{"json", "[", `{"name":"job-%[1]d","url":"https://api.example.com/v1/jobs/%[1]d","until":".state==\"done\"","timeout":"10m"},`, "{\"url\":\"http://h\"}]", nil},
		{"yaml", "", "- name: job-%[1]d\n  url: https://api.example.com/v1/jobs/%[1]d\n  until: .state==\"done\"\n  timeout: 10m\n", "", nil},
		{"broken", "", "- name: job-%[1]d\n  url: https://api.example.com/v1/jobs/%[1]d\n  until: @.state==\"done\"\n  timeout: 10m\n", "", nil},
	} {
		b.Run(format.name, func(b *testing.B) {
			var text strings.Builder
			text.WriteString(format.head)
			for i := range 10_000 {
				fmt.Fprintf(&text, format.entry, i)
			}
			text.WriteString(format.tail)
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				f := Read([]byte(text.String()), Config{Name: "t", Flags: someFlags(), Template: format.template})
				if (f.Err() == nil) != (len(f.Entries) >= 10_000) || len(f.Entries) == 0 && f.Err().(*Problems).Total != 10_000 {
					b.Fatal(f.Err(), len(f.Entries))
				}
			}
		})
	}
}

func someFlags() map[string]Flag {
	return map[string]Flag{
		"until": {Many: true}, "error-if": {Many: true}, "timeout": {}, "strict": {Switch: true}, "max-attempts": {},
		"preset": {}, "follow": {}, "request": {}, "user": {Common: true, Secret: true}, "parallel-max": {Common: true},
		"header": {Many: true, Secret: true}, "data": {Many: true, Secret: true, MayBeEmpty: true},
	}
}
