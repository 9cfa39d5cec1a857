import type { StreamedEvent, StreamOptions } from '../../../../sdk/src/client.ts';
import type { Fields } from '../../objects.ts';
import { type Context, requireSession } from '../context.ts';
import { TRUNCATED } from '../eventFeed.ts';
import { styled } from '../io.ts';

export interface TailOptions {
  readonly events?: readonly string[];
  readonly session?: string;
  readonly after?: string;
}

/** Prints events as they happen, until Ctrl-C. */
export async function tail(context: Context, { events, session, after }: TailOptions): Promise<void> {
  const { io, out } = context;
  const client = await context.client();
  await requireSession(client, session);
  const signal = io.stopSignal();
  // The server names the types that it does not know.
  const types = events as StreamOptions['events'];
  await client.events.list({ afterCursor: 'now', limit: 1 }); // the stream would wait for a server that does not answer
  let last = after;
  const stream = client.events.stream({
    signal,
    onTruncated: (cursor) => {
      last = cursor;
      out.note(TRUNCATED);
    },
    ...(types && { events: types }),
    ...(after !== undefined && { after }),
  });
  try {
    for await (const event of stream) {
      last = event.id;
      if (session !== undefined && !('sessionId' in event.data && event.data.sessionId === session)) continue;
      out.result(event, () => out.line(event.id, '  ', styled('bold', event.event.padEnd(20)), '  ', summaryOf(event)));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (last !== undefined) out.note(`Stopped. Continue here with: --after ${last}`);
}

/** Fields that repeat others in the form of the network. */
const REDUNDANT = /^(network\w+|isGroup|participant|toNumber)$/;

/** The fields of the event, its text last. */
function summaryOf({ data }: StreamedEvent): string {
  const { message, ...fields }: Fields = data;
  const shown = Object.entries(fields)
    .filter(([name, value]) => !REDUNDANT.test(name) && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name}=${value}`);
  return [...shown, ...(typeof message === 'string' ? [JSON.stringify(message)] : [])].join(' ');
}
