import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expandGrants, permits, withPermission } from '../src/model/grants.ts';

describe('permissions of a key', () => {
  it('expand a wildcard when one permission is removed', () => {
    assert.deepEqual(withPermission(['messages:*', 'chats:read'], 'messages:send', false), [
      'messages:read',
      'messages:approve',
      'chats:read',
    ]);
    assert.deepEqual(withPermission([], 'events:read', true), ['events:read']);
    assert.ok(permits(['messages:*'], 'messages:send'));
    assert.equal(permits(['messages:*'], 'media:read'), false);
  });

  it('expand the permission to read everything', () => {
    const reads = expandGrants(['*:read']);
    assert.ok(reads.length > 5);
    assert.deepEqual(
      reads.filter((permission) => !permission.endsWith(':read')),
      [],
    );
    assert.deepEqual(withPermission(['messages:edit'], 'messages:send', true), ['messages:send']);
  });

  it('drop permissions that another one implies', () => {
    assert.ok(permits(['messages:read'], 'messages:metadata'));
    assert.equal(permits(['messages:metadata'], 'messages:read'), false);
    assert.equal(permits(['messages:send'], 'messages:metadata'), false);
    assert.deepEqual(withPermission(['messages:metadata'], 'messages:read', true), ['messages:read']);
    assert.deepEqual(withPermission(['webhooks:*'], 'webhooks:write', false), ['webhooks:read']);
    assert.deepEqual(expandGrants(['messages:*', 'chats:metadata']), [
      'messages:read',
      'messages:send',
      'messages:approve',
      'chats:metadata',
    ]);
  });
});
