import type { BusinessProfile, CatalogCollection } from '../connectors/contract/account.ts';
import type { AccountNotice, NumberState } from '../connectors/contract/business.ts';
import type { CallOutcome } from '../connectors/contract/calls.ts';
import type { ChannelContent } from '../connectors/contract/channels.ts';
import type { NetworkLabel } from '../connectors/contract/chatActions.ts';
import type { Location, MessageContent } from '../connectors/contract/content.ts';
import type { EventAnswer, Referral } from '../connectors/contract/contentParts.ts';
import type { GroupSettings } from '../connectors/contract/groups.ts';
import type { HistoryChat, HistoryContact, HistoryMessage } from '../connectors/contract/history.ts';
import type { MessageKey, NetworkChat } from '../connectors/contract/messageKey.ts';
import type { NetworkMedia } from '../connectors/contract/networkMedia.ts';
import type { Presence } from '../connectors/contract/presence.ts';
import type { NetworkStanding } from '../connectors/contract/standing.ts';
import type { StatusContent } from '../connectors/contract/status.ts';

/* The actions of the other side on the test network, by which `sessions.simulate` plays it. */

/** An action of the other side on a test network. */
export type Simulation =
  | GroupSimulation
  | AccountSimulation
  | {
      readonly action: 'group_picture';
      readonly group: string;
      readonly from: string;
      readonly picture: NetworkMedia | null;
    }
  | {
      readonly action: 'group_settings';
      readonly group: string;
      readonly from: string;
      readonly settings: Partial<GroupSettings>;
    }
  | BusinessSimulation
  | StandingSimulation
  | StatusSimulation
  | NoticeSimulation
  | ChannelSimulation
  /** Scans the QR code, or types the pairing code. */
  | { readonly action: 'pair' }
  | {
      readonly action: 'incoming';
      readonly from: string;
      readonly senderName: string | null;
      readonly content: MessageContent;
      readonly group: string | null;
      readonly replyTo: string | null;
      readonly expiresInSeconds?: number;
    }
  | (MessageKey & { readonly action: 'edit'; readonly message: string })
  | (MessageKey & { readonly action: 'delete' })
  | (MessageKey & { readonly action: 'react'; readonly emoji: string | null })
  | (MessageKey & { readonly action: 'vote'; readonly options: readonly string[] })
  | (MessageKey & { readonly action: 'event_answer'; readonly answer: EventAnswer })
  /** The sender's app uploads the image or video of a message again, in a better quality. */
  | (MessageKey & { readonly action: 'better_media'; readonly kind: 'image' | 'video'; readonly media: NetworkMedia })
  /** The sender's app adds the video of a live photo. */
  | (MessageKey & { readonly action: 'live_photo'; readonly media: NetworkMedia })
  /** Moves a live location. */
  | (MessageKey & { readonly action: 'move'; readonly location: Location })
  | {
      readonly action: 'receipt';
      readonly networkId: string;
      readonly status: 'delivered' | 'read' | 'failed';
      /** Digits of the member of a group who received or read the message. */
      readonly by?: string;
    }
  /** Cuts the connection. The session reconnects after `reconnectAfterMs`, or not at all if that is null. */
  | { readonly action: 'disconnect'; readonly reason: string; readonly reconnectAfterMs: number | null }
  | { readonly action: 'logout' }
  | {
      readonly action: 'presence';
      readonly chat: NetworkChat;
      readonly from: string;
      readonly presence: Presence;
    }
  | { readonly action: 'call'; readonly callId: string; readonly from: string; readonly isVideo: boolean }
  | {
      readonly action: 'call_end';
      readonly callId: string;
      readonly from: string;
      readonly isVideo: boolean;
      readonly outcome: CallOutcome;
    }
  /** On another device of the account. */
  | {
      readonly action: 'chat_update';
      readonly chat: NetworkChat;
      readonly archived?: boolean;
      readonly pinned?: boolean;
      readonly mutedUntil?: number | null;
      readonly markedUnread?: boolean;
      readonly isRead?: true;
    }
  | ChatSimulation
  | { readonly action: 'rename'; readonly from: string; readonly name: string }
  /** The number of a person becomes known who had hidden it. */
  | { readonly action: 'identify'; readonly placeholder: string; readonly phoneNumber: string }
  | {
      readonly action: 'group_create';
      readonly subject: string;
      readonly from: string;
      readonly phoneNumbers: readonly string[];
    }
  | { readonly action: 'group_subject'; readonly group: string; readonly subject: string }
  | { readonly action: 'group_leave'; readonly group: string; readonly from: string }
  | HistorySimulation;

export type HistorySimulation = {
  readonly action: 'history';
  readonly chats: readonly HistoryChat[];
  readonly contacts: readonly HistoryContact[];
  readonly messages: readonly HistoryMessage[];
  /** How many messages to make up besides, and how many direct chats they are in. */
  readonly generated?: { readonly messages: number; readonly chats: number };
};

/** The details of an account that a test network plays. */
export type AccountSimulation = {
  readonly action: 'business_profile';
  /** Digits of the business. */
  readonly from: string;
  readonly profile: BusinessProfile;
  readonly collections: readonly CatalogCollection[];
};

export type BusinessSimulation =
  /** The network reviews a template that the session has created. */
  | {
      readonly action: 'template_review';
      readonly templateId: string;
      readonly status: string;
      readonly reason?: string;
    }
  | { readonly action: 'number_update'; readonly state: Partial<NumberState>; readonly notice?: AccountNotice }
  /** The account's phone sends a text. */
  | {
      readonly action: 'own_message';
      readonly chat: { readonly type: 'direct' | 'group'; readonly id: string };
      readonly message: string;
    };

export type ChannelSimulation =
  /** Somebody creates a channel, which the session follows. */
  | { readonly action: 'channel_create'; readonly from: string; readonly name: string }
  /** The owner of a channel posts. */
  | { readonly action: 'channel_post'; readonly channel: string; readonly content: ChannelContent };

/** Simulated actions on another device of the account, or of a person in the chat. */
export type ChatSimulation =
  | { readonly action: 'chat_remove'; readonly chat: NetworkChat; readonly isWhole: boolean }
  | ({ readonly action: 'star'; readonly isStarred: boolean } & MessageKey)
  | ({ readonly action: 'delete_for_me' } & MessageKey)
  /** `from` is the person who pins. */
  | ({ readonly action: 'pin'; readonly until: number | null } & MessageKey)
  | {
      readonly action: 'disappearing';
      readonly from: string;
      readonly chat: NetworkChat;
      readonly seconds: number | null;
    }
  | { readonly action: 'label'; readonly label: NetworkLabel }
  | { readonly action: 'label_delete'; readonly networkId: string }
  | {
      readonly action: 'label_assign';
      readonly labelId: string;
      readonly chat: NetworkChat;
      readonly message?: string;
      readonly isSet: boolean;
    };

export type GroupSimulation =
  | { readonly action: 'group_join_request'; readonly group: string; readonly from: string }
  | { readonly action: 'group_join_withdraw'; readonly group: string; readonly from: string }
  | {
      readonly action: 'community_create';
      readonly from: string;
      readonly subject: string;
      readonly phoneNumbers: readonly string[];
    };

export type StandingSimulation =
  /** Somebody blocks or reports the number. */
  { readonly action: 'block_report' } | ({ readonly action: 'standing' } & NetworkStanding);

/** Something that a person does without writing a message. */
export type NoticeSimulation = { readonly chat: NetworkChat; readonly from: string } & (
  | { readonly action: 'chat_open'; readonly referral?: Referral }
  | { readonly action: 'call_permission'; readonly isGranted: boolean; readonly expiresAt?: number }
  | { readonly action: 'marketing_choice'; readonly isStopped: boolean }
  /** `status` is the network's id of the status; null if unknown. */
  | { readonly action: 'status_mention'; readonly status: string | null }
  | { readonly action: 'number_request' }
);

export type StatusSimulation =
  | {
      readonly action: 'status';
      readonly from: string;
      readonly senderName: string | null;
      readonly content: StatusContent;
    }
  | { readonly action: 'status_delete'; readonly from: string; readonly networkId: string }
  | { readonly action: 'status_view'; readonly from: string; readonly networkId: string }
  | {
      readonly action: 'status_react';
      readonly from: string;
      readonly networkId: string;
      readonly emoji: string | null;
    };
