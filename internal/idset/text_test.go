// SPDX-License-Identifier: Apache-2.0

package idset

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Rows of core-controllers.md section 5.10.
func TestNormalForm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set      Set
		want     string
		wantList []intstr.IntOrString
	}{
		"nothing is empty text":              {set: Of(), want: ""},
		"one id stays single":                {set: Of(5), want: "5", wantList: list(5)},
		"two ids in a row stay single":       {set: Of(1, 2), want: "1,2", wantList: list(1, 2)},
		"three ids in a row are a range":     {set: Of(1, 2, 3), want: "1-3", wantList: list("1-3")},
		"five ids in a row are a range":      {set: Of(1, 2, 3, 4, 5), want: "1-5", wantList: list("1-5")},
		"two ranges":                         {set: Of(1, 2, 3, 5, 6, 7), want: "1-3,5-7", wantList: list("1-3", "5-7")},
		"ranges and single ids":              {set: Of(1, 2, 3, 5, 7, 8, 9, 11), want: "1-3,5,7-9,11", wantList: list("1-3", 5, "7-9", 11)},
		"ids in any order":                   {set: Of(3, 1, 2, 4, 8, 6, 7), want: "1-4,6-8", wantList: list("1-4", "6-8")},
		"no three in a row":                  {set: Of(1, 2, 5, 7, 9), want: "1,2,5,7,9", wantList: list(1, 2, 5, 7, 9)},
		"the largest ids do not wrap around": {set: Range(MaxID-2, MaxID), want: "2147483645-2147483647", wantList: list("2147483645-2147483647")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.set.String(); got != tc.want {
				t.Errorf("String() = %q, want %q", got, tc.want)
			}
			if diff := cmp.Diff(tc.wantList, tc.set.List()); diff != "" {
				t.Errorf("List() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text    string
		want    Set
		wantErr *ElementError
	}{
		"empty text is the empty set":               {text: ""},
		"spaces are the empty set":                  {text: "  "},
		"one id":                                    {text: "5", want: Of(5)},
		"several ids":                               {text: "1,3,5,7", want: Of(1, 3, 5, 7)},
		"a range":                                   {text: "1-5", want: Range(1, 5)},
		"two ranges":                                {text: "1-3,7-9", want: Of(1, 2, 3, 7, 8, 9)},
		"spaces around elements":                    {text: "1-3, 5, 7-9, 11", want: Of(1, 2, 3, 5, 7, 8, 9, 11)},
		"semicolons":                                {text: "1-3;5;7-9;11", want: Of(1, 2, 3, 5, 7, 8, 9, 11)},
		"a huge range":                              {text: "0-2000000000", want: Range(0, 2000000000)},
		"S-16: a word is an error, not skipped":     {text: "1,abc,3", wantErr: &ElementError{1, "abc", wantID + " or a range of ids"}},
		"S-16: a word in a range is an error":       {text: "1-3,5-abc,7-9", wantErr: &ElementError{1, "5-abc", wantRange}},
		"S-16: a range backwards is an error":       {text: "1-3,5-2,7-9", wantErr: &ElementError{1, "5-2", wantRange}},
		"an empty element is an error":              {text: "1,,3", wantErr: &ElementError{1, "", wantID + " or a range of ids"}},
		"a trailing comma is an error":              {text: "1,", wantErr: &ElementError{1, "", wantID + " or a range of ids"}},
		"a negative id is an error":                 {text: "-5", wantErr: &ElementError{0, "-5", wantRange}},
		"a sign is an error":                        {text: "+5", wantErr: &ElementError{0, "+5", wantID + " or a range of ids"}},
		"a space in a range is an error":            {text: "1 - 5", wantErr: &ElementError{0, "1 - 5", wantRange}},
		"three numbers in a range are an error":     {text: "1-2-3", wantErr: &ElementError{0, "1-2-3", wantRange}},
		"an id that needs 32 bits is an error":      {text: "2147483648", wantErr: &ElementError{0, "2147483648", wantID + " or a range of ids"}},
		"a range end that needs more is an error":   {text: "0-99999999999999999999", wantErr: &ElementError{0, "0-99999999999999999999", wantRange}},
		"other numerals than the ASCII ones do not": {text: "१", wantErr: &ElementError{0, "१", wantID + " or a range of ids"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(tc.text)
			wantElementError(t, err, tc.wantErr)
			if !got.Equal(tc.want) {
				t.Errorf("Parse(%q) = %v, want %v", tc.text, got, tc.want)
			}
		})
	}
}

func TestFromList(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		list    []intstr.IntOrString
		want    Set
		wantErr *ElementError
	}{
		"nil is the empty set":                      {},
		"numbers and ranges":                        {list: list(1, "2-3", 4), want: Range(1, 4)},
		"repeats count once":                        {list: list(3, "2-5", 3), want: Range(2, 5)},
		"A-1: one bad element is an error":          {list: list(4, "test", 1), wantErr: &ElementError{1, "test", wantRange + "; a single id is written as a number"}},
		"an id as text is refused as Kruise does":   {list: list("5"), wantErr: &ElementError{0, "5", wantRange + "; a single id is written as a number"}},
		"a negative number is an error":             {list: list(-5), wantErr: &ElementError{0, "-5", wantID}},
		"a range that ends before it begins is one": {list: list(1, "5-2"), wantErr: &ElementError{1, "5-2", wantRange}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := FromList(tc.list)
			wantElementError(t, err, tc.wantErr)
			if !got.Equal(tc.want) {
				t.Errorf("FromList(%v) = %v, want %v", tc.list, got, tc.want)
			}
		})
	}
}

func TestCheckListNamesEveryMistake(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		list []intstr.IntOrString
		want []*ElementError
	}{
		"a good list has none":        {list: list(1, "3-5", 7)},
		"the same id twice":           {list: list(1, 2, 1), want: []*ElementError{{2, "1", "repeats 1 of element 0; no id may appear twice"}}},
		"an id of an earlier range":   {list: list("3-6", 4), want: []*ElementError{{1, "4", "repeats 4 of element 0; no id may appear twice"}}},
		"a range over an earlier id":  {list: list(4, "3-6"), want: []*ElementError{{1, "3-6", "repeats 4 of element 0; no id may appear twice"}}},
		"ranges that share their end": {list: list("1-3", "3-9"), want: []*ElementError{{1, "3-9", "repeats 3 of element 0; no id may appear twice"}}},
		"two ids of one long range": {list: list("0-9", 2, 8), want: []*ElementError{
			{1, "2", "repeats 2 of element 0; no id may appear twice"},
			{2, "8", "repeats 8 of element 0; no id may appear twice"},
		}},
		"bad elements and repeats together": {list: list(2, "x", 2, -1), want: []*ElementError{
			{1, "x", wantRange + "; a single id is written as a number"},
			{2, "2", "repeats 2 of element 0; no id may appear twice"},
			{3, "-1", wantID},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, CheckList(tc.list)); diff != "" {
				t.Errorf("CheckList(%v) (-want +got):\n%s", tc.list, diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "5", "1-3, 5;7-9", "0-2000000000", "1,,2", "5-2", "--", "2147483647", "-1", "1-2-3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Parse(text)
		if err != nil {
			if !set.Empty() {
				t.Fatalf("Parse(%q) returned ids %v beside error %v", text, set, err)
			}
			var bad *ElementError
			if !errors.As(err, &bad) {
				t.Fatalf("Parse(%q): error %T names no element", text, err)
			}
			return
		}
		normal := set.String()
		again, err := Parse(normal)
		if err != nil || !again.Equal(set) || again.String() != normal {
			t.Fatalf("Parse(%q) = %q, which reads back as %q, %v", text, normal, again, err)
		}
		if fromList, err := FromList(set.List()); err != nil || !fromList.Equal(set) {
			t.Fatalf("the list form of %q reads back as %q, %v", normal, fromList, err)
		}
	})
}

func wantElementError(t *testing.T, err error, want *ElementError) {
	t.Helper()
	var got *ElementError
	if err != nil && !errors.As(err, &got) {
		t.Fatalf("error %T %v is no *ElementError", err, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func list(elements ...any) []intstr.IntOrString {
	var out []intstr.IntOrString
	for _, element := range elements {
		switch element := element.(type) {
		case int:
			out = append(out, intstr.FromInt32(int32(element)))
		case string:
			out = append(out, intstr.FromString(element))
		}
	}
	return out
}
