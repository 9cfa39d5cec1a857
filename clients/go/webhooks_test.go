package webhooks

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"
)

type testCase struct {
	Title    string
	Body     string
	Headers  map[string]string
	Secrets  []string
	Require  string
	Now      int64
	Expected string
}

// The cases that all clients share.
func cases(t *testing.T) []testCase {
	text, err := os.ReadFile("../vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []testCase
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no cases")
	}
	return all
}

func (c testCase) verify() (Verified, error) {
	header := http.Header{}
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	now := func() time.Time { return time.Unix(c.Now, 999_000_000) }
	verifier := Verifier{Secrets: c.Secrets, AllowBodyOnly: c.Require == "any", Now: now}
	return verifier.Verify(header, []byte(c.Body))
}

func TestSharedCases(t *testing.T) {
	for _, one := range cases(t) {
		t.Run(one.Title, func(t *testing.T) {
			verified, err := one.verify()
			got := verified.Scheme
			if err != nil {
				got = string(err.(Refusal))
			}
			if got != one.Expected {
				t.Errorf("got %s, want %s", got, one.Expected)
			}
		})
	}
}

func TestReturnsTheSignedFacts(t *testing.T) {
	one := cases(t)[0]
	verified, err := one.verify()
	if err != nil || verified.ID != one.Headers["webhook-id"] || verified.Time.Unix() != 1767323045 {
		t.Errorf("got %+v and %v", verified, err)
	}
}

func TestPanicsWithoutASecret(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}, {"good", ""}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q did not panic", secrets)
				}
			}()
			Verifier{Secrets: secrets}.Verify(http.Header{}, nil)
		}()
	}
}
