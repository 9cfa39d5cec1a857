import assert from 'node:assert/strict';
import { it } from 'node:test';
import { changeTime } from '../../../src/connectors/whatsapp/inbound/changeTime.ts';

const RECEIVED_AT = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const reaction = (senderTimestampMs: number) => ({ reactionMessage: { text: '👍', senderTimestampMs } });
const edit = (timestampMs: number) => ({ protocolMessage: { timestampMs } });
const vote = (senderTimestampMs: number) => ({ pollUpdateMessage: { senderTimestampMs } });

it("is the server's time, regardless of the phone's clock", () => {
  for (const offset of [-600_000, 0, 600_000])
    assert.equal(changeTime(reaction(RECEIVED_AT + offset), { receivedAt: RECEIVED_AT }), RECEIVED_AT);
});

it("is the server's time of the first stanza for a change that is sent again", () => {
  const arrival = { receivedAt: RECEIVED_AT, isResent: true };
  const firstReceivedAt = RECEIVED_AT - 60_000;
  assert.equal(changeTime(edit(RECEIVED_AT - 1000), { ...arrival, firstReceivedAt }), firstReceivedAt);
  assert.equal(changeTime(edit(1), { ...arrival, firstReceivedAt: RECEIVED_AT + 1000 }), RECEIVED_AT);
});

it("is the phone's time for a change that is sent again if its first stanza is unknown, within a day", () => {
  const arrival = { receivedAt: RECEIVED_AT, isResent: true };
  const stated = RECEIVED_AT - 60_000;
  for (const change of [reaction(stated), edit(stated), vote(stated)])
    assert.equal(changeTime(change, arrival), stated);
  for (const wrong of [RECEIVED_AT + 1000, RECEIVED_AT - 2 * DAY_MS, 0])
    assert.equal(changeTime(reaction(wrong), arrival), RECEIVED_AT);
});
