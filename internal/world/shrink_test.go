package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// shrink returns the simplest plan that it finds which has a breach as p has it. A plan is made
// simpler by parts of its JSON that are left out.
func shrink(t *testing.T, p *plan, b breach) *plan {
	for tries := 0; tries < 400; {
		better := false
		for _, simpler := range without(asJSON(p)) {
			q := new(plan)
			isPlan := json.Unmarshal(must(json.Marshal(simpler)), q) == nil && q.isSound() && !reflect.DeepEqual(p, q)
			if tries++; isPlan && tries < 400 && breaks(t, q, b) {
				p, better = q, true
				break
			}
		}
		if !better {
			break
		}
	}
	return p
}

func asJSON(p *plan) (value any) {
	d := json.NewDecoder(strings.NewReader(string(must(json.Marshal(p)))))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		panic(err)
	}
	return value
}

// without returns a value with each of its parts left out in turn: of lists the half of it at first.
func without(value any) (all []any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sorted(v) {
			if key == "Seed" || key == "ID" || key == "Caller" {
				continue
			}
			for _, simpler := range append([]any{nil}, without(v[key])...) {
				other := maps.Clone(v)
				other[key] = simpler
				all = append(all, other)
			}
		}
	case []any:
		for size := len(v); size > 0; size /= 2 {
			for from := 0; from+size <= len(v); from += size {
				all = append(all, slices.Delete(slices.Clone(v), from, from+size))
			}
		}
		for i := range v {
			for _, simpler := range without(v[i]) {
				other := slices.Clone(v)
				other[i] = simpler
				all = append(all, other)
			}
		}
	}
	return all
}

// isSound reports whether a plan still makes sense.
func (p *plan) isSound() bool {
	isWhole := func(o operation) bool {
		isNamed := !slices.ContainsFunc(o.Phases, func(f phase) bool { return f.State == "" })
		return isNamed && len(o.Phases) > 0 && o.Phases[0].At == 0 && (o.Method == "") == (answers[o.Answer].code == 0)
	}
	isKnown := func(id int) bool { return slices.ContainsFunc(p.Ops, func(o operation) bool { return o.ID == id }) }
	isList := strings.HasSuffix(p.Caller, "list")
	n := len(p.Ops)
	isFaulty := func(f fault) bool { return troubles[f.Kind].make == nil }
	switch {
	case p.Stream != nil && (n == 0 || !p.Stream.isSound(p)):
		return false
	case n == 0 || p.AtLeast > n || p.Timeout < time.Second, !p.isPresetSound(), p.ErrorIf != nil && !p.ErrorIf.isSound():
		return false
	case !slices.Contains([]string{"", byCommand, byTCP}, p.Probe), p.Probe == byCommand && p.isLine(), p.User && (p.Renewal > 0 || p.Probe != ""):
		return false
	case p.Probe != "" && p.Ops[0].Method != "", p.Probe == byCommand && p.Gone, p.isLine() && (p.Steady > 0 && p.Threshold > 0 || p.Healing > 0 && p.Errors > 0):
		return false
	case p.Percent > 0 && (p.List == nil || p.List.Expect == 0 || p.AtLeast > 0), isList != (p.List != nil), isList && (p.List.Size == 0 || p.List.Expect > n || p.List.Next == ""), slices.ContainsFunc(p.Faults, isFaulty):
		return false
	case isList && p.List.Start != (p.Ops[0].Method != ""), isList && p.List.Start && (p.List.Gone || p.List.Batch > 0), p.Object && !p.Mine:
		return false
	case isList && p.List.Known != nil && len(p.List.Known) == 0: // which nobody waits for
		return false
	case isList && (p.List.Batch > 0 && len(p.List.Known) == 0 || slices.ContainsFunc(p.List.Known, func(id int) bool { return !isKnown(id) })):
		return false
	case slices.ContainsFunc(p.Kills, func(k kill) bool { return k.At == 0 && (k.Key == "" || k.N == 0) }),
		slices.ContainsFunc(p.Ops, func(o operation) bool { return o.Style&terse != p.Ops[0].Style&terse || o.Style&terse != 0 && !p.Plain }):
		return false
	case p.Plain && (!p.isPlain() || p.Until == nil || p.ErrorIf == nil), p.Unless && (p.presetName() != "" || p.Probe != ""):
		return false
	case p.isLine() && (p.Ops[0].Answer == "204 self" && !p.Gone || p.Renewal > 0 && !p.Line.File): // which says no --follow, and has no other token
		return false
	case p.Head && !p.hasHead(), p.Line.Other && !p.hasOther(), p.Text != 0 && !p.hasText(), p.Names != nil && !p.hasNaming(), p.Alias && !p.hasAlias(), p.Hung > 0 && (!p.hasHung() || p.Hung >= n), p.Cache != nil && (p.Cache.Fresh == 0 || p.Cache.Mute && !p.hasMute() || p.Probe != "" || p.Stream != nil):
		return false
	case p.Line.Learn > 0 && isList && p.List.Batch > 0:
		return false
	case p.Line.Log == "" && (p.Line.Twice && (!p.Share || p.Ops[0].Method != "") || p.Line.Full || p.isLine() && len(p.Kills) > 0):
		return false
	}
	return !slices.ContainsFunc(p.Ops, func(o operation) bool { return !isWhole(o) })
}

// isPresetSound reports whether there is one condition for all, and one only.
func (p *plan) isPresetSound() bool {
	api := p.Ops[0].API
	isOther := func(o operation) bool { return o.API != api }
	if slices.ContainsFunc(p.Ops, isOther) || (api != "" || p.Mine) && p.isGone() {
		return false
	}
	if p.Probe == byTCP {
		return api == "" && !p.Mine && p.ErrorIf == nil
	}
	return api == "" && p.Until.isSound() || apis[api] != nil && !p.Mine && p.ErrorIf == nil
}

func (n *node) isSound() bool {
	if n == nil || len(n.Kids) != map[string]int{"not": 1, "and": 2, "or": 2}[n.Op] {
		return false
	}
	_, isAtom := atoms[n.Op]
	return isAtom || len(n.Kids) > 0 && !slices.ContainsFunc(n.Kids, func(k *node) bool { return !k.isSound() })
}

func (n *node) String() string { return n.text() }

// shown is how many lines of what happened a story has: the last.
const shown = 14

// story tells how a plan breaks an invariant: what was waited for, and what happened.
func story(t *testing.T, p *plan, invariant string) string {
	rep := simulate(t, p)
	var b strings.Builder
	for _, x := range rep.broken {
		if x.invariant == invariant {
			fmt.Fprintf(&b, "seed %d breaks %q: %s\n  again: scripts/world -seed %d -count 1 -only %q\n", p.Seed, x.invariant, x.what, p.Seed, p.Caller)
			break
		}
	}
	b.WriteString("  ")
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.Encode(p)
	if p.isLine() {
		fmt.Fprintf(&b, "  poll %q\n", p.args("DIR")[4:])
	}
	left := max(0, len(rep.story)-shown)
	if *all {
		left = 0
	}
	fmt.Fprintf(&b, "  after %d other lines:\n", left)
	return b.String() + strings.Join(rep.story[left:], "\n")
}
