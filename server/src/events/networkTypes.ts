/* Types that events and the connector interface share. No schemas: the interface is published without TypeBox. */

/** Type of a message's content. `messageTypes` of the connector interface lists the values. */
export type MessageType =
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
  | 'event'
  | ReceivedType;

/** Types of messages that a session can receive, and not send. */
export type ReceivedType = 'product' | 'order' | 'group_invite' | 'unsupported';

/** A change of a group; `type` determines the other fields. */
export interface GroupChange {
  type: 'subject' | 'description' | 'settings' | 'participants' | 'picture' | 'invite_link';
  subject?: string;
  /** Null if it was removed. */
  description?: string | null;
  settings?: {
    announce?: boolean;
    locked?: boolean;
    joinApproval?: boolean;
    memberAdd?: 'admins' | 'all';
    /** 0 turns the timer off. */
    disappearingSeconds?: number;
  };
  /** The change of the participants in `phoneNumbers`. */
  action?: 'add' | 'remove' | 'promote' | 'demote';
  /** Digits. */
  phoneNumbers?: string[];
}

/** Reasons why something that was received could not be read. */
export const unreadableReasons = [
  'no_session',
  'wrong_session',
  'no_pre_key',
  'no_group_key',
  'wrong_group_key',
  'not_encrypted_for_device',
  'sealed_change',
  'no_message_secret',
  'other',
] as const;

/**
 * `no_session`: there is no encrypted session with the sender's device. `wrong_session`: no session with it fits, such
 * as after a failed check (Bad MAC). `no_pre_key`: the sender used a key of the session's number that is gone.
 * `no_group_key`: the sender's key of the group is missing. `wrong_group_key`: that key does not fit.
 * `not_encrypted_for_device`: the sender encrypted the message only for other devices. `sealed_change`: the secret of
 * the changed message does not open an edit or a reaction. `no_message_secret`: that secret never came.
 */
export type UnreadableReason = (typeof unreadableReasons)[number];
