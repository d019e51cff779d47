package httpscript

import (
	"bytes"

	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Answer is a scripted server's response to one request.
type Answer struct {
	// The status code, or a word that replaces the status code.
	What    string
	header  []string // lines
	body    []byte
	delay   time.Duration
	touch   string
	until   string
	gzip    bool
	repeat  int
	headers int
	cut     int // -1 for the whole body
	drip    time.Duration
}

// answerForm matches the parts of an answer's first line, nameForm those of a name
// with its value.
var (
	answerForm = regexp.MustCompile(`^(?:(\d+)\*)?(\w+)((?:,[\w-]+(?:=(?:<[^>]*>|[^,:]*))?)*)(?::(.*))?$`)
	nameForm   = regexp.MustCompile(`,([\w-]+)(?:=(?:<([^>]*)>|([^,:]*)))?`)
)

// words replace a status code. The last three stand for connections that cannot be
// made; the dialer has to fail accordingly.
var words = []string{"hang", "close", "raw", "refused", "unreachable", "nxdomain"}

// Parse reads an answer, and returns it as many times as the text says. resolve
// returns the path of a file that the answer names.
func Parse(text string, resolve func(string) string) ([]Answer, error) {
	first, rest, several := strings.Cut(text, "\n")
	m := answerForm.FindStringSubmatch(first)
	if m == nil {
		return nil, fmt.Errorf("%q is no answer", first)
	}
	a := Answer{What: m[2], repeat: 1, cut: -1}
	if _, err := strconv.Atoi(a.What); err != nil && !slices.Contains(words, a.What) {
		return nil, fmt.Errorf("answer %q: unknown word %q", first, a.What)
	}
	for _, n := range nameForm.FindAllStringSubmatch(m[3], -1) {
		if err := a.set(n[1], n[2]+n[3], resolve); err != nil {
			return nil, fmt.Errorf("answer %q: %w", first, err)
		}
	}
	if err := a.setBody(m[4], resolve); err != nil {
		return nil, fmt.Errorf("answer %q: %w", first, err)
	}
	if several {
		if len(a.body) > 0 {
			return nil, fmt.Errorf("answer %q: has a body and further lines", first)
		}
		a.setLines(strings.Split(rest, "\n"))
	}
	times := 1
	if m[1] != "" {
		times, _ = strconv.Atoi(m[1]) // only digits
	}
	return slices.Repeat([]Answer{a}, times), nil
}

func (a *Answer) set(name, value string, resolve func(string) string) (err error) {
	switch name {
	case "delay":
		a.delay, err = time.ParseDuration(value)
	case "drip":
		a.drip, err = time.ParseDuration(value)
	case "touch":
		a.touch = resolve(value)
	case "until":
		a.until = resolve(value)
	case "gzip":
		a.gzip = true
	case "repeat":
		a.repeat, err = strconv.Atoi(value)
	case "headers":
		a.headers, err = strconv.Atoi(value)
	case "cut":
		a.cut, err = strconv.Atoi(value)
	case "next":
		a.header = append(a.header, fmt.Sprintf(`Link: <%s>; rel="next"`, value))
	default:
		a.header = append(a.header, name+": "+value)
	}
	return err
}

func (a *Answer) setBody(text string, resolve func(string) string) (err error) {
	if file, ok := strings.CutPrefix(text, "@"); ok {
		a.body, err = os.ReadFile(resolve(file))
		return err
	}
	if line, ok := strings.CutSuffix(text, `\n`); ok {
		text = line + "\n"
	}
	a.body = []byte(text)
	return nil
}

func (a *Answer) setLines(lines []string) {
	if a.What == "raw" {
		a.body = []byte(strings.Join(lines, "\r\n"))
		return
	}
	header := lines
	if i := slices.Index(lines, ""); i >= 0 {
		header, a.body = lines[:i], []byte(strings.Join(lines[i+1:], "\n"))
	}
	a.header = append(a.header, header...)
}

// write answers a request and reports whether the connection stays open.
func (a *Answer) write(conn io.ReadWriter, method string) bool {
	if a.touch != "" {
		os.WriteFile(a.touch, nil, 0o666)
	}
	time.Sleep(a.delay)
	a.waitForFile()
	switch a.What {
	case "close":
		return false
	case "hang":
		io.Copy(io.Discard, conn) // until the other side closes it
		return false
	}
	body := a.content()
	if a.What != "raw" {
		if _, err := conn.Write(a.head(body)); err != nil {
			return false
		}
	}
	if method == http.MethodHead {
		return true
	}
	return a.writeBody(conn, body) == nil && a.What != "raw"
}

// waitForFile returns when the file of "until" exists, or after a minute: no test waits longer.
func (a *Answer) waitForFile() {
	for limit := time.Now().Add(time.Minute); a.until != "" && time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(a.until); err == nil {
			return
		}
	}
}

// head returns everything before the body.
func (a *Answer) head(body [][]byte) []byte {
	code, _ := strconv.Atoi(a.What)
	header := a.header
	if a.gzip {
		header = append([]string{"Content-Encoding: gzip"}, header...)
	}
	for i := range a.headers {
		header = append(header, fmt.Sprintf("X-Header-%d: %s", i, strings.Repeat("x", 44)))
	}
	hasLength := code < 200 || code == http.StatusNotModified || code == http.StatusNoContent
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", code, http.StatusText(code))
	for _, line := range header {
		fmt.Fprintf(&b, "%s\r\n", strings.ReplaceAll(line, "{date}", time.Now().UTC().Format(http.TimeFormat)))
		hasLength = hasLength || strings.HasPrefix(line, "Content-Length:") || strings.HasPrefix(line, "Transfer-Encoding:")
	}
	if !hasLength {
		length := 0
		for _, piece := range body {
			length += len(piece)
		}
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length)
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// content returns the body in pieces: with repeat it may be larger than memory.
func (a *Answer) content() [][]byte {
	if len(a.body) == 0 {
		return nil
	}
	encode := func(piece []byte) []byte { return piece }
	if a.gzip {
		encode = gzipped // members may be concatenated (RFC 1952 section 2.2)
	}
	block := min(a.repeat, max(1, 1<<20/len(a.body)))
	pieces := slices.Repeat([][]byte{encode(bytes.Repeat(a.body, block))}, a.repeat/block)
	if rest := a.repeat % block; rest > 0 {
		pieces = append(pieces, encode(bytes.Repeat(a.body, rest)))
	}
	return pieces
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text)
	z.Close()
	return b.Bytes()
}

var errCut = errors.New("cut off")

func (a *Answer) writeBody(w io.Writer, body [][]byte) error {
	if a.cut >= 0 || a.drip > 0 {
		body = [][]byte{bytes.Join(body, nil)}
	}
	if a.cut >= 0 {
		w.Write(body[0][:a.cut])
		return errCut
	}
	if a.drip > 0 {
		return drip(w, body[0], a.drip)
	}
	for _, piece := range body {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func drip(w io.Writer, body []byte, pause time.Duration) error {
	for i := range body {
		time.Sleep(pause)
		if _, err := w.Write(body[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}
