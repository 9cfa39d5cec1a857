import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Deletions } from '../jobs/deletions.ts';
import type { Media } from '../media/media.ts';
import type { Metrics } from '../metrics.ts';
import type { SteadyClock } from '../steadyClock.ts';
import type { Emit } from '../webhooks/log/emit.ts';

/** The dependencies of all parts of the inbox. */
export interface InboxOptions {
  readonly media: Media;
  readonly clock: Clock;
  /** The clock of ids. */
  readonly steady: Pick<SteadyClock, 'fromWall'>;
  readonly newId: NewId;
  readonly emit: Emit;
  readonly deletions: Deletions;
  readonly metrics: Pick<Metrics, 'unreadable'>;
}
