import type { Answer } from '../server.ts';

/** Calls an operation by id with a flat input, over REST or MCP. */
export type Run = (id: string, input?: Record<string, unknown>) => Promise<Answer['body']>;

/**
 * Calls every operation that is a tool once, in an order that satisfies their dependencies, and leaves the account with
 * one webhook at `receiverUrl`. Requires a new account with an image file.
 */
export async function walkTools(
  run: Run,
  {
    phoneNumber,
    receiverUrl,
    mediaId,
    pair,
    write,
    arrived,
  }: {
    /** The number of the session, which nobody else has. */
    phoneNumber: string;
    receiverUrl: string;
    mediaId: string;
    /** Scans the QR of the session. */
    pair: (sessionId: string) => Promise<void>;
    /** Writes to the session as another person. */
    write: (sessionId: string, from: string) => Promise<void>;
    /** Waits until the receiver has a delivery. */
    arrived: () => Promise<void>;
  },
): Promise<void> {
  const to = '491707654321';
  const { sessionId } = await run('sessions.create', {
    name: 'walk',
    phoneNumber,
    options: { pairing: true },
  });
  await run('sessions.connect', { sessionId });
  await run('sessions.get_qr', { sessionId });
  await run('sessions.request_pairing_code', { sessionId, phoneNumber });
  await pair(sessionId);
  await run('sessions.list');
  await run('sessions.get', { sessionId });

  await run('webhooks.set', { webhookUrl: receiverUrl, events: ['message.sent'], secret: 'a secret' });
  await run('webhooks.get');
  const { messageId } = await run('messages.send', { to, message: 'hello' });
  await arrived();
  await run('messages.send_media', { to, type: 'image', mediaId, caption: 'look' });
  await run('messages.send_location', { to, latitude: 52.5, longitude: 13.4 });
  await run('messages.send_contact', { to, name: 'Ada', phoneNumbers: [to] });
  await run('messages.send_poll', { to, question: 'When?', options: ['now', 'later'] });
  await run('messages.forward', { messageId, to: '491705555555' });
  await run('messages.react', { messageId, emoji: '👍' });
  await run('messages.edit', { messageId, message: 'hello again' });
  await run('messages.delete', { messageId });
  await write(sessionId, to);
  await run('messages.list', { direction: 'incoming', q: 'hi' });
  await run('messages.get', { messageId });
  await run('chats.list');
  await run('chats.set_typing', { chatId: to, state: 'typing' });
  await run('chats.mark_read', { chatId: to });
  await run('contacts.list');
  await run('contacts.check', { phoneNumbers: [to, '15550001234'] });
  await run('contacts.set_blocked', { phoneNumber: to, blocked: true });
  await run('media.get', { mediaId });

  const { groupId } = await run('groups.create', { subject: 'walk', phoneNumbers: [to] });
  await run('groups.list');
  await run('groups.get', { groupId });
  await run('groups.update', { groupId, subject: 'walked' });
  await run('groups.update_participants', { groupId, action: 'add', phoneNumbers: ['491704444444'] });
  const { inviteLink } = await run('groups.get_invite_link', { groupId });
  await run('groups.join', { invite: inviteLink });
  await run('groups.leave', { groupId });

  await run('webhooks.test');
  await run('webhooks.stats');
  await run('webhooks.get_circuit_breaker');
  await run('webhooks.reset_circuit_breaker');
  const { data } = await run('webhooks.list_deliveries', { messageId });
  const [{ deliveryId }] = data;
  await run('webhooks.get_delivery', { deliveryId });
  await run('webhooks.replay', { deliveryIds: [deliveryId], dryRun: true });
  await run('events.list', { events: ['session.connected'] });
  await run('sessions.disconnect', { sessionId });
}
