import { withTimeout } from '../../async.ts';
import { allows } from '../../auth/permissions.ts';
import { type Clock, isoTime } from '../../clock.ts';
import type { Queryable } from '../../db/dialect.ts';
import { query } from '../../db/query.ts';
import { DELIVERED_LINK_MS, fileFields } from '../../events/deliveredFiles.ts';
import type { Log } from '../../log.ts';
import type { MediaLinks } from '../../media/links.ts';
import type { Media } from '../../media/media.ts';
import type { WithFiles } from '../../webhooks/lanes/requests.ts';

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

/** Memory for the contents of files in deliveries, of all webhooks of this process. */
const MEMORY_BYTES = 64 * 1024 * 1024;
/** A content is in memory as bytes, as base64, in the body, and as the bytes that are sent. */
const COPIES = 4;
/** A delivery that waits longer for memory or for the store goes out without the content. */
const PATIENCE_MS = 10_000;

/**
 * Creates the function that adds links to files, and their contents, to the body of one attempt. It runs for each
 * attempt, so a retry or a replay days later has a link that works, and neither links nor contents are stored or logged.
 */
export function createWithFiles({ reader, clock, log, files }: Deps): WithFiles {
  const memory = new Memory(MEMORY_BYTES, clock);
  return async (webhook, body, use) => {
    // Most bodies have no file, and are not parsed.
    if ((!webhook.links && webhook.inlineBytes === 0) || !body.includes('"mediaId"')) return use(body);
    const envelope = JSON.parse(body) as { data: Data };
    const ids = fileFields.flatMap((field) => idIn(envelope.data, field) ?? []);
    if (ids.length === 0 || !(await mayRead(reader, webhook))) return use(body);
    const rows = await filesById.all(reader, { accountId: webhook.accountId, ids: JSON.stringify(ids) });
    const found = new Map(rows.map((row) => [row.media_id, row]));
    const data = { ...envelope.data };
    const make = webhook.links ? await files().links.maker(webhook.accountId) : undefined;
    let held = 0;
    try {
      for (const field of fileFields) {
        const row = found.get(idIn(data, field) ?? '');
        if (row === undefined) continue; // no file, or a deleted one
        const link = make?.({ mediaId: row.media_id, lifetimeMs: DELIVERED_LINK_MS });
        let content: string | undefined;
        if (Number(row.size) <= webhook.inlineBytes && (await memory.take(COPIES * Number(row.size)))) {
          held += COPIES * Number(row.size);
          content = await read(row);
        }
        const added = {
          ...(link && { link: { url: link.url, expiresAt: isoTime(link.expiresAt) } }),
          ...(content !== undefined && { content }),
        };
        data[field] = { ...data[field], ...added };
      }
      return await use(JSON.stringify({ ...envelope, data }));
    } finally {
      memory.release(held);
    }
  };

  /** Returns undefined if the content cannot be read now: a slow or broken store must not hold up the event. */
  async function read({ hash, media_id: mediaId }: { hash: string; media_id: string }): Promise<string | undefined> {
    try {
      const content = await withTimeout(clock, PATIENCE_MS, files().media.read(hash));
      return content.toString('base64');
    } catch (error) {
      log.warn({ err: error, media: mediaId }, 'failed to read a file for a delivery; sending it without the content');
      return undefined;
    }
  }
}

/**
 * Whether the key that set the webhook may read files, or an expired key could. A webhook set by a login belongs to the
 * account, and so does the webhook of a deleted key that could read files (see `deleteKey`).
 */
async function mayRead(reader: Queryable, { accountId, webhookId, setByKey }: Wanted): Promise<boolean> {
  if (setByKey === null) return true;
  // Read again, because a deleted key leaves its webhooks to the account without a reload.
  const row = await setterOf.first(reader, { accountId, webhookId });
  if (row === undefined) return false;
  return row.set_by_key === null || (row.permissions !== null && allows(JSON.parse(row.permissions), 'media:read'));
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
    .select(['w.set_by_key', 'k.permissions'])
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
