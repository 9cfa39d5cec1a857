import { type TProperties, Type } from 'typebox';
import {
  boolean,
  integer,
  list,
  object,
  oneOf,
  optional,
  strictPart,
  string,
  time,
} from '../../invoke/input/fields.ts';
import type { Fields } from '../../objects.ts';

/*
 * Some tools cover several operations, because a model chooses better among few tools. A call with a field of a branch
 * becomes a call of another operation, with its permission, limits, approval and confirmation: nothing here runs.
 */

export interface Branch {
  /** Id of the operation that the call becomes. */
  readonly becomes: string;
  /** Fields that only this branch has. The call takes the branch if one of them is present. */
  readonly fields: TProperties;
  /** Field of the tool that takes the branch. Defaults to the first of `fields`. */
  readonly by?: string;
  /** Value of `by` that takes the branch, in place of any value. A text adds to the values of the operation's field. */
  readonly value?: string | boolean;
  /** Added to the description of `by`. */
  readonly hint?: string;
  /** Whether a value of its fields selects nothing, like null. Models fill in fields that they do not use. */
  readonly ignores?: (value: unknown, input: Fields) => boolean;
  /** Fields of the tool that the operation calls otherwise, by its word for them. A dot leads into an object. */
  readonly names?: Readonly<Record<string, string>>;
  /** Input of the operation. By default, the tool's input under the operation's names, without a `by` that it lacks. */
  readonly inputOf?: (input: Fields) => Fields;
}

/** Adds the outputs of other operations to the output of a tool, for each name in `include`. */
export interface Extra {
  readonly reads: string;
  readonly inputOf: (input: Fields) => Fields;
  /** The part that is added; by default `data`. */
  readonly pick?: (output: Fields, of: Fields) => unknown;
}

export interface Additions {
  readonly branches?: readonly Branch[];
  /** Required fields of the tool's operation that a branch replaces. */
  readonly replaced?: readonly string[];
  /** Added to the description of a tool whose name does not suggest its branches. */
  readonly about?: string;
  readonly extras?: Readonly<Record<string, Extra>>;
}

export const without = ({ ...input }: Record<string, unknown>, ...names: readonly string[]): Fields => {
  for (const name of names) delete input[name];
  return input;
};

export const isFalse = (value: unknown) => value === false;
export const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;

const LABEL = 'Label id (`lbl_…`).';
const inSession = ({ sessionId }: Fields) => ({ sessionId });

export const additions: Readonly<Record<string, Additions>> = {
  'messages.send': {
    replaced: ['message'],
    branches: [
      {
        becomes: 'messages.send_template',
        fields: {
          template: optional(
            strictPart('In place of `message`, on whatsapp-cloud; see `sessions_get`.', {
              name: Type.String(),
              language: Type.String(),
              values: optional(list(Type.String(), 'Values of the body, in order.')),
            }),
          ),
        },
        names: { name: 'template.name', language: 'template.language', components: 'template.values' },
        inputOf: ({ template, ...input }) => ({ ...input, ...templateOf(template as Fields) }),
      },
      {
        becomes: 'messages.send_interactive',
        fields: { buttons: optional(list(Type.String(), 'Up to 3 replies to choose from, on whatsapp-cloud.')) },
        ignores: isEmpty,
        inputOf: (input) => ({
          ...input,
          buttons: (input['buttons'] as unknown[]).map((title) => ({ id: title, title })),
        }),
      },
      {
        becomes: 'messages.send_interactive',
        fields: {
          product: optional(
            object('A product of a catalog, on whatsapp-cloud.', {
              catalogId: Type.String(),
              retailerId: Type.String(),
            }),
          ),
        },
      },
    ],
  },
  'messages.send_media': {
    replaced: ['type'],
    branches: [
      {
        becomes: 'messages.send_album',
        fields: {
          files: optional(
            list(
              object({
                type: oneOf(['image', 'video']),
                mediaId: optional(Type.String()),
                url: optional(Type.String()),
                caption: optional(Type.String()),
              }),
              'An album, in place of one file.',
            ),
          ),
        },
        ignores: isEmpty,
      },
      {
        becomes: 'status.post',
        fields: {},
        by: 'to',
        value: 'status',
        hint: '`status` posts a status.',
        names: { message: 'caption' },
      },
    ],
  },
  'messages.react': {
    replaced: ['emoji'],
    branches: [
      {
        becomes: 'messages.vote',
        fields: { vote: optional(list(Type.String(), 'On a poll: the options to choose; empty removes the vote.')) },
        ignores: (value, { emoji }) => isEmpty(value) && typeof emoji === 'string',
        names: { options: 'vote' },
      },
    ],
  },
  'messages.edit': {
    replaced: ['message'],
    about: 'Other fields star, pin or label it instead.',
    branches: [
      {
        becomes: 'messages.star',
        fields: { starred: optional(Type.Boolean()) },
        value: true,
      },
      {
        becomes: 'messages.unstar',
        fields: {},
        by: 'starred',
        value: false,
      },
      {
        becomes: 'messages.unpin',
        fields: {},
        by: 'pinned',
        value: 'off',
      },
      {
        becomes: 'messages.pin',
        fields: { pinned: optional(oneOf(['24h', '7d', '30d', 'off'])) },
        names: { duration: 'pinned' },
      },
      {
        becomes: 'messages.add_label',
        fields: { addLabel: optional(string(LABEL)) },
        names: { labelId: 'addLabel' },
      },
      {
        becomes: 'messages.remove_label',
        fields: { removeLabel: optional(string(LABEL)) },
        names: { labelId: 'removeLabel' },
      },
    ],
  },
  'chats.mark_read': {
    about: 'Other fields mark it as unread, archive, pin, mute or label it instead.',
    branches: [
      {
        becomes: 'chats.mark_unread',
        fields: { unread: optional(boolean('true marks it as unread.')) },
        value: true,
        ignores: isFalse,
      },
      {
        becomes: 'chats.update',
        fields: {
          archived: optional(Type.Boolean()),
          pinned: optional(Type.Boolean()),
          mutedUntil: optional(Type.Union([time(), oneOf(['off'])])),
        },
        inputOf: ({ mutedUntil, ...input }) => ({
          ...input,
          ...(mutedUntil !== undefined && { mutedUntil: mutedUntil === 'off' ? null : mutedUntil }),
        }),
      },
      {
        becomes: 'chats.add_label',
        fields: { addLabel: optional(string(LABEL)) },
        names: { labelId: 'addLabel' },
      },
      {
        becomes: 'chats.remove_label',
        fields: { removeLabel: optional(string(LABEL)) },
        names: { labelId: 'removeLabel' },
      },
      {
        becomes: 'chats.request_history',
        fields: { olderMessages: optional(integer('Asks the phone for this many; they arrive later.')) },
        names: { count: 'olderMessages' },
      },
    ],
  },
  'contacts.check': {
    branches: [
      {
        becomes: 'contacts.profile',
        fields: { profile: optional(boolean('true returns the profile of one number.')) },
        value: true,
        ignores: isFalse,
        names: { phoneNumber: 'phoneNumbers' },
        inputOf: ({ phoneNumbers, profile: _, ...input }) => ({
          ...input,
          // Several numbers are no number, which the error says.
          phoneNumber: phoneNumbers === undefined ? undefined : String(phoneNumbers),
        }),
      },
    ],
  },
  'groups.update_participants': {
    branches: (['approve', 'reject'] as const).map((action) => ({
      becomes: `groups.${action}_join_requests`,
      fields: {},
      by: 'action',
      value: action,
    })),
  },
  'groups.join': {
    branches: [
      {
        becomes: 'groups.preview_invite',
        fields: { previewOnly: optional(boolean('true shows the group without joining it.')) },
        value: true,
        ignores: isFalse,
      },
    ],
  },
  'groups.get': {
    extras: { joinRequests: { reads: 'groups.list_join_requests', inputOf: ({ groupId }) => ({ groupId }) } },
  },
  'sessions.get': {
    extras: {
      templates: { reads: 'templates.list', inputOf: inSession },
      labels: { reads: 'labels.list', inputOf: inSession },
      connectorOptions: {
        reads: 'connectors.list',
        inputOf: () => ({}),
        pick: ({ data }, { connector }) =>
          (data as Fields[]).find(({ name }) => name === connector)?.['options'] ?? null,
      },
    },
  },
  'sessions.disconnect': {
    branches: [
      {
        becomes: 'sessions.logout',
        fields: { unlink: optional(boolean('true unlinks it from the phone: it has to be linked again.')) },
        value: true,
        ignores: isFalse,
      },
    ],
  },
};

function templateOf({ name, language, values }: Fields): Fields {
  if (!Array.isArray(values) || values.length === 0) return { name, language };
  const parameters = values.map((text) => ({ type: 'text', text }));
  return { name, language, components: [{ type: 'body', parameters }] };
}
