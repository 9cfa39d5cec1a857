import { type Dispatcher, request } from 'undici';
import { KeyedQueue } from '../../../async.ts';
import { pinHosts } from '../../../egress/pinnedHosts.ts';
import type { WebVersion, WebVersionSetting } from '../../../settingKinds.ts';
import type { SessionHost } from '../../contract/host.ts';

/*
 * WhatsApp refuses a version of its web client some weeks after its release, for every session in the world:
 * WhiskeySockets/Baileys#2376 after three months, #2731 after eight weeks. Its own service worker states the current
 * one. It is read when the server refuses ours and never before, so that nothing changes while all is well.
 */

/**
 * Release date of the Baileys version that package.json pins. The number of a WhatsApp Web version has no date, but the
 * built-in one cannot be newer than the package.
 */
export const BUILT_IN = { baileys: '7.0.0-rc14', releasedAt: Date.UTC(2026, 7, 7) };
const WEEK_MS = 7 * 24 * 60 * 60_000;
/** In weeks. WhatsApp has refused a version of this age (see above). */
const OLD = 8;

const REAL_SERVER = 'wss://web.whatsapp.com/ws/chat';
const PAGE = '/sw.js';
/** WhatsApp answers other clients with 400 (WhiskeySockets/Baileys#1929). */
const HEADERS = {
  'sec-fetch-site': 'none',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
};
const REVISION = /\\?"client_revision\\?":\s*(\d{6,15})\b/;
const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_MS = 10_000;
/** Sessions that fail over the same route within this time share one failure, unless a person has asked since then. */
const FAILURE_MS = 60_000;
const FAILURES_KEPT = 100;
/** Key in the store of a session. */
const STORED = 'web-version';

type Host = Pick<SessionHost, 'clock' | 'log' | 'store'>;

/** The part of a session that reads: each has its own way out. */
export interface VersionReader {
  readonly dispatcher: Dispatcher;
  /** Equal for sessions that share a way out. */
  readonly route: string;
  readonly host: Host;
  /** Whether a person waits for the result, who may have changed something since the last failure. */
  readonly isAsked?: boolean;
}

/** The version of WhatsApp Web that the sessions of this process report. */
export class WebVersions {
  readonly #setting: WebVersionSetting;
  readonly #page: URL;
  readonly #turns = new KeyedQueue();
  readonly #failures = new Map<string, { readonly at: number; readonly error: unknown }>();
  #read: WebVersion | undefined;
  #hasWarned = false;

  /** @param server URL of the WhatsApp server, which has the page too */
  constructor(setting: WebVersionSetting, server = REAL_SERVER) {
    this.#setting = setting;
    this.#page = new URL(PAGE, server.replace(/^ws/, 'http'));
  }

  /** Whether `renew` may be called. */
  get isAutomatic(): boolean {
    return this.#setting === 'auto';
  }

  /** Undefined for the built-in one. */
  get current(): WebVersion | undefined {
    return typeof this.#setting === 'string' ? this.#read : this.#setting;
  }

  /** Continues with the version that the session read in an earlier process, unless a newer one is known. */
  async restore(store: Host['store'], builtIn: WebVersion): Promise<void> {
    if (!this.isAutomatic) return;
    const stored = parse(await store.get(STORED));
    if (stored !== undefined && isNewer(stored, this.#read ?? builtIn)) this.#read = stored;
  }

  /**
   * Returns a version to use instead of the refused one: another session's result, or the page's.
   * @throws {Error} the page cannot be read, or states the refused version
   */
  async renew(refused: WebVersion, reader: VersionReader): Promise<WebVersion> {
    const { route, host, isAsked = false } = reader;
    const sharedAfter = isAsked ? host.clock.elapsed() : Number.NEGATIVE_INFINITY;
    // Only sessions with the same way out wait for each other: another one may be slow.
    const version = await this.#turns.run(route, async () => {
      const known = this.#otherThan(refused);
      if (known !== undefined) return known;
      try {
        const read = await this.#readOnce(refused, reader, sharedAfter);
        this.#read = this.#otherThan(refused) ?? read;
        return this.#read;
      } catch (error) {
        const found = this.#otherThan(refused);
        if (found === undefined) throw error;
        return found;
      }
    });
    await host.store.set(STORED, version.join('.')).catch((error: unknown) => {
      // The next process reads the page again.
      host.log.warn({ err: error }, 'failed to store the version of WhatsApp Web');
    });
    return version;
  }

  /** Returns the version that was read, unless it is the refused one. */
  #otherThan(refused: WebVersion): WebVersion | undefined {
    return this.#read === undefined || isSame(this.#read, refused) ? undefined : this.#read;
  }

  /** Logs once that the built-in version is old, if it is in use. */
  warnIfOld({ clock, log }: Pick<Host, 'clock' | 'log'>): void {
    const weeks = Math.floor((clock.now() - BUILT_IN.releasedAt) / WEEK_MS);
    if (this.#hasWarned || this.current !== undefined || weeks < OLD) return;
    this.#hasWarned = true;
    log.warn({ baileys: BUILT_IN.baileys, weeks }, 'the built-in version of WhatsApp Web is old; upgrade the server');
  }

  /** @param sharedAfter earlier failures do not count */
  async #readOnce(
    refused: WebVersion,
    { dispatcher, route, host: { clock } }: VersionReader,
    sharedAfter: number,
  ): Promise<WebVersion> {
    const failure = this.#failures.get(route);
    if (failure !== undefined && failure.at >= sharedAfter && clock.elapsed() - failure.at < FAILURE_MS)
      throw failure.error;
    this.#failures.delete(route);
    try {
      const version = await readPage(this.#page, dispatcher, clock);
      if (isSame(version, refused)) throw new Error('the page states the version that WhatsApp refuses');
      return version;
    } catch (error) {
      this.#failures.set(route, { at: clock.elapsed(), error });
      for (const oldest of this.#failures.keys()) {
        if (this.#failures.size <= FAILURES_KEPT) break;
        this.#failures.delete(oldest);
      }
      throw error;
    }
  }
}

async function readPage(page: URL, dispatcher: Dispatcher, clock: Host['clock']): Promise<WebVersion> {
  const pins = { hosts: [page.origin], maxBytes: PAGE_BYTES, timeoutMs: PAGE_MS, clock };
  const response = await request(page, { dispatcher: pinHosts(dispatcher, pins), headers: HEADERS });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`the page answers with status ${response.statusCode}`);
  const [, revision] = REVISION.exec(text) ?? [];
  if (revision === undefined) throw new Error('the page does not state a version');
  return [2, 3000, Number(revision)];
}

function parse(text: string | undefined): WebVersion | undefined {
  const [first, second, third] = (text ?? '').split('.').map(Number);
  const isComplete = [first, second, third].every((part) => Number.isSafeInteger(part));
  return isComplete ? [first ?? 0, second ?? 0, third ?? 0] : undefined;
}

function isNewer(version: WebVersion, other: WebVersion): boolean {
  const differing = version.findIndex((part, index) => part !== other[index]);
  return differing >= 0 && (version[differing] ?? 0) > (other[differing] ?? 0);
}

const isSame = (version: WebVersion, other: WebVersion): boolean => version.join('.') === other.join('.');
