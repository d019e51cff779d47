package document_test

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/document"
)

func TestNextLink(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fields string // separated by line breaks
		want   string // "-" for none
	}{
		{`<?page=2>; REL=NEXT`, "?page=2"},
		{`<?page=2>; rel="prev next"`, "?page=2"},
		{`<?page=2>; title="next"; rel=next`, "?page=2"},
		{`<?page=2>; rel=next; title="a, <b>; rel=prev"`, "?page=2"},
		{`<?a=1,2;b>; rel=next`, "?a=1,2;b"},
		{`<1>; rel=prev, <2>; rel=next`, "2"},
		{"<1>; title=\"x, <9>; rel=next\"; rel=prev\n , ,<2>;;; rel=next", "2"},
		{`<1>; title="\"; rel=next"; rel=prev, <2>; rel=next`, "2"},
		{`junk, <2>; rel=next`, "2"},

		{`<2>; rel=nextish`, "-"},
		{`<2>; rel=prev; rel=next`, "-"}, // RFC 8288 section 3.3: the first rel counts
		{`<2>; rel=next; anchor="#x"`, "-"},
		{`<2>; anchor=x; rel=next`, "-"},
	} {
		target, found := document.NextLink(strings.Split(test.fields, "\n"))
		if want := test.want != "-"; found != want || found && target != test.want {
			t.Errorf("%s: have %q %t, want %q", test.fields, target, found, test.want)
		}
	}
}
