//go:build !windows

package latchkey

import "os/exec"

// hideWindow does nothing: only Windows shows one.
func hideWindow(*exec.Cmd) {}
