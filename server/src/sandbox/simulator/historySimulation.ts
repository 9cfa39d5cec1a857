import { Type } from 'typebox';
import type { HistoryMessage } from '../../connectors/contract/history.ts';
import type { NetworkChat } from '../../connectors/contract/messageKey.ts';
import { boolean, integer, onlyTrue, optional, orNull, strictPart, string, time } from '../../invoke/input/fields.ts';
import { phoneNumber, SimulatedNumberInput } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import type { Context } from '../../invoke/operation.ts';
import { storedMedia } from '../../messages/content.ts';
import type { HistorySimulation } from '../simulatedActions.ts';

/* The input of the action `history`, by which a simulation plays a phone that passes on its history. */

const ENTRIES = 1000;
const Other = optional(SimulatedNumberInput('Other person of a direct chat.'));
const Group = optional(string('Address of a group, of your choice, such as `team@sandbox`.', { maxLength: 100 }));
const Name = (description: string) => optional(string(description, { minLength: 1, maxLength: 100 }));

export const historyInput = {
  history: optional(
    strictPart('The history that the phone passes on; `generate` adds made-up messages.', {
      chats: optional(
        Type.Array(
          strictPart('A chat, with `with` or `group`.', {
            with: Other,
            group: Group,
            name: Name('Subject of the group.'),
            unreadCount: optional(integer('Messages that are not read.', { minimum: 0, maximum: 100_000 })),
            archived: optional(boolean('Whether the chat is archived.')),
            pinned: optional(boolean('Whether the chat is pinned.')),
            mutedUntil: optional(orNull(time(), 'Until when the chat is muted.')),
          }),
          { maxItems: ENTRIES },
        ),
      ),
      contacts: optional(
        Type.Array(
          strictPart('A contact.', {
            phoneNumber: SimulatedNumberInput('Number of the contact.'),
            pushName: Name('Name that the contact chose.'),
            savedName: Name('Name in the address book.'),
          }),
          { maxItems: ENTRIES },
        ),
      ),
      messages: optional(
        Type.Array(
          strictPart('A text or file, in a chat with `with` or `group`.', {
            id: string('Id of the message on the network, of your choice.', { minLength: 1, maxLength: 100 }),
            with: Other,
            group: Group,
            from: optional(SimulatedNumberInput('Sender, in a group; by default the session itself.')),
            own: optional(boolean('Whether the session sent it, in a direct chat.')),
            message: string('Text of the message.', { maxLength: 65_536 }),
            timestamp: time('When it was sent.'),
            replyTo: optional(string('Id of the message that it replies to.', { ...ref('other'), maxLength: 100 })),
            unread: optional(onlyTrue('Marks an incoming message as not read.')),
            mediaId: optional(
              orNull(
                Type.String({ ...ref('file'), maxLength: 100 }),
                'Id of an uploaded file that the message has (`med_…`); null for one that the network no longer has.',
              ),
            ),
          }),
          { maxItems: ENTRIES },
        ),
      ),
      generate: optional(
        strictPart('Messages to make up, in direct chats.', {
          messages: integer('How many messages.', { minimum: 1, maximum: 500_000 }),
          chats: optional(integer('In how many chats; 10 by default.', { minimum: 1, maximum: 5000 })),
        }),
      ),
    }),
  ),
};

interface Input {
  readonly with?: string | undefined;
  readonly group?: string | undefined;
}

interface Given {
  readonly chats?:
    | readonly (Input & {
        readonly name?: string | undefined;
        readonly unreadCount?: number | undefined;
        readonly archived?: boolean | undefined;
        readonly pinned?: boolean | undefined;
        readonly mutedUntil?: string | null | undefined;
      })[]
    | undefined;
  readonly contacts?:
    | readonly {
        readonly phoneNumber: string;
        readonly pushName?: string | undefined;
        readonly savedName?: string | undefined;
      }[]
    | undefined;
  readonly messages?:
    | readonly (Input & {
        readonly id: string;
        readonly from?: string | undefined;
        readonly own?: boolean | undefined;
        readonly message: string;
        readonly timestamp: string;
        readonly replyTo?: string | undefined;
        readonly unread?: true | undefined;
        readonly mediaId?: string | null | undefined;
      })[]
    | undefined;
  readonly generate?: { readonly messages: number; readonly chats?: number | undefined } | undefined;
}

/** @param ownNumber digits of the session */
export async function toHistorySimulation(
  ctx: Context<'media'>,
  ownNumber: string,
  { chats = [], contacts = [], messages = [], generate }: Given,
): Promise<HistorySimulation> {
  return {
    action: 'history',
    chats: chats.map((given, n) => {
      const { with: _, group: __, mutedUntil, ...chat } = given;
      return {
        chat: chatOf(given, `history.chats.${n}`),
        ...defined(chat),
        ...(mutedUntil !== undefined && {
          mutedUntil: mutedUntil === null ? null : parseTime(`history.chats.${n}.mutedUntil`, mutedUntil),
        }),
      };
    }),
    contacts: contacts.map(({ phoneNumber: number, ...names }, n) => ({
      phoneNumber: phoneNumber(`history.contacts.${n}.phoneNumber`, number),
      ...defined(names),
    })),
    messages: await Promise.all(messages.map((given, n) => toMessage(ctx, ownNumber, given, `history.messages.${n}`))),
    ...(generate && { generated: { messages: generate.messages, chats: generate.chats ?? 10 } }),
  };
}

async function toMessage(
  ctx: Context<'media'>,
  ownNumber: string,
  given: NonNullable<Given['messages']>[number],
  field: string,
): Promise<HistoryMessage> {
  const chat = chatOf(given, field);
  const sender = given.from === undefined ? undefined : phoneNumber(`${field}.from`, given.from);
  const from = chat.type === 'group' ? (sender ?? ownNumber) : given.own === true ? ownNumber : chat.id;
  const { mediaId } = given;
  const media = mediaId ? storedMedia(await ctx.media.find(ctx.accountId, mediaId)) : undefined;
  const { mimeType, size, fileName } = media ?? { mimeType: 'image/jpeg', size: 1000, fileName: null };
  const reference = JSON.stringify({ hash: media?.hash ?? null, mimeType, size, fileName });
  return {
    networkId: given.id,
    chat,
    from,
    isOwn: from === ownNumber,
    content: { type: mediaId === undefined ? 'text' : 'document', text: given.message },
    ...(mediaId !== undefined && { file: { mimeType, size, fileName, reference } }),
    timestamp: parseTime(`${field}.timestamp`, given.timestamp),
    status: 'read',
    ...(given.unread && { isUnread: true }),
    replyTo: given.replyTo ?? null,
  };
}

function chatOf({ with: other, group }: Input, field: string): NetworkChat {
  if (group !== undefined) return { type: 'group', id: group };
  return { type: 'direct', id: phoneNumber(`${field}.with`, other ?? '') };
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Removes fields that are undefined. */
function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Defined<T>;
}
