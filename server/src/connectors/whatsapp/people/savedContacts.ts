import type { Recipients } from '../outbound/recipients.ts';
import type { SharedState } from '../outbound/sharedState.ts';
import type { Session } from '../session.ts';
import { jidOf, lidOf } from './addresses.ts';

/**
 * Creates the action that saves a contact in the phone's address book, or removes it. WhatsApp keys entries by number:
 * one with a LID has no effect (WhiskeySockets/Baileys#2241), and WhatsApp Web refuses it (oxidezap/whatsapp-rust#742).
 * The LID is a field, without which the phone did not show the contact (WhiskeySockets/Baileys#1172).
 */
export function createSaveContact({ requests }: Session, recipients: Recipients, state: SharedState) {
  return async (phoneNumber: string, name: string | null): Promise<void> => {
    const { known, lid } = await requests.ask(async (socket) => {
      const known = await recipients.find(socket, phoneNumber);
      return { known, lid: await lidOf(socket, known) };
    });
    const contact =
      name === null
        ? null
        : {
            fullName: name,
            firstName: name.split(/\s+/u, 1)[0] ?? name,
            saveOnPrimaryAddressbook: true,
            ...(lid !== undefined && { lidJid: `${lid}@lid` }),
          };
    await state.change({ contact }, jidOf(known));
  };
}
