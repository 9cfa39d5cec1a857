import { type ClientOptions, createClient } from '@switchboard/sdk';
import { ApiError } from '@switchboard/sdk/errors';
import {
  eventIdOf,
  type FromHub,
  type FromPage,
  type LiveEvent,
  type LiveState,
  LOGIN_CHANNEL,
  type LoginChange,
  PING_EVERY_MS,
} from './protocol.ts';

/** Number of events after which a page has to confirm that it keeps up. */
const PING_EVERY_EVENTS = 200;
/** Number of unconfirmed events that may wait in the queue of a page, such as one that the browser has frozen. */
const MAX_UNCONFIRMED = 2000;
/** Milliseconds without a reply after which a page counts as frozen or gone. */
const MAX_SILENCE_MS = 4 * PING_EVERY_MS;
/** Events that a page can have missed. A page that missed more reads its data again. */
const MAX_CAUGHT_UP = 2000;
const CATCH_UP_PAGE = 200;
/** Pause before another try after the stream could not start. */
const RESTART_MS = 3000;

/** A page that gets the events. */
interface Member {
  readonly port: MessagePort;
  /** Events that have to wait until the page has caught up; undefined once it has. */
  waiting: LiveEvent[] | undefined;
  unconfirmed: number;
  sincePing: number;
  /** Time of the oldest ping without a reply. */
  askedAt: number | undefined;
}

/**
 * Shares one event stream of an account between pages: browsers open at most six connections to a server over HTTP/1.1,
 * so a stream per page would leave none for requests. The stream runs while there are pages.
 */
export class LiveHub {
  readonly #accountId: string;
  readonly #options: ClientOptions;
  readonly #members = new Map<MessagePort, Member>();
  readonly #logins = new BroadcastChannel(LOGIN_CHANNEL);
  #state: LiveState = 'connecting';
  /** Ends the running stream. */
  #stream: AbortController | undefined;
  /** Position of the last event that all pages were sent. */
  #cursor: string | undefined;
  #pings: ReturnType<typeof setInterval> | undefined;
  #restart: ReturnType<typeof setTimeout> | undefined;
  /** Catch-ups that wait for the stream: only once it runs do they reach up to its first event. */
  readonly #catchUpLater: (() => Promise<void>)[] = [];

  /** @param options of the client that reads the events */
  constructor(accountId: string, options: ClientOptions) {
    this.#accountId = accountId;
    this.#options = options;
    this.#logins.onmessage = ({ data }: MessageEvent<LoginChange>) => this.#loginChanged(data);
  }

  /** Serves a page, which joins by message. */
  serve(port: MessagePort): void {
    port.onmessage = ({ data }: MessageEvent<FromPage>) => {
      if (data.type === 'join') this.#join(port, data.after);
      else if (data.type === 'leave') this.#leave(port);
      else this.#confirm(port);
    };
  }

  stop(): void {
    for (const port of [...this.#members.keys()]) this.#leave(port);
    this.#logins.close();
  }

  #join(port: MessagePort, after: string | undefined): void {
    const member: Member = { port, waiting: undefined, unconfirmed: 0, sincePing: 0, askedAt: undefined };
    if (this.#members.size === 0) this.#cursor = after;
    this.#members.set(port, member);
    this.#pings ??= setInterval(() => this.#askAll(), PING_EVERY_MS);
    if (this.#stream === undefined) this.#start();
    if (after !== undefined && after !== this.#cursor) {
      member.waiting = [];
      if (this.#state === 'live') void this.#catchUp(member, after);
      else this.#catchUpLater.push(() => this.#catchUp(member, after));
    }
    this.#post(member, { type: 'state', state: this.#state });
    this.#ask(member);
  }

  #leave(port: MessagePort): void {
    this.#members.delete(port);
    if (this.#members.size > 0) return;
    clearInterval(this.#pings);
    this.#pings = undefined;
    this.#end();
  }

  #confirm(port: MessagePort): void {
    const member = this.#members.get(port);
    if (member === undefined) return;
    member.askedAt = undefined;
    member.unconfirmed = member.sincePing;
  }

  #start(): void {
    const stream = new AbortController();
    this.#stream = stream;
    this.#setState('connecting');
    this.#follow(stream.signal).catch((error: unknown) => {
      if (!stream.signal.aborted) this.#failed(error);
    });
  }

  #end(): void {
    clearTimeout(this.#restart);
    this.#stream?.abort();
    this.#stream = undefined;
  }

  #failed(error: unknown): void {
    this.#setState('lost');
    const status = error instanceof ApiError ? error.status : undefined;
    // The login has ended. A request of the page leads to the login, which starts the stream.
    if (status === 401 || status === 403) {
      this.#end();
      return;
    }
    if (status !== undefined && status < 500 && status !== 429) {
      // The server no longer accepts the cursor.
      this.#startAgain(undefined);
    }
    this.#restart = setTimeout(() => this.#start(), RESTART_MS);
  }

  /** Moves the stream to another position of the log. The pages read everything again. */
  #startAgain(cursor: string | undefined): void {
    this.#cursor = cursor;
    for (const member of this.#members.values()) this.#post(member, { type: 'missed' });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    // Without a cursor, events between two connections would be lost before the first event has arrived.
    this.#cursor ??= await this.#now(signal);
    const after = this.#cursor === undefined ? {} : { after: this.#cursor };
    const client = createClient({ ...this.#options, fetch: (input, init) => this.#fetchStream(input, init) });
    // After a restored backup or a failover, pages show what the server no longer has.
    const onTruncated = (cursor: string) => this.#startAgain(cursor);
    for await (const event of client.events.stream({ events: ['*'], signal, onTruncated, ...after })) {
      this.#cursor = event.id;
      for (const member of this.#members.values()) this.#send(member, event);
    }
  }

  /** Returns the position of the last event, or undefined if there has never been one. */
  async #now(signal: AbortSignal): Promise<string | undefined> {
    const { nextCursor } = await createClient(this.#options).events.list({ afterCursor: 'now', limit: 1 }, { signal });
    return nextCursor ?? undefined;
  }

  /** The client reconnects without reporting it, so its requests show the state of the stream. */
  async #fetchStream(input: RequestInfo | URL, init: RequestInit | undefined): Promise<Response> {
    try {
      const response = await fetch(input, init);
      this.#setState(response.ok ? 'live' : 'lost');
      if (response.ok) for (const catchUp of this.#catchUpLater.splice(0)) void catchUp();
      return response;
    } catch (error) {
      if (this.#stream?.signal.aborted === false) this.#setState('lost');
      throw error;
    }
  }

  /** Sends a page the events it missed while disconnected, then those that arrived during the catch-up. */
  async #catchUp(member: Member, after: string): Promise<void> {
    const known = new Set<string>();
    try {
      for await (const events of this.#missedSince(member, after)) {
        for (const { event, cursor } of events) {
          known.add(eventIdOf(event));
          this.#deliver(member, event, cursor);
        }
      }
    } catch {
      // Too many events, or a cursor that the server no longer accepts.
      this.#post(member, { type: 'missed' });
    }
    const waiting = member.waiting ?? [];
    member.waiting = undefined;
    for (const event of waiting) if (!known.has(eventIdOf(event))) this.#deliver(member, event, event.id);
    if (this.#isMember(member)) this.#ask(member);
  }

  async *#missedSince(member: Member, after: string) {
    const client = createClient(this.#options);
    let cursor = after;
    for (let read = 0; this.#isMember(member); ) {
      const { data, nextCursor, truncated } = await client.events.list({
        afterCursor: cursor,
        events: ['*'],
        limit: CATCH_UP_PAGE,
      });
      if (truncated) this.#post(member, { type: 'missed' });
      // The stream and the log have the same events. Only the log's types leave `data` open.
      yield data.map(({ eventId, event, data: about }) => ({
        event: { id: eventId, event, data: about } as LiveEvent,
        cursor,
      }));
      read += data.length;
      if (data.length < CATCH_UP_PAGE) return;
      if (read >= MAX_CAUGHT_UP) throw new RangeError('too many events to catch up');
      cursor = nextCursor ?? cursor;
    }
  }

  #send(member: Member, event: LiveEvent): void {
    if (member.waiting === undefined) this.#deliver(member, event, event.id);
    else if (member.waiting.push(event) > MAX_UNCONFIRMED) this.#drop(member);
  }

  #deliver(member: Member, event: LiveEvent, cursor: string): void {
    if (!this.#isMember(member)) return;
    this.#post(member, { type: 'event', event, cursor });
    member.unconfirmed++;
    if (++member.sincePing >= PING_EVERY_EVENTS) this.#ask(member);
    if (member.unconfirmed > MAX_UNCONFIRMED) this.#drop(member);
  }

  #isMember(member: Member): boolean {
    return this.#members.get(member.port) === member;
  }

  #askAll(): void {
    for (const member of [...this.#members.values()]) {
      if (member.askedAt !== undefined && Date.now() - member.askedAt > MAX_SILENCE_MS) this.#drop(member);
      else this.#ask(member);
    }
  }

  #ask(member: Member): void {
    member.sincePing = 0;
    member.askedAt ??= Date.now();
    // A page that is catching up has not been sent everything up to the cursor.
    this.#post(member, { type: 'ping', cursor: member.waiting === undefined ? this.#cursor : undefined });
  }

  /** A page that cannot be reached leaves, so that the others get the message. It joins again at its last event. */
  #post({ port }: Member, message: FromHub): void {
    try {
      port.postMessage(message);
    } catch (error) {
      reportError(error);
      this.#leave(port);
    }
  }

  #drop(member: Member): void {
    this.#post(member, { type: 'dropped' });
    this.#leave(member.port);
  }

  #setState(state: LiveState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const member of this.#members.values()) this.#post(member, { type: 'state', state });
  }

  /** Never follows a login of another account: its events are not for these pages, which are about to reload. */
  #loginChanged({ accountId }: LoginChange): void {
    if (this.#members.size === 0) return;
    this.#end();
    if (accountId === this.#accountId) this.#start();
    else this.#setState('lost');
  }
}
