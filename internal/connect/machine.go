package connect

import (
	"net/netip"
	"os"
	"strings"
	"sync"
)

// Machine returns a string that identifies this machine. Each network namespace counts as a separate machine, since
// it has its own loopback addresses. The string is computed on the first call.
var Machine = sync.OnceValue(func() string {
	name, _ := os.Hostname() // each container has its own host name
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	network, _ := os.Readlink("/proc/self/ns/net")
	return name + "\n" + string(boot) + network
})

// IsLoopback reports whether host, a name or an address, always means the local machine. Such a host is a different
// server on each machine.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	addr, _ := netip.ParseAddr(host) // ignore the error: the zero Addr is not a loopback address
	return addr.Unmap().IsLoopback() || addr.IsUnspecified() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}
