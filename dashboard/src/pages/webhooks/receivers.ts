// Generated from docs/receiving.md, clients/go and clients/php by `npm run openapi`. Do not edit.

export const nodeReceiver = `import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const MAX_BYTES = 1024 * 1024;
const TOLERANCE_SECONDS = 300;
const MAX_IDS = 100_000;

const { WEBHOOK_SECRET, WEBHOOK_SECRET_PREVIOUS, PORT = '3000' } = process.env;
const secrets = [WEBHOOK_SECRET, WEBHOOK_SECRET_PREVIOUS].filter(Boolean);
if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is not set');

// In production, use a table with a unique column, and insert the id and the event in one transaction.
const seen = new Set();

const server = createServer(async (request, response) => {
  try {
    const body = await readBody(request);
    if (body === undefined) return response.writeHead(413).end();
    const problem = findProblem(request.headers, body);
    if (problem !== undefined) return response.writeHead(401).end(problem);
    const id = request.headers['webhook-id'];
    if (!seen.has(id)) {
      await store(id, JSON.parse(body.toString()));
      remember(id);
    }
    response.writeHead(204).end();
  } catch (error) {
    // Switchboard sends the event again.
    console.error(error);
    response.writeHead(500).end();
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(\`Listening on port \${PORT}\`));

/** The bytes as they arrived; undefined if there are too many. */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Why the request does not come from Switchboard, or not now; undefined if it does. */
function findProblem(headers, body) {
  // Node has the names of all headers in lower case.
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  if (id === '' || id.includes('.')) return 'The id is missing or has a dot';
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\\d+$/.test(timestamp) || age > TOLERANCE_SECONDS) return 'The timestamp is missing or too old';

  const given = String(headers['webhook-signature'] ?? '').split(' ');
  const isSigned = secrets.some((secret) => {
    const hmac = createHmac('sha256', secret).update(\`\${id}.\${timestamp}.\`).update(body);
    const expected = Buffer.from(\`v1,\${hmac.digest('base64')}\`);
    return given.map((text) => Buffer.from(text)).some((one) => isEqual(one, expected));
  });
  return isSigned ? undefined : 'The signature is missing or wrong';
}

const isEqual = (a, b) => a.length === b.length && timingSafeEqual(a, b);

function remember(id) {
  seen.add(id);
  if (seen.size > MAX_IDS) seen.delete(seen.values().next().value);
}

/** Keeps the event safe. The work on it starts later, in a queue of yours. */
async function store(id, { event, data }) {
  console.log(\`\${event} \${id} \${data.message ?? ''}\`);
}
`;

export const pythonReceiver = `import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 300
PORT = int(os.environ.get("PORT", "3002"))
SECRETS = [os.environ[name].encode() for name in ("WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS") if os.environ.get(name)]
if not SECRETS:
    raise SystemExit("WEBHOOK_SECRET is not set")

# In production, use a table with a unique column, and insert the id and the event in one transaction.
seen: set[str] = set()


def find_problem(headers, body: bytes) -> "str | None":
    """Why the request does not come from Switchboard, or not now; None if it does."""
    # http.server finds headers whatever their case.
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if event_id == "" or "." in event_id:
        return "The id is missing or has a dot"
    # Python refuses to read a number of thousands of digits.
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 20
    if not is_number or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return "The timestamp is missing or too old"

    signed = f"{event_id}.{timestamp}.".encode() + body
    given = headers.get("webhook-signature", "").split(" ")
    for secret in SECRETS:
        digest = hmac.new(secret, signed, hashlib.sha256).digest()
        expected = "v1," + base64.b64encode(digest).decode()
        if any(hmac.compare_digest(one.encode(), expected.encode()) for one in given):
            return None
    return "The signature is missing or wrong"


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 20) or int(length) > MAX_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        problem = find_problem(self.headers, body)
        if problem is not None:
            return self.answer(401, problem)
        event_id = self.headers["webhook-id"]
        try:
            if event_id not in seen:
                self.store(event_id, json.loads(body))
                seen.add(event_id)
        except Exception as error:
            # Switchboard sends the event again.
            print(repr(error), flush=True)
            return self.answer(500)
        self.answer(204)

    def store(self, event_id, event):
        """Keeps the event safe. The work on it starts later, in a queue of yours."""
        print(event["event"], event_id, event["data"].get("message", ""), flush=True)

    def answer(self, status, text=""):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", str(len(text)))
        self.end_headers()
        if status != 204:
            self.wfile.write(text.encode())

    def log_message(self, *arguments):
        pass


print(f"Listening on port {PORT}", flush=True)
ThreadingHTTPServer(("127.0.0.1", PORT), Receiver).serve_forever()
`;

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
	server := http.Server{Addr: "127.0.0.1:" + port, ReadTimeout: 30 * time.Second}
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
