package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUsedFlags(t *testing.T) {
	t.Parallel()
	table := mainFlags()
	s, err := splitMain(table, nil, []string{"-q", "--until", ".a", "-X", "PUT", "--until=.b", "--", "true"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"quiet", "until", "request"}
	if diff := cmp.Diff(want, s.used().names()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
