import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import type { BinaryNode } from 'baileys';
import { createLog } from '../../support/fakeWhatsapp/log.ts';
import { childOf } from '../../support/fakeWhatsapp/stanza.ts';
import { type Answer, eventOf } from '../../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from '../support.ts';

const setting = useWhatsapp();

describe('messages of a WhatsApp session that go out again on the next connection', () => {
  const stanzas = createLog<BinaryNode>('message stanzas', ({ attrs }) => JSON.stringify(attrs));
  before(() => setting.whatsapp.watchMessages((_, stanza) => stanzas.add(stanza)));
  let number: string;
  let bob: string;
  let sessionId: string;
  let received: Answer['body'];
  // A session waits longer after each lost connection, so that one session cannot serve all tests.
  beforeEach(async () => {
    const { whatsapp, call } = setting;
    const [me, other] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
    [number, bob] = [me.number, other.number];
    sessionId = await linkSession(call, me);
    const networkId = await other.send(number, {
      pollCreationMessageV3: { name: 'Tea?', options: [{ optionName: 'Yes' }, { optionName: 'No' }] },
      messageContextInfo: { messageSecret: Buffer.alloc(32, 5) },
    });
    received = await eventOf(call, 'message.incoming', (data) => data.networkId === networkId);
  });

  /** Loses the acknowledgement of the first attempt. @returns what both attempts show the server */
  async function repeated(act: () => Promise<Answer>): Promise<object> {
    const { faults } = setting.whatsapp;
    faults.withholdAcks(number);
    const from = stanzas.all.length;
    const answer = act();
    const isNew = (stanza: BinaryNode) => stanzas.all.indexOf(stanza) >= from;
    const first = await stanzas.waitFor(isNew, 60_000);
    faults.drop(number);
    faults.releaseAcks(number);
    const isAgain = (stanza: BinaryNode) => stanza !== first && stanza.attrs['id'] === first.attrs['id'];
    const second = await stanzas.waitFor(isAgain, 60_000);
    const { status, body } = await answer;
    assert.ok(status < 300, JSON.stringify(body));
    assert.deepEqual(shown(second), shown(first));
    return shown(second);
  }

  const shown = (stanza: BinaryNode) => ({
    type: stanza.attrs['type'],
    edit: stanza.attrs['edit'],
    meta: childOf(stanza, 'meta')?.attrs,
  });

  const send = (path: string, body: object) =>
    setting.call('POST', `/messages/${path}`, { sessionId, to: bob, ...body });

  it('keep the type of an edit, a deletion and a pin', async () => {
    const { messageId } = (await send('send', { message: 'Helo' })).body;
    const edit = await repeated(() => setting.call('PATCH', `/messages/${messageId}`, { message: 'Hello' }));
    assert.deepEqual(edit, { type: 'text', edit: '1', meta: undefined });
    const pin = await repeated(() => setting.call('POST', `/messages/${messageId}/pin`));
    assert.deepEqual(pin, { type: 'text', edit: '2', meta: undefined });
    const deletion = await repeated(() => setting.call('DELETE', `/messages/${messageId}`));
    assert.deepEqual(deletion, { type: 'text', edit: '7', meta: undefined });
  });

  it('keep the type of a poll, a vote and an event', async () => {
    const poll = await repeated(() => send('send-poll', { question: 'Tea?', options: ['Yes', 'No'] }));
    assert.deepEqual(poll, { type: 'poll', edit: undefined, meta: { polltype: 'creation' } });
    const vote = await repeated(() =>
      setting.call('POST', `/messages/${received.messageId}/vote`, { options: ['Yes'] }),
    );
    assert.deepEqual(vote, { type: 'poll', edit: undefined, meta: { polltype: 'vote' } });
    const event = await repeated(() => send('send-event', { name: 'Lunch', startsAt: '2030-07-01T12:00:00Z' }));
    assert.deepEqual(event, { type: 'event', edit: undefined, meta: { event_type: 'creation' } });
  });
});
