import { isoTime } from '../../clock.ts';
import type { MessageRow } from '../../db/schema.ts';
import { AppError, invalidField } from '../../errors.ts';
import { optional, string } from '../../invoke/input/fields.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { requireMessage } from '../../invoke/resources.ts';
import { type ApprovalDecision, approvalOf } from '../../messages/messages/approval.ts';
import { approvedContent } from './approvedContent.ts';
import { requireCaption, requireTextOf } from './messageChanges.ts';
import { Message, MessageId, readMessage } from './messages.ts';
import { fileErrors } from './sending.ts';

/* No tools: an agent must not approve what it, or another agent, has written. */

const deciding = {
  permission: 'messages:approve',
  scope: 'messageId',
  recipients: 'messageId',
  messageContent: 'messages',
  thirdPartyText: true,
  output: Message,
  errors: ['not_found', 'message_state'],
} as const;

export const approveMessage = defineOperation({
  ...deciding,
  id: 'messages.approve',
  route: 'POST /messages/{messageId}/approve',
  approval: 'checked',
  effect: 'write',
  uses: ['sender', 'media', 'linkPreviews', 'preparation'],
  summary: 'Approve a message',
  description:
    'Send a message that waits for approval, if you like with another text. It is returned as `queued` and goes out as soon as its session is connected; a `sendAt` that is still to come is kept. A file or link preview that it gets from a URL is fetched now; if that fails, the message still waits. List the waiting messages with `messages.list` and the status `pending_approval`. An API key cannot approve its own messages, and a key with `requiresApproval` none at all.',
  input: {
    messageId: MessageId,
    message: optional(
      string('Text or caption to send instead; leave it out to send the message as it is.', { maxLength: 65_536 }),
    ),
  },
  errors: [...deciding.errors, 'too_many', ...fileErrors],
  example: { messageId: 'msg_01JZ0000000000000000000000' },
  async run(ctx, { messageId, message }) {
    const row = await requireMessage(ctx, messageId);
    const by = deciderOf(ctx, row);
    if (message !== undefined) requireEditable(row, message);
    const content = isWaiting(ctx, row) ? await approvedContent(ctx, row, message ?? row.body) : undefined;
    return decide(ctx, row, { outcome: 'approved', by, text: message, content });
  },
});

export const rejectMessage = defineOperation({
  ...deciding,
  id: 'messages.reject',
  route: 'POST /messages/{messageId}/reject',
  approval: 'checked',
  effect: 'destructive',
  uses: ['sender', 'media'],
  summary: 'Reject a message',
  description:
    'Refuse to send a message that waits for approval. It stays in lists with the status `failed` and the reason, which its author can read. An API key cannot reject its own messages; it cancels them with `messages.cancel`.',
  input: {
    messageId: MessageId,
    reason: optional(string('Why, for the author of the message.', { minLength: 1, maxLength: 500 })),
  },
  example: { messageId: 'msg_01JZ0000000000000000000000', reason: 'Do not promise a date.' },
  async run(ctx, { messageId, reason }) {
    const row = await requireMessage(ctx, messageId);
    return decide(ctx, row, { outcome: 'rejected', by: deciderOf(ctx, row), reason: visible(reason) });
  },
});

/** One line of visible text: a reason must not look different to an agent than to a person. */
const visible = (reason = ''): string | undefined => reason.replace(/[\p{C}\p{Z}]+/gu, ' ').trim() || undefined;

function isWaiting({ clock }: Context, row: MessageRow): boolean {
  return row.status === 'pending_approval' && (approvalOf(row)?.expiresAt ?? 0) > clock.now();
}

/** @throws {AppError} `message_state` if the message no longer waits for approval */
async function decide(ctx: Context<'sender' | 'media'>, row: MessageRow, decision: ApprovalDecision) {
  const decided = await ctx.sender.decide(row, decision);
  const present = decided ?? (await requireMessage(ctx, row.message_id));
  if (decided === undefined || approvalOf(decided)?.outcome !== decision.outcome)
    throw new AppError('message_state', `The message does not wait for approval; it ${fateOf(present)}`);
  return readMessage(ctx, decided);
}

function fateOf(row: MessageRow): string {
  const { outcome, decidedAt } = approvalOf(row) ?? {};
  if (outcome === undefined || decidedAt === undefined) return `is ${row.status}`;
  return `${outcome === 'expired' ? 'expired' : `was ${outcome}`} at ${isoTime(decidedAt)}`;
}

/**
 * Returns the id of the caller's key, or `login`.
 * @throws {AppError} `permission_denied` for a key that would decide on its own messages, or escape its own approval
 */
function deciderOf({ caller: { credential } }: Context, row: MessageRow): string {
  if (credential.type === 'jwt') return 'login';
  if (credential.scope?.requiresApproval)
    throw new AppError('permission_denied', 'The messages of this API key need approval, so it cannot decide on any');
  if (approvalOf(row)?.keyId === credential.keyId)
    throw new AppError('permission_denied', 'An API key cannot approve or reject its own messages');
  return credential.keyId;
}

/** @throws {AppError} `message_state` if the message has no text; `validation_failed` */
function requireEditable({ type }: MessageRow, text: string): void {
  requireTextOf(type);
  if (type === 'text' && text === '') throw invalidField('message', 'must not be empty', 'length');
  if (type !== 'text') requireCaption(text);
}
