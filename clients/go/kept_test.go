package latchkey

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
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

var (
	fileBefore = kept{
		key: "LK-FILE", activationID: "a-file", entitlement: "of the file", refused: &refusal{Reason: "license_revoked"},
		release: &activation{Key: "LK-FILE", ActivationID: "a-file", MachineID: "m"}, installID: "i-1", lastAnswerAt: "before",
		clock: clock{LatestMs: 9}, keys: []PublicKey{{Kid: "k"}}, machine: Fingerprint{"machine_id": "m"},
		others: object{"theme": "dark"},
	}
	generated = Fingerprint{"machine_id": "generated-1"}
)

func TestRunWithoutALicenseAddsToTheFileAlone(t *testing.T) {
	request := &openRequest{Nonce: "n"}
	joined := fileBefore.joinRun(kept{machine: generated, request: request, trialWanted: true}, false)
	if joined.key != "LK-FILE" || joined.refused == nil || joined.machine.machineID() != "m" || joined.trialWanted {
		t.Errorf("%+v", joined)
	}
	if joined.request != request {
		t.Error("the request of the run is lost")
	}
	read := fileBefore.joinRun(kept{machine: Fingerprint{"machine_id": "read"}}, false)
	if id := read.machine.machineID(); id != "read" {
		t.Errorf("the new reading is lost: %s", id)
	}
	if trial := (kept{}).joinRun(kept{machine: generated, trialWanted: true}, false); !trial.trialWanted || trial.machine == nil {
		t.Errorf("%+v", trial)
	}
}

func TestLicenseOfTheRunReplacesThatOfTheFile(t *testing.T) {
	run := kept{key: "LK-RUN", activationID: "a-run", entitlement: "of the run", machine: generated, clock: clock{LatestMs: 5}}
	joined := fileBefore.joinRun(run, true)
	if joined.key != "LK-RUN" || joined.entitlement != "of the run" || joined.refused != nil || joined.machine.machineID() != "generated-1" {
		t.Errorf("%+v", joined)
	}
	if joined.release == nil || joined.clock.LatestMs != 9 || joined.installID != "i-1" || len(joined.keys) != 1 || joined.lastAnswerAt != "before" {
		t.Errorf("%+v", joined)
	}
	if removed := fileBefore.joinRun(kept{machine: generated}, true); removed.key != "" || removed.entitlement != "" {
		t.Errorf("the removed license is back: %+v", removed)
	}
}

func TestSameActivationKeepsItsKeyAndIsNotReleased(t *testing.T) {
	joined := fileBefore.joinRun(kept{activationID: "a-file", entitlement: "of the run"}, true)
	if joined.key != "LK-FILE" || joined.release != nil {
		t.Errorf("%+v", joined)
	}
}
