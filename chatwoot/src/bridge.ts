import { createClient } from '@switchboard/sdk';
import type { KnownEvent, WebhookEvent } from '@switchboard/sdk/webhooks';
import { Chatwoot } from './chatwoot/client.ts';
import type { ChatwootEvent, ChatwootMessage } from './chatwoot/payload.ts';
import { ConfigError, type Settings } from './config.ts';
import { type Database, openDatabase } from './database/database.ts';
import { Locks } from './locks.ts';
import type { Log } from './log.ts';
import { isForContact, laneOf, type Parts, SOURCE_PREFIX } from './parts.ts';
import { type NewJob, Queue } from './queue/queue.ts';
import { Worker } from './queue/worker.ts';
import { type Acceptance, Receiver } from './receiver.ts';
import { type InboxRow, State } from './state.ts';
import { handleToChatwoot } from './toChatwoot/handler.ts';
import { digestOf } from './toWhatsapp/digest.ts';
import { handleToWhatsapp, type WhatsappJob } from './toWhatsapp/handler.ts';
import { Typing } from './typing.ts';

export interface BridgeOptions {
  /** Delay before the second attempt of a job in milliseconds. */
  readonly firstRetryMs?: number;
}

const DAY_MS = 24 * 3_600_000;
/** Finished jobs recognize repetitions: Switchboard retries for up to three days. */
const JOBS_MS = 7 * DAY_MS;
const ECHOES_MS = 7 * DAY_MS;
/** Replies to older messages and their receipts no longer find them. */
const LINKS_MS = 365 * DAY_MS;
/** An agent's message that the bridge never saw is sent when the agent tries it again within this time. */
const UNSEEN_MS = DAY_MS;

/** Connects sessions and inboxes: receives from both sides, stores, and sends to the other side. */
export class Bridge {
  readonly #parts: Parts;
  readonly #database: Database;
  readonly #receiver: Receiver;
  readonly #workers: readonly Worker[];
  readonly #typing: Typing;
  #cleaning: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | undefined;
  /** Sessions whose refused events were logged. */
  readonly #refused = new Set<string>();
  /** Resolves if the database is lost. */
  readonly lost: Promise<Error>;

  private constructor(database: Database, parts: Parts, workers: (parts: Parts) => readonly Worker[]) {
    this.#database = database;
    this.#parts = parts;
    this.#workers = workers(parts);
    this.#typing = new Typing(parts);
    this.lost = database.lost;
    const { host, port } = parts.settings;
    this.#receiver = new Receiver({
      host,
      port,
      state: parts.state,
      log: parts.log,
      onSwitchboardEvent: (inbox, eventId, event) => this.#takeEvent(inbox, eventId, event),
      onChatwootEvent: (inbox, event) => this.#takeWebhook(inbox, event),
      health: () => this.#health(),
    });
  }

  /** Opens the database. @throws {DatabaseError} */
  static async open(settings: Settings, log: Log, { firstRetryMs }: BridgeOptions = {}): Promise<Bridge> {
    const database = await openDatabase(settings.database);
    const running: Worker[] = [];
    const toChatwoot = new Queue(database, 'to_chatwoot', settings.maxQueue, () => running[0]?.wake());
    const toWhatsapp = new Queue(database, 'to_whatsapp', settings.maxQueue, () => running[1]?.wake());
    await Promise.all([toChatwoot.open(), toWhatsapp.open()]);
    const { switchboardUrl: baseUrl, switchboardKey: credential } = settings;
    const parts: Parts = {
      settings,
      log,
      toChatwoot,
      toWhatsapp,
      locks: new Locks(),
      state: new State(database),
      chatwoot: new Chatwoot(settings),
      switchboard: createClient({ baseUrl, credential, retries: 0, headers: { 'user-agent': 'switchboard-chatwoot' } }),
      inboxes: new Map(settings.inboxes.map((inbox) => [inbox.sessionId, inbox])),
    };
    return new Bridge(database, parts, () => {
      const common = { log, ...(firstRetryMs !== undefined && { firstRetryMs }) };
      running.push(
        new Worker({ ...common, queue: toChatwoot, handle: (job) => handleToChatwoot(parts, job) }),
        new Worker({ ...common, queue: toWhatsapp, handle: (job) => handleToWhatsapp(parts, job) }),
      );
      return running;
    });
  }

  /** @returns the port. @throws {ConfigError} if an inbox was not set up */
  async start(): Promise<number> {
    const { settings, state, log } = this.#parts;
    const sessions = new Map<number, string>();
    for (const { sessionId } of settings.inboxes) {
      const inbox = await state.inbox(sessionId);
      if (inbox === undefined)
        throw new ConfigError(`The inbox of ${sessionId} is not set up. Run \`switchboard chatwoot init\`.`);
      const other = sessions.get(inbox.inboxId);
      if (other !== undefined)
        throw new ConfigError(
          `${other} and ${sessionId} share inbox ${inbox.inboxId}. Run \`switchboard chatwoot init\` to separate them.`,
        );
      sessions.set(inbox.inboxId, sessionId);
    }
    const port = await this.#receiver.start();
    for (const worker of this.#workers) worker.start();
    this.#cleaning = setInterval(() => this.#clean(), 3_600_000).unref();
    log('info', 'bridge started', { host: settings.host, port, inboxes: settings.inboxes.length });
    return port;
  }

  /** Finishes the jobs that run. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= (async () => {
      clearInterval(this.#cleaning);
      await this.#receiver.stop();
      await Promise.all([...this.#workers.map((worker) => worker.stop()), this.#typing.stop()]);
      await this.#database.close();
    })();
    return this.#stopping;
  }

  async #takeEvent({ sessionId }: InboxRow, eventId: string, event: WebhookEvent): Promise<Acceptance> {
    if (event.event === 'unknown' || event.data.test) return 'accepted';
    if (!this.#parts.inboxes.has(sessionId)) return this.#refuse(sessionId);
    if (event.event === 'presence.updated') {
      this.#typing.ofContact(sessionId, event.data);
      return 'accepted';
    }
    const job: NewJob = {
      dedup: `event:${eventId}`,
      lane: laneOf(sessionId, chatIdOf(event)),
      payload: { kind: 'event', sessionId, eventId, event },
    };
    return (await this.#parts.toChatwoot.add(job)) === 'full' ? 'full' : 'accepted';
  }

  /** Switchboard keeps the events that are refused, so that they arrive if the session returns to the settings. */
  #refuse(sessionId: string): Acceptance {
    if (!this.#refused.has(sessionId)) {
      this.#refused.add(sessionId);
      this.#parts.log('error', 'refused events because their session is not in `inboxes`; run init', { sessionId });
    }
    return 'unconfigured';
  }

  async #takeWebhook({ sessionId }: InboxRow, event: ChatwootEvent): Promise<Acceptance> {
    if (!('content' in event)) {
      if (this.#parts.inboxes.has(sessionId)) this.#typing.ofAgent(sessionId, event);
      return 'accepted';
    }
    const change = await this.#changeOf(event);
    if (change === undefined) return 'accepted';
    const payload: WhatsappJob = { sessionId, message: event, retry: change.retry ?? 0 };
    const job = { dedup: change.dedup, lane: `${sessionId}:${event.conversation.id}`, payload };
    return (await this.#parts.toWhatsapp.add(job)) === 'full' ? 'full' : 'accepted';
  }

  /** The key of a message or of its change; undefined for what must not go to WhatsApp. */
  async #changeOf(message: ChatwootMessage): Promise<{ dedup: string; retry?: number } | undefined> {
    const { id, type, sourceId, isDeleted, externalError } = message;
    if (!isForContact(message)) return undefined;
    const isOwn = sourceId?.startsWith(SOURCE_PREFIX) ?? false;
    const created = { dedup: `created:${id}` };
    if (message.event === 'message_created') return isOwn ? undefined : created;
    // A message that was written on the phone can be deleted in Chatwoot.
    if (isDeleted) return { dedup: `deleted:${id}` };
    if (isOwn || type !== 'outgoing') return undefined;
    const { state, toWhatsapp } = this.#parts;
    if (externalError !== undefined) {
      await state.expectEcho(`reported:${id}`);
      return undefined;
    }
    // Chatwoot could not reach the bridge, and the agent has tried the message again.
    if (!(await toWhatsapp.has(created.dedup)) && (await state.linksOf(id)).length === 0)
      return Date.now() - message.createdAt < UNSEEN_MS ? created : undefined;
    const retry = await state.triesOf(id);
    return retry > 0
      ? { dedup: `retried:${id}:${retry}`, retry }
      : { dedup: `updated:${id}:${digestOf(message.content)}` };
  }

  #health(): object {
    const { toChatwoot, toWhatsapp } = this.#parts;
    const [ofChatwoot, ofWhatsapp] = this.#workers.map(({ delays }) => delays);
    const delayed = { ...(ofChatwoot && { toChatwoot: ofChatwoot }), ...(ofWhatsapp && { toWhatsapp: ofWhatsapp }) };
    const waiting = { toChatwoot: toChatwoot.waiting, toWhatsapp: toWhatsapp.waiting };
    const isDelayed = ofChatwoot !== undefined || ofWhatsapp !== undefined;
    return isDelayed ? { status: 'delayed', waiting, delayed } : { status: 'ok', waiting };
  }

  #clean(): void {
    const { state, toChatwoot, toWhatsapp, log } = this.#parts;
    const now = Date.now();
    Promise.all([
      toChatwoot.forget(now - JOBS_MS),
      toWhatsapp.forget(now - JOBS_MS),
      state.forget(now - ECHOES_MS, now - LINKS_MS),
    ]).catch((error) => log('error', 'failed to delete old rows; retrying', { error: String(error) }));
  }
}

/** The chat whose order an event belongs to. */
function chatIdOf(event: KnownEvent): string {
  const { chatId, previousPhoneNumber, phoneNumber, to }: Readonly<Record<string, unknown>> = { ...event.data };
  const id = chatId ?? previousPhoneNumber ?? phoneNumber ?? to;
  return typeof id === 'string' ? id : '';
}
