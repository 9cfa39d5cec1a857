import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { Message } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import type { mediaTypes } from '../../connectors/contract/content.ts';
import { hasReached, type Step } from '../../messages/status.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { readAll } from '../prompt.ts';

export type MediaType = (typeof mediaTypes)[number];

export interface SendOptions {
  readonly session?: string;
  readonly file?: string;
  readonly mediaUrl?: string;
  readonly type?: MediaType;
  readonly replyTo?: string;
  readonly at?: string;
  readonly wait?: Step;
  /** Seconds. */
  readonly timeout: number;
  readonly idempotencyKey?: string;
}

/** The longest wait of one request. */
const MAX_WAIT_SECONDS = 30;

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
  let current = sent;
  try {
    if (options.wait !== undefined) current = await waitFor(context, client, sent, options.wait, options.timeout);
  } finally {
    // Also if the wait failed: the message was sent.
    context.out.result(current, () => context.out.line(`${current.messageId} ${current.status}`));
  }
  if (current.status === 'failed')
    throw new CliError('failed', `The message failed: ${current.error ?? 'no reason given'}`);
  if (options.wait !== undefined && !hasReached(current.status, options.wait))
    throw new CliError('failed', `The message is ${current.status}, not ${options.wait}, after ${options.timeout} s.`);
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
  until: Step,
  seconds: number,
): Promise<Message> {
  const signal = io.stopSignal();
  const { messageId } = message;
  const end = performance.now() + seconds * 1000;
  for (let current = message; ; ) {
    const left = Math.round((end - performance.now()) / 1000);
    if (hasReached(current.status, until) || current.status === 'failed' || left <= 0) return current;
    const wait = Math.min(left, MAX_WAIT_SECONDS);
    const { statusHistory: _, ...found } = await client.messages.get({ messageId, until, wait }, { signal });
    current = found;
  }
}
