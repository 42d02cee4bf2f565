// A program with a license: "go run ./example help" lists what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	latchkey "latchkey.dev/client"
)

func main() {
	client, err := open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer client.Close()
	arguments := append(os.Args[1:], "", "")
	run(context.Background(), client, arguments[0], arguments[1])
}

func open() (*latchkey.Client, error) {
	home, _ := os.UserHomeDir() // Without one, the folder is that in which the program runs.
	service := setting("LICENSE_SERVICE", "http://127.0.0.1:8080")
	return latchkey.Open(latchkey.Options{
		Service:    service,
		Issuer:     setting("LICENSE_ISSUER", service),
		Products:   []string{"personal", "sellers"},
		PublicKeys: []latchkey.PublicKey{}, // compile in the list keys of /.well-known/jwks.json of your service
		Folder:     setting("LICENSE_FOLDER", filepath.Join(home, ".example-program")),
		AppVersion: "1.0.0",
		OnProblem:  func(code, message string) { fmt.Fprintf(os.Stderr, "%s: %s\n", code, message) },
	})
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func run(ctx context.Context, client *latchkey.Client, command, argument string) {
	switch command {
	case "", "state":
		fmt.Println(describe(client.State()))
	case "activate":
		report(client, client.Activate(ctx, argument))
	case "trial":
		report(client, client.StartTrial(ctx))
	case "check":
		report(client, client.Check(ctx))
	case "machines":
		showMachines(ctx, client)
	case "move":
		report(client, client.MoveHere(ctx, argument))
	case "deactivate":
		report(client, client.Deactivate(ctx))
	case "explain":
		fmt.Print(client.Explain())
	default:
		fmt.Println("Commands: state, activate, trial, check, machines, move, deactivate, explain, help")
	}
}

func describe(state latchkey.State) string {
	switch {
	case state.Kind == latchkey.Licensed:
		return fmt.Sprintf("Licensed: %s. Runs without a network for %d days.", state.Tier, state.DaysLeft)
	case state.Kind == latchkey.Trial:
		return fmt.Sprintf("Trial: %d days left.", state.DaysLeft)
	case state.Reason == "not_activated":
		return "No license yet: activate KEY, or trial."
	}
	return fmt.Sprintf("May not run: %s.", state.Reason)
}

func report(client *latchkey.Client, err error) {
	var failure *latchkey.Error
	switch {
	case !errors.As(err, &failure):
		fmt.Println(describe(client.State()))
	case failure.Code == "no_answer":
		fmt.Printf("No answer of the service: %s.\n", failure.Cause)
	default:
		fmt.Printf("Refused: %s.\n", failure.Code)
	}
}

func showMachines(ctx context.Context, client *latchkey.Client) {
	machines, err := client.Machines(ctx)
	if err != nil {
		report(client, err)
		return
	}
	for _, machine := range machines {
		words := []string{machine.ActivationID, "free"}
		if machine.IsActive {
			words[1] = "active"
		}
		if machine.IsThis {
			words = append(words, "(this one)")
		}
		fmt.Println(strings.Join(words, "  "))
	}
}
