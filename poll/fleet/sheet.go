package fleet

import (
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/turns"
)

// A sheet is what is shared of a question, at a time of the engine's clock.
type sheet struct {
	now    int64
	state  turns.State
	sealed []byte // the answer; none if it was known already
}

// A guess is what is known of a sheet before a look at it: of which time its answer is known,
// and what it has become since, nil if that is not known. A wrong one does what a look does.
type guess struct {
	known int64
	sheet *sheet
}

// An edit is what becomes of a sheet.
type edit struct {
	state  turns.State
	sealed []byte // nil if the answer stays as it is
	tell   bool   // the others
}

// readSheet reads what a server says of a question: a time, whether an edit was made, the
// record behind a space, and the answer on lines of its own.
func readSheet(text string) (s sheet, record string, done bool, err error) {
	line, sealed, ok := strings.Cut(text, "\n")
	now, line, _ := strings.Cut(line, " ")
	made, record, _ := strings.Cut(line, " ")
	s.now, err = strconv.ParseInt(now, 10, 53)
	if !ok || err != nil || s.now <= 0 || made != "0" && made != "1" {
		return sheet{}, "", false, errUnexpected
	}
	s.state, _ = turns.Parse(record)
	s.sealed = []byte(sealed)
	return s, record, made == "1", nil
}
