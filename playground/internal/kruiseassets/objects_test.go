// SPDX-License-Identifier: Apache-2.0

package kruiseassets

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjectsComeInAnOrderThatCanBeCreated(t *testing.T) {
	t.Parallel()
	objects, err := Objects()
	if err != nil {
		t.Fatalf("Objects() failed: %v", err)
	}
	var kinds []string
	names := map[string]bool{}
	for _, o := range objects {
		if len(kinds) == 0 || kinds[len(kinds)-1] != o.GetKind() {
			kinds = append(kinds, o.GetKind())
		}
		names[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = true
	}
	wantKinds := []string{
		"Namespace", "CustomResourceDefinition", "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding",
		"Secret", "Service", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
	}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	for _, name := range []string{
		"Namespace /" + Namespace,
		"ServiceAccount " + Namespace + "/" + ServiceAccount,
		"Secret " + Namespace + "/kruise-webhook-certs",
		"CustomResourceDefinition /statefulsets.apps.kruise.io",
		"CustomResourceDefinition /podprobemarkers.apps.kruise.io",
		"CustomResourceDefinition /nodepodprobes.apps.kruise.io",
		"MutatingWebhookConfiguration /kruise-mutating-webhook-configuration",
		"ValidatingWebhookConfiguration /kruise-validating-webhook-configuration",
	} {
		if !names[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

// The manifests and the manager must be of one version. A failure means: run go generate.
func TestManifestsHaveTheVersionOfTheManager(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("../../kruise/go.mod")
	if err != nil {
		t.Fatalf("reading go.mod of the manager: %v", err)
	}
	required := regexp.MustCompile(`github.com/openkruise/kruise (v\S+)`).FindSubmatch(module)
	if required == nil {
		t.Fatal("the manager's go.mod does not require OpenKruise")
	}
	source := strings.SplitN(manifests, "\n", 3)[1]
	if !strings.Contains(source, " "+string(required[1])+",") {
		t.Errorf("manifests say %q, the manager is %s", source, required[1])
	}
}

func TestCommandBindsToLoopbackOnly(t *testing.T) {
	t.Parallel()
	args, env := Command("/state/kruise.kubeconfig", "/state/certs", Ports{Webhook: 1, Health: 2})
	wantArgs := []string{"--kubeconfig=/state/kruise.kubeconfig", "--health-addr=127.0.0.1:2", "--metrics-addr=0"}
	if diff := cmp.Diff(wantArgs, args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	wantEnv := []string{"POD_NAMESPACE=kruise-system", "WEBHOOK_HOST=127.0.0.1", "WEBHOOK_PORT=1", "WEBHOOK_CERT_DIR=/state/certs"}
	if diff := cmp.Diff(wantEnv, env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	args, _ = Command("", "", Ports{Webhook: 1, Health: 2, Metrics: 3})
	if !slices.Contains(args, "--metrics-addr=127.0.0.1:3") {
		t.Errorf("arguments %q serve no metrics on port 3", args)
	}
}
