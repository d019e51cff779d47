package poll

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Connect says how to reach a server. The zero value verifies certificates by
// the system's authorities and takes the proxy from the environment
// (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
type Connect struct {
	// Insecure accepts any certificate.
	Insecure bool
	// CACert names a file of PEM certificates of the authorities to trust in
	// place of the system's; "" is the system's.
	CACert string
	// Cert names a PEM file of a client certificate, Key one of its key; with
	// only Cert, that file holds both.
	Cert, Key string
	// UnixSocket is the path of a socket to connect to in place of every host
	// and proxy; "" is none.
	UnixSocket string
}

// maxHeader is the longest header of an answer, in bytes. net/http's own limit
// is ten times that.
const maxHeader = 1 << 20

// An HTTP/2 connection on which nothing came for pingAfter is asked for a sign
// of life, and given up without one after pingFor. Without that, a connection
// that died silently would be used for each attempt to come, and each would
// time out on it. Over HTTP/1 a timeout ends the connection.
const (
	pingAfter = 15 * time.Second
	pingFor   = 10 * time.Second
)

// Transport returns a transport that connects as c says. An error names the
// file that cannot be used, or is an [ErrProxy] and names the variable.
func (c Connect) Transport() (*http.Transport, error) {
	config, err := c.tls()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialLocalhost(dialer.DialContext),
		TLSClientConfig:        config,
		DisableCompression:     true, // what comes is decoded by all that its header says
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    30 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        5 * time.Minute,
		MaxIdleConnsPerHost:    2,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingFor},
		GetProxyConnectHeader:  asksProxy,
		OnProxyConnectResponse: refusedByProxy,
	}
	if c.UnixSocket != "" {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", c.UnixSocket)
		}
	} else if err := checkProxies(os.Getenv); err != nil {
		return nil, err
	}
	return t, nil
}

func (c Connect) tls() (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: c.Insecure}
	if c.CACert != "" {
		pem, err := readPEM(c.CACert)
		if err != nil {
			return nil, fmt.Errorf("read the certificate authorities: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("no PEM certificate in %s", c.CACert)
		}
	}
	switch key := c.Key; {
	case c.Cert == "" && key != "":
		return nil, errors.New("a client key needs a client certificate")
	case c.Cert != "":
		if key == "" {
			key = c.Cert
		}
		pair, err := loadPair(c.Cert, key)
		if err != nil {
			return nil, fmt.Errorf("load the client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

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

// dialLocalhost tries both loopback addresses for localhost (RFC 6761 section
// 6.3), also where the system's resolver knows only one of them.
func dialLocalhost(dial dialFunc) dialFunc {
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
