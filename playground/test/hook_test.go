// SPDX-License-Identifier: Apache-2.0

package test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// hookMode as the first argument makes the test binary the webhook of testdata/hook.yaml.tmpl.
const hookMode = "webhook-for-tests"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == hookMode {
		fmt.Fprintln(os.Stderr, serveHook(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serveHook refuses every request with a message that tells who the process is to the API server, which pod it
// believes to be, and what it finds in its config map.
func serveHook(args []string) error {
	flags := flag.NewFlagSet(hookMode, flag.ContinueOnError)
	name := flags.String("name", "", "")
	address := flags.String("bind-address", "", "")
	port := flags.String("webhook-port", "", "")
	health := flags.String("health-address", "", "")
	certs := flags.String("certs", "", "")
	message := flags.String("message", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	user, err := whoAmI()
	if err != nil {
		return err
	}
	go func() {
		fmt.Fprintln(os.Stderr, http.ListenAndServe(*health, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	}()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, err := os.ReadFile(*message)
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{
			Message: fmt.Sprintf("pod=%s user=%s message=%s error=%v", *name, user, strings.TrimSpace(string(text)), err),
		}}
		_ = json.NewEncoder(w).Encode(review) // the test sees that the answer is missing
	})
	return http.ListenAndServeTLS(net.JoinHostPort(*address, *port),
		filepath.Join(*certs, "tls.crt"), filepath.Join(*certs, "tls.key"), handler)
}

// whoAmI asks the API server for the user that KUBECONFIG stands for.
func whoAmI() (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return "", err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return review.Status.UserInfo.Username, nil
}
