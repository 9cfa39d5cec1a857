import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isFields } from '../objects.ts';
import { thrownCode } from '../thrown.ts';
import { CliError } from './failure.ts';
import type { Io } from './io.ts';

/** A server and the key for it. */
export interface Profile {
  readonly url: string;
  readonly key: string;
  /** The account of the key. */
  readonly email: string;
  readonly keyId: string;
  /** Whether the login made the key for this machine. */
  readonly isOwnKey: boolean;
}

export const DEFAULT_PROFILE = 'default';
const LOCK_POLL_MS = 20;
const LOCK_MS = 5000;
const NAME = /^[\w.-]{1,50}$/;

/**
 * The profiles of the person who runs the command, in a file that only that person can read: mode 600 in a folder of
 * mode 700. Wider modes are repaired. A file that cannot be read is never replaced.
 */
export class Profiles {
  readonly path: string;
  readonly #isPosix: boolean;
  /** Whether only this program uses the folder. The folder of a path that the user chose keeps its mode. */
  readonly #hasOwnFolder: boolean;

  constructor(io: Pick<Io, 'env' | 'platform' | 'homeDir'>) {
    const chosen = io.env['SWITCHBOARD_CONFIG'];
    this.path = chosen || join(configFolder(io), 'switchboard', 'config.json');
    this.#hasOwnFolder = !chosen;
    this.#isPosix = io.platform !== 'win32';
  }

  async get(name: string): Promise<Profile | undefined> {
    const profiles = await this.all();
    return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  }

  /** @throws {CliError} `usage` */
  requireName(name: string): void {
    if (!NAME.test(name))
      throw new CliError('usage', 'The name of a profile has up to 50 letters, digits, dots, dashes and underscores.');
  }

  /** @param name as `requireName` accepts it */
  async set(name: string, profile: Profile): Promise<void> {
    await this.#locked(async () => this.#write({ ...(await this.all()), [name]: profile }));
  }

  /** @returns whether it existed */
  async delete(name: string): Promise<boolean> {
    return this.#locked(async () => {
      const { [name]: removed, ...others } = await this.all();
      if (removed !== undefined) await this.#write(others);
      return removed !== undefined;
    });
  }

  /** Lets one process at a time read and write the file, so that two logins do not lose a profile. */
  async #locked<T>(change: () => Promise<T>): Promise<T> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const lock = `${this.path}.lock`;
    const own = randomUUID();
    let holder: string | undefined;
    for (let waitedMs = 0; !(await isCreated(lock, own)); waitedMs += LOCK_POLL_MS) {
      const previous = holder;
      holder = await readFile(lock, 'utf8').catch(ifMissing);
      if (holder !== previous) waitedMs = 0;
      // A change takes milliseconds, so this process has died.
      if (waitedMs >= LOCK_MS) await rm(lock, { force: true });
      await setTimeout(LOCK_POLL_MS);
    }
    try {
      return await change();
    } finally {
      // Unless this process stood still for so long that another one has taken the lock.
      if ((await readFile(lock, 'utf8').catch(ifMissing)) === own) await rm(lock, { force: true });
    }
  }

  /** @throws {CliError} if the file is damaged, or belongs to somebody else */
  async all(): Promise<Readonly<Record<string, Profile>>> {
    const found = await stat(this.path).catch(ifMissing);
    if (found === undefined) return {};
    if (!found.isFile()) throw new CliError('failed', `${this.path} is not a file. Set SWITCHBOARD_CONFIG to one.`);
    if (this.#isPosix && found.uid !== process.getuid?.())
      throw new CliError('failed', `${this.path} belongs to another user. Delete it, or set SWITCHBOARD_CONFIG.`);
    const profiles = parse(await readFile(this.path, 'utf8'), this.path);
    // Not before it is known to be ours: the path may be wrong.
    if (this.#isPosix && (found.mode & 0o077) !== 0) await chmod(this.path, 0o600);
    await this.#protectFolder();
    return profiles;
  }

  /** The profile folder of a Windows user is private. */
  async #protectFolder(): Promise<void> {
    if (!this.#hasOwnFolder || !this.#isPosix) return;
    const folder = dirname(this.path);
    const { mode } = await stat(folder);
    if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
  }

  /** Writes a new file and puts it in place of the old one, so that a crash leaves one of them. */
  async #write(profiles: Readonly<Record<string, Profile>>): Promise<void> {
    // A link to the file of a dotfiles folder stays.
    const target = (await realpath(this.path).catch(ifMissing)) ?? this.path;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const partial = `${target}.${randomUUID()}`;
    try {
      const file = await open(partial, 'wx', 0o600);
      try {
        await file.writeFile(`${JSON.stringify({ profiles }, null, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, target);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    await this.#protectFolder();
  }
}

/** @returns false if the file exists */
async function isCreated(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (thrownCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function configFolder({ env, platform, homeDir }: Pick<Io, 'env' | 'platform' | 'homeDir'>): string {
  if (env['XDG_CONFIG_HOME']) return env['XDG_CONFIG_HOME'];
  if (platform === 'win32') return env['APPDATA'] || join(homeDir, 'AppData', 'Roaming');
  return platform === 'darwin' ? join(homeDir, 'Library', 'Application Support') : join(homeDir, '.config');
}

function parse(text: string, path: string): Readonly<Record<string, Profile>> {
  const value = parsed(text);
  if (!isFields(value) || !isFields(value['profiles']) || !Object.values(value['profiles']).every(isProfile))
    throw new CliError(
      'failed',
      `${path} is not a config file of Switchboard, and was not changed. Repair it, or delete it and log in again.`,
    );
  return value['profiles'] as Record<string, Profile>; // every value was checked
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isProfile = (value: unknown): boolean =>
  isFields(value) && ['url', 'key', 'email', 'keyId'].every((name) => typeof value[name] === 'string');

/** Turns the error of a file that does not exist into `undefined`. */
export function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
