import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Message } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { readAll } from '../prompt.ts';

export type MediaType = 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker';

export interface SendOptions {
  readonly session?: string;
  readonly file?: string;
  readonly mediaUrl?: string;
  readonly type?: MediaType;
  readonly replyTo?: string;
  readonly at?: string;
  readonly wait?: 'sent' | 'delivered' | 'read';
  /** Seconds. */
  readonly timeout: number;
  readonly idempotencyKey?: string;
}

const POLL_MS = 250;
const reached: Readonly<Record<NonNullable<SendOptions['wait']>, readonly Message['status'][]>> = {
  sent: ['sent', 'delivered', 'read'],
  delivered: ['delivered', 'read'],
  read: ['read'],
};

/** @param text `-` for standard input; the caption of a file */
export async function send(
  context: Context,
  to: string,
  text: string | undefined,
  options: SendOptions,
): Promise<void> {
  const { file, mediaUrl } = options;
  if (file !== undefined && mediaUrl !== undefined)
    throw new CliError('usage', 'Pass --file or --media-url, not both.');
  if (options.wait !== undefined && options.at !== undefined)
    throw new CliError('usage', 'A message that is sent later cannot be waited for: leave out --wait or --at.');
  const message = text === '-' ? (await readAll(context.io.stdin)).replace(/\r?\n$/, '') : text;
  const hasMedia = file !== undefined || mediaUrl !== undefined;
  if (!hasMedia && (message === undefined || message === ''))
    throw new CliError('usage', 'Pass the text of the message, - for standard input, or a file.');
  const client = await context.client();
  const sent = hasMedia
    ? await sendMedia(client, to, message, options)
    : await client.messages.send({ ...common(to, options), message: message ?? '' });
  const final = options.wait === undefined ? sent : await waitFor(context, client, sent, options.wait, options.timeout);
  context.out.result(final, () => context.out.line(`${final.messageId} ${final.status}`));
  if (final.status === 'failed')
    throw new CliError('failed', `The message failed: ${final.error ?? 'no reason given'}`);
  if (options.wait !== undefined && !reached[options.wait].includes(final.status))
    throw new CliError('failed', `The message is ${final.status}, not ${options.wait}, after ${options.timeout} s.`);
}

function common(to: string, { session, replyTo, at, idempotencyKey }: SendOptions) {
  return {
    to,
    ...(session !== undefined && { sessionId: session }),
    ...(replyTo !== undefined && { replyTo }),
    ...(at !== undefined && { sendAt: at }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

async function sendMedia(
  client: Client,
  to: string,
  caption: string | undefined,
  options: SendOptions,
): Promise<Message> {
  const text = caption !== undefined && caption !== '' ? { caption } : {};
  const { file, mediaUrl: url } = options;
  if (file === undefined) {
    const type = options.type ?? 'document';
    return client.messages.sendMedia({ ...common(to, options), ...text, type, ...(url !== undefined && { url }) });
  }
  const fileName = basename(file);
  const { mediaId, mimeType } = await client.media.upload(await openFile(file), { fileName });
  return client.messages.sendMedia({
    ...common(to, options),
    ...text,
    mediaId,
    type: options.type ?? typeOf(mimeType),
    fileName,
  });
}

/** A file is read while it is sent, and again if the upload is repeated. */
async function openFile(path: string): Promise<Blob> {
  return openAsBlob(path).catch((cause) => {
    throw new CliError('failed', `${path} cannot be read.`, { cause });
  });
}

function typeOf(mimeType: string): MediaType {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document';
}

/** Returns the message once it has the status, has failed, or the time is over. */
async function waitFor(
  { io }: Context,
  client: Client,
  message: Message,
  status: NonNullable<SendOptions['wait']>,
  seconds: number,
): Promise<Message> {
  const signal = io.stopSignal();
  const until = performance.now() + seconds * 1000;
  let current = message;
  while (!reached[status].includes(current.status) && current.status !== 'failed' && performance.now() < until) {
    await wait(POLL_MS, undefined, { signal });
    const { statusHistory: _, ...found } = await client.messages.get({ messageId: message.messageId }, { signal });
    current = found;
  }
  return current;
}
