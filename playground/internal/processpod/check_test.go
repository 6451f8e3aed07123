// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// deployment returns a Deployment that can be run, changed by change.
func deployment(change func(*corev1.PodSpec, *corev1.Container)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "d"},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "c", Command: []string{"/bin/manager"}, Args: []string{"--health=:8081"},
				Ports: []corev1.ContainerPort{{Name: "health", ContainerPort: 8081}, {Name: "game", ContainerPort: 8082, Protocol: corev1.ProtocolUDP}},
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
					HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromString("health")},
				}},
			}},
		}}},
	}
	if change != nil {
		change(&d.Spec.Template.Spec, &d.Spec.Template.Spec.Containers[0])
	}
	return d
}

func TestCheck(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*corev1.PodSpec, *corev1.Container)
		want   []string
	}{
		"a plain Deployment": {},
		"supported volumes": {change: func(s *corev1.PodSpec, _ *corev1.Container) {
			s.Volumes = []corev1.Volume{
				{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
				}}}},
			}
		}},
		"unsupported volumes": {
			change: func(s *corev1.PodSpec, _ *corev1.Container) {
				s.Volumes = []corev1.Volume{
					{VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}},
					{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
						{DownwardAPI: &corev1.DownwardAPIProjection{}},
					}}}},
				}
			},
			want: []string{"spec.template.spec.volumes[0]", "spec.template.spec.volumes[1].projected.sources[0]"},
		},
		"two containers": {
			change: func(s *corev1.PodSpec, c *corev1.Container) { s.Containers = append(s.Containers, *c) },
			want:   []string{"spec.template.spec.containers"},
		},
		"an init container": {
			change: func(s *corev1.PodSpec, c *corev1.Container) { s.InitContainers = []corev1.Container{*c} },
			want:   []string{"spec.template.spec.initContainers"},
		},
		"no command": {
			change: func(_ *corev1.PodSpec, c *corev1.Container) { c.Command = nil },
			want:   []string{"spec.template.spec.containers[0].command"},
		},
		"a command without program": {
			change: func(_ *corev1.PodSpec, c *corev1.Container) { c.Command[0] = "/scheduler" },
			want:   []string{"spec.template.spec.containers[0].command[0]"},
		},
		"a port that cannot be mapped": {
			change: func(_ *corev1.PodSpec, c *corev1.Container) {
				c.Args = append(c.Args, "--metrics=:8080")
				c.Env = []corev1.EnvVar{{Name: "ADDR", Value: "0.0.0.0:8082"}} // declared, but for UDP
			},
			want: []string{"spec.template.spec.containers[0].env[0]", "spec.template.spec.containers[0].args"},
		},
		"variables of other kinds": {
			change: func(_ *corev1.PodSpec, c *corev1.Container) {
				c.EnvFrom = []corev1.EnvFromSource{{}}
				c.Env = []corev1.EnvVar{{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{}}}}
			},
			want: []string{"spec.template.spec.containers[0].envFrom", "spec.template.spec.containers[0].env[0].valueFrom"},
		},
		"a probe of another kind": {
			change: func(_ *corev1.PodSpec, c *corev1.Container) {
				c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}}
			},
			want: []string{"spec.template.spec.containers[0].readinessProbe"},
		},
		"a probe at an undeclared port": {
			change: func(_ *corev1.PodSpec, c *corev1.Container) { c.ReadinessProbe.HTTPGet.Port = intstr.FromInt32(1) },
			want:   []string{"spec.template.spec.containers[0].readinessProbe.httpGet.port"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, err := range Check(deployment(tc.change), map[string]string{"manager": "/programs/manager"}) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}
