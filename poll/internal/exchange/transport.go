package exchange

import (
	"context"
	"fmt"
	"github.com/pollcli/poll/poll/internal/hint"
	"github.com/pollcli/poll/status"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// withoutCertificate returns t, or a copy of it that offers no client certificate
// where t offers one. A transport that is none of net/http is taken as it is.
func withoutCertificate(t http.RoundTripper) (without http.RoundTripper, offered bool) {
	original, ok := t.(*http.Transport)
	if !ok || original.TLSClientConfig == nil {
		return t, false
	}
	if config := original.TLSClientConfig; len(config.Certificates) == 0 && config.GetClientCertificate == nil {
		return t, false
	}
	stripped := original.Clone()
	stripped.TLSClientConfig.Certificates, stripped.TLSClientConfig.GetClientCertificate = nil, nil
	stripped.DisableKeepAlives = true // nobody could close what it kept
	return stripped, true
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// DialLocalhost tries both loopback addresses for localhost (RFC 6761 section
// 6.3), also where the system's resolver knows only one of them.
func DialLocalhost(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		host, port, split := net.SplitHostPort(address)
		if err == nil || split != nil || !isLocalhost(host) {
			return conn, err
		}
		for _, loopback := range []string{"::1", "127.0.0.1"} {
			if conn, again := dial(ctx, network, net.JoinHostPort(loopback, port)); again == nil {
				return conn, nil
			}
		}
		return nil, err
	}
}

func isLocalhost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// A proxyError is a proxy's refusal to connect to the server.
type proxyError struct {
	code   int
	advice hint.Advice
}

func (e *proxyError) Error() string {
	words := strings.TrimSpace(fmt.Sprintf("the proxy: HTTP %d %s", e.code, http.StatusText(e.code)))
	if h := e.advice.Hint; h != nil && e.kind() != status.FailureThrottled { // whose verdict tells it
		words += fmt.Sprintf(", %s asks for %s", h.Source, h.Wait)
	}
	return words
}

// kind says what the refusal means. One that is neither for load nor the proxy's
// own trouble is its policy.
func (e *proxyError) kind() status.FailureKind {
	o := status.Observation{Code: &e.code, Hint: e.advice.Hint, Exhausted: e.advice.Exhausted}
	switch {
	case o.RefusedForLoad():
		return status.FailureThrottled
	case e.code == http.StatusProxyAuthRequired, e.code == http.StatusForbidden, e.code >= 300 && e.code < 400:
		return status.FailureHopeless
	}
	return status.FailureTransient
}

// AsksProxy is called before a proxy is asked to connect. It adds no header.
func AsksProxy(ctx context.Context, _ *url.URL, _ string) (http.Header, error) {
	if d := deliveryOf(ctx); d != nil {
		d.set(&d.atProxy, true)
	}
	return nil, nil
}

// RefusedByProxy makes an error of a proxy's answer to CONNECT that is not 200,
// without the text in it: it can be anything.
func RefusedByProxy(ctx context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if d := deliveryOf(ctx); d != nil {
		d.set(&d.atProxy, false)
	}
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{answer.StatusCode, hint.Read(answer.StatusCode, answer.Header, nil, time.Now())}
}
