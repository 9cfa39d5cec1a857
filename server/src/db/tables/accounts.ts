import type { Generated } from 'kysely';

/** Accounts, their credentials, and what limits and records the use of these. */
export interface AccountTables {
  accounts: {
    /** Refers to the account in the event log. */
    seq: Generated<number>;
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
  /** Files that a key of some sessions has added itself, and that no message of its sessions need contain. */
  key_media: {
    account_id: string;
    key_id: string;
    media_id: string;
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
  login_buckets: {
    /** A digest of the address or device and the account, or of a network that logged in to an account. */
    bucket: string;
    /** When the bucket is full again, or the network is forgotten. */
    full_at: number;
  };
}

/** The kinds of records, by the names of `oidc-provider`. */
export type OAuthModel = 'AccessToken' | 'AuthorizationCode' | 'RefreshToken' | 'Client' | 'Interaction' | 'Session';
