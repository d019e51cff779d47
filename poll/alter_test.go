package poll_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// An altered value differs from a valid value in one field, or in all fields except one.
type altered struct {
	path      string // of the field and its value, in words
	typ, name string // of the field: "poll.Poller", "Timeout"
	// isNegative is true if the field is a negative number, and isLarge if it is a large value.
	isNegative, isLarge bool
}

// An alterer visits the altered values of everything that a pointer to a struct leads to.
type alterer struct {
	visit func(altered)
	types map[string]bool // the struct types that it found, such as "poll.Poller"
}

// alter alters v, a variable, in place, and restores it.
func (a *alterer) alter(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			a.alterTarget(path, v)
		}
	case reflect.Slice:
		for i := range v.Len() {
			a.alter(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Struct:
		a.alterStruct(path, v)
	}
}

// alterStruct alters the fields of a root, or of a type of a public package of the module.
func (a *alterer) alterStruct(path string, v reflect.Value) {
	switch pkg := v.Type().PkgPath(); {
	case v.Type().Name() == "":
		for i := range v.NumField() {
			a.alter(v.Type().Field(i).Name, v.Field(i))
		}
	case strings.HasPrefix(pkg, "github.com/pollcli/poll/") && !strings.Contains(pkg, "/internal/"):
		a.types[v.Type().String()] = true
		a.alterFields(path, v)
	}
}

// alterTarget alters a copy of the value in an interface, or of the value of a pointer.
func (a *alterer) alterTarget(path string, v reflect.Value) {
	old, of := reflect.ValueOf(v.Interface()), v.Elem()
	isPointer := v.Kind() == reflect.Pointer
	if of.Kind() == reflect.Pointer { // in an interface
		isPointer, of = true, of.Elem()
	}
	target := reflect.New(of.Type())
	target.Elem().Set(of)
	inner := alterer{types: a.types, visit: func(what altered) {
		defer v.Set(old)
		if isPointer {
			v.Set(target)
		} else {
			v.Set(target.Elem())
		}
		a.visit(what)
	}}
	inner.alter(path, target.Elem())
}

// alterFields visits each exported field with each of its values, next to valid fields and alone.
func (a *alterer) alterFields(path string, v reflect.Value) {
	valid := reflect.New(v.Type()).Elem()
	valid.Set(v)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || field.Anonymous {
			continue
		}
		what := altered{typ: v.Type().String(), name: field.Name}
		for _, value := range append(valuesOf(field.Type), special{"valid", valid.Field(i).Interface()}) {
			what.isNegative, what.isLarge = value.name == "negative", value.name == "large"
			for _, others := range []string{"", ", alone"} {
				if others != "" {
					v.SetZero()
				}
				x := reflect.Zero(field.Type)
				if value.value != nil {
					x = reflect.ValueOf(value.value).Convert(field.Type)
				}
				v.Field(i).Set(x)
				what.path = fmt.Sprintf("%s.%s %s%s", path, field.Name, value.name, others)
				a.visit(what)
				v.Set(valid)
			}
		}
		a.alter(path+"."+field.Name, v.Field(i))
	}
}

// A special is a value that a field may not expect.
type special struct {
	name  string
	value any // nil for the zero value
}

// valuesOf returns the special values of a type.
func valuesOf(t reflect.Type) []special {
	zero := special{"zero", nil}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return []special{zero, {"negative", int64(-1)}, {"negative", int64(math.MinInt64)}, {"large", int64(math.MaxInt64)}, {"large", int64(1 << 62)}}
	case reflect.Uint8, reflect.Uint64:
		return []special{zero, {"large", uint64(math.MaxUint64)}}
	case reflect.Float64:
		return []special{zero, {"negative", -1.0}, {"negative", math.Inf(-1)}, {"large", math.MaxFloat64}, {"large", math.Inf(1)}, {"NaN", math.NaN()}}
	case reflect.String:
		return []special{zero, {"large", strings.Repeat("x", 1<<16)}}
	case reflect.Slice:
		one := reflect.MakeSlice(t, 1, 1)
		return []special{zero, {"empty", reflect.MakeSlice(t, 0, 0).Interface()}, {"one zero", one.Interface()}}
	case reflect.Map:
		one := reflect.MakeMap(t)
		one.SetMapIndex(reflect.Zero(t.Key()), reflect.Zero(t.Elem()))
		return []special{zero, {"empty", reflect.MakeMap(t).Interface()}, {"one zero", one.Interface()}}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return []special{zero, {"early", time.Unix(-1<<40, 0)}, {"large", time.Unix(1<<40, 0)}}
		}
	}
	return []special{zero}
}

// A publicField is an exported field of an exported struct type.
type publicField struct{ typ, name, doc string }

// publicFields returns the exported fields in packages, each with its comment and the comment of its type.
func publicFields(t *testing.T, dirs ...string) (fields []publicField) {
	for _, dir := range dirs {
		files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, name := range files {
			file := must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))
			for _, decl := range file.Decls {
				if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.TYPE && !strings.HasSuffix(name, "_test.go") {
					fields = append(fields, fieldsOf(file.Name.Name, d)...)
				}
			}
		}
	}
	return fields
}

// fieldsOf returns the exported fields of exported types in a declaration.
func fieldsOf(pkg string, d *ast.GenDecl) (fields []publicField) {
	for _, spec := range d.Specs {
		typ := spec.(*ast.TypeSpec)
		s, ok := typ.Type.(*ast.StructType)
		if !ok || !typ.Name.IsExported() {
			continue
		}
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				if name.IsExported() {
					fields = append(fields, publicField{pkg + "." + typ.Name.Name, name.Name, d.Doc.Text() + f.Doc.Text() + f.Comment.Text()})
				}
			}
		}
	}
	return fields
}

// allowsNegative matches the comment of a field that gives negative numbers a meaning.
var allowsNegative = regexp.MustCompile(`(?i)negative|or less|below`)
