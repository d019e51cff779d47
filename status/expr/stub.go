// This file only lets the packages above compile; delete it with the first real commit here.

package expr

import (
	"net/http"
	"time"
)

type Expr struct{ src string }
type Uses struct{ JSON, Status, Exit, Stdout, Stderr, Body, Header bool }
type Tri int8

const (
	False Tri = iota
	True
	Unknown
)

type Doc struct{}
type Env struct {
	Doc                  *Doc
	Exit, Status         *int
	Header               http.Header
	Body, Stdout, Stderr []byte
	Attempt              int
	Elapsed              time.Duration
}
type Result struct{ Tri Tri }

func (r Result) Matched() bool        { return false }
func (r Result) Explain(int) []string { return nil }
func (r Result) Notes() []string      { return nil }
func (e *Expr) Uses() Uses            { return Uses{} }
func (e *Expr) Eval(*Env) Result      { return Result{} }
func (e *Expr) String() string        { return "" }
func NewDoc([]byte) *Doc              { return nil }
func Unreadable(string) *Doc          { return nil }
