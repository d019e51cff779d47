//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// kill kills whoever asks, while it does.
func (s *suite) kill() (string, bool, error) {
	const lease, interval = 5 * time.Second, 2 * time.Second
	var gaps []string
	kept := true
	for range 3 {
		gap, err := s.killOne()
		if err != nil {
			return "", false, err
		}
		kept = kept && gap <= lease+interval+time.Second
		gaps = append(gaps, words(gap))
	}
	return fmt.Sprintf("no request for %s (a look takes 1 s, every 2 s; a lease is 5 s)", strings.Join(gaps, ", ")), kept, nil
}

func (s *suite) killOne() (gap time.Duration, err error) {
	a := newAPI(&api{takes: time.Second})
	defer a.Close()
	a.done = time.Now().Add(14 * time.Second)
	const n = 8
	pids := make([]int, n)
	var all sync.WaitGroup
	for i := range n {
		cmd := exec.Command(s.poll, "-q", "--share", s.url(), "--share-answers", "thing", "--interval", "2s", "--until", isDone, a.URL+"/thing")
		cmd.Env = environ()
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		pids[i] = cmd.Process.Pid
		all.Go(func() { cmd.Wait() })
	}
	for a.count() < 3 {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	a.mu.Lock()
	killed, peer := a.asked[len(a.asked)-1], a.peers[len(a.peers)-1]
	a.mu.Unlock()
	pid, err := ownerOf(peer, pids)
	if err != nil {
		return 0, err
	}
	syscall.Kill(pid, syscall.SIGKILL)
	all.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, at := range a.asked {
		if at.After(killed) {
			return at.Sub(killed), nil
		}
	}
	return 0, errors.New("nobody has asked after the kill")
}

// ownerOf returns which of some processes has a TCP connection from an address.
func ownerOf(address string, pids []int) (int, error) {
	port, _ := strconv.Atoi(address[strings.LastIndex(address, ":")+1:])
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return 0, fmt.Errorf("read the connections: %w", err)
	}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 10 || !strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) {
			continue
		}
		for _, pid := range pids {
			files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
			for _, file := range files {
				if to, _ := os.Readlink(file); to == "socket:["+fields[9]+"]" {
					return pid, nil
				}
			}
		}
	}
	return 0, fmt.Errorf("nobody has the connection from %s", address)
}

// pause stops the server for a while.
func (s *suite) pause() (string, bool, error) {
	n, paused := pick(s, 30, 300), pick(s, 4*time.Second, 10*time.Second)
	a := newAPI(&api{takes: 5 * time.Millisecond})
	defer a.Close()
	a.done = time.Now().Add(paused + 10*time.Second)
	var from, to time.Time
	var resumed sync.WaitGroup
	resumed.Go(func() {
		time.Sleep(5 * time.Second)
		syscall.Kill(s.pid, syscall.SIGSTOP)
		from = time.Now()
		time.Sleep(paused)
		syscall.Kill(s.pid, syscall.SIGCONT)
		to = time.Now()
	})
	const interval = 5 * time.Second
	ends := inProcess(n, time.Second, func(int) []string {
		return []string{"-q", "--share", s.url(), "--share-answers", "thing", "--interval", interval.String(), "--until", isDone, a.URL + "/thing"}
	})
	resumed.Wait()
	failed, first := failures(ends, 0)
	most := n * int(paused/interval+1)
	asked := a.between(from, to)
	return fmt.Sprintf("%d waits asked %d times in %s, %d would be their past pace alone; %d failed%s", n, asked, paused, most, failed, first),
		failed == 0 && asked <= most, nil
}

// faults has many share through a proxy that is slow, cuts and resets, and one half of them
// now and then not at all.
func (s *suite) faults() (string, bool, error) {
	n, lasts := 100, s.long
	if s.small {
		n, lasts = 30, 10*time.Second
	}
	zerolog.SetGlobalLevel(zerolog.Disabled) // some of its parts have loggers of their own
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxies, addresses := make([]*toxiproxy.Proxy, 2), make([]string, 2)
	for i := range proxies {
		proxies[i] = toxiproxy.NewProxy(server, fmt.Sprint("redis ", i), "127.0.0.1:0", s.redis)
		if err := proxies[i].Start(); err != nil {
			return "", false, err
		}
		defer proxies[i].Stop()
		addresses[i] = proxies[i].Listen
	}
	a := newAPI(&api{rate: 50})
	defer a.Close()
	a.done = time.Now().Add(lasts)
	ctx, cancel := context.WithTimeout(context.Background(), lasts)
	defer cancel()
	var vexed sync.WaitGroup
	faults := 0
	vexed.Go(func() { faults = vex(ctx, proxies) })
	ends := inProcess(n, time.Second, func(i int) []string {
		where := "redis://" + addresses[i%2]
		if i%3 == 0 {
			return []string{"-q", "--share", where, "--interval", "200ms", "--timeout", lasts.String(), "--until", isDone, fmt.Sprintf("%s/limited/%d", a.URL, i)}
		}
		return []string{"-q", "--share", where, "--share-answers", "thing", "--interval", "500ms", "--timeout", "1h", "--until", isDone, a.URL + "/thing"}
	})
	vexed.Wait()
	failed := 0
	for i, e := range ends {
		if want := map[bool]int{true: 124, false: 0}[i%3 == 0]; e.code != want {
			failed++
			fmt.Printf("     wait %d: exit %d: %s\n", i, e.code, strings.TrimSpace(e.said))
		}
	}
	return fmt.Sprintf("%d waits, %d faults in %s: %d requests for the thing, %d served and %d refused by the limit; %d failed",
		n, faults, lasts, a.count(), a.served, a.denied, failed), failed == 0, nil
}

// vex adds one fault after another to proxies, and takes it away again, until ctx is done.
func vex(ctx context.Context, proxies []*toxiproxy.Proxy) (faults int) {
	toxics := []string{
		`{"name":"t","type":"latency","attributes":{"latency":40,"jitter":30}}`,
		`{"name":"t","type":"latency","attributes":{"latency":700,"jitter":300}}`,
		`{"name":"t","type":"reset_peer","attributes":{"timeout":20}}`,
		`{"name":"t","type":"timeout","attributes":{"timeout":0}}`,
		`{"name":"t","type":"limit_data","attributes":{"bytes":300}}`,
	}
	pause := func(most time.Duration) {
		select {
		case <-time.After(rand.N(most)):
		case <-ctx.Done():
		}
	}
	for ; ctx.Err() == nil; faults++ {
		proxy, toxic := proxies[rand.N(len(proxies))], toxics[rand.N(len(toxics))]
		if rand.N(8) == 0 { // split in two
			proxy.Stop()
			pause(2 * time.Second)
			proxy.Start()
			continue
		}
		if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			continue
		}
		pause(2 * time.Second)
		if !within(10*time.Second, func() { proxy.Toxics.RemoveToxic(context.Background(), "t") }) {
			fmt.Println("     a proxy is stuck with", toxic)
			proxies = slices.DeleteFunc(slices.Clone(proxies), func(p *toxiproxy.Proxy) bool { return p == proxy })
			if len(proxies) == 0 {
				return faults
			}
		}
		pause(time.Second)
	}
	return faults
}

// within reports whether f returns in time.
func within(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}
