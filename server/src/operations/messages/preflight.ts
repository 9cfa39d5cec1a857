import { Type } from 'typebox';
import { scopeOf } from '../../auth/keyScope.ts';
import { allows } from '../../auth/permissions.ts';
import type { NetworkChat } from '../../connectors/contract/messageKey.ts';
import { listed, query, unindexed } from '../../db/query.ts';
import type { ContactTable, SessionTable } from '../../db/schema.ts';
import { AppError, invalidField } from '../../errors.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import { isGroupId } from '../../ids.ts';
import { ASKS_FIRST, newRecipientsOf } from '../../invoke/confirmationRule.ts';
import { integer, list, object, oneOf, optional, orNull, strictPart, string } from '../../invoke/input/fields.ts';
import { digitsOf, recipientOf } from '../../invoke/input/phoneNumbers.ts';
import { recipientFinder } from '../../invoke/networkIds.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { requirePerson } from '../../invoke/recipients.ts';
import { findSession } from '../../invoke/resources.ts';
import { numberFinder } from '../../invoke/typedNumbers.ts';
import { numberStateOf } from '../../messages/standing/numberState.ts';
import type { SessionRef } from '../../messages/store.ts';
import type { LiveSession } from '../../sessions/liveSessions.ts';
import { admitLookUps, MAX_LOOK_UPS, MAX_LOOK_UPS_PER_DAY } from '../../sessions/lookUps.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';
import { CHECK_KEPT_MS, contactsOf, noteCheck } from './contacts.ts';
import { AnyRecipient, keyToApprove, quotaOf, Text } from './send.ts';

const MAX_RECIPIENTS = 100;
const outcomes = [
  'ok',
  'invalid_number',
  'not_allowed',
  'restricted',
  'blocked',
  'not_on_network',
  'group_denied',
  'template_required',
  'template_unavailable',
  'marketing_stopped',
  'confirmation_required',
  'pending_approval',
  'limit_near',
  'limit_reached',
  'unknown',
] as const;

interface Verdict {
  readonly outcome: (typeof outcomes)[number];
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

interface GivenTemplate {
  readonly name: string;
  readonly language?: string;
}

/** A recipient, with a verdict as soon as there is one. `ok` and `limit_near` are the last to be decided. */
interface Recipient {
  readonly given: string;
  /** Digits, or the id of a group; null if it is neither. */
  readonly chatId: string | null;
  readonly chat: NetworkChat | undefined;
  isBlocked: boolean;
  verdict: Verdict | undefined;
}

export const preflightMessages = defineOperation({
  id: 'messages.preflight',
  route: 'POST /messages/preflight',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'messages:send',
  scope: 'sessionId',
  effect: 'write',
  isRepeatable: true,
  uses: ['sender'],
  summary: 'Check messages before they are sent',
  description: `Say for up to ${MAX_RECIPIENTS} recipients what would happen to a message now, without sending it. Limits count the recipients in their order. Numbers that were not checked within a day are checked at the network, at most ${MAX_LOOK_UPS} in a call and ${MAX_LOOK_UPS_PER_DAY} in a day, because networks ban numbers that look up many. That needs the permission \`contacts:check\`; without it, unchecked numbers are \`unknown\`.`,
  input: {
    sessionId: OptionalSessionId,
    to: list(AnyRecipient, 'Recipients. Each gets a result, in this order.', { minItems: 1, maxItems: MAX_RECIPIENTS }),
    message: optional(Text),
    template: optional(
      strictPart('The template to send instead of a text.', {
        name: string('Name of the template at the network.', { minLength: 1, maxLength: 512 }),
        language: optional(
          string('Language of the template, such as `en_US`; without it, the template is not checked completely.', {
            minLength: 2,
            maxLength: 20,
          }),
        ),
      }),
    ),
  },
  output: object({
    ok: integer('Recipients with nothing against the message: those with `ok` or `limit_near`.'),
    results: list(
      object({
        to: string('Recipient as you passed it.'),
        chatId: orNull(Type.String(), 'Phone number digits, or the id of the group; null if it is neither.'),
        outcome: oneOf(
          outcomes,
          '`not_allowed`: the API key cannot send to the recipient. `restricted`: the network does not let the number of the session send. `blocked`: the session has blocked the contact; `message` says whether the network would accept the message. `group_denied`: the session is not in the group, or only its admins may write. `template_unavailable`: the template does not exist, or is not approved. `marketing_stopped`: the recipient has stopped marketing messages, and the template is one. `confirmation_required`: the API key has to ask its user before the message. `pending_approval`: the message would wait for approval. `limit_near`: the message would go out, and few more would. `unknown`: it cannot be checked now.',
        ),
        message: string('The outcome in words.'),
        retryAfterSeconds: optional(integer('Seconds until the limit allows more.')),
      }),
      'One entry per recipient, in the order of `to`.',
    ),
  }),
  errors: ['not_found', 'session_required', 'not_supported'],
  example: { to: ['491707654321', '491701112223'], message: 'Hello' },
  async run(ctx, input) {
    if (input.message !== undefined && input.template !== undefined)
      throw invalidField('template', '`message` and `template` cannot be used together', 'unknown');
    const { session } = ctx;
    const type = input.template === undefined ? 'text' : 'template';
    const row = await findSession(ctx, session.sessionId);
    requireSupport(ctx, row, type);
    await ctx.liveSessions.requireOwner(session);
    const live = ctx.liveSessions.find(session);
    const recipients = await readRecipients(ctx, session, live, input.to);
    judgeNumber(row, recipients);
    await judgeGroups(ctx, session, row, recipients);
    await judgeContacts(ctx, session, live, recipients);
    await judgeConfirmation(ctx, session, recipients);
    await judgeQuota(ctx, recipients);
    const admitted = open(recipients);
    await judgeLimits(ctx, session, live, recipients, type, input.template);
    finish(ctx, row, admitted, input.template);
    const results = recipients.map(({ given, chatId, verdict = OK }) => ({ to: given, chatId, ...verdict }));
    const goesOut = ({ outcome }: Verdict) => outcome === 'ok' || outcome === 'limit_near';
    return { ok: results.filter(goesOut).length, results };
  },
});

const OK: Verdict = { outcome: 'ok', message: 'The message would go out' };
const NOT_CONNECTED: Verdict = {
  outcome: 'unknown',
  message: 'The session is not connected, so the network cannot be asked',
};
const BLOCKED: Verdict = {
  outcome: 'blocked',
  message: 'The message would go out, but no answer would arrive, because the session has blocked this contact',
};
const PENDING: Verdict = {
  outcome: 'pending_approval',
  message: 'The message would wait for approval, because the API key requires it',
};
const NO_LANGUAGE: Verdict = {
  outcome: 'unknown',
  message: 'The template was not checked completely; pass the `language` in which it is sent',
};
const MAY_NOT_CHECK: Verdict = {
  outcome: 'unknown',
  message: 'The number was not checked, because the API key lacks the permission `contacts:check`',
};

/** @throws {AppError} `not_supported` */
function requireSupport({ sessions }: Context, { connector: name }: SessionTable, type: MessageType): void {
  const connector = sessions.connectors.get(name);
  if (connector !== undefined && !connector.messageTypes.includes(type))
    throw new AppError('not_supported', `The network of this session cannot send messages of type ${type}`);
}

async function readRecipients(
  ctx: Context,
  session: SessionRef,
  live: LiveSession | undefined,
  to: readonly string[],
): Promise<Recipient[]> {
  const groupOf = await recipientFinder(ctx, session, to);
  const numberOf = await numberFinder(ctx, session, to);
  const read = async (given: string): Promise<Recipient> => {
    const no = (outcome: 'invalid_number' | 'not_allowed' | 'group_denied', error: unknown): Recipient => {
      if (!(error instanceof AppError)) throw error;
      return { given, chatId: null, chat: undefined, isBlocked: false, verdict: { outcome, message: error.message } };
    };
    let chatId: string;
    try {
      chatId = groupOf(given);
    } catch (error) {
      return no('group_denied', error);
    }
    try {
      chatId = recipientOf(numberOf(chatId, 'to'));
    } catch (error) {
      return no('invalid_number', error);
    }
    try {
      await requirePerson(ctx, session.sessionId, chatId, given);
    } catch (error) {
      return { ...no('not_allowed', error), chatId };
    }
    if (isGroupId(chatId)) return { given, chatId, chat: undefined, isBlocked: false, verdict: undefined };
    chatId = live?.connection.numberOf?.(chatId) ?? chatId;
    return { given, chatId, chat: { type: 'direct', id: chatId }, isBlocked: false, verdict: undefined };
  };
  const recipients: Recipient[] = [];
  for (const given of to) recipients.push(await read(given));
  return recipients;
}

/** Whether the network lets the number send at all. */
function judgeNumber(row: SessionTable, recipients: readonly Recipient[]): void {
  const state = numberStateOf(row);
  if (state?.canSend !== 'no') return;
  const problems = state.problems.map(({ message }) => ` ${message}`).join('');
  const message = `The network does not let the number of the session send messages.${problems}`;
  for (const recipient of open(recipients)) recipient.verdict = { outcome: 'restricted', message };
}

/** Whether the session may write to the groups. Fills in their addresses at the network. */
async function judgeGroups(
  ctx: Context,
  session: SessionRef,
  { phone_number: own }: SessionTable,
  recipients: Recipient[],
): Promise<void> {
  const ids = open(recipients).flatMap(({ chatId }) => (chatId !== null && isGroupId(chatId) ? [chatId] : []));
  if (ids.length === 0) return;
  const found = await groupsOf.all(ctx.database.reader, { ...session, ids: JSON.stringify(ids), own: own ?? '' });
  const groups = new Map(found.map((group) => [group.group_id, group]));
  for (const [index, recipient] of recipients.entries()) {
    if (recipient.verdict !== undefined || recipient.chatId === null || !isGroupId(recipient.chatId)) continue;
    const group = groups.get(recipient.chatId);
    if (group === undefined || group.left_at !== null || group.role === null)
      recipient.verdict = { outcome: 'group_denied', message: 'The session is not in this group' };
    else if (group.announce === 1 && group.role === 'member')
      recipient.verdict = { outcome: 'group_denied', message: 'Only admins can send messages to this group' };
    else recipients[index] = { ...recipient, chat: { type: 'group', id: group.network_id } };
  }
}

/** Whether the session has blocked people, and whether they are on the network. */
async function judgeContacts(
  ctx: Context,
  session: SessionRef,
  live: LiveSession | undefined,
  recipients: readonly Recipient[],
): Promise<void> {
  const people = open(recipients).filter(({ chat }) => chat?.type === 'direct');
  const numbers = [...new Set(people.flatMap(({ chatId }) => chatId ?? []))];
  const stored = await contactsOf.all(ctx.database.reader, { ...session, numbers: JSON.stringify(numbers) });
  const contacts = new Map(stored.map((contact) => [contact.phone_number, contact]));
  const written = await writtenChats.all(ctx.database.longReader, { ...session, chats: JSON.stringify(numbers) });
  const reachable = new Set(written.map(({ chat_id }) => chat_id));
  const unchecked = numbers.filter((number) => !reachable.has(number) && !isCheckFresh(ctx, contacts.get(number)));
  const checked = await lookUp(ctx, session, live, unchecked);
  for (const recipient of people) {
    const number = recipient.chatId ?? '';
    const contact = contacts.get(number);
    const isPresent = checked.get(number) ?? (reachable.has(number) || contact?.on_network === 1);
    recipient.isBlocked = contact?.blocked === 1;
    if (typeof isPresent === 'object') recipient.verdict = isPresent;
    else if (!isPresent) recipient.verdict = { outcome: 'not_on_network', message: 'The number is not on the network' };
  }
}

const isCheckFresh = ({ clock }: Context, contact: ContactTable | undefined): boolean =>
  contact !== undefined && contact.on_network !== null && (contact.checked_at ?? 0) > clock.now() - CHECK_KEPT_MS;

/** Asks the network about numbers, within the limits. Returns whether each is there, or why that is unknown. */
async function lookUp(
  ctx: Context,
  session: SessionRef,
  live: LiveSession | undefined,
  numbers: readonly string[],
): Promise<Map<string, boolean | Verdict>> {
  const every = (result: boolean | Verdict) => new Map(numbers.map((number) => [number, result]));
  if (numbers.length === 0) return new Map();
  if (live === undefined) return every(NOT_CONNECTED);
  const { connection } = live;
  const { capabilities } = live.connector;
  if (connection.checkNumbers === undefined || capabilities?.includes('check_numbers') === false) return every(true);
  if (!allows(ctx.caller.credential.permissions, 'contacts:check')) return every(MAY_NOT_CHECK);
  const now = await admitLookUps(ctx.database.reader, live, numbers, ctx.clock.now());
  const results = every({
    outcome: 'unknown',
    message: 'The number was not checked, because networks ban numbers that look up many; try again later',
  });
  if (now.length === 0) return results;
  let present: ReadonlySet<string>;
  try {
    present = await connection.checkNumbers(now);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    for (const number of now) results.set(number, { outcome: 'unknown', message: error.message });
    return results;
  }
  const at = ctx.clock.now();
  await ctx.database.commit(async (tx) => {
    for (const number of now)
      await noteCheck.run(tx, { ...session, phoneNumber: number, onNetwork: Number(present.has(number)), now: at });
  }, session.sessionId);
  for (const number of now) results.set(number, present.has(number));
  return results;
}

/** Whether the caller's key has to ask its user before it writes to new recipients. */
async function judgeConfirmation(ctx: Context, session: SessionRef, recipients: readonly Recipient[]): Promise<void> {
  if (scopeOf(ctx.caller)?.confirm?.includes('new_recipients') !== true) return;
  // As the rule sees them: before the network has corrected a number.
  const named = ({ given, chatId }: Recipient) => digitsOf(given) ?? chatId ?? given;
  const asked = open(recipients);
  const strangers = new Set(await newRecipientsOf(ctx.database.reader, session, asked.map(named)));
  for (const recipient of asked)
    if (strangers.has(named(recipient))) recipient.verdict = { outcome: 'confirmation_required', message: ASKS_FIRST };
}

/** The messages that the caller's key may still send today. */
async function judgeQuota(ctx: Context<'sender'>, recipients: readonly Recipient[]): Promise<void> {
  const quota = quotaOf(ctx);
  if (quota === undefined) return;
  const { left, retryAfterSeconds } = await ctx.sender.sendsLeft(quota);
  for (const recipient of open(recipients).slice(left))
    recipient.verdict = {
      outcome: 'limit_reached',
      message: `The API key may send ${quota.perDay} messages per day (UTC), and ${left} more today`,
      retryAfterSeconds,
    };
}

/** The limits of the session and of its network. */
async function judgeLimits(
  ctx: Context,
  session: SessionRef,
  live: LiveSession | undefined,
  recipients: readonly Recipient[],
  type: MessageType,
  template: GivenTemplate | undefined,
): Promise<void> {
  const planned = open(recipients).flatMap(({ chat, chatId, isBlocked }) =>
    chat && chatId !== null ? [{ chat, chatId, isBlocked }] : [],
  );
  if (planned.length === 0) return;
  if (live === undefined) {
    for (const recipient of open(recipients)) recipient.verdict = NOT_CONNECTED;
    return;
  }
  if (live.connection.preflight === undefined) return;
  const chats = JSON.stringify([...new Set(planned.map(({ chatId }) => chatId))]);
  const [written, received] = [
    new Set((await writtenChats.all(ctx.database.longReader, { ...session, chats })).map(({ chat_id }) => chat_id)),
    new Map(
      (await lastReceived.all(ctx.database.longReader, { ...session, chats })).map((row) => [row.chat_id, row.at]),
    ),
  ];
  const messages = planned.map(({ chat, chatId, isBlocked }) => {
    const lastIncomingAt = received.get(chatId) ?? null;
    const isNew = !written.has(chatId) && lastIncomingAt === null;
    written.add(chatId); // a second message to the same recipient starts no chat
    return { chat, isNew, lastIncomingAt, isBlocked };
  });
  const forecasts = await live.connection.preflight(messages, type, template).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    return messages.map(() => ({ outcome: 'unknown' as const, reason: error.message, retryAfterMs: undefined }));
  });
  for (const [index, recipient] of open(recipients).entries()) {
    const { outcome = 'ok', reason, retryAfterMs } = forecasts[index] ?? {};
    if (outcome === 'ok') continue;
    recipient.verdict = {
      outcome,
      message: reason ?? 'The network or the session has a limit',
      ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)) }),
    };
  }
}

/**
 * Says what else would become of the messages that nothing holds up.
 * @param admitted the recipients of which nothing but the limits of the session and its network was left to judge
 */
function finish(
  ctx: Context,
  { phone_number: number }: SessionTable,
  admitted: readonly Recipient[],
  template: GivenTemplate | undefined,
): void {
  // A message waits for approval also if its session is not connected, and the limits apply later.
  const isHeld = keyToApprove(ctx) !== undefined && number !== null;
  for (const recipient of admitted) {
    const outcome = recipient.verdict?.outcome ?? 'ok';
    const goesOut = outcome === 'ok' || outcome === 'limit_near';
    if (isHeld && (goesOut || outcome === 'limit_reached' || recipient.verdict === NOT_CONNECTED))
      recipient.verdict = PENDING;
    else if (goesOut && template !== undefined && template.language === undefined) recipient.verdict = NO_LANGUAGE;
    else if (goesOut && recipient.isBlocked) recipient.verdict = BLOCKED;
  }
}

const open = (recipients: readonly Recipient[]) => recipients.filter(({ verdict }) => verdict === undefined);

const groupsOf = query((db, p: SessionRef & { ids: string; own: string }, dialect) =>
  db
    .selectFrom('groups as g')
    .leftJoin('group_participants as p', (join) =>
      join
        .onRef('p.account_id', '=', 'g.account_id')
        .onRef('p.group_id', '=', 'g.group_id')
        .on('p.phone_number', '=', p.own),
    )
    .select(['g.group_id', 'g.network_id', 'g.announce', 'g.left_at', 'p.role'])
    .where('g.account_id', '=', p.accountId)
    .where('g.group_id', 'in', dialect.texts(p.ids))
    .where('g.session_id', '=', p.sessionId),
);

interface Chats extends SessionRef {
  /** JSON list. */
  readonly chats: string;
}

/** Those of the chats in which the session has sent a message that the network accepted. */
const writtenChats = query((db, p: Chats, dialect) =>
  db
    .selectFrom('chats as c')
    .select('c.chat_id')
    .where('c.account_id', '=', p.accountId)
    .where('c.session_id', '=', p.sessionId)
    .where('c.chat_id', 'in', dialect.texts(p.chats))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('messages as m')
          .select('m.seq')
          .where(unindexed('m.account_id'), '=', p.accountId) // SQLite would pass the messages of other sessions
          .where(listed('m.session_id'), '=', p.sessionId)
          .whereRef('m.chat_id', '=', 'c.chat_id')
          .where('m.direction', '=', 'outgoing')
          .where('m.status', 'in', ['sent', 'delivered', 'read']),
      ),
    ),
);

const lastReceived = query((db, p: Chats, dialect) =>
  db
    .selectFrom('chats as c')
    .select(({ selectFrom }) => [
      'c.chat_id',
      selectFrom('messages as m')
        .select('m.timestamp')
        .where(unindexed('m.account_id'), '=', p.accountId) // SQLite would pass the messages of other sessions
        .where(listed('m.session_id'), '=', p.sessionId)
        .whereRef('m.chat_id', '=', 'c.chat_id')
        .where('m.direction', '=', 'incoming')
        .orderBy('m.message_id', 'desc')
        .limit(1)
        .as('at'),
    ])
    .where('c.account_id', '=', p.accountId)
    .where('c.session_id', '=', p.sessionId)
    .where('c.chat_id', 'in', dialect.texts(p.chats)),
);
