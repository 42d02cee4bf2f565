package latchkey

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestEntitlementsHaveTheVerdictsOfTheVectors(t *testing.T) {
	var vectors []struct {
		Name, Verdict, Token, Issuer string
		PublicKeys                   []any `json:"public_keys"`
		Products                     []string
		MachineID                    string `json:"machine_id"`
		Nonce                        *string
		NowMs                        int64 `json:"now_ms"`
	}
	readVectors(t, "tokens.json", &vectors)
	if len(vectors) < 100 {
		t.Fatalf("there are only %d vectors", len(vectors))
	}
	for _, vector := range vectors {
		trusted := trust{readPublicKeys(vector.PublicKeys), vector.Issuer, vector.Products, vector.MachineID}
		if verdict := verifyAt(trusted, vector.Token, vector.NowMs, vector.Nonce); verdict != vector.Verdict {
			t.Errorf("%s: %s instead of %s", vector.Name, verdict, vector.Verdict)
		}
	}
}

func TestSignaturesOfTheStandard(t *testing.T) {
	// RFC 8032, section 7.1, test 3.
	key, _ := hex.DecodeString("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
	signature, _ := hex.DecodeString("6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac" +
		"18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a")
	message := []byte{0xaf, 0x82}
	if !isSigned(key, message, signature) {
		t.Error("the signature of the standard is not accepted")
	}
	if isSigned(key[:31], message, signature) || isSigned(key, message, signature[:63]) || isSigned(nil, message, nil) {
		t.Error("another length is accepted")
	}
	signature[0] ^= 1
	if isSigned(key, message, signature) {
		t.Error("a changed signature is accepted")
	}
}

func TestVerifySurvivesAnyText(t *testing.T) {
	trusted := trust{[]PublicKey{testSigner.publicKey}, testIssuer, []string{"personal"}, testMachineID}
	for _, text := range []string{"", ".", "..", "a.b.c", strings.Repeat("[", 100_000), "é.é.é", "\x00.\x00.\x00"} {
		if verdict, claims := trusted.verify(text); verdict != "malformed" || claims != nil {
			t.Errorf("%.20q: %s", text, verdict)
		}
	}
}

func TestTypedKeysHaveTheReadingsOfTheVectors(t *testing.T) {
	var vectors []struct {
		Name, Text string
		Key        *string
		Verdict    keyVerdict
	}
	readVectors(t, "keys.json", &vectors)
	for _, vector := range vectors {
		key, verdict := readKey(vector.Text)
		if verdict != vector.Verdict || (vector.Key != nil && key != *vector.Key) {
			t.Errorf("%s: %q, %s", vector.Name, key, verdict)
		}
	}
}

func TestClocksHaveTheTimesOfTheVectors(t *testing.T) {
	var vectors []struct {
		Name  string
		Steps []struct {
			DeviceMs  int64  `json:"device_ms"`
			ServiceMs *int64 `json:"service_ms"`
		}
		Expected []struct {
			NowMs         int64 `json:"now_ms"`
			ClockWentBack bool  `json:"clock_went_back"`
		}
	}
	readVectors(t, "clocks.json", &vectors)
	for _, vector := range vectors {
		current := clock{}
		for index, step := range vector.Steps {
			if step.ServiceMs != nil {
				current = current.learn(step.DeviceMs, *step.ServiceMs)
			}
			nowMs, wentBack := current.read(step.DeviceMs)
			if expected := vector.Expected[index]; nowMs != expected.NowMs || wentBack != expected.ClockWentBack {
				t.Errorf("%s: step %d: %d, %t", vector.Name, index, nowMs, wentBack)
			}
		}
	}
}

func TestDateCountsOnlyIfItFitsTheEntitlement(t *testing.T) {
	for date, expected := range map[int64]int64{
		testNowMs + 60_000:    testNowMs + 60_000,
		testNowMs - 1:         testNowMs,
		testNowMs + 66*60_000: testNowMs,
	} {
		date := date
		if got := chooseServiceTime(&date, testNowMs); got != expected {
			t.Errorf("%d: %d", date, got)
		}
	}
	if chooseServiceTime(nil, testNowMs) != testNowMs {
		t.Error("no date")
	}
}

func TestMachineIDsHaveTheReadingsOfTheVectors(t *testing.T) {
	var vectors []struct {
		Name, Source, Text string
		MachineID          *string `json:"machine_id"`
	}
	readVectors(t, "fingerprints.json", &vectors)
	for _, vector := range vectors {
		if id := nullable(findMachineID(vector.Source, vector.Text)); !reflect.DeepEqual(id, vector.MachineID) {
			t.Errorf("%s: %v", vector.Name, id)
		}
	}
}

const testHex = "0f3c9a7d5b1e4f2688c4d0a1b2e3f405"

func TestMachineOfEachSystem(t *testing.T) {
	const guid, uuid = "6f0a1b2c-3d4e-4f60-8182-93a4b5c6d7e8", "E2A6F3B1-7C4D-5E8F-9A0B-1C2D3E4F5A6B"
	t.Setenv("SystemRoot", `D:\Windows`)
	reg := `D:\Windows\System32\reg.exe query HKLM\SOFTWARE\Microsoft\Cryptography /v MachineGuid /reg:64`
	board := "/sys/class/dmi/id/board_serial"
	cases := []struct {
		system  string
		printed map[string]string
		want    Fingerprint
	}{
		{"windows", map[string]string{reg: "\r\n    MachineGuid    REG_SZ    " + guid + "\r\n"}, Fingerprint{"machine_id": guid}},
		{"windows", map[string]string{reg: "ERROR: Registry editing has been disabled by your administrator.\r\n"}, nil},
		{"windows", nil, nil},
		{"darwin", map[string]string{"/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice": `"IOPlatformUUID" = "` + uuid + `"`},
			Fingerprint{"machine_id": uuid}},
		{"darwin", nil, nil},
		{"linux", map[string]string{"/etc/machine-id": testHex + "\n"}, Fingerprint{"machine_id": testHex}},
		{"linux", map[string]string{"/etc/machine-id": "uninitialized\n", "/var/lib/dbus/machine-id": testHex},
			Fingerprint{"machine_id": testHex}},
		{"linux", map[string]string{"/etc/machine-id": testHex, board: "CN7016355A\n"},
			Fingerprint{"machine_id": testHex, "board_serial": "CN7016355A"}},
		{"linux", map[string]string{"/etc/machine-id": testHex, board: "To be filled by O.E.M.\n"}, Fingerprint{"machine_id": testHex}},
		{"linux", map[string]string{board: "CN7016355A\n"}, nil},
	}
	for index, each := range cases {
		sources := machineSources{
			system: each.system,
			run: func(program string, arguments ...string) string {
				return each.printed[program+" "+strings.Join(arguments, " ")]
			},
			read: func(path string) string { return each.printed[path] },
		}
		if got := sources.readMachine(); !reflect.DeepEqual(got, each.want) {
			t.Errorf("%d, %s: %v instead of %v", index, each.system, got, each.want)
		}
	}
}

func TestThisMachineIsReadWithoutAPanic(t *testing.T) {
	for _, system := range []string{"windows", "darwin", "linux"} {
		sources := machineSources{system: system, run: runProgram, read: readText}
		if found := sources.readMachine(); found != nil && found.machineID() == "" {
			t.Errorf("%s: %v", system, found)
		}
	}
}

func TestProgramsAreStartedWithoutAShell(t *testing.T) {
	if os.Getenv("LATCHKEY_ECHO") != "" {
		fmt.Print(os.Args[len(os.Args)-1])
		os.Exit(0)
	}
	t.Setenv("LATCHKEY_ECHO", "1")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const text = "$(echo changed); `echo changed` > file"
	if got := runProgram(own, "-test.run=TestProgramsAreStartedWithoutAShell", text); got != text {
		t.Errorf("the argument arrived as %q", got)
	}
	if got := runProgram("/missing/program"); got != "" {
		t.Errorf("a missing program printed %q", got)
	}
}

func TestJSONIsReadStrictly(t *testing.T) {
	for _, text := range []string{"", "{", "{} x", "{}{}", "NaN", "\xff{}", "\ufeff{}", strings.Repeat("[", 100_000)} {
		if value := parseJSON([]byte(text)); value != nil {
			t.Errorf("%.20q: %v", text, value)
		}
	}
	numbers := toObject(parseJSON([]byte(`{"a": 9007199254740991, "b": 9007199254740992, "c": 1.5, "d": "1", "e": true}`)))
	for name, want := range map[string]bool{"a": true, "b": false, "c": false, "d": false, "e": false, "f": false} {
		if _, isInteger := numbers.integer(name); isInteger != want {
			t.Errorf("%s: %t", name, isInteger)
		}
	}
}

func TestTimesAreFormattedInRFC3339(t *testing.T) {
	if got := formatTime(testNowMs + 7); got != "2027-01-15T08:00:00.007Z" {
		t.Error(got)
	}
	for _, ms := range []int64{-1 << 62, 1 << 62} {
		if _, err := time.Parse(time.RFC3339, formatTime(ms)); err != nil {
			t.Error(err)
		}
	}
}

func TestWaitOfTheServiceIsBelievedForADay(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "999999999": 24 * time.Hour, "": 0, "-1": 0, "Fri, 31 Dec 2027 23:59:59 GMT": 0,
	} {
		busy := response(http.StatusServiceUnavailable, "text/plain", "")
		busy.Header.Set("Retry-After", text)
		_, err := classify(busy, nil)
		if got := retryAfterOf(err); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
