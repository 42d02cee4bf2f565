package latchkey

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// makeUnreadable moves the kept file away, and returns a function that brings it back. In between, there is a link to itself, which
// nobody can read, but which a rename would replace.
func (o *opened) makeUnreadable() (restore func()) {
	o.t.Helper()
	if runtime.GOOS == "windows" {
		o.t.Skip("links need a privilege on Windows")
	}
	elsewhere := o.file() + ".elsewhere"
	if err := os.Rename(o.file(), elsewhere); err != nil && !os.IsNotExist(err) {
		o.t.Fatal(err)
	}
	o.must(os.MkdirAll(o.options.Folder, 0o700))
	o.must(os.Symlink(filepath.Base(o.file()), o.file()))
	return func() {
		o.t.Helper()
		o.must(os.Rename(elsewhere, o.file()))
	}
}

func TestFileThatCannotBeReadIsNotOverwritten(t *testing.T) {
	o := openActivated(t)
	restore := o.makeUnreadable()
	client := o.reopen(nil)
	o.expectProblems("folder_unreadable", "folder_unwritable")
	if state := client.State(); state.Reason != "not_activated" {
		t.Errorf("%+v", state)
	}
	o.must(client.Activate(ctx, testKey))
	if !client.State().MayRun {
		t.Errorf("%+v", client.State())
	}
	if _, err := os.Readlink(o.file()); err != nil {
		t.Errorf("the file that could not be read was replaced: %v", err)
	}
	restore()
}

func TestFileIsReadAgainBeforeTheNextCall(t *testing.T) {
	o := openActivated(t)
	restore := o.makeUnreadable()
	client := o.reopen(nil)
	restore()
	o.service.set(validated())
	o.must(client.Check(ctx))
	if kept := string(o.readFile()); !client.State().MayRun || !strings.Contains(kept, testKey) {
		t.Errorf("%+v: %s", client.State(), kept)
	}
}

func TestFileIsReadAgainBeforeTheNextWrite(t *testing.T) {
	o := openActivated(t)
	restore := o.makeUnreadable()
	client := o.reopen(nil)
	o.service.set(func(each request) (*http.Response, error) {
		restore() // During the call, which was to start a trial.
		return nil, context.DeadlineExceeded
	})
	o.expectCode(client.StartTrial(ctx), "no_answer")
	kept := client.session.kept()
	if client.State().Kind != Licensed || kept.trialWanted || !strings.Contains(string(o.readFile()), testKey) {
		t.Errorf("%+v", kept)
	}
}

func TestFileThatIsBusyForAMomentIsRead(t *testing.T) {
	o := openActivated(t)
	restore := o.makeUnreadable()
	restored := make(chan struct{})
	go func() {
		defer close(restored)
		restore()
	}()
	data, err := readFile(o.file(), 1_000)
	<-restored
	if err != nil || !strings.Contains(string(data), testKey) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestTrialOfTheRunDoesNotReplaceALicense(t *testing.T) {
	o := openActivated(t)
	before := string(o.readFile())
	restore := o.makeUnreadable()
	client := o.reopen(nil)
	o.service.set(answerJSON(object{
		"license_key": "LK-TRIAL", "activation_id": "a-trial", "entitlement": testSigner.sign(object{"trial": true}),
	}))
	o.must(client.StartTrial(ctx))
	if state := client.State(); state.Kind != Trial {
		t.Errorf("%+v", state)
	}
	restore()
	o.service.set(refuseConnection)
	o.expectCode(client.Check(ctx), "no_answer")
	if after := string(o.readFile()); client.State().Kind != Licensed || after != before {
		t.Errorf("%+v: %s", client.State(), after)
	}
}

func TestActivatedLicenseReplacesThatOfTheFileAndIsWritten(t *testing.T) {
	o := openActivated(t)
	restore := o.makeUnreadable()
	client := o.reopen(nil)
	o.service.set(answerJSON(object{"activation_id": "another", "entitlement": testSigner.sign(object{"tier": "sellers"})}))
	o.must(client.Activate(ctx, testKey))
	restore()
	o.service.set(refuseConnection)
	o.expectCode(client.Check(ctx), "no_answer")
	if state := o.reopen(nil).State(); state.Tier != "sellers" {
		t.Errorf("%+v", state)
	}
}

func TestCallsReportThatTheLicenseCannotBeRead(t *testing.T) {
	o := openActivated(t)
	o.makeUnreadable()
	client := o.reopen(nil)
	o.service.set(refuseConnection)
	_, err := client.Machines(ctx)
	for _, err := range []error{err, client.Check(ctx), client.MoveHere(ctx, "any"), client.Deactivate(ctx)} {
		o.expectCode(err, "folder_unreadable")
	}
	if paths := o.service.paths(); len(paths) > 0 {
		t.Errorf("%q", paths)
	}
}

var (
	fileKept = kept{
		key: "LK-FILE", activationID: "a", entitlement: "file.e.e", clock: clock{OffsetMs: 5, LatestMs: 9},
		machine: Fingerprint{"machine_id": "m"}, installID: "i", sharing: new(bool),
		release:      &activation{Key: "LK-OLD", ActivationID: "old", MachineID: "m"},
		lastAnswerAt: "2027-01-15T08:00:00.000Z", others: object{"seats": 1},
	}
	runKept     = kept{machine: Fingerprint{"machine_id": "m"}}
	licensedRun = kept{key: "LK-RUN", activationID: "b", entitlement: "run.e.e", machine: Fingerprint{"machine_id": "m"}}
	generated   = Fingerprint{"machine_id": "generated-u"}
)

// with returns a copy with changes.
func (k kept) with(change func(*kept)) kept {
	change(&k)
	return k
}

func expectKept(t *testing.T, joined, expected kept) {
	t.Helper()
	if !reflect.DeepEqual(joined, expected) {
		t.Errorf("%+v instead of %+v", joined, expected)
	}
}

func TestJoinOfARunThatChangedNothingIsTheFile(t *testing.T) {
	expectKept(t, fileKept.joinRun(kept{}, false), fileKept)
	expectKept(t, fileKept.joinRun(runKept, false), fileKept)
}

func TestJoinOfAnEmptyFileIsTheRun(t *testing.T) {
	run := fileKept.with(func(k *kept) {
		k.keys, k.installID, k.sharing, k.others = []PublicKey{{Kid: "any"}}, "", nil, nil
	})
	for _, hasOwnLicense := range []bool{true, false} {
		expectKept(t, kept{}.joinRun(run, hasOwnLicense), run)
	}
}

func TestJoinKeepsATrialOnlyWithoutALicense(t *testing.T) {
	expectKept(t, fileKept.joinRun(licensedRun, false), fileKept)
	file := fileKept.with(func(k *kept) { k.key, k.activationID, k.entitlement = "", "", "" })
	expected := fileKept.with(func(k *kept) { k.key, k.activationID, k.entitlement = "LK-RUN", "b", "run.e.e" })
	expectKept(t, file.joinRun(licensedRun, false), expected)
	release := &activation{Key: "LK-RUN", ActivationID: "b", MachineID: "m"}
	waiting := licensedRun.with(func(k *kept) { k.release = release })
	expectKept(t, fileKept.joinRun(waiting, false), fileKept.with(func(k *kept) { k.release = release }))
}

func TestJoinKeepsAnActivatedLicenseAndTheRelease(t *testing.T) {
	expected := fileKept.with(func(k *kept) { k.key, k.activationID, k.entitlement = "LK-RUN", "b", "run.e.e" })
	expectKept(t, fileKept.joinRun(licensedRun, true), expected)
}

func TestJoinDoesNotReleaseAnActivationThatIsWantedAgain(t *testing.T) {
	run := licensedRun.with(func(k *kept) { k.activationID = "old" })
	if joined := fileKept.joinRun(run, true); joined.release != nil {
		t.Errorf("%+v", joined)
	}
}

func TestJoinReplacesARefusal(t *testing.T) {
	file := fileKept.with(func(k *kept) { k.refused = &refusal{Reason: "license_revoked"} })
	if joined := file.joinRun(licensedRun, true); joined.refused != nil {
		t.Errorf("%+v", joined)
	}
	expectKept(t, file.joinRun(runKept, false), file)
}

func TestJoinRemovesARemovedLicense(t *testing.T) {
	if joined := fileKept.joinRun(runKept, true); joined.isActivated() || joined.activationID != "" {
		t.Errorf("%+v", joined)
	}
}

func TestJoinKeepsTheKeyOfAnOfflineActivation(t *testing.T) {
	run := runKept.with(func(k *kept) { k.activationID, k.entitlement = "a", "run.e.e" })
	if joined := fileKept.joinRun(run, true); joined.key != "LK-FILE" || joined.entitlement != "run.e.e" {
		t.Errorf("%+v", joined)
	}
	run.activationID = "b"
	if joined := fileKept.joinRun(run, true); joined.key != "" {
		t.Errorf("%+v", joined)
	}
}

func TestJoinReplacesAnOlderCopyOfTheTrialAndCallsItsReleaseOff(t *testing.T) {
	again := func(k *kept) { k.key, k.activationID, k.entitlement = "LK-RUN", "a", "run.e.e" }
	file := fileKept.with(func(k *kept) { k.refused = &refusal{Reason: "trial_expired"} })
	expectKept(t, file.joinRun(runKept.with(again), false), fileKept.with(again))
	released := licensedRun.with(func(k *kept) { k.activationID = "old" })
	expectKept(t, fileKept.joinRun(released, false), fileKept.with(func(k *kept) { k.release = nil }))
}

func TestJoinKeepsAWantedTrialUnlessThereIsALicense(t *testing.T) {
	run := runKept.with(func(k *kept) { k.trialWanted = true })
	offline := fileKept.with(func(k *kept) { k.key = "" })
	if fileKept.joinRun(run, false).trialWanted || offline.joinRun(run, false).trialWanted {
		t.Error("a trial replaces the license")
	}
	if !(kept{}).joinRun(run, false).trialWanted || !run.joinRun(runKept, false).trialWanted {
		t.Error("the trial is lost")
	}
}

func TestJoinKeepsTheRequestOfTheRun(t *testing.T) {
	file := fileKept.with(func(k *kept) { k.request = &openRequest{Nonce: "file"} })
	run := runKept.with(func(k *kept) { k.request = &openRequest{Nonce: "run"} })
	expectKept(t, file.joinRun(run, false), fileKept.with(func(k *kept) { k.request = run.request }))
	expectKept(t, file.joinRun(runKept, false), file)
}

func TestJoinNeverDecreasesTheLatestTime(t *testing.T) {
	for _, each := range []struct{ run, expected clock }{
		{clock{OffsetMs: 7}, clock{OffsetMs: 5, LatestMs: 9}},
		{clock{OffsetMs: 7, LatestMs: 8}, clock{OffsetMs: 7, LatestMs: 9}},
		{clock{OffsetMs: 7, LatestMs: 10}, clock{OffsetMs: 7, LatestMs: 10}},
	} {
		for _, hasOwnLicense := range []bool{true, false} {
			if joined := fileKept.joinRun(kept{clock: each.run}, hasOwnLicense); joined.clock != each.expected {
				t.Errorf("%+v instead of %+v", joined.clock, each.expected)
			}
		}
	}
}

func TestJoinKeepsARandomMachineOnlyWithItsLicense(t *testing.T) {
	useGenerated := func(k *kept) { k.machine = generated }
	for _, each := range []struct {
		joined   kept
		expected string
	}{
		{fileKept.joinRun(licensedRun.with(useGenerated), false), "m"},
		{fileKept.joinRun(licensedRun.with(useGenerated), true), "generated-u"},
		{fileKept.with(useGenerated).joinRun(runKept, false), "generated-u"},
		{fileKept.with(func(k *kept) { k.machine = nil }).joinRun(runKept.with(useGenerated), false), "generated-u"},
		{fileKept.joinRun(kept{machine: Fingerprint{"machine_id": "read"}}, false), "read"},
	} {
		if id := each.joined.machine.machineID(); id != each.expected {
			t.Errorf("%q instead of %q", id, each.expected)
		}
	}
}

func TestJoinKeepsTheFetchedKeysOfTheLicenseThatRemains(t *testing.T) {
	file := fileKept.with(func(k *kept) { k.keys = []PublicKey{{Kid: "file"}} })
	run := runKept.with(func(k *kept) { k.keys = []PublicKey{{Kid: "run"}} })
	for _, each := range []struct {
		joined   kept
		expected string
	}{
		{file.joinRun(run, false), "file"},
		{file.joinRun(run, true), "run"},
		{fileKept.joinRun(run, false), "run"},
		{file.joinRun(runKept, true), "file"},
	} {
		if keys := each.joined.keys; len(keys) != 1 || keys[0].Kid != each.expected {
			t.Errorf("%+v instead of %s", keys, each.expected)
		}
	}
}
