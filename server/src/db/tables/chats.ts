import type { Generated } from 'kysely';

/** Chats, contacts and groups. */
export interface ChatTables {
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
  /** The ads and posts that led to a chat, even if the messages with them are deleted. */
  chat_ads: {
    session_id: string;
    chat_id: string;
    /** The network's id of the ad; empty if unknown. */
    ad_id: string;
    account_id: string;
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
  group_participants: {
    account_id: string;
    group_id: string;
    phone_number: string;
    role: 'member' | 'admin' | 'owner';
    joined_at: number;
  };
  /** Members who have left a group. Their receipts for earlier messages count. */
  group_former_members: {
    account_id: string;
    group_id: string;
    phone_number: string;
    /** Time in ms. */
    left_at: number;
  };
  /** People who wait to join a group, as far as the network has reported them. */
  group_join_requests: {
    account_id: string;
    group_id: string;
    phone_number: string;
    method: 'invite_link' | 'member' | 'community' | null;
    requested_at: number;
  };
}
