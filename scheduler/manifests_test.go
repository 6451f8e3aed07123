// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/test/manifests"
)

// render returns the objects of manifests/scheduler.
func render(tb testing.TB) []client.Object {
	tb.Helper()
	objects, err := manifests.Render("scheduler")
	if err != nil {
		tb.Fatal(err)
	}
	return objects
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
	role, ok := manifests.Find[*rbacv1.ClusterRole](render(t), "index-offset-scheduler")
	if !ok {
		t.Fatal("there is no ClusterRole")
	}
	got := permissions(role.Rules)
	for p := range want.Difference(got) {
		t.Errorf("missing: %+v", p)
	}
	for p := range got.Difference(want) {
		t.Errorf("more than the stock scheduler may: %+v", p)
	}
}

// The names that running installations know. Source: scheduler-index-offset spec, section 2.
func TestBindings(t *testing.T) {
	t.Parallel()
	var got []string
	for _, object := range render(t) {
		var subjects []rbacv1.Subject
		var role rbacv1.RoleRef
		switch binding := object.(type) {
		case *rbacv1.ClusterRoleBinding:
			subjects, role = binding.Subjects, binding.RoleRef
		case *rbacv1.RoleBinding:
			subjects, role = binding.Subjects, binding.RoleRef
		default:
			continue
		}
		if len(subjects) != 1 || subjects[0].Name != "index-offset-scheduler" || subjects[0].Namespace != "kruise-game-system" {
			t.Errorf("binding %s is for %v", object.GetName(), subjects)
		}
		got = append(got, object.GetNamespace()+"/"+object.GetName()+" "+role.Kind+" "+role.Name)
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
	deployment, ok := manifests.Find[*appsv1.Deployment](render(t), "index-offset-scheduler")
	if !ok {
		t.Fatal("there is no Deployment")
	}
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
