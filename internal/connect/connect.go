// Package connect opens the connections of requests: with certificates, through a proxy, or to a socket or an
// address. It also returns the identity of the page at a URL, and describes this machine and the program that runs
// a wait.
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

// Options configure connections. The zero value verifies certificates against the system's authorities and takes
// the proxy from the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
type Options struct {
	// Insecure accepts any certificate.
	Insecure bool
	// CACert names a PEM file of the authorities to trust; "" means the system's.
	CACert string
	// Cert names a PEM file with a client certificate, Key one with its key. An empty Key means that Cert also
	// holds the key.
	Cert, Key string
	// UnixSocket is the path of a socket, which replaces every host and proxy; "" means no socket.
	UnixSocket string
	// Proxy is the URL of the proxy for every request: http, https, socks5 or socks5h; "" means the proxies of the
	// environment, and "direct" means no proxy.
	Proxy string
	// Routes names the addresses to connect to, without a proxy, in place of the "host:port" of a URL in lower
	// case, such as "www.example.com:443": "10.0.0.7:8443". In a key, an empty host or port stands for any host or
	// port. In an address, it stands for the host or port of the URL. The addresses are tried in order: addresses
	// for the host and port first, then for any port, and for any host last. The certificate has to be valid for
	// the host of the URL.
	Routes map[string][]string
}

// Transport returns a transport for any number of probes at once. It keeps up to 100 idle connections to a host,
// and 1000 in all. An error names the file or the variable of the environment that cannot be used.
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
		MaxResponseHeaderBytes: 1 << 20, // net/http's own limit is ten times that
		IdleConnTimeout:        5 * time.Minute,
		MaxIdleConnsPerHost:    100, // a request needs no new connection while fewer are at work
		MaxIdleConns:           1000,
		// Without pings, every further attempt would use a connection that died silently,
		// and time out. Over HTTP/1 a timeout ends the connection.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}
	t.OnProxyConnectResponse = checkProxy
	return t, nil
}

// A FileError is the error of [Options.Transport] about the file of an option.
type FileError struct {
	Option string // "cacert", "cert" for the client certificate with its key, or "key"
	Err    error
}

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

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

// readPair reads a client certificate and its key. An empty keyFile means that certFile also holds the key. The
// file is read once, since it may be a pipe.
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

// proxy returns the function that selects the proxy of a request, or nil if no request goes through a proxy.
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
		port := cmp.Or(r.URL.Port(), map[string]string{"http": "80", "https": "443"}[r.URL.Scheme])
		if len(o.routed(r.URL.Hostname(), port)) > 0 {
			return nil, nil
		}
		return proxy(r)
	}, nil
}

// errProxy is wrapped by the error of [Options.Transport] if the value of an environment variable is not the URL
// of a proxy.
var errProxy = errors.New("is not the URL of a proxy, such as http://HOST:PORT")

// checkProxies returns an error for a variable whose value is not the URL of a proxy: net/http would ignore the
// variable, and connect without a proxy.
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

// ParseProxy reads the URL of a proxy. Without a scheme it is one of HTTP, as for net/http. The error does not
// repeat the text, which may contain a password.
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

// routed returns the addresses that replace a host and port, or nil if no route matches.
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

// A dialFunc has the signature of [net.Dialer.DialContext].
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dial returns a function that connects according to o.
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

// DialFirst connects to the first of some addresses that opens. Its error joins the errors of all addresses. For
// localhost it tries both loopback addresses (RFC 6761 section 6.3), even if the resolver of the system returns
// only one of them.
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

// A ProxyError is the status code of a proxy that rejects a connection to the server.
type ProxyError int

func (e ProxyError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", int(e), http.StatusText(int(e))))
}

// checkProxy returns an error if the proxy rejects the connection. The error does not contain the text of the
// proxy, which can be anything.
func checkProxy(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return ProxyError(answer.StatusCode)
}
