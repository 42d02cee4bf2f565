package latchkey

import (
	"context"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"time"
)

// Fingerprint identifies a machine: texts, and lists of texts; machine_id is always among them.
type Fingerprint map[string]any

func (f Fingerprint) machineID() string {
	id, _ := f["machine_id"].(string)
	return id
}

func (f Fingerprint) equals(other Fingerprint) bool {
	if len(f) != len(other) {
		return false
	}
	for name, part := range f {
		if strings.Join(textsOf(part), "\x00") != strings.Join(textsOf(other[name]), "\x00") {
			return false
		}
	}
	return true
}

// readFingerprint returns nil without a machine_id. Parts of another type are left out.
func readFingerprint(value any) Fingerprint {
	fields, isKnown := value.(Fingerprint)
	if !isKnown {
		fields = Fingerprint(toObject(value))
	}
	read := Fingerprint{}
	for name, part := range fields {
		if textsOf(part) != nil {
			read[name] = part
		}
	}
	if read.machineID() == "" {
		return nil
	}
	return read
}

// textsOf returns nil if a part is neither a text nor a list of texts.
func textsOf(part any) []string {
	switch value := part.(type) {
	case string:
		return []string{value}
	case []string:
		return append([]string{}, value...)
	case []any:
		texts := []string{}
		for _, each := range value {
			text, isText := each.(string)
			if !isText {
				return nil
			}
			texts = append(texts, text)
		}
		return texts
	}
	return nil
}

// What the systems print, in any language.
var printed = map[string]*regexp.Regexp{
	"reg.exe":    regexp.MustCompile(`(?m)^[ \t]*MachineGuid[ \t]+REG_SZ[ \t]+([\w{}-]+)[ \t]*\r?$`),
	"ioreg":      regexp.MustCompile(`"IOPlatformUUID" = "([\w-]+)"`),
	"machine-id": regexp.MustCompile(`^\s*([0-9a-fA-F]{32})\s*$`),
}

// findMachineID reads what reg.exe or ioreg printed, or the file machine-id, which an image before its first start fills otherwise.
func findMachineID(source, text string) string {
	found := printed[source].FindStringSubmatch(text)
	if found == nil || strings.Trim(found[1], "0") == "" {
		return ""
	}
	if source == "machine-id" {
		return strings.ToLower(found[1])
	}
	return found[1]
}

// What vendors of boards write instead of a serial number.
var placeholder = regexp.MustCompile(`(?i)^(default string|to be filled by o\.e\.m\.?|not (specified|applicable|available)|` +
	`none|n/a|(system|board) serial number|0+|x+|[-. ]*)$`)

// machineSources is where readings come from.
type machineSources struct {
	system string
	// Returns what a program prints; an empty text if it fails.
	run func(program string, arguments ...string) string
	// Returns the content of a file; an empty text if it cannot be read.
	read func(path string) string
}

const machineTimeout = 5 * time.Second

// ReadMachine reads the identity of this machine, without a shell; nil if the system has none.
func ReadMachine() Fingerprint {
	return machineSources{system: runtime.GOOS, run: runProgram, read: readText}.readMachine()
}

func (s machineSources) readMachine() Fingerprint {
	switch s.system {
	case "windows":
		root := os.Getenv("SystemRoot")
		if root == "" {
			root = `C:\Windows`
		}
		// The full path, because a folder of the user may precede in PATH; /reg:64 for programs of 32 bits.
		output := s.run(root+`\System32\reg.exe`, "query", `HKLM\SOFTWARE\Microsoft\Cryptography`, "/v", "MachineGuid", "/reg:64")
		return nameMachine(findMachineID("reg.exe", output), "")
	case "darwin":
		output := s.run("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice")
		return nameMachine(findMachineID("ioreg", output), "")
	}
	id := findMachineID("machine-id", s.read("/etc/machine-id"))
	if id == "" {
		id = findMachineID("machine-id", s.read("/var/lib/dbus/machine-id"))
	}
	return nameMachine(id, strings.TrimSpace(s.read("/sys/class/dmi/id/board_serial")))
}

func nameMachine(id, boardSerial string) Fingerprint {
	if id == "" {
		return nil
	}
	if placeholder.MatchString(boardSerial) {
		return Fingerprint{"machine_id": id}
	}
	return Fingerprint{"machine_id": id, "board_serial": boardSerial}
}

func runProgram(program string, arguments ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), machineTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, program, arguments...)
	hideWindow(command)
	output, err := command.Output()
	if err != nil {
		return ""
	}
	return string(output)
}

func readText(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

// describeNetwork returns the addresses of this computer: other ones mean another network, or the return of one.
func describeNetwork() string {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "" // Some sandboxes forbid it.
	}
	texts := []string{}
	for _, address := range addresses {
		if network, isIP := address.(*net.IPNet); isIP && !network.IP.IsLoopback() {
			texts = append(texts, network.String())
		}
	}
	sort.Strings(texts)
	return strings.Join(texts, " ")
}
