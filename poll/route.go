package poll

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// A route is an entry of [Connect.Routes].
type route struct{ fromHost, fromPort, toHost, toPort string }

func parseRoutes(text string) ([]route, error) {
	var routes []route
	for entry := range strings.FieldsSeq(text) {
		from, to, found := strings.Cut(entry, "=")
		var r route
		var err error
		if !found {
			err = fmt.Errorf("it has no =")
		}
		if err == nil {
			r.fromHost, r.fromPort, err = net.SplitHostPort(from)
		}
		if err == nil {
			r.toHost, r.toPort, err = net.SplitHostPort(to)
		}
		for _, port := range []string{r.fromPort, r.toPort} {
			if err == nil && port != "" {
				_, err = net.LookupPort("tcp", port)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%q is not HOST:PORT=HOST:PORT", entry)
		}
		routes = append(routes, r)
	}
	return routes, nil
}

// lead returns the address to which a route leads, "" if it does not fit.
func (r route) lead(host, port string) string {
	if r.fromHost != "" && !strings.EqualFold(r.fromHost, host) || r.fromPort != "" && r.fromPort != port {
		return ""
	}
	return net.JoinHostPort(cmp.Or(r.toHost, host), cmp.Or(r.toPort, port))
}

// route makes t connect as the routes say.
func (c Connect) route(t *http.Transport) error {
	routes, err := parseRoutes(c.Routes)
	if len(routes) == 0 {
		return err
	}
	leads := func(host, port string) (addresses []string) {
		for _, r := range routes {
			if address := r.lead(host, port); address != "" {
				addresses = append(addresses, address)
			}
		}
		return addresses
	}
	if proxy := t.Proxy; proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			port := r.URL.Port()
			if port == "" {
				port = map[string]string{"http": "80", "https": "443"}[r.URL.Scheme]
			}
			if len(leads(r.URL.Hostname(), port)) > 0 {
				return nil, nil
			}
			return proxy(r)
		}
	}
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return dial(ctx, network, address)
		}
		addresses := leads(host, port)
		if len(addresses) == 0 {
			return dial(ctx, network, address)
		}
		for _, to := range addresses {
			if conn, err = dial(ctx, network, to); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}
	return nil
}
