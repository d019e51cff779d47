package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/pollcli/poll/poll"
)

var _ poll.Answers = (*Answers)(nil)

// mostAnswer is the longest answer that is shared, as text with its header: the body is up to
// 64 KiB. mostSealed is what becomes of it at most.
const (
	mostAnswer = 96 << 10
	mostSealed = mostAnswer + 64
)

// Answers are a [poll.Answers] for all processes of a [Fleet].
//
// An answer counts only if it was asked for after a wait began. Who is asking has five
// seconds, which are prolonged as long as its process lives; then another asks. A wait that
// joins others leaves its first attempt to them for half of the wait between theirs at most.
// After an attempt without an answer, the others hold for a wait of theirs, up to the five
// seconds, unless who made it goes on no longer.
// While the process is alone, it makes the attempts that it would have made, but that the
// first of them is spread, since all others make theirs.
//
// What is shared can be read, and made, only by who knows the identity of the question, with
// all credentials, and the secret. Answers of more than 64 KiB are not shared. A call takes
// half a second at most, and two seconds more at the beginning.
type Answers struct {
	Fleet *Fleet

	begin   sync.Once
	tooLong sync.Once
	watched watched
}

// Question returns what is shared by all who ask the same.
func (a *Answers) Question(identity []byte, since time.Time, news func()) poll.Question {
	a.begin.Do(func() { a.watched.open(a.Fleet) })
	s, err := a.Fleet.answers.seal(identity)
	if err != nil {
		a.Fleet.tell(err)
	}
	return newQuestion(a, s, since, news)
}

// watched are the questions of a process that an engine tells what becomes of them.
type watched struct {
	fleet   *Fleet
	changed chan struct{} // holds a value once names returns others
	watch   sync.Once

	mu     sync.Mutex
	topics map[string]*topic
}

// A topic is what questions have in common that are the same.
type topic struct {
	seal      seal
	known     int64 // when the newest answer was asked for that was told
	questions map[*question]struct{}
}

func (w *watched) open(f *Fleet) {
	w.fleet, w.changed, w.topics = f, make(chan struct{}, 1), make(map[string]*topic)
}

// add has a question be told from now on.
func (w *watched) add(q *question) {
	w.watch.Do(func() { go w.fleet.watch(w) })
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.topics[q.seal.name]
	if t == nil {
		t = &topic{seal: q.seal, questions: make(map[*question]struct{})}
		w.topics[q.seal.name] = t
		w.change()
	}
	t.questions[q] = struct{}{}
}

func (w *watched) remove(q *question) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.topics[q.seal.name]
	if t == nil {
		return
	}
	if delete(t.questions, q); len(t.questions) == 0 {
		delete(w.topics, q.seal.name)
		w.change()
	}
}

func (w *watched) change() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// names returns the names of what is watched.
func (w *watched) names() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := make(map[string]bool, len(w.topics))
	for name := range w.topics {
		names[name] = true
	}
	return names
}

// look finds out what became of a question, and reports whether it could.
func (w *watched) look(name string) bool {
	w.mu.Lock()
	var known int64
	if t := w.topics[name]; t != nil {
		known = t.known
	}
	w.mu.Unlock()
	var seen sheet
	shared := w.fleet.call(func(ctx context.Context) error {
		_, err := w.fleet.engine.swap(ctx, name, guess{known: known}, func(s sheet) *edit {
			seen = s
			return nil
		})
		return err
	})
	if shared {
		w.tell(name, seen)
	}
	return shared
}

// tell tells the questions of a name what has become of them.
func (w *watched) tell(name string, s sheet) {
	w.mu.Lock()
	t := w.topics[name]
	if t == nil {
		w.mu.Unlock()
		return
	}
	var answer []byte
	if s.state.Settle(s.now); s.state.Begun > t.known {
		if answer = t.seal.open(s.sealed, s.state.Begun); answer != nil {
			t.known = s.state.Begun
		}
	}
	questions := make([]*question, 0, len(t.questions))
	for q := range t.questions {
		questions = append(questions, q)
	}
	w.mu.Unlock()
	for _, q := range questions {
		q.hear(s, answer)
	}
}

// watch has the engine tell the watched what becomes of them until the fleet is closed.
func (f *Fleet) watch(w *watched) {
	select {
	case <-f.reached:
		f.engine.watch(f.closed, w)
	case <-f.closed.Done():
	}
}
