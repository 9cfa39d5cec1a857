import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A place in the event log. */
interface Seen {
  readonly position: number;
  /** The epoch that the log was in. */
  readonly epoch: string;
}

/**
 * The newest place of the event log that this node has seen, in its data folder. A database that is replaced by an
 * older copy takes everything else with it.
 */
export class SeenPosition {
  readonly #file: string;
  #seen: Seen;

  constructor(dataDir: string) {
    this.#file = join(dataDir, 'log-position');
    this.#seen = readSeen(this.#file);
  }

  /** Whether the log has gone back in the same epoch. */
  isAheadOf({ position, epoch }: Seen): boolean {
    return epoch === this.#seen.epoch && position < this.#seen.position;
  }

  /** @throws if the folder cannot be written to */
  note({ position, epoch }: Seen): void {
    if (epoch === this.#seen.epoch && position === this.#seen.position) return;
    this.#seen = { position, epoch };
    const unfinished = `${this.#file}.new`;
    writeFileSync(unfinished, JSON.stringify(this.#seen), { mode: 0o600 });
    renameSync(unfinished, this.#file);
  }
}

function readSeen(file: string): Seen {
  const nothing = { position: 0, epoch: '' };
  if (!existsSync(file)) return nothing;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Seen; // only `note` writes it
  } catch {
    return nothing;
  }
}
