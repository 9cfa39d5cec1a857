import { type Static, type TObject, Type } from 'typebox';
import { callerKeyId } from '../../auth/authenticate.ts';
import type { EventDetails, EventPlace } from '../../connectors/contract/contentParts.ts';
import { invalidField } from '../../errors.ts';
import {
  boolean,
  list,
  named,
  notBlank,
  number,
  oneOf,
  optional,
  strictObject,
  strictPart,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { type StoredContent, storedMedia } from '../../messages/content.ts';
import { findMessages, type SessionRef } from '../../messages/store.ts';
import { futureTime } from '../shared/futureTime.ts';
import { deferredFile } from './deferredFetch.ts';
import { Message, toMessage } from './messages.ts';
import { requireFeature } from './richSending.ts';
import { type Content, envelope, keyToApprove, quotaOf, requireSendable, send, sendOperation } from './send.ts';
import { FILE_DEADLINE_MS, fileErrors, preparedFile } from './sending.ts';

export const eventFields = {
  name: notBlank(string('Name of the event.', { minLength: 1, maxLength: 200 })),
  description: optional(string('Description of the event.', { minLength: 1, maxLength: 2048 })),
  startsAt: time('When it begins. Time with an offset, such as 2026-07-01T14:00:00+02:00.'),
  endsAt: optional(time('When it ends; after `startsAt`.')),
  location: optional(
    strictPart('Where it is: a name, coordinates, or both.', {
      name: optional(string('Name of the place.', { minLength: 1, maxLength: 200 })),
      address: optional(string('Postal address of the place.', { minLength: 1, maxLength: 500 })),
      latitude: optional(number('Degrees north (WGS 84).', { minimum: -90, maximum: 90 })),
      longitude: optional(number('Degrees east (WGS 84).', { minimum: -180, maximum: 180 })),
    }),
  ),
  extraGuests: optional(boolean('Guests can bring others; false by default.', { default: false })),
};

export const sendEvent = defineOperation({
  ...sendOperation,
  id: 'messages.send_event',
  route: 'POST /messages/send-event',
  uses: ['sender', 'media'],
  summary: 'Send an event',
  description:
    'Send an event with its time and place, which recipients can answer. The answers are stored on the message; read them with `messages.get`.',
  input: {
    ...envelope,
    ...eventFields,
  },
  example: { to: '491707654321', name: 'Team lunch', startsAt: '2030-07-01T12:00:00+02:00' },
  run: (ctx, input) => send(ctx, input, eventContent(input)),
});

/** @throws {AppError} `validation_failed` */
export function eventContent(given: Static<TObject<typeof eventFields>>): Content {
  const { name, description, location, extraGuests } = given;
  const startsAt = parseTime('startsAt', given.startsAt);
  const endsAt = given.endsAt === undefined ? undefined : parseTime('endsAt', given.endsAt);
  if (endsAt !== undefined && endsAt <= startsAt) throw invalidField('endsAt', 'must be after `startsAt`');
  const event: EventDetails = {
    startsAt,
    ...(endsAt !== undefined && { endsAt }),
    ...(description !== undefined && { description }),
    ...(location !== undefined && { location: placeOf(location) }),
    ...(extraGuests === true && { allowsExtraGuests: true }),
  };
  return { type: 'event', text: name, content: { event } };
}

type Given<T> = { readonly [K in keyof T]: T[K] | undefined };

function placeOf(location: Given<EventPlace>): EventPlace {
  const { latitude, longitude } = location;
  if ((latitude === undefined) !== (longitude === undefined))
    throw invalidField('location', 'has only one of `latitude` and `longitude`; pass both or none');
  const fields = Object.entries(location).filter(([, value]) => value !== undefined);
  if (fields.length === 0) throw invalidField('location', 'Pass a name, an address or coordinates', 'required');
  return Object.fromEntries(fields);
}

const AlbumFile = strictObject({
  type: oneOf(['image', 'video'], 'Type in which the file is sent.'),
  mediaId: optional(string('Id of an uploaded or received file (`med_…`).', { ...ref('file'), maxLength: 100 })),
  url: optional(string('https URL of the file.', { maxLength: 2048 })),
  caption: optional(string('Text shown below the file.', { maxLength: 4096 })),
});

export const albumFields = {
  files: list(AlbumFile, 'The files, in the order in which they are shown.', { minItems: 2, maxItems: 30 }),
};

export const sendAlbum = defineOperation({
  ...sendOperation,
  id: 'messages.send_album',
  route: 'POST /messages/send-album',
  owner: { field: 'sessionId' }, // also for a later send, because it fetches the files
  deadlineMs: FILE_DEADLINE_MS,
  async readStored(ctx, { files }) {
    const [albumId, ...ids] = albumIds(ctx, files.length);
    const found = await findMessages(ctx.database.reader, ctx.accountId, ids);
    const stored = ids.flatMap((id) => found.get(id) ?? []);
    if (stored.length === 0) return undefined;
    return { albumId, messages: await Promise.all(stored.map((row) => toMessage(ctx, row))) };
  },
  receipt: undefined,
  uses: ['sender', 'media', 'preparation', 'targets'],
  summary: 'Send an album',
  description:
    'Send 2 to 30 images and videos that the recipient sees as one album. Each is a message of its own, with the same `album.albumId`. All are stored before the response and go out one after the other, so a restart loses none. Pass `mediaId` or `url` for each.',
  status: 202,
  input: {
    ...envelope,
    ...albumFields,
  },
  output: named('Album', {
    albumId: string('The same as in `album.albumId` of each message.'),
    messages: Type.Array(Message, { description: 'One message per file, in the order of `files`.' }),
  }),
  errors: [...sendOperation.errors, ...fileErrors],
  example: {
    to: '491707654321',
    files: [
      { type: 'image', mediaId: 'med_01JZ0000000000000000000000', caption: 'Before' },
      { type: 'image', mediaId: 'med_01JZ0000000000000000000001', caption: 'After' },
    ],
  },
  async run(ctx, input) {
    const session = await requireSendable(ctx, input, 'image');
    await requireSendable(ctx, input, 'video');
    await requireFeature(ctx, session, 'albums');
    const { to } = input;
    const startsAt = input.sendAt === undefined ? ctx.clock.now() : futureTime(ctx, 'sendAt', input.sendAt);
    const files = await albumContents(ctx, session, input.files);
    const [albumId, ...ids] = albumIds(ctx, files.length);
    const drafts = albumOf(albumId, input.files, files).map((content, index) => ({
      ...content,
      messageId: ids[index] ?? '',
      to,
      replyTo: index === 0 ? (input.replyTo ?? null) : null,
      keyId: callerKeyId(ctx),
      sendAt: startsAt + index, // keeps their order
    }));
    const heldFor = keyToApprove(ctx);
    const rows =
      heldFor === undefined
        ? await ctx.sender.schedule(session, drafts, quotaOf(ctx))
        : await ctx.sender.holdForApproval(session, drafts, heldFor, quotaOf(ctx));
    return { albumId, messages: await Promise.all(rows.map((row) => toMessage(ctx, row))) };
  },
});

type GivenFile = Static<typeof AlbumFile>;

/** Returns the messages of an album. @param contents of `files`, from `albumContents` */
export function albumOf(albumId: string, files: readonly GivenFile[], contents: readonly StoredContent[]): Content[] {
  const count = (type: string) => files.filter((file) => file.type === type).length;
  const album = { albumId, images: count('image'), videos: count('video') };
  return files.map(({ type, caption = '' }, index) => ({
    type,
    text: caption,
    content: { ...contents[index], album: { ...album, index } },
  }));
}

/**
 * Prepares the files one after the other, because each may be as large as a file can be.
 * @param path before the names of the fields, in errors
 */
export async function albumContents(
  ctx: Context<'media' | 'preparation' | 'targets'>,
  session: SessionRef,
  files: readonly GivenFile[],
  path = '',
): Promise<StoredContent[]> {
  const contents: StoredContent[] = [];
  for (const [index, file] of files.entries())
    contents.push(
      (file.mediaId === undefined && deferredFile(ctx, file, `${path}files.${index}.url`)) || {
        media: storedMedia(await preparedFile(ctx, session, file)),
      },
    );
  return contents;
}

/** The id of an album and those of its messages, the same ones if the request is repeated with its idempotency key. */
function albumIds({ resourceId, newId }: Context, files: number): [string, ...string[]] {
  const made = Array.from({ length: files }, (_, n) =>
    resourceId === undefined ? newId('msg') : `msg_${resourceId}_${n}`,
  );
  return [resourceId === undefined ? newId('msg') : `msg_${resourceId}`, ...made];
}
