import type { BaileysEventMap, NewChatMessageCapInfo, WASocket } from 'baileys';
import { isoTime } from '../../../clock.ts';
import type { SessionHost } from '../../contract/host.ts';
import { type Forecast, limitOutcome } from '../../contract/standing.ts';
import { rateLimited } from '../link/errors.ts';
import type { Reporter } from '../reporter.ts';
import type { Session } from '../session.ts';

type Timelock = NonNullable<BaileysEventMap['connection.update']['reachoutTimeLock']>;

/** WhatsApp's own clients treat a lock without an end as one minute. */
const DEFAULT_LOCK_MS = 60_000;
/** A quota lasts a month; callers may retry earlier. */
const QUOTA_RETRY_MS = 3_600_000;

// Protocol constant. Baileys has it in an enum, which would load the library.
const NO_QUOTA = 'NONE';
const QUOTA_USED = 'CAPPED';

/** The limits that WhatsApp itself sets for a number, as far as it reports them: the step before a ban. */
export class NetworkLimits {
  readonly #host: SessionHost;
  readonly #reporter: Reporter;
  /** Undefined until WhatsApp has said it. */
  #lockedUntil: number | undefined;
  #quota: NewChatMessageCapInfo | undefined;

  constructor({ link, host, reporter }: Session) {
    this.#host = host;
    this.#reporter = reporter;
    link.on('socket', ({ ev }) => {
      ev.on('connection.update', ({ reachoutTimeLock }) => {
        if (reachoutTimeLock !== undefined) this.#onTimelock(reachoutTimeLock);
      });
      ev.on('message-capping.update', (quota) => this.#onQuota(quota));
    });
    link.on('open', (socket) => {
      this.#read(socket).catch((error) => host.log.debug({ err: error }, 'failed to read the limits of the number'));
    });
  }

  /** Returns what would happen to the new chat after `more` others. */
  forecast(more: number): Forecast {
    const now = this.#host.clock.now();
    const until = this.#lockedUntil ?? 0;
    if (until > now) return { outcome: 'limit_reached', reason: lockReason(until), retryAfterMs: until - now };
    const quota = this.#quota;
    if (quota === undefined || quota.capping_status === NO_QUOTA) return { outcome: 'ok' };
    const { used_quota: used = 0, total_quota: total = 0 } = quota;
    const outcome = quota.capping_status === QUOTA_USED ? 'limit_reached' : limitOutcome(used + more, total);
    if (outcome === 'ok') return { outcome };
    return {
      outcome,
      reason: quotaReason(quota),
      ...(outcome === 'limit_reached' && { retryAfterMs: QUOTA_RETRY_MS }),
    };
  }

  /** @throws {AppError} `rate_limited` while the number may not start chats */
  requireNewChat(): void {
    const until = this.#lockedUntil ?? 0;
    const waitMs = until - this.#host.clock.now();
    if (waitMs > 0) throw rateLimited(lockReason(until), waitMs);
    const quota = this.#quota;
    if (quota?.capping_status === QUOTA_USED) throw rateLimited(quotaReason(quota), QUOTA_RETRY_MS);
  }

  async #read(socket: WASocket): Promise<void> {
    await socket.fetchAccountReachoutTimelock();
    const quota = await socket.fetchNewChatMessageCap();
    if (quota !== undefined && quota !== null) this.#onQuota(quota);
  }

  #onTimelock({ isActive, timeEnforcementEnds, enforcementType }: Timelock): void {
    const now = this.#host.clock.now();
    const until = isActive === true ? (timeEnforcementEnds?.getTime() ?? now + DEFAULT_LOCK_MS) : 0;
    if (until > now && until !== this.#lockedUntil)
      this.#host.log.warn(
        { until: isoTime(until), kind: enforcementType },
        'WhatsApp does not let this number start new chats',
      );
    if (until !== this.#lockedUntil)
      this.#reporter.reportInOrder({ type: 'standing', noNewChatsUntil: until > now ? until : null });
    this.#lockedUntil = until;
  }

  #onQuota(quota: NewChatMessageCapInfo): void {
    const { capping_status: status, used_quota: used, total_quota: of } = quota;
    if (status !== this.#quota?.capping_status && status !== NO_QUOTA)
      this.#host.log.warn({ used, of }, 'WhatsApp limits how many chats this number starts');
    const [before, after] = [this.#quota && countsOf(this.#quota), countsOf(quota)];
    if (before === undefined || before?.used !== after?.used || before?.total !== after?.total)
      this.#reporter.reportInOrder({ type: 'standing', newChats: after });
    this.#quota = quota;
  }
}

const lockReason = (until: number) =>
  `WhatsApp does not let this number start new chats until ${isoTime(until)}; existing chats still work`;

const quotaReason = ({ used_quota: used, total_quota: total }: NewChatMessageCapInfo) =>
  `WhatsApp does not let this number start more chats: it has started ${used} of ${total}`;

/** The quota in numbers that are safe to store; null if there is none. */
function countsOf(quota: NewChatMessageCapInfo) {
  if (quota.capping_status === NO_QUOTA) return null;
  const [used, total] = [Number(quota.used_quota), Number(quota.total_quota)];
  if (!Number.isSafeInteger(used) || !Number.isSafeInteger(total) || used < 0 || total < 0) return null;
  return { used, total };
}
