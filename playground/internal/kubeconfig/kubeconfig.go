// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig writes kubeconfig files for one cluster and one user.
package kubeconfig

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/berthgames/berth/playground/internal/state"
)

// name is used for the cluster, the user and the context.
const name = "playground"

// Cluster is how to reach and trust an API server.
type Cluster struct {
	Server string // https://host:port
	CA     []byte // PEM
}

// User is how to authenticate: by certificate, or by the token in a file, which is read again as it is renewed.
type User struct {
	CertPEM, KeyPEM []byte
	TokenFile       string
}

// Write replaces the kubeconfig at path.
func Write(path string, cluster Cluster, user User) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: cluster.Server, CertificateAuthorityData: cluster.CA}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: user.CertPEM, ClientKeyData: user.KeyPEM, TokenFile: user.TokenFile,
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	raw, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding kubeconfig: %w", err)
	}
	return state.WriteFile(path, raw)
}
