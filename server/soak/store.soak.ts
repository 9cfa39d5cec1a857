import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type App, createApp } from '../src/app.ts';
import { readSettings } from '../src/config.ts';
import type { AttemptRequest } from '../src/webhooks/delivery/attempt.ts';
import type { Outcome } from '../src/webhooks/queue/outcome.ts';
import { eventually } from '../test/support/eventually.ts';
import { createFakeClock, type FakeClock } from '../test/support/fakeClock.ts';
import { type Answer, bearer, startServer } from '../test/support/server.ts';
import { LONGEST_DELAY_MS, StoreFaults } from './faultyStore.ts';
import { type Arrival, type Call, checkHistory, findLost } from './history.ts';
import { EVENTS, Load } from './load.ts';
import { randomFrom } from './settings.ts';

/*
 * One node on SQLite, in this process, whose store fails by a seed. Its time is virtual, so that a run of minutes takes
 * about a second, and the receiver is a function. `STORE_SEED` selects one seed and repeats it, because requests still
 * take real time and overlap in another way in each run. `STORE_SEEDS` sets the number of runs.
 */

const ONE = process.env['STORE_SEED'] || undefined;
const RUNS = Number(process.env['STORE_SEEDS'] ?? 30);
const FIRST = Number(ONE ?? process.env['SOAK_SEED'] ?? Date.now() % 1_000_000);
const SHOWN = 10;
/** Failed seeds after which the others are not tried. */
const MOST_FAILED = 3;

const MESSAGES = 4;
const STEP_MS = 20;
const LARGE_STEP_MS = 500;
/** Of virtual time after the last fault. */
const SETTLED_WITHIN_MS = 15 * 60_000;
/** Of real time for one seed. */
const STUCK_AFTER_MS = 60_000;
/** Between two requests with the same idempotency key. */
const REPEAT_MS = 150;
const REPEATED = new Set(['idempotency_in_flight', 'session_not_connected']);
const RECEIVER = 'http://127.0.0.1:9/hook';

const expectations = {
  // The contacts outside read every message. The session inside may not have it yet when it reads the chat.
  eventsOf: (conversation: string) => [
    ...Load.eventsOf(conversation),
    ...(conversation.startsWith('inside') ? [] : ['message.read']),
  ],
  acknowledgedWithinMs: 5 * 60_000,
  deliveredWithinMs: SETTLED_WITHIN_MS,
};

interface Template {
  readonly folder: string;
  readonly token: string;
  readonly sessions: readonly Session[];
}

interface Session {
  readonly sessionId: string;
  readonly phoneNumber: string;
}

type Body = Answer['body'];

/** Creates an account with two connected sessions and a webhook, once for all seeds. */
async function prepare(): Promise<Template> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-soak-store-'));
  const home = { dataDir: folder, databaseUrl: '', remove: async () => {} };
  const server = await startServer({ home });
  const { call, token } = await server.account();
  await call('POST', '/webhooks/set', {
    webhookUrl: RECEIVER,
    events: [...EVENTS, 'message.read'],
    secret: 'a soak secret 16',
  });
  const sessions = [];
  for (const phoneNumber of ['491700000001', '491700000002']) {
    const { sessionId } = (await call('POST', '/sessions', { phoneNumber })).body;
    const { body } = await call('POST', `/sessions/${sessionId}/connect`);
    assert.equal(body.status, 'connected');
    sessions.push({ sessionId, phoneNumber });
  }
  await server.stop();
  return { folder, token, sessions };
}

interface Attempted {
  readonly request: AttemptRequest;
  readonly isAccepted: boolean;
  readonly at: number;
}

/** A server whose store and receiver fail by a seed, and the calls and deliveries that it has had. */
class Run {
  readonly faults: StoreFaults;
  readonly clock: FakeClock = createFakeClock(Date.now());
  readonly calls: Call[] = [];
  readonly unexpected: string[] = [];
  readonly #random: () => number;
  readonly #template: Template;
  readonly #attempts: Attempted[] = [];
  readonly #folder: string;
  #app: App | undefined;
  #url = '';

  constructor(seed: number, template: Template, folder: string) {
    this.#random = randomFrom(seed);
    this.#template = template;
    this.#folder = folder;
    this.faults = new StoreFaults(seed, this.clock);
  }

  async start(): Promise<void> {
    const settings = readSettings({
      PORT: '0',
      LOG_LEVEL: 'silent',
      RATE_LIMIT: '0',
      DATA_DIR: this.#folder,
      WEBHOOK_RETRY_SECONDS: '1,2,5,10,20,40,60',
      BREAKER_OPEN_SECONDS: '5',
    });
    const app = await createApp(settings, { clock: this.clock, random: this.#random, wrapStore: this.faults.wrap });
    app.services.deliver.attempt = (request) => this.#receive(request);
    this.#app = app;
    this.#url = await app.start();
  }

  async stop(): Promise<void> {
    const stopped = this.#app?.stop();
    await this.#pass(LARGE_STEP_MS, stopped ?? Promise.resolve());
  }

  /** Sends in three conversations while the store fails, then waits until everything has arrived. */
  async work(): Promise<void> {
    const [first, second] = this.#template.sessions;
    assert.ok(first !== undefined && second !== undefined);
    this.faults.isActive = true;
    const conversations = [
      this.#converse(first, second.phoneNumber, () => this.#readChat(second.sessionId, first.phoneNumber)),
      this.#converse(first, '493090000000'),
      this.#converse(second, '493090000001'),
    ];
    await this.#pass(STEP_MS, Promise.all(conversations));
    await this.#pass(STEP_MS, this.#wait(2000));
    this.faults.isActive = false;
    // Otherwise a delayed transaction would keep the lock while time stands still, and the node would not become ready.
    await this.#pass(STEP_MS, this.#wait(LONGEST_DELAY_MS));
    const givesUpAt = this.clock.elapsed() + SETTLED_WITHIN_MS;
    const isLacking = async () =>
      findLost(await this.#history(), expectations).length > 0 || (await this.#count('pending')) > 0;
    while ((await isLacking()) && this.clock.elapsed() < givesUpAt) await this.#pass(LARGE_STEP_MS, this.#wait(5000));
  }

  async violations(): Promise<string[]> {
    const found = checkHistory(await this.#history(), expectations).map(({ kind, what }) => `${kind}: ${what}`);
    const [pending, failed] = [await this.#count('pending'), await this.#count('failed')];
    // It also reports a machine on which a transaction takes two seconds.
    const ready = () => fetch(`${this.#url}/ready`).then(({ status }) => status);
    const isReady = await eventually(ready, (status) => status === 200).then(Boolean, () => false);
    return [
      ...this.unexpected,
      ...found,
      ...(pending > 0 ? [`stuck: ${pending} deliveries are still pending`] : []),
      ...(failed > 0 ? [`lost: ${failed} deliveries were given up`] : []),
      ...(isReady ? [] : ['not ready']),
    ];
  }

  /** Lets virtual time pass until the work is done. */
  async #pass(stepMs: number, work: Promise<unknown>): Promise<void> {
    const stuckAt = performance.now() + STUCK_AFTER_MS;
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    while (!isDone) {
      if (performance.now() > stuckAt) throw new Error('stuck: nothing has happened for a minute');
      await this.clock.advance(stepMs);
      await delay(0);
    }
    await done;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve));
  }

  /** @param read marks the messages as read; by default, the recipient is outside and reads each */
  async #converse({ sessionId }: Session, to: string, read?: () => Promise<unknown>): Promise<void> {
    const conversation = `${read === undefined ? 'outside' : 'inside'} ${sessionId} ${to}`;
    for (let n = 0; n < MESSAGES; n++) {
      const text = `${conversation} ${n}`;
      const askedAt = this.clock.now();
      const sent = await this.#insist('/messages/send', { sessionId, to, message: text }, text);
      const messageId: string | undefined = sent?.messageId;
      const acknowledgement = messageId === undefined ? undefined : { messageId, at: this.clock.now() };
      this.calls.push({ conversation, text, askedAt, acknowledgement });
      if (read !== undefined) await read();
      else await this.#insist(`/sessions/${sessionId}/simulate`, { action: 'receipt', messageId, status: 'read' });
      await this.#wait(this.#random() * 300);
    }
  }

  /** The chat may be unknown yet. */
  async #readChat(sessionId: string, chatId: string): Promise<void> {
    await this.#insist(`/chats/${chatId}/read`, { sessionId }, undefined, ['not_found']);
  }

  async #insist(path: string, body: object, key?: string, expected: readonly string[] = []): Promise<Body | undefined> {
    for (;;) {
      const answer = await this.#call('POST', path, body, key === undefined ? {} : { 'idempotency-key': key });
      if (answer.status < 300) return answer.body;
      if (expected.includes(answer.body.code)) return undefined;
      if (answer.status !== 503 && !REPEATED.has(answer.body.code)) {
        this.unexpected.push(`unexpected: ${answer.status} ${JSON.stringify(answer.body)}`);
        return undefined;
      }
      await this.#wait(REPEAT_MS);
    }
  }

  #call(method: 'GET' | 'POST', path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    return bearer(this.#url, this.#template.token)(method, path, body, headers);
  }

  /** The receiver. While the store fails, it also refuses some deliveries, or its answer is lost. */
  async #receive(request: AttemptRequest): Promise<Outcome> {
    await this.#wait(this.#random() * 20);
    const chance = this.faults.isActive ? this.#random() : 1;
    this.#attempts.push({ request, isAccepted: chance >= 0.08, at: this.clock.now() });
    const shared = { durationMs: 1, message: '', response: null, retryAfterMs: null };
    if (chance < 0.08) return { ...shared, class: 'server_error', status: 503 };
    if (chance < 0.12) return { ...shared, class: 'reset', status: null };
    return { ...shared, class: 'ok', status: 200 };
  }

  async #count(state: 'pending' | 'failed'): Promise<number> {
    const { body } = await this.#call('GET', `/webhooks/deliveries?states=${state}`);
    return body.data.length;
  }

  async #history() {
    const texts = new Map(this.calls.map(({ acknowledgement, text }) => [acknowledgement?.messageId ?? '', text]));
    const arrivals: Arrival[] = [];
    for (const { request, isAccepted, at } of this.#attempts) {
      const { headers, body } = request;
      const { messageId, message } = JSON.parse(body).data;
      const event = headers['x-webhook-event'] ?? '';
      if (event !== 'message.incoming' && !texts.has(messageId))
        texts.set(messageId, (await this.#call('GET', `/messages/${messageId}`)).body.message);
      const text = event === 'message.incoming' ? message : texts.get(messageId);
      const [eventId, attempt] = [headers['x-webhook-id'] ?? '', Number(headers['x-webhook-attempt'])];
      arrivals.push({ eventId, event, messageId, text, attempt, isAccepted, at });
    }
    return { calls: this.calls, arrivals };
  }
}

describe('a node whose store fails', () => {
  let template: Template;
  before(async () => {
    template = await prepare();
  });
  after(() => rm(template.folder, { recursive: true, force: true }));

  it('loses, duplicates and reorders nothing, and delivers everything once the store works', async (test) => {
    const failed: string[] = [];
    let faults = 0;
    for (let run = 0; run < RUNS && failed.length < MOST_FAILED; run++) {
      const seed = ONE === undefined ? FIRST + run : FIRST;
      const { violations, log } = await trySeed(seed, template);
      faults += log.length;
      if (violations.length === 0) continue;
      const shown = [...violations.slice(0, SHOWN), `faults: ${log.join(' ')}`];
      test.diagnostic(`failed: STORE_SEED=${seed}`);
      failed.push(`STORE_SEED=${seed}\n  ${shown.join('\n  ')}`);
    }
    test.diagnostic(`${RUNS} runs from STORE_SEED=${FIRST}, ${faults} faults`);
    assert.deepEqual(failed, [], failed.join('\n'));
  });
});

async function trySeed(seed: number, template: Template) {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-soak-store-'));
  await cp(template.folder, folder, { recursive: true });
  const run = new Run(seed, template, folder);
  const violations: string[] = [];
  try {
    await run.start();
    await run.work();
    violations.push(...(await run.violations()));
  } catch (error) {
    violations.push(String(error instanceof Error ? error.stack : error));
  } finally {
    run.faults.isActive = false;
    await run.stop().catch((error) => violations.push(`stop: ${error}`));
    await rm(folder, { recursive: true, force: true });
  }
  return { violations, log: run.faults.log };
}
