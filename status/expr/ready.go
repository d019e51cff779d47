package expr

import (
	"hash/maphash"
	"index/suffixarray"
	"strings"

	"github.com/tidwall/gjson"
)

// ready is what a value that is compared again and again has been made into, so
// that asking it takes the time of what it is compared with, and not its own.
type ready struct {
	decimal *decimal
	tree    *tree
	scanned int // bytes, in search of parts of it
	members *memberSet
	parts   *suffixarray.Index
}

// prepared is the value with room for what it will be made into.
func (v value) prepared() value {
	if v.ready == nil && (v.kind == KindNumber || v.kind == KindArray || v.kind == KindObject) && len(v.raw) > shortInt {
		v.ready = &ready{}
	}
	return v
}

// cost is the steps of comparing a value with another: its size, unless it is ready.
func (v value) cost() int {
	if v.ready != nil {
		return 0
	}
	return len(v.raw) + len(v.str)
}

// decimal is a number taken apart.
func (v value) decimal() decimal {
	if v.ready == nil {
		return parseDecimal(v.raw)
	}
	if v.ready.decimal == nil {
		d := parseDecimal(v.raw)
		d.digits = trimDigits(d.digits)
		v.ready.decimal = &d
	}
	return *v.ready.decimal
}

// tree is a list or an object taken apart.
func (e *evaluator) tree(v value) tree {
	if v.ready == nil {
		return parseTree(v.raw)
	}
	if v.ready.tree == nil {
		e.tick(len(v.raw))
		t := parseTree(v.raw)
		v.ready.tree = &t
	}
	return *v.ready.tree
}

// worthIndexing is how often a value is searched through before it is indexed.
const worthIndexing = 8

// searched counts a search through all of a value, and reports whether there have
// been so many that an index pays. An index takes up to size bytes.
func (e *evaluator) searched(v value, size int) bool {
	e.tick(len(v.raw) + len(v.str))
	if v.ready == nil {
		return false
	}
	v.ready.scanned++
	if v.ready.scanned <= worthIndexing || e.keptSize+size > maxKept {
		return false
	}
	e.keptSize += size
	return true
}

// hasPart reports whether part is in the text.
func (e *evaluator) hasPart(v value, part string) bool {
	if len(part) > len(v.str) {
		return false
	}
	e.tick(len(part))
	if v.ready == nil || v.ready.parts == nil {
		const perByte = 4
		if !e.searched(v, perByte*len(v.str)) {
			return strings.Contains(v.str, part)
		}
		e.tick(len(v.str))
		v.ready.parts = suffixarray.New([]byte(v.str))
	}
	return part == "" || len(v.ready.parts.Lookup([]byte(part), 1)) > 0
}

// hasMember reports whether an element of the list equals v.
func (e *evaluator) hasMember(list, v value) bool {
	e.tick(baseSteps + v.cost())
	if list.ready == nil || list.ready.members == nil {
		if !e.searched(list, len(list.raw)) {
			return e.findMember(list, v)
		}
		list.ready.members = e.newMemberSet(list)
	}
	return list.ready.members.has(e, v)
}

// findMember looks at each of the elements.
func (e *evaluator) findMember(list, v value) bool {
	found := false
	v = v.prepared()
	each(list, func(_ int, _ string, element gjson.Result) bool {
		e.tick(baseSteps)
		found = e.equal(fromResult(element), v)
		return !found
	})
	return found
}

// A memberSet finds an element of a list by its hash.
type memberSet struct {
	seed   maphash.Seed
	first  map[uint64]string // the text of the first element with a hash
	others []string          // those whose hash is that of another value
}

func (e *evaluator) newMemberSet(list value) *memberSet {
	s := &memberSet{seed: maphash.MakeSeed(), first: map[uint64]string{}}
	e.tick(len(list.raw))
	each(list, func(_ int, _ string, element gjson.Result) bool {
		e.tick(baseSteps)
		v := fromResult(element)
		hash := s.hash(e, v)
		if same, ok := s.first[hash]; !ok {
			s.first[hash] = element.Raw
		} else if !e.equal(parseValue(same), v) {
			s.others = append(s.others, element.Raw)
		}
		return true
	})
	return s
}

func (s *memberSet) has(e *evaluator, v value) bool {
	v = v.prepared()
	same, ok := s.first[s.hash(e, v)]
	if ok && e.equal(parseValue(same), v) {
		return true
	}
	for _, other := range s.others {
		if e.equal(parseValue(other), v) {
			return true
		}
	}
	return false
}

// hash is the same for values that are equal.
func (s *memberSet) hash(e *evaluator, v value) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	t := tree{value: v}
	if v.kind == KindArray || v.kind == KindObject {
		t = e.tree(v)
	}
	t.hash(&h)
	return h.Sum64()
}

// hash writes a text to h that only equal values have.
func (t *tree) hash(h *maphash.Hash) {
	switch t.kind {
	case KindMissing, KindNull:
		h.WriteByte('n')
	case KindBool:
		h.WriteByte(t.raw[0])
	case KindNumber:
		t.decimal().hash(h)
	case KindString:
		writeText(h, t.str)
	default:
		maphash.WriteComparable(h, len(t.items))
		h.WriteByte(byte(t.kind))
		for i := range t.items {
			if t.kind == KindObject {
				writeText(h, t.keys[i])
			}
			t.items[i].hash(h)
		}
	}
}

// writeText writes a text so that it is seen where it ends.
func writeText(h *maphash.Hash, s string) {
	maphash.WriteComparable(h, len(s))
	h.WriteString(s)
}
