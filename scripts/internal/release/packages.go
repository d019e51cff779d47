package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

// tools is the module of the tools, apart from that of the program.
const tools = "scripts/release.d"

// tool runs Go with a tool of that module, and in the environment what it should
// know of the release.
func (r *release) tool(environment []string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "VERSION="+r.version, "COMMIT="+r.commit, "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.at.Unix(), 10))
	cmd.Env = append(cmd.Env, environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// packages writes packages for the package managers of Linux systems. What is where
// in them says nfpm.yaml.
func (r *release) packages() error {
	for _, t := range targets() {
		if t.os != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm", "apk"} {
			environment := []string{
				"ARCH=" + strings.Replace(t.arch, "armv7", "arm7", 1), "PROGRAM=" + r.program(t),
				"DOCUMENTS=" + filepath.Join(r.work, documentsDir), "MANUAL=" + filepath.Join(r.work, compressedManual),
			}
			if err := r.tool(environment, "tool", "-modfile="+tools+"/go.mod", "nfpm", "package",
				"--config="+tools+"/nfpm.yaml", "--packager="+format, "--target="+dist); err != nil {
				return fmt.Errorf("%s, %s: %w", t, format, err)
			}
		}
	}
	return nil
}

// image writes the OCI image of the programs for Linux, as an archive of its layout.
func (r *release) image() error {
	layout := filepath.Join(r.work, "image")
	if err := r.tool(nil, "run", "-C", tools, "./image", r.work, layout); err != nil {
		return err
	}
	files, err := readDir(layout, "")
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := writeTar(&packed, files, r.at); err != nil {
		return err
	}
	return r.add("poll_"+r.version+"_image.tar.gz", packed.Bytes())
}

// installers writes what fetches an archive, and the program in it: install.sh and
// a formula for Homebrew.
func (r *release) installers() error {
	script, err := os.ReadFile("install.sh")
	if err != nil {
		return err
	}
	if err := r.add("install.sh", script); err != nil {
		return err
	}
	base, err := baseURL(script)
	if err != nil {
		return err
	}
	text, err := r.formula(base, r.sum)
	if err != nil {
		return err
	}
	return r.add("poll.rb", text)
}

//go:embed formula.rb
var formula string

// formula returns the formula for releases at base, of archives with these sums.
func (r *release) formula(base string, sum func(archive string) (string, error)) ([]byte, error) {
	page, err := template.New("formula.rb").Option("missingkey=error").Parse(formula)
	if err != nil {
		return nil, err
	}
	values := map[string]string{"version": strings.TrimPrefix(r.version, "v"), "base": base + "/download/" + r.version}
	for _, t := range targets() {
		if t.os != "darwin" && t.os != "linux" {
			continue
		}
		if values[t.String()], err = sum(r.archiveName(t)); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	err = page.Execute(&text, values)
	return text.Bytes(), err
}

// baseURL returns where releases are: POLL_BASE_URL, by default what install.sh says.
func baseURL(script []byte) (string, error) {
	if base := os.Getenv("POLL_BASE_URL"); base != "" {
		return base, nil
	}
	m := regexp.MustCompile(`\$\{POLL_BASE_URL:-(.*)\}`).FindSubmatch(script)
	if m == nil {
		return "", fmt.Errorf("install.sh has no default of POLL_BASE_URL")
	}
	return string(m[1]), nil
}
