import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../async.ts';
import { allows } from '../../auth/permissions.ts';
import { type Clock, isoTime } from '../../clock.ts';
import type { Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import { DELIVERED_LINK_MS, fileFields } from '../../events/deliveredFiles.ts';
import type { Log } from '../../log.ts';
import type { MadeLink, MediaLinks } from '../../media/links.ts';
import type { Media } from '../../media/media.ts';
import type { WithFiles } from '../../webhooks/lanes/requests.ts';
import { isTooLarge, type Outcome } from '../../webhooks/queue/outcome.ts';

interface Deps {
  readonly reader: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  /** Called only when a delivery has files, because the parts for files are created after the deliveries. */
  files(): { readonly media: Pick<Media, 'read'>; readonly links: Pick<MediaLinks, 'maker'> };
}

/** The part of an event's `data` with its files. */
type Data = Record<string, { mediaId?: unknown } | undefined>;

type Wanted = Parameters<WithFiles>[0];
type File = Awaited<ReturnType<typeof filesById.all>>[number];

/** Memory for the contents of files in deliveries, of all webhooks of this process. */
const MEMORY_BYTES = 64 * 1024 * 1024;
/** A content is in memory as bytes, as base64, in the body, and as the bytes that are sent. */
const COPIES = 4;
/** A delivery that waits longer for memory or for the store goes out without the content. */
const PATIENCE_MS = 10_000;
/** Receivers whose limit is remembered, and for how long: it can be raised. */
const LIMITS = { max: 1000, ttl: 60 * 60 * 1000 };
/** Connections closed over contents until the size counts as refused: one can be an outage. */
const RESETS = 2;

/**
 * Creates the function that adds links to files, and their contents, to the body of one attempt. It runs for each
 * attempt, so a retry or a replay days later has a link that works, and neither links nor contents are stored or
 * logged.
 */
export function createWithFiles({ reader, clock, log, files }: Deps): WithFiles {
  const memory = new Memory(MEMORY_BYTES, clock);
  /** Webhook and URL → characters of the smallest event with contents that was refused. */
  const limits = new LRUCache<string, number>(LIMITS);
  /** Webhook and URL → events in a row that only got through without their contents. */
  const resets = new LRUCache<string, number>(LIMITS);
  return async (webhook, body, use) => {
    // Most bodies have no file, and are not parsed.
    if ((!webhook.links && webhook.inlineBytes === 0) || !body.includes('"mediaId"')) return use(body);
    const envelope = JSON.parse(body) as { data: Data };
    const ids = fileFields.flatMap((field) => idIn(envelope.data, field) ?? []);
    const grant = ids.length === 0 ? undefined : await grantOf(reader, webhook, clock.now());
    if (grant === undefined) return use(body);
    const rows = await filesById.all(reader, { accountId: webhook.accountId, ids: JSON.stringify(ids) });
    const found = new Map(rows.map((row) => [row.media_id, row]));
    const make = webhook.links ? await files().links.maker(webhook.accountId, grant.keyId) : undefined;
    const data = { ...envelope.data }; // without contents
    const contents: Record<string, string> = {};
    const receiver = `${webhook.webhookId} ${webhook.url}`;
    const limit = limits.get(receiver) ?? Number.POSITIVE_INFINITY;
    let length = body.length; // with contents, without links
    let held = 0;
    try {
      for (const field of fileFields) {
        const row = found.get(idIn(data, field) ?? '');
        if (row === undefined) continue; // no file, or a deleted one
        const { webhookId } = webhook;
        const link = make?.({ mediaId: row.media_id, lifetimeMs: DELIVERED_LINK_MS, webhookId });
        if (link) data[field] = { ...data[field], ...linkField(link) };
        const size = Number(row.size);
        if (size > webhook.inlineBytes) continue;
        if (length + lengthInBase64(size) >= limit) {
          data[field] = { ...data[field], ...OMITTED };
          continue;
        }
        const content = await read(row);
        if (content === undefined) continue;
        length += content.length;
        held += COPIES * size;
        contents[field] = content;
      }
      const isBare = Object.keys(contents).length === 0;
      const text = JSON.stringify({ ...envelope, data: isBare ? data : withContents(data, contents) });
      const outcome = await use(text);
      if (!isBare && outcome.class === 'ok') resets.delete(receiver);
      if (isBare || !isRefused(outcome)) return outcome;
      if (isTooLarge(outcome)) lowerLimit(receiver, length);
      memory.release(held);
      held = 0;
      const omitted = isTooLarge(outcome) ? withOmissions(data, Object.keys(contents)) : data;
      const repeated = await use(JSON.stringify({ ...envelope, data: omitted }));
      if (outcome.class === 'reset' && repeated.class === 'ok' && countReset(receiver) >= RESETS)
        lowerLimit(receiver, length);
      return afterRefusal(outcome, repeated);
    } finally {
      memory.release(held);
    }
  };

  function lowerLimit(receiver: string, length: number): void {
    limits.set(receiver, Math.min(length, limits.get(receiver) ?? length));
  }

  function countReset(receiver: string): number {
    const count = (resets.get(receiver) ?? 0) + 1;
    resets.set(receiver, count);
    return count;
  }

  /**
   * Reads a content within the memory, which the caller releases if it gets the content.
   * @returns undefined if it cannot be read now: a slow or broken store must not hold up the event
   */
  async function read({ hash, media_id: mediaId, size }: File): Promise<string | undefined> {
    const bytes = COPIES * Number(size);
    if (!(await memory.take(bytes))) return undefined;
    const late = new AbortController();
    const reading = files().media.read(hash, late.signal);
    try {
      const content = await withTimeout(clock, PATIENCE_MS, reading);
      return content.toString('base64');
    } catch (error) {
      log.warn({ err: error, media: mediaId }, 'failed to read a file for a delivery; sending it without the content');
      late.abort();
      // A read that goes on still fills memory.
      const release = () => memory.release(bytes);
      void reading.then(release, release);
      return undefined;
    }
  }
}

const linkField = ({ url, expiresAt }: MadeLink) => ({ link: { url, expiresAt: isoTime(expiresAt) } });

const OMITTED = { contentOmitted: 'tooLarge' };

const lengthInBase64 = (bytes: number) => Math.ceil(bytes / 3) * 4;

const withContents = (data: Data, contents: Readonly<Record<string, string>>): Data => ({
  ...data,
  ...Object.fromEntries(Object.entries(contents).map(([field, content]) => [field, { ...data[field], content }])),
});

const withOmissions = (data: Data, fields: readonly string[]): Data => ({
  ...data,
  ...Object.fromEntries(fields.map((field) => [field, { ...data[field], ...OMITTED }])),
});

/** A proxy can close the connection in place of a 413, before it has read the body. */
const isRefused = (outcome: Outcome) => isTooLarge(outcome) || outcome.class === 'reset';

/** Returns the outcome of the attempt without contents, with the reason for it. */
function afterRefusal(refusal: Outcome, outcome: Outcome): Outcome {
  const message = `${outcome.message}. Sent without the contents of its files, because the attempt with them failed: ${refusal.message}`;
  return { ...outcome, message, durationMs: refusal.durationMs + outcome.durationMs };
}

/**
 * Returns what the links of a webhook depend on besides the webhook: the key that set it, while that key is valid.
 * A webhook set by a login belongs to the account, and so does the webhook of an expired or deleted key that could read
 * files (see `deleteKey`).
 * @returns undefined if the key may not read files
 */
async function grantOf(
  reader: Queryable,
  { accountId, webhookId, setByKey }: Wanted,
  now: number,
): Promise<{ readonly keyId?: string } | undefined> {
  if (setByKey === null) return {};
  // Read again, because a deleted key leaves its webhooks to the account without a reload.
  const row = await setterOf.first(reader, { accountId, webhookId });
  if (row === undefined) return undefined;
  const { set_by_key: keyId, permissions, expires_at: expiresAt } = row;
  if (keyId === null) return {};
  if (permissions === null || !allows(JSON.parse(permissions), 'media:read')) return undefined;
  return expiresAt === null || Number(expiresAt) > now ? { keyId } : {};
}

function idIn(data: Data, field: string): string | undefined {
  const id = data[field]?.mediaId;
  return typeof id === 'string' ? id : undefined;
}

interface Waiting {
  readonly bytes: number;
  readonly grant: () => void;
}

/** Bytes that deliveries share, first come, first served. */
class Memory {
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #free: number;

  constructor(bytes: number, clock: Clock) {
    this.#free = bytes;
    this.#clock = clock;
  }

  /** Waits for memory. Returns false if none has become free for long. */
  take(bytes: number): Promise<boolean> {
    if (this.#waiting.length === 0 && bytes <= this.#free) {
      this.#free -= bytes;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const cancel = this.#clock.after(PATIENCE_MS, () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        resolve(false);
        this.#grant(); // those behind may need less
      });
      const waiting: Waiting = {
        bytes,
        grant: () => {
          cancel();
          resolve(true);
        },
      };
      this.#waiting.push(waiting);
    });
  }

  release(bytes: number): void {
    this.#free += bytes;
    this.#grant();
  }

  #grant(): void {
    for (let next = this.#waiting[0]; next !== undefined && next.bytes <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= next.bytes;
      next.grant();
    }
  }
}

const setterOf = query((db, p: { accountId: string; webhookId: string }) =>
  db
    .selectFrom('webhooks as w')
    .leftJoin('api_keys as k', (join) =>
      join.onRef('k.key_id', '=', 'w.set_by_key').onRef('k.account_id', '=', 'w.account_id'),
    )
    .select(['w.set_by_key', 'k.permissions', 'k.expires_at'])
    .where('w.account_id', '=', p.accountId)
    .where('w.webhook_id', '=', p.webhookId),
);

const filesById = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .selectFrom('media')
    .select(['media_id', 'hash', 'size'])
    .where('account_id', '=', p.accountId)
    .where('media_id', 'in', dialect.texts(p.ids)),
);
