import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EventKind, eventKinds, parse, WebhookBodyError, type WebhookEvent } from '../src/webhooks.ts';

const timestamp = '2026-01-02T03:04:05.000Z';
const group = { groupId: 'grp_1', sessionId: 'ses_1', subject: 'Team', timestamp };
const change = {
  messageId: 'msg_1',
  type: 'text',
  sessionId: 'ses_1',
  chatId: '491701234567',
  from: '491701234567',
  fromMe: false,
  timestamp,
};
const approach = {
  sessionId: 'ses_1',
  chatId: '491700000000',
  from: '491700000000',
  timestamp: '2026-01-01T00:00:00.000Z',
};
const call = {
  callId: 'c1',
  sessionId: 'ses_1',
  chatId: '491701234567',
  from: '491701234567',
  video: false,
  timestamp,
};
const marked = { messageId: 'msg_1', type: 'text', sessionId: 'ses_1', chatId: '491701234567', timestamp };
const status = { statusId: 'sts_1', sessionId: 'ses_1', from: '491701234567', timestamp };
const circuit = { webhookId: 'whk_1', webhookOrigin: 'https://example.com', reason: 'reset', timestamp };
const network = {
  displayName: 'Tea house',
  nameStatus: 'approved',
  quality: 'low',
  messagingTier: 'TIER_2K',
  messagingLimit: 2000,
  throughput: 'standard',
  accountMode: 'live',
  canSend: 'yes',
  problems: [],
  notices: [],
  updatedAt: timestamp,
};
const dataByKind: Record<EventKind, Record<string, unknown>> = {
  'message.incoming': { messageId: 'msg_1', from: '491707654321', message: 'Hello', timestamp },
  'message.sent': { messageId: 'msg_1', to: '491701234567', status: 'sent', timestamp },
  'message.delivered': { messageId: 'msg_1', to: '491701234567', status: 'delivered', timestamp },
  'message.read': { messageId: 'msg_1', to: '491701234567', status: 'read', timestamp },
  'session.connected': { sessionId: 'ses_1', phoneNumber: '491701234567', connectedAt: timestamp },
  'session.disconnected': {
    sessionId: 'ses_1',
    phoneNumber: '491701234567',
    reason: 'Logged out on the phone',
    willReconnect: false,
    disconnectedAt: timestamp,
  },
  'group.created': {
    ...group,
    participants: [{ phoneNumber: '491701234567', role: 'owner' }],
    createdBy: '491701234567',
  },
  'group.updated': { ...group, change: { type: 'subject', subject: 'Team' } },
  'message.reaction': { ...change, emoji: '👍' },
  'message.edited': { ...change, message: 'Hello' },
  'message.deleted': change,
  'message.failed': { messageId: 'msg_1', to: '491701234567', status: 'failed', timestamp, error: 'Refused' },
  'message.queued': { messageId: 'msg_1', to: '491701234567', status: 'queued', timestamp },
  'message.approval': {
    messageId: 'msg_1',
    to: '491701234567',
    status: 'failed',
    timestamp,
    approval: 'rejected',
    keyId: 'key_1',
  },
  'poll.vote': { ...change, options: ['Yes'] },
  'message.location': change,
  'message.media': change,
  'event.answer': change,
  'chat.updated': {
    chatId: '491701234567',
    sessionId: 'ses_1',
    archived: true,
    pinned: false,
    mutedUntil: timestamp,
    unreadCount: 0,
    markedUnread: true,
    disappearingSeconds: 86_400,
    labelIds: ['lbl_1'],
    timestamp,
  },
  'chat.removed': { chatId: '491701234567', sessionId: 'ses_1', action: 'cleared', timestamp },
  'message.removed': marked,
  'message.marked': { ...marked, starred: true, labelIds: ['lbl_1'] },
  'message.pinned': { ...change, pinnedUntil: timestamp },
  'label.updated': { labelId: 'lbl_1', sessionId: 'ses_1', name: 'Paid', color: 2, timestamp },
  'contact.updated': { sessionId: 'ses_1', phoneNumber: '491701234567', name: 'Ann', blocked: false, timestamp },
  'contact.number_request': { sessionId: 'ses_1', chatId: '491701234567', from: '491701234567', timestamp },
  'presence.updated': {
    sessionId: 'ses_1',
    chatId: '491701234567',
    from: '491701234567',
    presence: 'typing',
    timestamp,
  },
  'session.status': {
    sessionId: 'ses_1',
    status: 'disconnected',
    previousStatus: 'connected',
    reason: 'Logged out on the phone',
    timestamp,
  },
  'session.history': {
    sessionId: 'ses_1',
    state: 'importing',
    progress: 50,
    messages: 1200,
    chats: 40,
    contacts: 35,
    error: null,
    timestamp,
  },
  'session.updated': { sessionId: 'ses_1', changed: ['quality'], network, timestamp },
  'template.updated': {
    sessionId: 'ses_1',
    templateId: '1',
    name: 'order_sent',
    language: 'en_US',
    status: 'approved',
    previousStatus: 'pending',
    category: 'utility',
    quality: 'unknown',
    reason: 'Reviewed',
    timestamp,
  },
  'batch.updated': {
    batchId: 'bat_1',
    sessionId: 'ses_1',
    status: 'completed',
    previousStatus: 'running',
    accepted: 2,
    counts: { pendingApproval: 0, scheduled: 0, queued: 0, sent: 1, delivered: 0, read: 0, failed: 1, cancelled: 0 },
    timestamp,
  },
  'group.participants': { ...group, action: 'add', phoneNumbers: ['491701234567'] },
  'group.join_request': { ...group, phoneNumber: '491701234567', change: 'created' },
  'call.incoming': call,
  'call.ended': { ...call, outcome: 'missed' },
  'chat.opened': approach,
  'call.permission': { ...approach, granted: true, expiresAt: '2026-01-01T00:00:00.000Z' },
  'contact.marketing': { ...approach, stopped: true },
  'status.received': { ...status, fromMe: false, type: 'text', message: 'Hello', expiresAt: timestamp },
  'status.deleted': { ...status, fromMe: false },
  'status.viewed': { ...status, emoji: '👍' },
  'status.mentioned': {
    sessionId: 'ses_1',
    chatId: '491701234567',
    from: '491701234567',
    fromMe: false,
    timestamp,
  },
  'channel.message': {
    postId: 'pst_1',
    channelId: 'chn_1',
    sessionId: 'ses_1',
    channelName: 'News',
    type: 'text',
    message: 'Hello',
    timestamp,
  },
  'webhook.circuit_opened': { ...circuit, error: 'The receiver answered 503' },
  'webhook.circuit_closed': circuit,
};
/** Fields of which null is a value. */
const nullable = [
  'message.reaction emoji',
  'chat.updated mutedUntil',
  'chat.updated disappearingSeconds',
  'message.pinned pinnedUntil',
  'contact.updated name',
  'session.status reason',
  'session.history error',
  'call.permission expiresAt',
  'template.updated status',
  'template.updated previousStatus',
  'template.updated category',
  'template.updated quality',
  'template.updated reason',
  'webhook.circuit_opened error',
  'status.viewed emoji',
  'channel.message channelName',
];

describe('parsing', () => {
  test('knows all documented event types, those of the contract first', () => {
    assert.deepEqual(eventKinds, Object.keys(dataByKind));
    assert.deepEqual(eventKinds.slice(0, 8), [
      'message.incoming',
      'message.sent',
      'message.delivered',
      'message.read',
      'session.connected',
      'session.disconnected',
      'group.created',
      'group.updated',
    ]);
  });

  for (const kind of eventKinds) {
    const data = dataByKind[kind];

    test(`returns ${kind} as it was sent, from text and bytes, also for tests`, () => {
      for (const sent of [data, { ...data, test: true }]) {
        const body = JSON.stringify({ event: kind, data: sent });
        assert.deepEqual(parse(body), { event: kind, data: sent });
        assert.deepEqual(parse(new TextEncoder().encode(body)), { event: kind, data: sent });
      }
    });

    for (const field of Object.keys(data)) {
      test(`rejects ${kind} if ${field} is missing or has another type, and names the field`, () => {
        const { [field]: _, ...incomplete } = data;
        const other = typeof data[field] === 'number' ? 'seven' : 7;
        const wrongs = [incomplete, { ...data, [field]: other }];
        if (!nullable.includes(`${kind} ${field}`)) wrongs.push({ ...data, [field]: null });
        for (const wrong of wrongs) {
          const body = JSON.stringify({ event: kind, data: wrong });
          assert.throws(() => parse(body), {
            name: 'WebhookBodyError',
            message: new RegExp(`data\\.${field}\`.*${kind}`),
          });
        }
      });
    }
  }

  test('keeps optional fields with their types', () => {
    const more = {
      sessionId: 'ses_1',
      chatId: 'c',
      to: '49',
      type: 'image',
      groupId: 'g',
      media: { id: 1 },
      replyTo: 'm',
    };
    const parsed = parse(
      JSON.stringify({ event: 'message.incoming', data: { ...dataByKind['message.incoming'], ...more } }),
    );
    assert.partialDeepStrictEqual(parsed.data, more);
    for (const field of [...Object.keys(more), 'test']) {
      const data = { ...dataByKind['message.incoming'], [field]: 7 };
      assert.throws(() => parse(JSON.stringify({ event: 'message.incoming', data })), new RegExp(`data\\.${field}`));
    }
  });

  test('rejects a participant without a role', () => {
    const data = { ...dataByKind['group.created'], participants: [{ phoneNumber: '491701234567' }] };
    assert.throws(() => parse(JSON.stringify({ event: 'group.created', data })), /data\.participants/);
  });

  test('keeps fields of a newer server in the data', () => {
    const data = { ...dataByKind['message.sent'], cost: 3 };
    assert.deepEqual(parse(JSON.stringify({ event: 'message.sent', data })).data, data);
  });

  test('returns an event type of a newer server as unknown', () => {
    for (const kind of ['message.reacted', 'unknown', '', 'toString', '__proto__', 'constructor']) {
      assert.deepEqual(parse(JSON.stringify({ event: kind, data: { emoji: '👍' } })), {
        event: 'unknown',
        kind,
        data: { emoji: '👍' },
      });
    }
  });

  test('throws an error class of its own for a body that is not an event', () => {
    const bodies = ['', '{', 'null', '[]', '"text"', '7', '{}', '{"event":"message.sent"}', '{"data":{}}'];
    const wrongFields = [
      '{"event":7,"data":{}}',
      '{"event":"x","data":null}',
      '{"event":"x","data":[]}',
      '{"event":"x"}',
    ];
    for (const body of [...bodies, ...wrongFields]) assert.throws(() => parse(body), WebhookBodyError, body);
    const latin1 = Buffer.from('{"event":"x","data":{"a":"ü"}}', 'latin1');
    assert.throws(() => parse(latin1), WebhookBodyError);
  });

  test('reveals no content in errors', () => {
    assert.throws(
      () => parse('{"message": my secret}'),
      (error: Error) => !`${error.stack}${JSON.stringify(error.cause)}`.includes('my secret'),
    );
  });

  test('narrows the type of `data` in a switch over `event`, for every event type', () => {
    // The test is that this compiles.
    function describeEvent(event: WebhookEvent): string {
      switch (event.event) {
        case 'message.incoming':
          return event.data.replyTo ?? event.data.message;
        case 'message.sent':
        case 'message.delivered':
        case 'message.read':
          return event.data.status;
        case 'session.connected':
          return event.data.connectedAt;
        case 'session.disconnected':
          return String(event.data.willReconnect);
        case 'group.created':
          return event.data.participants.map(({ role }) => role).join();
        case 'group.updated':
          return event.data.change.type;
        case 'message.reaction':
        case 'message.edited':
        case 'message.deleted':
        case 'message.location':
        case 'message.media':
        case 'poll.vote':
        case 'event.answer':
          return event.data.messageId;
        case 'message.failed':
          return event.data.error;
        case 'message.queued':
          return event.data.status;
        case 'chat.updated':
          return event.data.mutedUntil ?? String(event.data.archived);
        case 'chat.removed':
          return event.data.action;
        case 'message.removed':
        case 'message.marked':
        case 'message.pinned':
          return event.data.messageId;
        case 'label.updated':
          return event.data.name;
        case 'contact.updated':
          return event.data.name ?? event.data.phoneNumber;
        case 'presence.updated':
          return event.data.presence;
        case 'session.status':
          return event.data.qr ?? event.data.status;
        case 'batch.updated':
          return `${event.data.status} ${event.data.counts.sent}`;
        case 'session.history':
          return event.data.error ?? event.data.state;
        case 'message.approval':
          return event.data.reason ?? event.data.approval;
        case 'session.updated':
          return event.data.network.displayName ?? event.data.sessionId;
        case 'template.updated':
          return event.data.reason ?? event.data.name;
        case 'group.participants':
          return event.data.action;
        case 'group.join_request':
          return event.data.change;
        case 'call.incoming':
        case 'call.ended':
          return event.data.callId;
        case 'chat.opened':
          return event.data.referral?.adId ?? event.data.from;
        case 'call.permission':
          return event.data.expiresAt ?? `${event.data.granted}`;
        case 'contact.marketing':
          return `${event.data.stopped}`;
        case 'status.received':
        case 'status.deleted':
        case 'status.viewed':
          return event.data.statusId;
        case 'status.mentioned':
        case 'contact.number_request':
          return event.data.chatId;
        case 'channel.message':
          return event.data.channelId;
        case 'webhook.circuit_opened':
        case 'webhook.circuit_closed':
          return event.data.webhookOrigin;
        case 'unknown':
          return event.kind;
        default:
          return event satisfies never;
      }
    }
    const descriptions = eventKinds.map((kind) =>
      describeEvent(parse(JSON.stringify({ event: kind, data: dataByKind[kind] }))),
    );
    assert.deepEqual(descriptions, [
      ...['Hello', 'sent', 'delivered', 'read', timestamp, 'false', 'owner', 'subject'],
      ...[
        'msg_1',
        'msg_1',
        'msg_1',
        'Refused',
        'queued',
        'rejected',
        'msg_1',
        'msg_1',
        'msg_1',
        'msg_1',
        timestamp,
        'cleared',
        'msg_1',
        'msg_1',
        'msg_1',
        'Paid',
        'Ann',
        '491701234567',
        'typing',
        'disconnected',
      ],
      ...['importing', 'Tea house', 'Reviewed', 'completed 1', 'add', 'created', 'c1', 'c1'],
      ...['491700000000', '2026-01-01T00:00:00.000Z', 'true'],
      ...['sts_1', 'sts_1', 'sts_1', '491701234567', 'chn_1'],
      ...['https://example.com', 'https://example.com'],
    ]);
  });
});
