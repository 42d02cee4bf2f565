package latchkey

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	testIssuer       = "https://license.example.com"
	testMachineID    = "4c4c4544-0044"
	testKey          = "LK-7Q2M9-X4T1C-ZB8DH-3KPNE-5WV94"
	testActivationID = "0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d"
	testNowMs        = 1_800_000_000_000 // 2027-01-15T08:00:00Z
)

// signer is a key of a service.
type signer struct {
	private   ed25519.PrivateKey
	publicKey PublicKey
}

func newSigner(seed string) signer {
	digest := sha256.Sum256([]byte(seed))
	private := ed25519.NewKeyFromSeed(digest[:])
	x := encodeBase64url(private.Public().(ed25519.PublicKey))
	return signer{private, PublicKey{Kty: "OKP", Crv: "Ed25519", X: x, Kid: hashText(x)}}
}

var testSigner = newSigner("the signer of the tests")

// signAs signs an entitlement of 14 days with changed claims, under the id of a key.
func (s signer) signAs(kid string, changes object) string {
	const seconds = testNowMs / 1000
	claims := object{
		"iss": testIssuer, "aud": "personal", "iat": seconds, "nbf": seconds, "exp": seconds + 14*86_400,
		"activation_id": testActivationID, "machine": hashText(testMachineID), "tier": "personal",
		"features": []string{"history", "gpu"}, "license_expires_at": nil, "trial": false,
	}
	for name, value := range changes {
		claims[name] = value
	}
	header := object{"alg": "EdDSA", "kid": kid, "typ": "entitlement+jwt"}
	text := encodeBase64url(mustJSON(header)) + "." + encodeBase64url(mustJSON(claims))
	return text + "." + encodeBase64url(ed25519.Sign(s.private, []byte(text)))
}

func (s signer) sign(changes object) string {
	return s.signAs(s.publicKey.Kid, changes)
}

func mustJSON(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

// readVectors reads a file of the conformance vectors.
func readVectors(t *testing.T, name string, vectors any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "conformance", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, vectors); err != nil {
		t.Fatal(err)
	}
}

// request is one that a client sent.
type request struct {
	path string
	body object
}

// respond answers a request of a client.
type respond func(request) (*http.Response, error)

// testService stands for the network.
type testService struct {
	mutex    sync.Mutex
	answer   respond
	requests []request
}

func (s *testService) RoundTrip(sent *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(sent.Body)
	if err != nil {
		return nil, err
	}
	asked := request{sent.URL.EscapedPath(), toObject(parseJSON(data))}
	s.mutex.Lock()
	s.requests = append(s.requests, asked)
	answer := s.answer
	s.mutex.Unlock()
	return answer(asked)
}

func (s *testService) set(answer respond) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answer, s.requests = answer, nil
}

func (s *testService) paths() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	paths := []string{}
	for _, each := range s.requests {
		paths = append(paths, each.path)
	}
	return paths
}

func refuseConnection(request) (*http.Response, error) {
	return nil, errors.New("connect: connection refused")
}

func response(status int, contentType, body string) *http.Response {
	header := http.Header{"Content-Type": {contentType}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

// always answers every request with a new copy of an answer.
func always(status int, contentType, body string) respond {
	return func(request) (*http.Response, error) { return response(status, contentType, body), nil }
}

func answerJSON(content any) respond {
	return always(http.StatusOK, "application/json", string(mustJSON(content)))
}

func answerProblem(status int, code string) respond {
	return always(status, "application/problem+json", string(mustJSON(object{"status": status, "code": code, "max": 3})))
}

func answerPage(status int) respond {
	return always(status, "text/html", "<html>Please sign in</html>")
}

func activated() respond {
	return answerJSON(object{"activation_id": testActivationID, "entitlement": testSigner.sign(nil)})
}

func validated() respond {
	return answerJSON(object{"valid": true, "entitlement": testSigner.sign(nil)})
}

// opened is a client in a folder of its own, with its service and its clock.
type opened struct {
	*Client
	t        *testing.T
	options  Options
	service  *testService
	nowMs    int64
	mutex    sync.Mutex
	problems []string
}

func open(t *testing.T) *opened {
	t.Helper()
	o := &opened{t: t, service: &testService{answer: refuseConnection}, nowMs: testNowMs}
	o.options = Options{
		Service: testIssuer, Issuer: testIssuer, Products: []string{"personal"},
		PublicKeys: []PublicKey{testSigner.publicKey}, Folder: filepath.Join(t.TempDir(), "program"), AppVersion: "2.4.0",
		Machine: Fingerprint{"machine_id": testMachineID}, HTTPClient: &http.Client{Transport: o.service},
		Now: func() int64 { return o.nowMs },
		OnProblem: func(code, _ string) {
			o.mutex.Lock()
			defer o.mutex.Unlock()
			o.problems = append(o.problems, code)
		},
	}
	o.Client = o.reopen(nil)
	return o
}

func openActivated(t *testing.T) *opened {
	t.Helper()
	o := open(t)
	o.service.set(activated())
	o.must(o.Activate(ctx, testKey))
	return o
}

// reopen opens another client on the same folder.
func (o *opened) reopen(change func(*Options)) *Client {
	o.t.Helper()
	options := o.options
	if change != nil {
		change(&options)
	}
	client, err := Open(options)
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(client.Close)
	return client
}

func (o *opened) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *opened) expectCode(err error, code string) {
	o.t.Helper()
	if CodeOf(err) != code {
		o.t.Fatalf("the code is %q instead of %q: %v", CodeOf(err), code, err)
	}
}

func (o *opened) expectProblems(codes ...string) {
	o.t.Helper()
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if strings.Join(o.problems, " ") != strings.Join(codes, " ") {
		o.t.Fatalf("the problems are %q instead of %q", o.problems, codes)
	}
}

func (o *opened) file() string {
	return filepath.Join(o.options.Folder, "license.json")
}

func (o *opened) readFile() []byte {
	o.t.Helper()
	data, err := os.ReadFile(o.file())
	o.must(err)
	return bytes.TrimSpace(data)
}

// eventually waits for a condition.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition did not come true")
		}
	}
}
