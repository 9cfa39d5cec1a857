/*
 * The requests of WAHA's n8n node, @devlikeapro/n8n-nodes-waha 2024.9.5 (github.com/devlikeapro/n8n-nodes-waha at
 * e1dbc8f0), which is generated from the OpenAPI description of WAHA 2024.9.2. Each is written down from what the node
 * does with that description: `nodes/WAHA/base/node.ts` sets both headers, `credentials/WAHAApi.credentials.ts` the
 * key. The node sends every property of a body, those without a value as the empty text or the example's null, and
 * `WAHAv202409.ts` sets the default of `reply_to` to the empty text.
 */

export interface NodeRequest {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: object;
}

/** Headers of every request. */
export const nodeHeaders = (apiKey: string) => ({
  accept: 'application/json',
  'content-type': 'application/json',
  'x-api-key': apiKey,
});

/** Values that a workflow takes from events, by the node's defaults. */
interface Workflow {
  /** `{{ $json.session }}` */
  readonly session: string;
  /** `{{ $json.payload.from }}` */
  readonly chatId: string;
  /** `{{ $json.payload.id }}` */
  readonly messageId: string;
  /** An image, as base64. */
  readonly image: string;
  readonly voice: string;
}

/** The test of the credential (`credentials/WAHAApi.credentials.ts`). */
export const credentialTest: NodeRequest = { operation: 'credential test', method: 'GET', path: '/api/sessions' };

/** `Sessions: Create`, with the whole example of its `config`. */
export const createSession = (name: string, webhookUrl: string): NodeRequest => ({
  operation: 'Create',
  method: 'POST',
  path: '/api/sessions',
  body: {
    name,
    start: true,
    config: {
      metadata: { 'user.id': '123', 'user.email': 'email@example.com' },
      proxy: null,
      debug: false,
      noweb: { store: { enabled: true, fullSync: false } },
      webhooks: [
        { url: webhookUrl, events: ['message', 'session.status'], hmac: null, retries: null, customHeaders: null },
      ],
    },
  },
});

export const sessionRequests = (session: string): readonly NodeRequest[] => [
  { operation: 'List', method: 'GET', path: '/api/sessions?all=true' },
  { operation: 'Get', method: 'GET', path: `/api/sessions/${session}` },
  { operation: 'Stop', method: 'POST', path: `/api/sessions/${session}/stop` },
  { operation: 'Start', method: 'POST', path: `/api/sessions/${session}/start` },
];

export const chattingRequests = ({ session, chatId, messageId, image, voice }: Workflow): readonly NodeRequest[] => [
  {
    operation: 'Send Seen',
    method: 'POST',
    path: '/api/sendSeen',
    body: { session, chatId, messageId, participant: null },
  },
  { operation: 'Start Typing', method: 'POST', path: '/api/startTyping', body: { session, chatId } },
  { operation: 'Stop Typing', method: 'POST', path: '/api/stopTyping', body: { session, chatId } },
  {
    operation: 'Send Text',
    method: 'POST',
    path: '/api/sendText',
    body: { session, chatId, reply_to: '', text: 'Hi there!' },
  },
  {
    operation: 'Send Image',
    method: 'POST',
    path: '/api/sendImage',
    body: {
      session,
      chatId,
      file: { mimetype: 'image/png', filename: 'filename.png', data: image },
      reply_to: '',
      caption: 'An image',
    },
  },
  {
    operation: 'Send File',
    method: 'POST',
    path: '/api/sendFile',
    body: {
      session,
      chatId,
      file: { mimetype: 'image/png', filename: 'filename.png', data: image },
      reply_to: messageId,
      caption: '',
    },
  },
  {
    operation: 'Send Voice',
    method: 'POST',
    path: '/api/sendVoice',
    body: { session, chatId, file: { mimetype: 'audio/ogg; codecs=opus', data: voice }, reply_to: '' },
  },
  {
    operation: 'Set Reaction',
    method: 'PUT',
    path: '/api/reaction',
    body: { session, messageId, reaction: '👍' },
  },
];

/** `Contacts: Check Exists` */
export const checkExists = (session: string, phone: string): NodeRequest => ({
  operation: 'Check Exists',
  method: 'GET',
  path: `/api/contacts/check-exists?phone=${encodeURIComponent(phone)}&session=${encodeURIComponent(session)}`,
});
