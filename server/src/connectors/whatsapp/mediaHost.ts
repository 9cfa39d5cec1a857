import { createHash } from 'node:crypto';
import { pipeline, type Readable, Transform } from 'node:stream';
import type { WAMessage, WASocket } from 'baileys';
import type { ILogger } from 'baileys/lib/Utils/logger.js';
import type { Clock } from '../../clock.ts';
import type { ParsedMedia } from './incomingContent.ts';
import type { Baileys } from './load.ts';
import type { ProxyRoute } from './proxy.ts';

/** Where the network keeps the files of messages, encrypted. */
export interface MediaHost {
  /** Opens a file as a stream of what is in it. One that the host has deleted is asked of the sender's phone again. */
  download(message: WAMessage, media: ParsedMedia): Promise<Readable>;
}

/** A phone that is off says nothing, and Baileys would wait for it for ever. */
const PHONE_MS = 30_000;
/** A host that trickles, or says nothing more, keeps others from their turn no longer than this. */
const FILE_MS = 5 * 60_000;

export function createMediaHost({
  baileys,
  socket,
  proxy,
  clock,
  log,
}: {
  baileys: Baileys;
  socket: () => WASocket | undefined;
  proxy: ProxyRoute | undefined;
  clock: Clock;
  log: ILogger;
}): MediaHost {
  async function askPhone(message: WAMessage): Promise<WAMessage> {
    const open = socket();
    if (open === undefined) throw new Error('the session is not connected');
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancel = clock.after(PHONE_MS, () => reject(new Error('the phone does not answer')));
    return Promise.race([late, open.updateMediaMessage(message)]).finally(cancel);
  }

  return {
    async download(message, { hash }) {
      const options = proxy === undefined ? {} : { dispatcher: proxy.dispatcher };
      const content = await baileys.downloadMediaMessage(
        message,
        'stream',
        // Node's fetch takes a dispatcher, and the type of its options does not know.
        { options: options as RequestInit },
        { logger: log, reuploadRequest: askPhone },
      );
      const cancel = clock.after(FILE_MS, () => content.destroy(new Error('the file takes too long to come')));
      content.once('close', cancel);
      return hash === null ? content : checked(content, hash);
    },
  };
}

/** Passes a file on, and fails at its end when it is not what its sender has sent: Baileys looks at no checksum. */
function checked(content: Readable, hash: Uint8Array): Readable {
  const actual = createHash('sha256');
  const check = new Transform({
    transform(chunk, _, done) {
      actual.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      done(actual.digest().equals(hash) ? null : new Error('the file came broken, or is not the one that was sent'));
    },
  });
  // What goes wrong on either side ends the other, and whoever reads is told.
  pipeline(content, check, () => {});
  return check;
}
