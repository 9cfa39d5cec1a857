import type { TProperties } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { SessionTable } from '../../db/schema.ts';
import { integer, list, named, notForAgents, object, oneOf, orNull, string, time } from '../../invoke/input/fields.ts';
import type { Context } from '../../invoke/operation.ts';
import { readHealth } from '../../sessions/healthStore.ts';
import { assessRisk, type RiskFigures, riskLevels } from '../../sessions/risk.ts';
import { profileOf } from '../../sessions/sessionHealth.ts';

const Risk = oneOf(riskLevels, 'How likely the network is to ban the number; `elevated` means: slow down.');

/** Agents get the risk and its reasons, which state the figures that matter. */
const programsOnly = <P extends TProperties>(properties: P) => ({ ...object(properties), ...notForAgents });

/** The field of a session that says how likely the network is to ban its number. */
export const Health = named('SessionHealth', {
  risk: Risk,
  reasons: list(
    object({
      code: string(
        'Reason, such as `new_chats`, `pace`, `failures`, `unreachable`, `unanswered`, `block_reports`, `spam_limits`, `restricted`, `new_chats_denied`, `network_quota`, `quality` or `unreadable`.',
      ),
      risk: oneOf(riskLevels, 'How grave the reason is. One with `low` does not raise the risk.'),
      message: string('The reason in words, with its figures.'),
    }),
    'Reasons for the risk, and `unreadable`, the gravest first.',
  ),
  linkedAt: {
    ...orNull(time(), 'When the session first connected with this number; null if it never did.'),
    ...notForAgents,
  },
  lastDay: programsOnly({
    newChats: integer('Direct chats that the session started.'),
    sent: integer('Messages that the network accepted.'),
    unreachable: integer('Messages to numbers that the network cannot reach.'),
    blockReports: integer('People who blocked or reported the number, as far as the network tells.'),
    spamLimits: integer('Messages that the network did not deliver, to protect people from unwanted ones.'),
    lookUps: integer('Numbers that the session looked up at the network.'),
    unreadable: integer('Received messages that could not be decrypted after all retries.'),
  }),
  lastHour: programsOnly({
    sent: integer('Messages that the network accepted.'),
    failed: integer('Messages that failed.'),
    peakPerMinute: integer('The most messages within one minute.'),
  }),
  startedChats: programsOnly({
    started: integer('Direct chats that the session started within the last week, and more than a day ago.'),
    answered: integer('Those of them in which the other side has written.'),
  }),
  network: programsOnly({
    noNewChatsUntil: orNull(time(), 'Until when the network allows no new chats; null if it does.'),
    newChats: orNull(
      object({ used: integer('Chats started.'), total: integer('Chats allowed.') }),
      "The network's own quota of new chats; null if it reports none.",
    ),
  }),
});

const nothing: RiskFigures = {
  linkedAt: null,
  newChats: 0,
  sent: 0,
  unreachable: 0,
  blockReports: 0,
  spamLimits: 0,
  restrictions: 0,
  lookUps: 0,
  unreadable: 0,
  sentInHour: 0,
  failedInHour: 0,
  peakPerMinute: 0,
  startedInWeek: 0,
  answeredInWeek: 0,
  quality: null,
  maySend: true,
  standing: {},
};

/** Returns the `health` of each of the sessions, from what was stored some seconds ago. */
export async function healthOf({ database, clock, sessions }: Context, rows: readonly SessionTable[]) {
  const now = clock.now();
  const ids = rows.map(({ session_id }) => session_id);
  const stored = await readHealth(database.reader, ids, now);
  const connectors = new Map(rows.map(({ session_id, connector }) => [session_id, sessions.connectors.get(connector)]));
  return (sessionId: string) => {
    const { figures = nothing, reasons: before = [] } = stored.get(sessionId) ?? {};
    const assessed = assessRisk(figures, { ...profileOf(connectors.get(sessionId)), now }, before);
    const { linkedAt, newChats, sent, unreachable, blockReports, spamLimits, lookUps, unreadable, standing } = figures;
    const until = standing.noNewChatsUntil ?? 0;
    return {
      risk: assessed.risk,
      reasons: [...assessed.reasons],
      linkedAt: isoTime(linkedAt),
      lastDay: { newChats, sent, unreachable, blockReports, spamLimits, lookUps, unreadable },
      lastHour: { sent: figures.sentInHour, failed: figures.failedInHour, peakPerMinute: figures.peakPerMinute },
      startedChats: { started: figures.startedInWeek, answered: figures.answeredInWeek },
      network: {
        noNewChatsUntil: until > now ? isoTime(until) : null,
        newChats: standing.newChats ?? null,
      },
    };
  };
}
