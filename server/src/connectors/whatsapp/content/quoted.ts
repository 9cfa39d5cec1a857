import type { proto } from 'baileys';
import type { Quoted } from '../../contract/contentParts.ts';
import { STATUS } from '../people/addresses.ts';
import { mentionsIn } from '../people/mentionText.ts';
import type { Session } from '../session.ts';
import { parseContent } from './incomingContent.ts';

/**
 * Returns the message that a reply quotes. WhatsApp sends its content with the reply, because the recipient may not
 * have it: it is older than the link, from another chat, or a status (stack #331, WAHA #1995).
 */
export async function quotedOf(
  { baileys, self }: Session,
  context: proto.IContextInfo | null | undefined,
  digitsOf: (jid: string) => Promise<string>,
): Promise<{ quoted?: Quoted }> {
  const { stanzaId, participant, remoteJid, quotedMessage } = context ?? {};
  if (!stanzaId) return {};
  const isOurs = self.is(participant);
  const parsed = quotedMessage ? parseContent(baileys, quotedMessage) : undefined;
  return {
    quoted: {
      networkId: stanzaId,
      ...(participant && { from: isOurs ? self.phoneNumber : await digitsOf(participant) }),
      ...(parsed && {
        type: parsed.content.type,
        text: (await mentionsIn(parsed.content.text, parsed.context, digitsOf)).text,
      }),
      ...(remoteJid === STATUS && { isStatus: true }),
    },
  };
}
