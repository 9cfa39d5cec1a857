import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';
import type { MediaRules } from '../connectors/contract/media.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MediaTable } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Converter } from './conversion/converter.ts';
import { ConversionError, isAccepted, type Order, type Prepared, type Purpose } from './conversion/task.ts';
import type { Media } from './media.ts';

interface Options {
  readonly media: Media;
  readonly converter: Converter;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

interface Work {
  readonly order: Order;
  readonly target: string;
  readonly key: string;
}

/** Larger files are sent as they are, or refused: they would fill the memory of the process that converts. */
const MAX_BYTES = 64 * 1024 * 1024;
const FAILURE_MS = 60 * 60_000;
const MAX_FAILURES = 1000;
/** Changes when the same file would be converted differently. */
const VERSION = 1;

/**
 * Makes the file of a message one that apps of its network can show. A file is converted once for each purpose, and the
 * result is a file of the account like any other.
 */
export class Preparation {
  readonly #options: Options;
  /**
   * By the account, the content and the target. Of this node only: another one does the same, and one result counts.
   */
  readonly #running = new Map<string, Promise<MediaTable>>();
  /** Of this node only: another one tries once itself. */
  readonly #failures = new Map<string, { readonly error: ConversionError; readonly at: number }>();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Returns the file to send: the given one, or what it was converted to. Both are stored.
   * @param type of the message
   * @param rules of its network; without a rule for the type, the file is sent as it is
   * @throws {AppError} `unsupported_media_type`, `payload_too_large`, `too_busy`
   */
  async prepare(row: MediaTable, type: string, rules: MediaRules | undefined): Promise<MediaTable> {
    const { media } = this.#options;
    const purpose = purposeOf(type, rules);
    if (purpose === undefined || rules === undefined) {
      await media.touch(row);
      return row;
    }
    const target = targetOf(purpose, rules);
    const key = `${row.account_id} ${row.hash} ${target}`;
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    // The rule is that of the purpose, which the type cannot express for a variable.
    const order = { purpose, rule: rules[purpose], mimeType: essenceOf(row.mime_type) } as Order;
    // It goes on for the other callers, whatever becomes of this one.
    const started = this.#prepareOnce(row, { order, target, key }).finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }

  async #prepareOnce(row: MediaTable, { order, target, key }: Work): Promise<MediaTable> {
    const { media } = this.#options;
    const earlier = await this.#findEarlier(row, target);
    if (earlier !== undefined) {
      await Promise.all([media.touch(row), media.touch(earlier)]);
      return earlier;
    }
    await media.touch(row);
    if (row.size > MAX_BYTES) {
      if (isAccepted(order, row.size)) return row;
      const message = `Files of more than ${MAX_BYTES} bytes are not converted to ${order.purpose}`;
      throw new AppError('payload_too_large', message);
    }
    let prepared: Prepared;
    try {
      this.#requireUntried(key);
      prepared = await this.#convert(row, order);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      if (error.reason === 'failed') this.#noteFailure(key, error);
      throw refusal(row, order.purpose, error);
    }
    const sendable = await this.#store(row, prepared);
    return prepared.isProvisional === true ? sendable : this.#settle(row, target, sendable);
  }

  /** Notes the result, and returns the one that counts: another node may have converted the same file meanwhile. */
  async #settle(row: MediaTable, target: string, { media_id: mediaId }: MediaTable): Promise<MediaTable> {
    const { account_id: accountId, hash } = row;
    const { database, clock } = this.#options;
    await database.commit((tx) => addConversion.run(tx, { accountId, hash, target, mediaId, now: clock.now() }));
    return (await this.#findEarlier(row, target)) ?? this.#options.media.find(accountId, mediaId);
  }

  /** @throws {ConversionError} if its conversion failed within the last hour: another try takes minutes as well */
  #requireUntried(key: string): void {
    const failure = this.#failures.get(key);
    if (failure === undefined) return;
    if (this.#options.clock.now() - failure.at < FAILURE_MS) throw failure.error;
    this.#failures.delete(key);
  }

  #noteFailure(key: string, error: ConversionError): void {
    const at = this.#failures.get(key)?.at ?? this.#options.clock.now();
    this.#failures.set(key, { error, at });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_FAILURES && oldest !== undefined) this.#failures.delete(oldest);
  }

  async #convert(row: MediaTable, order: Order): Promise<Prepared> {
    const { media, converter, log } = this.#options;
    try {
      return await converter.prepare(row.account_id, order, () => media.read(row.hash));
    } catch (error) {
      if (error instanceof ConversionError && error.reason !== 'refused')
        log.debug({ media: row.media_id, purpose: order.purpose, reason: error.reason }, 'failed to convert a file');
      throw error;
    }
  }

  async #store(row: MediaTable, { converted, facts, thumbnail }: Prepared): Promise<MediaTable> {
    const { media } = this.#options;
    if (converted === undefined) return media.addFacts(row, facts, thumbnail);
    const { content, mimeType, extension } = converted;
    const fileName = row.file_name === null ? null : `${row.file_name.replace(/\.[^.]{1,8}$/, '')}.${extension}`;
    const stream = Readable.from([Buffer.from(content)]);
    const stored = await media.keep(row.account_id, { stream, mimeType, fileName, isUnlimited: true });
    return media.addFacts(stored, facts, thumbnail);
  }

  async #findEarlier({ account_id: accountId, hash }: MediaTable, target: string): Promise<MediaTable | undefined> {
    return findConversion.first(this.#options.database.reader, { accountId, hash, target });
  }
}

const essenceOf = (mimeType: string) => mimeType.split(';', 1)[0]?.trim() ?? mimeType;

function purposeOf(type: string, rules: MediaRules | undefined): Purpose | undefined {
  const purposes: readonly Purpose[] = ['image', 'video', 'audio', 'voice', 'sticker'];
  return purposes.find((purpose) => purpose === type && rules?.[purpose] !== undefined);
}

function targetOf(purpose: Purpose, rules: MediaRules): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([VERSION, rules[purpose]]))
    .digest('base64url');
  return `${purpose} ${digest.slice(0, 16)}`;
}

const WANTED: Readonly<Record<Purpose, string>> = {
  image: 'a JPEG or PNG image',
  video: 'an MP4 video with H.264 and AAC',
  audio: 'an MP3 or AAC recording',
  voice: 'a voice message in Opus (Ogg, mono)',
  sticker: 'a WebP sticker of 512 × 512 pixels',
};

function refusal({ mime_type }: MediaTable, purpose: Purpose, { reason, message, cause }: ConversionError): AppError {
  const advice = reason === 'missing' ? 'install it with npm, or convert the file yourself' : undefined;
  const detail = advice === undefined ? message : `${message}; ${advice}`;
  return new AppError(
    'unsupported_media_type',
    `The file is ${mime_type} and cannot be made ${WANTED[purpose]}: ${detail}`,
    { cause },
  );
}

const findConversion = query((db, p: { accountId: string; hash: string; target: string }) =>
  db
    .selectFrom('media')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('media_id', '=', (eb) =>
      eb
        .selectFrom('media_conversions as c')
        .select('c.media_id')
        .where('c.account_id', '=', p.accountId)
        .where('c.hash', '=', p.hash)
        .where('c.target', '=', p.target),
    ),
);

/** Replaces an earlier result only if its file was deleted. */
const addConversion = query(
  (db, p: { accountId: string; hash: string; target: string; mediaId: string; now: number }) =>
    db
      .insertInto('media_conversions')
      .values({ account_id: p.accountId, hash: p.hash, target: p.target, media_id: p.mediaId, created_at: p.now })
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'hash', 'target'])
          .doUpdateSet({ media_id: p.mediaId, created_at: p.now })
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('media')
                  .select('media.media_id')
                  .whereRef('media.media_id', '=', 'media_conversions.media_id')
                  .where('media.account_id', '=', p.accountId),
              ),
            ),
          ),
      ),
);
