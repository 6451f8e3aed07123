// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	kruiseclient "github.com/openkruise/kruise-api/client/clientset/versioned"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// patience is how long a test waits for the cluster; on a busy machine everything takes its time.
	patience = time.Minute
	interval = 50 * time.Millisecond
)

// cluster is a playground of its own for one test.
type cluster struct {
	t      *testing.T
	binary string
	state  string
	kube   kubernetes.Interface
	kruise kruiseclient.Interface
}

// startCluster starts a playground with five nodes and OpenKruise, and stops it when the test ends. Test runs that did
// not ask for it are skipped.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	if os.Getenv("BERTH_PLAYGROUND_TEST") != "1" {
		t.Skip("starts a control plane; set BERTH_PLAYGROUND_TEST=1 and build the programs before (make test does both)")
	}
	bin := os.Getenv("BERTH_BIN")
	if bin == "" {
		bin = filepath.Join("..", "..", "..", "bin")
	}
	state, err := os.MkdirTemp("", "playground") //nolint:usetesting // holds a socket, whose path must be short
	if err != nil {
		t.Fatalf("making state folder: %v", err)
	}
	c := &cluster{t: t, binary: filepath.Join(bin, "playground"), state: state}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("kubelets: %s", c.read("logs", "kubelets.log"))
		}
		c.run(context.Background(), "down") // the context of the test has ended
		if err := os.RemoveAll(state); err != nil {
			t.Errorf("removing state folder: %v", err)
		}
	})
	c.run(t.Context(), "up", "--nodes=5")

	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(state, "kubeconfig"))
	if err != nil {
		t.Fatalf("loading kubeconfig: %v", err)
	}
	config.QPS = -1
	c.kube, c.kruise = kubernetes.NewForConfigOrDie(config), kruiseclient.NewForConfigOrDie(config)
	return c
}

// run calls the playground's command line.
func (c *cluster) run(ctx context.Context, args ...string) {
	c.t.Helper()
	out, err := exec.CommandContext(ctx, c.binary, append(args, "--state", c.state)...).CombinedOutput()
	if err != nil {
		c.t.Errorf("playground %v: %v\n%s", args, err, out)
	}
}

func (c *cluster) read(path ...string) string {
	text, err := os.ReadFile(filepath.Join(append([]string{c.state}, path...)...))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// namespace makes a namespace for one test.
func (c *cluster) namespace(t *testing.T) string {
	t.Helper()
	ns, err := c.kube.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating namespace: %v", err)
	}
	return ns.Name
}

// eventually polls until check returns an empty text; the last text says what is not yet as it should be.
func eventually(t *testing.T, check func(ctx context.Context) string) {
	t.Helper()
	wrong := "never looked"
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		if now := check(ctx); now == "" || ctx.Err() == nil { // an answer that the end of ctx cut off says nothing
			wrong = now
		}
		return wrong == "", nil
	})
	if err != nil {
		t.Fatalf("waited %s, still: %s", patience, wrong)
	}
}

// pod waits until check is content with a pod and returns it.
func (c *cluster) pod(t *testing.T, namespace, name string, check func(*corev1.Pod) string) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	eventually(t, func(ctx context.Context) string {
		var err error
		if pod, err = c.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		return check(pod)
	})
	return pod
}

// createPod makes a pod with one container.
func (c *cluster) createPod(t *testing.T, namespace, name string, annotations map[string]string, mods ...func(*corev1.Pod)) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "game", Image: "game:1"}}},
	}
	for _, mod := range mods {
		mod(pod)
	}
	if _, err := c.kube.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating pod %s: %v", name, err)
	}
}

func (c *cluster) patchPod(t *testing.T, namespace, name string, kind types.PatchType, patch string) {
	t.Helper()
	_, err := c.kube.CoreV1().Pods(namespace).Patch(t.Context(), name, kind, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("patching pod %s: %v", name, err)
	}
}

// annotate is a merge patch that sets an annotation, or removes it when the value is empty.
func annotate(key, value string) string {
	if value == "" {
		return fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, key)
	}
	return fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
}

// ready is content with a pod that is ready.
func ready(pod *corev1.Pod) string {
	if condition(pod, corev1.PodReady).Status != corev1.ConditionTrue {
		return fmt.Sprintf("pod %s is %s, not ready: %v", pod.Name, pod.Status.Phase, pod.Status.Conditions)
	}
	return ""
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}
