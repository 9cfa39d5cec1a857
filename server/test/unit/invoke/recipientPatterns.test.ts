import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRecipient, readRecipientPatterns } from '../../../src/auth/recipientPatterns.ts';

describe('patterns of recipients', () => {
  const patterns = readRecipientPatterns(['491701234567', '4930*', 'grp_1']);

  it('match a number or a group as a whole, and a number by its first digits', () => {
    for (const recipient of ['491701234567', '4930', '493012345678', 'grp_1'])
      assert.ok(isRecipient(patterns, recipient), recipient);
  });

  it('match nothing else', () => {
    for (const recipient of ['49170123456', '4917012345678', '493', '', '14930', 'grp_', 'grp_12', '4931'])
      assert.equal(isRecipient(patterns, recipient), false, recipient);
    assert.equal(isRecipient(readRecipientPatterns([]), '491701234567'), false);
  });
});
