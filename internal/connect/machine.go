package connect

import (
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
)

// Machine returns what tells this machine from others. A network namespace is a machine of
// its own. It is looked up once.
var Machine = sync.OnceValue(func() string {
	name, _ := os.Hostname() // a container has one of its own
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	network, _ := os.Readlink("/proc/self/ns/net")
	return name + "\n" + string(boot) + network
})

// IsLoopback reports whether the name or address of a host surely means another one on each
// machine.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	addr, _ := netip.ParseAddr(host) // the zero value is no loopback address
	return addr.Unmap().IsLoopback() || addr.IsUnspecified() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// IsLocal reports whether the name or address of a host may mean another one on each machine: a
// loopback address, a name without a dot such as a container has, a private address (RFC 1918,
// RFC 4193), or a name below a domain that is for local use (RFC 6761, RFC 6762, RFC 8375).
func IsLocal(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		return IsLoopback(host) || addr.IsPrivate() || addr.IsLinkLocalUnicast()
	}
	domains := []string{".localhost", ".local", ".internal", ".test", ".home.arpa", ".lan"}
	return host != "" && (!strings.Contains(host, ".") ||
		slices.ContainsFunc(domains, func(domain string) bool { return strings.HasSuffix(host, domain) }))
}
