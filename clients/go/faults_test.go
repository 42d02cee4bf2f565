package latchkey

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const faults = 10_000

func failWith(err error) respond {
	return func(request) (*http.Response, error) { return nil, err }
}

func answerText(status int, body string) respond {
	return always(status, "application/json", body)
}

// cutOff breaks an answer in the middle of its body.
func cutOff(request) (*http.Response, error) {
	cut := response(http.StatusOK, "application/json", "")
	cut.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"valid":`), failingReader{}))
	return cut, nil
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

var foreignSigner = newSigner("a service that pretends to be the real one")

var faultCases = []struct {
	cause  string
	answer respond
}{
	{"connection", refuseConnection},
	{"connection", failWith(io.EOF)},
	{"connection", failWith(&net.OpError{Op: "read", Err: errors.New("connection reset by peer")})},
	{"connection", cutOff},
	{"dns", failWith(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "license.example.com"}})},
	{"timeout", failWith(context.DeadlineExceeded)},
	{"timeout", failWith(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "i/o timeout", IsTimeout: true}})},
	{"tls", failWith(x509.UnknownAuthorityError{})},
	{"tls", failWith(errors.New("remote error: tls: handshake failure"))},
	{"proxy", failWith(errors.New("Proxy Authentication Required"))},
	{"proxy", answerPage(407)},
	{"portal", answerPage(200)},
	{"portal", answerPage(403)},
	{"portal", answerPage(404)},
	{"portal", answerPage(302)},
	{"portal", answerText(204, "")},
	{"portal", answerText(200, "")},
	{"portal", answerText(200, `{"valid":true,"entitlem`)},
	{"portal", answerText(200, "[{}]")},
	{"portal", answerText(200, "null")},
	{"portal", answerText(200, "\xff\xfe")},
	{"portal", answerText(200, strings.Repeat("[", 50_000))},
	{"portal", answerText(200, `{"valid":false,"reason":1}`)},
	{"portal", answerText(200, strings.Repeat("x", maxBytes+1))},
	{"portal", answerJSON(object{"valid": true})},
	{"portal", answerJSON(object{"valid": true, "entitlement": "a.b.c"})},
	{"portal", answerJSON(object{"valid": true, "entitlement": foreignSigner.sign(nil)})},
	{"portal", answerJSON(object{"valid": true, "entitlement": foreignSigner.signAs(testSigner.publicKey.Kid, nil)})},
	{"portal", answerJSON(object{"valid": true, "entitlement": testSigner.sign(object{"aud": "other"})})},
	{"portal", answerJSON(object{"valid": true, "entitlement": testSigner.sign(object{"exp": 1})})},
	{"portal", answerText(403, `{"error":"blocked by policy"}`)},
	{"portal", answerText(403, `{"code":"license_revoked","status":200}`)},
	{"busy", answerProblem(429, "rate_limited")},
	{"busy", answerProblem(500, "internal_error")},
	{"busy", answerPage(502)},
	{"busy", answerProblem(503, "license_revoked")},
}

func TestFaultsOfTheNetworkChangeNothing(t *testing.T) {
	o := openActivated(t)
	before, file := o.State(), o.readFile()
	calls := []func() error{
		func() error { return o.CheckFor(ctx, Scheduled) },
		func() error { return o.Activate(ctx, testKey) },
		func() error { _, err := o.Machines(ctx); return err },
		func() error { return o.MoveHere(ctx, "any") },
	}
	for fault := 0; fault < faults; fault++ {
		each := faultCases[fault%len(faultCases)]
		o.service.set(each.answer)
		var failure *Error
		if err := calls[fault%len(calls)](); !errors.As(err, &failure) || failure.Code != "no_answer" || failure.Cause != each.cause {
			t.Fatalf("fault %d: %v instead of %s", fault, err, each.cause)
		}
	}
	if state := o.State(); state.differs(before) || state.FromService {
		t.Errorf("%+v instead of %+v", state, before)
	}
	if !bytes.Equal(o.readFile(), file) {
		t.Error("the file changed")
	}
	o.service.set(validated())
	o.must(o.Check(ctx))
	o.expectProblems()
}

func TestFaultsDoNotHinderTheActivationThatFollows(t *testing.T) {
	o := open(t)
	for index, each := range faultCases {
		o.service.set(each.answer)
		if err := o.Activate(ctx, testKey); err == nil || o.State().Reason != "not_activated" {
			t.Errorf("fault %d: %v, %+v", index, err, o.State())
		}
	}
	o.service.set(activated())
	o.must(o.Activate(ctx, testKey))
}

func TestFaultsNameNoKey(t *testing.T) {
	err := withoutURL(&url.Error{Op: "Get", URL: testIssuer + "/" + testKey, Err: errors.New("connection refused")})
	if strings.Contains(err.Error(), testKey) {
		t.Error(err)
	}
}
