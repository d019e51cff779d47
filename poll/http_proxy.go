package poll

import (
	"context"
	"errors"
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

// ErrProxy is why there is no transport where the environment names a proxy that
// cannot be one.
var ErrProxy = errors.New("is set to what is no URL of a proxy, such as http://HOST:PORT")

// checkProxies reports a variable that names no proxy: net/http would silently
// connect without one. The value is not repeated, for it may hold a password.
func checkProxies(getenv func(string) string) error {
	for _, names := range [][]string{{"HTTP_PROXY", "http_proxy"}, {"HTTPS_PROXY", "https_proxy"}} {
		for _, name := range names {
			value := getenv(name)
			if value == "" {
				continue
			}
			if !isProxy(value) {
				return fmt.Errorf("%s %w", name, ErrProxy)
			}
			break // the second name is asked only where the first is not set
		}
	}
	return nil
}

// isProxy reports whether value is a URL with a host, or what follows a scheme.
func isProxy(value string) bool {
	u, err := url.Parse(value)
	if err == nil && u.Scheme != "" && u.Host != "" {
		return true
	}
	if strings.Contains(value, "://") {
		return false
	}
	_, err = url.Parse("http://" + value)
	return err == nil
}
