import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MAX_SEND_MS } from '../../../src/cluster/forward.ts';
import { FILE_MS } from '../../../src/connectors/contract/connector.ts';

it('the server waits for a file and 30 s for the answer of its network', () => {
  assert.ok(MAX_SEND_MS >= FILE_MS + 30_000);
});
