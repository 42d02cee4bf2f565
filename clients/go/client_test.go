package latchkey

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestOpenListsAllWrongOptions(t *testing.T) {
	_, err := Open(Options{
		Service: "license.example.com", PublicKeys: []PublicKey{{Kty: "RSA"}}, Machine: Fingerprint{}, Timeout: -1,
	})
	if err == nil {
		t.Fatal("wrong options are accepted")
	}
	for _, name := range []string{"Service", "Products", "PublicKeys", "Machine", "Folder", "Timeout"} {
		if !strings.Contains(err.Error(), name+" must") {
			t.Errorf("%s is missing: %s", name, err)
		}
	}
}

func TestOpenStartsWithoutALicenseAndSendsNothing(t *testing.T) {
	o := open(t)
	state := o.State()
	if state.MayRun || state.Kind != None || state.Reason != "not_activated" || len(o.service.paths()) > 0 {
		t.Errorf("%+v", state)
	}
	o.expectProblems()
}

func TestDamagedFileIsSetAside(t *testing.T) {
	for _, text := range []string{"", `{"version":`, strings.Repeat("\x00", 100), `["license"]`, strings.Repeat("[", 100_000)} {
		o := open(t)
		o.must(os.WriteFile(o.file(), []byte(text), 0o600))
		if state := o.reopen(nil).State(); state.Reason != "not_activated" {
			t.Errorf("%+v", state)
		}
		o.expectProblems("file_damaged")
		kept, err := os.ReadFile(o.file() + ".damaged")
		o.must(err)
		if string(kept) != text {
			t.Errorf("%.20q was kept of %.20q", kept, text)
		}
	}
}

func TestFieldsOfAnotherTypeCountAsAbsentAndUnknownOnesSurvive(t *testing.T) {
	o := open(t)
	for _, odd := range []string{"7", "[{}]", `{"reason": 1}`, "true"} {
		fields := []string{`"theme": "dark"`}
		for _, name := range []string{"key", "activation_id", "entitlement", "keys", "refused", "clock", "release", "request"} {
			fields = append(fields, `"`+name+`": `+odd)
		}
		o.must(os.WriteFile(o.file(), []byte("{"+strings.Join(fields, ", ")+"}"), 0o600))
		client := o.reopen(nil)
		if _, err := client.OfflineRequest("personal", ""); err != nil || client.State().Reason != "not_activated" {
			t.Errorf("%s: %v, %+v", odd, err, client.State())
		}
		if !strings.Contains(string(o.readFile()), `"theme":"dark"`) {
			t.Errorf("%s: the unknown field is gone", odd)
		}
	}
	o.expectProblems()
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	o := openActivated(t)
	client := o.reopen(func(options *Options) { options.Folder = filepath.Join(o.file(), "below a file") })
	o.must(client.Activate(ctx, testKey))
	if !client.State().MayRun {
		t.Errorf("%+v", client.State())
	}
	if !contains(o.problems, "folder_unwritable") {
		t.Errorf("%q", o.problems)
	}
}

func TestFileIsTheOnlyOneAndOnlyItsOwnerReadsIt(t *testing.T) {
	o := openActivated(t)
	entries, err := os.ReadDir(o.options.Folder)
	o.must(err)
	if len(entries) != 1 || entries[0].Name() != "license.json" {
		t.Errorf("%v", entries)
	}
	info, err := entries[0].Info()
	o.must(err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%s", info.Mode())
	}
}

func TestFileStaysWhenItCannotBeReplaced(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "license.json")
	if err := os.Mkdir(path, 0o700); err != nil { // No file can replace it.
		t.Fatal(err)
	}
	if err := writeFile(path, []byte("{}")); err == nil {
		t.Fatal("the folder was replaced")
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 || entries[0].Type()&fs.ModeDir == 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestLicenseRunsAfterARestartWithoutANetwork(t *testing.T) {
	o := open(t)
	o.service.set(activated())
	o.must(o.Activate(ctx, " "+strings.ToLower(testKey)+" "))
	sent := o.service.requests[0]
	if sent.path != "/api/v1/licenses/activate" || sent.body.text("license_key") != testKey {
		t.Errorf("%+v", sent)
	}
	if toObject(sent.body["machine_fingerprint"]).text("machine_id") != testMachineID {
		t.Errorf("%+v", sent.body)
	}
	if !o.Has("gpu") || o.Has("fleet") {
		t.Errorf("%+v", o.State())
	}
	o.service.set(refuseConnection)
	if state := o.reopen(nil).State(); !state.MayRun || state.Kind != Licensed || state.FromService {
		t.Errorf("%+v", state)
	}
}

func TestMistypedKeyIsRefusedWithoutARequest(t *testing.T) {
	o := open(t)
	for _, typed := range []string{strings.Replace(testKey, "7Q", "Q7", 1), "", " \n"} {
		o.expectCode(o.Activate(ctx, typed), "key_mistyped")
	}
	if paths := o.service.paths(); len(paths) > 0 {
		t.Error(paths)
	}
}

func TestMoveHereAfterTheLimit(t *testing.T) {
	o := open(t)
	o.service.set(answerProblem(http.StatusConflict, "activation_limit_reached"))
	err := o.Activate(ctx, testKey)
	o.expectCode(err, "activation_limit_reached")
	if max := err.(*Error).Max; max == nil || *max != 3 {
		t.Errorf("%v", max)
	}
	o.service.set(func(asked request) (*http.Response, error) {
		if strings.HasSuffix(asked.path, "/activations") {
			return answerJSON([]object{{"activation_id": "a-1", "machine_id": "other", "is_active": true}})(asked)
		}
		if strings.HasSuffix(asked.path, "/deactivate") {
			return answerJSON(object{"success": true})(asked)
		}
		return activated()(asked)
	})
	machines, err := o.Machines(ctx)
	o.must(err)
	if want := []Machine{{ActivationID: "a-1", IsActive: true}}; !reflect.DeepEqual(machines, want) {
		t.Errorf("%+v", machines)
	}
	o.expectCode(o.MoveHere(ctx, "a-2"), "activation_not_found")
	o.must(o.MoveHere(ctx, "a-1"))
	if !o.State().MayRun {
		t.Errorf("%+v", o.State())
	}
}

func TestTrialStartsWithTheCheckAfterAFirstStartWithoutANetwork(t *testing.T) {
	o := open(t)
	o.expectCode(o.StartTrial(ctx), "no_answer")
	token := testSigner.sign(object{"trial": true})
	o.service.set(answerJSON(object{"activation_id": testActivationID, "license_key": testKey, "entitlement": token}))
	client := o.reopen(nil)
	o.must(client.Check(ctx))
	if client.State().Kind != Trial {
		t.Errorf("%+v", client.State())
	}
}

func TestTrialThatWaitsSurvivesAnEndDuringTheCheck(t *testing.T) {
	o := open(t)
	o.expectCode(o.StartTrial(ctx), "no_answer")
	asked := make(chan struct{})
	client := o.reopen(func(options *Options) {
		options.HTTPClient = &http.Client{Transport: roundTrip(func(sent *http.Request) (*http.Response, error) {
			close(asked)
			<-sent.Context().Done()
			return nil, sent.Context().Err()
		})}
	})
	client.KeepChecking()
	<-asked
	client.Close()
	if !client.session.kept().trialWanted || !strings.Contains(string(o.readFile()), `"trial_wanted":true`) {
		t.Errorf("the trial is lost: %s", o.readFile())
	}
}

func TestAnswerWithoutAConnectionEndsTheReleaseOfItsActivation(t *testing.T) {
	o := openActivated(t)
	o.service.set(refuseConnection)
	o.expectCode(o.Deactivate(ctx), "no_answer")
	_, err := o.OfflineRequest("personal", "")
	o.must(err)
	nonce := o.session.kept().request.Nonce
	o.must(o.AcceptOffline(testSigner.sign(object{"nonce": nonce})))
	o.service.set(validated())
	o.must(o.Check(ctx))
	if paths := o.service.paths(); len(paths) != 1 || !o.State().MayRun {
		t.Errorf("%q, %+v", paths, o.State())
	}
}

func TestTrialNamesWhyThereIsNone(t *testing.T) {
	o := open(t)
	for status, code := range map[string]string{"expired": "trial_expired", "revoked": "trial_unavailable"} {
		o.service.set(answerJSON(object{"activation_id": testActivationID, "status": status, "entitlement": nil}))
		o.expectCode(o.StartTrial(ctx), code)
	}
}

func TestChangesAreReportedButNotThoseOfOpening(t *testing.T) {
	o := openActivated(t)
	client, seen := o.reopen(nil), []Kind{}
	client.OnChange(func(State) { panic("a listener that fails") })
	client.OnChange(func(state State) { seen = append(seen, state.Kind) })
	o.service.set(validated())
	o.must(client.Check(ctx))
	o.service.set(answerJSON(object{"valid": false, "reason": "license_revoked"}))
	o.expectCode(client.Check(ctx), "license_revoked")
	o.expectCode(client.Check(ctx), "license_revoked")
	if !reflect.DeepEqual(seen, []Kind{Refused}) {
		t.Errorf("%q", seen)
	}
	o.expectProblems("listener")
}

func TestExplanationContainsNoSecret(t *testing.T) {
	o := openActivated(t)
	o.service.set(refuseConnection)
	o.expectCode(o.Check(ctx), "no_answer")
	_, err := o.Machines(ctx)
	o.expectCode(err, "no_answer")
	text := o.Explain()
	for _, line := range []string{"state: licensed\n", "last question: connection: connect: connection refused\n", "key: …5WV94\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing:\n%s", line, text)
		}
	}
	for _, secret := range []string{testKey, testKey[:20], testMachineID, "eyJ"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in it:\n%s", secret, text)
		}
	}
}

func TestPanicOfTheProgramBecomesAnError(t *testing.T) {
	o := openActivated(t)
	o.service.set(func(request) (*http.Response, error) { panic("a transport that fails") })
	o.expectCode(o.Check(ctx), "unexpected")
	o.service.set(validated())
	o.must(o.Check(ctx))
	o.expectProblems("unexpected")
}

func TestRequestEndsInTime(t *testing.T) {
	o := open(t)
	mayEnd := make(chan struct{})
	t.Cleanup(func() { close(mayEnd) })
	client := o.reopen(func(options *Options) {
		options.Timeout = 50 * time.Millisecond
		options.HTTPClient = &http.Client{Transport: roundTrip(func(sent *http.Request) (*http.Response, error) {
			<-sent.Context().Done()
			return nil, sent.Context().Err()
		})}
	})
	err := client.Activate(ctx, testKey)
	o.expectCode(err, "no_answer")
	if cause := err.(*Error).Cause; cause != "timeout" {
		t.Errorf("the cause is %s", cause)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	o.expectCode(client.Activate(cancelled, testKey), "aborted")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(sent *http.Request) (*http.Response, error) { return r(sent) }

func TestCallsOfManyGoroutinesRunOneAfterTheOther(t *testing.T) {
	o := openActivated(t)
	var running, most, asked atomic.Int32
	o.service.set(func(each request) (*http.Response, error) {
		if now := running.Add(1); now > most.Load() {
			most.Store(now)
		}
		asked.Add(1)
		time.Sleep(time.Millisecond)
		running.Add(-1)
		return validated()(each)
	})
	var group sync.WaitGroup
	for index := 0; index < 10; index++ {
		group.Add(2)
		go func() {
			defer group.Done()
			if err := o.Check(ctx); err != nil {
				t.Error(err)
			}
		}()
		go func() {
			defer group.Done()
			if !o.State().MayRun || !o.Has("gpu") {
				t.Error("the license does not run until then")
			}
		}()
	}
	group.Wait()
	if most.Load() != 1 || asked.Load() != 10 {
		t.Errorf("%d at a time, %d in all", most.Load(), asked.Load())
	}
}

func TestPurchaseIsAwaitedOverFailures(t *testing.T) {
	o := open(t)
	answers := []respond{
		answerJSON(object{"status": "pending"}),
		answerPage(http.StatusOK),
		answerJSON(object{"status": "completed", "licenses": []object{{"license_key": testKey}}}),
	}
	o.service.set(func(asked request) (*http.Response, error) {
		if strings.HasSuffix(asked.path, "/activate") {
			return activated()(asked)
		}
		next := answers[0]
		answers = answers[1:]
		return next(asked)
	})
	pauses := []time.Duration{}
	after := func(pause time.Duration) <-chan time.Time {
		pauses = append(pauses, pause)
		passed := make(chan time.Time, 1)
		passed <- time.Time{}
		return passed
	}
	o.must(o.afterPurchase(ctx, "txn 1", nil, after))
	if want := []time.Duration{2 * time.Second, 2600 * time.Millisecond}; !reflect.DeepEqual(pauses, want) {
		t.Errorf("%v", pauses)
	}
	if path := o.service.paths()[0]; path != "/api/v1/licenses/check/txn%201" {
		t.Error(path)
	}
}

func TestPurchaseEnds(t *testing.T) {
	o := open(t)
	o.service.set(answerProblem(http.StatusNotFound, "transaction_not_found"))
	o.expectCode(o.AfterPurchase(ctx, "txn_1"), "transaction_not_found")
	o.service.set(answerJSON(object{"status": "completed"}))
	o.expectCode(o.AfterPurchase(ctx, "txn_1"), "key_not_shown")
	o.service.set(answerJSON(object{"status": "pending"}))
	ended := make(chan time.Time)
	close(ended)
	never := func(time.Duration) <-chan time.Time { return nil }
	o.expectCode(o.afterPurchase(ctx, "txn_1", ended, never), "purchase_pending")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	o.expectCode(o.AfterPurchase(cancelled, "txn_1"), "aborted")
}

func TestLastGoodReadingOfTheMachineIsKept(t *testing.T) {
	o := openActivated(t)
	for _, failing := range []func() Fingerprint{
		func() Fingerprint { return nil },
		func() Fingerprint { return Fingerprint{"machine_id": ""} },
		func() Fingerprint { panic("forbidden") },
	} {
		o.mutex.Lock()
		o.problems = nil
		o.mutex.Unlock()
		client := o.reopen(func(options *Options) { options.Machine, options.ReadMachine = nil, failing })
		if !client.State().MayRun {
			t.Errorf("%+v", client.State())
		}
		eventually(t, func() bool {
			o.mutex.Lock()
			defer o.mutex.Unlock()
			return len(o.problems) > 0
		})
		o.expectProblems("machine_unreadable")
	}
}

func TestGeneratedIdentityStaysWhileALicenseUsesIt(t *testing.T) {
	o := open(t)
	readAs := func(fingerprint Fingerprint) func(*Options) {
		return func(options *Options) {
			options.Machine, options.ReadMachine = nil, func() Fingerprint { return fingerprint }
			options.Folder = filepath.Join(o.options.Folder, "other")
		}
	}
	first := o.reopen(readAs(nil)).session.kept().machine.machineID()
	if !strings.HasPrefix(first, "generated-") || len(first) != len("generated-")+36 {
		t.Fatal(first)
	}
	again := o.reopen(readAs(Fingerprint{"machine_id": "read"}))
	eventually(t, func() bool { return again.session.kept().machine.machineID() == "read" })
	kept := again.session.kept()
	kept.key, kept.machine = testKey, Fingerprint{"machine_id": first}
	again.session.change(kept)
	again.session.adoptMachine(Fingerprint{"machine_id": "read"})
	if id := again.session.kept().machine.machineID(); id != first {
		t.Error(id)
	}
}

func TestFileIsThatOfTheOtherClients(t *testing.T) {
	o := openActivated(t)
	var file map[string]any
	o.must(json.Unmarshal(o.readFile(), &file))
	if file["version"] != 1.0 || file["key"] != testKey || file["refused"] != nil || file["trial_wanted"] != false {
		t.Errorf("%v", file)
	}
	times, _ := file["clock"].(map[string]any)
	if times["latest_ms"] != float64(testNowMs) || times["offset_ms"] != 0.0 {
		t.Errorf("%v", times)
	}
}
