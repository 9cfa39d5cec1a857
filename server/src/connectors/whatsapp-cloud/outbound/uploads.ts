import type { NetworkMedia } from '../../contract/networkMedia.ts';
import { uploadMedia } from '../media.ts';
import type { CloudNumber } from '../number/cloudNumber.ts';

const PREFIX = 'upload/';
/** Meta keeps a file for 30 days. The margin covers messages that wait to be sent. */
const KEPT_MS = 25 * 24 * 3_600_000;
const MAX_KEPT = 500;

interface Upload {
  readonly id: string;
  readonly until: number;
}

/**
 * The files of one number at Meta, by their content: a file that is sent to many people is uploaded once. Stored with
 * the session, because Meta keeps the files longer than a server runs.
 */
export class Uploads {
  readonly #number: CloudNumber;
  #known: Promise<Map<string, Upload>> | undefined;
  readonly #running = new Map<string, Promise<string>>();

  constructor(number: CloudNumber) {
    this.#number = number;
  }

  /**
   * Returns the id of the file at Meta, which is uploaded unless it is there.
   * @returns `isReused` if Meta may have lost it since
   */
  async idOf(media: NetworkMedia): Promise<{ id: string; isReused: boolean }> {
    const key = this.#keyOf(media);
    if (key === undefined) return { id: await this.#upload(media), isReused: false };
    const found = (await this.#read()).get(key);
    if (found !== undefined && found.until > this.#now()) return { id: found.id, isReused: true };
    const running = this.#running.get(key) ?? this.#uploadAs(key, media);
    return { id: await running, isReused: false };
  }

  /** Forgets a file that Meta has lost. */
  async forget(media: NetworkMedia): Promise<void> {
    const key = this.#keyOf(media);
    if (key === undefined) return;
    (await this.#read()).delete(key);
    await this.#number.host.store.delete(key);
  }

  /** Forgets all files, because Meta has lost one that it does not name. */
  async forgetAll(): Promise<void> {
    const known = await this.#read();
    if (known.size === 0) return;
    const gone = new Map([...known.keys()].map((key) => [key, null]));
    known.clear();
    await this.#number.host.store.write(gone);
  }

  #uploadAs(key: string, media: NetworkMedia): Promise<string> {
    const uploading = this.#upload(media)
      .then(async (id) => {
        await this.#keep(key, { id, until: this.#now() + KEPT_MS });
        return id;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, uploading);
    return uploading;
  }

  #upload(media: NetworkMedia): Promise<string> {
    const { graph, options } = this.#number;
    return uploadMedia(graph, options.phoneNumberId, media);
  }

  /** Files of another number cannot be used, and the type is part of the file at Meta. */
  #keyOf({ hash, mimeType }: NetworkMedia): string | undefined {
    return hash === undefined ? undefined : `${PREFIX}${this.#number.options.phoneNumberId}/${hash}/${mimeType}`;
  }

  async #keep(key: string, upload: Upload): Promise<void> {
    const known = await this.#read();
    known.delete(key); // so that the newest is last
    known.set(key, upload);
    const gone = [...known.keys()].slice(0, Math.max(0, known.size - MAX_KEPT));
    for (const old of gone) known.delete(old);
    const changes = new Map<string, string | null>(gone.map((old) => [old, null]));
    await this.#number.host.store.write(changes.set(key, JSON.stringify(upload)));
  }

  /** Reads them with the first file. Expired ones, and those of another number, are deleted. */
  #read(): Promise<Map<string, Upload>> {
    this.#known ??= this.#load().catch((error) => {
      this.#known = undefined;
      throw error;
    });
    return this.#known;
  }

  async #load(): Promise<Map<string, Upload>> {
    const { store } = this.#number.host;
    const now = this.#now();
    const own = `${PREFIX}${this.#number.options.phoneNumberId}/`;
    const all = [...(await store.list(PREFIX))].map(([key, text]) => ({ key, upload: JSON.parse(text) as Upload }));
    const valid = all.filter(({ key, upload }) => key.startsWith(own) && upload.until > now);
    const gone = all.filter((one) => !valid.includes(one));
    if (gone.length > 0) await store.write(new Map(gone.map(({ key }) => [key, null])));
    return new Map(
      valid.toSorted((one, other) => one.upload.until - other.upload.until).map(({ key, upload }) => [key, upload]),
    );
  }

  #now(): number {
    return this.#number.host.clock.now();
  }
}
