import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { getPrompt, listPrompts } from '../../src/http/mcp/prompts.ts';
import { operations } from '../../src/operations/index.ts';

const toolNames = operations.filter(({ tool }) => tool).map(({ id }) => id.replaceAll('.', '_'));
const tools = new Set(toolNames);

const textOf = (name: string, values?: Record<string, string>) => {
  const [message] = getPrompt(tools, name, values).messages;
  return message?.content.type === 'text' ? message.content.text : '';
};

describe('prompts', () => {
  let names: string[];
  before(() => {
    names = listPrompts(tools).map(({ name }) => name);
  });

  it('name only tools that exist', () => {
    for (const name of names) {
      const text = textOf(name, { url: 'https://example.com', chat: 'Anna', phoneNumber: '491701234567' });
      const named = text.match(/\b(sessions|messages|chats|contacts|webhooks)_[a-z_]+/g) ?? [];
      assert.ok(named.length > 1, name);
      for (const tool of named) assert.ok(tools.has(tool), `${name}: ${tool}`);
    }
  });

  it('list their arguments as the protocol defines them', () => {
    for (const prompt of listPrompts(tools))
      for (const argument of prompt.arguments ?? [])
        assert.deepEqual(
          Object.keys(argument).filter((key) => !['name', 'description', 'required'].includes(key)),
          [],
        );
  });

  it('are still found by their former name and arguments', () => {
    assert.ok(!names.includes('summarise_chat'));
    const former = textOf('summarise_chat', { chatId: '491701234567', sessionId: 'ses_1' });
    assert.equal(former, textOf('summarize_chat', { chat: '491701234567', session: 'ses_1' }));
    assert.match(former, /chat 491701234567 of the session ses_1/);
    assert.throws(() => textOf('summarise_chat'), /summarize_chat requires the argument chat/);
  });

  it('turn what a person knows about a missing webhook into filters', () => {
    const text = textOf('explain_missing_webhook', { chat: 'Anna', time: 'yesterday at 3 pm' });
    assert.match(text, /the webhook for the chat with Anna \(yesterday at 3 pm\) did not arrive/);
    assert.match(text, /webhooks_list_deliveries \(phoneNumber of a person.*; after and before/);
    assert.match(textOf('explain_missing_webhook', { messageId: 'msg_1' }), /\(messageId msg_1\)/);
    assert.match(textOf('explain_missing_webhook'), /\(state failed, expired or pending\)/);
  });

  it('connect a phone by QR code, or by pairing code if its number is given', () => {
    assert.match(textOf('connect_phone', { session: 'support' }), /to the session support.*sessions_get_qr/s);
    const byCode = textOf('connect_phone', { network: 'whatsapp', phoneNumber: '491701234567' });
    assert.match(byCode, /on the network whatsapp.*sessions_request_pairing_code for 491701234567/s);
  });
});
