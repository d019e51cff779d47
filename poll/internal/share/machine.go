package share

import (
	"net/netip"
	"net/url"
	"os"
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
	return MachineOf(u.Hostname())
}

// MachineOf returns what [Machine] does, of the name or address of a host.
func MachineOf(host string) string {
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
