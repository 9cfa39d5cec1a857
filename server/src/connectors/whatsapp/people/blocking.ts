import type { WASocket } from 'baileys';
import { isPlaceholder } from '../../contract/people.ts';
import type { Recipients } from '../outbound/recipients.ts';
import type { Session } from '../session.ts';
import { jidOf } from './addresses.ts';

/** Creates the action that blocks or unblocks a person, by number or placeholder. */
export function createSetBlocked({ requests }: Session, recipients: Recipients) {
  return (phoneNumber: string, isBlocked: boolean): Promise<void> =>
    requests.ask(async (socket) => {
      const known = await recipients.find(socket, phoneNumber);
      if (isBlocked && isPlaceholder(known)) await blockHidden(socket, jidOf(known));
      else await socket.updateBlockStatus(jidOf(known), isBlocked ? 'block' : 'unblock');
    });
}

/**
 * Blocks a person whose number is hidden. WhatsApp requires the LID and a second identifier, and WhatsApp Web sends
 * this one for people without a known number (vinikjkkj/zapo#208, `buildBlocklistBlockIq`). Baileys 7.0.0-rc14 only
 * knows the form with the number, and throws.
 */
async function blockHidden(socket: WASocket, lidJid: string): Promise<void> {
  await socket.query({
    tag: 'iq',
    attrs: { xmlns: 'blocklist', to: 's.whatsapp.net', type: 'set' },
    content: [{ tag: 'item', attrs: { action: 'block', jid: lidJid, unknown_identifier: 'true' } }],
  });
}
