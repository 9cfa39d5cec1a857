import { randomInt } from 'node:crypto';
import { Type } from 'typebox';
import type { MessageKey, NetworkChat } from '../../connectors/contract/messageKey.ts';
import { AppError } from '../../errors.ts';
import { boolean, integer, optional, orNull, string, time } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import type { Context } from '../../invoke/operation.ts';
import type { SessionRef } from '../../messages/store.ts';
import type { ChatSimulation } from '../simulatedActions.ts';

/* The actions of the simulator on chats, labels and marks. */

export const chatActionNames = [
  'chat_clear',
  'chat_delete',
  'star',
  'delete_for_me',
  'pin',
  'disappearing',
  'label',
  'label_delete',
  'label_assign',
] as const;

type ActionName = (typeof chatActionNames)[number];

export const chatActionTexts = [
  '`chat_clear` and `chat_delete` (`from` or `groupId`) delete the messages of a chat, or the chat, on another device of the account.',
  '`star` (`messageId`, `starred`) and `delete_for_me` (`messageId`) do so with a message on another device.',
  '`label` (`labelId` or none for a new one, `labelName`, `labelColor`), `label_delete` (`labelId`) and `label_assign` (`labelId`, `labeled`, and `messageId`, or the chat by `from` or `groupId`) change labels on another device.',
  '`pin` (`messageId`, `from`, `pinnedUntil`) pins a message as somebody in the chat; null unpins it. `disappearing` (`from`, `groupId` in a group, `disappearingSeconds`) sets the timer of a chat as somebody in it.',
] as const;

export const chatSimulationInput = {
  markedUnread: optional(boolean('Whether the chat is marked as unread.')),
  starred: optional(boolean('Whether the message is starred; true by default.')),
  pinnedUntil: optional(orNull(time(), 'Until when the message is pinned; null unpins it.')),
  disappearingSeconds: optional(
    orNull(
      Type.Integer({ minimum: 1, maximum: 7_776_000 }),
      'After how many seconds the messages of the chat disappear, or the message of `incoming`; null for never.',
    ),
  ),
  labelId: optional(string('Id of the label (`lbl_…`).', { ...ref('label'), maxLength: 100 })),
  labelName: optional(string('Name of the label.', { minLength: 1, maxLength: 100 })),
  labelColor: optional(integer('Color of the label; 0 by default.', { minimum: 0, maximum: 19 })),
  labeled: optional(boolean('Whether the label is put on or taken off; true by default.')),
};

interface ChatInput {
  readonly messageId?: string | undefined;
  readonly starred?: boolean | undefined;
  readonly pinnedUntil?: string | null | undefined;
  readonly disappearingSeconds?: number | null | undefined;
  readonly labelId?: string | undefined;
  readonly labelName?: string | undefined;
  readonly labelColor?: number | undefined;
  readonly labeled?: boolean | undefined;
}

/** How the simulator reads its input. */
interface Reading {
  needed<T>(field: keyof ChatInput, value: T | undefined): T;
  from(): string;
  chat(): Promise<NetworkChat>;
  key(): Promise<MessageKey>;
}

export async function toChatSimulation(
  ctx: Context,
  session: SessionRef,
  action: ActionName,
  input: ChatInput,
  { needed, from, chat, key }: Reading,
): Promise<ChatSimulation> {
  const label = () => requireLabelOf(ctx, session, needed('labelId', input.labelId));
  switch (action) {
    case 'chat_clear':
    case 'chat_delete':
      return { action: 'chat_remove', chat: await chat(), isWhole: action === 'chat_delete' };
    case 'star':
      return { action, ...(await key()), isStarred: input.starred ?? true };
    case 'delete_for_me':
      return { action, ...(await key()) };
    case 'pin': {
      const until = needed('pinnedUntil', input.pinnedUntil);
      return { action, ...(await key()), from: from(), until: until === null ? null : parseTime('pinnedUntil', until) };
    }
    case 'disappearing': {
      const seconds = needed('disappearingSeconds', input.disappearingSeconds);
      return { action, from: from(), chat: await chat(), seconds };
    }
    case 'label': {
      const known = input.labelId === undefined ? undefined : await label();
      const name = needed('labelName', input.labelName ?? known?.name);
      const networkId = known?.network_id ?? String(randomInt(1_000, 1_000_000));
      return { action, label: { networkId, name, color: input.labelColor ?? known?.color ?? 0 } };
    }
    case 'label_delete':
      return { action, networkId: (await label()).network_id };
    case 'label_assign': {
      const isSet = input.labeled ?? true;
      const { network_id: labelId } = await label();
      if (input.messageId === undefined) return { action, labelId, chat: await chat(), isSet };
      const { networkId: message, chat: place } = await key();
      return { action, labelId, chat: place, message, isSet };
    }
  }
}

async function requireLabelOf(ctx: Context, { accountId, sessionId }: SessionRef, labelId: string) {
  const row = await ctx.database.reader.kysely
    .selectFrom('labels')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('label_id', '=', labelId)
    .executeTakeFirst();
  if (row === undefined) throw new AppError('not_found', `The session has no label ${labelId}`);
  return row;
}
