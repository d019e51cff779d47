// Package connect opens the connections of requests: with certificates, through a proxy, or to a given socket or
// address. It also identifies pages, hosts and this machine, reads .netrc files, and carries the settings of the
// calling program in a context.
//
// The files:
//
//	connect.go  transports: certificates, proxies, sockets, addresses
//	page.go     the page and the origin of a URL
//	machine.go  the identity of this machine; loopback hosts
//	netrc.go    .netrc files
//	caller.go   the settings of the calling program in a context
package connect

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options configure connections. The zero value verifies certificates against the system's authorities, and takes the
// proxy from the environment variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
type Options struct {
	// If Insecure is true, any server certificate is accepted.
	Insecure bool
	// CACert is the path of a PEM file with the certificate authorities to trust. If it is "", the authorities of the
	// system are trusted.
	CACert string
	// Cert is the path of a PEM file with a client certificate, and Key is the path of a PEM file with its key. If
	// Key is "", the file Cert must also contain the key. If Cert is "", no client certificate is sent.
	Cert, Key string
	// UnixSocket is the path of a Unix socket that all connections go to, whatever the host and the proxy are. If
	// UnixSocket is "", connections go to the hosts of the URLs.
	UnixSocket string
	// Proxy is the URL of the proxy for every request, with the scheme http, https, socks5 or socks5h. The value
	// "direct" means no proxy. If Proxy is "", the environment names the proxy.
	Proxy string
	// Routes redirects connections. A key is the "host:port" of a URL in lower case, and its values are the addresses
	// to connect to instead, without a proxy. An example is "www.example.com:443": "10.0.0.7:8443".
	//
	// In a key, an empty host or port matches any host or port. In an address, an empty host or port stands for the
	// host or port of the URL. The addresses are tried in order, those of more specific keys first: a key with host
	// and port, then one with any port, then one with any host. The server's certificate must still be valid for the
	// host of the URL.
	Routes map[string][]string
}

// Transport returns a transport that any number of probes can share. It keeps up to 100 idle connections per host,
// and 1000 in all. An error names the file or the environment variable that is not usable.
func (o Options) Transport() (*http.Transport, error) {
	config, err := o.tls()
	if err != nil {
		return nil, err
	}
	proxy, err := o.proxy()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy:                  proxy,
		DialContext:            o.dial(dialer.DialContext),
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    30 * time.Second,
		MaxResponseHeaderBytes: 1 << 20, // the default of net/http is ten times as large
		IdleConnTimeout:        5 * time.Minute,
		MaxIdleConnsPerHost:    100, // up to 100 concurrent requests to a host can reuse their connections
		MaxIdleConns:           1000,
		// Without pings, a connection that has died silently would stay in use, and every further attempt would time
		// out. This concerns HTTP/2 only: an HTTP/1 connection is closed after a timeout.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}
	t.OnProxyConnectResponse = checkProxy
	return t, nil
}

// A FileError is an error of [Options.Transport] about the file of an option.
type FileError struct {
	Option string // "cacert"; "cert" for the client certificate or its key; "key" if Key is set without Cert
	Err    error
}

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// tls returns the TLS configuration for o.
func (o Options) tls() (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: o.Insecure}
	if o.CACert != "" {
		pem, err := os.ReadFile(o.CACert)
		if err != nil {
			return nil, &FileError{"cacert", fmt.Errorf("read the certificate authorities: %w", err)}
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &FileError{"cacert", fmt.Errorf("no PEM certificate in %s", o.CACert)}
		}
	}
	switch {
	case o.Cert != "":
		pair, err := readPair(o.Cert, o.Key)
		config.Certificates = []tls.Certificate{pair}
		return config, err
	case o.Key != "":
		return nil, &FileError{"key", errors.New("it needs a client certificate")}
	}
	return config, nil
}

// readPair reads a client certificate from certFile, and its key from keyFile. If keyFile is "", the key is also in
// certFile, which is then read only once, because it may be a pipe.
func readPair(certFile, keyFile string) (pair tls.Certificate, err error) {
	cert, err := os.ReadFile(certFile)
	key := cert
	if err == nil && keyFile != "" {
		key, err = os.ReadFile(keyFile)
	}
	if err == nil {
		pair, err = tls.X509KeyPair(cert, key)
	}
	if err != nil {
		return pair, &FileError{"cert", fmt.Errorf("load the client certificate: %w", err)}
	}
	return pair, nil
}

// proxy returns a function that selects the proxy of a request, or nil if no request uses a proxy. The function
// selects no proxy for a host that o.Routes redirects. proxy returns an error if the proxy in o or in the
// environment is malformed.
func (o Options) proxy() (func(*http.Request) (*url.URL, error), error) {
	proxy := http.ProxyFromEnvironment
	switch {
	case o.UnixSocket != "", o.Proxy == "direct":
		return nil, nil
	case o.Proxy == "":
		if err := checkProxies(os.Getenv); err != nil {
			return nil, err
		}
	default:
		u, err := ParseProxy(o.Proxy)
		if err != nil {
			return nil, fmt.Errorf("the proxy %w", err)
		}
		proxy = http.ProxyURL(u)
	}
	return func(r *http.Request) (*url.URL, error) {
		if len(o.routed(r.URL.Hostname(), port(r.URL))) > 0 {
			return nil, nil
		}
		return proxy(r)
	}, nil
}

// errProxy is the error for a proxy setting, from an option or from the environment, that is not the URL of a proxy.
var errProxy = errors.New("is not the URL of a proxy, such as http://HOST:PORT")

// checkProxies returns an error that names the first environment variable whose value is not the URL of a proxy.
// Without this check, net/http would ignore such a variable and connect without a proxy. getenv returns the value of
// a variable, or "".
func checkProxies(getenv func(string) string) error {
	for _, name := range [...]string{"HTTP_PROXY", "HTTPS_PROXY"} {
		if getenv(name) == "" {
			name = strings.ToLower(name)
		}
		if value := getenv(name); value != "" {
			if _, err := ParseProxy(value); err != nil {
				return fmt.Errorf("%s %w", name, err)
			}
		}
	}
	return nil
}

// ParseProxy parses text, the URL of a proxy. If text has no scheme, the scheme is http, as in net/http. The error
// does not repeat text, which may contain a password.
func ParseProxy(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return nil, errProxy
	}
	if _, err := strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16); err != nil {
		return nil, errProxy
	}
	return u, nil
}

// routed returns the addresses that o.Routes names for connections to host and port. It returns nil if no route
// matches.
func (o Options) routed(host, port string) (addresses []string) {
	if len(o.Routes) == 0 {
		return nil
	}
	named := strings.TrimSuffix(host, ".")
	for _, from := range [][2]string{{named, port}, {named, ""}, {"", port}, {"", ""}} {
		for _, to := range o.Routes[strings.ToLower(net.JoinHostPort(from[0], from[1]))] {
			toHost, toPort, _ := net.SplitHostPort(to)
			addresses = append(addresses, net.JoinHostPort(cmp.Or(toHost, host), cmp.Or(toPort, port)))
		}
	}
	return addresses
}

// A dialFunc opens a connection, like [net.Dialer.DialContext].
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dial returns a function that calls the parameter dial with the address that o selects.
func (o Options) dial(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if o.UnixSocket != "" {
			return dial(ctx, "unix", o.UnixSocket)
		}
		host, port, _ := net.SplitHostPort(address)
		if routed := o.routed(host, port); routed != nil {
			return DialFirst(ctx, dial, network, routed...)
		}
		return DialFirst(ctx, dial, network, address)
	}
}

// DialFirst connects to each of the addresses in turn, by calling dial, and returns the first connection that opens.
// If none opens, its error joins the errors of all addresses. For localhost and its subdomains, DialFirst also tries
// both loopback addresses, because some resolvers return only one of them (RFC 6761 section 6.3).
func DialFirst(ctx context.Context, dial dialFunc, network string, addresses ...string) (net.Conn, error) {
	var errs []error
	for _, address := range addresses {
		all := []string{address}
		host, port, _ := net.SplitHostPort(address)
		if strings.HasSuffix("."+strings.ToLower(strings.TrimSuffix(host, ".")), ".localhost") {
			all = append(all, net.JoinHostPort("::1", port), net.JoinHostPort("127.0.0.1", port))
		}
		for _, to := range all {
			conn, err := dial(ctx, network, to)
			if err == nil {
				return conn, nil
			}
			errs = append(errs, err)
		}
	}
	return nil, errors.Join(errs...)
}

// A ProxyError is the HTTP status code of a proxy that has rejected a connection to the server.
type ProxyError int

func (e ProxyError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", int(e), http.StatusText(int(e))))
}

// checkProxy returns an error if answer, the response of a proxy, rejects a connection. The error does not repeat the
// text in the response, which may be anything.
func checkProxy(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return ProxyError(answer.StatusCode)
}
