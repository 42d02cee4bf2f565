package latchkey

import (
	"context"
	"math"
	"math/rand"
	"sync"
	"time"
)

// Trigger is why a client asks.
type Trigger string

// The triggers of a check: the start, time, sleep, a network again, the front again, or the user.
const (
	Startup    Trigger = "startup"
	Scheduled  Trigger = "scheduled"
	Wake       Trigger = "wake"
	Reconnect  Trigger = "reconnect"
	Foreground Trigger = "foreground"
	Manual     Trigger = "manual"
)

const (
	tick            = time.Minute
	wakeAfter       = 5 * time.Minute
	foregroundAfter = time.Minute
	// A check runs, or none is planned yet.
	never = time.Duration(math.MaxInt64)
)

// The time until the next check: after an answer, and after one, two, three and more questions without one.
var checkWaits = []time.Duration{24 * time.Hour, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// background checks from time to time.
type background struct {
	ask      func(ctx context.Context, trigger Trigger) error
	isUnread func() bool // There may be a license that could not be read yet.
	notify   func()
	now      func() int64
	network  func() string
	jitter   func() float64 // from 0.9 to 1.1
	focus    chan struct{}
	mutex    sync.Mutex
	checkIn  time.Duration
	failures int
	lastTick int64
	lastSeen string // the network
	focused  *int64
	stop     context.CancelFunc
}

func newBackground(
	ask func(context.Context, Trigger) error, isUnread func() bool, notify func(), now func() int64,
) *background {
	jitter := func() float64 { return 0.9 + 0.2*rand.Float64() }
	focus := make(chan struct{}, 1)
	return &background{
		ask: ask, isUnread: isUnread, notify: notify, now: now, network: describeNetwork, jitter: jitter, focus: focus,
		checkIn: never,
	}
}

func (b *background) start() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	go b.run(ctx)
}

// close ends the checks, also one that runs.
func (b *background) close() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.stop != nil {
		b.stop()
	}
}

func (b *background) run(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	b.begin(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.focus:
			b.check(ctx, Foreground)
		case <-ticker.C:
			b.onTick(ctx)
		}
	}
}

func (b *background) begin(ctx context.Context) {
	b.lastTick, b.lastSeen = b.now(), b.network()
	b.check(ctx, Startup)
}

// noticeFocus: the program came to the front. Nothing happens more often than once a minute, or before the start.
func (b *background) noticeFocus() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	nowMs := b.now()
	if b.stop == nil || (b.focused != nil && distance(nowMs, *b.focused) < foregroundAfter.Milliseconds()) {
		return
	}
	b.focused = &nowMs
	select {
	case b.focus <- struct{}{}:
	default: // A check follows already.
	}
}

func distance(one, other int64) int64 {
	if one < other {
		return other - one
	}
	return one - other
}

// notice lets what waits for the service be sent soon after a call without an answer, not a day later.
func (b *background) notice(err error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !isNoAnswer(err) || b.checkIn == never {
		return
	}
	if b.failures == 0 {
		b.failures = 1
	}
	if wait := b.chooseWait(err); wait < b.checkIn {
		b.checkIn = wait
	}
}

func (b *background) onTick(ctx context.Context) {
	passed := time.Duration(b.now()-b.lastTick) * time.Millisecond
	b.lastTick = b.now()
	b.notify()
	if trigger := b.findTrigger(passed); trigger != "" {
		b.check(ctx, trigger)
	}
}

func (b *background) findTrigger(passed time.Duration) Trigger {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	before := b.lastSeen
	b.lastSeen = b.network()
	if passed < tick {
		b.checkIn -= tick // A clock that was set back counts as a tick.
	} else {
		b.checkIn -= passed
	}
	switch {
	case passed > wakeAfter || passed < -wakeAfter: // The computer slept, or its clock was set.
		return Wake
	case b.failures > 0 && before != b.lastSeen:
		return Reconnect
	case b.checkIn <= 0:
		return Scheduled
	}
	return ""
}

func (b *background) check(ctx context.Context, trigger Trigger) {
	b.mutex.Lock()
	b.checkIn = never
	b.mutex.Unlock()
	err := b.ask(ctx, trigger)
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if isNoAnswer(err) || b.isUnread() {
		b.failures++
	} else {
		b.failures = 0
	}
	b.checkIn = b.chooseWait(err)
}

// chooseWait is random, so that the machines of a company do not ask at the same time.
func (b *background) chooseWait(err error) time.Duration {
	wait := checkWaits[len(checkWaits)-1]
	if b.failures < len(checkWaits) {
		wait = checkWaits[b.failures]
	}
	if asked := retryAfterOf(err); asked > wait {
		wait = asked
	}
	return time.Duration(float64(wait) * b.jitter())
}
