import type { WASocket } from 'baileys';
import { AppError } from '../../../errors.ts';
import type { GroupActions, GroupInvite } from '../../contract/groups.ts';
import { inviteCodeOf } from '../../inviteLinks.ts';
import type { Session } from '../session.ts';
import { type Addresses, jidOf } from './addresses.ts';
import type { GroupPictures } from './groupPictures.ts';
import type { Groups } from './groups.ts';

const LINK = 'https://chat.whatsapp.com/';

/** Also what the app opens: `whatsapp://chat/?code=…`. */
const ANY_LINK = /\bchat\.whatsapp\.com\/(?:invite\/)?|\bwhatsapp:\/\/chat\/?\?code=/;

/** The code of an invite, which may be a link. */
export const codeOf = (invite: string): string => inviteCodeOf(invite, ANY_LINK);

/** The actions of a session in groups. Each resolves once the host knows its result. */
export function createGroupActions(
  { requests, self }: Session,
  groups: Groups,
  pictures: GroupPictures,
  addresses: Addresses,
): GroupActions {
  async function change<T>(networkId: string, request: (socket: WASocket) => Promise<T>): Promise<T> {
    const answer = await requests.ask(request);
    await groups.read(networkId);
    return answer;
  }

  async function inviteOf(code: string | undefined, networkId: string, isRenewed: boolean): Promise<GroupInvite> {
    if (code === undefined)
      throw new AppError('network_denied', 'Only an admin of the group can get or reset its invite link');
    await groups.noteInvite(networkId, code, isRenewed);
    return { code, link: LINK + code };
  }

  return {
    async create(subject, phoneNumbers) {
      const others = [...new Set(phoneNumbers)].filter((number) => number !== self.phoneNumber);
      return groups.put(await requests.ask((socket) => socket.groupCreate(subject, others.map(jidOf))));
    },
    setSubject: (networkId, subject) => change(networkId, (socket) => socket.groupUpdateSubject(networkId, subject)),
    setDescription: (networkId, description) =>
      change(networkId, (socket) => socket.groupUpdateDescription(networkId, description ?? undefined)),
    async setSettings(networkId, { announce, locked, joinApproval, memberAdd, disappearingSeconds }) {
      await change(networkId, async (socket) => {
        if (announce !== undefined)
          await socket.groupSettingUpdate(networkId, announce ? 'announcement' : 'not_announcement');
        if (locked !== undefined) await socket.groupSettingUpdate(networkId, locked ? 'locked' : 'unlocked');
        if (joinApproval !== undefined) await socket.groupJoinApprovalMode(networkId, joinApproval ? 'on' : 'off');
        if (memberAdd !== undefined)
          await socket.groupMemberAddMode(networkId, memberAdd === 'all' ? 'all_member_add' : 'admin_add');
        if (disappearingSeconds !== undefined) await socket.groupToggleEphemeral(networkId, disappearingSeconds);
      });
    },
    setPicture: (networkId, picture) => pictures.set(networkId, picture),
    async updateParticipants(networkId, action, phoneNumbers) {
      const wanted = [...new Set(phoneNumbers)];
      const answers = await change(networkId, (socket) =>
        socket.groupParticipantsUpdate(networkId, wanted.map(jidOf), action),
      );
      const statuses = new Map<string, string>();
      for (const { jid, status, content } of answers) {
        if (jid !== undefined) statuses.set(await addresses.digitsOf(jid, content.attrs['phone_number']), status);
      }
      return wanted.map((phoneNumber, index) => {
        // The server answers in the order of the request, and does not always name the number.
        const status = statuses.get(phoneNumber) ?? answers[index]?.status ?? '404';
        return status === '200'
          ? { phoneNumber, ok: true }
          : { phoneNumber, ok: false, reason: REASONS[status] ?? `WhatsApp refused it (${status})` };
      });
    },
    invite: async (networkId) =>
      inviteOf(await requests.ask((socket) => socket.groupInviteCode(networkId)), networkId, false),
    renewInvite: async (networkId) =>
      inviteOf(await requests.ask((socket) => socket.groupRevokeInvite(networkId)), networkId, true),
    async join(invite) {
      const code = codeOf(invite);
      const networkId = await requests.ask((socket) => socket.groupAcceptInvite(code), {
        missing: NO_INVITE,
        forbidden: 'The group does not let this session join by its invite',
      });
      // If an admin has to approve first, the server names no group.
      if (networkId === undefined) return null;
      return (await groups.read(networkId)) ?? null;
    },
    async leave(networkId) {
      await requests.ask((socket) => socket.groupLeave(networkId));
      await groups.left(networkId);
    },
  };
}

export const NO_INVITE =
  'The invite is unknown or was revoked; pass the whole link or the code after its last slash, or ask for a new one';

const REASONS: Readonly<Record<string, string>> = {
  '401': 'has blocked the session',
  '403': 'does not allow being added to groups; send an invite link instead',
  '404': 'is not a member, or not on WhatsApp',
  '406': 'cannot be changed',
  '408': 'left the group recently',
  '409': 'is already a member',
  '419': 'the group is full',
};
