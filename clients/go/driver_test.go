package latchkey

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

// TestMain lets the binary of the tests answer the commands of the conformance run, so that the rules need no exported names.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "driver" {
		runDriver()
		return
	}
	os.Exit(m.Run())
}

// driver executes the commands for one client, which "open" opens.
type driver struct {
	client   *Client
	nowMs    *int64
	problems []string
}

// command has the fields of all commands.
type command struct {
	Do           string      `json:"do"`
	Service      string      `json:"service"`
	Issuer       string      `json:"issuer"`
	Products     []string    `json:"products"`
	PublicKeys   []any       `json:"public_keys"`
	Folder       string      `json:"folder"`
	AppVersion   string      `json:"app_version"`
	Machine      Fingerprint `json:"machine"`
	NowMs        *int64      `json:"now_ms"`
	TimeoutMs    int64       `json:"timeout_ms"`
	Key          string      `json:"key"`
	Trigger      Trigger     `json:"trigger"`
	ActivationID string      `json:"activation_id"`
	Product      string      `json:"product"`
	Name         *string     `json:"name"`
	Text         string      `json:"text"`
	Token        string      `json:"token"`
	MachineID    string      `json:"machine_id"`
	Nonce        *string     `json:"nonce"`
	Source       string      `json:"source"`
	Steps        []struct {
		DeviceMs  int64  `json:"device_ms"`
		ServiceMs *int64 `json:"service_ms"`
	} `json:"steps"`
}

var driverCommands = map[string]func(*driver, command) object{
	"open":            (*driver).open,
	"clock":           (*driver).setClock,
	"state":           func(d *driver, _ command) object { return d.withState(object{}) },
	"verify":          (*driver).verify,
	"key":             (*driver).readKey,
	"clock_steps":     (*driver).stepClock,
	"fingerprint":     (*driver).readPrinted,
	"explain":         func(d *driver, _ command) object { return object{"text": d.client.Explain()} },
	"activate":        func(d *driver, c command) object { return d.result(d.client.Activate(ctx, c.Key), nil) },
	"trial":           func(d *driver, _ command) object { return d.result(d.client.StartTrial(ctx), nil) },
	"check":           func(d *driver, c command) object { return d.result(d.client.CheckFor(ctx, c.Trigger), nil) },
	"deactivate":      func(d *driver, _ command) object { return d.result(d.client.Deactivate(ctx), nil) },
	"move_here":       func(d *driver, c command) object { return d.result(d.client.MoveHere(ctx, c.ActivationID), nil) },
	"machines":        (*driver).machines,
	"offline_request": (*driver).offlineRequest,
	"accept_offline":  func(d *driver, c command) object { return d.result(d.client.AcceptOffline(c.Text), nil) },
	"close":           (*driver).close,
}

var ctx = context.Background()

func runDriver() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	current := &driver{}
	for lines.Scan() {
		var next command
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			panic(err)
		}
		answer := object{"unsupported": true}
		if run, isKnown := driverCommands[next.Do]; isKnown {
			answer = run(current, next)
		} else if next.Do == "hello" {
			answer = hello()
		}
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
		if next.Do == "close" {
			return
		}
	}
}

func hello() object {
	supports := []string{}
	for name := range driverCommands {
		supports = append(supports, name)
	}
	return object{"client": "go", "version": Version, "supports": supports}
}

func (d *driver) open(c command) object {
	d.nowMs = c.NowMs
	client, err := Open(Options{
		Service: c.Service, Issuer: c.Issuer, Products: c.Products, PublicKeys: readPublicKeys(c.PublicKeys),
		Folder: c.Folder, AppVersion: c.AppVersion, Machine: c.Machine,
		Timeout: time.Duration(c.TimeoutMs) * time.Millisecond,
		Now: func() int64 {
			if d.nowMs == nil {
				return time.Now().UnixMilli()
			}
			return *d.nowMs
		},
		OnProblem: func(code, message string) {
			fmt.Fprintf(os.Stderr, "%s: %s\n", code, message)
			if code == "file_damaged" || code == "folder_unwritable" {
				d.problems = append(d.problems, code)
			}
		},
	})
	if err != nil {
		panic(err)
	}
	d.client = client
	return d.withState(object{})
}

func (d *driver) setClock(c command) object {
	d.nowMs = c.NowMs
	return d.withState(object{})
}

func (d *driver) close(command) object {
	if d.client != nil {
		d.client.Close()
	}
	return object{}
}

func (d *driver) machines(command) object {
	listed, err := d.client.Machines(ctx)
	machines := []object{}
	for _, each := range listed {
		machines = append(machines, object{
			"activation_id": each.ActivationID, "is_active": each.IsActive, "is_this": each.IsThis,
		})
	}
	return d.result(err, object{"machines": machines})
}

func (d *driver) offlineRequest(c command) object {
	name := ""
	if c.Name != nil {
		name = *c.Name
	}
	request, err := d.client.OfflineRequest(c.Product, name)
	return d.result(err, object{"request": request})
}

// result renders the outcome of a call, with its content if it worked, and the state.
func (d *driver) result(err error, content object) object {
	var failure *Error
	if !errors.As(err, &failure) {
		result := object{"ok": true}
		for name, value := range content {
			result[name] = value
		}
		return d.withState(object{"result": result})
	}
	result := object{"ok": false, "code": failure.Code}
	if failure.Cause != "" {
		result["cause"] = failure.Cause
	}
	if failure.Max != nil {
		result["max"] = *failure.Max
	}
	if failure.Current != nil {
		result["current"] = *failure.Current
	}
	if failure.AvailableAt != "" {
		result["available_at"] = failure.AvailableAt
	}
	return d.withState(object{"result": result})
}

func (d *driver) withState(answer object) object {
	state := d.client.State()
	source := "kept"
	if state.FromService {
		source = "service"
	}
	shown := object{
		"may_run": state.MayRun, "kind": state.Kind, "reason": nullable(state.Reason), "tier": nullable(state.Tier),
		"features": append([]string{}, state.Features...), "until": nil, "days_left": nil, "source": source,
		"last_answer_at": nil, "clock_went_back": state.ClockWentBack,
	}
	if !state.Until.IsZero() {
		shown["until"], shown["days_left"] = formatTime(state.Until.UnixMilli()), state.DaysLeft
	}
	if !state.LastAnswerAt.IsZero() {
		shown["last_answer_at"] = formatTime(state.LastAnswerAt.UnixMilli())
	}
	answer["state"] = shown
	if len(d.problems) > 0 {
		answer["problems"] = d.problems
		d.problems = nil
	}
	return answer
}

func (d *driver) verify(c command) object {
	trusted := trust{keys: readPublicKeys(c.PublicKeys), issuer: c.Issuer, products: c.Products, machineID: c.MachineID}
	return object{"verdict": verifyAt(trusted, c.Token, *c.NowMs, c.Nonce)}
}

// verifyAt returns the verdict on everything. The nonce is that of the open request, if there is one.
func verifyAt(trusted trust, token string, nowMs int64, nonce *string) string {
	verdict, claims := trusted.verify(token)
	if claims == nil {
		return verdict
	}
	if problem := claims.timeProblem(nowMs); problem != "" {
		return problem
	}
	if nonce != nil && *nonce != claims.nonce {
		return "nonce"
	}
	return verdict
}

func (d *driver) readKey(c command) object {
	key, verdict := readKey(c.Text)
	if verdict == keyMistyped {
		return object{"verdict": verdict, "key": nil}
	}
	return object{"verdict": verdict, "key": key}
}

func (d *driver) stepClock(c command) object {
	current, readings := clock{}, []object{}
	for _, step := range c.Steps {
		if step.ServiceMs != nil {
			current = current.learn(step.DeviceMs, *step.ServiceMs)
		}
		nowMs, wentBack := current.read(step.DeviceMs)
		readings = append(readings, object{"now_ms": nowMs, "clock_went_back": wentBack})
	}
	return object{"steps": readings}
}

func (d *driver) readPrinted(c command) object {
	return object{"machine_id": nullable(findMachineID(c.Source, c.Text))}
}
