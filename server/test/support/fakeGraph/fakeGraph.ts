import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { portOf } from '../connections/listening.ts';
import { ApiError, FakeTemplates, newNumberState } from './businessNodes.ts';
import { askChallenge, type CallbackFault, postCallback, type Report } from './callbacks.ts';
import { FakeGroups, type GroupPerson } from './groups.ts';
import { FakeCatalog, requireInteractive } from './interactive.ts';
import { type About, type Blocked, FakePeople, senderOf, USER_ID } from './people.ts';

/*
 * A fake Graph API: the Cloud API for one number, after its documentation. It validates requests, stores media, and
 * sends callbacks. Tests inject faults one by one.
 */

/** An accepted message. */
export interface Sent {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every kind
  readonly body: any;
}

interface StoredFile {
  readonly mimeType: string;
  readonly fileName: string;
  readonly bytes: Buffer;
  /** The URL that it reports, if different from the real one. */
  readonly url?: string;
}

/** "Required when PIN_OPERATION is pin. Pin duration in days. Can be 1 to 30 days." */
function requirePin({ recipient_type: recipientType, pin }: Sent['body']): void {
  const isValid = pin.type === 'unpin' || (pin.type === 'pin' && pin.expiration_days >= 1 && pin.expiration_days <= 30);
  if (recipientType !== 'group' || !isValid || !pin.message_id?.startsWith('wamid.'))
    throw new ApiError(400, 131_009, 'Parameter value is not valid: pin');
}

/** "Supported message types: Text, media, text-based templates, and media-based templates". */
const groupTypes = new Set(['text', 'image', 'video', 'audio', 'document', 'sticker', 'template', 'reaction', 'pin']);

interface BusinessProfile {
  about: string | undefined;
  picture: Buffer | undefined;
  address?: string;
  description?: string;
  email?: string;
  websites?: string[];
  vertical?: string;
}

/** The fault of the next request. */
export type Fault =
  /** An error of the API. */
  | { readonly code: number; readonly status?: number; readonly details?: string; readonly retryAfter?: number }
  /** Executes the request without responding. */
  | 'no answer'
  /** Hangs up without executing the request. */
  | 'hang up'
  /** Waits for `release`. */
  | 'slow'
  /** Executes the request, and waits for `release` with the answer. */
  | 'late';

/** A person who is not on WhatsApp: a message to them fails with a status and 131026. */
export const NOBODY = '4930999999';
/** A person whose last message is over a day old: messages other than templates fail with 131047. */
export const SILENT = '4930888888';

/** The version since 2026-07-29: https://developers.facebook.com/docs/graph-api/changelog */
export const GRAPH_VERSION = 'v26.0';

/** The business account of all numbers. */
export const ACCOUNT_ID = '100';

/** Another number of the same app. */
export const OTHER_NUMBER_ID = '1067';

/** A Graph API on a port of its own. */
export async function startFakeGraph() {
  const graph = createFakeGraph();
  const { url, close } = await listen(graph.answer);
  return Object.assign(graph, { url, close });
}

/** Graph APIs of several apps behind one URL, for a shared server. The token of a request selects the app. */
export async function startFakeGraphs() {
  const graphs = new Map<string, ReturnType<typeof createFakeGraph>>();
  const { url, close } = await listen((request, response) => {
    const [, token = ''] = request.headers.authorization?.split(' ') ?? [];
    const graph = graphs.get(token);
    if (graph === undefined) response.writeHead(401).end();
    else graph.answer(request, response);
  });
  return {
    url,
    close,
    add() {
      const graph = createFakeGraph(`${2001 + graphs.size}`, `+1 555-011-${1000 + graphs.size}`);
      graphs.set(graph.options.token, graph);
      return graph;
    },
  };
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function createFakeGraph(phoneNumberId = '1066', displayNumber = '+1 555-010-0100') {
  /** The numbers of the app by id. */
  const numbers: Readonly<Record<string, string>> = {
    [phoneNumberId]: displayNumber,
    [OTHER_NUMBER_ID]: '+1 555-010-0200',
  };
  const token = `EAAG${randomBytes(12).toString('hex')}`;
  const appSecret = randomBytes(16).toString('hex');
  const verifyToken = randomBytes(8).toString('hex');
  const files = new Map<string, StoredFile>();
  const sent: Sent[] = [];
  const reads: { message_id: string; typing_indicator?: object }[] = [];
  const blocked = new Set<string>();
  const withoutMarketing = new Set<string>();
  /** The profile of the number. */
  const profile: BusinessProfile = { about: undefined, picture: undefined };
  /** Announced uploads to the app by id, and uploaded files by handle. */
  const announced = new Map<string, { mimeType: string; size: number }>();
  const handles = new Map<string, StoredFile>();
  const templates = new FakeTemplates();
  const catalog = new FakeCatalog();
  const state = newNumberState(ACCOUNT_ID, phoneNumberId);
  /** Names that the number has asked for. */
  const requestedNames: string[] = [];
  /** Data of the WhatsApp Business app that the number has asked for. */
  const requestedAppData: string[] = [];
  let refusesName = false;
  const faults: Fault[] = [];
  const fileFaults: Fault[] = [];
  const held: (() => void)[] = [];
  const calls: string[] = [];
  let isTokenGood = true;
  let isDown = false;
  let confirms = true;
  const people = new FakePeople();
  let callbackUrl = '';
  let calledBack: Promise<unknown> = Promise.resolve();

  const groups = new FakeGroups((report) => {
    calledBack = calledBack.then(() => post([report])).catch(() => {});
    return calledBack;
  });

  const to = () => ({ url: callbackUrl, appSecret, phoneNumberId, displayNumber });
  const post = (reports: Report | readonly Report[], fault?: CallbackFault) =>
    postCallback(to(), [reports].flat(), fault);
  const now = () => String(Math.floor(Date.now() / 1000));
  const newId = () => `wamid.${randomBytes(18).toString('base64')}`;

  const statusOf = ({ id, body }: Sent, status: string, more: object = {}) => ({
    id,
    status,
    timestamp: now(),
    recipient_id: body.to ?? body.recipient,
    ...(body.recipient_type === 'group' && { recipient_type: 'group' }),
    ...(body.biz_opaque_callback_data && { biz_opaque_callback_data: body.biz_opaque_callback_data }),
    ...more,
  });
  const failure = (code: number, title: string) => ({
    errors: [{ code, title, message: title, error_data: { details: title } }],
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const url = new URL(request.url ?? '', `http://${request.headers.host}`);
    const readsState =
      request.method === 'GET' &&
      (url.searchParams.get('fields')?.includes('health_status') === true || url.pathname.endsWith('/groups'));
    // In the background, so it is not one of the calls that tests count and fail.
    if (!readsState) calls.push(`${request.method} ${url.pathname}`);
    if (isDown) {
      response.destroy();
      return;
    }
    try {
      requireToken(request, url);
      const fault = readsState ? undefined : (url.pathname.startsWith('/cdn/') ? fileFaults : faults).shift();
      if (fault === 'hang up') {
        response.destroy();
        return;
      }
      if (fault === 'slow') await new Promise<void>((resolve) => held.push(resolve));
      if (typeof fault === 'object')
        throw new ApiError(fault.status ?? 400, fault.code, fault.details ?? 'ordered by the test', fault.retryAfter);
      const answer = await route(request, url, body);
      if (fault === 'no answer') return;
      if (fault === 'late') await new Promise<void>((resolve) => held.push(resolve));
      if (Buffer.isBuffer(answer)) response.end(answer);
      else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    } catch (error) {
      const { status, code, message, retryAfter } =
        error instanceof ApiError ? error : new ApiError(500, 1, (error as Error).message);
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      });
      const details = {
        message: `(#${code}) ${message}`,
        type: 'OAuthException',
        code,
        error_data: { details: message },
      };
      response.end(JSON.stringify({ error: details }));
    }
  }

  /** The resumable upload has its own authorization scheme. */
  function requireToken({ headers }: IncomingMessage, { pathname }: URL): void {
    const scheme = pathname.includes('/upload:') ? 'OAuth' : 'Bearer';
    if (!isTokenGood || headers.authorization !== `${scheme} ${token}`)
      throw new ApiError(401, 190, 'Error validating access token: the session has expired');
  }

  async function route(request: IncomingMessage, url: URL, body: Buffer): Promise<object | Buffer> {
    const [, version = '', id = '', part] = url.pathname.split('/').map(decodeURIComponent);
    if (version === 'cdn') return files.get(id)?.bytes ?? notThere(id);
    if (version !== GRAPH_VERSION) throw new ApiError(400, 2500, `Unknown path components: /${version}`);
    const asked = `${request.method} ${kindOf(id)}${part ? `/${part}` : ''}`;
    const json = () => JSON.parse(body.toString());
    switch (asked) {
      case 'GET number':
        requireKnownFields(url);
        return {
          ...state,
          id,
          display_phone_number: numbers[id],
          webhook_configuration: {
            ...(callbackUrl !== '' && { phone_number: callbackUrl }),
            application: 'https://app.example/callbacks',
          },
        };
      case 'POST number':
        return url.searchParams.has('new_display_name') ? requestName(url) : override(json());
      case 'POST number/smb_app_data':
        requestedAppData.push(json().sync_type);
        return { messaging_product: 'whatsapp', request_id: 'r1' };
      case 'GET number/whatsapp_business_profile':
        return { data: [readProfile(url)] };
      case 'GET account/message_templates':
        return templates.list(url);
      case 'POST account/message_templates':
        requireExamples(json());
        return templates.create(json());
      case 'DELETE account/message_templates':
        return templates.remove(url);
      case 'GET template':
        return templates.find(id) ?? notThere(id);
      case 'POST template':
        requireExamples(json());
        return templates.change(templates.find(id) ?? notThere(id), json());
      case 'POST number/messages':
        return take(json());
      case 'POST number/media':
        return upload(request, body);
      case 'POST number/block_users':
      case 'DELETE number/block_users':
        return block(json(), request.method === 'POST');
      case 'GET file':
        return describeFile(id, url);
      case 'GET number/groups':
        return groups.list(url);
      case 'POST number/groups':
        return groups.create(json());
      case 'GET group':
        return groups.read(id, url);
      case 'POST group':
        return groups.update(id, request.headers['content-type'] ?? '', body);
      case 'DELETE group':
        return groups.remove(id);
      case 'DELETE group/participants':
        return groups.removeParticipants(id, json());
      case 'GET group/invite_link':
      case 'POST group/invite_link':
        return groups.invite(id, request.method === 'POST');
      case 'GET group/join_requests':
        return groups.listRequests(id, url);
      case 'POST group/join_requests':
      case 'DELETE group/join_requests':
        return groups.decide(id, json(), request.method === 'POST');
      case 'POST account/subscribed_apps':
        return { success: true };
      case 'POST number/whatsapp_business_profile':
        return changeProfile(json());
      case 'POST other/uploads':
        return id === 'app' ? announce(url) : notThere(id);
      case 'POST other':
        return announced.has(id) ? receive(id, request, body) : notThere(id);
      default:
        return notThere(id);
    }
  }

  function kindOf(id: string): string {
    if (id in numbers) return 'number';
    if (id === ACCOUNT_ID) return 'account';
    if (templates.find(id) !== undefined) return 'template';
    return files.has(id) ? 'file' : groups.has(id) ? 'group' : 'other';
  }

  /** "All media must be uploaded with the Resumable Upload API": templates/components#media-headers. */
  function requireExamples({ components = [] }: { readonly components?: readonly Sent['body'][] }): void {
    for (const { type, format, example } of components)
      if (type === 'HEADER' && /^(IMAGE|VIDEO|GIF|DOCUMENT)$/.test(format) && !handles.has(example?.header_handle?.[0]))
        throw new ApiError(400, 100, 'Missing sample parameter for header type');
  }

  /** An older version of the API refuses a request with a field that it does not know. */
  function requireKnownFields({ searchParams }: URL): void {
    for (const field of searchParams.get('fields')?.split(',') ?? [])
      if (field in state && state[field as keyof typeof state] === undefined)
        throw new ApiError(400, 100, `Tried accessing nonexisting field (${field})`);
  }

  function requestName({ searchParams }: URL): object {
    if (refusesName) throw new ApiError(400, 100, 'The display name cannot be changed');
    requestedNames.push(searchParams.get('new_display_name') ?? '');
    return { success: true };
  }

  function readProfile({ origin }: URL): object {
    const { picture, ...fields } = profile;
    if (picture === undefined) return { ...fields, messaging_product: 'whatsapp' };
    return {
      ...fields,
      messaging_product: 'whatsapp',
      profile_picture_url: `${origin}/cdn/${keep(picture, 'image/png')}`,
    };
  }

  function notThere(id: string): never {
    throw new ApiError(400, 100, `Object with ID '${id}' does not exist`);
  }

  /** A callback URL must answer the challenge before it is used. */
  async function override({ webhook_configuration: wanted }: Wanted): Promise<object> {
    const address = wanted?.override_callback_uri ?? '';
    if (address !== '') {
      const { status, text } = await askChallenge(address, wanted?.verify_token ?? '');
      if (status !== 200 || text !== '1158201444') throw new ApiError(400, 2200, 'Callback verification failed');
    }
    callbackUrl = address;
    return { success: true };
  }

  function take(message: Sent['body']): object {
    if (message.messaging_product !== 'whatsapp') throw new ApiError(400, 100, 'messaging_product is required');
    if (message.status === 'read') {
      reads.push(message);
      return { success: true };
    }
    const { to: recipient = message.recipient, type = 'text' } = message;
    if (message.recipient_type === 'group' && !groups.has(recipient)) notThere(recipient);
    // https://developers.facebook.com/documentation/business-messaging/whatsapp/groups: "Non-supported message types".
    if (message.recipient_type === 'group' && !groupTypes.has(type))
      throw new ApiError(400, 131051, 'Message type is not currently supported');
    if (typeof recipient !== 'string') throw new ApiError(400, 131008, 'Required parameter is missing: to');
    if (message.to === undefined && !USER_ID.test(recipient))
      throw new ApiError(400, 131009, 'Parameter value is not valid: recipient');
    if (typeof message[type] !== 'object') throw new ApiError(400, 131009, `Parameter value is not valid: ${type}`);
    if (message[type].id !== undefined && !files.has(message[type].id))
      throw new ApiError(400, 131009, 'Parameter value is not valid: media id');
    if (type === 'pin') requirePin(message);
    if (type === 'interactive') requireInteractive(message.interactive, catalog);
    if (type === 'template') requireFiles(message.template.components);
    if (type === 'template') templates.requireSendable(message.template.name, message.template.language.code);
    if (recipient === SILENT && type !== 'template') throw new ApiError(400, 131047, 'Re-engagement message');
    const entry = { id: newId(), body: message };
    // Accepted and never delivered, without an error: https://github.com/chatwoot/chatwoot/pull/15150
    if (USER_ID.test(message.to)) return { messaging_product: 'whatsapp', contacts: [], messages: [{ id: entry.id }] };
    sent.push(entry);
    if (confirms && type !== 'reaction') callBackOn(entry);
    return {
      messaging_product: 'whatsapp',
      contacts: [people.recipientOf(recipient)],
      messages: [{ id: entry.id }],
    };
  }

  /** A parameter with a file has its id or its link. */
  function requireFiles(components: readonly Sent['body'][] = []): void {
    for (const { parameters = [] } of components)
      for (const { type, ...parameter } of parameters)
        if (['image', 'video', 'document'].includes(type) && !parameter[type]?.link && !files.has(parameter[type]?.id))
          throw new ApiError(400, 131_009, `Parameter value is not valid: ${type}`);
  }

  function callBackOn(entry: Sent): void {
    const { to: recipient, template } = entry.body;
    if (entry.body.recipient_type === 'group') {
      callBackOnGroup(entry);
      return;
    }
    const isUnwanted = withoutMarketing.has(recipient) && templates.isMarketing(template?.name);
    const problem =
      recipient === NOBODY
        ? failure(131026, 'Message undeliverable')
        : isUnwanted
          ? failure(131050, 'User has stopped marketing messages')
          : undefined;
    const statuses =
      problem !== undefined
        ? [statusOf(entry, 'failed', problem)]
        : [statusOf(entry, 'sent'), statusOf(entry, 'delivered')];
    if (callbackUrl === '') return;
    for (const status of statuses) calledBack = calledBack.then(() => post({ statuses: [status] })).catch(() => {});
  }

  /**
   * The members' statuses of one message come together:
   * https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/webhooks
   */
  function callBackOnGroup(entry: Sent): void {
    if (callbackUrl === '') return;
    const { participants } = groups.at(entry.body.to);
    const delivered = participants.map((person) => memberStatus(entry, 'delivered', person));
    for (const statuses of [[statusOf(entry, 'sent')], delivered])
      if (statuses.length > 0) calledBack = calledBack.then(() => post({ statuses })).catch(() => {});
  }

  const memberStatus = (entry: Sent, status: string, { wa_id: waId, user_id: userId }: GroupPerson) =>
    statusOf(entry, status, {
      ...(waId !== undefined && { recipient_participant_id: waId }),
      ...(userId !== undefined && { recipient_participant_user_id: userId }),
    });

  async function upload({ headers }: IncomingMessage, body: Buffer): Promise<object> {
    const type = headers['content-type'] ?? '';
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    const file = form.get('file');
    if (form.get('messaging_product') !== 'whatsapp' || !(file instanceof File))
      throw new ApiError(400, 100, 'Invalid parameter');
    return { id: keep(Buffer.from(await file.arrayBuffer()), file.type, file.name) };
  }

  /** @param url the reported URL, if different from the real one */
  function keep(bytes: Buffer, mimeType: string, fileName = '', url?: string): string {
    const id = String(randomBytes(6).readUIntBE(0, 6));
    files.set(id, { bytes, mimeType, fileName, ...(url !== undefined && { url }) });
    return id;
  }

  function describeFile(id: string, { origin }: URL): object {
    const file = files.get(id) ?? notThere(id);
    return {
      url: file.url ?? `${origin}/cdn/${id}`,
      mime_type: file.mimeType,
      sha256: createHash('sha256').update(file.bytes).digest('hex'),
      file_size: file.bytes.length,
      id,
    };
  }

  /** A file for the app is announced before its upload. */
  function announce({ searchParams }: URL): object {
    const [mimeType, size] = [searchParams.get('file_type') ?? '', Number(searchParams.get('file_length'))];
    if (!['image/jpeg', 'image/png', 'video/mp4', 'application/pdf'].includes(mimeType) || !(size > 0))
      throw new ApiError(400, 100, 'Invalid parameter');
    const id = `upload:${randomBytes(12).toString('base64url')}`;
    announced.set(id, { mimeType, size });
    return { id: `${id}?sig=${randomBytes(6).toString('base64url')}` };
  }

  /** It is uploaded in one piece, which must match the announcement. */
  function receive(id: string, { headers }: IncomingMessage, bytes: Buffer): object {
    const { mimeType, size } = announced.get(id) ?? notThere(id);
    if (headers['file_offset'] !== '0') throw new ApiError(400, 100, 'file_offset is required');
    if (bytes.length !== size) throw new ApiError(400, 100, `The file has ${bytes.length} bytes, not ${size}`);
    announced.delete(id);
    const handle = `4::${randomBytes(12).toString('base64')}`;
    handles.set(handle, { bytes, mimeType, fileName: '' });
    return { h: handle };
  }

  function changeProfile(change: {
    messaging_product?: string;
    about?: string;
    profile_picture_handle?: string;
    [field: string]: unknown;
  }): object {
    const { messaging_product: product, about, profile_picture_handle: handle, ...fields } = change;
    if (product !== 'whatsapp') throw new ApiError(400, 100, 'messaging_product is required');
    if (about !== undefined && (about.length < 1 || about.length > 139))
      throw new ApiError(400, 100, 'about must have 1 to 139 characters');
    const picture = handle === undefined ? undefined : handles.get(handle);
    if (handle !== undefined && picture === undefined) throw new ApiError(400, 100, 'Invalid profile picture handle');
    Object.assign(profile, fields);
    if (about !== undefined) profile.about = about;
    if (picture !== undefined) profile.picture = picture.bytes;
    return { success: true };
  }

  function block({ block_users: users }: { block_users: Blocked[] }, isBlocked: boolean): object {
    const numbers = users.map(({ user, user_id: userId = '' }) => user?.replace(/\D/g, '') ?? userId);
    const failed: string[] = numbers.filter((number) => number === SILENT);
    for (const number of numbers) {
      if (failed.includes(number)) continue;
      if (isBlocked) blocked.add(number);
      else blocked.delete(number);
    }
    return {
      messaging_product: 'whatsapp',
      block_users: {
        added_users: numbers.map((input) => ({ input, wa_id: input })),
        ...(failed.length > 0 && { failed_users: failed.map((input) => ({ input })) }),
      },
    };
  }

  return {
    answer: (request: IncomingMessage, response: ServerResponse) =>
      void handle(request, response).catch(() => response.destroy()),
    /** The options of a session for this number. */
    options: { phoneNumberId, token, appSecret, verifyToken },
    /** The number as digits. */
    phoneNumber: displayNumber.replace(/\D/g, ''),
    sent: sent as readonly Sent[],
    reads: reads as readonly (typeof reads)[number][],
    blocked: blocked as ReadonlySet<string>,
    files: files as ReadonlyMap<string, StoredFile>,
    /** Loses a file, as Meta does after 30 days. */
    lose: (id: string) => void files.delete(id),
    templates,
    catalog,
    /** The state of the number, which the test can change. A field that is undefined is unknown to the API. */
    state,
    requestedNames: requestedNames as readonly string[],
    requestedAppData: requestedAppData as readonly string[],
    refuseName() {
      refusesName = true;
    },
    profile: profile as Readonly<BusinessProfile>,
    /** Method and path of every request. */
    calls: calls as readonly string[],
    /** The callback URL. */
    get callbackUrl() {
      return callbackUrl;
    },
    callBackAt(address: string) {
      callbackUrl = address;
    },
    /** Whether accepted messages become sent and delivered by callback. */
    confirm(does: boolean) {
      confirms = does;
    },
    /** Assigns these faults to the next requests, one each. */
    failNext: (...next: Fault[]) => void faults.push(...next),
    /** The same for the media host, which serves files outside the Graph API. */
    failNextFiles: (...next: Fault[]) => void fileFaults.push(...next),
    /** Releases slow requests. */
    release: () => void held.splice(0).forEach((go) => void go()),
    /** The number of slow requests in flight. */
    get slowOnes() {
      return held.length;
    },
    expireToken() {
      isTokenGood = false;
    },
    renewToken() {
      isTokenGood = true;
    },
    /** Hangs up on every request while it is on. */
    setDown(down: boolean) {
      isDown = down;
    },
    /** Rates the quality of the number. */
    rate(quality: 'GREEN' | 'YELLOW' | 'RED') {
      state.quality_rating = quality;
    },
    /**
     * A person stops or resumes marketing messages. From then on, Meta accepts such a message and reports that it
     * failed:
     * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/user_preferences
     */
    chooseMarketing(from: string, value: 'stop' | 'resume', more: object = {}): Promise<number> {
      if (value === 'stop') withoutMarketing.add(from);
      else withoutMarketing.delete(from);
      const detail = `User requested to ${value} marketing messages`;
      const choice = { wa_id: from, detail, category: 'marketing_messages', value, timestamp: Number(now()), ...more };
      return post({ field: 'user_preferences', contacts: [{ wa_id: from }], user_preferences: [choice] });
    },
    /** Reports a call: https://developers.facebook.com/documentation/business-messaging/whatsapp/calling/user-initiated-calls */
    reportCall: (call: object) => post({ field: 'calls', calls: [call] }),
    groups,
    people,
    /**
     * Reports a change of a number or a user id, which comes without `contacts`.
     * @returns the status of the response
     */
    notice: (system: object, sender: object = {}) =>
      post({ messages: [{ ...sender, id: newId(), timestamp: now(), type: 'system', system }] }),
    keep,
    newId,
    now,
    statusOf,
    memberStatus,
    failure,
    post,
    challenge: (verify: string) => askChallenge(callbackUrl, verify),
    /** Resolves once its own callbacks were answered. */
    settled: () => calledBack,
    /** Writes as a number, or as the id of a person with a hidden number. @returns the id of the message */
    async incoming(from: string, message: object, about: About = {}): Promise<string> {
      const { id = newId() } = about;
      const { sender, contact } = senderOf(from, about);
      const contacts = [contact];
      const status = await post({ contacts, messages: [{ ...sender, id, timestamp: now(), ...message }] });
      if (status !== 200) throw new Error(`the callback was answered with ${status}`);
      return id;
    },
  };
}

export type FakeGraph = Awaited<ReturnType<typeof startFakeGraph>>;

interface Wanted {
  readonly webhook_configuration?: { readonly override_callback_uri?: string; readonly verify_token?: string };
}
