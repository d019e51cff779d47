package connect

import (
	"net/netip"
	"os"
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
