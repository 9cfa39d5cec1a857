import type { SocketConfig } from 'baileys';
import type { SessionHost } from '../../contract/host.ts';

export type BaileysLogger = SocketConfig['logger'];
type Level = 'warn' | 'error';

/** Lines with the same beginning that are logged within a minute. */
const SAME_LINES = 20;
const SAME_MS = 60_000;
/** The rest of a line often has addresses. */
const BEGINNING = 20;
const BEGINNINGS_KEPT = 100;

/**
 * The log of Baileys. Errors and warnings only, because it logs the content of messages from `info` on. It writes some
 * of them for each member of a group, such as "Invalid LID-PN mapping" for 1,024 members in one turn. A pipe does not
 * take as many lines, and the process would stand still until somebody has read them.
 */
export function createBaileysLog({ log, clock }: Pick<SessionHost, 'log' | 'clock'>): BaileysLogger {
  const level = log.isLevelEnabled('warn') ? 'warn' : log.level;
  return limited(log.child({ part: 'baileys' }, { level }), new LineLimit(clock));
}

/** Counts the lines of a session. */
class LineLimit {
  readonly #clock: SessionHost['clock'];
  readonly #counts = new Map<string, { readonly since: number; lines: number }>();

  constructor(clock: SessionHost['clock']) {
    this.#clock = clock;
  }

  /** Returns whether to log a line. `isLast`: further ones are left out. */
  take(line: string): { readonly isLogged: boolean; readonly isLast: boolean } {
    const beginning = line.slice(0, BEGINNING);
    const now = this.#clock.elapsed();
    const known = this.#counts.get(beginning);
    const count = known !== undefined && now - known.since < SAME_MS ? known : { since: now, lines: 0 };
    count.lines++;
    this.#counts.delete(beginning);
    this.#counts.set(beginning, count);
    for (const oldest of this.#counts.keys()) {
      if (this.#counts.size <= BEGINNINGS_KEPT) break;
      this.#counts.delete(oldest);
    }
    return { isLogged: count.lines <= SAME_LINES, isLast: count.lines === SAME_LINES };
  }
}

function limited(log: SessionHost['log'], limit: LineLimit): BaileysLogger {
  const write = (level: Level) => (about: unknown, text?: string) => {
    if (!log.isLevelEnabled(level)) return;
    const { isLogged, isLast } = limit.take(typeof about === 'string' ? about : (text ?? ''));
    if (isLogged && typeof about === 'object' && about !== null) log[level](about, text);
    else if (isLogged) log[level](String(about));
    if (isLast) log.warn('leaving out further lines like this one for a minute');
  };
  const drop = () => {};
  return {
    level: log.level,
    child: (bindings) => limited(log.child(bindings), limit),
    trace: drop,
    debug: drop,
    info: drop,
    warn: write('warn'),
    error: write('error'),
  };
}
