// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"errors"
	"runtime/debug"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
	"github.com/berthgames/berth/network/framework"
)

// ask asks the plugin of a pod, if it can be asked yet.
func (r *Reconciler) ask(ctx context.Context, view *framework.Pod) answer {
	plugin, found := r.plugins.Get(view.Type)
	if !found {
		return answer{err: &unknownTypeError{name: view.Type, known: r.plugins.Names()}}
	}
	reconciler, able := plugin.(framework.Reconciler)
	if !able {
		return answer{silent: true}
	}
	if restored, err := r.restore.pass(plugin.Name(), client.ObjectKeyFromObject(view.Pod)); !restored {
		return answer{err: err, silent: err == nil}
	}
	result, err := contained(plugin.Name(), func() (framework.Result, error) { return reconciler.Reconcile(ctx, view) })
	return answer{result: result, err: err}
}

// contained turns a panic of a plugin into an error, so that it costs one pod a try and not the process.
func contained[T any](plugin string, call func() (T, error)) (result T, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &framework.PanicError{Plugin: plugin, Value: value, Stack: string(debug.Stack())}
		}
	}()
	return call()
}

// act writes the annotation first and tells of trouble after. fault is what the trouble was made from, if it was an error.
// A pod that is gone, or another one by now, is left alone: its event starts the next pass.
func (r *Reconciler) act(ctx context.Context, pod *corev1.Pod, p plan, fault error) error {
	if p.status != nil {
		r.memory.writes(pod, *p.status)
		before, after := statusChange(pod, *p.status)
		_, err := apply.Object(ctx, r.client, before, after)
		if apierrors.IsNotFound(err) || apply.IsOtherObject(err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if !r.memory.isNews(pod, p.trouble) {
		return nil
	}
	r.events.Eventf(pod, nil, corev1.EventTypeWarning, p.trouble.reason, actionReconcile, "%s", p.trouble.note)
	var panicked *framework.PanicError
	if errors.As(fault, &panicked) {
		// The fault itself goes back to the queue, which logs it without its stack.
		log.FromContext(ctx).Error(panicked, "Network plugin panicked", "plugin", panicked.Plugin, "stack", panicked.Stack)
	}
	return nil
}

// statusChange is the difference between a pod and its report. It carries the UID along, so that the API server refuses it
// when the pod was replaced by another of its name: an answer must never land on a pod that it was not given for.
func statusChange(pod *corev1.Pod, status string) (before, after *corev1.Pod) {
	before = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	if stored, ok := pod.Annotations[gamev1alpha1.GameServerNetworkStatus]; ok {
		before.Annotations = map[string]string{gamev1alpha1.GameServerNetworkStatus: stored}
	}
	after = before.DeepCopy()
	after.UID = pod.UID
	after.Annotations = map[string]string{gamev1alpha1.GameServerNetworkStatus: status}
	return before, after
}
