// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPick(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		n, offset int
		taken     map[int]bool
		want      []int
		wantErr   string
	}{
		"free ports follow each other from the offset": {n: 2, offset: 5, want: []int{20005, 20006}},
		"ports in use are left out":                    {n: 2, offset: 5, taken: map[int]bool{20006: true}, want: []int{20005, 20007}},
		"the range is a ring":                          {n: 2, offset: 9999, want: []int{29999, 20000}},
		"no more than the range has": {
			n: 10001, wantErr: "10001 ports wanted, only 10000 of 20000-29999 are free on 127.0.0.1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pick(tc.n, tc.offset, func(port int) bool { return !tc.taken[port] })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
			if message := errorText(err); message != tc.wantErr {
				t.Errorf("error %q, want %q", message, tc.wantErr)
			}
		})
	}
}

func TestIsFreeSeesListeners(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", Address(0))
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if IsFree(port) {
		t.Errorf("port %d counts as free while somebody listens", port)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if !IsFree(port) {
		t.Errorf("port %d counts as taken after the listener has gone", port)
	}
}

func TestKeepLeavesPortsThatAreTaken(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", Address(0))
	if err != nil {
		t.Fatal(err)
	}
	taken := listener.Addr().(*net.TCPAddr).Port
	other, err := Keep([]int{taken}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(other) != 1 || other[0] == taken {
		t.Errorf("got %v in the place of port %d, which is in use", other, taken)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := Keep([]int{taken}, 1)
	if diff := cmp.Diff([]int{taken}, kept); diff != "" || err != nil {
		t.Errorf("ports, error %v (-want +got):\n%s", err, diff)
	}
	if first, err := Keep(nil, 2); len(first) != 2 || err != nil {
		t.Errorf("got %v, %v; want two ports", first, err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
