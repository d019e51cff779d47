package prose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = "# Exit codes\n\nThe exit code of `poll` says **how** a wait ended, see [the other page](x.md) and [`.a`](y.md),\nso that a script can go on.\n\n" +
	"- [A](#a)\n- [B](#b)\n\n![a picture](x.svg)\n\n## Table\n| code | meaning |\n|---|---|\n| 0 | SUCCESS `a \\| b` |\n| 128+n | Signal n ended the wait, and that takes two lines. |\n" +
	"\n- one item of a list, which is too long for a line of forty\n- two\n```sh\npoll -- 'a   b'\n\n  $ x # **as it is**\n```\nEnd.\n\n    poll   x\n      y\n"

func TestText(t *testing.T) {
	t.Parallel()
	want := strings.TrimPrefix(`
EXIT CODES

  The exit code of poll says how a wait
  ended, see the other page and .a, so
  that a script can go on.

Table

  code   meaning
  0      SUCCESS a | b
  128+n  Signal n ended the wait, and
         that takes two lines.

  - one item of a list, which is too
    long for a line of forty
  - two

    poll -- 'a   b'

      $ x # **as it is**

  End.

    poll   x
      y
`, "\n")
	if diff := cmp.Diff(want, Text(page, 40)); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
	wide := "| a | b |\n|---|---|\n| " + strings.Repeat("x", 30) + " | below it |\n"
	if diff := cmp.Diff("  a\n      b\n  "+strings.Repeat("x", 30)+"\n      below it\n", Text(wide, 40)); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

func TestMan(t *testing.T) {
	t.Parallel()
	want := strings.TrimPrefix(`
The exit code of \fBpoll\fR says how a wait ended, see the other page and \fB.a\fR, so that a script can go on.
.SS Table
.TP
\fB0\fR
SUCCESS \fBa | b\fR
.TP
\fB128+n\fR
Signal n ended the wait, and that takes two lines.
.IP \(bu 2
one item of a list, which is too long for a line of forty
.IP \(bu 2
two
.PP
.in +4n
.EX
poll -- 'a   b'

  $ x # **as it is**
.EE
.in
.PP
End.
.PP
.in +4n
.EX
poll   x
  y
.EE
.in
`, "\n")
	if diff := cmp.Diff(want, Man(page, func(s string) string { return s })); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

func FuzzText(f *testing.F) {
	f.Add(page, 40)
	f.Add("|\n", 0)
	f.Add("```\n", 200)
	f.Add("| |\n|-|\n`", 1)
	f.Fuzz(func(t *testing.T, page string, width int) {
		Text(page, width)
		Man(page, func(s string) string { return s })
	})
}

func TestRoff(t *testing.T) {
	t.Parallel()
	source := ".TH POLL 1\n.nr HY 0\n.SH NAME\npoll \\- wait for\na URL\n.SS A part\n.TP\n\\fB\\-\\-until\\fR \\fIEXPR\\fR\nSUCCESS when true,\n" +
		".BR \\-\\-x ,\nor\n.BR A \", \" B\n.IP 1. 4\nYour own.\n.PP\n.in +4n\n.EX\npoll \\(aq.a\\(aq \\e\n  b\n.EE\n.in\n"
	want := strings.TrimPrefix(`
NAME
    poll - wait for a URL

  A part

    --until EXPR
          SUCCESS when true, --x, or A,
          B
    1.
          Your own.

        poll '.a' \
          b
`, "\n")
	if diff := cmp.Diff(want, Roff(source, 40)); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}
