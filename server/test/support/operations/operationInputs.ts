import type { Operation } from '../../../src/invoke/operation.ts';
import { operations } from '../../../src/operations/index.ts';

export type GuardedOperation = Exclude<Operation, { credential: 'none' }>;

/** Every operation that needs a credential. */
export const guarded = operations.filter((operation): operation is GuardedOperation => operation.credential !== 'none');

/** A session and one of everything that belongs to it. */
export interface Side {
  readonly sessionId: string;
  readonly messageId: string;
  readonly batchId: string;
  readonly groupId: string;
  readonly deliveryId: string;
  readonly mediaId: string;
  readonly statusId: string;
  readonly channelId: string;
  readonly templateId: string;
}

/** Ids that nobody has. */
export const UNKNOWN: Side = {
  sessionId: 'ses_00000000000000000000000000',
  messageId: 'msg_00000000000000000000000000',
  batchId: 'bat_00000000000000000000000000',
  groupId: 'grp_00000000000000000000000000',
  deliveryId: 'dlv_00000000000000000000000000',
  mediaId: 'med_00000000000000000000000000',
  statusId: 'sts_00000000000000000000000000',
  channelId: 'chn_00000000000000000000000000',
  templateId: '00000000-0000-0000-0000-000000000000',
};

export const CHAT = '491707654321';
const to = CHAT;
/** A label that nobody has. */
const LABEL = 'lbl_00000000000000000000000000';

type InputOf = (side: Side) => Record<string, unknown>;

const ofSession: InputOf = ({ sessionId }) => ({ sessionId });
const ofMessage: InputOf = ({ messageId }) => ({ messageId });
const ofBatch: InputOf = ({ batchId }) => ({ batchId });
const ofGroup: InputOf = ({ groupId }) => ({ groupId });
const ofChat: InputOf = ({ sessionId }) => ({ chatId: CHAT, sessionId });
const ofContact: InputOf = ({ sessionId }) => ({ phoneNumber: CHAT, sessionId });
const ofTemplate: InputOf = ({ sessionId, templateId }) => ({ sessionId, templateId });
const ofStatus: InputOf = ({ sessionId, statusId }) => ({ sessionId, statusId });
const ofChannel: InputOf = ({ sessionId, channelId }) => ({ sessionId, channelId });
export const noInput: InputOf = () => ({});

/** A valid input of every operation. An operation that is missing here fails the test. */
export const inputs: Readonly<Record<string, InputOf>> = {
  'auth.logout': noInput,
  'auth.me': noInput,
  'auth.change_password': () => ({ currentPassword: 'x', newPassword: 'another long password' }),
  'api_keys.create': () => ({ name: 'walk' }),
  'api_keys.list': noInput,
  'api_keys.update': () => ({ keyId: 'key_1' }),
  'api_keys.rotate': () => ({ keyId: 'key_1' }),
  'api_keys.revoke': () => ({ keyId: 'key_1' }),
  'api_keys.list_calls': () => ({ keyId: 'key_1' }),
  'connections.get_request': () => ({ requestId: 'request' }),
  'connections.approve': () => ({ requestId: 'request', permissions: ['messages:read'] }),
  'connections.deny': () => ({ requestId: 'request' }),
  'connectors.list': noInput,
  'sessions.list': noInput,
  'sessions.create': noInput,
  'sessions.get': ofSession,
  'sessions.update': (side) => ({ ...ofSession(side), name: 'taken over' }),
  'sessions.update_profile': (side) => ({ ...ofSession(side), name: 'taken over' }),
  'sessions.get_profile': ofSession,
  'sessions.list_devices': ofSession,
  'sessions.get_privacy': ofSession,
  'sessions.update_privacy': (side) => ({ ...ofSession(side), about: 'nobody' }),
  'sessions.connect': ofSession,
  'sessions.get_qr': ofSession,
  'sessions.request_pairing_code': (side) => ({ ...ofSession(side), phoneNumber: CHAT }),
  'sessions.disconnect': ofSession,
  'sessions.restart': ofSession,
  'sessions.logout': ofSession,
  'sessions.history': ofSession,
  'sessions.delete': ofSession,
  'sessions.simulate': (side) => ({ ...ofSession(side), action: 'incoming', from: CHAT, message: 'forged' }),
  'templates.list': ofSession,
  'templates.get': ofTemplate,
  'templates.create': (side) => ({
    ...ofSession(side),
    name: 'walk',
    language: 'en',
    category: 'utility',
    components: [{ type: 'BODY', text: 'walk' }],
  }),
  'templates.update': (side) => ({ ...ofTemplate(side), category: 'marketing' }),
  'templates.delete': ofTemplate,
  'messages.send': (side) => ({ ...ofSession(side), to, message: 'walk' }),
  'messages.send_media': ({ sessionId, mediaId }) => ({ sessionId, to, type: 'image', mediaId }),
  'messages.send_location': (side) => ({ ...ofSession(side), to, latitude: 1, longitude: 2 }),
  'messages.send_contact': (side) => ({ ...ofSession(side), to, name: 'Ada', phoneNumbers: [CHAT] }),
  'messages.send_poll': (side) => ({ ...ofSession(side), to, question: 'When?', options: ['now', 'later'] }),
  'messages.send_event': (side) => ({ ...ofSession(side), to, name: 'Tea', startsAt: '2030-01-01T18:00:00Z' }),
  'messages.send_album': ({ sessionId, mediaId }) => ({
    sessionId,
    to,
    files: [
      { type: 'image', mediaId },
      { type: 'image', mediaId },
    ],
  }),
  'messages.vote': (side) => ({ ...ofMessage(side), options: ['now'] }),
  'messages.preflight': (side) => ({ ...ofSession(side), to: [CHAT], message: 'walk' }),
  'batches.list': ofSession,
  'batches.get': ofBatch,
  'batches.pause': ofBatch,
  'batches.resume': ofBatch,
  'batches.cancel': ofBatch,
  'messages.send_bulk': (side) => ({ ...ofSession(side), to: [CHAT], message: 'walk' }),
  'messages.send_template': (side) => ({ ...ofSession(side), to, name: 'walk', language: 'en' }),
  'messages.send_interactive': (side) => ({
    ...ofSession(side),
    to,
    message: 'Tea?',
    buttons: [{ id: 'y', title: 'Y' }],
  }),
  'messages.list': ofSession,
  'messages.stats': noInput,
  'messages.get': ofMessage,
  'messages.receipts': ofMessage,
  'messages.react': (side) => ({ ...ofMessage(side), emoji: '👍' }),
  'messages.edit': (side) => ({ ...ofMessage(side), message: 'changed' }),
  'messages.delete': ofMessage,
  'messages.forward': (side) => ({ ...ofMessage(side), to }),
  'messages.cancel': ofMessage,
  'messages.approve': ofMessage,
  'messages.reject': ofMessage,
  'chats.list': ofSession,
  'chats.get': ofChat,
  'chats.update': (side) => ({ ...ofChat(side), archived: true }),
  'chats.mark_read': ofChat,
  'chats.mark_unread': ofChat,
  'chats.clear': ofChat,
  'chats.delete': ofChat,
  'messages.star': ofMessage,
  'messages.unstar': ofMessage,
  'messages.pin': ofMessage,
  'messages.unpin': ofMessage,
  'labels.list': ofSession,
  'labels.create': (side) => ({ ...ofSession(side), name: 'walk' }),
  'labels.update': (side) => ({ ...ofSession(side), labelId: LABEL, name: 'taken over' }),
  'labels.delete': (side) => ({ ...ofSession(side), labelId: LABEL }),
  'chats.add_label': (side) => ({ ...ofChat(side), labelId: LABEL }),
  'chats.remove_label': (side) => ({ ...ofChat(side), labelId: LABEL }),
  'messages.add_label': (side) => ({ ...ofMessage(side), labelId: LABEL }),
  'messages.remove_label': (side) => ({ ...ofMessage(side), labelId: LABEL }),
  'chats.request_history': ofChat,
  'messages.fetch_media': ofMessage,
  'chats.set_typing': (side) => ({ ...ofChat(side), state: 'typing' }),
  'contacts.list': ofSession,
  'contacts.get': ({ sessionId }) => ({ contactId: CHAT, sessionId }),
  'contacts.check': (side) => ({ ...ofSession(side), phoneNumbers: [CHAT] }),
  'contacts.set_blocked': (side) => ({ ...ofContact(side), blocked: true }),
  'contacts.set_name': (side) => ({ ...ofContact(side), name: 'taken over' }),
  'contacts.profile': ofContact,
  'contacts.look_up': (side) => ({ ...ofSession(side), phoneNumbers: [CHAT] }),
  'contacts.business_profile': ofContact,
  'contacts.catalog': ofContact,
  'contacts.collections': ofContact,
  'sessions.set_presence': (side) => ({ ...ofSession(side), presence: 'online' }),
  'contacts.follow_presence': (side) => ({ ...ofContact(side), followed: true }),
  'contacts.presence': ofContact,
  'calls.reject': (side) => ({ ...ofSession(side), callId: 'CALL' }),
  'status.post': (side) => ({ ...ofSession(side), message: 'walk', phoneNumbers: [CHAT] }),
  'status.list': ofSession,
  'status.delete': ofStatus,
  'status.views': ofStatus,
  'status.mark_viewed': ofStatus,
  'channels.list': ofSession,
  'channels.preview': ({ sessionId, channelId }) => ({ sessionId, channel: channelId }),
  'channels.refresh': ofSession,
  'channels.create': (side) => ({ ...ofSession(side), name: 'walk' }),
  'channels.follow': ({ sessionId, channelId }) => ({ sessionId, channel: channelId }),
  'channels.get': ofChannel,
  'channels.update': (side) => ({ ...ofChannel(side), muted: true }),
  'channels.unfollow': ofChannel,
  'channels.messages': ofChannel,
  'channels.post': (side) => ({ ...ofChannel(side), message: 'walk' }),
  'channels.refresh_messages': ofChannel,
  'channels.react': (side) => ({ ...ofChannel(side), postId: 'pst_00000000000000000000000000', emoji: '👍' }),
  'media.upload': noInput,
  'media.get': ({ mediaId }) => ({ mediaId }),
  'media.delete': ({ mediaId }) => ({ mediaId }),
  'media.create_link': ({ mediaId }) => ({ mediaId }),
  'media.revoke_links': noInput,
  'groups.list': ofSession,
  'groups.get': ofGroup,
  'groups.create': (side) => ({ ...ofSession(side), subject: 'walk', phoneNumbers: [CHAT] }),
  'groups.update': (side) => ({ ...ofGroup(side), subject: 'taken over' }),
  'groups.update_participants': (side) => ({ ...ofGroup(side), action: 'remove', phoneNumbers: [CHAT] }),
  'groups.get_invite_link': ofGroup,
  'groups.revoke_invite_link': ofGroup,
  'groups.join': (side) => ({ ...ofSession(side), invite: 'sandbox:join/none' }),
  'groups.leave': ofGroup,
  'groups.delete': ofGroup,
  'groups.preview_invite': (side) => ({ ...ofSession(side), invite: 'none' }),
  'groups.list_join_requests': ofGroup,
  'groups.approve_join_requests': (side) => ({ ...ofGroup(side), phoneNumbers: [CHAT] }),
  'groups.reject_join_requests': (side) => ({ ...ofGroup(side), phoneNumbers: [CHAT] }),
  'communities.list': ofSession,
  'communities.create': (side) => ({ ...ofSession(side), subject: 'walk' }),
  'communities.list_groups': ofGroup,
  'communities.link_group': (side) => ({ ...ofGroup(side), linkedGroupId: side.groupId }),
  'communities.unlink_group': (side) => ({ ...ofGroup(side), linkedGroupId: side.groupId }),
  'webhooks.set': () => ({ webhookUrl: 'https://example.com/hooks', events: ['message.sent'] }),
  'webhooks.get': noInput,
  'webhooks.delete': noInput,
  'webhooks.test': noInput,
  'webhooks.stats': noInput,
  'webhooks.get_circuit_breaker': noInput,
  'webhooks.reset_circuit_breaker': noInput,
  'webhooks.rotate_secret': () => ({ secret: 'a secret of the walk' }),
  'webhooks.reveal_secret': noInput,
  'webhooks.list_deliveries': noInput,
  'webhooks.get_delivery': ({ deliveryId }) => ({ deliveryId }),
  'webhooks.replay': ({ deliveryId }) => ({ deliveryIds: [deliveryId] }),
  'webhooks.cancel_delivery': ({ deliveryId }) => ({ deliveryId }),
  'webhooks.endpoints.list': noInput,
  'webhooks.endpoints.create': () => ({ webhookUrl: 'https://example.com/hooks', events: ['message.sent'] }),
  'webhooks.endpoints.get': () => ({ webhookId: 'whk_1' }),
  'webhooks.endpoints.update': () => ({ webhookId: 'whk_1' }),
  'webhooks.endpoints.delete': () => ({ webhookId: 'whk_1' }),
  'webhooks.endpoints.test': () => ({ webhookId: 'whk_1' }),
  'webhooks.endpoints.stats': () => ({ webhookId: 'whk_1' }),
  'webhooks.endpoints.get_circuit_breaker': () => ({ webhookId: 'whk_1' }),
  'webhooks.endpoints.reset_circuit_breaker': () => ({ webhookId: 'whk_1' }),
  'webhooks.endpoints.rotate_secret': () => ({ webhookId: 'whk_1', secret: 'a secret of the walk' }),
  'webhooks.endpoints.reveal_secret': () => ({ webhookId: 'whk_1' }),
  'webhooks.subscriptions.list': noInput,
  'webhooks.subscriptions.delete': () => ({ webhookId: 'whk_1' }),
  'events.list': noInput,
  'events.types': noInput,
};
