import type { Generated, Selectable } from 'kysely';
import type { BatchStatus, PREPARING } from '../events/batchEvents.ts';
import type { EventKind } from '../events/events.ts';
import type { MessageType } from '../events/networkTypes.ts';

/**
 * The tables. Times are integer milliseconds since the Unix epoch, booleans 0 or 1, lists and objects JSON text: the
 * same on SQLite and PostgreSQL.
 *
 * Glossary
 * - account: a registered user, who owns everything below. Every query on its data filters by `account_id` first.
 * - session: one phone number on one network, reached through a connector.
 * - chat: a conversation of a session, with a number or a group. `chat_id` is the number's digits or the group's id.
 * - message: one message of a chat. `network_id` is the network's id of it.
 * - event: something that happened, of one of the event types. Its body is stored exactly as it is sent.
 * - webhook: a URL, or a place at a message broker, that subscribes to event types.
 * - delivery: one event for one webhook; an attempt sends it once, over HTTP or to a broker.
 * - conversation: the unit of order in deliveries: a chat of a session, or the session itself.
 */
export interface Schema {
  accounts: {
    account_id: string;
    email: string;
    name: string | null;
    /** Argon2id in PHC format. */
    password_hash: string;
    /** Part of every login token; incrementing it revokes them all. */
    token_version: number;
    created_at: number;
    /** Part of the key that signs the account's links; null until the first rotation. */
    link_salt: string | null;
  };
  api_keys: {
    account_id: string;
    key_id: string;
    name: string;
    /** JSON list of permissions. */
    permissions: string;
    /** SHA-256 of the whole key, in hexadecimal. The key itself is not stored. */
    key_hash: string;
    created_at: number;
    last_used_at: number | null;
    expires_at: number | null;
    /** JSON list of the sessions that the key may use; null for all. */
    session_ids: string | null;
    /** JSON list of the networks (CIDR) that may use the key; null for all. */
    allowed_ips: string | null;
    /** JSON list of the recipients, or patterns of them, to whom the key may send; null for all. */
    allowed_recipients: string | null;
    /** Messages that the key may send per day (UTC); null for any number. */
    send_quota: number | null;
    /** The OAuth client id of a connected app; null for a key. An app has no usable `key_hash`. */
    oauth_client_id: string | null;
    /** JSON of the app's `ConnectedApp`; null for a key. */
    oauth_client: string | null;
    /** JSON list of the kinds of calls (`ConfirmedCalls`) before which the key asks its user; null for none. */
    confirm: string | null;
    /** 1 if its messages wait for approval; null if not. */
    requires_approval: 1 | null;
  };
  /** How many messages a key with a quota has sent on a day. */
  key_sends: {
    key_id: string;
    /** Days since the epoch (UTC). */
    day: number;
    sends: number;
  };
  /** Confirmations by users that were used, until they would expire anyway: each is good for one call. */
  used_confirmations: {
    account_id: string;
    confirmation_id: string;
    expires_at: number;
  };
  /** The MCP tool calls of API keys. Those of a revoked key stay until they are too old. */
  tool_calls: {
    account_id: string;
    call_id: string;
    key_id: string;
    tool: string;
    /** JSON of the arguments without texts; `invoke/toolCallArguments.ts` says what is kept. */
    arguments: string;
    /** `ok`, or the code of the error. */
    outcome: string;
    duration_ms: number;
    /** Name and version of the client, which nothing verifies; null if the request has none. */
    client_name: string | null;
    client_version: string | null;
    request_id: string;
    created_at: number;
  };
  /** Files that a key of some sessions has added itself, and that no message of its sessions need contain. */
  key_media: {
    account_id: string;
    key_id: string;
    media_id: string;
  };
  /** The memory of the OAuth server: codes, tokens, requests of apps and registered clients. */
  oauth_records: {
    model: OAuthModel;
    /** SHA-256 of the code, token or id, in base64url: what is stored cannot be used. */
    record_id: string;
    /** The API key that stands for the app; null before a person has connected it. */
    key_id: string | null;
    /** JSON without the code, token or id. */
    payload: string;
    created_at: number;
    expires_at: number;
    consumed_at: number | null;
  };
  sessions: {
    account_id: string;
    session_id: string;
    name: string | null;
    connector: string;
    phone_number: string | null;
    status: SessionStatus;
    /** 1 if the session reconnects by itself after a restart or an outage. */
    wanted: number;
    connected_at: number | null;
    /** When the outage began for which `session.disconnected` was emitted; null outside an outage. */
    disconnected_at: number | null;
    /** 1 if the account was told that the session reconnects by itself. */
    will_reconnect: number;
    last_event_at: number | null;
    error: string | null;
    options: string;
    metadata: string;
    created_at: number;
    /** JSON of its `HistoryState`; null if the network never had a history for it. */
    history: string | null;
    /** `node_id` of the owner; null if there is none. */
    lease_owner: string | null;
    /** Incremented each time a node acquires it. */
    lease_generation: number;
    /** JSON of the number's `StoredNumberState`; null until its network has reported one. */
    number_state: string | null;
    /** API key that set the text for callers (`calls.message`); null for a login, and without a text. */
    call_text_key: string | null;
    /** Time at which its deletion began; null for a session that stays. */
    deleting_at: number | null;
  };
  /** Deletions that take many transactions and are not complete. */
  deletions: {
    /** Id of the session or webhook; for a chat, `sessionId/chatId`. */
    resource_id: string;
    account_id: string;
    kind: DeletionKind;
    /** JSON; the handler of the kind owns its shape. */
    details: string;
    created_at: number;
    /** Time until which a node works on it, or until which it waits after a failure, by the database's clock. */
    worked_until: number;
  };
  /** The last reports about templates, so that a repeated one emits no event. */
  template_states: {
    session_id: string;
    template_id: string;
    account_id: string;
    /** JSON of the last `status`, `category`, `quality` and `reason`. */
    state: string;
    updated_at: number;
  };
  /** Receipts of messages that are not stored yet. */
  early_receipts: {
    session_id: string;
    network_id: string;
    status: string;
    account_id: string;
    /** JSON of the receipt. */
    receipt: string;
    created_at: number;
  };
  /** Changes of messages that are not stored yet. */
  early_changes: {
    session_id: string;
    /** The network's id of the message. */
    network_id: string;
    kind:
      | 'edited'
      | 'deleted'
      | 'reaction'
      | 'vote'
      | 'event_answer'
      | 'message_pinned'
      | 'better_media'
      | 'live_photo';
    /** Digits of the person who changed the message. */
    from_number: string;
    account_id: string;
    /** JSON of the report, without the columns. */
    report: string;
    /** Time of the change in ms. */
    at: number;
    created_at: number;
  };
  /** Group members who received what the session sent. */
  message_receipts: {
    message_id: string;
    /** Digits of the member. */
    phone_number: string;
    account_id: string;
    session_id: string;
    /** Id of the group. */
    chat_id: string;
    delivered_at: number;
    read_at: number | null;
  };
  /** Placeholders that were deleted for the session. Their messages do not arrive as new ones. */
  removed_placeholders: {
    session_id: string;
    network_id: string;
    /** Digits of the sender. */
    from_number: string;
    account_id: string;
    created_at: number;
  };
  /** The network's ids of files that were added to a message, such as its HD file. */
  added_files: {
    session_id: string;
    network_id: string;
    message_id: string;
    account_id: string;
    /** Time in ms at which the sender replaced the message's file by this one; null if it did not replace it. */
    replaced_at: number | null;
  };
  /** The ads and posts that led to a chat, even if the messages with them are deleted. */
  chat_ads: {
    session_id: string;
    chat_id: string;
    /** The network's id of the ad; empty if unknown. */
    ad_id: string;
    account_id: string;
  };
  /** Which sessions the calls of a network concern, by the network's ids of their numbers and accounts. */
  callback_keys: {
    session_id: string;
    callback_key: string;
    account_id: string;
    connector: string;
  };
  session_history: {
    account_id: string;
    session_id: string;
    entry_id: string;
    status: SessionStatus;
    reason: string | null;
    at: number;
  };
  /** Data that a connector keeps for a session: credentials, pairing state, protocol keys. */
  session_store: {
    session_id: string;
    key: string;
    value: string;
  };
  /** How likely a network is to ban the number of a session, once it was connected. */
  session_health: {
    account_id: string;
    session_id: string;
    phone_number: string;
    /** When the session connected with this number for the first time. */
    linked_at: number;
    risk: RiskLevel;
    /** JSON list of its `RiskReason`s. */
    reasons: string;
    /** JSON of the network's own `NetworkStanding`; null if it never reported one. */
    standing: string | null;
  };
  /** Counters of a session for ten minutes. Without a row, it did nothing. */
  session_activity: {
    account_id: string;
    session_id: string;
    /** Start of the ten minutes. */
    at: number;
    sent: number;
    /** Messages that failed, those to unreachable numbers included. */
    failed: number;
    /** Messages to numbers that are not on the network. */
    unreachable: number;
    /** The most messages that were sent in one minute. */
    peak: number;
    /** Numbers that preflights had the network check. */
    look_ups: number;
    /** Warnings of the network; see `NetworkWarning`. */
    block_reports: number;
    spam_limits: number;
    restrictions: number;
    /** Chats that the session started in the ten minutes, and those among them that have been answered since. */
    new_chats: number;
    answered_chats: number;
    /** Received messages that could not be decrypted after all retries. */
    unreadable: number;
  };
  /** Direct chats that the session started. */
  started_chats: {
    account_id: string;
    session_id: string;
    chat_id: string;
    started_at: number;
    /** When the other side first wrote; null if it never did. */
    answered_at: number | null;
  };
  chats: {
    account_id: string;
    session_id: string;
    chat_id: string;
    type: 'direct' | 'group';
    last_message_id: string | null;
    last_message_at: number | null;
    unread_count: number;
    archived: number;
    pinned: number;
    muted_until: number | null;
    /** 1 if its owner marked it as unread, whatever its messages are. */
    marked_unread: Generated<number>;
    /** After how many seconds its new messages disappear; null if they stay. */
    disappearing_seconds: number | null;
    /** Time of the last change of that timer that the network reported. */
    disappearing_changed_at: Generated<number | null>;
    /** JSON, as the account set it. */
    metadata: Generated<string>;
  };
  /** Up to when a chat was cleared or deleted: history that arrives later does not bring its messages back. */
  cleared_chats: {
    account_id: string;
    session_id: string;
    chat_id: string;
    cleared_at: number;
  };
  labels: {
    account_id: string;
    session_id: string;
    label_id: string;
    /** The network's id of it. */
    network_id: string;
    name: string;
    /** Index into the palette of the network. */
    color: number;
    created_at: number;
  };
  /** The network may report a label of a chat before the chat has a message. */
  chat_labels: {
    account_id: string;
    session_id: string;
    chat_id: string;
    label_id: string;
  };
  message_labels: {
    account_id: string;
    message_id: string;
    label_id: string;
  };
  messages: {
    /** Assigned by the database; the search index refers to messages by it. */
    seq: Generated<number>;
    account_id: string;
    message_id: string;
    session_id: string;
    chat_id: string;
    network_id: string;
    direction: 'incoming' | 'outgoing';
    type: MessageType;
    from_number: string;
    /** Phone number digits, or the group's id. */
    to_id: string;
    body: string;
    /** JSON of everything besides the text: media, location, contact, poll, mentions. */
    content: string | null;
    reply_to: string | null;
    status: MessageStatus;
    error: string | null;
    /** Code of that error in the table `errors`; null if it has none. */
    error_code: string | null;
    /** The network's id of the ad in its referral; empty if the network gave none, null without a referral. */
    ad_id: string | null;
    /** When the sender sent it. */
    timestamp: number;
    created_at: number;
    scheduled_at: number | null;
    sent_at: number | null;
    delivered_at: number | null;
    read_at: number | null;
    failed_at: number | null;
    edited_at: number | null;
    deleted_at: number | null;
    /** 1 if the session's own number sent it from another device; null for all others. */
    sent_elsewhere: number | null;
    /** JSON of its `Approval`; null for a message that needed none. */
    approval: string | null;
    /** `history` if it is from before the session was linked; null for all others. */
    origin: 'history' | null;
    /** The network's id of the message that a message from the history replies to. */
    reply_network_id: string | null;
    /** The connector's reference to the file that is still at the network, sealed. */
    file_reference: string | null;
    /** After how many seconds since `timestamp` it disappears on phones; null if it stays. */
    expires_in: number | null;
    starred_at: number | null;
    /** Until when it is pinned in its chat; null if it is not. */
    pinned_until: number | null;
    /** Time of the last change of the pin that the network reported. */
    pin_changed_at: number | null;
    /** JSON of its `Pricing`; null if the network has not reported one. */
    pricing: string | null;
    /**
     * Place among the messages of its chat that wait to be sent, if it was queued later than stored: after its time,
     * or once approved. Null for all others, whose place follows from `seq` (see `messages/sendOrder.ts`).
     */
    turn: Generated<number | null>;
    /** API key that sent or scheduled it; null for a login, and for messages that came from the network. */
    key_id: string | null;
  };
  /** The search words of a message. One of them is its account. */
  message_words: {
    /** `seq` of the message. */
    rowid: number;
    words: string;
  };
  /** The same with the number of its bucket in front of each word (SQLite only). */
  bucketed_words: Schema['message_words'];
  reactions: {
    account_id: string;
    message_id: string;
    from_number: string;
    emoji: string;
    at: number;
  };
  poll_votes: {
    account_id: string;
    message_id: string;
    from_number: string;
    /** JSON list of the options that were chosen. */
    options: string;
    at: number;
  };
  contacts: {
    account_id: string;
    session_id: string;
    phone_number: string;
    /** The name that the person chose. */
    name: string | null;
    /** The name in the address book of the account. */
    saved_name: string | null;
    blocked: number;
    /** 1, 0, or null if it was never checked. */
    on_network: number | null;
    checked_at: number | null;
    /** The network's id of the person, such as a business-scoped user id of Meta. */
    user_id: string | null;
    /** The public name that the person chose on the network. */
    user_name: string | null;
  };
  /** Numbers that a network uses although no numbering plan has them, as far as the account was shown them. */
  network_numbers: {
    account_id: string;
    phone_number: string;
    noted_at: number;
  };
  groups: {
    account_id: string;
    session_id: string;
    group_id: string;
    /** The network's id of the group; several sessions can be in the same group. */
    network_id: string;
    subject: string;
    description: string | null;
    created_by: string;
    announce: number;
    locked: number;
    join_approval: number;
    /** Null if the network has not reported it. */
    member_add: 'admins' | 'all' | null;
    /** 0 if messages stay; null if the network has not reported it. */
    disappearing_seconds: number | null;
    is_community: number | null;
    /** The network's id of the community that it belongs to. */
    community: string | null;
    is_announcement_group: number | null;
    invite_code: string | null;
    picture_media_id: string | null;
    created_at: number;
    left_at: number | null;
    /** Recognizes a change that its network reports again; null if the network gives changes no ids. */
    last_change_id: string | null;
  };
  /** People who wait to join a group, as far as the network has reported them. */
  group_join_requests: {
    account_id: string;
    group_id: string;
    phone_number: string;
    method: 'invite_link' | 'member' | 'community' | null;
    requested_at: number;
  };
  /** Members who have left a group. Their receipts for earlier messages count. */
  group_former_members: {
    account_id: string;
    group_id: string;
    phone_number: string;
    /** Time in ms. */
    left_at: number;
  };
  group_participants: {
    account_id: string;
    group_id: string;
    phone_number: string;
    role: 'member' | 'admin' | 'owner';
    joined_at: number;
  };
  /** Bulk sends; see `operations/bulk/batches.ts`. */
  batches: {
    account_id: string;
    batch_id: string;
    session_id: string;
    status: BatchStatus | typeof PREPARING;
    /** Type of its messages. */
    type: MessageType;
    /** Number of messages. */
    accepted: number;
    /** Number of recipients that cannot be sent to. */
    refused: number;
    /** Number of recipients that were named twice. */
    duplicates: number;
    interval_ms: number;
    /** Time of its last message. */
    ends_at: number;
    /** When `BatchWatch` looks at it next, and the end of a pause; null once it has ended. */
    check_at: number | null;
    /** API key that made it; null for a login. */
    key_id: string | null;
    created_at: number;
    updated_at: number;
  };
  statuses: {
    account_id: string;
    session_id: string;
    status_id: string;
    network_id: string;
    from_number: string;
    is_own: number;
    type: 'text' | 'image' | 'video' | 'voice';
    body: string;
    /** JSON of everything besides the text. */
    content: string | null;
    /** JSON list of the numbers that can see an own status; null if it was posted elsewhere, or by others. */
    audience: string | null;
    state: PostState;
    error: string | null;
    timestamp: number;
    expires_at: number;
    /** When the session marked it as viewed. */
    viewed_at: number | null;
    media_id: string | null;
  };
  /** People who have seen an own status, with their reactions. */
  status_views: {
    account_id: string;
    session_id: string;
    status_id: string;
    phone_number: string;
    viewed_at: number;
    emoji: string | null;
  };
  channels: {
    account_id: string;
    session_id: string;
    channel_id: string;
    network_id: string;
    /** Null until the network has described the channel. */
    name: string | null;
    description: string | null;
    invite_link: string | null;
    /** Null if the session does not follow it. */
    role: 'follower' | 'admin' | 'owner' | null;
    muted: number;
    verified: number;
    followers: number | null;
    created_at: number | null;
  };
  channel_posts: {
    account_id: string;
    session_id: string;
    channel_id: string;
    post_id: string;
    network_id: string;
    /** The number of the post in its channel. */
    server_id: string | null;
    is_own: number;
    type: 'text' | 'image' | 'video';
    body: string;
    /** JSON of everything besides the text. */
    content: string | null;
    state: PostState;
    error: string | null;
    views: number | null;
    /** JSON of the number of people by emoji. */
    reactions: string | null;
    timestamp: number;
    media_id: string | null;
  };
  /** Contacts whose presence a session follows, with what the network last reported. */
  followed_presences: {
    account_id: string;
    session_id: string;
    phone_number: string;
    followed_at: number;
    presence: 'online' | 'offline' | 'typing' | 'recording' | 'paused' | null;
    last_seen: number | null;
    updated_at: number | null;
  };
  media: {
    account_id: string;
    media_id: string;
    /** SHA-256 of the content, in hexadecimal. Accounts may share a content, never a row. */
    hash: string;
    mime_type: string;
    size: number;
    file_name: string | null;
    created_at: number;
    /** JSON of `MediaFacts`; null if nothing is known. */
    facts: string | null;
    /** A JPEG in base64; null if there is none. */
    thumbnail: string | null;
    /** When it was last uploaded or sent, to the day; null for files from before this was stored. */
    used_at: number | null;
    /** When it last arrived, if it has only arrived in statuses and posts so far: then it is deleted with them. */
    transient_since: number | null;
  };
  /** The result of a file's conversion: another file, or the same one if it can be sent unchanged. */
  media_conversions: {
    account_id: string;
    hash: string;
    /** The purpose, with a digest of the rule. */
    target: string;
    media_id: string;
    created_at: number;
  };
  /** Contents of deleted files, until they are removed from the store. */
  unused_contents: {
    hash: string;
    unused_at: number;
    /** Until then a node removes it, and nobody may store it; null otherwise. */
    removing_until: number | null;
  };
  webhooks: {
    account_id: string;
    webhook_id: string;
    /** 1 for the webhook that `POST /webhooks/set` manages. */
    is_default: number;
    url: string;
    /** JSON list of event types. */
    events: string;
    /** JSON list of the sessions whose events it receives; null for all. */
    session_ids: string | null;
    description: string | null;
    /** JSON of the account's own data. */
    metadata: string;
    /** JSON of its `WebhookFilters`; null for none. */
    filters: string | null;
    /** JSON of the additional headers, sealed; null for none. */
    headers: string | null;
    /** JSON of its `BrokerDestination`; null for HTTP. */
    destination: string | null;
    /** JSON of its credentials at the broker, sealed; null for none. */
    credentials: string | null;
    timeout_ms: number | null;
    /** 1 if a redirect to the result of the request counts as delivered. */
    accept_redirects: number;
    /** JSON list of its own retry schedule. */
    retry_seconds: string | null;
    /** 1 while its deliveries are held. */
    paused: number;
    /** Why the server paused it; null if a caller did, or nobody. */
    paused_reason: string | null;
    /** The process that sends to its broker; see `webhooks/delivery/flights.ts`. */
    in_flight_by: string | null;
    /** How often in a row a process died while it sent to the broker. */
    deaths: number;
    ordering: 'best_effort' | 'strict';
    /** JSON list of the `Include` groups; null for those that its event types imply. */
    include: string | null;
    secret: string | null;
    previous_secret: string | null;
    previous_secret_until: number | null;
    enabled: number;
    max_in_flight: number;
    breaker_state: 'closed' | 'open' | 'half_open';
    /** Incremented with every change of state. A result that belongs to an older generation changes nothing. */
    breaker_generation: number;
    /** JSON of the breaker's state; `webhooks/queue/breaker.ts` owns its shape. */
    breaker: string;
    /** Derived from the key, the URL, the event type and the arguments; null unless an MCP client subscribed. */
    subscription_id: string | null;
    /** The API key that subscribed. */
    key_id: string | null;
    /** JSON of the arguments, as the client sent them. */
    arguments: string | null;
    /** When the subscription ends unless it is refreshed. 0 while it is being removed. */
    expires_at: number | null;
    created_at: number;
    updated_at: number;
    lease_owner: string | null;
    lease_generation: number;
    /** API key that created it, or the last one that changed its receiver; null for a login. */
    set_by_key: string | null;
    /** Maximum size of files in deliveries, in bytes; 0 for none. */
    inline_media_bytes: number;
    /** Removal time; null for never, and for a subscription. */
    remove_at: number | null;
  };
  /** Counters of a webhook for one minute: statistics read these rows, never the log. */
  webhook_minutes: {
    webhook_id: string;
    /** Start of the minute. */
    minute: number;
    /** JSON: counts by outcome class and by final state, and a histogram of latencies. */
    figures: string;
  };
  events: {
    account_id: string;
    event_id: string;
    kind: EventKind;
    conversation: string;
    message_id: string | null;
    /** The body exactly as it is sent: `{"event":…,"data":…}`. */
    body: string;
    /** `traceparent` of the span that emitted the event, if tracing is on: its deliveries join that trace. */
    trace: string | null;
    is_test: number;
    created_at: number;
    /**
     * Position in the log that readers follow. PostgreSQL draws it. Events that an earlier version stored in SQLite
     * have 0.
     */
    position: Generated<number>;
  };
  deliveries: {
    account_id: string;
    delivery_id: string;
    webhook_id: string;
    event_id: string;
    kind: EventKind;
    conversation: string;
    state: DeliveryState;
    /** When the next attempt is due, in steady time; 0 means at once. */
    due_at: number;
    /** The order among deliveries that are due at once; it precedes that of ids. */
    position: Generated<number>;
    /** The delivery of its conversation for which it waits; null unless the webhook keeps the order. */
    held_behind: Generated<string | null>;
    /** Attempts so far. */
    attempts: number;
    /** Used steps of the retry schedule; an attempt that only probes a dead receiver uses none. */
    steps: number;
    /** The last attempt, with the columns of `attempts`, which contains the earlier ones. */
    last_class: OutcomeClass | null;
    last_message: string | null;
    last_status: number | null;
    last_duration_ms: number | null;
    last_response: string | null;
    /** Null if there was none, or if it is in `attempts`, as it was in earlier versions. */
    last_started_at: number | null;
    /** Why it was cancelled or has expired. */
    reason: string | null;
    is_test: number;
    created_at: number;
    settled_at: number | null;
  };
  attempts: {
    account_id: string;
    delivery_id: string;
    number: number;
    webhook_id: string;
    class: OutcomeClass;
    /** HTTP status; null without a response. */
    status: number | null;
    duration_ms: number;
    message: string;
    /** Up to 1 KiB of the response. */
    response: string | null;
    started_at: number;
  };
  /**
   * A process of the deployment. `lease_owner` refers to it. Its leases are valid as long as this row exists: a
   * transaction of a node whose row is gone changes nothing.
   */
  nodes: {
    node_id: string;
    /** Incremented when it rejoins after an eviction. */
    epoch: number;
    /** The data folder. Only one process can use it, so another row with the same folder belongs to a dead one. */
    instance: string;
    /** The URL for requests of other nodes; null until it listens. */
    url: string | null;
    version: string;
    /** 1 if it accepts sessions and webhooks, 0 if it only answers requests. */
    carries: number;
    /** Fingerprint of the secret that it signs login tokens with; null if its version does not report one. */
    jwt_fingerprint: string | null;
    /** Identifies its media store; null if unknown, or if its version does not report one. */
    file_store: string | null;
    joined_at: number;
    /** By the clock of the database; renewed every few seconds. */
    expires_at: number;
  };
  /** A number that is registered with a sandbox network. */
  sandbox_numbers: {
    /** An address; see `addressOf` in `sandbox/store.ts`. Group ids and invite codes are addresses too. */
    number: string;
    session_id: string;
    /** JSON of name, about and picture; the picture is stored as the hash of its content. */
    profile: string | null;
  };
  /** An event for a session of a sandbox network, kept until the session's owner has dispatched it. */
  sandbox_mailbox: {
    mail_id: Generated<number>;
    session_id: string;
    /** JSON of the event; media are stored as hashes of their content. */
    event: string;
    /** The sender of a direct message, and when it was sent, in steady time. */
    direct_from: string | null;
    sent_at: number | null;
    /** The network's message id, if the event is a message. */
    message_id: string | null;
    /** The session that gets a receipt once no mailbox contains the message any longer. */
    receipt_to: string | null;
    /** The message that this receipt confirms. The receipt is due once no mailbox contains that message. */
    confirms: string | null;
    created_at: number;
  };
  sandbox_groups: {
    network_id: string;
    invite_code: string | null;
    /** JSON of the group's current state. */
    state: string;
  };
  sandbox_channels: {
    network_id: string;
    invite_code: string;
    /** Address of the number that owns it. */
    owner: string;
    /** JSON of the channel with its followers and newest posts. */
    state: string;
  };
  idempotency_keys: {
    account_id: string;
    idempotency_key: string;
    /** SHA-256 of operation and validated input, by which the previous release recognizes a repeated request. */
    request_hash: string;
    /** SHA-256 of operation and input as the caller sent it; null if the previous release stored the key. */
    sent_hash: string | null;
    /** The API key that used it, or `login`; null if the previous release stored it. */
    credential: string | null;
    /** The process that works on it. Another one may take over once that process is gone. */
    owner: string;
    /** The output as JSON, once the request is done. */
    answer: string | null;
    /** The id of the resource that the request creates, so that a second run after a crash creates the same one. */
    resource_id: string;
    created_at: number;
  };
  /** Stretches of the event log. Each restore or failover begins another one; cursors say which one they are of. */
  log_epochs: {
    /** Empty for the first one, so its cursors have none. */
    epoch: string;
    /** Cursor of the newest event at its beginning, without an epoch. Later events of earlier epochs are gone. */
    starts_after: string;
    /** Identifies the PostgreSQL server and its timeline; null on SQLite, and before the first start. */
    server: string | null;
    /** The transaction that wrote this row. A restore writes it with another one. */
    written_by: string | null;
    created_at: number;
  };
  login_buckets: {
    /** A digest of the address or device and the account, or of a network that logged in to an account. */
    bucket: string;
    /** When the bucket is full again, or the network is forgotten. */
    full_at: number;
  };
  secrets: {
    name: string;
    value: string;
  };
  /** One row; see `steadyTime.ts`. */
  steady_time: {
    ms: number;
    /** When it was written, by the database's clock; 0 if the database is not shared. */
    at: number;
  };
}

export type DeletionKind = 'session' | 'chat' | 'webhook' | 'placeholder' | 'queue' | 'label' | 'api_key';
/** `sending`: the network has not accepted it, or the server died before it knew. */
export type PostState = 'sending' | 'sent' | 'failed';
export type SessionStatus =
  | 'created'
  | 'connecting'
  | 'awaiting_pairing'
  | 'connected'
  | 'disconnected'
  | 'logged_out'
  | 'failed';
/** How likely a network is to ban a number. */
export type RiskLevel = 'low' | 'elevated' | 'high';
export const messageStatuses = [
  'pending_approval',
  'queued',
  'scheduled',
  'sent',
  'delivered',
  'read',
  'failed',
] as const;
export type MessageStatus = (typeof messageStatuses)[number];
/** How an attempt ended; `webhooks/queue/outcome.ts` says what each class means. */
export type OutcomeClass =
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

export const deliveryStates = ['pending', 'delivered', 'failed', 'expired', 'cancelled'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** The kinds of records, by the names of `oidc-provider`. */
export type OAuthModel = 'AccessToken' | 'AuthorizationCode' | 'RefreshToken' | 'Client' | 'Interaction' | 'Session';

export type AccountTable = Schema['accounts'];
export type ApiKeyTable = Schema['api_keys'];
export type ToolCallTable = Schema['tool_calls'];
export type SessionTable = Schema['sessions'];
export type ChatTable = Selectable<Schema['chats']>;
export type ContactTable = Schema['contacts'];
export type LabelTable = Schema['labels'];
export type GroupTable = Schema['groups'];
export type GroupParticipantTable = Schema['group_participants'];
export type BatchTable = Schema['batches'];
export type StatusTable = Schema['statuses'];
export type ChannelTable = Schema['channels'];
export type ChannelPostTable = Schema['channel_posts'];
export type EarlyChangeTable = Schema['early_changes'];
export type MediaTable = Schema['media'];
export type WebhookTable = Schema['webhooks'];
export type IdempotencyKeyTable = Schema['idempotency_keys'];
export type SandboxMailTable = Schema['sandbox_mailbox'];
export type MessageRow = Selectable<Schema['messages']>;
export type DeliveryRow = Selectable<Schema['deliveries']>;
