import type { WASocket } from 'baileys';
import { AppError } from '../../../errors.ts';
import type { GroupActions, GroupInvite, NetworkGroup } from '../../connector.ts';
import { type Asking, asked } from '../link/requests.ts';
import { type Addresses, jidOf } from './addresses.ts';
import type { Groups } from './groups.ts';
import { setPicture } from './picture.ts';

const LINK = 'https://chat.whatsapp.com/';

/** What the session does with groups. Each action has been told to the host when it resolves. */
export function createGroupActions({
  groups,
  addresses,
  asking,
  requireSocket,
  ownNumber,
}: {
  groups: Groups;
  addresses: Addresses;
  asking: Asking;
  /** @throws {AppError} `session_not_connected` */
  requireSocket: () => WASocket;
  ownNumber: () => string;
}): GroupActions {
  const ask = <T>(socket: WASocket, what: () => Promise<T>, missing?: string) =>
    asked(() => asking.inTime(socket, what), missing);

  /** Changes a group and reads it. */
  async function change(networkId: string, act: (socket: WASocket) => Promise<unknown>): Promise<void> {
    const socket = requireSocket();
    await ask(socket, () => act(socket));
    await asked(() => groups.read(socket, networkId));
  }

  async function inviteOf(code: string | undefined, networkId: string, isRenewed: boolean): Promise<GroupInvite> {
    if (code === undefined) throw new AppError('network_denied', 'Only an admin of the group can use its invite link');
    await groups.noteInvite(networkId, code, isRenewed);
    return { code, link: LINK + code };
  }

  return {
    async create(subject, phoneNumbers) {
      const socket = requireSocket();
      const others = [...new Set(phoneNumbers)].filter((number) => number !== ownNumber());
      const made = await ask(socket, () => socket.groupCreate(subject, others.map(jidOf)));
      return groups.put(made);
    },
    setSubject: (networkId, subject) => change(networkId, (socket) => socket.groupUpdateSubject(networkId, subject)),
    setDescription: (networkId, description) =>
      change(networkId, (socket) => socket.groupUpdateDescription(networkId, description ?? undefined)),
    setSettings: (networkId, { announce, locked, joinApproval }) =>
      change(networkId, async (socket) => {
        if (announce !== undefined)
          await socket.groupSettingUpdate(networkId, announce ? 'announcement' : 'not_announcement');
        if (locked !== undefined) await socket.groupSettingUpdate(networkId, locked ? 'locked' : 'unlocked');
        if (joinApproval !== undefined) await socket.groupJoinApprovalMode(networkId, joinApproval ? 'on' : 'off');
      }),
    async setPicture(networkId, picture) {
      const socket = requireSocket();
      await ask(socket, () => setPicture(socket, { jid: networkId, isGroup: true }, picture));
      await groups.notePicture(networkId, picture);
    },
    async updateParticipants(networkId, action, phoneNumbers) {
      const socket = requireSocket();
      const wanted = [...new Set(phoneNumbers)];
      const answers = await ask(socket, () => socket.groupParticipantsUpdate(networkId, wanted.map(jidOf), action));
      await asked(() => groups.read(socket, networkId));
      const statuses = new Map<string, string>();
      for (const { jid, status, content } of answers) {
        if (jid !== undefined) statuses.set(await addresses.digitsOf(jid, content.attrs['phone_number']), status);
      }
      return wanted.map((phoneNumber, index) => {
        // The server answers in the order in which it was asked, and not always by number.
        const status = statuses.get(phoneNumber) ?? answers[index]?.status ?? '404';
        return status === '200'
          ? { phoneNumber, ok: true }
          : { phoneNumber, ok: false, reason: REASONS[status] ?? `WhatsApp refused it (${status})` };
      });
    },
    async invite(networkId) {
      const socket = requireSocket();
      return inviteOf(await ask(socket, () => socket.groupInviteCode(networkId)), networkId, false);
    },
    async renewInvite(networkId) {
      const socket = requireSocket();
      return inviteOf(await ask(socket, () => socket.groupRevokeInvite(networkId)), networkId, true);
    },
    async join(invite): Promise<NetworkGroup | null> {
      const socket = requireSocket();
      const code = invite.startsWith(LINK) ? invite.slice(LINK.length) : invite;
      const networkId = await ask(socket, () => socket.groupAcceptInvite(code), NO_INVITE);
      // Where an admin has to agree, the server names no group.
      if (networkId === undefined) return null;
      return (await asked(() => groups.read(socket, networkId))) ?? null;
    },
    async leave(networkId) {
      const socket = requireSocket();
      await ask(socket, () => socket.groupLeave(networkId));
      await groups.left(networkId);
    },
  };
}

const NO_INVITE = 'The invite is unknown or was revoked; ask for a new one';

const REASONS: Readonly<Record<string, string>> = {
  '401': 'has blocked the session',
  '403': 'does not allow being added to groups; send an invite link instead',
  '404': 'is not a member, or not on WhatsApp',
  '406': 'cannot be changed',
  '408': 'left the group recently',
  '409': 'is already a member',
  '419': 'the group is full',
};
