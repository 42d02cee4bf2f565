package latchkey

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// kept is what is kept between two runs: the file license.json, which the clients of all languages read. Empty texts are absent.
type kept struct {
	key, activationID, entitlement string
	keys                           []PublicKey
	refused                        *refusal
	clock                          clock
	machine                        Fingerprint
	installID                      string
	sharing                        *bool
	release                        *activation
	request                        *openRequest
	trialWanted                    bool
	lastAnswerAt                   string
	// Fields of other versions, which survive.
	others object
}

type refusal struct {
	Reason string `json:"reason"`
	At     string `json:"at"`
}

// activation is what a check or a deactivation is about.
type activation struct {
	Key          string `json:"key"`
	ActivationID string `json:"activation_id"`
	MachineID    string `json:"machine_id"`
}

// openRequest is that of a machine without a connection.
type openRequest struct {
	Nonce     string `json:"nonce"`
	CreatedAt string `json:"created_at"`
}

// withoutLicense is what remains after a deactivation.
func (k kept) withoutLicense() kept {
	return kept{
		keys: k.keys, clock: k.clock, machine: k.machine, installID: k.installID, sharing: k.sharing,
		lastAnswerAt: k.lastAnswerAt, others: k.others,
	}
}

// isActivated returns whether there is a key or an entitlement.
func (k kept) isActivated() bool {
	return k.key != "" || k.entitlement != ""
}

// cancelRelease: the machine of this activation is wanted again.
func (k *kept) cancelRelease(activationID string) {
	if k.release != nil && k.release.ActivationID == activationID {
		k.release = nil
	}
}

// chooseMachine returns a new reading, else the last good one, else nil. A random identity stays while a license uses it.
func (k kept) chooseMachine(reading Fingerprint) Fingerprint {
	if k.machine != nil && (reading == nil || (k.machine.isGenerated() && k.isActivated())) {
		return k.machine
	}
	return reading
}

const generatedPrefix = "generated-"

// isGenerated returns whether it is a random identity, because the system has none.
func (f Fingerprint) isGenerated() bool {
	return strings.HasPrefix(f.machineID(), generatedPrefix)
}

// joinRun returns the content of a file that could not be read at first, with the changes of the run since then. A trial of the run
// does not replace a license.
func (k kept) joinRun(run kept, hasOwnLicense bool) kept {
	joined := k.keepLicense(run)
	isTrialKept := !k.isActivated() || run.activationID == k.activationID
	if hasOwnLicense || (run.isActivated() && isTrialKept) {
		joined = k.replaceLicense(run)
	}
	joined.clock = k.clock.join(run.clock)
	if run.lastAnswerAt != "" {
		joined.lastAnswerAt = run.lastAnswerAt
	}
	return joined
}

func (k kept) replaceLicense(run kept) kept {
	isSame := run.entitlement != "" && run.activationID == k.activationID
	if run.key != "" || !isSame { // The answer to a machine without a connection has none.
		k.key = run.key
	}
	k.activationID, k.entitlement, k.refused = run.activationID, run.entitlement, run.refused
	k.request, k.trialWanted = run.request, run.trialWanted
	k.cancelRelease(run.activationID)
	if run.release != nil {
		k.release = run.release
	}
	if len(run.keys) > 0 {
		k.keys = run.keys
	}
	if run.machine != nil {
		k.machine = run.machine
	}
	return k
}

func (k kept) keepLicense(run kept) kept {
	k.cancelRelease(run.activationID)
	if run.release != nil {
		k.release = run.release
	}
	if run.request != nil {
		k.request = run.request
	}
	k.trialWanted = k.trialWanted || (run.trialWanted && !k.isActivated())
	if len(k.keys) == 0 {
		k.keys = run.keys
	}
	reading := run.machine
	if reading.isGenerated() {
		reading = nil // A system that cannot read the file may not have read the machine either.
	}
	if k.machine = k.chooseMachine(reading); k.machine == nil {
		k.machine = run.machine
	}
	return k
}

func (k kept) lastAnswer() time.Time {
	at, _ := time.Parse(time.RFC3339, k.lastAnswerAt) // Zero if another program wrote another form.
	return at
}

// readKept reads the file. A field of another type counts as absent.
func readKept(file object) kept {
	read := kept{
		key: file.text("key"), activationID: file.text("activation_id"), entitlement: file.text("entitlement"),
		keys: readPublicKeys(file.list("keys")), machine: readFingerprint(file["machine"]),
		installID: file.text("install_id"), trialWanted: file.isTrue("trial_wanted"),
		lastAnswerAt: file.text("last_answer_at"), others: file,
	}
	if sharing, isKnown := file["sharing"].(bool); isKnown {
		read.sharing = &sharing
	}
	times := toObject(file["clock"])
	read.clock.OffsetMs, _ = times.integer("offset_ms")
	read.clock.LatestMs, _ = times.integer("latest_ms")
	refused := toObject(file["refused"])
	if reason := refused.text("reason"); reason != "" {
		read.refused = &refusal{Reason: reason, At: refused.text("at")}
	}
	release := toObject(file["release"])
	waiting := activation{release.text("key"), release.text("activation_id"), release.text("machine_id")}
	if waiting.Key != "" && waiting.ActivationID != "" && waiting.MachineID != "" {
		read.release = &waiting
	}
	request := toObject(file["request"])
	if nonce := request.text("nonce"); nonce != "" {
		read.request = &openRequest{Nonce: nonce, CreatedAt: request.text("created_at")}
	}
	return read
}

// format writes the file, in the form that the clients of all languages read.
func (k kept) format() ([]byte, error) {
	file := object{}
	for name, value := range k.others {
		file[name] = value
	}
	fields := object{
		"version": 1, "key": nullable(k.key), "activation_id": nullable(k.activationID),
		"entitlement": nullable(k.entitlement), "keys": k.keys, "refused": k.refused, "clock": k.clock,
		"machine": k.machine, "install_id": nullable(k.installID), "sharing": k.sharing, "release": k.release,
		"request": k.request, "trial_wanted": k.trialWanted, "last_answer_at": nullable(k.lastAnswerAt),
	}
	for name, value := range fields {
		file[name] = value
	}
	return json.Marshal(file)
}

func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// writeFile writes a file beside, flushes it, and renames it: a killed process leaves the old one or the new one.
func writeFile(path string, data []byte) (err error) {
	folder := filepath.Dir(path)
	if err = os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, "license.json.*.tmp") // Only its owner can read it.
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return renameOver(file.Name(), path)
}

// More than writing takes, and than the clocks of a network differ.
const temporaryLifetime = time.Hour

// removeOldTemporaries removes the temporary files that killed programs left. Nothing is lost if they stay.
func removeOldTemporaries(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		isTemporary, _ := filepath.Match("license.json.*.tmp", entry.Name())
		info, err := entry.Info()
		if isTemporary && err == nil && time.Since(info.ModTime()) > temporaryLifetime {
			os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}

// More often, because a virus scanner of Windows may hold a file for a moment.
const fileAttempts = 5

func pauseAfter(attempt int) {
	time.Sleep(time.Duration(attempt) * 20 * time.Millisecond)
}

// readFile reads a file, and returns nil if it does not exist.
func readFile(path string, attempts int) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err == nil || attempt >= attempts {
			return data, err
		}
		pauseAfter(attempt)
	}
}

func renameOver(from, to string) error {
	for attempt := 1; ; attempt++ {
		err := os.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || attempt == fileAttempts {
			return err
		}
		pauseAfter(attempt)
	}
}
