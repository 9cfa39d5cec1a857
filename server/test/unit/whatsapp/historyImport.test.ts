import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { deflateSync } from 'node:zlib';
import * as baileys from 'baileys';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { HistoryImport } from '../../../src/connectors/whatsapp/history/historyImport.ts';
import type { HistoryNotifications } from '../../../src/connectors/whatsapp/inbound/historyNotifications.ts';
import type { Addresses } from '../../../src/connectors/whatsapp/people/addresses.ts';
import type { Groups } from '../../../src/connectors/whatsapp/people/groups.ts';
import type { Session } from '../../../src/connectors/whatsapp/session.ts';
import { eventually } from '../../support/eventually.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

type History = Extract<NetworkEvent, { type: 'history' }>;

interface Host {
  /** Stores a part of the history; it may fail. */
  readonly store?: (event: History) => Promise<void>;
  readonly digitsOf?: (jid: string) => Promise<string>;
  /** The state that the last connection left. */
  readonly left?: { readonly state: string; readonly progress: number };
}

const { HistorySync, Message } = baileys.proto;
const { RECENT } = HistorySync.HistorySyncType;

/** A part with one message for each of the ids, in a chat with each of the numbers. */
function partOf(key: string, number: string, ids: readonly string[], progress: number) {
  const remoteJid = `${number}@s.whatsapp.net`;
  const messages = ids.map((id) => ({
    message: { key: { id, remoteJid, fromMe: false }, messageTimestamp: 1_700_000_000, message: { conversation: id } },
  }));
  const sync = HistorySync.encode({ syncType: RECENT, conversations: [{ id: remoteJid, messages }] }).finish();
  const initialHistBootstrapInlinePayload = deflateSync(sync);
  const given = { syncType: RECENT, progress, initialHistBootstrapInlinePayload };
  return { key, place: 0, notification: Message.HistorySyncNotification.encode(given).finish() };
}

/** An import whose session has only what an import needs. */
function begin(test: TestContext, { store = async () => {}, digitsOf, left }: Host = {}) {
  const clock = createFakeClock();
  const stored = new Map(left && [['history-state', JSON.stringify(left)]]);
  const events: NetworkEvent[] = [];
  const errors: string[] = [];
  const link = Object.assign(new EventEmitter(), { socket: {} });
  const notifications = Object.assign(new EventEmitter(), { left: async () => [] });
  const session = {
    baileys,
    clock,
    creds: {},
    link,
    self: { phoneNumber: '15550000000', is: () => false, addresses: {} },
    store: {
      get: async (key: string) => stored.get(key),
      set: async (key: string, value: string) => void stored.set(key, value),
      delete: async (key: string) => void stored.delete(key),
    },
    host: {
      options: {},
      clock,
      log: { warn() {}, error: (_: object, text: string) => void errors.push(text) },
      async onEvent(event: NetworkEvent) {
        if (event.type === 'history') await store(event);
        events.push(event);
      },
    },
  };
  const addresses = { digitsOf: digitsOf ?? (async (jid: string) => jid.split('@')[0] ?? '') };
  const work = new HistoryImport(
    session as unknown as Session,
    notifications as unknown as HistoryNotifications,
    addresses as unknown as Addresses,
    { whenRead: async () => {} } as unknown as Groups,
  );
  test.after(() => work.stop());
  const ids = () =>
    events.flatMap((event) => (event.type === 'history' ? event.messages.map(({ networkId }) => networkId) : []));
  const state = () => events.findLast((event) => event.type === 'history_progress');
  return {
    work,
    link,
    errors,
    ids,
    state,
    notify: (part: ReturnType<typeof partOf>) => void notifications.emit('notified', part),
    /** Lets the time pass until the condition holds. */
    pass: (holds: () => boolean) => eventually(() => clock.advance(30_000).then(holds), Boolean),
  };
}

describe('the import of a history', () => {
  it('is complete if the phone sends nothing', async (test) => {
    const { link, state, pass } = begin(test);
    link.emit('open');
    await pass(() => state()?.state === 'waiting');
    await pass(() => state()?.state === 'complete');
    assert.deepEqual([state()?.progress, state()?.error], [100, undefined]);
  });

  it('is reported again by the next connection, and ends there', async (test) => {
    const { work, state, pass } = begin(test, { left: { state: 'importing', progress: 40 } });
    await work.start();
    await pass(() => state() !== undefined);
    assert.deepEqual(state(), { type: 'history_progress', state: 'importing', progress: 40 });
    await pass(() => state()?.state === 'complete');
  });

  it('goes on with the next part if one fails again and again, and says so', async (test) => {
    let attempts = 0;
    const { notify, ids, state, pass } = begin(test, {
      async digitsOf(jid) {
        const [digits = ''] = jid.split('@');
        if (digits === '15551111111' && ++attempts > 0) throw new Error('the store fails');
        return digits;
      },
    });
    notify(partOf('1', '15551111111', ['A'], 50));
    notify(partOf('2', '15552222222', ['B'], 100));
    await pass(() => state()?.state === 'failed');
    assert.equal(state()?.error, 'A part of the history could not be fetched or stored');
    assert.deepEqual([ids(), attempts], [['B'], 8]);
  });

  it('imports a part that failed at first', async (test) => {
    let attempts = 0;
    const { notify, ids, state, pass } = begin(test, {
      async digitsOf(jid) {
        if (++attempts < 3) throw new Error('the store fails');
        return jid.split('@')[0] ?? '';
      },
    });
    notify(partOf('1', '15551111111', ['A'], 100));
    await pass(() => state()?.state === 'complete');
    assert.deepEqual([ids(), attempts], [['A'], 3]);
  });

  it('skips an entry that cannot be stored', async (test) => {
    const { notify, ids, state, pass, errors } = begin(test, {
      async store({ messages }) {
        if (messages.some(({ networkId }) => networkId === 'BAD')) throw new Error('not storable');
      },
    });
    notify(partOf('1', '15551111111', ['A', 'BAD', 'C'], 100));
    await pass(() => state()?.state === 'complete');
    assert.deepEqual(ids(), ['A', 'C']);
    assert.deepEqual(errors, ['failed to store an entry of the history']);
  });

  it('skips nothing while nothing can be stored', async (test) => {
    let calls = 0;
    const { notify, ids, state, pass, errors } = begin(test, {
      async store() {
        if (++calls < 40) throw new Error('the database is down');
      },
    });
    notify(partOf('1', '15551111111', ['A', 'B'], 100));
    await pass(() => state()?.state === 'complete');
    assert.deepEqual([ids(), errors], [['A', 'B'], []]);
  });

  it('has two parts in memory at a time, of all sessions', async (test) => {
    const gate = Promise.withResolvers<void>();
    const entered: number[] = [];
    const sessions = [0, 1, 2].map((n) =>
      begin(test, {
        async store() {
          entered.push(n);
          await gate.promise;
        },
      }),
    );
    for (const { notify } of sessions) notify(partOf('1', '15551111111', ['A'], 100));
    // Any two of them come first.
    await eventually(
      async () => sessions.map(({ state }) => state()?.state),
      (states) => entered.length === 2 && states.every((state) => state === 'importing'),
    );
    gate.resolve();
    for (const { state, pass } of sessions) await pass(() => state()?.state === 'complete');
    assert.deepEqual(entered.toSorted(), [0, 1, 2]);
  });
});
