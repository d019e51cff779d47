package cli

import "testing"

func TestShellQuoted(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":                 "",
		"3":                "3",
		`.state == "done"`: `'.state == "done"'`,
		`.state == 'done'`: `'.state == '\''done'\'''`,
		"$status":          "'$status'",
	} {
		if have := shellQuoted(word); have != want {
			t.Errorf("%q: have %s, want %s", word, have, want)
		}
	}
}
