package syntax

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// Hints that are given in more than one place.
const (
	hintArithmetic  = `compare the parts one by one; a key with such a character is written ["a-1"]`
	hintElements    = `test the elements, such as any(.items[]; .state == "done"), all(...), or count(.items[]; .state == "done") >= 3`
	hintEach        = "test the elements with any(...) or all(...)"
	hintJoin        = "two conditions need and or or between them"
	hintAnd         = "two conditions need and between them"
	hintEnvironment = "write $ENV.NAME for a variable of the environment"
	hintShell       = "did the shell replace a $variable? put the whole expression in single quotes"
	hintAnyQuery    = "use any(.items[]; ...) for that"
)

const (
	noOperator = "%s is not an operator"
	noFunction = "%s is not a function"
	noLanguage = "%s is not in the language"
	noJQ       = "jq's %s is not in the language"
)

// A habit is what people used to other languages write, and what to tell them.
type habit struct {
	words   string // with blanks between them
	hint    string // %s stands for the word
	message string // likewise; "" if nothing is wrong
}

// find returns the first habit with a word that fits, reduced to that word.
func find(habits []habit, fits func(word string) bool) (habit, bool) {
	for _, h := range habits {
		for word := range strings.FieldsSeq(h.words) {
			if fits(word) {
				h.words, h.hint = word, strings.ReplaceAll(h.hint, "%s", word)
				return h, true
			}
		}
	}
	return habit{}, false
}

// is fits s itself.
func is(s string) func(string) bool { return func(word string) bool { return word == s } }

// like fits s in any case.
func like(s string) func(string) bool {
	return func(word string) bool { return strings.EqualFold(word, s) }
}

// starts fits a word that s begins with.
func starts(s string) func(string) bool {
	return func(word string) bool { return strings.HasPrefix(s, word) }
}

// refuse fails at an offset if a habit says that the word there is wrong; if word is "",
// the error names the habit's word. It reports whether a habit was found.
func (l *lexer) refuse(pos int, word string, habits []habit, fits func(string) bool) bool {
	h, ok := find(habits, fits)
	if h.message != "" {
		l.fail(pos, h.hint, "%s", strings.ReplaceAll(h.message, "%s", cmp.Or(word, h.words)))
	}
	return ok
}

// signHabits are signs of other languages.
var signHabits = []habit{
	{"===", "write ==", noOperator},
	{"!==", "write !=", noOperator},
	{"=>", "write >=", noOperator},
	{"=<", "write <=", noOperator},
	{"<>", "write !=", noOperator},
	{"<<", "write <", noOperator},
	{">>", "write >", noOperator},
	{"|= //=", "an expression changes nothing; write == to compare", noOperator},
	{"~= ~", "write =~ for a pattern", noOperator},
	{"+ - * %", hintArithmetic, "poll does not calculate"},
	{"== =~ && //", "", ""},
	{"=", "did you mean ==?", noOperator},
	{"&", "did you mean &&?", noOperator},
	{"/", `for a pattern write =~ "..."; ` + hintArithmetic, "poll does not calculate"},
}

// queryHabits are what people write as the operator of a query.
var queryHabits = []habit{
	{"===", "write ==", noOperator},
	{"=~true =~false =~null =~*", "", ""},
	{"=~", `write % with a pattern such as "done*", or ` + hintAnyQuery, "a query knows no regular expressions"},
	{"!~", `write !% with a pattern such as "done*", or ` + hintAnyQuery, "a query knows no regular expressions"},
	{"=>", "write >=", noOperator},
	{"<>", "write !=", noOperator},
	{"!= !% = < > %", "", ""},
}

// wordHabits are bare words that stand where a path cannot.
var wordHabits = []habit{
	{"and or not in contains startswith endswith", "write %s", noOperator},
	{"is eq equals equal", "write ==", noOperator},
	{"isnt ne neq", "write !=", noOperator},
	{"matches match like regex", `write =~ "pattern"`, noOperator},
	{"gt lt ge le gte lte", "write > >= < or <=", noOperator},
	{"xor nand nor", "write it with and, or, not", noOperator},
	{"then else elif end", "write it with and, or, not", "there is no if"},
	{"as", "", "there are no own variables"},
}

// fieldHabits are bare words that seldom mean a field.
var fieldHabits = []habit{
	{"if reduce foreach try def label import include", "write conditions with and, or, not; .%s is the field", noLanguage},
	{"NOT Not", "write not", noOperator},
	{"True False None nil undefined TRUE FALSE NULL Null", "write true, false or null; .%s is the JSON field", "%s is not a constant"},
}

// rightHabits are bare words on the right of a comparison that seldom mean
// text.
var rightHabits = []habit{
	{"True TRUE", "write true", "%s is not a constant"},
	{"False FALSE", "write false", "%s is not a constant"},
	{"Null NULL", "write null", "%s is not a constant"},
	{"none None NONE nil Nil NIL undefined", `write null, or "%s" for text`, "%s is not quoted"},
}

// callHabits are functions of other languages.
var callHabits = []habit{
	{"gjson", "write the gjson path as it is, without a leading dot", "gjson(...) is not in the language"},
	{"matches regex", `such as .name =~ "pattern"`, noFunction},
	{"len size", "such as (.items | length)", noFunction},
	{"endsWith startsWith hasPrefix hasSuffix ends_with starts_with", `such as .name startswith "x" or .name endswith "x"`, noFunction},
}

// methodHabits are methods, such as .name.endsWith("x").
var methodHabits = []habit{
	{words: "endswith startswith contains", hint: `write .name %s "x"`},
	{words: "test match matches", hint: `write .name =~ "pattern"`},
	{words: "length size", hint: "write (.name | length)"},
}

// variableHabits are wrong names of variables.
var variableHabits = []habit{
	{words: strings.Join(variables[:], " "), hint: "write $%s"},
	{words: "code rc exitcode exit_code", hint: "write $exit for a command, $status for HTTP"},
	{words: "http_status http_code statuscode status_code", hint: "write $status"},
	{words: "headers", hint: "write $header.Retry-After"},
	{words: "env", hint: hintEnvironment},
}

// modifierHabits are the modifiers, and names that are not modifiers.
var modifierHabits = []habit{
	{"reverse this flatten join valid keys values tostr fromstr group", "", ""},
	{"pretty ugly", "leave it out", "@%s is not allowed, since it decides nothing"},
	{"dig", "name the path", "@dig is not allowed, since it can blow a small body up"},
	{"base64 base64d uri csv tsv html sh json text", `for a key write ["@%s"]`, "@%s is a format of jq, not a modifier"},
}

// bracketHabits are what cannot stand in the brackets of a path.
var bracketHabits = []habit{
	{":", "test single elements, or all of them with any(...) and all(...)", "there are no slices"},
	{"?", `write any(.items[]; .name == "x")`, "[?...] is a filter of JMESPath or JSONPath"},
	{"*", "write any(.items[]; ...) or all(.items[]; ...)", "[*] is JMESPath or JSONPath"},
}

// unitHabits are units of time.
var unitHabits = []habit{
	{words: "sec secs second seconds", hint: "s"},
	{words: "min mins minute minutes", hint: "m"},
	{words: "hr hrs hour hours", hint: "h"},
}

// jqFunctions are jq's built-in functions that the language does not have.
var jqFunctions = []habit{
	{"first last nth", "write .[0] for the first element and .[-1] for the last, such as .items[0]", noJQ},
	{"keys", `use has("name"), or .@keys for the list`, noLanguage},
	{"map select", hintElements, noLanguage},
	{"add unique unique_by group_by sort sort_by min max min_by max_by", hintElements, noJQ},
	{"isempty", "compare the length, such as (.items | length) == 0", noJQ},
	{"index rindex indices in inside", `such as .tags contains "stable", or .state in ["a", "b"]`, noJQ},
	{"match capture scan sub gsub split splits ltrimstr rtrimstr trim ltrim rtrim", `such as .name =~ "pattern", or .name startswith "x"`, noJQ},
	{"values nulls", "compare with null, such as .error != null", noJQ},
	{"arrays objects iterables booleans numbers strings scalars scalars_or_empty finites normals",
		`compare the type, such as (.items | type) == "array"`, noJQ},
	{"now date dateadd datesub fromdate fromdateiso8601 todate todateiso8601 gmtime localtime mktime strftime strflocaltime strptime",
		`times compare as text, such as .updated_at > "2026-11-20T00:00:00Z"; $elapsed is the age of the wait`, noJQ},
	{"env", hintEnvironment, noJQ},
	{"reverse keys_unsorted to_entries from_entries with_entries map_values combinations transpose toarray join walk limit skip " +
		"until while repeat range recurse recurse_down INDEX JOIN del delpaths setpath pick bsearch flatten path paths leaf_paths " +
		"getpath tostream fromstream truncate_stream trimstr explode implode ascii utf8bytelength tojson format toboolean isvalid " +
		"error empty abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 " +
		"fabs fdim floor fma fmax fmin fmod frexp gamma hypot j0 j1 jn ldexp lgamma lgamma_r log log10 log1p log2 logb modf " +
		"nearbyint nextafter nexttoward pow pow10 remainder rint round scalb scalbln significand sin sinh sqrt tan tanh tgamma " +
		"trunc y0 y1 yn infinite nan isfinite isinfinite isnan isnormal builtins debug halt halt_error input inputs " +
		"input_filename input_line_number stderr modulemeta get_search_list get_jq_origin get_prog_origin have_decnum " +
		"have_literal_numbers", "", noJQ},
}

// refuseCharacter fails for a character that begins nothing.
func (l *lexer) refuseCharacter(pos int, r rune) {
	message, hint := fmt.Sprintf("unexpected %c", r), fmt.Sprintf(`a key with such a character is written ["a%cb"]`, r)
	switch {
	case strings.ContainsRune("“”„‟″", r):
		message, hint = "a curly quote does not quote", `write a straight one: "`
	case strings.ContainsRune("‘’‚‛′", r):
		message, hint = "a curly quote does not quote", "write a straight one: '"
	case r == '`':
		message, hint = "a backquote does not quote", `write "text", or numbers and true, false, null as they are`
	case r == ']' || r == '}':
		message, hint = fmt.Sprintf("%c closes nothing", r), ""
	case r == utf8.RuneError:
		message, hint = "this is not a character (invalid UTF-8)", ""
	case unicode.IsSpace(r) || !unicode.IsPrint(r):
		message, hint = fmt.Sprintf("the character %U cannot be seen and means nothing", r), "write an ordinary space"
	}
	l.fail(pos, hint, "%s", message)
}

// refuseConstant fails for brackets that do not hold JSON.
func (l *lexer) refuseConstant(pos int, s string) {
	message, hint := "this is not a JSON object", `keys and text in it need double quotes: {"a": 1}`
	inside := strings.TrimSpace(s[1 : len(s)-1])
	switch {
	case s[0] == '[' && strings.HasPrefix(inside, "?"):
		message, hint = "[?...] is a filter of JMESPath or JSONPath", `write any(.items[]; .name == "x")`
	case s[0] == '[' && strings.Contains(inside, "'") && !strings.Contains(inside, "."):
		message, hint = "this is not a JSON list", "write "+strings.ReplaceAll(s, "'", `"`)
	case s[0] == '[' && strings.Contains(s[1:], "[]"):
		message, hint = "a list cannot be built", hintElements
	case s[0] == '[' && strings.Contains(inside, "$"):
		message, hint = "a list holds no variables", "write .state | IN($ENV.A, $ENV.B), or compare with one after the other"
	case s[0] == '[' && strings.ContainsAny(inside, ".|"):
		message, hint = "a list cannot be built", "compare the parts one by one"
	case s[0] == '[':
		message, hint = "this is not a JSON list", `text in it needs double quotes: ["a", "b"]`
	case strings.HasPrefix(inside, "."):
		hint = "write the path without braces"
	}
	l.fail(pos, hint, "%s", message)
}

// valueHint replaces a hint that helps with a condition but not with a value.
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

// wrongInQuery is the message for something that cannot stand in a query.
func wrongInQuery(rest string) string {
	for _, joint := range [...]string{"&", "|", "and", "or"} {
		if strings.HasPrefix(rest, joint) {
			return "there is one comparison in a query"
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return fmt.Sprintf("unexpected %c in a query", r)
}

// numberHint is the hint for a word that begins with a digit but is not a number.
func numberHint(word string) string {
	digits := strings.TrimRightFunc(word, unicode.IsLetter)
	unit := word[len(digits):]
	if !rawjson.IsDigits(strings.TrimPrefix(digits, "-")) || digits == "" || unit == "" {
		return "text needs quotes"
	}
	if h, ok := find(unitHabits, like(unit)); ok {
		return "write " + digits + h.hint
	}
	return "units are ms, s, m and h; text needs quotes"
}

// variableHint is the hint for a name that is not a variable.
func variableHint(name string) string {
	if name == "" { // JSONPath's root
		return "a path begins with its dot: .state"
	}
	h, _ := find(variableHabits, like(name))
	return cmp.Or(h.hint, "variables are $exit $status $header.Name $body $stdout $stderr $error $attempt $elapsed $name $isjson $json $ENV.NAME")
}

// refuseFunction fails for a call of something that is not a function.
func (p *parser) refuseFunction(name token) {
	if p.refuse(name.From, "", callHabits, is(name.text)) || p.refuse(name.From, "", jqFunctions, is(name.text)) {
		return
	}
	if isBare(name.text) {
		p.fail(name.From, "write (.name | "+name.text+")", "%s takes no arguments", name.text)
		return
	}
	p.fail(name.From, "functions are any all count exists test contains startswith endswith has IN, and after | also "+
		"length type not tonumber tostring ascii_downcase ascii_upcase fromjson", "there is no function %s", name.text)
}

// isBuiltin reports whether jq has a function of that name.
func isBuiltin(name string) bool {
	switch function(name) {
	case 0:
		_, ok := find(jqFunctions, is(name))
		return ok
	case FuncCount, FuncExists:
		return false // the language's own
	}
	return true
}

// refuseBuiltin refuses a word beside a | that jq takes for a function. The field
// of that name is written with a dot.
func (p *parser) refuseBuiltin(t token) {
	name := t.path.FirstWord()
	if name == "" || !isBuiltin(name) {
		return
	}
	field := "." + t.Of(p.src)
	if h, ok := find(jqFunctions, is(name)); ok {
		p.fail(t.From, strings.TrimPrefix(h.hint+"; "+field+" is the field", "; "), noJQ, name)
	}
	p.fail(t.From, "write "+field+" for the field", "%s is a function", name)
}

// missing fails because an operand is missing.
func (p *parser) missing() {
	t := p.tok
	switch {
	case t.kind == tokEnd:
		p.fail(len(p.src), "", "a value is missing at the end")
	case t.compareOp() != 0:
		p.fail(t.From, hintShell, "a value is missing before %s", t.Of(p.src))
	default:
		p.fail(t.From, "", "a value is missing before %s", t.Of(p.src))
	}
	p.advance()
}

// unexpectedToken fails for a token that cannot be used.
func (p *parser) unexpectedToken() {
	t := p.tok
	if p.err != nil {
		return
	}
	word := t.Of(p.src)
	switch {
	case t.kind == tokPath && t.path.bare && word[0] != '#':
		first := p.src[t.From:p.wordEnd(t.From)]
		p.refuse(t.From, first, wordHabits, like(first))
		p.fail(t.From, `text needs quotes: "`+word+`"; `+hintAnd, "unexpected %s", word)
	case t.kind == tokPath && word[0] == '#':
		p.fail(t.From, "there are no comments", "unexpected #")
	case t.kind == tokPath && p.src[t.From-1] == ')':
		p.fail(t.From, "write (... | "+word+")", "a path cannot follow a parenthesis")
	case t.kind == tokWord:
		if !t.call && t.text != "not" {
			p.refuse(t.From, t.text, wordHabits, is(t.text))
		}
		p.fail(t.From, "write (... | "+t.text+"); "+hintAnd, "unexpected %s", t.text)
	case t.is(")"):
		p.fail(t.From, "", "the parenthesis ) closes nothing")
	case t.is(","):
		p.fail(t.From, hintJoin, "a comma means nothing here")
	case t.is(";"):
		p.fail(t.From, hintJoin, "a semicolon means nothing here")
	case t.is("("):
		before := p.src[:t.From]
		h, _ := find(methodHabits, like(before[strings.LastIndexAny(before, ".| ")+1:]))
		p.fail(t.From, h.hint, "a parenthesis cannot follow here")
	case t.is("!"):
		p.fail(t.From, "write != to compare, and ! before the whole condition", "unexpected !")
	case t.kind == tokLiteral && (word[0] == '[' || word[0] == '{'):
		p.fail(t.From, "an index follows without a space: .items[0]", "unexpected %c", word[0])
	default:
		p.fail(t.From, hintAnd, "unexpected %s", word)
	}
}
