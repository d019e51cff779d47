package poll

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// A proxyError is a proxy's refusal to connect to the server.
type proxyError struct{ code int }

func (e *proxyError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the proxy: HTTP %d %s", e.code, http.StatusText(e.code)))
}

// refusedByProxy makes an error of a proxy's answer to CONNECT that is not 200,
// without the text in it: it can be anything.
func refusedByProxy(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{answer.StatusCode}
}
