package poll

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// Connect makes the Transport of an [HTTP]. The zero value verifies certificates against
// the system's authorities and takes the proxy from the environment (HTTP_PROXY,
// HTTPS_PROXY, NO_PROXY).
type Connect struct {
	// Insecure accepts any certificate.
	Insecure bool
	// CACert names a PEM file of the authorities to trust; "" means the system's.
	CACert string
	// Cert names a PEM file with a client certificate, Key one with its key. An empty Key
	// means that Cert holds both.
	Cert, Key string
	// UnixSocket is the path of a socket to connect to in place of every host and proxy;
	// "" means none.
	UnixSocket string
	// Proxy is the URL of the proxy for every request: http, https, socks5 or socks5h;
	// "" means what the environment says for each, "direct" none.
	Proxy string
	// Routes names other addresses for the hosts of URLs, without a proxy: entries such
	// as "www.example.com:443=10.0.0.7:8443", separated by blanks. On the left an empty
	// host or port stands for any, on the right for the same. The entries that fit a
	// connection are tried in order. The certificate is still that of the URL's host.
	Routes string
}

// Transport returns a transport that connects as c says, for any number of probes at once:
// it keeps up to 100 idle connections to a host, and 1000 in all. An error names the file
// or the route that cannot be used, or wraps [ErrProxy] and names the variable.
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
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    30 * time.Second,
		MaxResponseHeaderBytes: 1 << 20, // net/http's own limit is ten times that
		IdleConnTimeout:        5 * time.Minute,
		MaxIdleConnsPerHost:    100, // a request needs no new connection while fewer are at work
		MaxIdleConns:           1000,
		// Without pings, every further attempt would use a connection that died silently,
		// and time out. Over HTTP/1 a timeout ends the connection.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}
	request.ObserveProxy(t)
	if c.UnixSocket != "" {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", c.UnixSocket)
		}
		return t, nil
	}
	if t.Proxy, err = c.proxy(); err != nil {
		return nil, err
	}
	return t, c.route(t)
}

// Through returns what tells the connections of c, of which t is the Transport, from those of
// another: those for whom it is equal reach the same servers with the same rights, and trust
// the same. It may hold secrets. It is "" if that is not known.
func (c Connect) Through(t *http.Transport) string {
	parts := []string{strconv.FormatBool(c.Insecure), c.Proxy, c.Routes, os.Getenv("SSL_CERT_FILE"), os.Getenv("SSL_CERT_DIR")}
	if c.CACert != "" {
		info, err := os.Stat(c.CACert)
		if err != nil || !info.Mode().IsRegular() { // it can be read once only
			return ""
		}
		pem, err := readPEM(c.CACert)
		if err != nil {
			return ""
		}
		parts = append(parts, "trust", string(pem))
	}
	if c.UnixSocket != "" {
		path, err := filepath.Abs(c.UnixSocket)
		if err != nil {
			return ""
		}
		parts = append(parts, "socket", path, machineOf("localhost"))
	}
	proxies := []string{c.Proxy}
	if c.Proxy == "" {
		proxies = nil
		for _, name := range [...]string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
			proxies = append(proxies, os.Getenv(name))
		}
		parts = append(parts, os.Getenv("NO_PROXY"), os.Getenv("no_proxy"))
		parts = append(parts, proxies...)
	}
	for _, proxy := range proxies {
		if u, err := parseProxy(proxy); err == nil && proxy != "direct" {
			parts = append(parts, machineOf(u.Hostname()))
		}
	}
	routes, _ := parseRoutes(c.Routes)
	for _, r := range routes {
		parts = append(parts, machineOf(r.toHost))
	}
	for _, certificate := range t.TLSClientConfig.Certificates {
		for _, der := range certificate.Certificate {
			parts = append(parts, string(der))
		}
	}
	return fmt.Sprintf("%q", parts)
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
	if c.Cert == "" && c.Key != "" {
		return nil, errors.New("a client key needs a client certificate")
	}
	if c.Cert == "" {
		return config, nil
	}
	cert, err := readPEM(c.Cert)
	key := cert
	if err == nil && c.Key != "" {
		key, err = readPEM(c.Key)
	}
	config.Certificates = make([]tls.Certificate, 1)
	if err == nil {
		config.Certificates[0], err = tls.X509KeyPair(cert, key)
	}
	if err != nil {
		return nil, fmt.Errorf("load the client certificate: %w", err)
	}
	return config, nil
}

// proxy returns which proxy a request goes through.
func (c Connect) proxy() (func(*http.Request) (*url.URL, error), error) {
	switch {
	case c.Proxy == "":
		return http.ProxyFromEnvironment, checkProxies(os.Getenv)
	case c.Proxy == "direct":
		return nil, nil
	case !isProxy(c.Proxy):
		return nil, fmt.Errorf("the proxy %w", ErrProxy)
	}
	u, err := url.Parse(c.Proxy)
	if err != nil || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return nil, fmt.Errorf("the proxy %w", ErrProxy)
	}
	return http.ProxyURL(u), nil
}

// ErrProxy is wrapped by the error of [Connect.Transport] if an environment variable
// should hold the URL of a proxy but does not.
var ErrProxy = errors.New("is not the URL of a proxy, such as http://HOST:PORT")

// checkProxies reports a variable that names no proxy: net/http would silently connect
// without one. The value is not repeated, since it may hold a password.
func checkProxies(getenv func(string) string) error {
	for _, name := range [...]string{"HTTP_PROXY", "HTTPS_PROXY"} {
		if getenv(name) == "" {
			name = strings.ToLower(name)
		}
		if value := getenv(name); value != "" && !isProxy(value) {
			return fmt.Errorf("%s %w", name, ErrProxy)
		}
	}
	return nil
}

// isProxy reports whether value is a URL with a host, or one without its scheme.
func isProxy(value string) bool {
	u, err := parseProxy(value)
	if err != nil || u.Host == "" {
		return false
	}
	_, err = strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil
}

func parseProxy(value string) (*url.URL, error) {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	return url.Parse(value)
}

// readPEM reads a file of certificates or keys. It may be a pipe without an end.
func readPEM(name string) ([]byte, error) {
	const most = 16 << 20
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if len(text) > most {
		return nil, fmt.Errorf("%s has more than 16 MiB", name)
	}
	return text, err
}

// A dialFunc connects, as the DialContext of a [net.Dialer] does.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dialLocalhost tries both loopback addresses for localhost (RFC 6761 section 6.3), even
// if the system's resolver knows only one of them.
func dialLocalhost(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		host, port, split := net.SplitHostPort(address)
		host = "." + strings.ToLower(strings.TrimSuffix(host, "."))
		if err == nil || split != nil || !strings.HasSuffix(host, ".localhost") {
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

// TCP is a [Probe] that connects to an address and closes the connection at once.
type TCP struct {
	// Address is "host:port", as for [net.Dial].
	Address string
	// Dial connects; nil means the DialContext of a [net.Dialer].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Check returns an error if Address is not a host and a known port.
func (p TCP) Check() error {
	host, port, err := net.SplitHostPort(p.Address)
	switch {
	case err != nil || port == "":
		return fmt.Errorf("%q is not host:port", p.Address)
	case host == "":
		return fmt.Errorf("%q has no host", p.Address)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q is no port", port)
	}
	return nil
}

// Target returns "tcp://" and the address.
func (p TCP) Target() string { return "tcp://" + p.Address }

// Place returns what Target does.
func (p TCP) Place() string { return p.Target() }

// Probe connects once.
func (p TCP) Probe(ctx context.Context, _ Attempt) status.Observation {
	o := status.Observation{Kind: status.KindTCP}
	dial := p.Dial
	if dial == nil {
		var dialer net.Dialer
		dial = dialLocalhost(dialer.DialContext)
	}
	began := time.Now()
	conn, err := dial(ctx, "tcp", p.Address)
	if err != nil {
		o.Failure = request.NoConnection(ctx, err, began)
		return o
	}
	conn.Close()
	return o
}
