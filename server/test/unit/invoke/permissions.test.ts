import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { allows, covers, hidesContent, isGrant, notGrantable, permissions } from '../../../src/auth/permissions.ts';
import { messageContent } from '../../../src/events/fields.ts';
import { denialOf } from '../../../src/invoke/operation.ts';
import { projector } from '../../../src/invoke/project.ts';
import { operations } from '../../../src/operations/index.ts';

const CONTENT_RESOURCES = ['messages', 'chats', 'events', 'webhooks'] as const;

/** Fields whose entire object is content, because its fields depend on the event type. */
const SHOW_EVENTS = ['events.list', 'webhooks.get_delivery'];

describe('permissions', () => {
  it('to read imply those to read metadata, and not the reverse', () => {
    for (const resource of CONTENT_RESOURCES) {
      assert.ok(isGrant(`${resource}:metadata`));
      for (const grants of [
        ['*'],
        [`${resource}:*`],
        [`${resource}:read`],
        [`${resource}:read`, `${resource}:metadata`],
      ])
        assert.equal(hidesContent(grants, resource), false, grants.join());
      assert.ok(hidesContent([`${resource}:metadata`], resource));
      assert.deepEqual(notGrantable([`${resource}:metadata`], [`${resource}:read`, `${resource}:*`]), [
        `${resource}:read`,
        `${resource}:*`,
      ]);
    }
    assert.ok(allows(['webhooks:write'], 'webhooks:operate'));
    assert.equal(allows(['webhooks:operate'], 'webhooks:write'), false);
  });

  it('permit by their old names what they permitted before there were finer ones', () => {
    const contacts = [
      'business_profile',
      'catalog',
      'check',
      'collections',
      'get',
      'list',
      'look_up',
      'presence',
      'profile',
    ];
    assert.deepEqual(
      operationsOf(['contacts:read']),
      contacts.map((id) => `contacts.${id}`),
    );
    assert.deepEqual(operationsOf(['groups:read']), [
      ...['channels.get', 'channels.list', 'channels.preview', 'communities.list', 'communities.list_groups'],
      ...['groups.get', 'groups.get_invite_link', 'groups.list', 'groups.list_join_requests', 'groups.preview_invite'],
    ]);
    assert.ok(!operationsOf(['groups:write']).includes('groups.get_invite_link'));
    const sends = operationsOf(['messages:send']);
    for (const id of ['send', 'react', 'edit', 'delete', 'cancel', 'forward'])
      assert.ok(sends.includes(`messages.${id}`), id);
  });

  it('permit one action by a finer name', () => {
    assert.deepEqual(operationsOf(['messages:edit']), ['messages.edit']);
    assert.deepEqual(operationsOf(['messages:delete']), ['messages.delete', 'status.delete']);
    assert.deepEqual(operationsOf(['messages:approve']), ['messages.approve', 'messages.reject']);
    assert.ok(!operationsOf(['messages:send']).includes('messages.approve'));
    assert.deepEqual(operationsOf(['contacts:check']), ['contacts.check', 'contacts.look_up']);
    assert.deepEqual(operationsOf(['groups:invite']), ['groups.get_invite_link']);
    assert.deepEqual(notGrantable(['messages:send'], ['messages:delete', 'messages:edit', 'messages:read']), [
      'messages:read',
    ]);
    assert.deepEqual(notGrantable(['messages:delete'], ['messages:send']), ['messages:send']);
  });

  it('to read everything are those to read each resource, and no others', () => {
    const reads = permissions.filter((permission) => permission.endsWith(':read'));
    assert.deepEqual(operationsOf(['*:read']), operationsOf(reads));
    for (const permission of permissions)
      assert.equal(allows(['*:read'], permission), allows(reads, permission), permission);
    for (const resource of CONTENT_RESOURCES) assert.equal(hidesContent(['*:read'], resource), false);
    assert.deepEqual(notGrantable(['*:read'], ['*:read', ...reads]), []);
    const greater = ['*', 'messages:*', 'messages:send', 'sessions:write'];
    assert.deepEqual(notGrantable(['*:read'], greater), greater);
    assert.deepEqual(notGrantable(reads, ['*:read']), ['*:read'], 'resources that are added later');
    assert.ok(isGrant('*:read'));
    for (const text of ['*:write', '*:*', 'read:*', '*:read:all']) assert.equal(isGrant(text), false, text);
  });

  it('cover what they include in turn, so that nobody can pass on more than they have', () => {
    const grants = ['*', '*:read', ...permissions, ...permissions.map((one) => one.replace(/:.*/, ':*'))];
    for (const grant of grants)
      for (const covered of grants.filter((one) => covers(grant, one)))
        for (const wanted of grants.filter((one) => covers(covered, one)))
          assert.ok(covers(grant, wanted), `${grant} covers ${covered}, which covers ${wanted}`);
  });

  it('hide content in every schema that has it', () => {
    const showing = operations.filter(({ output }) => hasContent(output)).map(({ id }) => id);
    const hiding = operations.filter((operation) => operation.messageContent !== undefined).map(({ id }) => id);
    assert.deepEqual(hiding.toSorted(), [...new Set([...showing, ...SHOW_EVENTS])].toSorted());
    for (const { id, output } of operations) assert.doesNotThrow(() => projector(output, { hidesContent: true }), id);
  });
});

/** The operations that a key with these permissions may call, without those that every key may call. */
function operationsOf(grants: readonly string[]): string[] {
  const caller = { accountId: 'acc', credential: { type: 'api_key', keyId: 'key', permissions: grants } } as const;
  const permitted = operations.filter(
    (operation) => operation.permission !== null && denialOf(operation, caller) === undefined,
  );
  return permitted.map(({ id }) => id).toSorted();
}

function hasContent(schema: TSchema): boolean {
  if (Object.hasOwn(schema, Object.keys(messageContent)[0] ?? '')) return true;
  return Object.values(schema).some((part) => typeof part === 'object' && part !== null && hasContent(part));
}
