package expr

import (
	"strings"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

const (
	flawNone  = rawjson.NoFlaw
	flawShort = rawjson.TooShort
)

func isDigit(c byte) bool { return rawjson.IsDigit(c) }

func allDigits(s string) bool { return rawjson.IsDigits(s) }

func skipSpace(s string, i int) int { return rawjson.SkipSpace(s, i) }

func scanNumber(s string, i int) (int, rawjson.Flaw) { return rawjson.ScanNumber(s, i) }

func scanJSON(s string, i int) (int, rawjson.Flaw) { return rawjson.Scan(s, i, rawjson.MaxDepth) }

// scanString scans the string whose opening quote is before s[i].
func scanString(s string, i int) (int, rawjson.Flaw) { return rawjson.ScanString(s, i-1) }

// isShortInt reports whether s is an integer that int64 surely holds.
func isShortInt(s string) bool { return len(s) <= 18 && allDigits(strings.TrimPrefix(s, "-")) }
