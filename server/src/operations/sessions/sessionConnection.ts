import { isoTime } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { integer, object, string, time } from '../../invoke/input/fields.ts';
import { PhoneNumberInput } from '../../invoke/input/phoneNumbers.ts';
import { defineOperation } from '../../invoke/operation.ts';
import { findSession } from '../../invoke/resources.ts';
import { qrPng } from '../../media/qrCode.ts';
import { SessionId } from '../shared/sessionFields.ts';
import { Session, sessionInput, sessionReceipt, toSession } from './sessions.ts';

export const connectSession = defineOperation({
  id: 'sessions.connect',
  route: 'POST /sessions/{sessionId}/connect',
  approval: 'free',
  owner: { field: 'sessionId', acquires: true },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  isRepeatable: true,
  tool: true,
  receipt: sessionReceipt,
  summary: 'Connect a session',
  description:
    'Connect a session to its network. Returns within seconds. If the status is `awaiting_pairing`, link a phone with `sessions.get_qr` or `sessions.request_pairing_code`. If it is `connecting`, check `sessions.get`.',
  input: sessionInput,
  output: Session,
  errors: ['not_found', 'phone_number_in_use', 'not_supported'],
  async run(ctx, { sessionId }) {
    await ctx.sessions.connect(ctx.session, ctx.signal());
    return toSession(ctx, await findSession(ctx, sessionId));
  },
});

const Qr = object({
  qr: string('Text to show as a QR code.'),
  expiresAt: time('When a new QR code replaces this one.'),
  expiresInSeconds: integer('Seconds until then, for callers whose clock may be wrong.'),
});

export const getSessionQr = defineOperation({
  id: 'sessions.get_qr',
  route: 'GET /sessions/{sessionId}/qr',
  owner: { field: 'sessionId' },
  // Not `read`: the QR code links a phone to the session.
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'read',
  tool: true,
  summary: 'Get the QR code of a session',
  description:
    "Get the QR code that links a phone to the session, for the phone's owner to scan. Works only while the status is `awaiting_pairing`. Each code expires within about a minute; call again for the next one.",
  input: sessionInput,
  output: Qr,
  errors: ['not_found', 'session_state'],
  representations: { 'image/png': ({ qr }) => qrPng(qr) },
  async run(ctx, { sessionId }) {
    const { status } = await findSession(ctx, sessionId);
    const session = { accountId: ctx.accountId, sessionId };
    await ctx.liveSessions.requireOwner(session);
    const pairing = ctx.liveSessions.stateOf(session)?.pairing;
    if (pairing === undefined) {
      throw new AppError(
        'session_state',
        `A QR code exists only while the status of the session is awaiting_pairing; it is ${status}`,
      );
    }
    const expiresInSeconds = Math.max(0, Math.ceil((pairing.expiresAt - ctx.clock.now()) / 1000));
    return { qr: pairing.qr, expiresAt: isoTime(pairing.expiresAt), expiresInSeconds };
  },
});

export const requestPairingCode = defineOperation({
  id: 'sessions.request_pairing_code',
  route: 'POST /sessions/{sessionId}/pairing-code',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  tool: true,
  summary: 'Request a pairing code',
  description:
    "Get a code that the phone's owner enters instead of scanning a QR code. Works only while the status is `awaiting_pairing`, and not on every network.",
  input: { sessionId: SessionId, phoneNumber: PhoneNumberInput('Number of the phone to link.') },
  output: object({
    code: string('Code to enter on the phone.'),
    expiresAt: time('When the code stops working.'),
  }),
  errors: ['not_found', 'session_not_connected', 'session_state', 'not_supported'],
  async run(ctx, input) {
    const { session } = ctx;
    const request = await ctx.liveSessions.part(session, 'requestPairingCode');
    const { code, expiresAt } = await request(input.phoneNumber);
    await ctx.sessions.announcePairingCode(session, { code, expiresAt });
    return { code, expiresAt: isoTime(expiresAt) };
  },
});

export const disconnectSession = defineOperation({
  id: 'sessions.disconnect',
  route: 'POST /sessions/{sessionId}/disconnect',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  stopsMessages: true,
  isRepeatable: true,
  tool: true,
  receipt: sessionReceipt,
  summary: 'Disconnect a session',
  description:
    'Take a session offline until you connect it again. It stays linked to its phone, but neither sends nor receives.',
  input: sessionInput,
  output: Session,
  errors: ['not_found'],
  async run(ctx, { sessionId }) {
    await ctx.sessions.disconnect(ctx.session);
    return toSession(ctx, await findSession(ctx, sessionId));
  },
});

export const restartSession = defineOperation({
  id: 'sessions.restart',
  route: 'POST /sessions/{sessionId}/restart',
  approval: 'free',
  owner: { field: 'sessionId', acquires: true },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  isRepeatable: true,
  summary: 'Restart a session',
  description:
    "Close the session's connection and open it again, for example when it seems stuck. The session stays linked to its phone and queued messages wait. Connects a disconnected session; a session that is not linked must be connected instead. Concurrent calls restart it once.",
  input: sessionInput,
  output: Session,
  errors: ['not_found', 'session_state', 'phone_number_in_use', 'not_supported'],
  async run(ctx, { sessionId }) {
    await ctx.sessions.restart(ctx.session, ctx.signal());
    return toSession(ctx, await findSession(ctx, sessionId));
  },
});

export const logoutSession = defineOperation({
  id: 'sessions.logout',
  route: 'POST /sessions/{sessionId}/logout',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'destructive',
  summary: 'Log out a session',
  description:
    'Unlink the session from its phone and disconnect it. Chats and messages stay; queued messages fail. To use the session again, connect it and pair it with a phone.',
  input: sessionInput,
  output: Session,
  errors: ['not_found'],
  async run(ctx, { sessionId }) {
    await ctx.sessions.logout(ctx.session);
    return toSession(ctx, await findSession(ctx, sessionId));
  },
});
