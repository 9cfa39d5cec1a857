import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { corsHeadersOf } from '../cors.ts';

/** Takes the response over from Fastify, and begins a stream of server-sent events. */
export function beginServerSentEvents(reply: FastifyReply, requestId: string): ServerResponse {
  reply.hijack();
  return reply.raw.writeHead(200, {
    ...corsHeadersOf(reply),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no', // keeps nginx from buffering
    'x-request-id': requestId,
  });
}

/** Waits until the client has accepted the text. */
export async function writeAtItsPace(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted || response.write(text)) return;
  await once(response, 'drain', { signal }).catch(() => {}); // the client is gone
}
