import { Type } from 'typebox';
import { callerKeyId } from '../../auth/authenticate.ts';
import { scopeOf } from '../../auth/keyScope.ts';
import { AppError, invalidField } from '../../errors.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import { isGroupId } from '../../ids.ts';
import { IdempotencyKey, optional, string, time } from '../../invoke/input/fields.ts';
import { isPhoneNumber, notPhoneNumber, typed } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { isGroupAddress } from '../../invoke/networkIds.ts';
import { type Context, requireContent, type SessionContext } from '../../invoke/operation.ts';
import type { StoredContent } from '../../messages/content.ts';
import { findMessage, type NewRow, type SessionRef } from '../../messages/store.ts';
import { futureTime } from '../shared/futureTime.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';
import { Message, receipt, toMessage } from './messages.ts';

/* Shared by all operations that send a message. */

export const Text = string('Text of the message.', { minLength: 1, maxLength: 65_536 });

const recipient = (rules: object) =>
  string(
    'Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), a user id of the Cloud API (`DE.999888`), or the id of a group (`grp_…`, `…@g.us`).',
    { ...rules, minLength: 1, maxLength: 200 },
  );
/** Not `To`, for lists in which each entry has its own result. */
export const AnyRecipient = recipient(ref('recipient'));
export const To = Type.Refine(
  recipient({ ...ref('recipient'), ...typed }),
  (to) => isGroupId(to) || isGroupAddress(to) || isPhoneNumber(to),
  (to) => notPhoneNumber(to, ' or the id of a group (grp_…),'),
);

export const SendAt = optional(
  time('Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00.'),
);

/** Input fields of every send. */
export const envelope = {
  sessionId: OptionalSessionId,
  to: To,
  replyTo: optional(
    string('Id of a message (`msg_…`) in the same session, to reply to it.', { ...ref('message'), maxLength: 100 }),
  ),
  sendAt: SendAt,
  idempotencyKey: IdempotencyKey,
};

export const sendErrors = [
  'not_found',
  'session_required',
  'session_not_connected',
  'not_supported',
  'network_denied',
  'recipient_not_on_network',
  'send_failed',
  'template_required',
  'too_many',
  'quota_exceeded',
] as const;

export const sendOperation = {
  owner: { field: 'sessionId', localWith: 'sendAt' },
  permission: 'messages:send',
  scope: 'sessionId',
  recipients: 'to',
  approval: 'held',
  messageContent: 'messages',
  effect: 'write',
  // The names of received files, and the network's words for a failure.
  thirdPartyText: true,
  status: 201,
  idempotent: true,
  output: Message,
  receipt,
  errors: sendErrors,
  // The deadline of the network's answer, plus some time for the database.
  deadlineMs: 35_000,
  async readStored(ctx: Context<'media'>) {
    const row = await findMessage(ctx.database.reader, ctx.accountId, `msg_${ctx.resourceId}`);
    return row && toMessage(ctx, row);
  },
} as const;

interface Envelope {
  readonly to: string;
  readonly replyTo?: string | undefined;
  readonly sendAt?: string | undefined;
}

/** The content of a message. */
export interface Content {
  readonly type: MessageType;
  readonly text: string;
  readonly content: StoredContent;
}

/** Sends a message through its session, now or at its time. */
export async function send(ctx: SessionContext<'sender' | 'media'>, envelope: Envelope, content: Content) {
  const { session, sendAt, ...address } = await addressOf(ctx, envelope);
  const draft = { ...content, ...address, keyId: callerKeyId(ctx) };
  const quota = quotaOf(ctx);
  const heldFor = keyToApprove(ctx);
  if (heldFor !== undefined)
    return onlyOne(ctx, await ctx.sender.holdForApproval(session, [{ ...draft, sendAt }], heldFor, quota));
  if (sendAt === undefined) return toMessage(ctx, await ctx.sender.send(session, draft, quota));
  return onlyOne(ctx, await ctx.sender.schedule(session, [{ ...draft, sendAt }], quota));
}

/**
 * Refuses a send whatever its file, so that no file is stored for it.
 * @returns its session
 * @throws {AppError} what `send` throws before it stores the message
 */
export async function requireSendable(
  ctx: SessionContext<'sender'>,
  envelope: Envelope,
  type: MessageType,
): Promise<SessionRef> {
  const { session, sendAt, messageId, to } = await addressOf(ctx, envelope);
  const at = sendAt === undefined ? undefined : 'scheduled';
  const later = keyToApprove(ctx) === undefined ? at : 'pending_approval';
  await ctx.sender.requireSendable(session, { messageId, to, type }, later, quotaOf(ctx));
  return session;
}

/** Where, when and in reply to what a message is sent. */
async function addressOf(ctx: SessionContext, { to, replyTo, sendAt }: Envelope) {
  const { session } = ctx;
  if (replyTo !== undefined) await requireQuotable(ctx, session, replyTo, to);
  return {
    session,
    to,
    replyTo: replyTo ?? null,
    sendAt: sendAt === undefined ? undefined : futureTime(ctx, 'sendAt', sendAt),
    messageId: ctx.resourceId === undefined ? ctx.newId('msg') : `msg_${ctx.resourceId}`,
  };
}

async function onlyOne(ctx: Context<'media'>, [row]: readonly NewRow[]) {
  if (row === undefined) throw new AppError('internal_error');
  return toMessage(ctx, row);
}

/** Returns the id of the caller's key if its messages need approval; undefined if they go out. */
export function keyToApprove({ caller: { credential } }: Context): string | undefined {
  return credential.type === 'api_key' && credential.scope?.requiresApproval === true ? credential.keyId : undefined;
}

/** Returns the quota of the caller's key; undefined if it may send any number of messages. */
export function quotaOf({ caller: { credential }, clock }: Context) {
  if (credential.type !== 'api_key' || credential.scope?.sendQuota === undefined) return undefined;
  return { keyId: credential.keyId, perDay: credential.scope.sendQuota, now: clock.now() };
}

/** @throws {AppError} `validation_failed`, or `permission_denied` if the quote would show a message to others */
async function requireQuotable(ctx: Context, { sessionId }: SessionRef, messageId: string, to: string): Promise<void> {
  const row = await findMessage(ctx.database.reader, ctx.accountId, messageId);
  if (row?.session_id !== sessionId)
    throw invalidField('replyTo', `The session has no message ${messageId}`, 'not_found');
  const chatId = ctx.liveSessions.find({ accountId: ctx.accountId, sessionId })?.connection.numberOf?.(to) ?? to;
  if (row.chat_id !== chatId && row.chat_id !== to && isLimited(ctx))
    throw new AppError('permission_denied', 'This API key has limits, so it can only quote messages of the same chat');
  // A quote shows an older message to people who joined the group later.
  if (row.chat_id !== to || isGroupId(to)) requireContent(ctx, 'messages');
}

/** Whether a quote of another chat would escape the limits of the caller's key, or the eyes of the approver. */
function isLimited({ caller }: Context): boolean {
  const { sessionIds, recipients, requiresApproval } = scopeOf(caller) ?? {};
  return sessionIds !== undefined || recipients !== undefined || requiresApproval === true;
}
