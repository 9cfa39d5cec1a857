/* The codes are those of Baileys: the server's own, or those of HTTP for errors on the way. */

export type Ending =
  /** The server asked for a new connection: immediately, without a report. */
  | { readonly next: 'now' }
  /** Retry, with growing delays; or not before `afterMs`. */
  | { readonly next: 'later'; readonly reason: string; readonly afterMs?: number }
  /** Another attempt is pointless until somebody acts. */
  | { readonly next: 'stop'; readonly reason: string }
  /** The device is no longer linked: its credentials are worthless. */
  | { readonly next: 'unlinked'; readonly reason: string };

/** A connection's end as Baileys reports it. */
export interface End {
  readonly code: number | undefined;
  readonly message: string;
  /** Details from the server, such as when a ban ends. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Somebody has to install a new version: more attempts would only draw attention. */
const OLD_VERSION_RETRY_MS = 15 * 60_000;
const BAN_RETRY_MS = 60 * 60_000;
/** The code of a ban that ends by itself. */
export const TEMPORARY_BAN = 402;
const QR_OVER = 'QR refs attempts ended';

/**
 * The phone asks for a passkey after the code was scanned or typed. Baileys acknowledges the request and does nothing.
 */
export const PASSKEY_REQUIRED: Ending = {
  next: 'stop',
  reason: 'WhatsApp requires a passkey to link a device to this account, which this client does not support',
};

/** The code of a refused version. */
export const OUTDATED = 405;
/** The version was refused, and `webVersion.ts` has found no other. */
export const OUTDATED_FOR_GOOD: Ending = {
  next: 'later',
  reason:
    'WhatsApp no longer accepts this version of the client, and a newer one could not be found; upgrade the server, or set WHATSAPP_VERSION to a newer one',
  afterMs: OLD_VERSION_RETRY_MS,
};

/** The next steps after codes that always mean the same. */
const ENDINGS: Readonly<Record<number, Ending>> = {
  403: { next: 'stop', reason: 'WhatsApp has banned the number' },
  [OUTDATED]: {
    next: 'later',
    reason: 'WhatsApp no longer accepts this version of the client; set WHATSAPP_VERSION to auto or to a newer one',
    afterMs: OLD_VERSION_RETRY_MS,
  },
  408: { next: 'later', reason: 'WhatsApp does not answer' },
  411: { next: 'stop', reason: 'The account does not support linked devices; update WhatsApp on its phone' },
  428: { next: 'later', reason: 'The connection to WhatsApp was lost' },
  440: {
    next: 'stop',
    reason: 'Another client connected with the credentials of this device; only one client can use them',
  },
  503: { next: 'later', reason: 'WhatsApp is not available right now' },
  515: { next: 'now' },
};

/** @param isLinked whether the device was ever linked; before that, a refusal concerns the linking */
export function endingOf({ code = 0, message, data }: End, isLinked: boolean): Ending {
  if (message === QR_OVER)
    return { next: 'stop', reason: 'The session was not linked in time; connect it again for a new QR code' };
  if (code === 401)
    return isLinked
      ? { next: 'unlinked', reason: 'The device was unlinked on the phone, or WhatsApp logged it out' }
      : {
          next: 'stop',
          reason:
            'WhatsApp did not link the device. Some accounts require a passkey on the phone, which this client does not support',
        };
  if (code === TEMPORARY_BAN) {
    const afterMs = secondsOf(data['expire']) ?? BAN_RETRY_MS;
    return { next: 'later', reason: 'WhatsApp has banned the number temporarily', afterMs };
  }
  return ENDINGS[code] ?? { next: 'later', reason: `The connection to WhatsApp failed: ${message}` };
}

function secondsOf(value: unknown): number | undefined {
  const seconds = Number(value);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
}

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** Randomly up to half less, so that sessions that lost the network together do not come back together. */
export function backoffMs(failures: number, random: () => number): number {
  const longest = Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
  return longest * (1 - random() / 2);
}
