// SPDX-License-Identifier: Apache-2.0

// Command playground is a Kubernetes control plane, its nodes and its command line in one binary.
//
// It runs as the program it is called by (a link named etcd or kube-apiserver is enough) or as the program named by
// its first argument; everything else is the playground's own command line.
package main

import (
	"os"
	"path/filepath"

	"github.com/berthgames/berth/playground/internal/cli"
	"github.com/berthgames/berth/playground/internal/multicall"
	"github.com/berthgames/berth/playground/internal/program"
)

func main() {
	os.Exit(run())
}

func run() int {
	if program, ok := multicall.Lookup(filepath.Base(os.Args[0])); ok {
		return program()
	}
	// kubectl by its first argument is a command of ours, which adds the kubeconfig.
	if len(os.Args) > 1 && os.Args[1] != program.Kubectl {
		if program, ok := multicall.Lookup(os.Args[1]); ok {
			// The programs read os.Args themselves, at several places, so each must see itself in front.
			os.Args = os.Args[1:]
			return program()
		}
	}
	return cli.Main()
}
