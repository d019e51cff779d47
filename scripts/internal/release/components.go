package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// components writes what the programs are made of: a CycloneDX document, and the
// licences that want to be told with them.
func (r *release) components() error {
	modules, goVersion, err := r.linked()
	if err != nil {
		return err
	}
	document, err := json.MarshalIndent(r.bill(modules, goVersion), "", "  ")
	if err != nil {
		return err
	}
	if err := r.add("poll_"+r.version+"_sbom.cdx.json", append(document, '\n')); err != nil {
		return err
	}
	licences, err := licences(modules)
	if err != nil {
		return err
	}
	return r.keep(documentsDir+"/LICENSES-THIRD-PARTY.txt", licences)
}

// linked returns the modules that are linked into the program of any target, by
// path, and the version of Go.
func (r *release) linked() (modules []*debug.Module, goVersion string, err error) {
	byPath := make(map[string]*debug.Module)
	for _, t := range targets() {
		info, err := buildinfo.ReadFile(r.program(t))
		if err != nil {
			return nil, "", err
		}
		goVersion = info.GoVersion
		for _, m := range info.Deps {
			byPath[m.Path] = m
		}
	}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		modules = append(modules, byPath[path])
	}
	return modules, goVersion, nil
}

// The members of a CycloneDX document that are used here.
type (
	bill struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type    string `json:"type"`
		Ref     string `json:"bom-ref"`
		Name    string `json:"name"`
		Version string `json:"version"`
		Hashes  []hash `json:"hashes,omitempty"`
		PURL    string `json:"purl"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

func (r *release) bill(modules []*debug.Module, goVersion string) bill {
	program := golang("application", "github.com/pollcli/poll", r.version)
	parts := []component{golang("library", "stdlib", strings.TrimPrefix(goVersion, "go"))}
	for _, m := range modules {
		c := golang("library", m.Path, m.Version)
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
			c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
		}
		parts = append(parts, c)
	}
	refs := dependency{Ref: program.Ref}
	for _, c := range parts {
		refs.On = append(refs.On, c.Ref)
	}
	return bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:   metadata{Timestamp: r.at.UTC().Format(time.RFC3339), Component: program},
		Components: parts, Dependencies: []dependency{refs},
	}
}

// golang returns a component with its package URL.
func golang(kind, path, version string) component {
	purl := "pkg:golang/" + strings.ToLower(path) + "@" + version
	return component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
}

// licences returns the licences of Go and of the modules.
func licences(modules []*debug.Module) ([]byte, error) {
	goRoot, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	names, dirs := []string{"The Go standard library"}, []string{goRoot}
	for _, m := range modules {
		dir, err := output("go", "list", "-m", "-f={{.Dir}}", m.Path)
		if err != nil {
			return nil, err
		}
		names, dirs = append(names, m.Path+" "+m.Version), append(dirs, dir)
	}
	var text bytes.Buffer
	text.WriteString("poll is linked with the following, under their own licences.\n")
	for i, name := range names {
		found, err := filepath.Glob(filepath.Join(dirs[i], "LICEN[CS]E*"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("%s has no licence in %s: %w", name, dirs[i], err)
		}
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "\n%s\n%s\n\n%s\n", name, strings.Repeat("-", len(name)), bytes.TrimSpace(data))
		}
	}
	return text.Bytes(), nil
}
