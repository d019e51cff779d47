//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

const (
	listed   = 5_000   // elements of a list
	longList = 100_000 // elements of a long one
	element  = 280     // bytes
)

func oneLook() table {
	return table{
		title: "One look for many",
		about: fmt.Sprintf("A list of %d elements of %d B on loopback, beside a request for each. Reading the answer is not counted where the cost of an\n"+
			"element is: it is that of a wait on the same answer with `--until '$status==299'`. The floor checks the answer, splits it and\n"+
			"reads the state of each element: gjson.Valid, ForEach and Get.", listed, element),
		print: func(out io.Writer, w *workshop) error {
			if err := w.gather(); err != nil {
				return err
			}
			for _, part := range []struct {
				contest
				rounds int
			}{{w.elements(), 5}, {w.listMemory(), 5}, {w.longList(), 3}, {w.listOrEach(), 5}} {
				if err := part.print(out, min(w.rounds, part.rounds)); err != nil {
					return err
				}
				fmt.Fprintln(out)
			}
			return nil
		},
	}
}

// lists answers with a list of as many elements as the path says. Their states are those
// that the query says: of several, the next one for each request on a connection.
type lists struct {
	mu    sync.Mutex
	asked map[string]int // by the address of the client
}

func (l *lists) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	asked := l.asked[r.RemoteAddr]
	l.asked[r.RemoteAddr]++
	l.mu.Unlock()
	n, _ := strconv.Atoi(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
	states := r.URL.Query()["state"]
	answer := listAnswer(n, states[asked%len(states)])
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.Write(answer)
}

// listAnswer is a list of n jobs in a state.
func listAnswer(n int, state string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"jobs":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		head := fmt.Sprintf(`{"id":%d,"state":%q,"note":"`, i+1, state)
		b.WriteString(head + strings.Repeat("x", max(0, element-len(head)-2)) + `"}`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// look is a line of poll that looks at a list so often.
func (w *workshop) look(n int, looks string, states ...string) []string {
	return []string{w.poll, "-q", "--interval", "0", "--rate", "0", "--max-attempts", looks, "--each", ".jobs", "--until", `.state=="done"`,
		w.list5(n, states...)}
}

// list5 is the URL of a list.
func (w *workshop) list5(n int, states ...string) string {
	return fmt.Sprintf("%s/list/%d?state=%s", w.url, n, strings.Join(states, "&state="))
}

// elements is what one element costs at a look, without reading the answer.
func (w *workshop) elements() contest {
	less := func(states ...string) func() (float64, error) {
		look := further(41, func(looks string) []string { return w.look(listed, looks, states...) })
		read := further(41, func(looks string) []string {
			return []string{w.poll, "-q", "--interval", "0", "--max-attempts", looks, "--until", "$status==299", w.list5(listed, states...)}
		})
		return func() (float64, error) {
			all, err := look()
			if err != nil {
				return 0, err
			}
			reading, err := read()
			return (all - reading) / listed, err
		}
	}
	answer := listAnswer(listed, "running")
	floor := inside(20, func() error {
		if !gjson.ValidBytes(answer) {
			return errNoMatch
		}
		gjson.GetBytes(answer, "jobs").ForEach(func(_, job gjson.Result) bool { return job.Get("state").Str != "done" })
		return nil
	})
	each := func() (float64, error) { all, err := floor(); return all / listed, err }
	return contest{fmt.Sprintf("CPU of an element, %d of them; limits: 4 and 1 µs", listed), microseconds, []entry{
		{"poll, all have changed", w.poll, less("running", "waiting")},
		{"poll, none has changed", w.poll, less("running")},
		{"floor", w.poll, each},
	}}
}

func (w *workshop) listMemory() contest {
	return contest{fmt.Sprintf("Peak memory, %d elements, 20 looks; limit: 40 MiB", listed), mebibytes, []entry{
		{"all have changed", w.poll, peak(w.look(listed, "20", "running", "waiting")...)},
		{"none has changed", w.poll, peak(w.look(listed, "20", "running")...)},
	}}
}

func (w *workshop) longList() contest {
	line := w.look(longList, "1", "done")
	return contest{fmt.Sprintf("A list of %d elements, %d MB, that are all done", longList, longList*element/1_000_000), seconds, []entry{
		{"poll, CPU", w.poll, func() (float64, error) {
			return cpu(slices.Concat(line, []string{"--expect", strconv.Itoa(longList)})...)
		}},
	}}
}

// listOrEach looks at jobs by one list and by a request for each.
func (w *workshop) listOrEach() contest {
	list := func(states ...string) func() (float64, error) {
		return further(41, func(looks string) []string { return w.look(listed, looks, states...) })
	}
	return contest{fmt.Sprintf("CPU of a further look at all of %d jobs; limit: a tenth", listed), milliseconds, []entry{
		{"poll, `--each .jobs`: 1 request, none has changed", w.poll, list("running")},
		{"the same, all have changed", w.poll, list("running", "waiting")},
		{fmt.Sprintf("poll, `--targets FILE`: %d requests", listed), w.poll, further(3, func(looks string) []string {
			return w.ask(strconv.Itoa(listed), "--interval", "0", "--max-attempts", looks)
		})},
	}}
}

func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }
