import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { proto } from 'baileys';
import * as baileys from 'baileys';
import fc from 'fast-check';
import { INTERNAL_KINDS, WRAPPER_KINDS } from '../../../../src/connectors/whatsapp/content/kinds.ts';
import { fieldsOf, kindNames, UNREADABLE } from '../../../../src/connectors/whatsapp/content/wireKinds.ts';
import { toHistoryMessage } from '../../../../src/connectors/whatsapp/history/historyMessages.ts';
import { readParts } from '../../../../src/connectors/whatsapp/history/historyParts.ts';
import type { HistoryNotifications } from '../../../../src/connectors/whatsapp/inbound/historyNotifications.ts';
import { Journal, type Received } from '../../../../src/connectors/whatsapp/inbound/journal.ts';
import { MessageReader } from '../../../../src/connectors/whatsapp/inbound/messageReader.ts';
import type { Addresses } from '../../../../src/connectors/whatsapp/people/addresses.ts';
import type { Groups } from '../../../../src/connectors/whatsapp/people/groups.ts';
import type { MemberAddresses } from '../../../../src/connectors/whatsapp/people/memberAddresses.ts';
import type { Session } from '../../../../src/connectors/whatsapp/session.ts';

const { HistorySync, Message } = baileys.proto;
const ADA = '4915112345678@s.whatsapp.net';
const seed = Number(process.env['FUZZ_SEED'] ?? 371_224);

/** Removes the padding of a test message, which has none. */
const unpadRandomMax16 = (bytes: Uint8Array) => bytes;

/** Copied once, because a copy of its exports takes a millisecond. */
const client = {
  ...baileys,
  unpadRandomMax16,
  encodeWAMessage: (message: proto.IMessage) => Message.encode(message).finish(),
};

function prepare(plaintext: Uint8Array = new Uint8Array()) {
  const stored = new Map<string, string>();
  const signal = { decryptMessage: async () => plaintext, decryptGroupMessage: async () => plaintext };
  const session = {
    baileys: Object.assign(Object.create(client), {
      DEFAULT_CONNECTION_CONFIG: { makeSignalRepository: () => signal },
    }),
    self: { phoneNumber: '15550000000', is: () => false, addresses: { id: '15550000000@s.whatsapp.net', lid: '' } },
    store: {
      get: async (key: string) => stored.get(key),
      set: async (key: string, value: string) => void stored.set(key, value),
    },
    host: { options: {}, clock: { now: () => 1_700_000_000_000 }, log: { warn() {} }, onEvent: async () => {} },
  } as unknown as Session;
  const digitsOf = async (jid: string) => jid.split('@')[0] ?? '';
  const chatOf = async (jid: string) => ({ type: 'direct' as const, id: await digitsOf(jid) });
  const reader = new MessageReader({
    session,
    addresses: { digitsOf, chatOf } as unknown as Addresses,
    groups: { know: async () => {} } as unknown as Groups,
    members: { noteMessage: async () => {} } as unknown as MemberAddresses,
  });
  const journal = new Journal(session, { intercept: () => undefined } as unknown as HistoryNotifications);
  return { session, reader, journal };
}

/** Decrypts a stanza with one part for each ciphertext, and returns what was received and what Baileys gets. */
async function receive(plaintext: Uint8Array, part: 'only' | 'first' = 'only') {
  const { journal, reader } = prepare(plaintext);
  const received: Received[] = [];
  journal.on('received', (one) => received.push(one));
  const keys = { transaction: (work: () => unknown) => work(), set: async () => {} };
  type Arguments = Parameters<Journal['makeSignalRepository']>;
  const repository = journal.makeSignalRepository(...([{ keys }, undefined, undefined] as unknown as Arguments));
  const ciphertext = new Uint8Array([1]);
  const parts = part === 'only' ? [ciphertext] : [ciphertext, new Uint8Array([2])];
  const content = parts.map((one) => ({ tag: 'enc', attrs: {}, content: one }));
  journal.expect({ tag: 'message', attrs: { id: 'A1', from: ADA, t: '1700000000' }, content });
  const passedOn = await repository.decryptMessage({ jid: ADA, type: 'msg', ciphertext });
  const [first] = received;
  return { passedOn, event: first && (await reader.read(first, { withFile: true })).event };
}

const kinds = kindNames(Message);
const leaves = kinds.filter((kind) => !INTERNAL_KINDS.has(kind) && !WRAPPER_KINDS.has(kind));
const numberOf = (kind: string) =>
  fieldsOf(Message.encode({ [kind]: kind === 'conversation' ? '' : {} }).finish())[0]?.field ?? 0;

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}
/** A field with a length. */
const field = (number: number, payload: Uint8Array) =>
  Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(payload.length)]), payload]);

/** Fields of all types, with numbers that known parts use as well. */
const payload = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom(0, 1, 2, 5), fc.uint8Array({ maxLength: 12 })), {
    maxLength: 5,
  })
  .map((parts) =>
    Buffer.concat(
      parts.map(([number, wire, bytes]) => {
        if (wire === 2) return field(number, bytes);
        const value = wire === 0 ? varint(bytes.length) : Buffer.alloc(wire === 1 ? 8 : 4, bytes[0] ?? 0);
        return Buffer.from([...varint(number * 8 + wire), ...value]);
      }),
    ),
  );
const content = fc.oneof(payload, fc.uint8Array({ maxLength: 40 }));
const wrapper = fc.constantFrom(...[...WRAPPER_KINDS].map(numberOf));

/** A message of a kind that people send, known or not, with any content, in any number of wrappers. */
const written = fc
  .tuple(fc.oneof(fc.constantFrom(...leaves.map(numberOf)), fc.integer({ min: 400, max: 4000 })), content)
  .chain(([number, bytes]) =>
    fc
      .array(wrapper, { maxLength: 10 })
      .map((around) => around.reduce((inner, one) => field(one, field(1, inner)), field(number, bytes))),
  );

describe('a WhatsApp message of an unknown shape', () => {
  it('is stored if somebody wrote it', async () => {
    await fc.assert(
      fc.asyncProperty(written, async (bytes) => {
        const { event } = await receive(bytes);
        assert.equal(event?.type, 'message', bytes.toString('hex'));
        assert.equal(event.networkId, 'A1');
        assert.ok(event.content.type !== 'unsupported' || event.content.rawType);
      }),
      { seed, numRuns: 1500 },
    );
  });

  it('does not stop the receiver, regardless of its bytes', async () => {
    const known = fc
      .tuple(fc.constantFrom(...kinds.map(numberOf)), content)
      .map(([number, bytes]) => field(number, bytes));
    await fc.assert(
      fc.asyncProperty(fc.oneof(known, fc.uint8Array({ maxLength: 60 })), async (bytes) => {
        await receive(bytes);
      }),
      { seed, numRuns: 1500 },
    );
  });

  it('is stored with the field number, or with the name of its wrapper', async () => {
    const cases: [bytes: Uint8Array, rawType: string][] = [
      [field(900, Buffer.from('x')), 'field 900'],
      [field(numberOf('ephemeralMessage'), field(1, field(900, Buffer.from('x')))), 'field 900'],
      [field(numberOf('deviceSentMessage'), field(2, field(900, Buffer.from('x')))), 'field 900'],
      [Buffer.concat([Message.encode({ messageContextInfo: {} }).finish(), field(900, Buffer.from('x'))]), 'field 900'],
      [Message.encode({ ephemeralMessage: {} }).finish(), 'ephemeralMessage'],
      [Message.encode({ viewOnceMessage: { message: {} } }).finish(), 'viewOnceMessage'],
      [Message.encode({ messageContextInfo: {} }).finish(), 'unknown'],
      [Message.encode({ placeholderMessage: {} }).finish(), 'placeholderMessage'],
      [new Uint8Array([10, 200]), UNREADABLE],
    ];
    for (const [bytes, rawType] of cases) {
      const { event } = await receive(bytes);
      assert.ok(event?.type === 'message', rawType);
      assert.equal(event.content.rawType, rawType);
    }
  });

  it('is not requested again from the sender when it cannot be decoded', async () => {
    const { passedOn } = await receive(new Uint8Array([10, 200]));
    assert.deepEqual(Message.decode(passedOn), Message.create());
  });

  it('does not replace the content when it is a part before it', async () => {
    const key = Message.encode({ senderKeyDistributionMessage: {} }).finish();
    for (const bytes of [Buffer.concat([key, field(900, Buffer.from('x'))]), new Uint8Array([10, 200])])
      assert.equal((await receive(bytes, 'first')).event, undefined);
  });

  it('does not change the text of an edited message', async () => {
    const { MESSAGE_EDIT } = Message.ProtocolMessage.Type;
    const protocolMessage = { type: MESSAGE_EDIT, key: { id: 'B' }, editedMessage: { stickerPackMessage: {} } };
    assert.equal((await receive(Message.encode({ protocolMessage }).finish())).event, undefined);
  });
});

describe('the history of a WhatsApp chat', () => {
  const messageOf = (id: string, message: Uint8Array) =>
    Buffer.concat([
      field(1, baileys.proto.MessageKey.encode({ id, remoteJid: ADA, fromMe: false }).finish()),
      field(2, message),
      Buffer.from([24, ...varint(1_700_000_000)]),
    ]);

  /** Returns the types of the messages by their ids. */
  async function read(messages: readonly [id: string, message: Uint8Array][]) {
    const { session } = prepare();
    const entries = messages.map(([id, message]) => field(2, field(1, messageOf(id, message))));
    const conversation = Buffer.concat([field(1, Buffer.from(ADA)), ...entries]);
    const part = Buffer.concat([Buffer.from([8, HistorySync.HistorySyncType.RECENT]), field(2, conversation)]);
    const found = new Map<string, string>();
    for await (const entry of readParts(baileys, deflateSync(part), true)) {
      if (entry.kind !== 'message') continue;
      const chat = { type: 'direct' as const, id: '4915112345678' };
      const message = await toHistoryMessage(session, chat, entry.info, async (jid) => jid);
      if (message) found.set(message.networkId, message.content.type);
    }
    return found;
  }

  it('keeps messages of any shape, and the others of their part', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 5 }), async (messages) => {
        const hello = Message.encode({ conversation: 'hello' }).finish();
        const found = await read([...messages, hello].map((bytes, index) => [`M${index}`, bytes]));
        assert.equal(found.size, messages.length + 1);
        assert.equal(found.get(`M${messages.length}`), 'text');
      }),
      { seed, numRuns: 500 },
    );
  });

  it('leaves out what nobody wrote', async () => {
    const internal = [...INTERNAL_KINDS].filter((kind) => kind !== 'messageContextInfo');
    const bytes = internal.map((kind): [string, Uint8Array] => [kind, Message.encode({ [kind]: {} }).finish()]);
    assert.deepEqual(await read(bytes), new Map());
  });
});
