import { type TProperties, Type } from 'typebox';
import { invalidField } from '../../errors.ts';
import { boolean, integer, list, object, oneOf, optional, string, time } from '../../invoke/input/fields.ts';
import type { Operation } from '../../invoke/operation.ts';

/*
 * Some tools cover several operations, because a model chooses better among few tools. A call with a field of a branch
 * becomes a call of another operation, with its permission, limits, approval and confirmation: nothing here runs.
 */

type Fields = Readonly<Record<string, unknown>>;

export interface Branch {
  /** Id of the operation that the call becomes. */
  readonly becomes: string;
  /** Fields that only this branch has. The call takes the branch if one of them is present. */
  readonly fields: TProperties;
  /** Another value of the tool's field `action` that takes the branch. */
  readonly action?: string;
  /** Decides in place of the presence of a field. */
  readonly takes?: (input: Fields) => boolean;
  /** Whether a value of its fields selects nothing, like null. Models fill in fields that they do not use. */
  readonly ignores?: (value: unknown, input: Fields) => boolean;
  /** Input of the operation. Defaults to the tool's input. */
  readonly inputOf?: (input: Fields) => Fields;
}

/** Adds the outputs of other operations to the output of a tool, for each name in `include`. */
export interface Extra {
  readonly reads: string;
  readonly inputOf: (input: Fields) => Fields;
  /** The part that is added; by default `data`. */
  readonly pick?: (output: Fields, of: Fields) => unknown;
}

interface Additions {
  readonly branches?: readonly Branch[];
  /** Required fields of the tool's operation that a branch replaces. */
  readonly replaced?: readonly string[];
  /** Added to the description of a tool whose name does not suggest its branches. */
  readonly about?: string;
  readonly extras?: Readonly<Record<string, Extra>>;
}

const without = ({ ...input }: Record<string, unknown>, ...names: readonly string[]): Fields => {
  for (const name of names) delete input[name];
  return input;
};

/** Renames the field of a branch to its name in the operation. */
const renamed = (from: string, to: string) => (input: Fields) => ({ ...without(input, from), [to]: input[from] });

const isFalse = (value: unknown) => value === false;
const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;

const LABEL = 'Label id (`lbl_…`).';
const inSession = ({ sessionId }: Fields) => ({ sessionId });

const additions: Readonly<Record<string, Additions>> = {
  'messages.send': {
    replaced: ['message'],
    branches: [
      {
        becomes: 'messages.send_template',
        fields: {
          template: optional(
            object('In place of `message`, on whatsapp-cloud; see `include` of `sessions.get`.', {
              name: Type.String(),
              language: Type.String(),
              values: optional(list(Type.String(), 'Values of the body, in order.')),
            }),
          ),
        },
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
        takes: ({ to }) => to === 'status',
        inputOf: (input) => renamed('caption', 'message')(without(input, 'to')),
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
        inputOf: renamed('vote', 'options'),
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
        takes: ({ starred }) => starred === true,
        inputOf: (input) => without(input, 'starred'),
      },
      {
        becomes: 'messages.unstar',
        fields: {},
        takes: ({ starred }) => starred === false,
        inputOf: (input) => without(input, 'starred'),
      },
      {
        becomes: 'messages.unpin',
        fields: {},
        takes: ({ pinned }) => pinned === 'off',
        inputOf: (input) => without(input, 'pinned'),
      },
      {
        becomes: 'messages.pin',
        fields: { pinned: optional(oneOf(['24h', '7d', '30d', 'off'])) },
        inputOf: renamed('pinned', 'duration'),
      },
      {
        becomes: 'messages.add_label',
        fields: { addLabel: optional(string(LABEL)) },
        inputOf: renamed('addLabel', 'labelId'),
      },
      {
        becomes: 'messages.remove_label',
        fields: { removeLabel: optional(string(LABEL)) },
        inputOf: renamed('removeLabel', 'labelId'),
      },
    ],
  },
  'chats.mark_read': {
    about: 'Other fields mark it as unread, archive, pin, mute or label it instead.',
    branches: [
      {
        becomes: 'chats.mark_unread',
        fields: { unread: optional(boolean('true marks it as unread.')) },
        takes: ({ unread }) => unread === true,
        ignores: isFalse,
        inputOf: (input) => without(input, 'unread'),
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
        inputOf: renamed('addLabel', 'labelId'),
      },
      {
        becomes: 'chats.remove_label',
        fields: { removeLabel: optional(string(LABEL)) },
        inputOf: renamed('removeLabel', 'labelId'),
      },
      {
        becomes: 'chats.request_history',
        fields: { olderMessages: optional(integer('Asks the phone for this many; they arrive later.')) },
        inputOf: renamed('olderMessages', 'count'),
      },
    ],
  },
  'contacts.check': {
    branches: [
      {
        becomes: 'contacts.profile',
        fields: { profile: optional(boolean('true returns the profile of one number.')) },
        takes: ({ profile }) => profile === true,
        ignores: isFalse,
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
      action,
      takes: (input) => input['action'] === action,
      inputOf: (input) => without(input, 'action'),
    })),
  },
  'groups.join': {
    branches: [
      {
        becomes: 'groups.preview_invite',
        fields: { previewOnly: optional(boolean('true shows the group without joining it.')) },
        takes: ({ previewOnly }) => previewOnly === true,
        ignores: isFalse,
        inputOf: (input) => without(input, 'previewOnly'),
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
        takes: ({ unlink }) => unlink === true,
        ignores: isFalse,
        inputOf: (input) => without(input, 'unlink'),
      },
    ],
  },
};

function templateOf({ values, ...template }: Fields): Fields {
  if (!Array.isArray(values) || values.length === 0) return template;
  const parameters = values.map((text) => ({ type: 'text', text }));
  return { ...template, components: [{ type: 'body', parameters }] };
}

/** The operations of a tool apart from its own. */
export class ToolBranches {
  readonly #branches: readonly { readonly branch: Branch; readonly operation: Operation }[];
  readonly #extras: ReadonlyMap<string, { readonly extra: Extra; readonly operation: Operation }>;
  /** Required fields that a branch replaces. */
  readonly replaced: readonly string[];
  /** Added to the description of the tool; empty for none. */
  readonly about: string;

  constructor(id: string, operations: readonly Operation[]) {
    const { branches = [], replaced = [], about = '', extras = {} } = additions[id] ?? {};
    const named = (wanted: string) => {
      const operation = operations.find((one) => one.id === wanted);
      if (operation === undefined) throw new Error(`The tool of ${id} has a branch to ${wanted}, which does not exist`);
      return operation;
    };
    this.#branches = branches.map((branch) => ({ branch, operation: named(branch.becomes) }));
    this.#extras = new Map(
      Object.entries(extras).map(([name, extra]) => [name, { extra, operation: named(extra.reads) }]),
    );
    this.replaced = replaced;
    this.about = about;
  }

  get operations(): readonly Operation[] {
    return [...this.#branches, ...this.#extras.values()].map(({ operation }) => operation);
  }

  /** The fields of the branches, of those that are permitted. */
  fields(isPermitted: (operation: Operation) => boolean = () => true): TProperties {
    const shown = this.#branches.filter(({ operation }) => isPermitted(operation));
    const names = [...this.#extras].filter(([, { operation }]) => isPermitted(operation)).map(([name]) => name);
    return {
      ...Object.assign({}, ...shown.map(({ branch }) => branch.fields)),
      ...(names.length > 0 && { include: optional(list(oneOf(names), 'Adds these to the result.')) }),
    };
  }

  /** Values of `action` that take a branch. */
  actions(isPermitted: (operation: Operation) => boolean = () => true): readonly string[] {
    return this.#branches.flatMap(({ branch, operation }) => (isPermitted(operation) && branch.action) || []);
  }

  get hasExtras(): boolean {
    return this.#extras.size > 0;
  }

  /** The operation that a call becomes, and its input. Undefined if it stays the tool's own. */
  take(input: unknown): { readonly operation: Operation; readonly input: Fields } | undefined {
    if (!isObject(input)) return undefined;
    const used = this.withoutUnused(input);
    for (const { branch, operation } of this.#branches) {
      const { fields, takes = (given) => Object.keys(fields).some((name) => given[name] !== undefined) } = branch;
      if (takes(used)) return { operation, input: withoutIdle(branch.inputOf?.(used) ?? used, operation) };
    }
    return undefined;
  }

  /** Removes fields of branches whose value selects nothing. */
  withoutUnused<Input>(input: Input): Input {
    if (!isObject(input)) return input;
    const unused = this.#branches.flatMap(({ branch: { fields, ignores } }) =>
      Object.keys(fields).filter((name) => input[name] === null || ignores?.(input[name], input)),
    );
    return unused.length === 0 ? input : (without(input, ...unused) as Input);
  }

  /** @throws {AppError} `validation_failed` for a name that this tool cannot add */
  requireExtras(include: unknown): void {
    if (include === undefined) return;
    const names = Array.isArray(include) ? include : [include];
    if (names.every((name) => this.#extras.has(String(name)))) return;
    throw invalidField('include', `must be some of ${[...this.#extras.keys()].join(', ')}`, 'enum');
  }

  /** Additions to the output of a call, by name. */
  extrasOf(include: unknown): (readonly [name: string, operation: Operation, extra: Extra])[] {
    if (!Array.isArray(include)) return [];
    return [...this.#extras]
      .filter(([name]) => include.includes(name))
      .map(([name, { operation, extra }]) => [name, operation, extra] as const);
  }
}

/** Removes fields that the operation lacks and that would change nothing. */
function withoutIdle(input: Fields, { input: { properties } }: Operation): Fields {
  const isIdle = (value: unknown) => value === null || isFalse(value) || isEmpty(value);
  return Object.fromEntries(Object.entries(input).filter(([name, value]) => name in properties || !isIdle(value)));
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
