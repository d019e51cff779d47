package elements

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// total is how many elements there are in all, as lists say it.
var total = sync.OnceValue(func() *expr.Expr {
	x, _ := expr.CompileValue("$header.X-Total-Count // .total // .total_count // .totalCount // .totalResults // .totalItems // .totalElements // .totalSize // " +
		".meta.total // .meta.total_count // .pagination.total // .paging.total // .page.totalElements")
	return x
})

// partial says in words why an answer that has a page, and which holds so many elements, may not hold
// all; "" if nothing says so.
func partial(o *status.Observation, page *expr.Doc, held int) string {
	env := &expr.Env{Doc: expr.Unreadable("it names no total"), Header: o.Header}
	if bytes.Contains(page.Bytes(), []byte("otal")) { // or a long list would be read for nothing
		env.Doc = page
	}
	n, err := strconv.Atoi(total().Eval(env).Value().Text())
	switch {
	case o.Moved && !o.Following.Start: // what a start answers is about what it has started
		return "it is that of " + o.Redirect
	case err == nil && n > held:
		return fmt.Sprintf("it counts %d in all", n)
	case bytes.Contains(page.Bytes(), []byte(`rrors"`)): // as a name, perhaps
		if member := document.Errors(page.Bytes()); member != "" {
			return "there is " + member
		}
	}
	return ""
}
