import type { BaileysEventMap, NewChatMessageCapInfo, WASocket } from 'baileys';
import { type Clock, isoTime } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';

/** What WhatsApp itself allows a number, as far as it says so: the step before a ban. */
export interface NetworkLimits {
  /** Asks for what holds now, and listens for what comes. */
  watch(socket: WASocket): void;
  ask(socket: WASocket): Promise<void>;
  /** @throws {AppError} `rate_limited` while the number may begin no chats */
  requireNewChat(): void;
}

type Timelock = NonNullable<BaileysEventMap['connection.update']['reachoutTimeLock']>;

/** WhatsApp's own clients take a lock that does not say when it ends for one of a minute. */
const UNSAID_LOCK_MS = 60_000;
/** A quota is one of a month, and who has used it up may come back to ask. */
const QUOTA_RETRY_S = 3600;

export function createNetworkLimits({ clock, log }: { clock: Clock; log: Log }): NetworkLimits {
  let lockedUntil = 0;
  let quota: NewChatMessageCapInfo | undefined;

  function onTimelock({ isActive, timeEnforcementEnds, enforcementType }: Timelock): void {
    const until = isActive === true ? (timeEnforcementEnds?.getTime() ?? clock.now() + UNSAID_LOCK_MS) : 0;
    if (until > clock.now() && until !== lockedUntil)
      log.warn({ until: isoTime(until), kind: enforcementType }, 'WhatsApp does not let this number start new chats');
    lockedUntil = until;
  }

  function onQuota(told: NewChatMessageCapInfo): void {
    if (told.capping_status !== quota?.capping_status && told.capping_status !== NO_QUOTA)
      log.warn({ used: told.used_quota, of: told.total_quota }, 'WhatsApp limits how many chats this number starts');
    quota = told;
  }

  return {
    watch({ ev }) {
      ev.on('connection.update', ({ reachoutTimeLock }) => {
        if (reachoutTimeLock !== undefined) onTimelock(reachoutTimeLock);
      });
      ev.on('message-capping.update', onQuota);
    },
    async ask(socket) {
      await socket.fetchAccountReachoutTimelock();
      const told = await socket.fetchNewChatMessageCap();
      if (told !== undefined && told !== null) onQuota(told);
    },
    requireNewChat() {
      const waitMs = lockedUntil - clock.now();
      if (waitMs > 0)
        throw new AppError(
          'rate_limited',
          `WhatsApp does not let this number start new chats until ${isoTime(lockedUntil)}; existing chats still work`,
          { retryAfterSeconds: Math.ceil(waitMs / 1000) },
        );
      if (quota?.capping_status === QUOTA_USED)
        throw new AppError(
          'rate_limited',
          `WhatsApp does not let this number start more chats: it has started ${quota.used_quota} of ${quota.total_quota}`,
          { retryAfterSeconds: QUOTA_RETRY_S },
        );
    },
  };
}

// Words of the protocol; Baileys has them as an enum, which would be loaded with it.
const NO_QUOTA = 'NONE';
const QUOTA_USED = 'CAPPED';
