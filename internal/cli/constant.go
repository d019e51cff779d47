package cli

import (
	"regexp"

	"github.com/pollcli/poll/status/expr"
)

// depends refuses a condition that reads nothing of an attempt: the wait would
// end whatever the answer is, or never.
func depends(condition *expr.Expr) error {
	if condition.Uses() != (expr.Uses{}) {
		return nil
	}
	err := usagef("%s is the same for every answer", condition)
	if m := regexp.MustCompile(`["'](\.[A-Za-z_][\w.\[\]]*)["']`).FindStringSubmatch(condition.String()); m != nil {
		return err.hint("in quotes it is text; the field is written %s", m[1])
	}
	return err.hint(`a condition reads something, such as .state == "done", $status == 200 or $exit == 0`)
}
