package cli

import (
	"fmt"
	"testing"
)

// Both are on the command line, or both in the environment: nobody can know
// which is meant. testdata/usage.txt has what is said then.
func TestResolveConflicts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
		env  map[string]string
		want string
	}{
		{"the flag is meant", []string{"--factor", "3", "ls"}, map[string]string{"POLL_INTERVAL": "1s"}, `factor=3 cmd ["ls"]`},
		{"either way", []string{"--interval", "1s", "ls"}, map[string]string{"POLL_FACTOR": "3"}, `interval=1s cmd ["ls"]`},
		{"a value that fits", []string{"--overshoot", "10%", "--strategy", "exponential", "ls"}, nil, `overshoot=10% strategy=exponential cmd ["ls"]`},
		{"a switch that is off", []string{"-q", "--verbose=false", "ls"}, nil, `quiet=true verbose=false cmd ["ls"]`},
		{"the last one counts", []string{"-q", "--progress", "json", "--progress", "none", "ls"}, nil, `quiet=true progress=json progress=none cmd ["ls"]`},
		{"stderr beside a log", []string{"--show-stderr", "--progress", "lines", "ls"}, nil, `show-stderr=true progress=lines cmd ["ls"]`},
		{"quiet against the environment", []string{"-q", "ls"}, map[string]string{"POLL_PROGRESS": "json", "POLL_VERBOSE": "1"}, `quiet=true cmd ["ls"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := splitMain(mainFlags(), nil, test.args)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.addEnvironment(mainFlags(), func(name string) (string, bool) { v, ok := test.env[name]; return v, ok }); err != nil {
				t.Fatal(err)
			}
			if err := s.resolveConflicts(); err != nil {
				t.Fatal(err)
			}
			if have := s.show(); have != test.want {
				t.Errorf("have %s, want %s", have, test.want)
			}
		})
	}
}

// A conflict whose flags do not exist would never be found out.
func TestConflicts_exist(t *testing.T) {
	t.Parallel()
	table := mainFlags()
	for _, c := range conflicts() {
		for _, name := range []string{c.flag, c.other} {
			if f := table.lookup(name); f == nil || f.name != name {
				t.Errorf("there is no flag %s", name)
			}
		}
	}
}

// Every pair that contradicts itself is refused, in both orders.
func TestConflicts_refused(t *testing.T) {
	t.Parallel()
	table := mainFlags()
	values := map[string]string{"strategy": "linear", "progress": "json"}
	spell := func(name string) string {
		if table.lookup(name).isSwitch() {
			return "--" + name
		}
		value := values[name]
		if value == "" {
			value = "1"
		}
		return fmt.Sprintf("--%s=%s", name, value)
	}
	for _, c := range conflicts() {
		for _, args := range [][]string{{spell(c.flag), spell(c.other), "ls"}, {spell(c.other), spell(c.flag), "ls"}} {
			s, err := splitMain(table, nil, args)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.resolveConflicts(); err == nil {
				t.Errorf("%q is accepted", args)
			}
		}
	}
}
