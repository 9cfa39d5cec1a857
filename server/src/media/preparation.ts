import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';
import type { MediaRules } from '../connectors/media.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MediaTable } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Converter } from './conversion/converter.ts';
import { ConversionError, type Order, type Prepared, type Purpose } from './conversion/task.ts';
import type { Media } from './media.ts';

interface Options {
  readonly media: Media;
  readonly converter: Converter;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
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
    const earlier = await this.#findEarlier(row, target);
    if (earlier !== undefined) {
      await Promise.all([media.touch(row), media.touch(earlier)]);
      return earlier;
    }
    await media.touch(row);
    const accepted = isAccepted(row, purpose, rules);
    if (row.size > MAX_BYTES) {
      if (accepted) return row;
      throw new AppError('payload_too_large', `Files of more than ${MAX_BYTES} bytes are not converted to ${purpose}`);
    }
    const key = `${row.account_id} ${row.hash} ${target}`;
    let prepared: Prepared;
    try {
      this.#requireUntried(key);
      prepared = await this.#convert(row, purpose, rules);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      if (error.reason === 'failed') this.#noteFailure(key, error);
      if (accepted && (await this.#isSendable(row, error))) return row;
      throw refusal(row, purpose, error);
    }
    const sendable = await this.#store(row, prepared);
    await this.#options.database.commit((tx) =>
      addConversion.run(tx, {
        accountId: row.account_id,
        hash: row.hash,
        target,
        mediaId: sendable.media_id,
        now: this.#options.clock.now(),
      }),
    );
    return sendable;
  }

  /**
   * Whether a file of an accepted type is sent although it was not examined: because a library is missing, or because it
   * is too much for the process. Without the library, Ogg must have Opus, which its first bytes say.
   */
  async #isSendable(row: MediaTable, { reason }: ConversionError): Promise<boolean> {
    if (reason === 'failed') return true;
    if (reason !== 'missing') return false;
    return essenceOf(row.mime_type) !== 'audio/ogg' || hasOpus(await this.#options.media.open(row.hash));
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

  async #convert(row: MediaTable, purpose: Purpose, rules: MediaRules): Promise<Prepared> {
    const { media, converter, log } = this.#options;
    // The rule is that of the purpose, which the type cannot express for a variable.
    const order = { purpose, rule: rules[purpose], mimeType: essenceOf(row.mime_type) } as Order;
    try {
      return await converter.prepare(row.account_id, order, () => media.read(row.hash));
    } catch (error) {
      if (error instanceof ConversionError && error.reason !== 'refused')
        log.debug({ media: row.media_id, purpose, reason: error.reason }, 'failed to convert a file');
      throw error;
    }
  }

  async #store(row: MediaTable, { converted, facts, thumbnail }: Prepared): Promise<MediaTable> {
    const { media } = this.#options;
    if (converted === undefined) return media.addFacts(row, facts, thumbnail);
    const { content, mimeType, extension } = converted;
    const fileName = row.file_name === null ? null : `${row.file_name.replace(/\.[^.]{1,8}$/, '')}.${extension}`;
    const stream = Readable.from([Buffer.from(content)]);
    const stored = await media.keep(row.account_id, { stream, mimeType, fileName });
    return media.addFacts(stored, facts, thumbnail);
  }

  async #findEarlier({ account_id: accountId, hash }: MediaTable, target: string): Promise<MediaTable | undefined> {
    return findConversion.first(this.#options.database.reader, { accountId, hash, target });
  }
}

const essenceOf = (mimeType: string) => mimeType.split(';', 1)[0]?.trim() ?? mimeType;

/** Whether an Ogg starts with Opus. */
async function hasOpus(stream: Readable): Promise<boolean> {
  let head = Buffer.alloc(0);
  for await (const chunk of stream) {
    head = Buffer.concat([head, chunk]);
    if (head.length >= OPUS_END) break;
  }
  return head.toString('latin1', OPUS_END - OPUS.length, OPUS_END) === OPUS;
}

const OPUS = 'OpusHead';
/** The header of the first page, with one segment, comes before it. */
const OPUS_END = 36;

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

/** Whether the network accepts the type and size, as far as they tell. */
function isAccepted({ mime_type, size }: MediaTable, purpose: Purpose, rules: MediaRules): boolean {
  const mimeType = essenceOf(mime_type);
  const { image, video, audio, voice, sticker } = rules;
  switch (purpose) {
    case 'voice':
      return mimeType === 'audio/ogg' && size <= (voice?.maxBytes ?? 0);
    case 'sticker':
      return mimeType === 'image/webp' && size <= (sticker?.maxAnimatedBytes ?? 0);
    default: {
      const rule = { image, video, audio }[purpose];
      return rule?.mimeTypes.includes(mimeType) === true && size <= rule.maxBytes;
    }
  }
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

const addConversion = query(
  (db, p: { accountId: string; hash: string; target: string; mediaId: string; now: number }) =>
    db
      .insertInto('media_conversions')
      .values({ account_id: p.accountId, hash: p.hash, target: p.target, media_id: p.mediaId, created_at: p.now })
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'hash', 'target']).doUpdateSet({ media_id: p.mediaId, created_at: p.now }),
      ),
);
