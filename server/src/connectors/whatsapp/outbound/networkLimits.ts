import type { BaileysEventMap, NewChatMessageCapInfo, WASocket } from 'baileys';
import { isoTime } from '../../../clock.ts';
import type { SessionHost } from '../../connector.ts';
import { rateLimited } from '../link/errors.ts';
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
  #lockedUntil = 0;
  #quota: NewChatMessageCapInfo | undefined;

  constructor({ link, host }: Session) {
    this.#host = host;
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

  /** @throws {AppError} `rate_limited` while the number may not start chats */
  requireNewChat(): void {
    const waitMs = this.#lockedUntil - this.#host.clock.now();
    if (waitMs > 0)
      throw rateLimited(
        `WhatsApp does not let this number start new chats until ${isoTime(this.#lockedUntil)}; existing chats still work`,
        waitMs,
      );
    const quota = this.#quota;
    if (quota?.capping_status === QUOTA_USED)
      throw rateLimited(
        `WhatsApp does not let this number start more chats: it has started ${quota.used_quota} of ${quota.total_quota}`,
        QUOTA_RETRY_MS,
      );
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
    this.#lockedUntil = until;
  }

  #onQuota(quota: NewChatMessageCapInfo): void {
    const { capping_status: status, used_quota: used, total_quota: of } = quota;
    if (status !== this.#quota?.capping_status && status !== NO_QUOTA)
      this.#host.log.warn({ used, of }, 'WhatsApp limits how many chats this number starts');
    this.#quota = quota;
  }
}
