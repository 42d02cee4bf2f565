package latchkey_test

import (
	"fmt"
	"os"

	latchkey "latchkey.dev/client"
)

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "latchkey-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	client, err := latchkey.Open(latchkey.Options{
		Service:    "https://license.example.com",
		Issuer:     "https://license.example.com",
		Products:   []string{"personal"},
		Folder:     folder, // one of your program and this user
		AppVersion: "2.4.0",
	})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	state := client.State()
	fmt.Println(state.MayRun, state.Kind, state.Reason)
	// Output: false none not_activated
}
