// Generated from clients/go and clients/php by `npm run openapi`. Do not edit.

export const goReceiver = `// A receiver of webhooks. It reads WEBHOOK_SECRET and PORT.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const maxBytes = 1 << 20

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	verifier := Verifier{Secrets: []string{secret}}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
		if err == nil {
			_, err = verifier.Verify(r.Header, body)
		}
		var refusal Refusal
		switch {
		case errors.As(err, &refusal):
			log.Printf("refused: %s", refusal)
			w.WriteHeader(http.StatusUnauthorized)
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		default:
			log.Printf("%s", body)
			w.WriteHeader(http.StatusNoContent)
		}
	})
	server := http.Server{Addr: ":" + port, ReadTimeout: 30 * time.Second}
	log.Fatal(server.ListenAndServe())
}

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
	digits    = regexp.MustCompile(\`^[0-9]+$\`)
	separator = regexp.MustCompile(\`,? +\`)
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
`;

export const phpReceiver = `<?php

declare(strict_types=1);

// A receiver of webhooks. It reads WEBHOOK_SECRET. Behind any web server, or: php -S 0.0.0.0:3000 receiver.php

$body = (string) file_get_contents('php://input', length: 1_048_577);
if (strlen($body) > 1_048_576) {
    http_response_code(413);
    exit;
}
try {
    SwitchboardWebhooks::verify($body, getallheaders(), (string) getenv('WEBHOOK_SECRET'));
} catch (SwitchboardRefusal $refusal) {
    error_log("refused: {$refusal->getMessage()}");
    http_response_code(401);
    exit;
}
$delivery = json_decode($body, true);
error_log($delivery['event'] . ' ' . json_encode($delivery['data']));
http_response_code(204);

/** Verifies webhook deliveries of Switchboard. It needs PHP 8 and no other file: copy this one. */
final class SwitchboardWebhooks
{
    /**
     * Verifies the body exactly as received, such as \`file_get_contents('php://input')\`.
     *
     * @param array<string, string|list<string>> $headers Names in any case, such as \`getallheaders()\`.
     * @param string|list<string> $secrets Any may match, so that a receiver can switch to a new secret before or after
     *     the server.
     * @param bool $allowBodyOnly Accepts \`X-Webhook-Signature\` if there is no \`webhook-signature\`. It covers the body
     *     alone, so a delivery can be replayed. Use it behind a proxy that drops \`webhook-*\` headers.
     * @return array{scheme: string, id: ?string, timestamp: ?int} The facts that the signature covers. Store the id,
     *     which is the same on every attempt, to recognize an event that arrives twice.
     * @throws SwitchboardRefusal if the delivery was refused. Answer 401.
     * @throws InvalidArgumentException for an empty secret, with which anyone can sign.
     */
    public static function verify(
        string $body,
        array $headers,
        string|array $secrets,
        bool $allowBodyOnly = false,
        int $tolerance = 300,
        ?int $now = null,
    ): array {
        $secrets = (array) $secrets;
        if ($secrets === [] || in_array('', $secrets, true)) {
            throw new InvalidArgumentException('The secret is empty');
        }
        $headers = self::joined($headers);
        $now ??= time();
        if (isset($headers['webhook-signature'])) {
            return self::verifyStandard($body, $headers, $secrets, $tolerance, $now);
        }
        if (!isset($headers['x-webhook-signature'])) {
            throw new SwitchboardRefusal('missing_signature');
        }
        if (!$allowBodyOnly) {
            throw new SwitchboardRefusal('standard_signature_required');
        }
        return self::verifyBodyOnly($body, $headers, $secrets, $tolerance, $now);
    }

    /**
     * @param array<string, string> $headers
     * @param list<string> $secrets
     * @return array{scheme: string, id: string, timestamp: int}
     */
    private static function verifyStandard(
        string $body,
        array $headers,
        array $secrets,
        int $tolerance,
        int $now,
    ): array {
        $id = $headers['webhook-id'] ?? '';
        $timestamp = $headers['webhook-timestamp'] ?? '';
        if ($id === '') {
            throw new SwitchboardRefusal('missing_id');
        }
        // Otherwise a body could be cut into id, timestamp and rest, and its X-Webhook-Signature would be valid here.
        if (str_contains($id, '.')) {
            throw new SwitchboardRefusal('invalid_id');
        }
        if ($timestamp === '') {
            throw new SwitchboardRefusal('missing_timestamp');
        }
        self::checkTimestamp($timestamp, $tolerance, $now);
        $given = preg_split('/,? +/', $headers['webhook-signature']) ?: [];
        foreach ($secrets as $secret) {
            $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $secret, true));
            foreach ($given as $one) {
                if (hash_equals($expected, $one)) {
                    return ['scheme' => 'standard', 'id' => $id, 'timestamp' => (int) $timestamp];
                }
            }
        }
        throw new SwitchboardRefusal('bad_signature');
    }

    /**
     * @param array<string, string> $headers
     * @param list<string> $secrets
     * @return array{scheme: string, id: null, timestamp: null}
     */
    private static function verifyBodyOnly(
        string $body,
        array $headers,
        array $secrets,
        int $tolerance,
        int $now,
    ): array {
        if (isset($headers['x-webhook-timestamp'])) {
            self::checkTimestamp($headers['x-webhook-timestamp'], $tolerance, $now);
        }
        foreach ($secrets as $secret) {
            if (hash_equals('sha256=' . hash_hmac('sha256', $body, $secret), $headers['x-webhook-signature'])) {
                return ['scheme' => 'body_only', 'id' => null, 'timestamp' => null];
            }
        }
        throw new SwitchboardRefusal('bad_signature');
    }

    private static function checkTimestamp(string $timestamp, int $tolerance, int $now): void
    {
        if (preg_match('/^[0-9]+$/D', $timestamp) !== 1) {
            throw new SwitchboardRefusal('invalid_timestamp');
        }
        // A longer number would not fit.
        if (strlen($timestamp) > 18 || abs($now - (int) $timestamp) > $tolerance) {
            throw new SwitchboardRefusal('timestamp_out_of_tolerance');
        }
    }

    /**
     * Returns several values of one name as one, joined by a comma.
     *
     * @param array<string, string|list<string>> $headers
     * @return array<string, string>
     */
    private static function joined(array $headers): array
    {
        $joined = [];
        foreach ($headers as $name => $values) {
            $key = strtolower((string) $name);
            $text = implode(', ', (array) $values);
            $joined[$key] = isset($joined[$key]) ? "$joined[$key], $text" : $text;
        }
        return $joined;
    }
}

/** The message is the reason, such as \`bad_signature\`. */
final class SwitchboardRefusal extends RuntimeException
{
}
`;
