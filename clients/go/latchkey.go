// Package latchkey lets a program use licenses of a Latchkey service: activation, trials, checks, and use without a network.
//
// A program opens one Client, which any goroutine may use: calls run one after the other, and State can be read at any time.
// No call panics.
package latchkey

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Version is that of this package.
const Version = "1.0.0"

// Options are what a program passes to Open.
type Options struct {
	// Service is its address, such as https://license.example.com.
	Service string
	// Issuer is the LATCHKEY_PUBLIC_URL of the service, which its entitlements name; usually the same address.
	Issuer string
	// Products are the ids of your products in its catalogue.
	Products []string
	// PublicKeys is the list keys of its /.well-known/jwks.json.
	PublicKeys []PublicKey
	// Folder is one of your program and this user, for license.json.
	Folder     string
	AppVersion string

	// The following can be left out.

	// OSVersion is shown to support, and never compared.
	OSVersion string
	// Machine is the identity of the machine, with a machine_id, if your program knows it.
	Machine Fingerprint
	// ReadMachine reads the identity otherwise, and returns nil if that fails; default: the function of this name.
	ReadMachine func() Fingerprint
	// HTTPClient sends the requests; default: one with the proxy of the environment. Redirects are never followed.
	HTTPClient *http.Client
	// Timeout is that of a request as a whole; default: 10 seconds.
	Timeout time.Duration
	// Now is the clock of the device, in milliseconds since 1970.
	Now func() int64
	// OnProblem receives a code and a message of each failure that the client continues after. It must not call the client.
	OnProblem func(code, message string)
}

// Machine is a machine of a license. Times are RFC 3339.
type Machine struct {
	ActivationID string
	IsActive     bool
	// IsThis is whether the program runs on it.
	IsThis          bool
	OSVersion       string
	AppVersion      string
	ActivatedAt     string
	LastValidatedAt string
}

// Client is the license of a program on this machine.
type Client struct {
	session    *session
	background *background
	// Holds a value while a call runs.
	calls chan struct{}
	// A key that was refused because no machine is free.
	wantedKey string

	mutex     sync.Mutex
	listeners []func(State)
	shown     State
}

const defaultTimeout = 10 * time.Second

// Open reads what is kept, and sends no request. It returns an error only if an option is wrong.
func Open(options Options) (*Client, error) {
	address, err := checkOptions(options)
	if err != nil {
		return nil, err
	}
	if options.Timeout == 0 {
		options.Timeout = defaultTimeout
	}
	if options.Now == nil {
		options.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if options.ReadMachine == nil {
		options.ReadMachine = ReadMachine
	}
	client := &Client{
		session: newSession(options, strings.TrimRight(options.Service, "/"), isTrustworthy(address)),
		calls:   make(chan struct{}, 1),
	}
	client.background = newBackground(client.CheckFor, client.session.isUnread.Load, client.notify, options.Now)
	client.session.load()
	client.identify()
	return client, nil
}

func checkOptions(options Options) (*url.URL, error) {
	address, err := url.Parse(options.Service)
	wrong := []string{}
	if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Hostname() == "" {
		wrong = append(wrong, "Service must be an http or https URL")
	}
	if len(options.Products) == 0 {
		wrong = append(wrong, "Products must list ids")
	}
	for _, key := range options.PublicKeys {
		if !key.isValid() {
			wrong = append(wrong, fmt.Sprintf("PublicKeys must list Ed25519 keys, and %q is none", key.Kid))
		}
	}
	if options.Machine != nil && readFingerprint(options.Machine) == nil {
		wrong = append(wrong, "Machine must have a machine_id")
	}
	if options.Folder == "" {
		wrong = append(wrong, "Folder must be a path")
	}
	if options.Timeout < 0 {
		wrong = append(wrong, "Timeout must not be negative")
	}
	if len(wrong) > 0 {
		return nil, errors.New("latchkey: " + strings.Join(wrong, "; "))
	}
	return address, nil
}

// isTrustworthy returns whether keys that arrive from an address may be trusted: https, or this computer.
func isTrustworthy(address *url.URL) bool {
	ip := net.ParseIP(address.Hostname())
	isLoopback := address.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
	return address.Scheme == "https" || isLoopback
}

// identify reads the machine; a reading that is kept counts until then, so that the program starts at once.
func (c *Client) identify() {
	isKnown := c.session.options.Machine == nil && c.session.kept().machine != nil
	if !isKnown {
		c.session.adoptMachine(c.session.readMachine())
	}
	c.shown = c.session.state()
	if isKnown {
		go func() {
			reading := c.session.readMachine()
			_ = c.call(context.Background(), func(context.Context) error {
				c.session.adoptMachine(reading)
				return nil
			})
		}()
	}
}

// State returns what the program may do now. It needs no network, and no call has to end first.
func (c *Client) State() State {
	return c.session.state()
}

// Has returns whether the program may run, with this feature.
func (c *Client) Has(feature string) bool {
	return contains(c.State().Features, feature)
}

// OnChange calls a function whenever the state changes, in the goroutine of the call or of the background checks.
func (c *Client) OnChange(listener func(State)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.listeners = append(c.listeners, listener)
}

// Activate activates this machine with a key, as a person typed or pasted it.
func (c *Client) Activate(ctx context.Context, key string) error {
	return c.call(ctx, func(ctx context.Context) error { return c.activate(ctx, key) })
}

// StartTrial starts the trial of this machine. Without an answer, KeepChecking starts it later.
func (c *Client) StartTrial(ctx context.Context) error {
	return c.call(ctx, c.startTrial)
}

// Check asks the service whether this machine may run. Call it on your own only without KeepChecking.
func (c *Client) Check(ctx context.Context) error {
	return c.CheckFor(ctx, Manual)
}

// CheckFor is Check, for programs that decide themselves when to ask.
func (c *Client) CheckFor(ctx context.Context, trigger Trigger) error {
	return c.call(ctx, func(ctx context.Context) error { return c.check(ctx, trigger) })
}

// Deactivate frees this machine. Without an answer it continues to run, and the next check frees it.
func (c *Client) Deactivate(ctx context.Context) error {
	return c.call(ctx, c.deactivate)
}

// Machines lists the machines of the license, or of the key that was just refused because none is free.
func (c *Client) Machines(ctx context.Context) ([]Machine, error) {
	machines := []Machine{}
	err := c.call(ctx, func(ctx context.Context) error {
		_, listed, err := c.listMachines(ctx)
		for _, each := range listed {
			machines = append(machines, c.describeMachine(each))
		}
		return err
	})
	return machines, err
}

// MoveHere frees another machine of the license, and activates this one.
func (c *Client) MoveHere(ctx context.Context, activationID string) error {
	return c.call(ctx, func(ctx context.Context) error { return c.moveHere(ctx, activationID) })
}

const (
	firstPause      = 2 * time.Second
	longestPause    = 15 * time.Second
	pauseGrowth     = 1.3
	purchaseTimeout = 10 * time.Minute
)

// AfterPurchase waits for the license of a checkout at your payment provider, for ten minutes or until the context ends, and
// activates it.
func (c *Client) AfterPurchase(ctx context.Context, transactionID string) error {
	return c.afterPurchase(ctx, transactionID, time.After(purchaseTimeout), time.After)
}

func (c *Client) afterPurchase(
	ctx context.Context, transactionID string, end <-chan time.Time, after func(time.Duration) <-chan time.Time,
) error {
	for asked := 0; ; asked++ {
		err := c.call(ctx, func(ctx context.Context) error { return c.activatePurchase(ctx, transactionID) })
		if !isNoAnswer(err) && CodeOf(err) != "purchase_pending" {
			return err
		}
		pause := math.Min(float64(longestPause), float64(firstPause)*math.Pow(pauseGrowth, float64(asked)))
		select {
		case <-ctx.Done():
			return refuse("aborted")
		case <-end:
			return err
		case <-after(time.Duration(pause)):
		}
	}
}

// OfflineRequest creates the text of a machine without a connection, for the page for buyers. The name is what the user calls the
// machine; it may be empty.
func (c *Client) OfflineRequest(product, name string) (request string, err error) {
	err = c.call(context.Background(), func(context.Context) (err error) {
		request, err = c.offlineRequest(product, name)
		return err
	})
	return request, err
}

// AcceptOffline accepts the answer to the last request, with any text around it.
func (c *Client) AcceptOffline(text string) error {
	return c.call(context.Background(), func(context.Context) error { return c.acceptOffline(text) })
}

// KeepChecking checks now and from now on: daily, after sleep, and when the network returns.
func (c *Client) KeepChecking() {
	c.background.start()
}

// NoticeFocus is to be called when the program comes to the front: a check follows, at most one a minute.
func (c *Client) NoticeFocus() {
	c.background.noticeFocus()
}

// Explain describes the license for support, without key, token and machine id.
func (c *Client) Explain() string {
	text := ""
	_ = c.call(context.Background(), func(context.Context) error { // It cannot fail.
		text = c.session.explain()
		return nil
	})
	return text
}

// Close ends the background checks, and waits for calls that run.
func (c *Client) Close() {
	c.background.close()
	c.calls <- struct{}{}
	<-c.calls
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.listeners = nil
}

// call runs work after all other calls. Whatever fails is an *Error.
func (c *Client) call(ctx context.Context, work func(context.Context) error) error {
	select {
	case c.calls <- struct{}{}:
	case <-ctx.Done():
		return refuse("aborted")
	}
	_ = c.session.readAgain() // An error was reported when the client was opened.
	err := c.guard(ctx, work)
	<-c.calls
	c.background.notice(err)
	c.notify()
	return err
}

func (c *Client) guard(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			c.session.report("unexpected", fmt.Sprint(cause))
			err = refuse("unexpected")
		}
	}()
	err = work(ctx)
	var failure *Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &failure) {
		c.session.report("unexpected", err.Error())
		return refuse("unexpected")
	}
	if isNoAnswer(err) {
		c.session.noteAnswer(false, failure.detail)
	} else if failure.status != 0 {
		c.session.noteAnswer(true, "refused: "+failure.Code)
	}
	return failure
}

func (c *Client) notify() {
	c.mutex.Lock()
	state := c.session.state()
	hasChanged := state.differs(c.shown)
	c.shown = state
	listeners := append([]func(State){}, c.listeners...)
	c.mutex.Unlock()
	if !hasChanged {
		return
	}
	for _, listener := range listeners {
		c.inform(listener, state)
	}
}

func (c *Client) inform(listener func(State), state State) {
	defer func() {
		if cause := recover(); cause != nil {
			c.session.report("listener", fmt.Sprint(cause))
		}
	}()
	listener(state)
}
