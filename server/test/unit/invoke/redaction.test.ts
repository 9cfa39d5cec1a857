import assert from 'node:assert/strict';
import { it } from 'node:test';
import { redactSecrets, redactUrl } from '../../../src/log.ts';

it('redacts credentials in a text, however they are written', () => {
  const cases: [text: string, expected: string][] = [
    ['Malformed access token EAAGabcdef0123456789', 'Malformed access token [redacted]'],
    ['GET /x?access_token=abc123&fields=id', 'GET /x?access_token=[redacted]&fields=id'],
    ['appsecret_proof=00ff', 'appsecret_proof=[redacted]'],
    ['{"access_token": "abc", "app_secret":"def"}', '{"access_token": "[redacted]", "app_secret":"[redacted]"}'],
    ['Authorization: Bearer abcdefgh.ijklmnop', 'Authorization: Bearer [redacted]'],
    ['the key my/own+secret and my%2Fown%2Bsecret', 'the key [redacted] and [redacted]'],
  ];
  for (const [text, expected] of cases) {
    assert.equal(redactSecrets(text, ['my/own+secret', '']), expected);
    assert.equal(redactSecrets(expected), expected, 'idempotent');
  }
});

it('keeps sentences about credentials', () => {
  for (const text of [
    'Error validating access token: Session has expired on Sunday, 22-Nov-26',
    'Invalid OAuth access token.',
    'The basic information of the account is incomplete',
    "Object with ID '404' does not exist",
  ])
    assert.equal(redactSecrets(text, ['abc']), text);
});

it('truncates a text to 1,000 characters', () => {
  for (const part of ['token', '-', 'key ', 'Bearer ', 'EAA', 'token="', 'key=a '])
    assert.ok(redactSecrets(part.repeat(1_000_000)).length <= 1000, part);
});

it('removes the secret of an answer to an app from a logged address', () => {
  assert.equal(redactUrl('/oauth/authorize/id?answer=abc'), '/oauth/authorize/id?answer=[redacted]');
});
