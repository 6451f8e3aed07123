// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestEndpoints(t *testing.T) {
	t.Parallel()
	container := &corev1.Container{Ports: []corev1.ContainerPort{{Name: "webhook", ContainerPort: 9876}}}
	pod := func(namespace, app string, ready bool, local int) backend {
		return backend{
			namespace: namespace, labels: map[string]string{"app": app, "more": "x"}, container: container, ready: ready,
			local: func(port int32) int {
				if port != 9876 {
					return 0
				}
				return local
			},
		}
	}
	service := func(target intstr.IntOrString, selector map[string]string) *corev1.Service {
		return &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hook"},
			Spec: corev1.ServiceSpec{
				Selector: selector, Ports: []corev1.ServicePort{{Port: 80}, {Port: 443, TargetPort: target}},
			},
		}
	}
	selector := map[string]string{"app": "a"}
	byName := service(intstr.FromString("webhook"), selector)
	cases := map[string]struct {
		service *corev1.Service
		port    int32
		pods    []backend
		want    []string
		wantErr string
	}{
		"ready pods by port name": {
			service: byName, port: 443,
			pods: []backend{pod("ns", "a", true, 1), pod("ns", "a", false, 2), pod("ns", "b", true, 3), pod("other", "a", true, 4), pod("ns", "a", true, 5)},
			want: []string{"127.0.0.1:1", "127.0.0.1:5"},
		},
		"by port number": {
			service: service(intstr.FromInt32(9876), selector), port: 443, pods: []backend{pod("ns", "a", true, 1)},
			want: []string{"127.0.0.1:1"},
		},
		"no pod at all": {
			service: byName, port: 443, pods: []backend{pod("ns", "b", true, 1)},
			wantErr: "no process pod matches the selector app=a of service ns/hook",
		},
		"no pod that is ready": {
			service: byName, port: 443, pods: []backend{pod("ns", "a", false, 1)},
			wantErr: "none of the 1 process pods of service ns/hook is ready at port webhook",
		},
		"no pod with such a port": {
			service: service(intstr.FromInt32(1), selector), port: 443, pods: []backend{pod("ns", "a", true, 1)},
			wantErr: "none of the 1 process pods of service ns/hook is ready at port 1",
		},
		"no such port": {service: byName, port: 8443, wantErr: "service ns/hook has no port 8443"},
		"no selector":  {service: service(intstr.FromInt32(1), nil), port: 443, wantErr: "service ns/hook has no selector"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := endpoints(tc.service, tc.port, tc.pods)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
			if message := errorText(err); message != tc.wantErr {
				t.Errorf("error %q, want %q", message, tc.wantErr)
			}
		})
	}
}
