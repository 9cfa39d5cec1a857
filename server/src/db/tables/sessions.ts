/** Sessions, what their networks report about them, and how likely a network is to ban them. */
export interface SessionTables {
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
  /** Which sessions the calls of a network concern, by the network's ids of their numbers and accounts. */
  callback_keys: {
    session_id: string;
    callback_key: string;
    account_id: string;
    connector: string;
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
}

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
