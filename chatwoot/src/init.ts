import { randomBytes } from 'node:crypto';
import { type Client, createClient } from '@switchboard/sdk';
import { Chatwoot, type Inbox } from './chatwoot/client.ts';
import type { ChatwootEvent } from './chatwoot/payload.ts';
import { ConfigError, type InboxSettings, type Settings } from './config.ts';
import { openDatabase } from './database/database.ts';
import { type Log, messageOf } from './log.ts';
import { isForContact, SOURCE_PREFIX } from './parts.ts';
import { Receiver } from './receiver.ts';
import { type InboxRow, State } from './state.ts';

/** Event types that the bridge needs. */
const EVENTS = [
  'message.incoming',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.reaction',
  'message.edited',
  'message.deleted',
  'message.media',
  'contact.updated',
  'presence.updated',
];
/** The session in a webhook URL of an inbox. */
const CALLED_SESSION = /\/chatwoot\/(ses_\w+)\//;
/** Chatwoot delivers webhooks from a queue (app/jobs/webhook_job.rb). */
const WEBHOOK_MS = 30_000;

export interface InitOptions {
  readonly print: (line: string) => void;
  readonly log: Log;
  readonly webhookMs?: number;
}

/**
 * Creates the inbox and both webhooks of each session, or updates the existing ones, and tests them.
 * @throws {ConfigError} if a part does not work; the message explains what to change
 */
export async function init(settings: Settings, { print, log, webhookMs = WEBHOOK_MS }: InitOptions): Promise<void> {
  const database = await openDatabase(settings.database);
  const state = new State(database);
  const arrivals = new Arrivals();
  const receiver = new Receiver({
    host: settings.host,
    port: settings.port,
    state,
    log,
    // Nothing here stores events. Switchboard keeps those that are refused, and agents can try their messages again.
    onSwitchboardEvent: async (_, __, event) => (event.event !== 'unknown' && event.data.test ? 'accepted' : 'full'),
    onChatwootEvent: async ({ sessionId }, event) => {
      arrivals.add(sessionId);
      return isToSend(event) ? 'full' : 'accepted';
    },
    health: () => ({ status: 'setting up' }),
  });
  const switchboard = createClient({ baseUrl: settings.switchboardUrl, credential: settings.switchboardKey });
  const chatwoot = new Chatwoot(settings);
  try {
    await receiver.start();
    for (const inbox of settings.inboxes) {
      const row = await setUp({ settings, state, switchboard, chatwoot, print }, inbox);
      await testSwitchboard(switchboard, row, settings);
      print(`  Switchboard reaches the bridge at ${settings.urlForSwitchboard}.`);
      await testChatwoot(chatwoot, row, arrivals, settings, webhookMs);
      print(`  Chatwoot reaches the bridge at ${settings.url}.`);
    }
    await pauseOthers({ settings, state, switchboard, print });
  } finally {
    await receiver.stop();
    await database.close();
  }
}

interface SetUp {
  readonly settings: Settings;
  readonly state: State;
  readonly switchboard: Client;
  readonly chatwoot: Chatwoot;
  readonly print: (line: string) => void;
}

/**
 * Pauses webhooks whose session is no longer in the settings: the bridge would refuse their events. Switchboard
 * keeps these events for some days, and they arrive if the session returns.
 */
async function pauseOthers({ settings, state, switchboard, print }: Omit<SetUp, 'chatwoot'>): Promise<void> {
  const configured = new Set(settings.inboxes.map(({ sessionId }) => sessionId));
  const known = new Map((await state.inboxes()).map(({ webhookId, sessionId }) => [webhookId, sessionId]));
  const { endpoints } = switchboard.webhooks;
  const pause = async () => {
    for await (const { webhookId, webhookUrl, isDefault, paused } of endpoints.list.all()) {
      const [, base, sessionId] = /^(.*)\/switchboard\/(ses_\w+)$/.exec(webhookUrl ?? '') ?? [];
      if (isDefault || sessionId === undefined || configured.has(sessionId)) continue;
      if (base !== settings.urlForSwitchboard && known.get(webhookId) !== sessionId) continue;
      if (!paused) await endpoints.update({ webhookId, paused: true });
      print(
        `${sessionId} is not in \`inboxes\`: its webhook ${webhookId} is paused, and answers in its inbox fail. Add the session again, or delete the webhook.`,
      );
    }
  };
  await explained(pause(), 'Cannot pause a webhook whose session is not in `inboxes`');
}

async function setUp(
  { settings, state, switchboard, chatwoot, print }: SetUp,
  inbox: InboxSettings,
): Promise<InboxRow> {
  const { sessionId } = inbox;
  const session = await explained(switchboard.sessions.get({ sessionId }), `Cannot read ${sessionId} from Switchboard`);
  const known = await state.inbox(sessionId);
  const token = known?.token ?? randomBytes(24).toString('base64url');
  const webhookUrl = `${settings.url}/chatwoot/${sessionId}/${token}`;
  const created = await explained(
    inboxOf(chatwoot, inbox, await state.inboxes(), webhookUrl),
    'Cannot set up the inbox in Chatwoot. The token must belong to an administrator of the account',
  );
  print(`${session.name ?? sessionId}: inbox ${created.id} ("${created.name}")`);
  const secret = known?.webhookSecret ?? randomBytes(32).toString('base64url');
  const webhookId = await explained(
    ensureWebhook(switchboard, settings, sessionId, known?.webhookId, secret),
    'Cannot set up the webhook in Switchboard',
  );
  const row: InboxRow = {
    sessionId,
    inboxId: created.id,
    identifier: created.inbox_identifier ?? known?.identifier ?? '',
    token,
    chatwootSecret: created.secret || undefined,
    webhookId,
    webhookSecret: secret,
  };
  await state.saveInbox(row);
  if (row.chatwootSecret === undefined)
    print('  This version of Chatwoot does not sign webhooks. Their URL has a secret part; keep it private.');
  return row;
}

/** Uses the configured inbox, the one from an earlier run, or one with our URL, and otherwise creates one. */
async function inboxOf(
  chatwoot: Chatwoot,
  { inboxId, name, sessionId }: InboxSettings,
  rows: readonly InboxRow[],
  webhookUrl: string,
): Promise<Inbox> {
  const inboxes = await chatwoot.listInboxes();
  /** The other session that an inbox belongs to. Answers of its agents would leave from the wrong number. */
  const otherOf = ({ id, webhook_url }: Inbox) => {
    const called = CALLED_SESSION.exec(webhook_url ?? '')?.[1];
    if (called !== undefined) return called === sessionId ? undefined : called;
    return rows.find((row) => row.inboxId === id && row.sessionId !== sessionId)?.sessionId;
  };
  const wanted = inboxes.find(({ id }) => id === inboxId);
  if (inboxId !== undefined && wanted?.channel_type !== 'Channel::Api')
    throw new ConfigError(`Inbox ${inboxId} of Chatwoot does not exist or is not an API inbox`);
  const other = wanted && otherOf(wanted);
  if (other !== undefined)
    throw new ConfigError(`Inbox ${inboxId} belongs to the session ${other}; use another inbox for ${sessionId}`);
  const knownId = rows.find((row) => row.sessionId === sessionId)?.inboxId;
  const own = inboxes.filter((inbox) => otherOf(inbox) === undefined);
  const existing =
    wanted ??
    own.find(({ id }) => id === knownId) ??
    own.find(({ webhook_url }) => CALLED_SESSION.exec(webhook_url ?? '')?.[1] === sessionId);
  if (existing === undefined) return chatwoot.createInbox(name, webhookUrl);
  return existing.webhook_url === webhookUrl ? existing : chatwoot.updateInbox(existing.id, webhookUrl);
}

async function ensureWebhook(
  { webhooks }: Client,
  settings: Settings,
  sessionId: string,
  knownId: string | undefined,
  secret: string,
): Promise<string> {
  const fields = {
    webhookUrl: `${settings.urlForSwitchboard}/switchboard/${sessionId}`,
    events: EVENTS,
    secret,
    sessionIds: [sessionId],
    ordering: 'strict' as const,
    include: ['network' as const, 'contact' as const, 'chat' as const],
    description: 'Chatwoot',
  };
  for await (const { webhookId, webhookUrl, isDefault } of webhooks.endpoints.list.all()) {
    if (isDefault || (webhookId !== knownId && webhookUrl !== fields.webhookUrl)) continue;
    await webhooks.endpoints.update({ webhookId, ...fields, enabled: true, paused: false });
    return webhookId;
  }
  return (await webhooks.endpoints.create(fields)).webhookId;
}

async function testSwitchboard({ webhooks }: Client, { webhookId }: InboxRow, settings: Settings): Promise<void> {
  const test = await explained(webhooks.endpoints.test({ webhookId }), 'Cannot test the webhook of Switchboard');
  if (test.delivered) return;
  throw new ConfigError(
    `Switchboard cannot reach the bridge at ${settings.urlForSwitchboard}: ${test.message}. Set CHATWOOT_BRIDGE_URL_FOR_SWITCHBOARD, and for a private address WEBHOOK_ALLOWED_CIDRS of the server.`,
  );
}

/** A conversation with a private note makes Chatwoot call the webhook. Its contact is deleted afterwards. */
async function testChatwoot(
  chatwoot: Chatwoot,
  { inboxId, sessionId }: InboxRow,
  arrivals: Arrivals,
  settings: Settings,
  webhookMs: number,
): Promise<void> {
  const sourceId = `switchboard-test-${randomBytes(8).toString('hex')}`;
  const contact = await explained(
    chatwoot.createContact({ name: 'Switchboard test' }),
    'Cannot create a contact in Chatwoot',
  );
  try {
    const { id } = await chatwoot.createConversation({
      inbox_id: inboxId,
      contact_id: contact.id,
      source_id: sourceId,
      custom_attributes: {},
    });
    const arrived = arrivals.next(sessionId, webhookMs);
    await chatwoot.createMessage(id, {
      content: 'Switchboard tests this inbox.',
      messageType: 'outgoing',
      isPrivate: true,
      sourceId,
    });
    if (await arrived) return;
  } finally {
    arrivals.cancel(sessionId);
    await chatwoot.deleteContact(contact.id).catch(() => {});
  }
  throw new ConfigError(
    `Chatwoot did not reach the bridge at ${settings.url} within ${webhookMs / 1000} s, or its signature was wrong. Set CHATWOOT_BRIDGE_URL to an address that the Sidekiq process of Chatwoot can reach, and check the clocks of both machines.`,
  );
}

/** Whether the bridge would store the event. Refusing the report of a failed message would fail it again. */
function isToSend(event: ChatwootEvent): boolean {
  if (!('content' in event) || !isForContact(event)) return false;
  return event.externalError === undefined && !event.sourceId?.startsWith(SOURCE_PREFIX);
}

/** Webhooks that have arrived and were verified. */
class Arrivals {
  readonly #waiting = new Map<string, (hasArrived: boolean) => void>();

  add(sessionId: string): void {
    this.#waiting.get(sessionId)?.(true);
  }

  /** Ends the wait for a session. Its timer would keep the process alive. */
  cancel(sessionId: string): void {
    this.#waiting.get(sessionId)?.(false);
  }

  /** Resolves with true on the next webhook, and with false without one in time. */
  next(sessionId: string, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasArrived: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(sessionId);
        resolve(hasArrived);
      };
      const timer = setTimeout(end, ms, false);
      this.#waiting.set(sessionId, end);
    });
  }
}

async function explained<T>(work: Promise<T>, what: string): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError(`${what}: ${messageOf(cause)}`, { cause });
  }
}
