package latchkey

import (
	"os/exec"
	"syscall"
)

// hideWindow keeps a console from appearing for a moment over a program with windows.
func hideWindow(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
}
