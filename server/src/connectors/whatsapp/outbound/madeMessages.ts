import type { AnyMessageContent, MiscMessageGenerationOptions, proto, WASocket } from 'baileys';
import type { Session } from '../session.ts';

/**
 * Makes the message that goes to an address, and uploads its file. The `sendMessage` of Baileys does the same and then
 * sends it, so that the encryption of a message with a file could not wait for its turn.
 */
export async function makeMessage(
  { baileys, creds, baileysLog, ownFiles }: Session,
  socket: WASocket,
  jid: string,
  content: AnyMessageContent,
  options: MiscMessageGenerationOptions,
): Promise<proto.IMessage> {
  const made = await baileys.generateWAMessage(jid, content, {
    logger: baileysLog,
    userJid: creds.me?.id ?? '',
    upload: socket.waUploadToServer,
    // Node's fetch accepts a dispatcher, but its type does not.
    options: { dispatcher: ownFiles } as RequestInit,
    ...options,
  });
  if (!made.message) throw new Error('Baileys returned an empty message');
  return made.message;
}
