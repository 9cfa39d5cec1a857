import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { allows, hidesContent, isGrant, notGrantable } from '../../src/auth/permissions.ts';
import { messageContent } from '../../src/events/parts.ts';
import { projector } from '../../src/invoke/project.ts';
import { operations } from '../../src/operations/index.ts';

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

  it('hide content in every schema that has it', () => {
    const showing = operations.filter(({ output }) => hasContent(output)).map(({ id }) => id);
    const hiding = operations.filter((operation) => operation.messageContent !== undefined).map(({ id }) => id);
    assert.deepEqual(hiding.toSorted(), [...new Set([...showing, ...SHOW_EVENTS])].toSorted());
    for (const { id, output } of operations) assert.doesNotThrow(() => projector(output, { hidesContent: true }), id);
  });
});

function hasContent(schema: TSchema): boolean {
  if (Object.hasOwn(schema, Object.keys(messageContent)[0] ?? '')) return true;
  return Object.values(schema).some((part) => typeof part === 'object' && part !== null && hasContent(part));
}
