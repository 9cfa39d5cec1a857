import type { WAMessageKey } from 'baileys';
import type { StatusActions } from '../../contract/status.ts';
import { jidOf, STATUS } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { toWireId } from './messageIds.ts';
import { toBaileysContent } from './outgoingContent.ts';
import type { Sender } from './sender.ts';
import { withdrawSent } from './sentMessages.ts';
import { StatusAudience } from './statusAudience.ts';

/** The statuses of the session. The server passes one on to the devices for which it is encrypted. */
export function createStatusActions(session: Session, sender: Sender): StatusActions {
  const { baileys, link, requests } = session;
  const people = new StatusAudience(session);
  return {
    async post({ networkId, content, audience }) {
      const { backgroundColor, font } = content;
      const reached = new Set<string>();
      const { timestamp } = await sender.post({
        jid: STATUS,
        audience: await people.addressesOf(audience),
        reached,
        makeContent: () => toBaileysContent(content),
        options: {
          messageId: toWireId(networkId),
          ...(backgroundColor !== undefined && { backgroundColor }),
          ...(font !== undefined && { font }),
        },
        hasFile: content.media !== undefined,
      });
      return { timestamp, leftOut: await people.notAmong(reached, audience) };
    },
    async remove(networkId, audience) {
      // Without a participant, as whatsmeow (`BuildRevoke`) and whatsapp-rust (`Status::revoke`) send it.
      const key: WAMessageKey = { id: toWireId(networkId), remoteJid: STATUS, fromMe: true };
      const messageId = baileys.generateMessageIDV2(link.requireSocket().user?.id);
      await sender.post({
        jid: STATUS,
        audience: await people.addressesOf(audience),
        makeContent: async () => ({ delete: key }),
        prepare: () => withdrawSent(session, toWireId(networkId)),
        options: { messageId },
        hasFile: false,
      });
    },
    async markViewed(statuses) {
      const keys = statuses.map(({ networkId, from }) => ({
        id: networkId,
        remoteJid: STATUS,
        participant: jidOf(from),
      }));
      await requests.ask((socket) => socket.readMessages(keys));
    },
  };
}
