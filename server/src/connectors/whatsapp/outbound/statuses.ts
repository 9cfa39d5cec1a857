import type { WAMessageKey } from 'baileys';
import type { StatusActions } from '../../contract/status.ts';
import { STATUS } from '../inbound/statuses.ts';
import { jidOf } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { toWireId } from './messageIds.ts';
import { toBaileysContent } from './outgoingContent.ts';
import type { Sender } from './sender.ts';
import { withdrawSent } from './sentMessages.ts';

/** The statuses of the session. The server passes one on to the devices for which it is encrypted. */
export function createStatusActions(session: Session, sender: Sender): StatusActions {
  const { self, baileys, link, requests } = session;
  // The own phone shows it as well.
  const jidsOf = (audience: readonly string[]) => [...new Set([self.jid, ...audience.map(jidOf)])];
  return {
    async post({ networkId, content, audience }) {
      const { backgroundColor, font } = content;
      const { timestamp } = await sender.post({
        jid: STATUS,
        makeContent: () => toBaileysContent(content),
        options: {
          messageId: toWireId(networkId),
          statusJidList: jidsOf(audience),
          ...(backgroundColor !== undefined && { backgroundColor }),
          ...(font !== undefined && { font }),
        },
        hasFile: content.media !== undefined,
      });
      return { timestamp };
    },
    async remove(networkId, audience) {
      const key: WAMessageKey = { id: toWireId(networkId), remoteJid: STATUS, fromMe: true, participant: self.jid };
      const messageId = baileys.generateMessageIDV2(link.requireSocket().user?.id);
      await sender.post({
        jid: STATUS,
        makeContent: async () => ({ delete: key }),
        options: { messageId, statusJidList: jidsOf(audience) },
        hasFile: false,
      });
      await withdrawSent(session, toWireId(networkId));
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
