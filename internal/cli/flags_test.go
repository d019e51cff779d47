package cli

import (
	"reflect"
	"slices"
	"testing"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
)

// Each flag sets something in the struct that the flags of its command fill.
func TestFlags_set(t *testing.T) {
	t.Parallel()
	count := 0
	for _, c := range append(testApp().subcommands().commands(), read.New().Line.Command) {
		for i := range c.Flags {
			if f := &c.Flags[i]; f.Set != nil {
				count++
				if !setsSomething(f, c.Into) {
					t.Errorf("poll %s: --%s sets nothing", c.Name, f.Name)
				}
			}
		}
	}
	if count < 120 {
		t.Errorf("only %d flags were found", count)
	}
}

// setsSomething reports whether setting the flag changes an empty value of the type of into.
func setsSomething(f *argv.Flag, into any) bool {
	values := slices.Concat(f.Words, []string{
		"true", "7s", "7", "200", "7%", "7/s", "a=b", "a:b", "http://h:1", "h:80:127.0.0.1", "h:80:h:81", "1s-2s", "exponential",
	})
	for _, value := range values {
		l, err := argv.Settings(nil).With(f, value, "", argv.Typed)
		if err != nil {
			continue
		}
		for _, like := range []any{new(read.Run), into} {
			if like == nil {
				continue
			}
			empty, filled := reflect.New(reflect.TypeOf(like).Elem()), reflect.New(reflect.TypeOf(like).Elem())
			l.Apply(filled.Interface())
			if !reflect.DeepEqual(empty.Interface(), filled.Interface()) {
				return true
			}
		}
	}
	return false
}
