// SPDX-License-Identifier: Apache-2.0

// Command manager runs Berth's controllers and its admission webhook. Every replica serves the webhook; the controllers
// run on the one that leads.
package main

import (
	"fmt"
	"os"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/berthgames/berth/cmd/manager/app"
)

func main() {
	err := app.Run(ctrl.SetupSignalHandler(), app.Process{Args: os.Args[1:], Getenv: os.Getenv, Stdout: os.Stdout})
	if err != nil {
		// One plain line, whatever the error holds: it is what people see of a process that did not start.
		fmt.Fprintln(os.Stderr, "manager: "+strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}
