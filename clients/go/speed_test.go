package latchkey

import (
	"testing"
	"time"
)

// The best of several runs, because other programs compute at the same time.
const speedRuns = 200

func fastest(work func()) time.Duration {
	best := time.Hour
	for run := 0; run < speedRuns; run++ {
		begin := time.Now()
		work()
		if took := time.Since(begin); took < best {
			best = took
		}
	}
	return best
}

func TestSpeedOfStateFromDiskAndLater(t *testing.T) {
	o := openActivated(t)
	opening := fastest(func() {
		client, err := Open(o.options)
		if err != nil || !client.State().MayRun {
			t.Fatalf("%v", err)
		}
	})
	later := fastest(func() {
		if !o.Has("gpu") {
			t.Fatal("the license does not run")
		}
	})
	t.Logf("state from disk, with the verification: %s; later: %s", opening, later)
	if opening > 5*time.Millisecond || later > time.Millisecond {
		t.Errorf("%s and %s are more than 5 ms and 1 ms", opening, later)
	}
}
