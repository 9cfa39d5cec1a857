import type { WASocket } from 'baileys';
import { invalidField } from '../../../errors.ts';
import type { Audience, LinkedDevice, PersonIds, PrivacyActions, PrivacySettings } from '../../contract/account.ts';
import type { OwnProfile, ProfileActions } from '../../contract/profiles.ts';
import type { Session } from '../session.ts';
import { jidOf } from './addresses.ts';

const MESSAGES = { forbidden: 'WhatsApp does not let this number' };

const AUDIENCES: ReadonlyMap<string, Audience> = new Map([
  ['all', 'everyone'],
  ['contacts', 'contacts'],
  ['none', 'nobody'],
]);

const toAudience = (value: string | undefined): Audience =>
  value === undefined ? 'everyone' : (AUDIENCES.get(value) ?? 'contacts_except');

const WIRE = { everyone: 'all', contacts: 'contacts', contacts_except: 'contact_blacklist', nobody: 'none' } as const;

export function createPrivacy({ requests, self, baileys }: Session): PrivacyActions {
  const ask = <T>(request: (socket: WASocket) => Promise<T>) => requests.ask(request, MESSAGES);

  async function readTimer(): Promise<number> {
    const query = new baileys.USyncQuery()
      .withDisappearingModeProtocol()
      .withUser(new baileys.USyncUser().withId(self.jid));
    const found = (await ask((socket) => socket.executeUSyncQuery(query)))?.list[0]?.['disappearing_mode'];
    const duration = typeof found === 'object' && found !== null && 'duration' in found ? Number(found.duration) : 0;
    return duration > 0 ? duration : 0;
  }

  return {
    async read(): Promise<PrivacySettings> {
      // Also renews the copy by which Baileys decides on read receipts.
      const found = await ask((socket) => socket.fetchPrivacySettings(true));
      return {
        lastSeen: toAudience(found['last']),
        online: found['online'] === 'match_last_seen' ? 'same_as_last_seen' : 'everyone',
        profilePicture: toAudience(found['profile']),
        about: toAudience(found['status']),
        readReceipts: found['readreceipts'] !== 'none',
        groupAdd: toAudience(found['groupadd']),
        calls: found['calladd'] === 'known' ? 'known' : 'everyone',
        disappearingSeconds: await readTimer(),
      };
    },
    async update({
      lastSeen,
      online,
      profilePicture,
      about,
      readReceipts,
      groupAdd,
      calls,
      disappearingSeconds,
    }: Partial<PrivacySettings>) {
      if (groupAdd === 'nobody') throw invalidField('groupAdd', 'WhatsApp has no such choice', 'value');
      if (lastSeen !== undefined) await ask((socket) => socket.updateLastSeenPrivacy(WIRE[lastSeen]));
      if (online !== undefined)
        await ask((socket) => socket.updateOnlinePrivacy(online === 'everyone' ? 'all' : 'match_last_seen'));
      if (profilePicture !== undefined) await ask((socket) => socket.updateProfilePicturePrivacy(WIRE[profilePicture]));
      if (about !== undefined) await ask((socket) => socket.updateStatusPrivacy(WIRE[about]));
      if (readReceipts !== undefined)
        await ask((socket) => socket.updateReadReceiptsPrivacy(readReceipts ? 'all' : 'none'));
      if (groupAdd !== undefined) await ask((socket) => socket.updateGroupsAddPrivacy(WIRE[groupAdd]));
      if (calls !== undefined) await ask((socket) => socket.updateCallPrivacy(calls === 'everyone' ? 'all' : 'known'));
      if (disappearingSeconds !== undefined)
        await ask((socket) => socket.updateDefaultDisappearingMode(disappearingSeconds));
    },
  };
}

/** Reads the own profile: the name is kept here, and the rest at WhatsApp. */
export async function readOwnProfile(
  { self, creds }: Session,
  profiles: Pick<ProfileActions, 'read'>,
): Promise<OwnProfile> {
  const { about, picture } = await profiles.read(self.phoneNumber);
  return { name: creds.me?.name ?? null, about, picture };
}

export async function listDevices({ requests, self, baileys }: Session): Promise<readonly LinkedDevice[]> {
  const query = new baileys.USyncQuery().withDeviceProtocol().withUser(new baileys.USyncUser().withId(self.jid));
  const found = (await requests.ask((socket) => socket.executeUSyncQuery(query), MESSAGES))?.list[0]?.['devices'];
  // The type of the result of a protocol is unknown to Baileys.
  const { deviceList = [] } = (found ?? {}) as { deviceList?: readonly Device[] };
  const own = baileys.jidDecode(self.addresses.id)?.device ?? 0;
  return deviceList
    .slice(0, MAX_DEVICES)
    .map(({ id, keyIndex, isHosted }) => ({
      id,
      isPhone: id === 0,
      isOwn: id === own,
      isHosted,
      keyIndex: id !== 0 && Number.isInteger(keyIndex) ? (keyIndex ?? null) : null,
    }))
    .toSorted((one, other) => one.id - other.id);
}

const MAX_DEVICES = 100;

interface Device {
  readonly id: number;
  readonly keyIndex?: number;
  readonly isHosted: boolean;
}

/** Answers from the stored map, and asks the server for the LIDs of other numbers. It tells no number of a LID. */
export async function lookUpPeople(
  { requests, baileys }: Session,
  phoneNumbers: readonly string[],
  lids: readonly string[],
): Promise<readonly PersonIds[]> {
  const userOf = (jid: string) => baileys.jidDecode(jid)?.user ?? null;
  return requests.ask(async ({ signalRepository: { lidMapping } }) => {
    const found = (phoneNumbers.length === 0 ? null : await lidMapping.getLIDsForPNs(phoneNumbers.map(jidOf))) ?? [];
    const byNumber = new Map(found.map(({ lid, pn }) => [userOf(pn), userOf(lid)]));
    const byLid = new Map<string, string | null>();
    for (const lid of lids) {
      const number = await lidMapping.getPNForLID(`${lid}@lid`);
      byLid.set(lid, number === null ? null : userOf(number));
    }
    return [
      ...phoneNumbers.map((phoneNumber) => ({ phoneNumber, lid: byNumber.get(phoneNumber) ?? null })),
      ...lids.map((lid) => ({ phoneNumber: byLid.get(lid) ?? null, lid })),
    ];
  }, MESSAGES);
}
