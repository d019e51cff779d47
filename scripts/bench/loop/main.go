// Command loop is the least that listening costs a Go program: a loop of bufio.Scanner over the lines of a program, or of
// what a URL answers. It ends with the first line that is TEXT, or that meets the condition TEXT if it is to ask, and prints it.
//
//	loop is TEXT URL|PROGRAM...
//	loop ask TEXT URL|PROGRAM...
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "loop:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("usage: loop is|ask TEXT URL|PROGRAM ARG")
	}
	isEnough, err := question(args[0], args[1])
	if err != nil {
		return err
	}
	lines, end, err := open(args[2:])
	if err != nil {
		return err
	}
	defer end()
	for s := bufio.NewScanner(lines); s.Scan(); {
		if isEnough(s.Bytes()) {
			_, err := fmt.Printf("%s\n", s.Bytes())
			return err
		}
	}
	return errors.New("no line was enough")
}

// question returns the test of each line.
func question(how, text string) (func(line []byte) bool, error) {
	if how == "is" {
		return func(line []byte) bool { return string(line) == text }, nil
	}
	rule, err := status.NewRule(status.Success, text)
	rules := status.Rules{Own: []status.Rule{rule}}
	return func(line []byte) bool {
		o := poll.Recorded(status.Observation{Kind: status.KindCommand, Exit: new(0), Body: line, Size: int64(len(line))})
		o.Message = true
		return rules.Classify(context.Background(), o).Status == status.Success
	}, err
}

// open returns the lines of a URL or of a program.
func open(what []string) (lines io.Reader, end func(), err error) {
	if strings.HasPrefix(what[0], "http:") {
		answer, err := http.Get(what[0])
		if err != nil {
			return nil, nil, err
		}
		return answer.Body, func() { answer.Body.Close() }, nil
	}
	cmd := exec.Command(what[0], what[1:]...)
	if lines, err = cmd.StdoutPipe(); err != nil {
		return nil, nil, err
	}
	return lines, func() { cmd.Process.Kill(); cmd.Wait() }, cmd.Start()
}
