package poll

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Machine returns what tells this machine from others if the name of a place means another
// place elsewhere: localhost, a name without a dot such as a container has, a private
// address (RFC 1918, RFC 4193), or a name below a domain that is for local use (RFC 6761,
// RFC 6762, RFC 8375). It returns "" for any other place. What is shared about places by
// more than one machine needs it. A network namespace is a machine of its own.
func Machine(place string) string {
	u, err := url.Parse(place)
	if err != nil {
		return ""
	}
	return machineOf(u.Hostname())
}

// machineOf returns what [Machine] does, of the name or address of a host.
func machineOf(host string) string {
	if host == "" || !isLocal(strings.ToLower(strings.TrimSuffix(host, "."))) {
		return ""
	}
	name, _ := os.Hostname() // a container has one of its own
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	network, _ := os.Readlink("/proc/self/ns/net")
	return name + "\n" + string(boot) + network
}

// isLocal reports whether the name or address of a host means another one elsewhere.
func isLocal(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()
	}
	domains := []string{".localhost", ".local", ".internal", ".test", ".home.arpa", ".lan"}
	return !strings.Contains(host, ".") ||
		slices.ContainsFunc(domains, func(domain string) bool { return strings.HasSuffix(host, domain) })
}

// Through returns what the connections of c go through: those for whom it is equal reach the
// same servers with the same rights, and trust the same. It may hold secrets. It is "" if that
// is not known.
func (c Connect) Through() string {
	for _, file := range []*string{&c.CACert, &c.Cert, &c.Key} {
		if *file == "" {
			continue
		}
		text, err := os.ReadFile(*file)
		if err != nil || len(text) == 0 { // such as a pipe that Transport has read
			return ""
		}
		*file = string(text)
	}
	var parts []string
	for _, name := range [...]string{
		"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	} {
		parts = append(parts, os.Getenv(name))
	}
	to := append(slices.Concat(slices.Collect(maps.Values(c.Routes))...), c.Proxy)
	to = append(to, parts[:4]...)
	if path, err := filepath.Abs(c.UnixSocket); c.UnixSocket != "" && err == nil {
		c.UnixSocket, to = path, []string{"localhost"}
	}
	if slices.ContainsFunc(to, leadsToLocal) {
		parts = append(parts, machineOf("localhost"))
	}
	return fmt.Sprintf("%#v %q", c, parts)
}

// leadsToLocal reports whether an address, or the URL of a proxy, means another one elsewhere.
func leadsToLocal(address string) bool {
	if address == "" || address == "direct" {
		return false
	}
	u, err := parseProxy(address)
	return err != nil || machineOf(u.Hostname()) != ""
}
