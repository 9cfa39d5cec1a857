import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '../../../../sdk/src/client.ts';
import { webhookHandler } from '../../../../sdk/src/express.ts';
import { CliError } from '../failure.ts';
import { unlessGone } from './wahaErrors.ts';
import type { Translated, WahaEvent } from './wahaEvents.ts';
import { INCLUDED, isWahaEvent, sourcesOf, translate } from './wahaEvents.ts';

/*
 * Receivers of WAHA's events. Each has a webhook at Switchboard whose URL leads here, so Switchboard keeps the events
 * while this command or the receiver is down, and repeats what failed. The webhook's metadata has the receiver: this
 * command stores nothing.
 */

export interface Target {
  readonly url: string;
  readonly events: readonly WahaEvent[];
  /** Session whose events it gets; undefined for all. */
  readonly sessionId: string | undefined;
}

interface Registered extends Target {
  readonly webhookId: string;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

interface Options {
  readonly client: Client;
  /** Address where Switchboard reaches this command. */
  readonly eventsUrl: string;
  /** Address where the clients of WAHA reach it. */
  readonly publicUrl: string;
  /** Signs the deliveries to this command; the same after a restart. */
  readonly secret: string;
  /** Signs what receivers get, as WAHA does with `WHATSAPP_HOOK_HMAC_KEY`. */
  readonly hmacKey: string | undefined;
  readonly version: string;
  /** Distinguishes this command from others of the same account. */
  readonly name: string;
  readonly onError: (error: unknown) => void;
}

/** Path of the deliveries from Switchboard. */
export const EVENTS_PATH = '/switchboard/events/';
const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** An attempt of Switchboard has 15 s, and can lead to two requests. */
const RECEIVER_TIMEOUT_MS = 6000;
const MARK = 'waha';
/** Default of `--name`, and for webhooks from before commands had names. */
export const DEFAULT_NAME = 'default';
/** Time for another command to report that it runs. */
const PROBE_MS = 3000;

export class WahaTargets {
  readonly #options: Options;
  readonly #byToken = new Map<string, Registered>();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Takes over the webhooks of earlier runs, and makes those of all sessions match.
   * @param wanted the receiver of all sessions; undefined for none
   */
  async start(wanted: Omit<Target, 'sessionId'> | undefined, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    let isKept = false;
    const earlier = await this.#earlier(signal);
    await this.#requireAlone(earlier.map(({ webhookUrl }) => webhookUrl));
    signal.throwIfAborted();
    for (const { webhookId, token, url, events, sessionId } of earlier) {
      if (sessionId === undefined && (wanted === undefined || isKept)) {
        await client.webhooks.endpoints.delete({ webhookId }, { signal });
        continue;
      }
      isKept ||= sessionId === undefined;
      const target =
        sessionId === undefined && wanted !== undefined ? { ...wanted, sessionId } : { url, events, sessionId };
      await client.webhooks.endpoints.update({ webhookId, ...this.#webhookOf(token, target) }, { signal });
      this.#register(token, webhookId, target);
    }
    if (wanted !== undefined && !isKept) await this.add({ ...wanted, sessionId: undefined }, signal);
  }

  /** The webhooks of this command. Metadata alone does not count, because anyone in the account can write it. */
  async #earlier(signal: AbortSignal) {
    const earlier = [];
    const { list } = this.#options.client.webhooks.endpoints;
    for await (const { webhookId, webhookUrl, metadata } of list.all({ limit: 200 }, { signal })) {
      const { compat, name = DEFAULT_NAME, token, target: url, events = '', session: sessionId } = metadata;
      if (compat !== MARK || name !== this.#options.name || token === undefined || url === undefined) continue;
      if (!webhookUrl?.endsWith(EVENTS_PATH + token)) continue;
      earlier.push({ webhookId, webhookUrl, token, url, events: events.split(',').filter(isWahaEvent), sessionId });
    }
    return earlier;
  }

  /**
   * @throws {CliError} if a command of the same name runs at another address, whose receivers would get nothing more
   */
  async #requireAlone(webhookUrls: readonly (string | null)[]): Promise<void> {
    const others = new Map<string, string>();
    for (const url of webhookUrls) {
      const base = url?.slice(0, url.indexOf(EVENTS_PATH));
      if (url && base && base !== this.#options.eventsUrl) others.set(base, url);
    }
    const running = await Promise.all([...others].map(async ([base, url]) => ((await isServed(url)) ? [base] : [])));
    const [other] = running.flat();
    if (other === undefined) return;
    throw new CliError(
      'usage',
      `Another switchboard compat at ${other} serves the receivers of this account. Stop it, or pass another --name.`,
    );
  }

  async add(target: Target, signal?: AbortSignal): Promise<void> {
    const token = randomBytes(16).toString('hex');
    const { endpoints } = this.#options.client.webhooks;
    const { webhookId } = await endpoints.create(this.#webhookOf(token, target), { signal });
    this.#register(token, webhookId, target);
  }

  async removeOfSession(sessionId: string): Promise<void> {
    for (const [token, target] of this.#byToken) {
      if (target.sessionId !== sessionId) continue;
      await unlessGone(this.#options.client.webhooks.endpoints.delete({ webhookId: target.webhookId }));
      this.#byToken.delete(token);
    }
  }

  ofSession(sessionId: string): readonly Target[] {
    return [...this.#byToken.values()].filter((target) => target.sessionId === sessionId);
  }

  /** Handles a delivery of Switchboard. @returns undefined for a path without a receiver */
  handlerOf(path: string) {
    return this.#byToken.get(path.slice(EVENTS_PATH.length))?.handle;
  }

  #webhookOf(token: string, { url, events, sessionId }: Target) {
    const { eventsUrl, secret, name } = this.#options;
    return {
      webhookUrl: `${eventsUrl}${EVENTS_PATH}${token}`,
      events: sourcesOf(events),
      secret,
      enabled: true,
      include: [...INCLUDED],
      sessionIds: sessionId === undefined ? null : [sessionId],
      description: 'Events for a receiver of WAHA, translated by switchboard compat.',
      metadata: {
        compat: MARK,
        name,
        token,
        target: url,
        events: events.join(','),
        ...(sessionId !== undefined && { session: sessionId }),
      },
    };
  }

  #register(token: string, webhookId: string, target: Target): void {
    const { secret, onError } = this.#options;
    const handle = webhookHandler({
      secret,
      maxBytes: MAX_BODY_BYTES,
      onError,
      onEvent: async (event, { id }) => {
        for (const each of await translate(event, { id, wanted: target.events }, this.#options))
          await this.#post(target.url, each);
      },
    });
    this.#byToken.set(token, { ...target, webhookId, handle });
  }

  /** @throws if the receiver does not accept the event, so that Switchboard repeats it */
  async #post(url: string, event: Translated): Promise<void> {
    const body = JSON.stringify(event);
    const answer = await fetch(url, {
      method: 'POST',
      headers: this.#headersOf(event, body),
      body,
      // A redirect would turn the POST into a GET, and its answer would count as delivered.
      redirect: 'manual',
      signal: AbortSignal.timeout(RECEIVER_TIMEOUT_MS),
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`${new URL(url).host} refused ${event.event} with ${answer.status}`);
  }

  /** Headers of WAHA's webhooks (https://waha.devlike.pro/docs/how-to/webhooks/). */
  #headersOf({ id, timestamp }: Translated, body: string): Record<string, string> {
    const { hmacKey, version } = this.#options;
    return {
      'content-type': 'application/json',
      'user-agent': `switchboard-compat/${version}`,
      'x-webhook-request-id': id,
      'x-webhook-timestamp': String(timestamp),
      ...(hmacKey !== undefined && {
        'x-webhook-hmac': createHmac('sha512', hmacKey).update(body).digest('hex'),
        'x-webhook-hmac-algorithm': 'sha512',
      }),
    };
  }
}

/** Response to a GET of a path that a running command serves. */
export const SERVED = { compat: MARK } as const;

/** Whether a running command serves a path of deliveries. A command whose address does not answer counts as stopped. */
async function isServed(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PROBE_MS) });
    const text = await answer.text();
    return answer.ok && text === JSON.stringify(SERVED);
  } catch {
    return false;
  }
}
