import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Principal } from '../../src/http/mcp/mount.ts';
import { getPrompt, listPrompts } from '../../src/http/mcp/prompts.ts';
import { Tools } from '../../src/http/mcp/tools.ts';
import { operations } from '../../src/operations/index.ts';

const toolNames = operations.filter(({ tool }) => tool).map(({ id }) => id.replaceAll('.', '_'));
const tools = new Set(toolNames);

const textOf = (name: string, values?: Record<string, string>) => {
  const [message] = getPrompt(tools, name, values).messages;
  return message?.content.type === 'text' ? message.content.text : '';
};

const anybody = {
  caller: { credential: { type: 'api_key', permissions: ['*'] } },
  selection: { toolsets: undefined, isReadOnly: false },
} as unknown as Principal;

const fieldsOf = (output: object): object => (output as { properties?: object }).properties ?? {};

describe('prompts', () => {
  let names: string[];
  before(() => {
    names = listPrompts(tools).map(({ name }) => name);
  });

  it('name only tools that exist', () => {
    for (const name of names) {
      const text = textOf(name, { url: 'https://example.com', chat: 'Anna', phoneNumber: '491701234567' });
      const named = text.match(/\b(sessions|messages|chats|contacts|groups|webhooks)_[a-z_]+/g) ?? [];
      assert.ok(named.length > 1, name);
      for (const tool of named) assert.ok(tools.has(tool), `${name}: ${tool}`);
    }
  });

  it('name only fields that their tools show', () => {
    const shown = new Tools(operations, async () => assert.fail(), { addTo: async () => assert.fail() }).list(anybody);
    const inputsOf = (tool: string) =>
      Object.keys(shown.find(({ name }) => name === tool)?.inputSchema.properties ?? {});
    const outputs = new Set(
      operations.filter(({ tool }) => tool).flatMap(({ output }) => Object.keys(fieldsOf(output))),
    );
    const filters: Record<string, string>[] = [{}, { chat: 'Anna', time: 'yesterday' }, { messageId: 'msg_1' }];
    let inputs = 0;
    for (const name of names)
      for (const values of filters) {
        const required = { url: 'https://example.com', ...(name === 'summarize_chat' && { chat: 'Anna' }) };
        const text = textOf(name, { ...required, phoneNumber: '491701234567', ...values });
        const rest = text.replace(/\b([a-z]+_[a-z_]+) \(([^)]*)\)/g, (_, tool: string, fields: string) => {
          for (const [field] of fields.matchAll(/\b[a-z]+[A-Z]\w+|\b\w+(?=:)/g)) {
            inputs++;
            assert.ok(inputsOf(tool).includes(field), `${name}: ${tool} ${field}`);
          }
          return '';
        });
        for (const [field] of rest.matchAll(/\b[a-z]+[A-Z][A-Za-z]+/g))
          assert.ok(outputs.has(field), `${name}: ${field}`);
      }
    assert.ok(inputs > 5);
  });

  it('ask before they replace a secret', () => {
    assert.match(textOf('set_up_webhook', { url: 'https://example.com' }), /If hasSecret is true for this URL, ask/);
  });

  it('list their arguments as the protocol defines them', () => {
    for (const prompt of listPrompts(tools))
      for (const argument of prompt.arguments ?? [])
        assert.deepEqual(
          Object.keys(argument).filter((key) => !['name', 'description', 'required'].includes(key)),
          [],
        );
  });

  it('contain their arguments, of which some are required', () => {
    const text = textOf('summarize_chat', { chat: '491701234567', session: 'ses_1' });
    assert.match(text, /chat 491701234567 of the session ses_1/);
    assert.throws(() => textOf('summarize_chat'), /summarize_chat requires the argument chat/);
  });

  it('turn what a person knows about a missing webhook into filters', () => {
    const text = textOf('explain_missing_webhook', { chat: 'Anna', time: 'yesterday at 3 pm' });
    assert.match(text, /the webhook for the chat with Anna \(yesterday at 3 pm\) did not arrive/);
    assert.match(text, /webhooks_list_deliveries \(chatId: .*; afterTime and beforeTime/);
    assert.match(textOf('explain_missing_webhook', { messageId: 'msg_1' }), /\(messageId: msg_1\)/);
    assert.match(textOf('explain_missing_webhook'), /\(states: failed, expired and pending\)/);
  });

  it('connect a phone by QR code, or by pairing code if its number is given', () => {
    assert.match(textOf('connect_phone', { session: 'support' }), /to the session support.*sessions_get_qr/s);
    const byCode = textOf('connect_phone', { network: 'whatsapp', phoneNumber: '491701234567' });
    assert.match(byCode, /on the network whatsapp.*sessions_request_pairing_code for 491701234567/s);
  });
});
