import type { PrivacySettings } from '../../connectors/contract/account.ts';
import { invalidField } from '../../errors.ts';
import { boolean, integer, named, oneOf, optional } from '../../invoke/input/fields.ts';
import { defineOperation } from '../../invoke/operation.ts';
import { SessionId } from '../shared/sessionFields.ts';
import { requireTimer } from '../shared/timers.ts';

const EXCEPT = '`contacts_except`: all contacts but those excluded on the phone.';
const audience = (what: string) => oneOf(['everyone', 'contacts', 'contacts_except', 'nobody'], `${what} ${EXCEPT}`);
/** Without the value that only the phone can set. */
const chosen = (what: string) => optional(oneOf(['everyone', 'contacts', 'nobody'], what));

const lastSeen = 'People who see when the session was last online.';
const picture = 'People who see the profile picture.';
const about = 'People who see the about text.';
const groupAdd = 'People who can add the session to groups.';
const calls = 'People who can call. `known`: only those whom the session knows.';
const online = 'People who see that the session is online.';
const receipts = 'Whether others see that their messages were read.';
const disappearing = 'Seconds until messages of new chats disappear; 0 if they stay.';

const Privacy = named('Privacy', {
  sessionId: SessionId,
  lastSeen: audience(lastSeen),
  online: oneOf(['everyone', 'same_as_last_seen'], online),
  profilePicture: audience(picture),
  about: audience(about),
  readReceipts: boolean(receipts),
  groupAdd: audience(groupAdd),
  calls: oneOf(['everyone', 'known'], calls),
  disappearingSeconds: integer(disappearing, { minimum: 0 }),
});

const shared = {
  owner: { field: 'sessionId' },
  scope: 'sessionId',
  output: Privacy,
  errors: ['not_found', 'session_not_connected', 'not_supported', 'network_denied', 'send_failed'],
} as const;

export const getPrivacy = defineOperation({
  id: 'sessions.get_privacy',
  route: 'GET /sessions/{sessionId}/privacy',
  ...shared,
  permission: 'sessions:read',
  effect: 'read',
  summary: 'Get the privacy settings of a session',
  description:
    "Get the privacy settings of the session's account. Asks the network, because the phone can change them.",
  input: { sessionId: SessionId },
  async run(ctx, { sessionId }) {
    const privacy = await ctx.liveSessions.part(ctx.session, 'privacy');
    return { sessionId, ...(await privacy.read()) };
  },
});

export const updatePrivacy = defineOperation({
  id: 'sessions.update_privacy',
  route: 'PATCH /sessions/{sessionId}/privacy',
  ...shared,
  permission: 'sessions:write',
  effect: 'write',
  isRepeatable: true,
  summary: 'Update the privacy settings of a session',
  description:
    "Change privacy settings of the session's account, also for its phone and other devices. Fields that you leave out do not change. The network sets one after the other, so if one fails, those before it are set.",
  input: {
    sessionId: SessionId,
    lastSeen: chosen(lastSeen),
    online: optional(oneOf(['everyone', 'same_as_last_seen'], online)),
    profilePicture: chosen(picture),
    about: chosen(about),
    readReceipts: optional(boolean(receipts)),
    groupAdd: optional(oneOf(['everyone', 'contacts'], groupAdd)),
    calls: optional(oneOf(['everyone', 'known'], calls)),
    disappearingSeconds: optional(
      integer(`${disappearing} Otherwise 86400, 604800 or 7776000.`, { minimum: 0, maximum: 31_536_000 }),
    ),
  },
  example: { sessionId: 'ses_01JZ0000000000000000000000', lastSeen: 'contacts', readReceipts: false },
  async run(ctx, { sessionId, ...given }) {
    const entries = Object.entries(given).filter(([, value]) => value !== undefined);
    if (entries.length === 0) throw invalidField('lastSeen', 'Pass at least one setting', 'required');
    if (given.disappearingSeconds !== undefined) requireTimer('disappearingSeconds', given.disappearingSeconds, 0);
    const privacy = await ctx.liveSessions.part(ctx.session, 'privacy');
    // The schema has exactly these fields.
    await privacy.update(Object.fromEntries(entries) as Partial<PrivacySettings>);
    return { sessionId, ...(await privacy.read()) };
  },
});
