import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Type } from 'typebox';
import { defineOperation } from '../../../src/invoke/operation.ts';
import { type Services, servicesFor } from '../../../src/invoke/services.ts';
import { operations } from '../../../src/operations/index.ts';

it('an operation gets the common services and those that it declares', () => {
  const all = new Proxy({}, { get: (_, name) => name }) as Services;
  const common = ['settings', 'database', 'clock', 'steady', 'newId', 'log', 'sessions', 'liveSessions'];
  assert.deepEqual(Object.keys(servicesFor(all)), common);
  assert.deepEqual(Object.keys(servicesFor(all, ['media'])), [...common, 'media']);
});

it('no operation declares a service twice', () => {
  for (const { id, uses = [] } of operations) assert.equal(new Set(uses).size, uses.length, id);
});

it('the types refuse a handler that needs a service that is not declared', () => {
  const about = {
    permission: null,
    scope: 'account',
    effect: 'read',
    summary: 'Read',
    input: {},
    output: Type.Any(),
  } as const;
  // @ts-expect-error `media` is not in `uses`
  defineOperation({ ...about, id: 'a.read', route: 'GET /a', run: async ({ media }) => media });
  const run = async ({ media }: Pick<Services, 'media'>) => media;
  // @ts-expect-error `media` is not in `uses`
  defineOperation({ ...about, id: 'a.read', route: 'GET /a', run });
  assert.deepEqual(defineOperation({ ...about, id: 'a.read', route: 'GET /a', uses: ['media'], run }).uses, ['media']);
});
