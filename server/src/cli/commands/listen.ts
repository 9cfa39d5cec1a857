import { randomBytes } from 'node:crypto';
import { defaultIncludeOf, type Include, includes } from '../../events/addedFields.ts';
import { type Context, requireSession } from '../context.ts';
import { EventFeed, type FeedPage, TRUNCATED } from '../eventFeed.ts';
import { CliError } from '../failure.ts';
import { type Forwarded, Forwarder } from '../forwarder.ts';
import { styled } from '../io.ts';
import { readSecretLine } from '../prompt.ts';

export interface ListenOptions {
  readonly forwardTo: string;
  readonly events?: readonly string[];
  readonly session?: string;
  /** `-` for standard input. */
  readonly secret?: string;
  readonly include?: readonly string[];
  readonly after?: string;
  readonly concurrency: number;
  /** Seconds. */
  readonly timeout: number;
}

/** Limit for finding the position from which a later start continues. */
const POSITION_MS = 3000;

/** Forwards events to a URL, like a webhook, until Ctrl-C. */
export async function listen(context: Context, options: ListenOptions): Promise<void> {
  const { io, out } = context;
  const url = acceptedTarget(options.forwardTo);
  const include = acceptedGroups(options.include) ?? defaultIncludeOf(options.events ?? []);
  const client = await context.client();
  await requireSession(client, options.session);
  const secret = await secretOf(context, options.secret);
  const signal = io.stopSignal();
  const feed = new EventFeed(client, {
    events: options.events,
    after: options.after,
    signal,
    onBreak: (error) => out.note(`Connection lost; retrying: ${error.message}`),
    onResume: () => out.note('The server answers again. Continuing where it was.'),
    onTruncated: () => out.note(TRUNCATED),
  });
  const progress = new Progress();
  const forwarder = new Forwarder({
    url,
    secret: secret.value,
    include,
    concurrency: options.concurrency,
    timeoutMs: options.timeout * 1000,
    onForwarded: (forwarded) => {
      progress.done(forwarded.event.eventId);
      print(context, forwarded);
    },
  });
  await feed.start();
  announce(context, url, secret);
  const stop = () => {
    if (forwarder.inFlight > 0) out.note('Stopping once the receiver has answered. Ctrl-C again stops at once.');
    void forwarder.stop();
  };
  signal.addEventListener('abort', stop);
  try {
    for await (const page of feed.pages()) {
      const isWanted = (data: Record<string, unknown>) =>
        options.session === undefined || data['sessionId'] === options.session;
      progress.add(page, ({ data }) => isWanted(data));
      for (const event of page.events) if (isWanted(event.data)) forwarder.push(event);
      await forwarder.hasRoom();
      if (signal.aborted) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await forwarder.stop();
    announceEnd(context, await progress.position(feed).catch(() => progress.safePosition));
  }
}

function announce({ out }: Context, url: string, { value, isNew }: Secret): void {
  if (out.isJson) out.json({ type: 'listening', forwardTo: url, ...(isNew && { secret: value }) });
  out.note(`Forwarding events to ${url}. Ctrl-C stops.`);
  if (isNew) out.note('The secret that signs them: ', styled('bold', value));
}

function announceEnd({ out }: Context, cursor: string | undefined): void {
  if (out.isJson) out.json({ type: 'stopped', cursor: cursor ?? null });
  else if (cursor !== undefined) out.note(`Stopped. Continue here with: --after ${cursor}`);
}

function print({ out }: Context, { event, status, durationMs, error }: Forwarded): void {
  const isOk = status !== null && status >= 200 && status < 300;
  const { eventId } = event;
  const shown = { type: 'forwarded', eventId, event: event.event, delivered: isOk, status, durationMs, error };
  out.result(shown, () =>
    out.line(
      new Date().toISOString(),
      `  ${event.event.padEnd(20)}  ${eventId}  `,
      styled(isOk ? 'green' : 'red', status === null ? 'failed' : String(status)),
      `  ${durationMs} ms`,
      error === null ? '' : `  ${error}`,
    ),
  );
}

/** Remembers up to where all events were forwarded. */
class Progress {
  #pages: { page: FeedPage; wanted: string[] }[] = [];
  readonly #open = new Set<string>();
  #last: string | undefined;

  add(page: FeedPage, isWanted: (event: FeedPage['events'][number]) => boolean): void {
    this.#prune();
    const wanted = page.events.filter(isWanted).map(({ eventId }) => eventId);
    for (const id of wanted) this.#open.add(id);
    this.#pages.push({ page, wanted });
  }

  done(eventId: string): void {
    this.#open.delete(eventId);
  }

  /** The position before the first page with an event that was not forwarded. */
  get safePosition(): string | undefined {
    this.#prune();
    return this.#pages[0] === undefined ? this.#last : this.#pages[0].page.before;
  }

  /** The position before the first event that was not forwarded. */
  async position(feed: EventFeed): Promise<string | undefined> {
    const before = this.safePosition;
    const [first] = this.#pages;
    if (first === undefined) return before;
    const done = first.page.events.findIndex(({ eventId }) => this.#open.has(eventId));
    return done === 0 ? before : feed.positionAfter(before, done, AbortSignal.timeout(POSITION_MS));
  }

  #prune(): void {
    while (this.#pages[0] !== undefined && !this.#pages[0].wanted.some((id) => this.#open.has(id)))
      this.#last = this.#pages.shift()?.page.after;
  }
}

interface Secret {
  readonly value: string;
  /** Nobody else knows it yet. */
  readonly isNew: boolean;
}

async function secretOf({ io }: Context, given: string | undefined): Promise<Secret> {
  if (given === '') throw new CliError('usage', 'The secret is empty.');
  if (given === '-') return { value: await readSecretLine(io, 'secret'), isNew: false };
  const value = given ?? io.env['SWITCHBOARD_WEBHOOK_SECRET'];
  return value ? { value, isNew: false } : { value: randomBytes(24).toString('base64url'), isNew: true };
}

/**
 * Here and not where the arguments are parsed: every start of the command line would load the table of fields.
 * @throws {CliError} `usage`
 */
function acceptedGroups(names: readonly string[] | undefined): readonly Include[] | undefined {
  return names?.map((name) => {
    const group = includes.find((each) => each === name);
    if (group === undefined) throw new CliError('usage', `Allowed groups of --include are ${includes.join(', ')}.`);
    return group;
  });
}

/** @throws {CliError} `usage` */
function acceptedTarget(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw new CliError('usage', 'Pass --forward-to a URL such as http://localhost:3000/hook, without a login.');
  return url.href;
}
