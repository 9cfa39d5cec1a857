// Package webhooks verifies webhook deliveries of Switchboard. It has no dependencies: copy this file.
package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Verifier verifies that deliveries were signed with the secret of a webhook.
type Verifier struct {
	// Secrets of the webhook. Any may match, so that a receiver can switch to a new secret before or after the server.
	Secrets []string
	// Tolerance is the maximum age of a delivery, and the maximum difference of the two clocks. 5 minutes by default.
	Tolerance time.Duration
	// AllowBodyOnly accepts X-Webhook-Signature if there is no webhook-signature. It covers the body alone, so a
	// delivery can be replayed. Use it behind a proxy that drops webhook-* headers.
	AllowBodyOnly bool
	// Now replaces the clock in tests.
	Now func() time.Time
}

// Verified has the facts that the signature covers.
type Verified struct {
	// Scheme is "standard", or "body_only" if only the body was signed.
	Scheme string
	// ID of the event, the same on every attempt. Store it to recognize an event that arrives twice.
	ID string
	// Time of this attempt.
	Time time.Time
}

// Refusal is the reason why a delivery was refused. Answer 401.
type Refusal string

func (r Refusal) Error() string { return string(r) }

var (
	digits    = regexp.MustCompile(`^[0-9]+$`)
	separator = regexp.MustCompile(`,? +`)
)

// Verify checks the body exactly as received. The error is a Refusal. It panics without secrets, or with an empty one,
// with which anyone can sign.
func (v Verifier) Verify(header http.Header, body []byte) (Verified, error) {
	if len(v.Secrets) == 0 {
		panic("webhooks: no secret")
	}
	for _, secret := range v.Secrets {
		if secret == "" {
			panic("webhooks: empty secret")
		}
	}
	if header.Values("webhook-signature") != nil {
		return v.verifyStandard(header, body)
	}
	if header.Values("x-webhook-signature") == nil {
		return Verified{}, Refusal("missing_signature")
	}
	if !v.AllowBodyOnly {
		return Verified{}, Refusal("standard_signature_required")
	}
	return v.verifyBodyOnly(header, body)
}

func (v Verifier) verifyStandard(header http.Header, body []byte) (Verified, error) {
	id, timestamp := joined(header, "webhook-id"), joined(header, "webhook-timestamp")
	switch {
	case id == "":
		return Verified{}, Refusal("missing_id")
	case strings.Contains(id, "."):
		// Otherwise a body could be cut into id, timestamp and rest, and its X-Webhook-Signature would be valid here.
		return Verified{}, Refusal("invalid_id")
	case timestamp == "":
		return Verified{}, Refusal("missing_timestamp")
	}
	at, err := v.check(timestamp)
	if err != nil {
		return Verified{}, err
	}
	given := separator.Split(joined(header, "webhook-signature"), -1)
	for _, secret := range v.Secrets {
		expected := "v1," + base64.StdEncoding.EncodeToString(sign(secret, []byte(id+"."+timestamp+"."), body))
		for _, one := range given {
			if hmac.Equal([]byte(one), []byte(expected)) {
				return Verified{"standard", id, at}, nil
			}
		}
	}
	return Verified{}, Refusal("bad_signature")
}

func (v Verifier) verifyBodyOnly(header http.Header, body []byte) (Verified, error) {
	if header.Values("x-webhook-timestamp") != nil {
		if _, err := v.check(joined(header, "x-webhook-timestamp")); err != nil {
			return Verified{}, err
		}
	}
	given := joined(header, "x-webhook-signature")
	for _, secret := range v.Secrets {
		expected := "sha256=" + hex.EncodeToString(sign(secret, body))
		if hmac.Equal([]byte(given), []byte(expected)) {
			return Verified{Scheme: "body_only"}, nil
		}
	}
	return Verified{}, Refusal("bad_signature")
}

func (v Verifier) check(timestamp string) (time.Time, error) {
	if !digits.MatchString(timestamp) {
		return time.Time{}, Refusal("invalid_timestamp")
	}
	now, tolerance := time.Now, v.Tolerance
	if v.Now != nil {
		now = v.Now
	}
	if tolerance == 0 {
		tolerance = 5 * time.Minute
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	// Whole seconds on both sides: without rounding, five minutes would be longer for most of the last second.
	if limit := int64(tolerance / time.Second); err != nil || now().Unix()-seconds > limit || seconds-now().Unix() > limit {
		return time.Time{}, Refusal("timestamp_out_of_tolerance")
	}
	return time.Unix(seconds, 0), nil
}

func sign(secret string, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// joined returns several values of one name as one, joined by a comma.
func joined(header http.Header, name string) string {
	return strings.Join(header.Values(name), ", ")
}
