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
