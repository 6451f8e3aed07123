// SPDX-License-Identifier: Apache-2.0

// Package serviceaccount makes credentials for processes that run as a service account.
package serviceaccount

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthgames/berth/playground/internal/kubeconfig"
	"github.com/berthgames/berth/playground/internal/state"
)

// validSeconds is how long a token is good: 30 days, longer than a playground lives, so nothing has to renew it.
const validSeconds = 30 * 24 * 60 * 60

// Write asks for a token of the service account and writes it, with a kubeconfig that refers to it, into a folder of
// the state folder. It returns the path of the kubeconfig.
func Write(ctx context.Context, dir state.Dir, config *rest.Config, namespace, name string) (string, error) {
	token, err := Token(ctx, config, namespace, name, nil)
	if err != nil {
		return "", err
	}
	folder := dir.Join("accounts", namespace, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("making folder of service account: %w", err)
	}
	tokenFile, path := filepath.Join(folder, "token"), filepath.Join(folder, "kubeconfig")
	if err := state.WriteFile(tokenFile, []byte(token)); err != nil {
		return "", err
	}
	ca, err := CA(config)
	if err != nil {
		return "", err
	}
	return path, kubeconfig.Write(path, kubeconfig.Cluster{Server: config.Host, CA: ca}, kubeconfig.User{TokenFile: tokenFile})
}

// Token asks for a token of the service account. No audiences mean the API server itself.
func Token(ctx context.Context, config *rest.Config, namespace, name string, audiences []string) (string, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("building client: %w", err)
	}
	seconds := int64(validSeconds)
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds, Audiences: audiences},
	}
	reply, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("asking for a token of service account %s/%s: %w", namespace, name, err)
	}
	return reply.Status.Token, nil
}

// CA returns the certificate authority that the client configuration trusts.
func CA(config *rest.Config) ([]byte, error) {
	if len(config.CAData) > 0 {
		return config.CAData, nil
	}
	ca, err := os.ReadFile(config.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading certificate authority: %w", err)
	}
	return ca, nil
}
