<?php

declare(strict_types=1);

/** Verifies webhook deliveries of Switchboard. It needs PHP 8 and no other file: copy this one. */
final class SwitchboardWebhooks
{
    /**
     * Verifies the body exactly as received, such as `file_get_contents('php://input')`.
     *
     * @param array<string, string|list<string>> $headers Names in any case, such as `getallheaders()`.
     * @param string|list<string> $secrets Any may match, so that a receiver can switch to a new secret before or after
     *     the server.
     * @param bool $allowBodyOnly Accepts `X-Webhook-Signature` if there is no `webhook-signature`. It covers the body
     *     alone, so a delivery can be replayed. Use it behind a proxy that drops `webhook-*` headers.
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

/** The message is the reason, such as `bad_signature`. */
final class SwitchboardRefusal extends RuntimeException
{
}
