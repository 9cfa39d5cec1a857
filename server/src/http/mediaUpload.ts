import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, invalidField } from '../errors.ts';
import { type Content, dispositionName } from '../media/content.ts';

/** To receive a whole file: 100 MiB at 1 Mbit/s. */
export const UPLOAD_TIMEOUT_MS = 15 * 60_000;
/** To receive any other request: a client that sends a byte now and then must not hold a connection for ever. */
const REQUEST_TIMEOUT_MS = 60_000;
/** How long a client that has its answer may go on sending, so that it comes to read it. */
const LINGER_MS = 2000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body itself, as it comes. */
    takesContent?: true;
  }
}

/**
 * Ends requests whose body does not come in time: Node's own limit is one for all, so it is the one of uploads. And
 * where the answer is out before the body is read, for nobody is to send to a server that does not listen.
 */
export function limitReading(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _, payload, done) => {
    const { raw } = request;
    if (raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined) {
      if (!request.routeOptions.config.takesContent) hangUpUnlessRead(raw, REQUEST_TIMEOUT_MS);
    }
    done(null, payload);
  });
  // A body that nobody reads is discarded from here on: once the answer is out, Node would leave the rest on the wire.
  app.addHook('onSend', async ({ raw }) => {
    if (!raw.complete && raw.readableFlowing === null) raw.resume();
  });
  // A client hears of a refusal only while its connection is up, and it may still be sending.
  app.addHook('onResponse', async ({ raw }) => {
    if (raw.complete) return;
    hangUpUnlessRead(raw, LINGER_MS);
    raw.resume();
  });
}

/** Adds a route whose body is left for its handler to read, whatever its type. */
export function acceptContent(
  app: FastifyInstance,
  addRoute: (scope: FastifyInstance, config: { takesContent: true }) => void,
): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    addRoute(scope, { takesContent: true });
  });
}

function hangUpUnlessRead(raw: IncomingMessage, withinMs: number): void {
  // Null when the client has hung up first, whatever Node's types say.
  const socket: Socket | null = raw.socket;
  if (socket === null || socket.destroyed) return;
  const timer = setTimeout(() => {
    if (!raw.complete) socket.destroy();
  }, withinMs);
  timer.unref();
  raw.once('end', () => clearTimeout(timer));
  // Node says `close` as soon as the answer is out, while the body may go on for ever.
  raw.once('close', () => {
    if (socket.destroyed) clearTimeout(timer);
  });
}

/** The file of a request: its body, or the one file of its form. */
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

/** The body, which stays readable when the reader gives up: destroying it would take the answer's way away. */
async function* bodyOf({ raw }: FastifyRequest): AsyncGenerator<Buffer> {
  try {
    // Not `yield*`: it would hand a reader's error on to the iterator, which then destroys the request all the same.
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) yield chunk;
  } catch (cause) {
    if (raw.errored === null) throw cause;
    throw new AppError('validation_failed', 'The request body ended too early; upload the file again', { cause });
  }
}

/** Reads a form as far as its file. What comes after that is read when the file has been, and must be nothing. */
function openForm(request: FastifyRequest, type: string): Promise<Content> {
  return new Promise((resolve, reject) => {
    const form = newForm({ ...request.headers, 'content-type': type });
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

function newForm(headers: BusboyHeaders): BusboyInstance {
  try {
    return new Busboy({ headers, limits: { fieldSize: 1024, headerPairs: 20, headerSize: 8192 } });
  } catch (cause) {
    throw new AppError('validation_failed', 'The Content-Type of the form has no valid boundary', { cause });
  }
}

/** The bytes of a form's file. It ends only when the form has ended well, for half a form is no upload. */
async function* fileOf(file: Readable, form: BusboyInstance, parsed: Promise<void>): AsyncGenerator<Buffer> {
  try {
    yield* file;
  } catch (error) {
    form.destroy(); // the reader has given up, unless it was the form, which then says so
    await parsed;
    throw error;
  }
  await parsed;
}
