import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BusboyHeaders, BusboyInstance } from '@fastify/busboy';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, invalidField } from '../errors.ts';
import { type Content, dispositionName } from '../media/content.ts';

/** Deadline for receiving a whole file: 100 MiB at 1 Mbit/s. */
export const UPLOAD_TIMEOUT_MS = 15 * 60_000;
/** Deadline for any other request: a client that sends one byte at a time must not hold a connection. */
const REQUEST_TIMEOUT_MS = 60_000;
/** How long a client may continue to send after the response, so that it gets to read it. */
const LINGER_MS = 2000;

const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body itself, as a stream. */
    takesContent?: true;
  }
}

/**
 * Ends requests whose body does not arrive in time. Node has one limit for all requests, which must be that of uploads.
 * Also ends those that are answered before their body is read, because a client should not keep sending to a server
 * that no longer reads.
 */
export function limitReading(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _, payload, done) => {
    const { raw } = request;
    if (raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined) {
      if (!request.routeOptions.config.takesContent) closeUnlessRead(raw, REQUEST_TIMEOUT_MS);
    }
    done(null, payload);
  });
  // Discards an unread body from here on: after the response, Node would leave the rest on the wire.
  app.addHook('onSend', async ({ raw }) => {
    if (!raw.complete && raw.readableFlowing === null) raw.resume();
  });
  // The client may still be sending, and sees a refusal only as long as its connection is open.
  app.addHook('onResponse', async ({ raw }) => {
    if (raw.complete) return;
    closeUnlessRead(raw, LINGER_MS);
    raw.resume();
  });
}

/** Adds a route whose handler reads the body itself, whatever its type. */
export function acceptContent(
  app: FastifyInstance,
  addRoute: (scope: FastifyInstance, config: { takesContent: true }) => void,
): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    // Fastify refuses a malformed type before it looks for a parser. Senders copy the types that other programs
    // declare.
    scope.addHook('onRequest', async ({ raw: { headers } }) => {
      const { 'content-type': type } = headers;
      if (type !== undefined && !MEDIA_TYPE.test(type)) headers['content-type'] = 'application/octet-stream';
    });
    addRoute(scope, { takesContent: true });
  });
}

function closeUnlessRead(raw: IncomingMessage, withinMs: number): void {
  // Null if the client has already hung up, despite Node's types.
  const socket: Socket | null = raw.socket;
  if (socket === null || socket.destroyed) return;
  const timer = setTimeout(() => {
    if (!raw.complete) socket.destroy();
  }, withinMs);
  timer.unref();
  raw.once('end', () => clearTimeout(timer));
  // Node emits `close` as soon as the response is sent, even if the body is still arriving.
  raw.once('close', () => {
    if (socket.destroyed) clearTimeout(timer);
  });
}

/** The file of a request: its body, or the single file of its form. */
export async function openContent(request: FastifyRequest): Promise<Content> {
  const { 'content-type': type, 'content-disposition': disposition, 'content-length': length } = request.headers;
  if (type !== undefined && /^multipart\/form-data\b/i.test(type)) return openForm(request, type);
  return {
    stream: Readable.from(bodyOf(request), { objectMode: false }),
    fileName: typeof disposition === 'string' ? dispositionName(disposition) : null,
    mimeType: type ?? null,
    ...(length !== undefined && { declaredBytes: Number(length) }),
  };
}

/** The body, which is not destroyed if the reader gives up: that would close the connection before the response. */
async function* bodyOf({ raw }: FastifyRequest): AsyncGenerator<Buffer> {
  try {
    // Not `yield*`, which would pass a reader's error to the iterator, and that destroys the request.
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) yield chunk;
  } catch (cause) {
    if (raw.errored === null) throw cause;
    throw new AppError('validation_failed', 'The request body ended too early; upload the file again', { cause });
  }
}

/** Parses a form up to its file. The rest is parsed after the file has been read, and must be empty. */
async function openForm(request: FastifyRequest, type: string): Promise<Content> {
  const form = await newForm({ ...request.headers, 'content-type': type });
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const refuse = (message: string) => form.destroy(invalidField('body', message));
    form.on('field', (name) => refuse(`The form must contain exactly one file; remove the field ${name}`));
    form.on('file', (_name, file, fileName, _encoding, mimeType) => {
      if (isOpen) {
        file.resume();
        refuse('The form must contain exactly one file, but has several');
        return;
      }
      isOpen = true;
      parsed.catch((error: Error) => file.destroy(error));
      resolve({
        stream: Readable.from(fileOf(file, form, parsed), { objectMode: false }),
        fileName: fileName ?? null,
        mimeType: mimeType ?? null,
      });
    });
    const parsed = pipeline(bodyOf(request), form).catch((cause: unknown) => {
      throw cause instanceof AppError ? cause : invalidField('body', 'The form is malformed or incomplete');
    });
    parsed.then(() => reject(invalidField('body', 'The form contains no file', 'required')), reject);
  });
}

async function newForm(headers: BusboyHeaders): Promise<BusboyInstance> {
  const { Busboy } = await import('@fastify/busboy');
  try {
    return new Busboy({ headers, limits: { fieldSize: 1024, headerPairs: 20, headerSize: 8192 } });
  } catch (cause) {
    throw new AppError('validation_failed', 'The Content-Type of the form has no valid boundary', { cause });
  }
}

/** Ends only once the whole form has ended correctly, because half a form is not an upload. */
async function* fileOf(file: Readable, form: BusboyInstance, parsed: Promise<void>): AsyncGenerator<Buffer> {
  try {
    yield* file;
  } catch (error) {
    form.destroy(); // the reader gave up, unless the form failed, which throws here
    await parsed;
    throw error;
  }
  await parsed;
}
