import { isoTime } from '../clock.ts';
import type { Quality } from '../connectors/contract/business.ts';
import type { NetworkStanding } from '../connectors/contract/standing.ts';
import type { RiskLevel } from '../db/tables/sessions.ts';
import type { Assessment, RiskReason } from '../messages/standing/sessionRisk.ts';

/** The figures of a session and its number. */
export interface RiskFigures {
  /** When the session connected with the number for the first time; null if unknown, which counts as new. */
  readonly linkedAt: number | null;
  /** In the last 24 hours. */
  readonly newChats: number;
  readonly sent: number;
  readonly unreachable: number;
  readonly blockReports: number;
  readonly spamLimits: number;
  readonly restrictions: number;
  readonly lookUps: number;
  /** Received messages that could not be decrypted after all retries. */
  readonly unreadable: number;
  /** In the last hour. */
  readonly sentInHour: number;
  readonly failedInHour: number;
  /** The most messages within one minute of the last hour. */
  readonly peakPerMinute: number;
  /** Chats that the session started in the last week and more than a day ago, and those that were answered. */
  readonly startedInWeek: number;
  readonly answeredInWeek: number;
  /** The network's judgment of the number; null if it has none. */
  readonly quality: Quality | null;
  /** False if the network lets the number send nothing. */
  readonly maySend: boolean;
  /** The network's own limits. */
  readonly standing: NetworkStanding;
}

type Gravity = Exclude<RiskLevel, 'low'>;

/** The values from which on something is a risk. */
interface Limits {
  readonly elevated: number;
  readonly high: number;
}

interface Age {
  /** Up to how many days after it was linked. */
  readonly days: number;
  readonly newChats: Limits;
  readonly perMinute: Limits;
}

/** A number may do more the longer it is linked. These are experience, because WhatsApp publishes no limits. */
const AGES: readonly Age[] = [
  { days: 1, newChats: { elevated: 15, high: 30 }, perMinute: { elevated: 20, high: 50 } },
  { days: 7, newChats: { elevated: 30, high: 60 }, perMinute: { elevated: 20, high: 50 } },
  { days: 30, newChats: { elevated: 60, high: 120 }, perMinute: { elevated: 30, high: 60 } },
  { days: Number.POSITIVE_INFINITY, newChats: { elevated: 100, high: 200 }, perMinute: { elevated: 45, high: 90 } },
];
const FAILED_SHARE: Limits = { elevated: 0.2, high: 0.5 };
/** Sends of an hour before their failures say anything. */
const MIN_SENDS = 10;
const UNREACHABLE: Limits = { elevated: 5, high: 20 };
const UNANSWERED_SHARE: Limits = { elevated: 0.75, high: 0.9 };
/** Started chats before their answers say anything: for an elevated and for a high risk. */
const MIN_STARTED: Limits = { elevated: 20, high: 50 };
const BLOCK_REPORTS: Limits = { elevated: 1, high: 3 };
const SPAM_LIMITS: Limits = { elevated: 1, high: 5 };
const QUOTA_SHARE: Limits = { elevated: 0.8, high: 1 };

/** A reason stays until its value is this much below the limit, so that the risk does not flap. */
const KEPT_ABOVE = 0.8;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Assesses the risk that a network bans a number. The risk is that of the gravest reason.
 * @param isForBusinesses see `Connector`: new chats, unanswered ones and the pace of messages are no reasons
 * @param before the reasons of the last assessment, which stay longer than they would take to arise
 */
export function assessRisk(
  figures: RiskFigures,
  { isForBusinesses, now }: { readonly isForBusinesses: boolean; readonly now: number },
  before: readonly Pick<RiskReason, 'code' | 'risk'>[] = [],
): Assessment {
  const earlier = new Map(before.flatMap(({ code, risk }) => (risk === 'low' ? [] : [[code, risk]])));
  const found: RiskReason[] = [];
  const weigh = (code: string, value: number, limits: Limits, message: string) => {
    const risk = gravityOf(value, limits, earlier.get(code));
    if (risk !== undefined) found.push({ code, risk, message });
  };
  weighNetwork(figures, now, weigh);
  weighFailures(figures, weigh);
  if (!isForBusinesses) weighBehavior(figures, now, weigh);
  // Networks ban no number for it, but messages are missing.
  const { unreadable } = figures;
  if (unreadable > 0)
    found.push({
      code: 'unreadable',
      risk: 'low',
      message: `${counted(unreadable, 'received message')} could not be decrypted within the last day.`,
    });
  const reasons = found.toSorted((one, other) => riskLevels.indexOf(other.risk) - riskLevels.indexOf(one.risk));
  return { risk: reasons[0]?.risk ?? 'low', reasons };
}

type Weigh = (code: string, value: number, limits: Limits, message: string) => void;

/** Values of what is either so or not. */
const YES = { elevated: { elevated: 1, high: 2 }, high: { elevated: 1, high: 1 } } as const;

/** Weighs the reports of the network. */
function weighNetwork(figures: RiskFigures, now: number, weigh: Weigh): void {
  const { quality, maySend, standing, blockReports, spamLimits, restrictions } = figures;
  const { noNewChatsUntil, newChats } = standing;
  if (noNewChatsUntil && noNewChatsUntil > now)
    weigh('new_chats_denied', 1, YES.high, `The network allows no new chats until ${isoTime(noNewChatsUntil)}.`);
  if (!maySend) weigh('restricted', 1, YES.high, 'The network does not let the number send messages.');
  else if (restrictions > 0)
    weigh('restricted', 1, YES.high, 'The network has restricted the number or its account within the last day.');
  if (newChats && newChats.total > 0)
    weigh(
      'network_quota',
      newChats.used / newChats.total,
      QUOTA_SHARE,
      `The number has started ${newChats.used} of the ${newChats.total} chats that the network allows.`,
    );
  if (quality === 'low') weigh('quality', 1, YES.high, 'The network rates the quality of the number as low.');
  if (quality === 'medium') weigh('quality', 1, YES.elevated, 'The network rates the quality of the number as medium.');
  const people = blockReports === 1 ? 'One person has' : `${blockReports} people have`;
  weigh('block_reports', blockReports, BLOCK_REPORTS, `${people} blocked or reported the number within the last day.`);
  weigh(
    'spam_limits',
    spamLimits,
    SPAM_LIMITS,
    `The network did not deliver ${counted(spamLimits, 'message')} within the last day, to protect people from unwanted messages.`,
  );
}

function weighFailures({ sentInHour, failedInHour, unreachable }: RiskFigures, weigh: Weigh): void {
  const attempts = sentInHour + failedInHour;
  if (attempts >= MIN_SENDS)
    weigh(
      'failures',
      failedInHour / attempts,
      FAILED_SHARE,
      `${failedInHour} of ${attempts} messages failed within the last hour.`,
    );
  weigh(
    'unreachable',
    unreachable,
    UNREACHABLE,
    `Within the last day, ${counted(unreachable, 'message')} went to numbers that the network cannot reach. Check numbers where you collect them.`,
  );
}

/** Weighs what networks for people ban numbers for. */
function weighBehavior(figures: RiskFigures, now: number, weigh: Weigh): void {
  const { linkedAt, newChats, peakPerMinute, startedInWeek, answeredInWeek } = figures;
  const days = linkedAt === null ? 0 : Math.max(0, Math.floor((now - linkedAt) / DAY_MS));
  const age = AGES.find((one) => days < one.days) ?? AGES[AGES.length - 1];
  if (age === undefined) return;
  const linked = linkedAt === null ? 'at an unknown time' : days === 0 ? 'today' : `${counted(days, 'day')} ago`;
  weigh(
    'new_chats',
    newChats,
    age.newChats,
    `The session started ${counted(newChats, 'chat')} within the last day. The number was linked ${linked}.`,
  );
  weigh(
    'pace',
    peakPerMinute,
    age.perMinute,
    `The session sent ${counted(peakPerMinute, 'message')} within one minute of the last hour.`,
  );
  if (startedInWeek >= MIN_STARTED.elevated)
    weigh(
      'unanswered',
      1 - answeredInWeek / startedInWeek,
      startedInWeek >= MIN_STARTED.high ? UNANSWERED_SHARE : { ...UNANSWERED_SHARE, high: Number.POSITIVE_INFINITY },
      `${answeredInWeek} of ${startedInWeek} people answered whom the session wrote to first within the last week.`,
    );
}

function gravityOf(value: number, { elevated, high }: Limits, before: Gravity | undefined): Gravity | undefined {
  if (value >= high * (before === 'high' ? KEPT_ABOVE : 1)) return 'high';
  if (value >= elevated * (before === undefined ? 1 : KEPT_ABOVE)) return 'elevated';
  return undefined;
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const riskLevels = ['low', 'elevated', 'high'] as const satisfies readonly RiskLevel[];
