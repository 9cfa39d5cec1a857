import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HistoryMessage, RemoteFile } from '../../../src/connectors/contract/history.ts';
import { historyWithinLimits } from '../../../src/messages/history/historyLimits.ts';

const message = (given: Partial<HistoryMessage> = {}): HistoryMessage => ({
  networkId: 'h1',
  chat: { type: 'direct', id: '15551234567' },
  from: '15551234567',
  content: { type: 'document', text: 'text' },
  timestamp: 1,
  replyTo: null,
  ...given,
});

const file = (given: Partial<RemoteFile> = {}): RemoteFile => ({
  mimeType: 'application/pdf',
  size: 10,
  fileName: 'a.pdf',
  reference: 'reference',
  ...given,
});

describe('the limits of the history', () => {
  it('leave usual messages as they are', () => {
    const usual = [message({ replyTo: 'h0', file: file() }), message({ networkId: 'x'.repeat(300) })];
    assert.deepEqual(historyWithinLimits(usual), usual);
  });

  it('leave out messages with long ids, and replies to such ids', () => {
    const long = 'x'.repeat(301);
    const given = [message({ networkId: long }), message({ replyTo: long, file: file() })];
    assert.deepEqual(historyWithinLimits(given), [message({ file: file() })]);
  });

  it('clean what the sender says about a file', () => {
    const [found] = historyWithinLimits([
      message({ file: file({ fileName: '../photo\u202egpj.exe', mimeType: 'x'.repeat(5000), size: 2 ** 60 }) }),
    ]);
    assert.deepEqual(found?.file, file({ fileName: 'photogpj.exe', mimeType: 'x'.repeat(100), size: 0 }));
    for (const size of [-1, Number.NaN, 1.5])
      assert.equal(historyWithinLimits([message({ file: file({ size }) })])[0]?.file?.size, 0);
  });

  it('keep a message without a file whose reference is too long', () => {
    const given = message({ file: file({ reference: 'x'.repeat(16 * 1024 + 1) }) });
    assert.deepEqual(historyWithinLimits([given]), [message()]);
  });
});
