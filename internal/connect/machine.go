package connect

import (
	"net/netip"
	"os"
	"strings"
	"sync"
)

// Machine returns an identity of this machine. A network namespace counts as a machine. The identity is determined
// once.
var Machine = sync.OnceValue(func() string {
	name, _ := os.Hostname() // a container has a name of its own
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	network, _ := os.Readlink("/proc/self/ns/net")
	return name + "\n" + string(boot) + network
})

// IsLoopback reports whether the name or address of a host means a different host on each machine.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	addr, _ := netip.ParseAddr(host) // the zero value is not a loopback address
	return addr.Unmap().IsLoopback() || addr.IsUnspecified() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}
