// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
	"sigs.k8s.io/yaml"
)

// read returns the objects in a file of manifests/scheduler. All must have the fields of T, and no others.
func read[T any](tb testing.TB, file string) []T {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("..", "manifests", "scheduler", file))
	if err != nil {
		tb.Fatal(err)
	}
	var all []T
	for _, document := range bytes.Split(data, []byte("\n---\n")) {
		var one T
		if err := yaml.UnmarshalStrict(document, &one); err != nil {
			tb.Fatalf("Reading %s: %v", file, err)
		}
		all = append(all, one)
	}
	return all
}

// permission is one thing that may be done.
type permission struct{ group, resource, name, verb string }

func permissions(rules []rbacv1.PolicyRule) sets.Set[permission] {
	all := sets.New[permission]()
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						all.Insert(permission{group, resource, name, verb})
					}
				}
			}
		}
	}
	return all
}

// The role follows what the release we build on gives its own scheduler. role.yaml says why some of it is left out.
func TestRoleIsThatOfTheStockScheduler(t *testing.T) {
	t.Parallel()
	want := sets.New[permission]()
	for _, role := range bootstrappolicy.ClusterRoles() {
		if role.Name != "system:kube-scheduler" {
			continue
		}
		for p := range permissions(role.Rules) {
			if p.group == "coordination.k8s.io" || p.group == "extensions" || p.resource == "bindings" {
				continue
			}
			want.Insert(p)
		}
	}
	if want.Len() == 0 {
		t.Fatal("Kubernetes has no role system:kube-scheduler any more")
	}
	for _, role := range read[rbacv1.ClusterRole](t, "role.yaml") {
		if role.Kind != "ClusterRole" {
			continue
		}
		got := permissions(role.Rules)
		for p := range want.Difference(got) {
			t.Errorf("missing: %+v", p)
		}
		for p := range got.Difference(want) {
			t.Errorf("more than the stock scheduler may: %+v", p)
		}
	}
}

// The names that running installations know. Source: scheduler-index-offset spec, section 2.
func TestBindings(t *testing.T) {
	t.Parallel()
	var got []string
	for _, binding := range read[rbacv1.RoleBinding](t, "role_binding.yaml") {
		if len(binding.Subjects) != 1 || binding.Subjects[0].Name != "index-offset-scheduler" || binding.Subjects[0].Namespace != "kruise-game-system" {
			t.Errorf("binding %s is for %v", binding.Name, binding.Subjects)
		}
		got = append(got, binding.Namespace+"/"+binding.Name+" "+binding.RoleRef.Kind+" "+binding.RoleRef.Name)
	}
	slices.Sort(got)
	want := []string{
		"/index-offset-scheduler-as-kube-scheduler ClusterRole index-offset-scheduler",
		"/index-offset-scheduler-as-volume-scheduler ClusterRole system:volume-scheduler",
		"kruise-game-system/index-offset-scheduler-leader-election Role index-offset-scheduler-leader-election",
		"kube-system/index-offset-scheduler-extension-apiserver-authentication-reader Role extension-apiserver-authentication-reader",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}

func TestDeployment(t *testing.T) {
	t.Parallel()
	deployment := read[appsv1.Deployment](t, "deployment.yaml")[0]
	if deployment.Spec.Replicas == nil || *deployment.Spec.Replicas != 2 {
		t.Error("X-8: want 2 replicas")
	}
	pod := deployment.Spec.Template.Spec
	container := pod.Containers[0]
	sec := container.SecurityContext
	restricted := pod.SecurityContext.RunAsNonRoot != nil && *pod.SecurityContext.RunAsNonRoot &&
		pod.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault &&
		sec.AllowPrivilegeEscalation != nil && !*sec.AllowPrivilegeEscalation &&
		sec.ReadOnlyRootFilesystem != nil && *sec.ReadOnlyRootFilesystem &&
		slices.Equal(sec.Capabilities.Drop, []corev1.Capability{"ALL"})
	if !restricted {
		t.Error("the pod is not as the restricted pod security standard wants it")
	}
	if diff := cmp.Diff("/etc/kubernetes", container.VolumeMounts[0].MountPath); diff != "" {
		t.Errorf("mount path of the configuration (-want +got):\n%s", diff)
	}
	if !slices.Contains(container.Args, "--config=/etc/kubernetes/scheduler-config.yaml") {
		t.Errorf("args %v do not name the configuration", container.Args)
	}
}
