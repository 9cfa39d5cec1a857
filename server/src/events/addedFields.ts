import { type Static, Type } from 'typebox';
import { namesOf } from '../objects.ts';
import { contractKinds } from './events.ts';
import { messageContent } from './fields.ts';
import { SenderIds } from './parts.ts';

/** The fields of each group, all optional. */
export const addedFields = {
  network: {
    networkId: Type.Optional(Type.String({ description: 'Id of the message on the network.' })),
    networkChatId: Type.Optional(
      Type.String({ description: 'Address of the chat on the network, such as `491701234567@s.whatsapp.net`.' }),
    ),
    networkGroupId: Type.Optional(
      Type.String({ description: 'Address of the group on the network, such as `…@g.us`. Only in groups.' }),
    ),
    networkFrom: Type.Optional(Type.String({ description: 'Address of the person in `from` on the network.' })),
  },
  contact: {
    senderName: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Name that the person in `from` shows; null if it is unknown.',
        ...messageContent,
      }),
    ),
    ...SenderIds,
  },
  chat: {
    isGroup: Type.Optional(Type.Boolean({ description: 'Whether the chat is a group.' })),
    groupId: Type.Optional(Type.String({ description: 'Id of the group (`grp_…`). Only in groups.' })),
    participant: Type.Optional(
      Type.String({ description: 'Phone number digits of the person in `from`. Only in groups.' }),
    ),
    toNumber: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Phone number digits of the recipient; null if it is a group. Only if the event has `to`.',
      }),
    ),
  },
  session: {
    session: Type.Optional(
      Type.Object(
        {
          name: Type.Union([Type.String(), Type.Null()]),
          metadata: Type.Record(Type.String(), Type.String()),
        },
        { description: 'Name of the session and its metadata, as you set them.' },
      ),
    ),
  },
} as const;

/** A group of fields that a webhook can add to its events. */
export type Include = keyof typeof addedFields;

export const includes: readonly Include[] = namesOf(addedFields);

/** Additions of a webhook to its events: groups of fields, and links in the files of `data`. */
export type WebhookInclude = Include | 'mediaLink';

export const webhookIncludes: readonly WebhookInclude[] = [...includes, 'mediaLink'];

/** Returns the groups of fields among them. */
export const groupsIn = (chosen: readonly WebhookInclude[]): readonly Include[] =>
  chosen.filter((one) => one !== 'mediaLink');

/** The groups of a webhook that names none: types of the contract have fixed bodies, so they get none either. */
export function defaultIncludeOf(kinds: readonly string[]): readonly Include[] {
  const contract: readonly string[] = contractKinds;
  return kinds.every((kind) => contract.includes(kind)) ? [] : ['network', 'contact'];
}

const { network, contact, chat, session } = addedFields;

/** The fields that events of any type can have in addition to those of their `data`. */
export const AddedFields = Type.Object({ ...network, ...contact, ...chat, ...session });

export type AddedFields = Static<typeof AddedFields>;

/** Adds the fields of some groups to the `data` of an event. A field that the event has keeps its place and value. */
export function withFields(data: object, known: AddedFields, include: readonly Include[]): object {
  const fields = include.flatMap((group) => Object.keys(addedFields[group]));
  const added = Object.entries(known).filter(([name]) => fields.includes(name) && !Object.hasOwn(data, name));
  return { ...data, ...Object.fromEntries(added) };
}

/** An event as it is stored. */
export interface StoredEvent {
  readonly conversation: string;
  /** `{"event":…,"data":…}` */
  readonly body: string;
}

/**
 * Adds fields to the events of an account, and returns them in the same order. The fields are those of the moment: the
 * name of a contact may have changed since the event.
 */
export type AddFields = <E extends StoredEvent>(
  accountId: string,
  events: readonly E[],
  include: readonly Include[],
) => Promise<E[]>;
