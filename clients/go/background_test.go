package latchkey

import (
	"context"
	"net/http"
	"reflect"
	"testing"
	"time"
)

var unanswered = noAnswer("dns", "no such host")

// watched is a background with a clock and a network of the test.
type watched struct {
	*background
	t        *testing.T
	nowMs    int64
	seen     string
	result   error
	isUnread bool
	triggers []Trigger
}

func watch(t *testing.T) *watched {
	w := &watched{t: t, seen: "home"}
	ask := func(_ context.Context, trigger Trigger) error {
		w.triggers = append(w.triggers, trigger)
		return w.result
	}
	w.background = newBackground(ask, func() bool { return w.isUnread }, func() {}, func() int64 { return w.nowMs })
	w.background.network = func() string { return w.seen }
	w.background.jitter = func() float64 { return 1 }
	return w
}

// expect lets minutes pass, with a tick each.
func (w *watched) expect(minutes int, triggers ...Trigger) {
	w.t.Helper()
	w.triggers = []Trigger{}
	for minute := 0; minute < minutes; minute++ {
		w.nowMs += tick.Milliseconds()
		w.onTick(ctx)
	}
	if len(w.triggers) != len(triggers) || (len(triggers) > 0 && !reflect.DeepEqual(w.triggers, triggers)) {
		w.t.Fatalf("%q instead of %q", w.triggers, triggers)
	}
}

func TestBackgroundChecksAtTheStartAndDaily(t *testing.T) {
	w := watch(t)
	w.begin(ctx)
	if !reflect.DeepEqual(w.triggers, []Trigger{Startup}) {
		t.Errorf("%q", w.triggers)
	}
	w.expect(1439)
	w.expect(1, Scheduled)
}

func TestBackgroundAsksAgainAfter1And5And15And60Minutes(t *testing.T) {
	w := watch(t)
	w.result = unanswered
	w.begin(ctx)
	for _, minutes := range []int{1, 5, 15, 60, 60} {
		w.expect(minutes - 1)
		w.expect(1, Scheduled)
	}
}

func TestBackgroundChecksSoonWhileTheFileCannotBeRead(t *testing.T) {
	w := watch(t)
	w.result, w.isUnread = refuse("folder_unreadable"), true
	w.begin(ctx)
	w.expect(1, Scheduled)
	w.result = nil // A trial runs, and a license may be in the file.
	w.expect(5, Scheduled)
	w.isUnread = false
	w.expect(15, Scheduled)
	w.expect(1439)
}

func TestBackgroundWaitsAsLongAsTheServiceAsks(t *testing.T) {
	w := watch(t)
	busy := noAnswer("busy", "status 503")
	busy.RetryAfter = 20 * time.Minute
	w.result = busy
	w.begin(ctx)
	w.expect(19)
	w.expect(1, Scheduled)
}

func TestBackgroundChecksAfterSleepAndWithAnotherNetwork(t *testing.T) {
	w := watch(t)
	w.begin(ctx)
	w.nowMs += 6 * 3_600_000
	w.expect(1, Wake)
	w.seen = "train"
	w.expect(1)
	w.result = unanswered
	w.check(ctx, Manual)
	w.seen = "office"
	w.expect(1, Reconnect)
}

func TestBackgroundChecksWhenTheClockIsSetBackAndADayLater(t *testing.T) {
	w := watch(t)
	w.begin(ctx)
	w.nowMs -= 3_600_000
	w.expect(1, Wake)
	w.nowMs -= 60_000
	w.expect(1439)
	w.expect(1, Scheduled)
}

func TestBackgroundChecksSoonAfterACallWithoutAnAnswer(t *testing.T) {
	w := watch(t)
	w.begin(ctx)
	w.notice(unanswered)
	w.expect(1, Scheduled)
	w.expect(600)
	w.notice(refuse("license_not_found"))
	w.expect(600)
}

func TestBackgroundChecksUntilClose(t *testing.T) {
	o := openActivated(t)
	asked := make(chan string, 10)
	o.service.set(func(each request) (*http.Response, error) {
		asked <- each.body.text("trigger")
		return validated()(each)
	})
	o.NoticeFocus() // Has no effect before the start.
	o.KeepChecking()
	o.KeepChecking()
	if trigger := <-asked; trigger != "startup" {
		t.Error(trigger)
	}
	o.NoticeFocus()
	o.NoticeFocus()
	if trigger := <-asked; trigger != "foreground" {
		t.Error(trigger)
	}
	o.Close()
	if len(asked) > 0 {
		t.Error("it checked more than once a minute")
	}
}
