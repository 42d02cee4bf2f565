package latchkey

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

const licensesPath = "/api/v1/licenses"

// More than a service publishes at once.
const maxFetchedKeys = 20

const keptProblems = 5

// snapshot is what a state is derived from. It is replaced as a whole, so that any goroutine may read it.
type snapshot struct {
	kept       kept
	claims     *claims
	isAnswered bool
}

// session is what a client knows while it is open. One call at a time changes it; any goroutine may read state.
type session struct {
	options      Options
	network      network
	canFetchKeys bool
	path         string
	current      atomic.Pointer[snapshot]
	lastQuestion string
	verified     verification
	// isUnread: the file exists, but could not be read yet.
	isUnread atomic.Bool
	// hasOwnLicense: the run activated a license, apart from a trial, or removed it again, before the file could be read.
	hasOwnLicense bool

	problemsMutex sync.Mutex
	problems      []string
}

// verification is the last verdict.
type verification struct {
	token, trust, verdict string
	claims                *claims
}

func (s *session) kept() kept {
	return s.current.Load().kept
}

func (s *session) state() State {
	current := s.current.Load()
	return deriveState(current.kept, current.claims, current.isAnswered, s.options.Now())
}

// presentMs returns the time of the device, corrected by that of the service.
func (s *session) presentMs() int64 {
	nowMs, _ := s.kept().clock.read(s.options.Now())
	return nowMs
}

// load reads what is kept, and verifies its entitlement.
func (s *session) load() {
	removeOldTemporaries(s.options.Folder)
	file, err := s.readKept(fileAttempts)
	if err != nil {
		s.isUnread.Store(true)
		s.report("folder_unreadable", err.Error())
		return
	}
	s.adopt(file)
}

// readKept returns nothing at the first start, and after a damaged file, which it renames.
func (s *session) readKept(attempts int) (kept, error) {
	data, err := readFile(s.path, attempts)
	file := object{}
	if data != nil && err == nil {
		file = toObject(parseJSON(data))
	}
	if file == nil {
		s.report("file_damaged", "what was kept is renamed to license.json.damaged")
		if err := os.Rename(s.path, s.path+".damaged"); err != nil {
			s.report("folder_unwritable", err.Error())
		}
	}
	return readKept(file), err
}

// readAgain reads a file that could not be read before, and adds what this run changed since.
func (s *session) readAgain() error {
	if !s.isUnread.Load() {
		return nil
	}
	file, err := s.readKept(1)
	if err != nil {
		return err
	}
	s.isUnread.Store(false)
	s.change(file.joinRun(s.kept(), s.hasOwnLicense))
	return nil
}

// change replaces what is kept, and writes it; but never over a file that could not be read.
func (s *session) change(kept kept) {
	s.adopt(kept)
	if s.isUnread.Load() {
		s.hasOwnLicense = s.hasOwnLicense || (kept.isActivated() && !s.hasTrial())
		if err := s.readAgain(); err != nil {
			s.report("folder_unwritable", "nothing is written while the file cannot be read: "+err.Error())
		}
		return
	}
	data, err := kept.format()
	if err == nil {
		err = writeFile(s.path, append(data, '\n'))
	}
	if err != nil {
		s.report("folder_unwritable", err.Error())
	}
}

func (s *session) adopt(kept kept) {
	var claims *claims
	if kept.entitlement != "" {
		_, claims = s.verify(kept.entitlement, kept)
	}
	s.current.Store(&snapshot{kept, claims, s.current.Load().isAnswered})
}

// hasTrial returns whether the kept entitlement is that of a trial.
func (s *session) hasTrial() bool {
	claims := s.current.Load().claims
	return claims != nil && claims.isTrial
}

// refuseUnactivated refuses a call that needs a license: there is none, or it could not be read.
func (s *session) refuseUnactivated() *Error {
	if s.isUnread.Load() {
		return refuse("folder_unreadable")
	}
	return refuse("not_activated")
}

// noteAnswer notes whether the service answered the last question.
func (s *session) noteAnswer(isAnswered bool, question string) {
	current := *s.current.Load()
	current.isAnswered = isAnswered
	s.current.Store(&current)
	s.lastQuestion = question
}

func (s *session) noteSuccess() {
	s.noteAnswer(true, "answered, or none")
}

// report reports a problem that the client continues without.
func (s *session) report(code, message string) {
	s.problemsMutex.Lock()
	s.problems = append(s.problems, code+": "+message)
	if len(s.problems) > keptProblems {
		s.problems = s.problems[1:]
	}
	s.problemsMutex.Unlock()
	defer func() { _ = recover() }() // The function of the program panicked; a client passes nothing on.
	if s.options.OnProblem != nil {
		s.options.OnProblem(code, message)
	}
}

// adoptMachine keeps a new reading, else the last good one, else a random identity, which stays while a license uses it.
func (s *session) adoptMachine(reading Fingerprint) {
	if reading == nil {
		s.report("machine_unreadable", "the last good reading is used, or a random identity")
	}
	kept := s.kept()
	machine := kept.chooseMachine(reading)
	if machine == nil {
		machine = Fingerprint{"machine_id": generatedPrefix + randomUUID()}
	}
	if !machine.equals(kept.machine) {
		kept.machine = machine
		s.change(kept)
	}
}

// readMachine returns nil if the reading failed.
func (s *session) readMachine() (reading Fingerprint) {
	if s.options.Machine != nil {
		return readFingerprint(s.options.Machine)
	}
	defer func() {
		if recover() != nil {
			reading = nil // The same as a reading that failed.
		}
	}()
	return readFingerprint(s.options.ReadMachine())
}

func randomBytes(count int) []byte {
	data := make([]byte, count)
	if _, err := rand.Read(data); err != nil {
		panic(err) // The system has no random numbers; a call returns it as an error.
	}
	return data
}

func randomUUID() string {
	data := randomBytes(16)
	data[6], data[8] = data[6]&0x0f|0x40, data[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", data[:4], data[4:6], data[6:8], data[8:10], data[10:])
}

func (s *session) ask(ctx context.Context, path string, content any) (answer, error) {
	return s.network.ask(ctx, path, content)
}

// fingerprint is what an activation or a trial sends of the machine.
func (s *session) fingerprint() Fingerprint {
	sent := Fingerprint{"app_version": s.options.AppVersion}
	if s.options.OSVersion != "" {
		sent["os_version"] = s.options.OSVersion
	}
	for name, part := range s.kept().machine {
		if _, isOwn := sent[name]; !isOwn {
			sent[name] = part
		}
	}
	return sent
}

// identity is what an activation or a trial sends beside a key.
func (s *session) identity() object {
	identity := object{"machine_fingerprint": s.fingerprint()}
	if installID := s.kept().installID; installID != "" {
		identity["install_id"] = installID
	}
	return identity
}

// activation returns nil without a license that the service knows.
func (s *session) activation() *activation {
	kept := s.kept()
	if kept.key == "" || kept.activationID == "" {
		return nil
	}
	return &activation{Key: kept.key, ActivationID: kept.activationID, MachineID: kept.machine.machineID()}
}

func (a activation) question() object {
	return object{"license_key": a.Key, "activation_id": a.ActivationID, "machine_id": a.MachineID}
}

// verify verifies an entitlement apart from its times, and remembers the last verdict.
func (s *session) verify(token string, kept kept) (string, *claims) {
	keys := append(append([]PublicKey{}, s.options.PublicKeys...), kept.keys...)
	trust := trust{keys: keys, issuer: s.options.Issuer, products: s.options.Products, machineID: kept.machine.machineID()}
	described := fmt.Sprintf("%q", []any{keys, trust.machineID})
	if s.verified.token != token || s.verified.trust != described {
		verdict, claims := trust.verify(token)
		s.verified = verification{token, described, verdict, claims}
	}
	return s.verified.verdict, s.verified.claims
}

// grant returns what a positive answer changes; without a genuine entitlement it is no answer.
func (s *session) grant(ctx context.Context, given answer) (kept, error) {
	kept, token := s.kept(), given.object().text("entitlement")
	if token == "" {
		return kept, otherForm()
	}
	verdict, claims := s.verify(token, kept)
	if verdict == "unknown_key" && s.canFetchKeys {
		kept.keys = s.fetchKeys(ctx)
		verdict, claims = s.verify(token, kept)
	}
	if claims == nil {
		return kept, noAnswer("portal", "the entitlement is not accepted: "+verdict)
	}
	deviceMs := s.options.Now()
	serviceMs := chooseServiceTime(given.dateMs, claims.issuedAt*1000)
	kept.clock = kept.clock.learn(deviceMs, serviceMs)
	// With the new time, so that a machine whose clock stands in 1970 can be activated.
	nowMs, _ := kept.clock.read(deviceMs)
	if problem := claims.timeProblem(nowMs); problem != "" {
		return kept, noAnswer("portal", "the entitlement is not accepted: "+problem)
	}
	kept.entitlement, kept.refused, kept.lastAnswerAt = token, nil, formatTime(serviceMs)
	return kept, nil
}

func (s *session) fetchKeys(ctx context.Context) []PublicKey {
	fetched, err := s.ask(ctx, "/.well-known/jwks.json", nil)
	if err != nil {
		return []PublicKey{} // The entitlement stays unverified.
	}
	keys := readPublicKeys(fetched.object().list("keys"))
	if len(keys) > maxFetchedKeys {
		keys = keys[:maxFetchedKeys]
	}
	return keys
}

func newSession(options Options, service string, canFetchKeys bool) *session {
	opened := &session{
		options:      options,
		network:      network{newHTTPClient(options.HTTPClient), service, options.Timeout},
		canFetchKeys: canFetchKeys,
		path:         filepath.Join(options.Folder, "license.json"),
		lastQuestion: "answered, or none",
	}
	opened.current.Store(&snapshot{kept: readKept(object{})})
	return opened
}
