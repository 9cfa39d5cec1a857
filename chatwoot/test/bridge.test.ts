import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newNumber } from '../../server/test/support/server.ts';
import { openScene } from './scene.ts';

describe('the bridge to Chatwoot', () => {
  it('brings a message of a contact into a conversation, and the answer to the contact', async (test) => {
    const { chatwoot, simulate, incoming, conversation, sent, inboxId } = await openScene(test);
    const from = newNumber();
    const question = await incoming(from, 'Is *this* available?', { senderName: 'Ada' });
    assert.equal(question.content, 'Is **this** available?');
    assert.equal(question.message_type, 'incoming');
    const [contact] = [...chatwoot.contacts.values()];
    assert.equal(contact?.name, 'Ada');
    assert.equal(contact?.phone_number, `+${from}`);
    assert.equal(conversation(from).inbox_id, inboxId);

    const answer = await chatwoot.write(conversation(from).id, 'Yes, **today**', {
      content_attributes: { in_reply_to: question.id },
    });
    await chatwoot.until(() => chatwoot.webhooks.some(({ payload }) => payload['id'] === answer.id), 'no webhook');
    const arrived = await until(sent, (all) => all.length === 1);
    assert.equal(arrived[0].message, 'Yes, *today*');
    assert.equal(arrived[0].chatId, from);
    assert.equal(`switchboard:${arrived[0].replyTo}`, question.source_id);

    await simulate({ action: 'receipt', messageId: arrived[0].messageId, status: 'delivered' });
    await chatwoot.until(() => answer.status === 'delivered', 'not delivered');
    await simulate({ action: 'receipt', messageId: arrived[0].messageId, status: 'read' });
    await chatwoot.until(() => answer.status === 'read', 'not read');
    assert.equal(chatwoot.messages.size, 2, 'an echo came back');
  });
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function until(read: () => Promise<any[]>, fits: (all: any[]) => boolean): Promise<any[]> {
  for (;;) {
    const all = await read();
    if (fits(all)) return all;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
