package poll

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// A proxyError is a proxy's refusal to connect to the server.
type proxyError struct {
	code   int
	advice advice
}

func (e *proxyError) Error() string {
	words := strings.TrimSpace(fmt.Sprintf("the proxy: HTTP %d %s", e.code, http.StatusText(e.code)))
	if h := e.advice.hint; h != nil {
		words += fmt.Sprintf(", %s asks for %s", h.Source, h.Wait)
	}
	return words
}

// kind says what the refusal means. One that is neither for load nor the proxy's
// own trouble is its policy.
func (e *proxyError) kind() status.FailureKind {
	o := status.Observation{Code: &e.code, Hint: e.advice.hint, Exhausted: e.advice.exhausted}
	switch {
	case o.RefusedForLoad():
		return status.FailureThrottled
	case e.code == http.StatusProxyAuthRequired, e.code == http.StatusForbidden, e.code >= 300 && e.code < 400:
		return status.FailureHopeless
	}
	return status.FailureTransient
}

// asksProxy is called before a proxy is asked to connect. It adds no header.
func asksProxy(ctx context.Context, _ *url.URL, _ string) (http.Header, error) {
	if d := deliveryOf(ctx); d != nil {
		d.set(&d.atProxy, true)
	}
	return nil, nil
}

// refusedByProxy makes an error of a proxy's answer to CONNECT that is not 200,
// without the text in it: it can be anything.
func refusedByProxy(ctx context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if d := deliveryOf(ctx); d != nil {
		d.set(&d.atProxy, false)
	}
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{answer.StatusCode, readAdvice(answer.StatusCode, answer.Header, nil, time.Now())}
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
		return isPort(u.Port())
	}
	if strings.Contains(value, "://") {
		return false
	}
	u, err = url.Parse("http://" + value)
	return err == nil && isPort(u.Port())
}

// isPort reports whether s is a port or nothing.
func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return s == "" || err == nil
}
