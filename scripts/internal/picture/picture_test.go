package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlay(t *testing.T) {
	t.Parallel()
	parts := []struct {
		text    string
		seconds float64
	}{
		{"$ poll\r\n", 0.5},
		{"\r\x1b[2mwaiting\x1b[22m  1\x1b[J", 0.5},
		{"\r\x1b[2mwaiting\x1b[22m  2\x1b[J", 0.1}, // too soon to be seen
		{"\r\x1b[2mwaiting\x1b[22m  3\xe2", 0.4},
		{"\x94\x80\x1b", 0}, // a character and a sequence in pieces
		{"[J", 0},
		{"\r\x1b[J", 0.5},
		{"\r\x1b[J\x1b[1m\x1b[31m<ERROR>\x1b[0m ok\r\n", 0.5},
	}
	text, times := "Script started\n", ""
	for _, p := range parts {
		text += p.text
		times += fmt.Sprintf("%f %d\n", p.seconds, len(p.text))
	}
	lines, err := play([]byte(text+"\nScript done\n"), times)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, l := range lines {
		have = append(have, fmt.Sprintf("%d %v-%v %s", l.row, l.from, l.to, l.cells))
	}
	want := []string{
		`1 1s-1.5s <tspan x="14.0" textLength="58.8" class="dim">waiting</tspan><tspan x="89.6" textLength="8.4">2</tspan>`,
		`1 1.5s-2s <tspan x="14.0" textLength="58.8" class="dim">waiting</tspan><tspan x="89.6" textLength="16.8">3─</tspan>`,
		`0 500ms-0s <tspan x="14.0" textLength="50.4">$ poll</tspan>`,
		`1 2.5s-0s <tspan x="14.0" textLength="58.8" class="bold red">&lt;ERROR&gt;</tspan><tspan x="81.2" textLength="16.8">ok</tspan>`,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

func TestPlay_unknown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\x1b[5;5H", "\x1b[38;5;1m", "\x1b]0;x\x07"} {
		if lines, err := play([]byte("\n"+text), fmt.Sprintf("1 %d\n", len(text))); err == nil {
			t.Errorf("%q is shown as %v", text, lines)
		}
	}
	if _, err := play([]byte("\nabc"), "1 4\n"); err == nil {
		t.Error("more text is shown than there is")
	}
}

// The picture in README.md is one of these, shows all there is to show, and is small.
func TestPicture(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/img/wait.svg")
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(text))); err == nil; {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	for _, want := range []string{"poll --until", "NOT_READY", "THROTTLED", "SUCCESS", "it was worth the wait"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %q", want)
		}
	}
	if len(text) > 64<<10 {
		t.Errorf("%d bytes", len(text))
	}
}
