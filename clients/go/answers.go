package latchkey

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Error is why a call did not work; errors.As finds it.
type Error struct {
	// Code is that of the service, or no_answer, key_mistyped, not_activated, folder_unreadable, already_licensed, entitlement_…,
	// aborted, unexpected.
	Code string
	// Cause of no_answer: dns, connection, tls, proxy, timeout, busy or portal. Nothing changed; try again later.
	Cause string
	// RetryAfter is how long the service asked to wait.
	RetryAfter time.Duration
	// Max and Current of a limit: how many are allowed, and how many there are.
	Max, Current *int
	// AvailableAt is when the next one is possible, RFC 3339.
	AvailableAt string

	detail string
	// The status of a refusal by the service, else 0.
	status int
	dateMs *int64
}

func (e *Error) Error() string {
	if e.Cause != "" {
		return fmt.Sprintf("latchkey: %s (%s)", e.Code, e.Cause)
	}
	return "latchkey: " + e.Code
}

// CodeOf returns the code of an error of this package; nothing for nil and other errors.
func CodeOf(err error) string {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	return ""
}

var licenseCode = regexp.MustCompile(`^(license|activation|machine|trial)_`)

// isAboutLicense returns whether the service refuses the license, and not a path, and not something between.
func (e *Error) isAboutLicense() bool {
	return (e.status == http.StatusForbidden || e.status == http.StatusNotFound) && licenseCode.MatchString(e.Code)
}

func refuse(code string) *Error {
	return &Error{Code: code}
}

func noAnswer(cause, detail string) *Error {
	return &Error{Code: "no_answer", Cause: cause, detail: cause + ": " + detail}
}

func otherForm() *Error {
	return noAnswer("portal", "JSON of another form")
}

// isNoAnswer returns whether an error means that the service did not answer.
func isNoAnswer(err error) bool {
	return CodeOf(err) == "no_answer"
}

// answer is JSON of the service, with its time, if it sent one.
type answer struct {
	body   any
	dateMs *int64
}

func (a answer) object() object {
	return toObject(a.body)
}

const (
	maxBytes = 1_000_000
	maxWait  = 24 * time.Hour
)

// network sends requests.
type network struct {
	client  *http.Client
	service string
	timeout time.Duration
}

// newHTTPClient returns a client that follows no redirects, and neither repeats a request nor keeps a connection for the next one.
func newHTTPClient(given *http.Client) *http.Client {
	client := http.Client{}
	if given != nil {
		client = *given
	} else if usual, isUsual := http.DefaultTransport.(*http.Transport); isUsual {
		transport := usual.Clone()
		transport.DisableKeepAlives = true
		client.Transport = transport
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// ask sends one request: POST with content, else GET.
func (n network) ask(ctx context.Context, path string, content any) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	response, body, err := n.exchange(ctx, path, content)
	if errors.Is(ctx.Err(), context.Canceled) {
		return answer{}, refuse("aborted")
	}
	if err != nil {
		return answer{}, noAnswer(findCause(err), err.Error())
	}
	return classify(response, body)
}

func (n network) exchange(ctx context.Context, path string, content any) (*http.Response, []byte, error) {
	method, body := http.MethodGet, []byte(nil)
	if content != nil {
		method = http.MethodPost
		encoded, err := json.Marshal(content)
		if err != nil {
			return nil, nil, err
		}
		body = encoded
	}
	request, err := http.NewRequestWithContext(ctx, method, n.service+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := n.client.Do(request)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	defer response.Body.Close()
	received, err := io.ReadAll(io.LimitReader(response.Body, maxBytes+1))
	return response, received, err
}

// withoutURL removes the address of the request, which may contain the key.
func withoutURL(err error) error {
	if wrapped := errors.Unwrap(err); wrapped != nil {
		return wrapped
	}
	return err
}

// findCause returns why a request failed. Some errors of net/http and crypto/tls have a text alone.
func findCause(err error) string {
	var unknownName *net.DNSError
	var timeout net.Error
	var noTLS tls.RecordHeaderError
	text := err.Error()
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.As(err, &unknownName):
		return "dns"
	case errors.As(err, &noTLS) || strings.Contains(text, "tls: ") || strings.Contains(text, "x509: "):
		return "tls"
	case strings.Contains(strings.ToLower(text), "proxy"):
		return "proxy"
	}
	return "connection"
}

// classify decides what arrived: only JSON of the service's own forms is an answer.
func classify(response *http.Response, received []byte) (answer, error) {
	status := response.StatusCode
	if status == http.StatusTooManyRequests || status >= http.StatusInternalServerError {
		failure := noAnswer("busy", fmt.Sprintf("status %d", status))
		failure.RetryAfter = readRetryAfter(response.Header.Get("Retry-After"))
		return answer{}, failure
	}
	if status == http.StatusProxyAuthRequired {
		return answer{}, noAnswer("proxy", "status 407")
	}
	var body any
	if len(received) <= maxBytes {
		body = parseJSON(received)
	}
	dateMs := readDate(response.Header.Get("Date"))
	if status == http.StatusOK && body != nil {
		return answer{body, dateMs}, nil
	}
	fields := toObject(body)
	if status < http.StatusBadRequest || !fields.hasText("code") || !isProblem(response, fields) {
		return answer{}, noAnswer("portal", fmt.Sprintf("status %d, not an answer of the service", status))
	}
	return answer{}, &Error{
		Code: fields.text("code"), Max: fields.limit("max"), Current: fields.limit("current"),
		AvailableAt: fields.text("available_at"), status: status, dateMs: dateMs,
	}
}

func isProblem(response *http.Response, fields object) bool {
	status, _ := fields.integer("status")
	contentType := strings.ToLower(response.Header.Get("Content-Type"))
	return strings.HasPrefix(contentType, "application/problem+json") || int(status) == response.StatusCode
}

func (o object) limit(name string) *int {
	value, isInteger := o.integer(name)
	if !isInteger {
		return nil
	}
	limit := int(value)
	return &limit
}

var retryAfter = regexp.MustCompile(`^[0-9]{1,9}$`)

// readRetryAfter reads seconds; the service sends no date, and is believed for a day only.
func readRetryAfter(text string) time.Duration {
	if !retryAfter.MatchString(text) {
		return 0
	}
	seconds, _ := strconv.Atoi(text) // The expression allows nothing else.
	if wait := time.Duration(seconds) * time.Second; wait < maxWait {
		return wait
	}
	return maxWait
}

func readDate(text string) *int64 {
	date, err := http.ParseTime(text)
	if err != nil {
		return nil
	}
	ms := date.UnixMilli()
	return &ms
}

func retryAfterOf(err error) time.Duration {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.RetryAfter
	}
	return 0
}
