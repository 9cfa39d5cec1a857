// Generated from the operation table by `npm run openapi`. Do not edit.

export interface Account {
  accountId: string;
  email: string;
  name: string | null;
  createdAt: string;
}

export interface Login {
  /** JWT to send as `Authorization: Bearer`. Empty for the dashboard, which gets it as a cookie. */
  token: string;
  tokenType: 'Bearer';
  expiresAt: string;
  account: Account;
}

export interface NewApiKey {
  /** Id of the key (`key_…`). */
  keyId: string;
  name: string;
  permissions: string[];
  createdAt: string;
  expiresAt: string | null;
  /** The key itself. It is shown only here. */
  key: string;
}

export interface ApiKey {
  /** Id of the key (`key_…`). */
  keyId: string;
  name: string;
  permissions: string[];
  createdAt: string;
  expiresAt: string | null;
  /** How the key begins, to tell it from others. */
  prefix: string;
  lastUsedAt: string | null;
}

export interface Connector {
  /** What `connector` of a session says. */
  name: string;
  /** Whether sessions live on it that name none. */
  isDefault: boolean;
  /** JSON Schema of a session's `options`. Those that are `writeOnly` are never returned. */
  options: Record<string, unknown>;
  /** The kinds of messages it can send. */
  messageTypes: (
    | 'text'
    | 'image'
    | 'video'
    | 'audio'
    | 'voice'
    | 'document'
    | 'sticker'
    | 'location'
    | 'contact'
    | 'poll'
    | 'template'
    | 'interactive'
  )[];
  /** Whether the network calls this server: its sessions have a `callbackUrl`. */
  takesCallbacks: boolean;
}

export interface Session {
  /** Id of the session (`ses_…`). */
  sessionId: string;
  name: string | null;
  /** The network it lives on. */
  connector: string;
  /** Digits; null until the network has said it. */
  phoneNumber: string | null;
  status: 'created' | 'connecting' | 'awaiting_pairing' | 'connected' | 'disconnected' | 'logged_out' | 'failed';
  connectedAt: string | null;
  lastEventAt: string | null;
  /** Why it is not connected, in words. */
  error: string | null;
  /** Without its secrets. */
  options: Record<string, unknown>;
  /** Where its network calls it. */
  callbackUrl: string | null;
  metadata: Record<string, string>;
  createdAt: string;
}

export interface Message {
  /** Id of the message (`msg_…`). */
  messageId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Phone number digits, or the id of the group. */
  chatId: string;
  direction: 'incoming' | 'outgoing';
  type:
    | 'text'
    | 'image'
    | 'video'
    | 'audio'
    | 'voice'
    | 'document'
    | 'sticker'
    | 'location'
    | 'contact'
    | 'poll'
    | 'template'
    | 'interactive';
  /** Digits of the sender. */
  from: string;
  /** Digits of the recipient, or the id of the group. */
  to: string;
  /** Text, caption of the media, or question of the poll. */
  message: string;
  status: 'queued' | 'scheduled' | 'sent' | 'delivered' | 'read' | 'failed';
  /** When it was sent, or is to be. */
  timestamp: string;
  /** Id of the message it answers. */
  replyTo?: string;
  media?: {
    /** Id of the media (`med_…`). */
    mediaId: string;
    mimeType: string;
    /** Bytes. */
    size: number;
    fileName: string | null;
    /** Where the content is; it takes an API key with `media:read`. */
    url: string;
  };
  location?: {
    latitude: number;
    longitude: number;
    name?: string;
    address?: string;
  };
  contact?: {
    name: string;
    phoneNumbers: string[];
  };
  poll?: {
    options: string[];
    /** How many options one person may choose. */
    maxSelections: number;
  };
  template?: {
    name: string;
    language: string;
    components: unknown[];
  };
  /** What there is to choose from, as it was sent. */
  interactive?: Record<string, unknown>;
  mentions?: string[];
  forwarded?: true;
  /** What the button or list entry carries that was chosen. */
  payload?: string;
  /** Text and parts are left out, because the API key has the permission `metadata` in place of `read`. */
  contentHidden?: true;
  /** The sender hides the number: `from` stands in for it, and can be written to. */
  unidentified?: true;
  /** Written on the phone itself, or a device linked to it. */
  sentElsewhere?: true;
  /** Who has chosen what of the poll. */
  votes?: {
    from: string;
    options: string[];
  }[];
  reactions?: {
    from: string;
    emoji: string;
    at: string;
  }[];
  edited?: true;
  /** Deleted for everyone: its text is gone. */
  deleted?: true;
  /** Why it failed, in words. */
  error?: string;
}

export interface BulkResult {
  /** As it was given. */
  to: string;
  messageId: string | null;
  sendAt: string | null;
  /** Why nothing is sent there, in words. */
  error?: string;
}

export interface MessageStats {
  /** Minutes in which there were messages, oldest first. */
  series: {
    minute: string;
    incoming: number;
    /** Those that the network has taken. */
    outgoing: number;
  }[];
}

export interface MessageWithHistory {
  /** Id of the message (`msg_…`). */
  messageId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Phone number digits, or the id of the group. */
  chatId: string;
  direction: 'incoming' | 'outgoing';
  type:
    | 'text'
    | 'image'
    | 'video'
    | 'audio'
    | 'voice'
    | 'document'
    | 'sticker'
    | 'location'
    | 'contact'
    | 'poll'
    | 'template'
    | 'interactive';
  /** Digits of the sender. */
  from: string;
  /** Digits of the recipient, or the id of the group. */
  to: string;
  /** Text, caption of the media, or question of the poll. */
  message: string;
  status: 'queued' | 'scheduled' | 'sent' | 'delivered' | 'read' | 'failed';
  /** When it was sent, or is to be. */
  timestamp: string;
  /** Id of the message it answers. */
  replyTo?: string;
  media?: {
    /** Id of the media (`med_…`). */
    mediaId: string;
    mimeType: string;
    /** Bytes. */
    size: number;
    fileName: string | null;
    /** Where the content is; it takes an API key with `media:read`. */
    url: string;
  };
  location?: {
    latitude: number;
    longitude: number;
    name?: string;
    address?: string;
  };
  contact?: {
    name: string;
    phoneNumbers: string[];
  };
  poll?: {
    options: string[];
    /** How many options one person may choose. */
    maxSelections: number;
  };
  template?: {
    name: string;
    language: string;
    components: unknown[];
  };
  /** What there is to choose from, as it was sent. */
  interactive?: Record<string, unknown>;
  mentions?: string[];
  forwarded?: true;
  /** What the button or list entry carries that was chosen. */
  payload?: string;
  /** Text and parts are left out, because the API key has the permission `metadata` in place of `read`. */
  contentHidden?: true;
  /** The sender hides the number: `from` stands in for it, and can be written to. */
  unidentified?: true;
  /** Written on the phone itself, or a device linked to it. */
  sentElsewhere?: true;
  /** Who has chosen what of the poll. */
  votes?: {
    from: string;
    options: string[];
  }[];
  reactions?: {
    from: string;
    emoji: string;
    at: string;
  }[];
  edited?: true;
  /** Deleted for everyone: its text is gone. */
  deleted?: true;
  /** Why it failed, in words. */
  error?: string;
  /** What it went through, oldest first. */
  statusHistory: {
    status: 'queued' | 'scheduled' | 'sent' | 'delivered' | 'read' | 'failed';
    at: string;
  }[];
}

export interface Chat {
  /** Phone number digits, or the id of the group. */
  chatId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  type: 'direct' | 'group';
  unreadCount: number;
  archived: boolean;
  pinned: boolean;
  mutedUntil: string | null;
  lastMessage: Message | null;
}

export interface Contact {
  /** Digits. */
  phoneNumber: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** What the contact calls itself, when it has said so. */
  name: string | null;
  blocked: boolean;
  /** Null while nobody has checked. */
  onNetwork: boolean | null;
  checkedAt: string | null;
}

export interface Profile {
  /** Digits. */
  phoneNumber: string;
  /** What the contact says of itself; null when it says nothing, or not to the session. */
  about: string | null;
  /** Null when there is none, or it is hidden. */
  picture: {
    /** Id of the media (`med_…`). */
    mediaId: string;
    mimeType: string;
    /** Bytes. */
    size: number;
    fileName: string | null;
    /** Where the content is; it takes an API key with `media:read`. */
    url: string;
  } | null;
}

export interface Media {
  /** Id of the media (`med_…`). */
  mediaId: string;
  /** By the content, whatever it was called when it came. */
  mimeType: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of the content, hexadecimal. */
  sha256: string;
  fileName: string | null;
  createdAt: string;
  /** Where the content is; it takes the same credential. */
  url: string;
}

export interface Group {
  /** Id of the group (`grp_…`). */
  groupId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Name of the group. */
  subject: string;
  description: string | null;
  participants: {
    /** Phone number digits. */
    phoneNumber: string;
    role: 'member' | 'admin' | 'owner';
  }[];
  settings: {
    /** Only admins may write. */
    announce: boolean;
    /** Only admins may change subject, description and picture. */
    locked: boolean;
    /** Who joins by the invite link has to be let in. */
    joinApproval: boolean;
  };
  /** Id of the picture (`med_…`). */
  pictureMediaId: string | null;
  createdAt: string;
}

export interface GroupInvite {
  /** Id of the group (`grp_…`). */
  groupId: string;
  inviteCode: string;
  /** What to give to people. */
  inviteLink: string;
}

export interface WebhookConfiguration {
  /** Null while no webhook is set. */
  webhookUrl: string | null;
  events: (
    | 'message.incoming'
    | 'message.sent'
    | 'message.delivered'
    | 'message.read'
    | 'session.connected'
    | 'session.disconnected'
    | 'group.created'
    | 'group.updated'
  )[];
  /** Whether a secret is set. The secret itself is never shown. */
  hasSecret: boolean;
  enabled: boolean;
  createdAt: string | null;
  updatedAt: string | null;
}

export interface WebhookTest {
  delivered: boolean;
  class:
    | 'ok'
    | 'redirect'
    | 'client_error'
    | 'gone'
    | 'throttled'
    | 'server_error'
    | 'timeout'
    | 'dns'
    | 'connect'
    | 'tls'
    | 'reset'
    | 'protocol'
    | 'blocked_address'
    | 'no_socket'
    | 'unknown_outcome';
  /** HTTP status of the answer. */
  status: number | null;
  /** What happened, in one sentence. */
  message: string;
  latencyMs: number;
  /** How far it came: URL, name lookup, connection, TLS, HTTP. */
  stages: {
    stage: 'url' | 'dns' | 'connect' | 'tls' | 'http';
    result: 'ok' | 'failed' | 'skipped';
    /** How long it took; null where it was not reached. */
    ms: number | null;
  }[];
  /** Its entry in the delivery log. */
  deliveryId: string;
  request: {
    url: string;
    /** As sent, signature included. */
    headers: Record<string, string>;
    /** As sent. */
    body: string;
  };
  /** Up to 1 KiB of the answer. */
  response: string | null;
}

export interface WebhookStats {
  pending: number;
  /** Of the pending ones, those that wait behind an open breaker. */
  held: number;
  oldestPendingAgeMs: number | null;
  windows: {
    '1h': {
      attempts: number;
      /** Null without attempts. */
      successRate: number | null;
      latencyMs: {
        p50: number | null;
        p95: number | null;
        p99: number | null;
      };
      /** Attempts by outcome class. */
      byClass: Record<string, number>;
      /** Deliveries by the final state they reached. */
      byState: Record<string, number>;
    };
    '24h': {
      attempts: number;
      /** Null without attempts. */
      successRate: number | null;
      latencyMs: {
        p50: number | null;
        p95: number | null;
        p99: number | null;
      };
      /** Attempts by outcome class. */
      byClass: Record<string, number>;
      /** Deliveries by the final state they reached. */
      byState: Record<string, number>;
    };
    '7d': {
      attempts: number;
      /** Null without attempts. */
      successRate: number | null;
      latencyMs: {
        p50: number | null;
        p95: number | null;
        p99: number | null;
      };
      /** Attempts by outcome class. */
      byClass: Record<string, number>;
      /** Deliveries by the final state they reached. */
      byState: Record<string, number>;
    };
  };
  /** Minutes of the last hour in which something happened, oldest first. */
  series: {
    minute: string;
    attempts: number;
    delivered: number;
    failedAttempts: number;
    p95Ms: number | null;
  }[];
}

export interface CircuitBreaker {
  state: 'closed' | 'open' | 'half_open';
  since: string | null;
  reason: string | null;
  lastError: {
    class:
      | 'ok'
      | 'redirect'
      | 'client_error'
      | 'gone'
      | 'throttled'
      | 'server_error'
      | 'timeout'
      | 'dns'
      | 'connect'
      | 'tls'
      | 'reset'
      | 'protocol'
      | 'blocked_address'
      | 'no_socket'
      | 'unknown_outcome';
    status: number | null;
    message: string;
    at: string;
  } | null;
  failuresInARow: number;
  window: {
    seconds: number;
    attempts: number;
    failures: number;
  };
  openUntil: string | null;
  /** When the next attempt may go through an open breaker; null when nothing is held. */
  nextProbeAt: string | null;
  held: {
    count: number;
    oldestAt: string | null;
  };
  thresholds: {
    failuresInARow: number;
    windowSeconds: number;
    windowAttempts: number;
    windowFailureRate: number;
    successesToClose: number;
    openSeconds: number;
    longestOpenSeconds: number;
  };
  /** The last changes of state, newest first. */
  transitions: {
    at: string;
    from: 'closed' | 'open' | 'half_open';
    to: 'closed' | 'open' | 'half_open';
    reason: string;
  }[];
}

export interface BreakerReset {
  previousState: 'closed' | 'open' | 'half_open';
  state: 'closed' | 'open' | 'half_open';
  /** Deliveries that were held and go out now. */
  released: number;
}

export interface Delivery {
  /** Id of the delivery (`dlv_…`). */
  deliveryId: string;
  webhookId: string;
  /** The same as `X-Webhook-Id`. */
  eventId: string;
  event:
    | 'message.incoming'
    | 'message.sent'
    | 'message.delivered'
    | 'message.read'
    | 'session.connected'
    | 'session.disconnected'
    | 'group.created'
    | 'group.updated';
  state: 'pending' | 'delivered' | 'failed' | 'expired' | 'cancelled';
  /** Attempts made so far. */
  attempts: number;
  lastClass:
    | 'ok'
    | 'redirect'
    | 'client_error'
    | 'gone'
    | 'throttled'
    | 'server_error'
    | 'timeout'
    | 'dns'
    | 'connect'
    | 'tls'
    | 'reset'
    | 'protocol'
    | 'blocked_address'
    | 'no_socket'
    | 'unknown_outcome'
    | null;
  lastMessage: string | null;
  /** When the next attempt is due; an open circuit breaker holds it back. */
  dueAt: string | null;
  messageId: string | null;
  isTest: boolean;
  createdAt: string;
  settledAt: string | null;
}

export interface DeliveryWithAttempts {
  /** Id of the delivery (`dlv_…`). */
  deliveryId: string;
  webhookId: string;
  /** The same as `X-Webhook-Id`. */
  eventId: string;
  event:
    | 'message.incoming'
    | 'message.sent'
    | 'message.delivered'
    | 'message.read'
    | 'session.connected'
    | 'session.disconnected'
    | 'group.created'
    | 'group.updated';
  state: 'pending' | 'delivered' | 'failed' | 'expired' | 'cancelled';
  /** Attempts made so far. */
  attempts: number;
  lastClass:
    | 'ok'
    | 'redirect'
    | 'client_error'
    | 'gone'
    | 'throttled'
    | 'server_error'
    | 'timeout'
    | 'dns'
    | 'connect'
    | 'tls'
    | 'reset'
    | 'protocol'
    | 'blocked_address'
    | 'no_socket'
    | 'unknown_outcome'
    | null;
  lastMessage: string | null;
  /** When the next attempt is due; an open circuit breaker holds it back. */
  dueAt: string | null;
  messageId: string | null;
  isTest: boolean;
  createdAt: string;
  settledAt: string | null;
  /** In one sentence, what has become of it and why. */
  why: string;
  /** As it is sent; with `webhooks:metadata` alone, without the content of the message. */
  body: string;
  /** Every attempt, oldest first. */
  attemptLog: {
    number: number;
    /** Sent with it, but for the signatures, which are not kept. `webhook-id` and `webhook-timestamp` are there when the webhook has a secret now. */
    headers: Record<string, string>;
    class:
      | 'ok'
      | 'redirect'
      | 'client_error'
      | 'gone'
      | 'throttled'
      | 'server_error'
      | 'timeout'
      | 'dns'
      | 'connect'
      | 'tls'
      | 'reset'
      | 'protocol'
      | 'blocked_address'
      | 'no_socket'
      | 'unknown_outcome';
    status: number | null;
    durationMs: number;
    message: string;
    /** Up to 1 KiB of the answer, which may repeat what was sent. */
    response: string | null;
    at: string;
  }[];
}

export interface SecretRotation {
  hasSecret: boolean;
  /** Until when deliveries carry both signatures. */
  previousSecretValidUntil: string | null;
}

export interface WebhookEndpoint {
  /** Id of the webhook (`whk_…`). */
  webhookId: string;
  /** Whether it is the one that `/webhooks/set` manages. */
  isDefault: boolean;
  /** Null while no webhook is set. */
  webhookUrl: string | null;
  events: (
    | 'message.incoming'
    | 'message.sent'
    | 'message.delivered'
    | 'message.read'
    | 'session.connected'
    | 'session.disconnected'
    | 'group.created'
    | 'group.updated'
  )[];
  /** Whether a secret is set. The secret itself is never shown. */
  hasSecret: boolean;
  enabled: boolean;
  createdAt: string | null;
  updatedAt: string | null;
  maxInFlight: number;
  /** State of its circuit breaker. */
  breakerState: 'closed' | 'open' | 'half_open';
}

/** What each operation takes and gives. */
export interface Operations {
  /** Register an account */
  'auth.register': {
    input: {
      /** Email address; upper and lower case are the same. */
      email: string;
      /** 10 to 256 characters. Not the email address, and not a password that many people use. */
      password: string;
      name?: string;
    };
    output: Login;
  };
  /** Log in */
  'auth.login': {
    input: {
      /** Email address; upper and lower case are the same. */
      email: string;
      password: string;
    };
    output: Login;
  };
  /** Log out in this browser. Drops the cookie of the dashboard. Tokens that were given out as text stay: see `auth.logout`. */
  'auth.forget_login': {
    input: Record<string, never>;
    output: {
      loggedOut: true;
    };
  };
  /** Log out everywhere. Ends every login token of the account. API keys stay. */
  'auth.logout': {
    input: Record<string, never>;
    output: {
      loggedOut: true;
    };
  };
  /** Show the account and the credential */
  'auth.me': {
    input: Record<string, never>;
    output: {
      account: Account;
      credential: {
        type: 'jwt' | 'api_key';
        keyId?: string;
        permissions: string[];
      };
    };
  };
  /** Change the password. Ends every other login token and answers with a new one. */
  'auth.change_password': {
    input: {
      currentPassword: string;
      /** 10 to 256 characters. Not the email address, and not a password that many people use. */
      newPassword: string;
    };
    output: Login;
  };
  /** Create an API key. Needs a login token. The key is shown once and cannot be read again. */
  'api_keys.create': {
    input: {
      /** Label for the key. */
      name: string;
      /** `*`, `resource:*` or `resource:action`. */
      permissions?: string[];
      expiresAt?: string | null;
    };
    output: NewApiKey;
  };
  /** List the API keys. Never the keys themselves. */
  'api_keys.list': {
    input: {
      /** Entries per page. */
      limit?: number;
      /** `nextCursor` of the page before. */
      cursor?: string;
    };
    output: {
      data: ApiKey[];
      /** Null on the last page. */
      nextCursor: string | null;
    };
  };
  /** Change an API key */
  'api_keys.update': {
    input: {
      /** Id of the key (`key_…`). */
      keyId: string;
      /** Label for the key. */
      name?: string;
      /** `*`, `resource:*` or `resource:action`. */
      permissions?: string[];
      expiresAt?: string | null;
    };
    output: ApiKey;
  };
  /** Replace an API key by a new one. Name, permissions and id stay; the old key stops working at once. */
  'api_keys.rotate': {
    input: {
      /** Id of the key (`key_…`). */
      keyId: string;
    };
    output: NewApiKey;
  };
  /** Revoke an API key */
  'api_keys.revoke': {
    input: {
      /** Id of the key (`key_…`). */
      keyId: string;
    };
    output: {
      /** Id of the key (`key_…`). */
      keyId: string;
      revoked: true;
    };
  };
  /** List the networks that a session can live on. The default one first. All of them: there are few. With them, how large a file the server takes. */
  'connectors.list': {
    input: Record<string, never>;
    output: {
      data: Connector[];
      /** How large a file may be that is uploaded, or fetched from a `url`. A network may take less. */
      mediaMaxBytes: number;
    };
  };
  /** List the sessions */
  'sessions.list': {
    input: {
      /** Entries per page. */
      limit?: number;
      /** `nextCursor` of the page before. */
      cursor?: string;
    };
    output: {
      data: Session[];
      /** Null on the last page. */
      nextCursor: string | null;
    };
  };
  /** Create a session. It is not connected yet: connect it next. */
  'sessions.create': {
    input: {
      name?: string;
      /** The network; the server has a default one. */
      connector?: string;
      /** The number to use, where the network lets one choose. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber?: string;
      /** The connector's own options. */
      options?: Record<string, unknown>;
      /** Your own labels: up to 50 strings by name. */
      metadata?: Record<string, string>;
    };
    output: Session;
  };
  /** Show a session */
  'sessions.get': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: Session;
  };
  /** Change the name, metadata or options of a session. Options take effect with the next connect. They replace those that are there; secrets among them that are left out stay. */
  'sessions.update': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      name?: string | null;
      /** Your own labels: up to 50 strings by name. */
      metadata?: Record<string, string>;
      /** The connector's own options. */
      options?: Record<string, unknown>;
    };
    output: Session;
  };
  /** Change the name, about text or picture that others see of a session's number. At least one of them. Not every network lets all of them be changed: `not_supported` says why, and then nothing is changed. */
  'sessions.update_profile': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** What the number calls itself. */
      name?: string;
      /** What it says of itself; empty for nothing. */
      about?: string;
      /** Id of an uploaded image; null removes the picture. */
      pictureMediaId?: string | null;
    };
    output: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      updated: true;
    };
  };
  /** Connect a session. Does nothing when it is connected. A status of `awaiting_pairing` means: show the QR or ask for a pairing code. */
  'sessions.connect': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: Session;
  };
  /** Show the QR code that links a device. With `Accept: image/png` as a picture. */
  'sessions.get_qr': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: {
      /** Text to show as a QR code. */
      qr: string;
      /** When the next one replaces it. */
      expiresAt: string;
    };
  };
  /** Ask for a code that links a device. Type it into the phone instead of scanning the QR code. */
  'sessions.request_pairing_code': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Number of the phone to link. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
    };
    output: {
      code: string;
      expiresAt: string;
    };
  };
  /** Disconnect a session. It keeps its credentials: to connect again nothing has to be linked. */
  'sessions.disconnect': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: Session;
  };
  /** Unlink the device of a session */
  'sessions.logout': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: Session;
  };
  /** List the status changes of a session, newest first */
  'sessions.history': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Entries per page. */
      limit?: number;
      /** `nextCursor` of the page before. */
      cursor?: string;
    };
    output: {
      data: {
        status: string;
        reason: string | null;
        at: string;
      }[];
      /** Null on the last page. */
      nextCursor: string | null;
    };
  };
  /** Delete a session with its chats and messages. Where it is connected it is logged out of its network first, as far as that answers within 5 s. Events that were emitted stay in the delivery log. */
  'sessions.delete': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      deleted: true;
    };
  };
  /** Play the other side of a sandbox session. `pair` scans the QR. `incoming` writes to the session: `from`, and `message`, `mediaId` with `type`, `location`, `contact` or `poll`; in a group with `groupId`, as an answer with `messageId`. `edit` (`messageId`, `message`), `delete` (`messageId`), `react` (`messageId`, `from`, `emoji`) and `vote` (`messageId`, `from`, `options`) do something with a message. `receipt` confirms one that was sent (`messageId`, `status`). `disconnect` cuts the connection (`reason`, `reconnectAfterMs`), `logout` unlinks the device. `group_create` (`from`, `subject`, `phoneNumbers`), `group_subject` (`groupId`, `subject`) and `group_leave` (`groupId`, `from`) act as another member. Outside of groups, nothing that a blocked contact does reaches the session. */
  'sessions.simulate': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      action:
        | 'pair'
        | 'incoming'
        | 'edit'
        | 'delete'
        | 'react'
        | 'vote'
        | 'receipt'
        | 'disconnect'
        | 'logout'
        | 'group_create'
        | 'group_subject'
        | 'group_leave';
      /** Who does it. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      from?: string;
      /** What it calls itself. */
      senderName?: string;
      message?: string;
      /** What `mediaId` is sent as. */
      type?: 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker';
      mediaId?: string;
      location?: {
        latitude: number;
        longitude: number;
        name?: string;
        address?: string;
      };
      contact?: {
        name: string;
        phoneNumbers: string[];
      };
      poll?: {
        options: string[];
        maxSelections: number;
      };
      options?: string[];
      /** Empty takes the reaction back. */
      emoji?: string;
      groupId?: string;
      messageId?: string;
      status?: 'delivered' | 'read' | 'failed';
      reason?: string;
      reconnectAfterMs?: number | null;
      subject?: string;
      phoneNumbers?: string[];
    };
    output: {
      simulated:
        | 'pair'
        | 'incoming'
        | 'edit'
        | 'delete'
        | 'react'
        | 'vote'
        | 'receipt'
        | 'disconnect'
        | 'logout'
        | 'group_create'
        | 'group_subject'
        | 'group_leave';
    };
  };
  /** Send a text message. Answers once the network has accepted the message: `status` is `sent`. `queued` means that the message is stored and goes out as soon as the node of its session sends it. Later changes of the status come by webhook. */
  'messages.send': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Phone number in international form (+, spaces and dashes are taken off), or the id of a group. */
      to: string;
      /** Id of the message it answers. */
      replyTo?: string;
      /** Send it at this time, given with its offset and up to a year ahead; a restart does not lose it. */
      sendAt?: string;
      /** A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe. */
      idempotencyKey?: string;
      /** Text of the message. */
      message: string;
      mentions?: string[];
    };
    output: Message;
  };
  /** Send an image, video, sound, document or sticker. The file is one that was uploaded (`mediaId`), or one behind an https `url`, which is fetched and kept first. */
  'messages.send_media': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Phone number in international form (+, spaces and dashes are taken off), or the id of a group. */
      to: string;
      /** Id of the message it answers. */
      replyTo?: string;
      /** Send it at this time, given with its offset and up to a year ahead; a restart does not lose it. */
      sendAt?: string;
      /** A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe. */
      idempotencyKey?: string;
      /** `voice` is a sound that plays as a voice message. */
      type: 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker';
      /** Id of an uploaded file (`med_…`). */
      mediaId?: string;
      /** https address of the file. */
      url?: string;
      /** Text beside it. */
      caption?: string;
      /** To show in place of its own. */
      fileName?: string;
      mentions?: string[];
    };
    output: Message;
  };
  /** Send a location */
  'messages.send_location': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Phone number in international form (+, spaces and dashes are taken off), or the id of a group. */
      to: string;
      /** Id of the message it answers. */
      replyTo?: string;
      /** Send it at this time, given with its offset and up to a year ahead; a restart does not lose it. */
      sendAt?: string;
      /** A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe. */
      idempotencyKey?: string;
      /** Degrees, WGS 84. */
      latitude: number;
      /** Degrees, WGS 84. */
      longitude: number;
      name?: string;
      address?: string;
    };
    output: Message;
  };
  /** Send a contact card */
  'messages.send_contact': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Phone number in international form (+, spaces and dashes are taken off), or the id of a group. */
      to: string;
      /** Id of the message it answers. */
      replyTo?: string;
      /** Send it at this time, given with its offset and up to a year ahead; a restart does not lose it. */
      sendAt?: string;
      /** A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe. */
      idempotencyKey?: string;
      name: string;
      phoneNumbers: string[];
    };
    output: Message;
  };
  /** Send a poll. The votes stand with the message: read it to see them. */
  'messages.send_poll': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Phone number in international form (+, spaces and dashes are taken off), or the id of a group. */
      to: string;
      /** Id of the message it answers. */
      replyTo?: string;
      /** Send it at this time, given with its offset and up to a year ahead; a restart does not lose it. */
      sendAt?: string;
      /** A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe. */
      idempotencyKey?: string;
      question: string;
      options: string[];
      /** How many options one person may choose. */
      maxSelections?: number;
    };
    output: Message;
  };
  /** Send a text to many recipients, one after the other. Every message is stored at once, as `scheduled`, so a restart loses none; they go out `intervalMs` apart. A recipient that cannot be sent to has an `error` in its result and holds up nobody. */
  'messages.send_bulk': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      to: string[];
      /** Text of the message. */
      message: string;
      /** Time between two messages. */
      intervalMs?: number;
      /** Send it at this time, given with its offset and up to a year ahead; a restart does not lose it. */
      sendAt?: string;
      /** A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe. */
      idempotencyKey?: string;
    };
    output: {
      accepted: number;
      refused: number;
      results: BulkResult[];
    };
  };
  /** List messages, newest first, or search them */
  'messages.list': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      chatId?: string;
      /** Phone number of the sender. */
      from?: string;
      direction?: 'incoming' | 'outgoing';
      type?:
        | 'text'
        | 'image'
        | 'video'
        | 'audio'
        | 'voice'
        | 'document'
        | 'sticker'
        | 'location'
        | 'contact'
        | 'poll'
        | 'template'
        | 'interactive';
      status?: 'queued' | 'scheduled' | 'sent' | 'delivered' | 'read' | 'failed';
      /** Only messages from this moment on. */
      after?: string;
      /** Only messages before this moment. */
      before?: string;
      /** Words that are all in the message; the last may be the beginning of one. Needs `messages:read`. */
      q?: string;
      /** Entries per page. */
      limit?: number;
      /** `nextCursor` of the page before. */
      cursor?: string;
    };
    output: {
      data: Message[];
      /** Null on the last page. */
      nextCursor: string | null;
    };
  };
  /** Count the messages of the last hour by minute */
  'messages.stats': {
    input: Record<string, never>;
    output: MessageStats;
  };
  /** Show a message and what it went through */
  'messages.get': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
    };
    output: MessageWithHistory;
  };
  /** React to a message with an emoji. One reaction per person: a new one replaces it, an empty one takes it back. */
  'messages.react': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** One emoji; empty takes it back. */
      emoji: string;
    };
    output: Message;
  };
  /** Change the text of a message that was sent. Only of an own message. Of media it changes the caption. */
  'messages.edit': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** The new text. */
      message: string;
    };
    output: Message;
  };
  /** Delete a message for everyone. Only an own message. It stays listed, without its text. */
  'messages.delete': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
    };
    output: Message;
  };
  /** Send a template. A text that the network has approved before, for networks that want one to begin a conversation with. `components` fills it in, in the form that the network gives them. */
  'messages.send_template': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Phone number in international form (+, spaces and dashes are taken off), or the id of a group. */
      to: string;
      /** Id of the message it answers. */
      replyTo?: string;
      /** Send it at this time, given with its offset and up to a year ahead; a restart does not lose it. */
      sendAt?: string;
      /** A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe. */
      idempotencyKey?: string;
      /** Name of the template. */
      name: string;
      /** Such as `en_US`. */
      language: string;
      components?: Record<string, unknown>[];
    };
    output: Message;
  };
  /** Send a text with buttons, a list or a link. One of `buttons`, `list` and `link`. Who chooses answers with a message whose text is the title and whose `payload` is the id. */
  'messages.send_interactive': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Phone number in international form (+, spaces and dashes are taken off), or the id of a group. */
      to: string;
      /** Id of the message it answers. */
      replyTo?: string;
      /** Send it at this time, given with its offset and up to a year ahead; a restart does not lose it. */
      sendAt?: string;
      /** A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe. */
      idempotencyKey?: string;
      /** The text above the choice. */
      message: string;
      header?: string;
      footer?: string;
      buttons?: {
        /** Comes back as the `payload` of the answer. */
        id: string;
        title: string;
      }[];
      list?: {
        /** What opens the list. */
        title: string;
        rows: {
          /** Comes back as the `payload` of the answer. */
          id: string;
          title: string;
          description?: string;
          /** Rows of one section stand together. */
          section?: string;
        }[];
      };
      link?: {
        title: string;
        url: string;
      };
    };
    output: Message;
  };
  /** Forward a message to another chat. It goes out through the session that has it, marked as forwarded. */
  'messages.forward': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** Phone number in international form (+, spaces and dashes are taken off), or the id of a group. */
      to: string;
      /** A request without an answer may still be carried out. Repeating it with the same key within 24 h is safe. */
      idempotencyKey?: string;
    };
    output: Message;
  };
  /** Take back a scheduled message. It stays listed, as `failed`. */
  'messages.cancel': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
    };
    output: Message;
  };
  /** List the chats of a session, the latest first */
  'chats.list': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Entries per page. */
      limit?: number;
      /** `nextCursor` of the page before. */
      cursor?: string;
    };
    output: {
      data: Chat[];
      /** Null on the last page. */
      nextCursor: string | null;
    };
  };
  /** Get a chat by its id */
  'chats.get': {
    input: {
      /** Phone number digits, or the id of the group. */
      chatId: string;
      /** Id of the session (`ses_…`). */
      sessionId?: string;
    };
    output: Chat;
  };
  /** Archive, pin or mute a chat. It says how the chat is shown here; the other side learns nothing of it. */
  'chats.update': {
    input: {
      /** Phone number digits, or the id of the group. */
      chatId: string;
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      archived?: boolean;
      pinned?: boolean;
      /** Null ends it. */
      mutedUntil?: string | null;
    };
    output: Chat;
  };
  /** Mark a chat read. The senders get read receipts. */
  'chats.mark_read': {
    input: {
      /** Phone number digits, or the id of the group. */
      chatId: string;
      /** Id of the session (`ses_…`). */
      sessionId?: string;
    };
    output: {
      /** Phone number digits, or the id of the group. */
      chatId: string;
      /** Messages that were unread. */
      read: number;
    };
  };
  /** Show that somebody is typing or recording. Networks take it back by themselves after some seconds. */
  'chats.set_typing': {
    input: {
      /** Phone number digits, or the id of the group. */
      chatId: string;
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      state: 'typing' | 'recording' | 'paused';
    };
    output: {
      /** Phone number digits, or the id of the group. */
      chatId: string;
      state: string;
    };
  };
  /** List the contacts of a session. Everybody who wrote to it, who was checked, and who was blocked, by number. */
  'contacts.list': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** A part of the name, or the beginning of the number. */
      q?: string;
      /** Only this one. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber?: string;
      /** Only those that are blocked, or are not. */
      blocked?: boolean;
      /** Entries per page. */
      limit?: number;
      /** `nextCursor` of the page before. */
      cursor?: string;
    };
    output: {
      data: Contact[];
      /** Null on the last page. */
      nextCursor: string | null;
    };
  };
  /** Check which phone numbers are on the network. What the network said is believed for a day; only the others are asked for. */
  'contacts.check': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      phoneNumbers: string[];
    };
    output: {
      data: {
        phoneNumber: string;
        onNetwork: boolean;
        checkedAt: string;
      }[];
    };
  };
  /** Block or unblock a contact. Messages that a blocked contact sends directly no longer reach the session, even after the contact is unblocked. The contact is not told. In groups, its messages still arrive. */
  'contacts.set_blocked': {
    input: {
      /** The contact. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      blocked: boolean;
    };
    output: Contact;
  };
  /** Show the profile of a contact. What the contact shows to the session now. The network is asked each time, and asking it often gets numbers banned. The picture becomes a file of the account; the same picture is the same file. */
  'contacts.profile': {
    input: {
      /** The contact. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
      /** Id of the session (`ses_…`). */
      sessionId?: string;
    };
    output: Profile;
  };
  /** Upload a file. The body is the file itself, of any type, or a form (`multipart/form-data`) with one file. The type is told from the content. Sending the same content again gives the media that is there already, under its first name, so a repeated upload does no harm. */
  'media.upload': {
    input: {
      /** Otherwise the one of `Content-Disposition`, or of the part of the form. */
      fileName?: string;
    };
    output: Media;
  };
  /** Show a file. What it is and where its content can be read. A picture of up to 4 MiB comes along, where it is asked for. */
  'media.get': {
    input: {
      /** Id of the media (`med_…`). */
      mediaId: string;
    };
    output: Media;
  };
  /** List the groups of a session */
  'groups.list': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Entries per page. */
      limit?: number;
      /** `nextCursor` of the page before. */
      cursor?: string;
    };
    output: {
      data: Group[];
      /** Null on the last page. */
      nextCursor: string | null;
    };
  };
  /** Show a group and its participants */
  'groups.get': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
    };
    output: Group;
  };
  /** Create a group */
  'groups.create': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** Name of the group. */
      subject: string;
      phoneNumbers: string[];
    };
    output: Group;
  };
  /** Change the subject, description, settings or picture of a group */
  'groups.update': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** Name of the group. */
      subject?: string;
      description?: string | null;
      settings?: {
        announce?: boolean;
        locked?: boolean;
        joinApproval?: boolean;
      };
      /** Id of an uploaded image; null removes the picture. */
      pictureMediaId?: string | null;
    };
    output: Group;
  };
  /** Add, remove, promote or demote participants of a group. Answers for each number on its own: some may work and others not. */
  'groups.update_participants': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      action: 'add' | 'remove' | 'promote' | 'demote';
      phoneNumbers: string[];
    };
    output: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      results: {
        phoneNumber: string;
        ok: boolean;
        reason?: string;
      }[];
    };
  };
  /** Show the invite link of a group. Only an admin of the group can see it. */
  'groups.get_invite_link': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
    };
    output: GroupInvite;
  };
  /** Replace the invite link of a group. The link there was leads nowhere any more; the answer has the new one. */
  'groups.revoke_invite_link': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
    };
    output: GroupInvite;
  };
  /** Join a group by its invite link */
  'groups.join': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId?: string;
      /** The invite link, or its code. */
      invite: string;
    };
    output: {
      /** `requested`: an admin has to let the session in. */
      status: 'joined' | 'requested';
      group: Group | null;
    };
  };
  /** Leave a group. Its chat stays readable. */
  'groups.leave': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
    };
    output: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      left: true;
    };
  };
  /** Set the webhook. Replaces URL and kinds. A `secret` that is left out stays as it is, `null` removes it. A new URL closes the circuit breaker; deliveries of kinds that are no longer wanted are cancelled. */
  'webhooks.set': {
    input: {
      /** Absolute http or https URL. */
      webhookUrl: string;
      /** Kinds to receive: message.incoming, message.sent, message.delivered, message.read, session.connected, session.disconnected, group.created, group.updated. */
      events: string[];
      /** Signs deliveries. Stored, never returned. `null` removes it. */
      secret?: string | null;
    };
    output: WebhookConfiguration;
  };
  /** Show the webhook */
  'webhooks.get': {
    input: Record<string, never>;
    output: WebhookConfiguration;
  };
  /** Send a test event now. One real, signed request, whatever the state of the breaker and outside the queue, with a sample in the shape of the kind, `data.test` true and the header `X-Webhook-Test: true`. Kept in the delivery log, out of the statistics. */
  'webhooks.test': {
    input: {
      /** Kind of the sample; the first subscribed one unless given. */
      event?: string;
    };
    output: WebhookTest;
  };
  /** Show the statistics of the webhook. Over 1 h, 24 h and 7 d, and minute by minute over the last hour. Tests are not counted. */
  'webhooks.stats': {
    input: Record<string, never>;
    output: WebhookStats;
  };
  /** Show the circuit breaker of the webhook */
  'webhooks.get_circuit_breaker': {
    input: Record<string, never>;
    output: CircuitBreaker;
  };
  /** Close the circuit breaker. What is held goes out in order, slowly at first. Doing it again changes nothing. */
  'webhooks.reset_circuit_breaker': {
    input: Record<string, never>;
    output: BreakerReset;
  };
  /** List deliveries, newest first */
  'webhooks.list_deliveries': {
    input: {
      webhookId?: string;
      state?: 'pending' | 'delivered' | 'failed' | 'expired' | 'cancelled';
      /** Only events of this kind. */
      event?: string;
      messageId?: string;
      /** Only what happened in the chat with this number. */
      phoneNumber?: string;
      /** Only events from this moment on. */
      after?: string;
      /** Only events before this moment. */
      before?: string;
      /** Entries per page. */
      limit?: number;
      /** `nextCursor` of the page before. */
      cursor?: string;
    };
    output: {
      data: Delivery[];
      /** Null on the last page. */
      nextCursor: string | null;
    };
  };
  /** Show a delivery, every attempt of it, and why it has not arrived */
  'webhooks.get_delivery': {
    input: {
      /** Id of the delivery (`dlv_…`). */
      deliveryId: string;
    };
    output: DeliveryWithAttempts;
  };
  /** Send deliveries again. Either `deliveryIds`, or all of a range of time by `from` and `to`, of some kinds, in some states (those that failed or expired, unless given). They go out with the same `X-Webhook-Id`, spread out by `perSecond`. With `dryRun` they are only counted. */
  'webhooks.replay': {
    input: {
      deliveryIds?: string[];
      from?: string;
      to?: string;
      kinds?: string[];
      states?: ('delivered' | 'failed' | 'expired' | 'cancelled')[];
      webhookId?: string;
      dryRun?: boolean;
      perSecond?: number;
    };
    output: {
      /** Deliveries that fit and have ended. */
      matched: number;
      /** Of these, those that go out again; 0 on a dry run. */
      replayed: number;
      /** When the last of them is due. */
      lastDueAt: string | null;
    };
  };
  /** Replace the secret of the webhook. For a while `webhook-signature` carries the signatures of both secrets; `X-Webhook-Signature` is by the new one at once. */
  'webhooks.rotate_secret': {
    input: {
      /** The new secret, of 16 characters or more. It is never returned. */
      secret: string;
      /** How long `webhook-signature` carries the old signature as well. */
      graceSeconds?: number;
    };
    output: SecretRotation;
  };
  /** Remove the webhook. What is pending is cancelled and stays in the delivery log. After the answer nothing more is sent there. */
  'webhooks.delete': {
    input: Record<string, never>;
    output: {
      /** False when none was set. */
      deleted: boolean;
    };
  };
  /** List the webhooks */
  'webhooks.endpoints.list': {
    input: {
      /** Entries per page. */
      limit?: number;
      /** `nextCursor` of the page before. */
      cursor?: string;
    };
    output: {
      data: WebhookEndpoint[];
      /** Null on the last page. */
      nextCursor: string | null;
    };
  };
  /** Add a webhook */
  'webhooks.endpoints.create': {
    input: {
      /** Absolute http or https URL. */
      webhookUrl: string;
      /** Kinds to receive: message.incoming, message.sent, message.delivered, message.read, session.connected, session.disconnected, group.created, group.updated. */
      events: string[];
      /** Signs deliveries. Stored, never returned. `null` removes it. */
      secret?: string | null;
      enabled?: boolean;
      /** Deliveries in flight at a time; 8 unless set. */
      maxInFlight?: number;
    };
    output: WebhookEndpoint;
  };
  /** Show a webhook */
  'webhooks.endpoints.get': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: WebhookEndpoint;
  };
  /** Change a webhook. While `enabled` is false nothing is sent, and new events are not queued for it. */
  'webhooks.endpoints.update': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
      /** Absolute http or https URL. */
      webhookUrl?: string;
      /** Kinds to receive: message.incoming, message.sent, message.delivered, message.read, session.connected, session.disconnected, group.created, group.updated. */
      events?: string[];
      /** Signs deliveries. Stored, never returned. `null` removes it. */
      secret?: string | null;
      enabled?: boolean;
      /** Deliveries in flight at a time; 8 unless set. */
      maxInFlight?: number;
    };
    output: WebhookEndpoint;
  };
  /** Remove a webhook. What is pending is cancelled and stays in the delivery log. After the answer nothing more is sent there. */
  'webhooks.endpoints.delete': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
      deleted: true;
    };
  };
  /** Replace the secret of a webhook */
  'webhooks.endpoints.rotate_secret': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
      /** The new secret, of 16 characters or more. It is never returned. */
      secret: string;
      /** How long `webhook-signature` carries the old signature as well. */
      graceSeconds?: number;
    };
    output: SecretRotation;
  };
  /** Send a test event to a webhook now */
  'webhooks.endpoints.test': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
      /** Kind of the sample; the first subscribed one unless given. */
      event?: string;
    };
    output: WebhookTest;
  };
  /** Show the statistics of a webhook */
  'webhooks.endpoints.stats': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: WebhookStats;
  };
  /** Show the circuit breaker of a webhook */
  'webhooks.endpoints.get_circuit_breaker': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: CircuitBreaker;
  };
  /** Close the circuit breaker of a webhook */
  'webhooks.endpoints.reset_circuit_breaker': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: BreakerReset;
  };
  /** Read the event log, oldest first. What a webhook would have been sent, without a webhook. Go on with `after` = `nextCursor`; with `wait` the answer is held back until there is something new. */
  'events.list': {
    input: {
      /** `nextCursor` of the answer before; without it the log from its beginning. */
      after?: string;
      /** Only events of these kinds. */
      kinds?: string[];
      limit?: number;
      /** Seconds to wait for an event when there is none. */
      wait?: number;
    };
    output: {
      data: {
        /** The same as `X-Webhook-Id`. */
        eventId: string;
        event:
          | 'message.incoming'
          | 'message.sent'
          | 'message.delivered'
          | 'message.read'
          | 'session.connected'
          | 'session.disconnected'
          | 'group.created'
          | 'group.updated';
        /** As in a delivery of this kind. */
        data: Record<string, unknown>;
        createdAt: string;
      }[];
      /** Where to go on, also from an empty answer; null while there has never been an event. */
      nextCursor: string | null;
    };
  };
}

/** What each kind of event tells. */
export interface EventData {
  'message.incoming': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number of the sender, or what stands in for it: see `unidentified`. */
    from: string;
    /** Text of the message, or the caption of its media. */
    message: string;
    /** When the sender sent it. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the group id, or the id of who keeps its phone number secret. */
    chatId?: string;
    /** Phone number of the receiving session. */
    to?: string;
    /** `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** The group it was written in. */
    groupId?: string;
    /** Id of the message it answers. */
    replyTo?: string;
    /** The sender hides the number: `from` stands in for it, and can be written to. */
    unidentified?: true;
    /** It came while the session was away and waited at the network. */
    replayed?: true;
    media?: {
      /** Id of the media (`med_…`). */
      mediaId: string;
      mimeType: string;
      /** Bytes. */
      size: number;
      fileName: string | null;
      /** Where the content is; it takes an API key with `media:read`. */
      url: string;
    };
    location?: {
      latitude: number;
      longitude: number;
      name?: string;
      address?: string;
    };
    contact?: {
      name: string;
      phoneNumbers: string[];
    };
    poll?: {
      options: string[];
      /** How many options one person may choose. */
      maxSelections: number;
    };
    template?: {
      name: string;
      language: string;
      components: unknown[];
    };
    /** What there is to choose from, as it was sent. */
    interactive?: Record<string, unknown>;
    mentions?: string[];
    forwarded?: true;
    /** What the button or list entry carries that was chosen. */
    payload?: string;
    /** There on the sample that a test sends. */
    test?: true;
  };
  'message.sent': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the recipient, or the group id. */
    to: string;
    /** `sent`, `delivered` or `read`. */
    status: string;
    /** When the status was reached. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the group id, or the id of who keeps its phone number secret. */
    chatId?: string;
    /** Phone number of the sending session. */
    from?: string;
    /** The group it was written in. */
    groupId?: string;
    /** `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** There on the sample that a test sends. */
    test?: true;
    /** Written on the phone itself, or a device linked to it. */
    sentElsewhere?: true;
    /** Only of one that was sent elsewhere, as all that follows: what it says. */
    message?: string;
    /** Id of the message it answers. */
    replyTo?: string;
    /** It came while the session was away and waited at the network. */
    replayed?: true;
    media?: {
      /** Id of the media (`med_…`). */
      mediaId: string;
      mimeType: string;
      /** Bytes. */
      size: number;
      fileName: string | null;
      /** Where the content is; it takes an API key with `media:read`. */
      url: string;
    };
    location?: {
      latitude: number;
      longitude: number;
      name?: string;
      address?: string;
    };
    contact?: {
      name: string;
      phoneNumbers: string[];
    };
    poll?: {
      options: string[];
      /** How many options one person may choose. */
      maxSelections: number;
    };
    template?: {
      name: string;
      language: string;
      components: unknown[];
    };
    /** What there is to choose from, as it was sent. */
    interactive?: Record<string, unknown>;
    mentions?: string[];
    forwarded?: true;
    /** What the button or list entry carries that was chosen. */
    payload?: string;
  };
  'message.delivered': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the recipient, or the group id. */
    to: string;
    /** `sent`, `delivered` or `read`. */
    status: string;
    /** When the status was reached. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the group id, or the id of who keeps its phone number secret. */
    chatId?: string;
    /** Phone number of the sending session. */
    from?: string;
    /** The group it was written in. */
    groupId?: string;
    /** `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** There on the sample that a test sends. */
    test?: true;
  };
  'message.read': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the recipient, or the group id. */
    to: string;
    /** `sent`, `delivered` or `read`. */
    status: string;
    /** When the status was reached. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the group id, or the id of who keeps its phone number secret. */
    chatId?: string;
    /** Phone number of the sending session. */
    from?: string;
    /** The group it was written in. */
    groupId?: string;
    /** `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** There on the sample that a test sends. */
    test?: true;
  };
  'session.connected': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number of the session. */
    phoneNumber: string;
    /** Since when it is connected. */
    connectedAt: string;
    /** There on the sample that a test sends. */
    test?: true;
  };
  'session.disconnected': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number of the session. */
    phoneNumber: string;
    /** Why, in words. */
    reason: string;
    /** Whether the session comes back by itself. */
    willReconnect: boolean;
    /** Since when it is disconnected. */
    disconnectedAt: string;
    /** There on the sample that a test sends. */
    test?: true;
  };
  'group.created': {
    groupId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Name of the group. */
    subject: string;
    participants: {
      /** Phone number digits. */
      phoneNumber: string;
      role: 'member' | 'admin' | 'owner';
    }[];
    /** Phone number of the member who created it. */
    createdBy: string;
    /** When it was created. */
    timestamp: string;
    /** There on the sample that a test sends. */
    test?: true;
  };
  'group.updated': {
    groupId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Name of the group after the change. */
    subject: string;
    change: {
      type: 'subject' | 'description' | 'settings' | 'participants' | 'picture' | 'invite_link';
      subject?: string;
      description?: string | null;
      settings?: {
        announce?: boolean;
        locked?: boolean;
        joinApproval?: boolean;
      };
      /** What happened to the participants. */
      action?: 'add' | 'remove' | 'promote' | 'demote';
      phoneNumbers?: string[];
    };
    /** When it changed. */
    timestamp: string;
    /** There on the sample that a test sends. */
    test?: true;
  };
}

/** Why a request was refused. */
export type ErrorCode =
  | 'validation_failed'
  | 'invalid_json'
  | 'unauthorized'
  | 'invalid_credentials'
  | 'jwt_required'
  | 'permission_denied'
  | 'network_denied'
  | 'permission_not_grantable'
  | 'registration_closed'
  | 'not_found'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'email_taken'
  | 'phone_number_in_use'
  | 'session_not_connected'
  | 'session_state'
  | 'message_state'
  | 'session_required'
  | 'idempotency_in_flight'
  | 'idempotency_mismatch'
  | 'too_many'
  | 'webhook_not_set'
  | 'not_supported'
  | 'recipient_not_on_network'
  | 'session_unavailable'
  | 'template_required'
  | 'send_failed'
  | 'fetch_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'misdirected_request'
  | 'rate_limited'
  | 'internal_error'
  | 'storage_unavailable'
  | 'too_busy'
  | 'shutting_down';

/** Where each operation is found. */
export const routes = {
  'auth.register': { method: 'POST', path: '/auth/register', isRead: false, idempotent: false, takesContent: false },
  'auth.login': { method: 'POST', path: '/auth/login', isRead: false, idempotent: false, takesContent: false },
  'auth.forget_login': {
    method: 'POST',
    path: '/auth/forget-login',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'auth.logout': { method: 'POST', path: '/auth/logout', isRead: false, idempotent: false, takesContent: false },
  'auth.me': { method: 'GET', path: '/auth/me', isRead: true, idempotent: false, takesContent: false },
  'auth.change_password': {
    method: 'POST',
    path: '/auth/password',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'api_keys.create': {
    method: 'POST',
    path: '/api-keys/create',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'api_keys.list': { method: 'GET', path: '/api-keys', isRead: true, idempotent: false, takesContent: false },
  'api_keys.update': {
    method: 'PATCH',
    path: '/api-keys/{keyId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'api_keys.rotate': {
    method: 'POST',
    path: '/api-keys/{keyId}/rotate',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'api_keys.revoke': {
    method: 'DELETE',
    path: '/api-keys/{keyId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'connectors.list': { method: 'GET', path: '/connectors', isRead: true, idempotent: false, takesContent: false },
  'sessions.list': { method: 'GET', path: '/sessions', isRead: true, idempotent: false, takesContent: false },
  'sessions.create': { method: 'POST', path: '/sessions', isRead: false, idempotent: true, takesContent: false },
  'sessions.get': {
    method: 'GET',
    path: '/sessions/{sessionId}',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'sessions.update': {
    method: 'PATCH',
    path: '/sessions/{sessionId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'sessions.update_profile': {
    method: 'PATCH',
    path: '/sessions/{sessionId}/profile',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'sessions.connect': {
    method: 'POST',
    path: '/sessions/{sessionId}/connect',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'sessions.get_qr': {
    method: 'GET',
    path: '/sessions/{sessionId}/qr',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'sessions.request_pairing_code': {
    method: 'POST',
    path: '/sessions/{sessionId}/pairing-code',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'sessions.disconnect': {
    method: 'POST',
    path: '/sessions/{sessionId}/disconnect',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'sessions.logout': {
    method: 'POST',
    path: '/sessions/{sessionId}/logout',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'sessions.history': {
    method: 'GET',
    path: '/sessions/{sessionId}/history',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'sessions.delete': {
    method: 'DELETE',
    path: '/sessions/{sessionId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'sessions.simulate': {
    method: 'POST',
    path: '/sessions/{sessionId}/simulate',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.send': { method: 'POST', path: '/messages/send', isRead: false, idempotent: true, takesContent: false },
  'messages.send_media': {
    method: 'POST',
    path: '/messages/send-media',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'messages.send_location': {
    method: 'POST',
    path: '/messages/send-location',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'messages.send_contact': {
    method: 'POST',
    path: '/messages/send-contact',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'messages.send_poll': {
    method: 'POST',
    path: '/messages/send-poll',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'messages.send_bulk': {
    method: 'POST',
    path: '/messages/send-bulk',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'messages.list': { method: 'GET', path: '/messages', isRead: true, idempotent: false, takesContent: false },
  'messages.stats': { method: 'GET', path: '/messages/stats', isRead: true, idempotent: false, takesContent: false },
  'messages.get': {
    method: 'GET',
    path: '/messages/{messageId}',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'messages.react': {
    method: 'PUT',
    path: '/messages/{messageId}/reaction',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.edit': {
    method: 'PATCH',
    path: '/messages/{messageId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.delete': {
    method: 'DELETE',
    path: '/messages/{messageId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.send_template': {
    method: 'POST',
    path: '/messages/send-template',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'messages.send_interactive': {
    method: 'POST',
    path: '/messages/send-interactive',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'messages.forward': {
    method: 'POST',
    path: '/messages/{messageId}/forward',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'messages.cancel': {
    method: 'POST',
    path: '/messages/{messageId}/cancel',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'chats.list': { method: 'GET', path: '/chats', isRead: true, idempotent: false, takesContent: false },
  'chats.get': { method: 'GET', path: '/chats/{chatId}', isRead: true, idempotent: false, takesContent: false },
  'chats.update': { method: 'PATCH', path: '/chats/{chatId}', isRead: false, idempotent: false, takesContent: false },
  'chats.mark_read': {
    method: 'POST',
    path: '/chats/{chatId}/read',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'chats.set_typing': {
    method: 'POST',
    path: '/chats/{chatId}/typing',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'contacts.list': { method: 'GET', path: '/contacts', isRead: true, idempotent: false, takesContent: false },
  'contacts.check': { method: 'GET', path: '/contacts/check', isRead: true, idempotent: false, takesContent: false },
  'contacts.set_blocked': {
    method: 'PUT',
    path: '/contacts/{phoneNumber}/blocked',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'contacts.profile': {
    method: 'GET',
    path: '/contacts/{phoneNumber}/profile',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'media.upload': { method: 'POST', path: '/media', isRead: false, idempotent: false, takesContent: true },
  'media.get': { method: 'GET', path: '/media/{mediaId}', isRead: true, idempotent: false, takesContent: false },
  'groups.list': { method: 'GET', path: '/groups', isRead: true, idempotent: false, takesContent: false },
  'groups.get': { method: 'GET', path: '/groups/{groupId}', isRead: true, idempotent: false, takesContent: false },
  'groups.create': { method: 'POST', path: '/groups', isRead: false, idempotent: true, takesContent: false },
  'groups.update': {
    method: 'PATCH',
    path: '/groups/{groupId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'groups.update_participants': {
    method: 'POST',
    path: '/groups/{groupId}/participants',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'groups.get_invite_link': {
    method: 'GET',
    path: '/groups/{groupId}/invite-link',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'groups.revoke_invite_link': {
    method: 'DELETE',
    path: '/groups/{groupId}/invite-link',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'groups.join': { method: 'POST', path: '/groups/join', isRead: false, idempotent: false, takesContent: false },
  'groups.leave': {
    method: 'POST',
    path: '/groups/{groupId}/leave',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.set': { method: 'POST', path: '/webhooks/set', isRead: false, idempotent: false, takesContent: false },
  'webhooks.get': { method: 'GET', path: '/webhooks', isRead: true, idempotent: false, takesContent: false },
  'webhooks.test': { method: 'GET', path: '/webhooks/test', isRead: false, idempotent: false, takesContent: false },
  'webhooks.stats': { method: 'GET', path: '/webhooks/stats', isRead: true, idempotent: false, takesContent: false },
  'webhooks.get_circuit_breaker': {
    method: 'GET',
    path: '/webhooks/circuit-breaker',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.reset_circuit_breaker': {
    method: 'POST',
    path: '/webhooks/circuit-breaker/reset',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.list_deliveries': {
    method: 'GET',
    path: '/webhooks/deliveries',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.get_delivery': {
    method: 'GET',
    path: '/webhooks/deliveries/{deliveryId}',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.replay': {
    method: 'POST',
    path: '/webhooks/replay',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.rotate_secret': {
    method: 'POST',
    path: '/webhooks/secret/rotate',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.delete': { method: 'DELETE', path: '/webhooks', isRead: false, idempotent: false, takesContent: false },
  'webhooks.endpoints.list': {
    method: 'GET',
    path: '/webhooks/endpoints',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.endpoints.create': {
    method: 'POST',
    path: '/webhooks/endpoints',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'webhooks.endpoints.get': {
    method: 'GET',
    path: '/webhooks/endpoints/{webhookId}',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.endpoints.update': {
    method: 'PATCH',
    path: '/webhooks/endpoints/{webhookId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.endpoints.delete': {
    method: 'DELETE',
    path: '/webhooks/endpoints/{webhookId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.endpoints.rotate_secret': {
    method: 'POST',
    path: '/webhooks/endpoints/{webhookId}/secret/rotate',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.endpoints.test': {
    method: 'GET',
    path: '/webhooks/endpoints/{webhookId}/test',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.endpoints.stats': {
    method: 'GET',
    path: '/webhooks/endpoints/{webhookId}/stats',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.endpoints.get_circuit_breaker': {
    method: 'GET',
    path: '/webhooks/endpoints/{webhookId}/circuit-breaker',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.endpoints.reset_circuit_breaker': {
    method: 'POST',
    path: '/webhooks/endpoints/{webhookId}/circuit-breaker/reset',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'events.list': { method: 'GET', path: '/events', isRead: true, idempotent: false, takesContent: false },
} as const;
