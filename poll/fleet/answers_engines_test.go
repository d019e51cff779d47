package fleet

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/pollcli/poll/internal/turns"
	"github.com/pollcli/poll/poll"
)

// conform runs a scenario over each of what can be shared.
func conform(t *testing.T, scenario func(t *testing.T, where string)) {
	t.Helper()
	t.Run("Redis", func(t *testing.T) {
		t.Parallel()
		scenario(t, serve(t, false).url)
	})
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		scenario(t, filepath.Join(t.TempDir(), "shared"))
	})
}

// One asks, and the others are told.
func TestAnswers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a crowd in real time")
	}
	conform(t, func(t *testing.T, where string) {
		a := &thing{takes: 20 * time.Millisecond, done: time.Now().Add(time.Second)}
		var all sync.WaitGroup
		waiters := make([]*waiter, 30)
		for i := range waiters {
			f, notes := share(t, where)
			waiters[i] = newWaiter(&Answers{Fleet: f}, "thing", every(300*time.Millisecond))
			all.Go(func() {
				waiters[i].wait(a)
				if len(notes) > 0 {
					t.Error(<-notes)
				}
			})
		}
		all.Wait()
		taken := 0
		for _, w := range waiters {
			taken += w.taken
			if w.alone > 0 {
				t.Error("one was alone")
			}
		}
		t.Logf("asked %d, taken %d, ended within %s", len(a.asked), taken, last(waiters))
		if len(a.asked) > 8 || a.most > 1 || taken < 29 {
			t.Errorf("asked %d times, up to %d at once, and %d taken", len(a.asked), a.most, taken)
		}
	})
}

// Once one is answered, each of many processes is told, and has the answer already.
func TestAnswers_told(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a crowd in real time")
	}
	conform(t, func(t *testing.T, where string) {
		const n = 200
		took := make(chan time.Duration, n)
		questions := make([]poll.Question, 0, n)
		asker := newWaiter(open1(t, where), "thing", every(time.Second)).question
		asker.Claim(0, true)
		var began time.Time
		for range n {
			f, _ := share(t, where)
			q := (&Answers{Fleet: f}).Question([]byte("thing"), time.Now().Add(-time.Hour), func() { took <- time.Since(began) })
			questions = append(questions, q)
			if turn := q.Claim(0, true); turn.Until.IsZero() {
				t.Fatalf("%+v", turn)
			}
		}
		asker.Claim(0, true)
		began = time.Now()
		asker.Answered(bytes.Repeat([]byte("x"), 1000), time.Minute)
		published := time.Since(began)
		var longest time.Duration
		for range n {
			longest = max(longest, <-took)
		}
		t.Logf("%d were told within %s, published in %s", n, longest, published)
		for _, q := range questions {
			if turn := q.Claim(0, false); len(turn.Answer) != 1000 || turn.Series.N != 1 {
				t.Fatalf("%+v", turn)
			}
		}
	})
}

// What has come while a process was alone, it is told once it no longer is.
func TestAnswers_toldLater(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T, where string) {
		asker := newWaiter(open1(t, where), "thing", every(time.Second)).question
		asker.Claim(0, true)
		f, _ := share(t, where)
		told := make(chan struct{})
		q := (&Answers{Fleet: f}).Question([]byte("thing"), time.Now().Add(-time.Hour), sync.OnceFunc(func() { close(told) }))
		q.Claim(0, true)
		f.lose(io.EOF)
		asker.Answered([]byte("x"), time.Minute)
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Error("nobody tells it")
		}
	})
}

// open1 returns the answers of a process.
func open1(t testing.TB, where string) *Answers {
	f, _ := share(t, where)
	return &Answers{Fleet: f}
}

// An answer that was asked for before a wait began does not count for it.
func TestAnswers_since(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T, where string) {
		a := &thing{}
		f, _ := share(t, where)
		answers := &Answers{Fleet: f}
		first := newWaiter(answers, "thing", every(time.Hour))
		first.look(a)
		later := newWaiter(answers, "thing", every(time.Hour))
		if turn := later.question.Claim(0, true); turn.Answer != nil || turn.Until.IsZero() {
			t.Errorf("%+v", turn)
		}
	})
}

// A forgery is what others have written in place of what is shared of a question.
type forgery struct{ state, answer string }

func forgeries() map[string]forgery {
	now := time.Now().UnixMicro()
	whole := (&turns.State{Begun: now + 1, Ended: now + 1, N: 1, Next: turns.Second}).Record()
	return map[string]forgery{
		"empty":             {"", ""},
		"no record":         {"hello\nworld", "x"},
		"another version":   {"2" + whole[1:], "x"},
		"too long":          {whole + strings.Repeat(" 1", 1000), "x"},
		"no answer":         {whole, ""},
		"short answer":      {whole, "x"},
		"answer of nobody":  {whole, strings.Repeat("x", 1000)},
		"huge answer":       {whole, strings.Repeat("*$99999999999\r\n", 100_000)},
		"words of a server": {"*1000000\r\n$99999999999\r\n", "$99999999999\r\n"},
	}
}

// Whatever is there, it is no answer, and nobody goes alone, or waits for longer than anybody
// may hold a turn.
func FuzzForgery(f *testing.F) {
	for _, forged := range forgeries() {
		f.Add(forged.state, forged.answer)
	}
	places := []string{serve(f, false).url, f.TempDir()}
	f.Fuzz(func(t *testing.T, state, answer string) {
		for _, where := range places {
			fl, notes := share(t, where)
			forge(t, where, fl.answers.names.name([]byte("thing")), forgery{state, answer})
			q := (&Answers{Fleet: fl}).Question([]byte("thing"), time.Now().Add(-time.Hour), func() {})
			turn := q.Claim(0, true)
			q.Close()
			if turn.Answer != nil || turn.Alone || time.Until(turn.Until) > time.Hour || len(notes) > 0 {
				t.Errorf("%q, %q in %s: %+v", state, answer, where, turn)
			}
		}
	})
}

// A forgery is nothing, and nobody goes alone.
func TestAnswers_forged(t *testing.T) {
	t.Parallel()
	for name, forged := range forgeries() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name == "huge answer" {
				t.Skip("1.4 MB through a socket, which under Wine does not end")
			}
			conform(t, func(t *testing.T, where string) {
				f, notes := share(t, where)
				q := (&Answers{Fleet: f}).Question([]byte("thing"), time.Now().Add(-time.Hour), func() { t.Error("there is news") })
				other := newWaiter(open1(t, where), "thing", every(time.Second)).question
				other.Claim(0, true)
				other.Answered([]byte("x"), 0)
				forge(t, where, f.answers.names.name([]byte("thing")), forged)
				turn := q.Claim(0, true)
				if wait := time.Until(turn.Until); turn.Answer != nil || turn.Alone || !turn.Ask && wait > time.Second/2 {
					t.Errorf("%+v", turn)
				}
				if turn.Ask {
					q.Answered([]byte("y"), 0)
					late := (&Answers{Fleet: f}).Question([]byte("thing"), time.Now().Add(-time.Hour), func() {})
					if turn := late.Claim(0, true); string(turn.Answer) != "y" {
						t.Errorf("%+v", turn)
					}
				}
				if len(notes) > 0 {
					t.Error(<-notes)
				}
			})
		})
	}
}

// forge writes what is shared of a question.
func forge(t *testing.T, where, name string, forged forgery) {
	t.Helper()
	if network, host, ok := strings.Cut(where, "://"); ok {
		if network == "redis" {
			network = "tcp"
		}
		conn, err := redis.Dial(network, host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		command(t, conn, "HSET", answerKey(name), "s", forged.state, "b", forged.answer)
		command(t, conn, "PUBLISH", answerChannel(name), fmt.Sprintf("%d 0 %s\n%s", time.Now().UnixMicro(), forged.state, forged.answer))
		command(t, conn, "PUBLISH", answerChannel(name), forged.answer)
		return
	}
	file := fmt.Appendf(nil, "%-*s\n%s", recordSize-1, forged.state, forged.answer)
	if err := os.WriteFile(directory(where).answerFile(name), file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Whatever a server says, each process goes on alone, and says so once.
func TestAnswers_refused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		commands []string
		user     string
		want     string
	}{
		{"full", []string{"CONFIG SET maxmemory 1"}, "", "no memory left (OOM)"},
		{"replica", []string{"REPLICAOF 127.0.0.1 1"}, "", "it is a replica, which can only be read (READONLY)"},
		{"no rights", []string{"ACL SETUSER me on >hunter2 ~poll:* +eval +evalsha +time +hmget"}, "me:hunter2@", "may not run scripts, or use the keys poll:* (NOPERM)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, true)
			for _, c := range test.commands {
				carryOut(t, s, c)
			}
			f, notes := share(t, strings.Replace(s.url, "//", "//"+test.user, 1))
			q := newWaiter(&Answers{Fleet: f}, "thing", every(time.Second)).question
			for range 2 {
				if turn := q.Claim(0, true); !turn.Ask || !turn.Alone {
					t.Errorf("%+v", turn)
				}
				q.Answered([]byte("x"), 0)
			}
			if note := <-notes; !strings.Contains(note, test.want) || len(notes) > 0 {
				t.Errorf("told %q, want %q", note, test.want)
			}
		})
	}
}

// carryOut carries out a command of words.
func carryOut(t *testing.T, s *server, words string) {
	t.Helper()
	var args []any
	for word := range strings.FieldsSeq(words) {
		args = append(args, word)
	}
	command(t, s.connect(t), args[0].(string), args[1:]...)
}

// A user needs few rights, and who may not publish or listen shares all the same.
func TestAnswers_leastRights(t *testing.T) {
	t.Parallel()
	for rights, told := range map[string]bool{"": false, "&poll:* +publish +subscribe +unsubscribe": true} {
		t.Run(rights, func(t *testing.T) {
			t.Parallel()
			s := serve(t, true)
			carryOut(t, s, "ACL SETUSER me on resetchannels >hunter2 ~poll:* +evalsha +eval +time +hmget +hset +pexpire "+rights)
			where := strings.Replace(s.url, "//", "//me:hunter2@", 1)
			f, notes := share(t, where)
			asker := newWaiter(&Answers{Fleet: f}, "thing", every(time.Second)).question
			asker.Claim(0, true)
			news := make(chan struct{}, 1)
			q := open1(t, where).Question([]byte("thing"), time.Now().Add(-time.Hour), func() { news <- struct{}{} })
			q.Claim(0, true)
			asker.Answered([]byte("x"), time.Second)
			if told {
				<-news
			}
			if turn := q.Claim(0, true); string(turn.Answer) != "x" {
				t.Errorf("%+v", turn)
			}
			if len(notes) > 0 {
				t.Error(<-notes)
			}
		})
	}
}

// Who has lost the connection that listens has another soon.
func TestAnswers_listensAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, true)
	asker := newWaiter(open1(t, s.url), "thing", every(time.Second)).question
	news := make(chan struct{}, 10)
	f, notes := share(t, s.url)
	q := (&Answers{Fleet: f}).Question([]byte("thing"), time.Now().Add(-time.Hour), func() { news <- struct{}{} })
	asker.Claim(0, true)
	q.Claim(0, true)
	conn := s.connect(t)
	for killed := 0; killed < 2; {
		n, err := redis.Int(command(t, conn, "CLIENT", "KILL", "TYPE", "pubsub"), nil)
		if err != nil {
			t.Fatal(err)
		}
		killed += n
	}
	asker.Answered([]byte("x"), time.Second) // while nobody listens
	<-news
	if turn := q.Claim(0, false); string(turn.Answer) != "x" || len(notes) > 0 {
		t.Errorf("%+v", turn)
	}
}

// A server that can be asked, but makes no sense, is as good as none.
func TestAnswers_babble(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"", "x", "0 0 \n", "-1 0 \n", "1 2 \n", "1 0 ", "9007199254740993 0 \n", "1  0 \n", "1 0\n"} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			url := babble(t, func(command string) string {
				if strings.HasPrefix(command, "EVAL") {
					return fmt.Sprintf("$%d\r\n%s\r\n", len(said), said)
				}
				return "+OK\r\n"
			})
			f, notes := share(t, url)
			turn := newWaiter(&Answers{Fleet: f}, "thing", every(time.Second)).question.Claim(0, true)
			if said == "1 0\n" { // a server of 1970 on which there is nothing
				return
			}
			if !turn.Alone || !strings.Contains(<-notes, "an unexpected answer") {
				t.Errorf("%+v", turn)
			}
		})
	}
}

// Whatever is read from a server, or pushed by it, is an answer of who could have asked, or
// none.
func FuzzReadSheet(f *testing.F) {
	k, err := newAnswerKeyer(nil)
	if err != nil {
		f.Fatal(err)
	}
	s, err := k.seal([]byte("thing"))
	if err != nil {
		f.Fatal(err)
	}
	state := turns.State{Begun: 5, Ended: 6, First: 5, N: 1, Next: 7}
	f.Add("10 0 " + state.Record() + "\n" + string(s.close([]byte("answer"), 5)))
	f.Add("10 1 " + state.Record() + "\n" + string(s.close([]byte("answer"), 4)))
	f.Add("10 0 \n")
	fl, err := start(&fake{}, "here", Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(fl.Close)
	f.Fuzz(func(t *testing.T, said string) {
		read, _, _, err := readSheet(said)
		if err != nil {
			return
		}
		if read.now <= 0 {
			t.Errorf("%q: %+v", said, read)
		}
		q := (&Answers{Fleet: fl}).Question([]byte("thing"), time.Now(), func() {}).(*question)
		q.answers.watched.add(q)
		defer q.Close()
		q.reached = true
		q.answers.watched.tell(s.name, read)
		turn, ok := q.take()
		if ok && string(turn.Answer) != "answer" || time.Until(turn.Series.Ended) > time.Minute {
			t.Errorf("%q: %+v", said, turn)
		}
	})
}
