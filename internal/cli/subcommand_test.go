package cli

import "testing"

func TestMakers(t *testing.T) {
	t.Parallel()
	for _, m := range makers() {
		if c := m.make(); c.name != m.name {
			t.Errorf("the maker of %s makes %s", m.name, c.name)
		}
	}
}
