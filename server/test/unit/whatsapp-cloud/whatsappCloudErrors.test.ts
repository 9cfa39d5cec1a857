import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toAppError, verdictOf } from '../../../src/connectors/whatsapp-cloud/errors.ts';
import { GraphError } from '../../../src/connectors/whatsapp-cloud/graph.ts';

const error = (code: number, status = 400, retryAfterSeconds?: number) =>
  new GraphError('in words', { code, status, retryAfterSeconds });

it('an error of the Cloud API is classified by its code, or by its status if the code is unknown', () => {
  const cases: [code: number, status: number, verdict: string][] = [
    [190, 401, 'session'],
    [0, 401, 'session'],
    [0, 400, 'refused'],
    [0, 502, 'retry'],
    [131031, 400, 'session'],
    [10, 403, 'permission'],
    [131005, 403, 'permission'],
    [200, 403, 'permission'],
    [299, 403, 'permission'],
    [300, 403, 'refused'],
    [131047, 400, 'window'],
    [131026, 400, 'nobody'],
    [131056, 400, 'pair'],
    [130429, 429, 'retry'],
    [131049, 500, 'refused'],
    [987654, 400, 'refused'],
    [987654, 429, 'retry'],
    [132001, 404, 'noTemplate'],
    [132015, 400, 'badTemplate'],
    [132000, 400, 'values'],
    [132999, 400, 'refused'],
  ];
  for (const [code, status, verdict] of cases)
    assert.equal(verdictOf(error(code, status)), verdict, `${code} ${status}`);
});

it('callers get it as an API error with Retry-After', () => {
  const translated = (code: number, status?: number, retryAfter?: number) => {
    const { code: name, retryAfterSeconds, message } = toAppError(error(code, status, retryAfter));
    assert.match(message, code === 0 ? /in words$/ : new RegExp(`in words \\(${code}\\)$`));
    return [name, retryAfterSeconds];
  };
  assert.deepEqual(translated(130429, 429, 60), ['rate_limited', 60]);
  assert.deepEqual(translated(80007), ['rate_limited', 30]);
  assert.deepEqual(translated(131056), ['rate_limited', 6]);
  assert.deepEqual(translated(131016, 503), ['send_failed', undefined]);
  assert.deepEqual(translated(0, 502), ['send_failed', undefined]);
  assert.deepEqual(translated(131047), ['template_required', undefined]);
  assert.deepEqual(translated(131026), ['recipient_not_on_network', undefined]);
  assert.deepEqual(translated(132016), ['network_denied', undefined]);
  assert.deepEqual(translated(132012), ['validation_failed', undefined]);
  assert.deepEqual(translated(132001, 404), ['not_found', undefined]);
  assert.deepEqual(translated(10, 403), ['network_denied', undefined]);
  assert.deepEqual(translated(190, 401), ['session_not_connected', undefined]);
});
