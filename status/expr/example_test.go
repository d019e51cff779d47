package expr_test

import (
	"fmt"
	"log"

	"github.com/pollcli/poll/status/expr"
)

func Example() {
	done, err := expr.Compile(`.state == "done" and .progress >= 100`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{
		`{"state":"running","progress":40}`,
		`{"state":"done","progress":"100"}`,
		`<html>502 Bad Gateway</html>`,
		`{"state":"done","progress":100}`,
	} {
		result := done.Eval(&expr.Env{Doc: expr.NewDoc([]byte(body))})
		fmt.Printf("%v: %s\n", result.Tri, result.Explain().Lines[0])
	}
	// Output:
	// false: .state is "running", want == "done"
	// unknown: .progress is "100" (a string): >= needs two numbers, or two texts
	// unknown: .state is unknown: the body is not JSON (line 1, column 1: "<html>502 Bad Gateway</html>")
	// true: .state is "done"
}

func ExampleResult_Explain() {
	x, err := expr.Compile(`all(.items[]; .status.phase == "Running") and .spec.paused != true`)
	if err != nil {
		fmt.Println(err)
		return
	}
	body := []byte(`{"items":[{"status":{"phase":"Running"}},{"status":{"phase":"Pending"}}],"spec":{}}`)
	for _, line := range x.Eval(&expr.Env{Doc: expr.NewDoc(body)}).Explain().Lines {
		fmt.Println(line)
	}
	// Output:
	// all(.items[]; .status.phase == "Running") is false at [1]: .status.phase is "Pending", want == "Running" (1 of 2 items)
	// .spec.paused is missing, want != true
}

func ExampleCompileEach() {
	each, err := expr.CompileEach(".jobs")
	if err != nil {
		log.Fatal(err)
	}
	id, err := expr.CompileValue(".id")
	if err != nil {
		log.Fatal(err)
	}
	done, err := expr.Compile(`.step >= $json.steps`)
	if err != nil {
		log.Fatal(err)
	}
	page := expr.NewDoc([]byte(`{"steps": 3, "jobs": [{"id": 41, "step": 3}, {"id": 42, "step": 1}]}`))
	jobs, _, problem := each.Elements(page)
	if problem != "" {
		log.Fatal(problem)
	}
	for _, job := range jobs {
		env := &expr.Env{Doc: page, Element: job}
		fmt.Println(id.Eval(env).Value().Text(), done.Eval(env).Tri)
	}
	// Output:
	// 41 true
	// 42 false
}
