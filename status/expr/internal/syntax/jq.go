package syntax

// jqBuiltin says what to write instead of one of jq's built-in functions that
// the language does not have; ok is false for any other name.
func jqBuiltin(name string) (hint string, ok bool) {
	for _, of := range [...]func(string) string{jqList, jqText, jqNumber, jqProgram} {
		if hint := of(name); hint != "" {
			return hint, true
		}
	}
	return "", false
}

// jqList knows the functions for lists and objects.
func jqList(name string) string {
	switch name {
	case "first", "last", "nth":
		return "write .[0] for the first element and .[-1] for the last, such as .items[0]"
	case "reverse":
		return "such as .items.@reverse for a list"
	case "keys", "keys_unsorted":
		return `use has("name"), or .@keys for the list`
	case "to_entries", "from_entries", "with_entries", "map_values":
		return `use has("name"), .@keys for the keys, or any(.object[]; ...) for the values`
	case "map", "select":
		return hintElements
	case "isempty":
		return "compare the length, such as (.items | length) == 0"
	case "index", "rindex", "indices", "bsearch":
		return `such as .tags contains "stable"`
	case "in", "inside":
		return `such as .state in ["a", "b"]`
	case "flatten":
		return "such as .items.@flatten for a list"
	case "min", "max", "min_by", "max_by":
		return "the greatest is less than 5 if all are: all(.items[]; .n < 5)"
	case "unique", "unique_by", "group_by", "sort", "sort_by":
		return `test the elements, such as all(.items[]; .state == "done")`
	case "add", "combinations", "transpose", "toarray", "join", "walk", "limit", "skip", "until", "while", "repeat", "range",
		"recurse", "recurse_down", "INDEX", "JOIN", "del", "delpaths", "setpath", "pick":
		return hintElements
	case "path", "paths", "leaf_paths", "getpath", "tostream", "fromstream", "truncate_stream":
		return "write the path itself, such as .items[0].name"
	}
	return ""
}

// jqText knows the functions for text and for types.
func jqText(name string) string {
	switch name {
	case "match", "capture", "scan", "sub", "gsub", "split", "splits":
		return `such as .name =~ "pattern"`
	case "ltrimstr", "rtrimstr", "trimstr", "trim", "ltrim", "rtrim", "explode", "implode", "ascii", "utf8bytelength":
		return `test the text as it is, such as .name startswith "x", or .name =~ "pattern"`
	case "tojson", "format":
		return "tostring makes text of what is none"
	case "toboolean":
		return `compare the text, such as .ready == "true"`
	case "values", "nulls":
		return "compare with null, such as .error != null"
	case "arrays", "objects", "iterables", "booleans", "numbers", "strings", "scalars", "scalars_or_empty", "finites", "normals":
		return `compare the type, such as (.items | type) == "array"`
	case "isvalid", "error":
		return "nothing stops an expression: what would is unknown, and does not match"
	case "empty":
		return "an expression always has a value, such as null or false"
	}
	return ""
}

// jqNumber knows the functions for numbers and times.
func jqNumber(name string) string {
	switch name {
	case "now", "date", "dateadd", "datesub", "fromdate", "fromdateiso8601", "todate", "todateiso8601", "gmtime", "localtime",
		"mktime", "strftime", "strflocaltime", "strptime":
		return `times compare as text, such as .updated_at > "2026-11-20T00:00:00Z"; $elapsed is the age of the wait`
	case "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "drem",
		"erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "gamma",
		"hypot", "j0", "j1", "jn", "ldexp", "lgamma", "lgamma_r", "log", "log10", "log1p", "log2", "logb", "modf", "nearbyint",
		"nextafter", "nexttoward", "pow", "pow10", "remainder", "rint", "round", "scalb", "scalbln", "significand", "sin", "sinh",
		"sqrt", "tan", "tanh", "tgamma", "trunc", "y0", "y1", "yn",
		"infinite", "nan", "isfinite", "isinfinite", "isnan", "isnormal":
		return "poll does not calculate: compare the number as it is"
	}
	return ""
}

// jqProgram knows the functions for whole programs.
func jqProgram(name string) string {
	switch name {
	case "env":
		return hintEnvironment
	case "builtins", "debug", "halt", "halt_error", "input", "inputs", "input_filename", "input_line_number", "stderr",
		"modulemeta", "get_search_list", "get_jq_origin", "get_prog_origin", "have_decnum", "have_literal_numbers":
		return "an expression is one question to one answer"
	}
	return ""
}

// isBuiltin reports whether jq has a function of that name.
func isBuiltin(name string) bool {
	_, ok := jqBuiltin(name)
	switch callFunction(name) {
	case 0:
		return ok || bareFunction(name) != 0
	case FuncCount, FuncExists:
		return false // the language's own
	}
	return true
}

// refuseBuiltin refuses a word beside a | that jq takes for a function. The field
// of that name is written with a dot.
func (p *parser) refuseBuiltin(t token) {
	name := t.path.FirstWord()
	if name == "" || p.err != nil {
		return
	}
	field := "." + t.Of(p.src)
	hint, ok := jqBuiltin(name)
	switch {
	case ok:
		p.fail(t.From, hint+"; "+field+" is the field", "jq's %s is not in the language", name)
	case isBuiltin(name):
		p.fail(t.From, "write "+field+" for the field", "%s is a function", name)
	}
}

// FirstWord is the name that a bare path begins with, "" for another path.
func (p *Path) FirstWord() string {
	if !p.bare || len(p.Steps) == 0 || p.Steps[0].Kind != StepField || p.Steps[0].Pattern != nil {
		return ""
	}
	return p.Steps[0].Key
}
