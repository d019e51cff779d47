package share

import (
	"os"
	"strings"
	"testing"
)

// Two containers may have one host name and one kernel.
func TestMachineTellsNetworksApart(t *testing.T) {
	t.Parallel()
	network, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Skip("there are no network namespaces: ", err)
	}
	if got := Machine("http://localhost"); !strings.HasSuffix(got, network) {
		t.Errorf("Machine is %q without %s", got, network)
	}
}
