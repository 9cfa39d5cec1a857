import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { choices, noOptions, optionFieldNames, readOptions } from '../src/pages/webhooks/options.ts';
import type { Schema } from '../src/schema.ts';

const api = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
const { properties } = api.paths['/api/v1/webhooks/endpoints'].post.requestBody.content['application/json'].schema as {
  properties: Record<string, Schema>;
};
const filters = properties['filters']?.anyOf?.[0]?.properties ?? {};

/** Fields that the form has besides the options. */
const OTHERS = ['webhookUrl', 'events', 'secret', 'destination', 'credentials'];
const SETTINGS = ['sessionIds', 'description', 'enabled', 'paused', 'ordering', 'maxInFlight'];

it('has a field for every option of the API, with the same choices', () => {
  const names = [...Object.keys(properties), ...Object.keys(filters).map((name) => `filters.${name}`)];
  assert.deepEqual([...OTHERS, ...SETTINGS, ...optionFieldNames].sort(), names.sort());
  assert.deepEqual(choices.chatTypes, filters['chatTypes']?.items?.enum);
  assert.deepEqual(choices.messageTypes, filters['messageTypes']?.items?.enum);
  assert.deepEqual(choices.include, properties['include']?.anyOf?.[0]?.items?.enum);
});

it('reads only options that were changed, and null for those that were emptied', () => {
  const entered = { ...noOptions, chats: ' 49170* \n\n', headers: 'X-Team: a: b\nX-Empty', retries: 'none' } as const;
  assert.deepEqual(readOptions(entered, {}), {});
  assert.deepEqual(readOptions(entered, { chats: '', headers: '', retries: 'none', timeoutMs: '' }), {
    filters: { chats: ['49170*'] },
    headers: { 'X-Team': 'a: b', 'X-Empty': '' },
    retrySeconds: [],
    timeoutMs: null,
  });
  assert.deepEqual(readOptions(noOptions, { chats: '' }), { filters: null });
  const ads = { ...noOptions, hasReferral: 'true', adIds: '1\n 2' };
  assert.deepEqual(readOptions(ads, { adIds: '' }), { filters: { hasReferral: true, adIds: ['1', '2'] } });
});

it('sends retry times that are not numbers as they were entered', () => {
  const entered = { ...noOptions, retries: 'own', retrySeconds: '5, 1m, Infinity' } as const;
  const { retrySeconds } = readOptions(entered, { retrySeconds: '' });
  assert.deepEqual(retrySeconds, [5, '1m', 'Infinity']);
});
