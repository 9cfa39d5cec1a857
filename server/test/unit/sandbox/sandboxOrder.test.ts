import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { AppError } from '../../../src/errors.ts';
import { Mailboxes } from '../../../src/sandbox/mailboxes.ts';
import { MailboxReader, type Phone, RETRY_MS } from '../../../src/sandbox/mailboxReader.ts';
import type { Envelope, Mail, SandboxStore } from '../../../src/sandbox/store.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const unavailable = () => new AppError('storage_unavailable');

/** Mailboxes in memory. A function in `lost` changes them, and its response is lost. */
class TestStore {
  readonly lost = new Set<'put' | 'remove'>();
  #mail: (Mail & { readonly sessionId: string })[] = [];
  #mailId = 0;

  claim = async (_: string, sessionId: string) => sessionId;
  newestMail = async () => 0;
  signedUp = async () => new Set(['recipient', 'absent']);
  mailOf = async (sessionId: string) => this.#mail.filter((mail) => mail.sessionId === sessionId);

  put = async (envelopes: readonly Envelope[]) => {
    const sessionIds = envelopes.flatMap((envelope) => {
      const { event, sender } = envelope;
      const isKnown = this.#mail.some((mail) => networkIdOf(mail.event) === networkIdOf(event));
      return event.type === 'message' && isKnown ? [] : this.#add(envelope.to, event, sender?.sessionId ?? null);
    });
    if (this.lost.delete('put')) throw unavailable();
    return sessionIds;
  };

  remove = async (delivered: readonly number[], dropped: readonly number[]) => {
    const removed = this.#mail.filter(({ mailId }) => [...delivered, ...dropped].includes(mailId));
    this.#mail = this.#mail.filter((mail) => !removed.includes(mail));
    for (const { mailId, event, receiptTo } of removed)
      if (delivered.includes(mailId) && receiptTo !== null) this.#add([receiptTo], receiptOf(event), null);
    if (this.lost.delete('remove')) throw unavailable();
  };

  #add(to: readonly string[], event: NetworkEvent, receiptTo: string | null): readonly string[] {
    for (const sessionId of to)
      this.#mail.push({ mailId: ++this.#mailId, sessionId, event, isEarly: false, receiptTo });
    return to;
  }
}

/** A phone that cannot store some events at the first attempt. */
class TestPhone implements Phone {
  readonly sessionId: string;
  readonly name = null;
  readonly stored: string[] = [];
  readonly failing = new Set<string>();

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  get address(): string {
    return this.sessionId;
  }

  get number(): string {
    return this.sessionId;
  }

  async receive({ event }: { event: NetworkEvent }): Promise<boolean> {
    for (const id of idsOf(event)) if (this.failing.delete(id)) throw unavailable();
    this.stored.push(...idsOf(event));
    return true;
  }
}

const networkIdOf = (event: NetworkEvent) => (event.type === 'message' ? event.networkId : undefined);
const idsOf = (event: NetworkEvent) =>
  event.type === 'receipt' ? event.networkIds : event.type === 'message' ? [event.networkId] : [];
const receiptOf = (event: NetworkEvent): NetworkEvent => ({
  type: 'receipt',
  networkIds: idsOf(event),
  status: 'delivered',
  timestamp: 0,
});

async function twoPhones() {
  const [store, clock] = [new TestStore(), createFakeClock()];
  const options = { clock, log: pino({ level: 'silent' }), wakeOwner: () => {} };
  // Only these functions are used.
  const mailboxes = new Mailboxes({ ...options, store: store as Partial<SandboxStore> as SandboxStore });
  const [sender, recipient] = [new TestPhone('sender'), new TestPhone('recipient')];
  const settle = async () => {
    for (let n = 0; n < 20; n++) await turn();
  };
  const connect = async (phone: Phone) => {
    await mailboxes.join(phone);
    mailboxes.catchUp(phone);
    await settle();
  };
  const send = async (networkId: string, ...to: readonly string[]) => {
    const [chat, content] = [{ type: 'direct', id: 'recipient' } as const, { type: 'text', text: 'hello' } as const];
    const event = { type: 'message', networkId, chat, from: 'sender', content, timestamp: 0, replyTo: null } as const;
    void mailboxes.deliver({ to: ['recipient', ...to], event, sender });
    await settle();
  };
  const pass = async () => {
    await clock.advance(RETRY_MS);
    await settle();
  };
  await connect(sender);
  const leave = async (phone: Phone) => {
    mailboxes.leave(phone);
    await settle();
  };
  return { store, sender, recipient, connect, send, pass, leave };
}

describe('sandbox phones whose store fails', () => {
  it('store messages in the order of sending when the first attempt of one fails', async () => {
    const { recipient, connect, send, pass } = await twoPhones();
    await connect(recipient);
    recipient.failing.add('1');
    for (const id of ['1', '2']) await send(id);
    await pass();
    assert.deepEqual(recipient.stored, ['1', '2']);
  });

  it('store receipts in the order of sending when the first attempt of one fails', async () => {
    const { sender, recipient, connect, send, pass } = await twoPhones();
    await connect(recipient);
    sender.failing.add('1');
    for (const id of ['1', '2']) await send(id);
    await pass();
    assert.deepEqual(sender.stored, ['1', '2']);
  });

  it('get an event later that they could not store before they left', async () => {
    const { sender, recipient, leave, connect, send } = await twoPhones();
    await connect(recipient);
    recipient.failing.add('1');
    await send('1');
    await leave(recipient);
    await send('2');
    await connect(recipient);
    assert.deepEqual(recipient.stored, ['1', '2']);
    assert.deepEqual(sender.stored, ['1', '2']);
  });

  it('get mail in order when the response to its storage is lost', async () => {
    const { store, recipient, connect, send, pass } = await twoPhones();
    await connect(recipient);
    store.lost.add('put');
    await send('1', 'absent');
    await pass();
    await send('2');
    assert.deepEqual(recipient.stored, ['1', '2']);
  });

  it('get receipts in order when the response to the removal of mail is lost', async () => {
    const { store, sender, recipient, connect, send, pass } = await twoPhones();
    await send('1');
    store.lost.add('remove');
    await connect(recipient);
    await pass();
    await send('2');
    assert.deepEqual(sender.stored, ['1', '2']);
  });
});

it('stores events of different chats together and receipts of a second as one', async () => {
  const steps: string[][] = [];
  let isNewStep = true;
  const phone = new TestPhone('phone');
  phone.receive = async ({ event }) => {
    if (isNewStep) steps.push([]);
    isNewStep = false;
    steps.at(-1)?.push(idsOf(event).join());
    await turn();
    isNewStep = true;
    return true;
  };
  const store: Partial<SandboxStore> = { mailOf: async () => [] };
  const parts = { announce: async () => {}, clock: createFakeClock(), log: pino({ level: 'silent' }) };
  // Only this function is used.
  const reader = new MailboxReader(phone, 0, { ...parts, store: store as SandboxStore });
  reader.start();
  await reader.caughtUp();
  const messageIn = (id: string, networkId: string): NetworkEvent => {
    const content = { type: 'text', text: 'hello' } as const;
    return { type: 'message', networkId, chat: { type: 'direct', id }, from: id, content, timestamp: 0, replyTo: null };
  };
  const receipt = (networkId: string, timestamp: number): NetworkEvent => {
    return { type: 'receipt', networkIds: [networkId], status: 'delivered', timestamp };
  };
  const events = [
    messageIn('a', 'a1'),
    messageIn('b', 'b1'),
    receipt('r1', 0),
    receipt('r2', 1000),
    messageIn('a', 'a2'),
    receipt('r3', 2500),
    receipt('r4', 9000),
  ];
  await Promise.all(events.map((event) => reader.take({ event }).outcome));
  await reader.stop();
  assert.deepEqual(steps, [['a1'], ['b1', 'r1,r2', 'a2'], ['r3'], ['r4']]);
});
