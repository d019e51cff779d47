package syntax

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// What people type out of habit, and what to tell them. Each function returns ""
// where there is nothing wrong.

const hintArithmetic = `compare the parts one by one; a key with such a character is written ["a-1"]`

// What is said of lists, in general and of those that [] goes through.
const (
	hintElements = `test the elements, such as any(.items[]; .state == "done"), all(...), or count(.items[]; .state == "done") >= 3`
	hintEach     = "test the elements with any(...) or all(...)"
)

// Two questions in one expression.
const (
	hintJoin = "two conditions need and or or between them"
	hintAnd  = "two conditions need and between them"
)

const hintEnvironment = "an expression does not read the environment; let the shell put the value in"

const hintShell = "did the shell replace a $variable? put the whole expression in single quotes"

// wrongSign knows signs of other languages.
func wrongSign(rest string) (message, hint string) {
	for _, w := range [...]struct{ sign, message, hint string }{
		{"===", "=== is not an operator", "write =="},
		{"!==", "!== is not an operator", "write !="},
		{"=>", "=> is not an operator", "write >="},
		{"=<", "=< is not an operator", "write <="},
		{"<>", "<> is not an operator", "write !="},
		{"<<", "<< is not an operator", "write <"},
		{">>", ">> is not an operator", "write >"},
		{"|=", "|= is not an operator", "an expression changes nothing; write == to compare"},
		{"//=", "//= is not an operator", "an expression changes nothing; write == to compare"},
		{"~=", "~= is not an operator", "write =~ for a pattern"},
		{"~", "~ is not an operator", "write =~ for a pattern"},
		{"+", "poll does not calculate", hintArithmetic},
		{"-", "poll does not calculate", hintArithmetic},
		{"%", "poll does not calculate", hintArithmetic},
	} {
		if strings.HasPrefix(rest, w.sign) {
			return w.message, w.hint
		}
	}
	switch second := rest[1:] + " "; {
	case rest[0] == '=' && second[0] != '=' && second[0] != '~':
		return "= is not an operator", "did you mean ==?"
	case rest[0] == '&' && second[0] != '&':
		return "& is not an operator", "did you mean &&?"
	case rest[0] == '/' && second[0] != '/':
		return "poll does not calculate", `for a pattern write =~ "..."; ` + hintArithmetic
	}
	return "", ""
}

// wrongCharacter knows characters that begin nothing.
func wrongCharacter(r rune) (message, hint string) {
	switch {
	case strings.ContainsRune("“”„‟″", r):
		return "a curly quote does not quote", `write a straight one: "`
	case strings.ContainsRune("‘’‚‛′", r):
		return "a curly quote does not quote", "write a straight one: '"
	case r == '`':
		return "a backquote does not quote", `write "text", or numbers and true, false, null as they are`
	case r == ']' || r == '}':
		return fmt.Sprintf("%c closes nothing", r), ""
	case r == utf8.RuneError:
		return "this is not a character (invalid UTF-8)", ""
	case unicode.IsSpace(r) || !unicode.IsPrint(r):
		return fmt.Sprintf("the character %U cannot be seen and means nothing", r), "write an ordinary space"
	}
	return fmt.Sprintf("unexpected %c", r), fmt.Sprintf(`a key with such a character is written ["a%cb"]`, r)
}

// wrongConstant says why what stands in brackets is not JSON.
func wrongConstant(s string) (message, hint string) {
	inside := strings.TrimSpace(s[1 : len(s)-1])
	switch {
	case s[0] == '[' && strings.HasPrefix(inside, "?"):
		return "[?...] is a filter of JMESPath or JSONPath", `write any(.items[]; .name == "x")`
	case s[0] == '[' && strings.Contains(inside, "'") && !strings.Contains(inside, "."):
		return "this is not a JSON list", "write " + strings.ReplaceAll(s, "'", `"`)
	case s[0] == '[' && strings.Contains(inside, "[]"):
		return "a list cannot be built", hintElements
	case s[0] == '[' && strings.ContainsAny(inside, ".|"):
		return "a list cannot be built", "compare the parts one by one"
	case s[0] == '[':
		return "this is not a JSON list", `text in it needs double quotes: ["a", "b"]`
	case strings.HasPrefix(inside, "."):
		return "this is not a JSON object", "write the path without braces"
	}
	return "this is not a JSON object", `keys and text in it need double quotes: {"a": 1}`
}

// valueHint is the hint for who asks for a value where the one for a condition
// does not help.
func valueHint(hint string) string {
	switch hint {
	case hintJoin, hintAnd:
		return "an expression has one value"
	case hintElements, hintEach:
		return `.items.#.name is the list of a field, .items.#(name=="x").status the field of one element`
	case hintArithmetic:
		return `a key with such a character is written ["a-1"]`
	}
	return hint
}

// wrongModifier knows which modifiers there are.
func wrongModifier(name string) (message, hint string) {
	switch name {
	case "reverse", "this", "flatten", "join", "valid", "keys", "values", "tostr", "fromstr", "group":
		return "", ""
	case "pretty", "ugly":
		return "@" + name + " is not allowed, since it decides nothing", "leave it out"
	case "dig":
		return "@dig is not allowed, since it can blow a small body up", "name the path"
	case "base64", "base64d", "uri", "csv", "tsv", "html", "sh", "json", "text":
		return "@" + name + " is a format of jq, not a modifier", `for a key write ["@` + name + `"]`
	case "":
		return "there is a name missing after @", ""
	}
	return "there is no modifier @" + name, `for a key write ["@` + name + `"]`
}

// wrongQueryOp knows operators that a query does not have.
func wrongQueryOp(rest string) (message, hint string) {
	const more = `use any(.items[]; ...) for that`
	switch {
	case strings.HasPrefix(rest, "==="):
		return "=== is not an operator", "write =="
	case strings.HasPrefix(rest, "=~") && !hasAnyPrefix(rest[2:], "true", "false", "null", "*"):
		return "a query knows no regular expressions", `write % with a pattern such as "done*", or ` + more
	case strings.HasPrefix(rest, "!~"):
		return "a query knows no regular expressions", `write !% with a pattern such as "done*", or ` + more
	case strings.HasPrefix(rest, "=>"):
		return "=> is not an operator", "write >="
	case strings.HasPrefix(rest, "<>"):
		return "<> is not an operator", "write !="
	case rest != "" && !strings.ContainsRune("=!<>%", rune(rest[0])) || strings.HasPrefix(rest, "!") && !hasAnyPrefix(rest, "!=", "!%"):
		return wrongInQuery(rest), more
	}
	return "", ""
}

// wrongInQuery is the message for what cannot stand in a query.
func wrongInQuery(rest string) string {
	if hasAnyPrefix(rest, "&&", "||", "and", "or", "&", "|") {
		return "there is one comparison in a query"
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return fmt.Sprintf("unexpected %c in a query", r)
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// numberHint is for a word that begins with a digit and is no number.
func numberHint(word string) string {
	digits := strings.TrimRightFunc(word, unicode.IsLetter)
	unit := word[len(digits):]
	if !rawjson.IsDigits(strings.TrimPrefix(digits, "-")) || digits == "" || unit == "" {
		return "text needs quotes"
	}
	switch strings.ToLower(unit) {
	case "sec", "secs", "second", "seconds":
		return "write " + digits + "s"
	case "min", "mins", "minute", "minutes":
		return "write " + digits + "m"
	case "hr", "hrs", "hour", "hours":
		return "write " + digits + "h"
	}
	return "units are ms, s, m and h; text needs quotes"
}

// variableHint is for a name that is no variable.
func variableHint(name string) string {
	lower := strings.ToLower(name)
	if slices.Contains(variables[:], lower) {
		return "write $" + lower
	}
	switch lower {
	case "": // JSONPath's root
		return "a path begins with its dot: .state"
	case "code", "rc", "exitcode", "exit_code":
		return "write $exit for a command, $status for HTTP"
	case "http_status", "http_code", "statuscode", "status_code":
		return "write $status"
	case "headers":
		return "write $header.Retry-After"
	case "env":
		return hintEnvironment
	}
	return "variables are $exit $status $header.Name $body $stdout $stderr $attempt $elapsed $isjson $json"
}

// wrongFunction is for a call of something that is no function.
func wrongFunction(name string) (message, hint string) {
	switch name {
	case "map", "select", "keys":
		hint, _ = jqBuiltin(name)
		return name + " is not in the language", hint
	case "gjson":
		return "gjson(...) is not in the language", "write the gjson path as it is, without a leading dot"
	case "matches", "regex":
		return name + " is not a function", `such as .name =~ "pattern"`
	case "len", "size":
		return name + " is not a function", "such as (.items | length)"
	case "endsWith", "startsWith", "hasPrefix", "hasSuffix", "ends_with", "starts_with":
		return name + " is not a function", `such as .name startswith "x" or .name endswith "x"`
	}
	if hint, ok := jqBuiltin(name); ok {
		return "jq's " + name + " is not in the language", hint
	}
	if f := bareFunction(name); f != 0 {
		return name + " takes no arguments", "write (.name | " + name + ")"
	}
	return "there is no function " + name, "functions are any all count exists test contains startswith endswith has IN, and after | also length type not tonumber tostring ascii_downcase ascii_upcase fromjson"
}

// wrongWord is for a bare word that stands where a path cannot.
func wrongWord(name string) (message, hint string) {
	switch strings.ToLower(name) {
	case "and", "or", "not", "in", "contains", "startswith", "endswith":
		return name + " is not an operator", "write " + strings.ToLower(name)
	case "is", "eq", "equals", "equal":
		return name + " is not an operator", "write =="
	case "isnt", "ne", "neq":
		return name + " is not an operator", "write !="
	case "matches", "match", "like", "regex":
		return name + " is not an operator", `write =~ "pattern"`
	case "gt", "lt", "ge", "le", "gte", "lte":
		return name + " is not an operator", "write > >= < or <="
	case "xor", "nand", "nor":
		return name + " is not an operator", "write it with and, or, not"
	case "then", "else", "elif", "end":
		return "there is no if", "write it with and, or, not"
	case "as":
		return "there are no own variables", ""
	}
	return "", ""
}

// jqWord is for a word that means something in jq, alone or after a pipe.
func jqWord(name string, piped bool) (message, hint string) {
	switch name {
	case "keys":
		return wrongFunction(name)
	case "if", "reduce", "foreach", "try", "def", "label", "import", "include":
		return name + " is not in the language", "write conditions with and, or, not; ." + name + " is the field"
	}
	if !piped {
		return "", ""
	}
	switch name {
	case "test", "has", "count", "exists", "IN":
		return name + " needs an argument", "write " + name + "(...)"
	case "map", "select":
		return wrongFunction(name)
	}
	return "", ""
}
