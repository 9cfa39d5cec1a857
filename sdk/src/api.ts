// Generated from the tables of operations and errors by `npm run openapi`. Do not edit.

export type { EventData } from './events.ts';

export interface Account {
  /** Id of the account (`acc_…`). */
  accountId: string;
  /** Email address, in lower case. */
  email: string;
  /** Name of the account; null if none was given. */
  name: string | null;
  /** When the account was registered. */
  createdAt: string;
}

export interface Login {
  /** Login token (JWT) to send as `Authorization: Bearer`. Empty for the dashboard, which gets a cookie. */
  token: string;
  /** Always `Bearer`. */
  tokenType: 'Bearer';
  /** When the token stops working. */
  expiresAt: string;
  account: Account;
}

export interface NewApiKey {
  /** Id of the key (`key_…`). */
  keyId: string;
  /** Label for the key. */
  name: string;
  /** Permissions of the key. */
  permissions: string[];
  /** When the key was created. */
  createdAt: string;
  /** When the key stops working; null for never. */
  expiresAt: string | null;
  /** Sessions that the key may use; null for all. */
  sessionIds: string[] | null;
  /** Networks that may use the key; null for all. */
  allowedIps: string[] | null;
  /** Recipients to whom the key may send; null for all. */
  allowedRecipients: string[] | null;
  /** Messages that the key may send per day (UTC); null for any number. */
  sendQuota: number | null;
  /** Calls before which an agent with the key asks its user; null for none. */
  confirm: ('destructive' | 'new_recipients')[] | null;
  /** Whether every message of the key waits for approval. */
  requiresApproval: boolean;
  /** The key itself. It is returned only here; store it now. */
  key: string;
}

export interface ConnectedApp {
  /** Id of the app, which is the address of its description if it is a URL. */
  clientId: string;
  /** Name that the app chose, which nobody has verified; null if it has none. */
  name: string | null;
  /** Website that the app names; null if none. */
  url: string | null;
  /** Host, or scheme of a native app, to which the person was sent back. */
  redirectHost: string;
}

export interface ApiKey {
  /** Id of the key (`key_…`). */
  keyId: string;
  /** Label for the key. */
  name: string;
  /** Permissions of the key. */
  permissions: string[];
  /** When the key was created. */
  createdAt: string;
  /** When the key stops working; null for never. */
  expiresAt: string | null;
  /** Sessions that the key may use; null for all. */
  sessionIds: string[] | null;
  /** Networks that may use the key; null for all. */
  allowedIps: string[] | null;
  /** Recipients to whom the key may send; null for all. */
  allowedRecipients: string[] | null;
  /** Messages that the key may send per day (UTC); null for any number. */
  sendQuota: number | null;
  /** Calls before which an agent with the key asks its user; null for none. */
  confirm: ('destructive' | 'new_recipients')[] | null;
  /** Whether every message of the key waits for approval. */
  requiresApproval: boolean;
  /** First characters of the key, to recognize it. */
  prefix: string;
  /** When the key was last used; null if never. */
  lastUsedAt: string | null;
  /** The connected app; null for a key. */
  app: ConnectedApp | null;
}

export interface ToolCall {
  /** Id of the call (`cal_…`). */
  callId: string;
  /** Name of the tool, such as `messages_send`. */
  tool: string;
  /** Ids, recipients, choices, times and numbers as they were passed. Every other value is replaced by its size, such as `(24 characters)`. */
  arguments: Record<string, unknown>;
  /** `ok`, or the code of the error. `pending_approval`: the message waits for a person; `confirmation_required`: the user was asked; `confirmation_declined`: the user did not agree. */
  outcome: string;
  /** Duration of the call in milliseconds. */
  durationMs: number;
  /** Name of the client, which nothing verifies; null if its protocol version does not send it with the call. */
  clientName: string | null;
  /** Version of the client; null if its name is null or it sends none. */
  clientVersion: string | null;
  /** Id of the request, as in the log of the server. */
  requestId: string;
  /** When the call ended. */
  createdAt: string;
}

export interface AppConnection {
  /** Id of the API key that stands for the app (`key_…`). */
  keyId: string;
  /** Permissions that the app has. */
  permissions: string[];
  /** When the connection ends; null for never. */
  expiresAt: string | null;
  /** Sessions that the key may use; null for all. */
  sessionIds: string[] | null;
  /** Networks that may use the key; null for all. */
  allowedIps: string[] | null;
  /** Recipients to whom the key may send; null for all. */
  allowedRecipients: string[] | null;
  /** Messages that the key may send per day (UTC); null for any number. */
  sendQuota: number | null;
  /** Calls before which an agent with the key asks its user; null for none. */
  confirm: ('destructive' | 'new_recipients')[] | null;
  /** Whether every message of the key waits for approval. */
  requiresApproval: boolean;
}

export interface ConnectionRequest {
  /** Id of the request, from the address of the consent page. */
  requestId: string;
  /** Id of the app, which is the address of its description if it is a URL. */
  clientId: string;
  /** Name that the app chose, which nobody has verified; null if it has none. */
  name: string | null;
  /** Website that the app names, which nobody has verified; null if none. */
  url: string | null;
  /** Where the browser continues with the answer. */
  redirectUri: string;
  /** Host of `redirectUri`, or the scheme of a native app. */
  redirectHost: string;
  /** Whether `redirectUri` leads to a program on the device of the person. */
  isLocal: boolean;
  /** Permissions that the app asks for. */
  permissions: string[];
  /** Permissions that the app does not ask for, and that you can add. */
  morePermissions: string[];
  /** The present connection of the app, which an approval replaces; null if none. */
  connection: AppConnection | null;
  /** When the request expires. */
  expiresAt: string;
}

export interface Connector {
  /** Name to pass as `connector` when you create a session. */
  name: string;
  /** Whether new sessions use it if they name no connector. */
  isDefault: boolean;
  /** JSON Schema of a session's `options`. Options that are `writeOnly` are secrets, which are never returned. */
  options: Record<string, unknown>;
  /** Types of messages that its sessions can send. */
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
    | 'event'
  )[];
  /** Features of its sessions besides sending; null if the connector does not declare them. */
  capabilities:
    | (
        | 'pairing_code'
        | 'read_receipts'
        | 'typing'
        | 'reactions'
        | 'edit'
        | 'delete_for_everyone'
        | 'check_numbers'
        | 'block'
        | 'groups'
        | 'profile'
        | 'profiles_of_others'
        | 'simulator'
        | 'history'
        | 'history_on_demand'
        | 'history_media'
        | 'chat_settings'
        | 'labels'
        | 'star'
        | 'delete_for_me'
        | 'pin_message'
        | 'disappearing'
        | 'group_join_requests'
        | 'group_invite_preview'
        | 'communities'
        | 'group_member_add_mode'
        | 'group_disappearing'
        | 'delete_for_everyone_as_admin'
        | 'own_profile'
        | 'privacy'
        | 'business_profiles'
        | 'linked_devices'
        | 'people_lookup'
        | 'templates'
        | 'number_quality'
        | 'business_profile'
        | 'preflight'
        | 'warm_up'
        | 'standing'
        | 'own_presence'
        | 'presence_of_others'
        | 'reject_calls'
        | 'status'
        | 'channels'
        | 'link_previews'
        | 'chosen_link_previews'
        | 'view_once'
        | 'gif'
        | 'video_note'
        | 'albums'
        | 'mention_all'
        | 'edit_captions'
        | 'vote'
      )[]
    | null;
  /** Whether the network calls this server; its sessions then have a `callbackUrl`. */
  takesCallbacks: boolean;
}

export interface SessionHealth {
  /** How likely the network is to ban the number; `elevated` means: slow down. */
  risk: 'low' | 'elevated' | 'high';
  /** Why the risk is not low, the gravest first. */
  reasons: {
    /** Reason, such as `new_chats`, `pace`, `failures`, `unreachable`, `unanswered`, `block_reports`, `spam_limits`, `restricted`, `new_chats_denied`, `network_quota` or `quality`. */
    code: string;
    /** How grave the reason is. */
    risk: 'elevated' | 'high';
    /** The reason in words, with its figures. */
    message: string;
  }[];
  /** When the session first connected with this number; null if it never did. */
  linkedAt: string | null;
  lastDay: {
    /** Direct chats that the session started. */
    newChats: number;
    /** Messages that the network accepted. */
    sent: number;
    /** Messages to numbers that the network cannot reach. */
    unreachable: number;
    /** People who blocked or reported the number, as far as the network tells. */
    blockReports: number;
    /** Messages that the network did not deliver, to protect people from unwanted ones. */
    spamLimits: number;
    /** Numbers that the session looked up at the network. */
    lookUps: number;
  };
  lastHour: {
    /** Messages that the network accepted. */
    sent: number;
    /** Messages that failed. */
    failed: number;
    /** The most messages within one minute. */
    peakPerMinute: number;
  };
  startedChats: {
    /** Direct chats that the session started within the last week, and more than a day ago. */
    started: number;
    /** Those of them in which the other side has written. */
    answered: number;
  };
  network: {
    /** Until when the network allows no new chats; null if it does. */
    noNewChatsUntil: string | null;
    /** The network's own quota of new chats; null if it reports none. */
    newChats: {
      /** Chats started. */
      used: number;
      /** Chats allowed. */
      total: number;
    } | null;
  };
}

export interface Session {
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Label for people; null if none was set. */
  name: string | null;
  /** Network of the session, such as `whatsapp`. */
  connector: string;
  /** Phone number digits; null until the network has reported them. */
  phoneNumber: string | null;
  /** Only `connected` sessions send and receive. `awaiting_pairing`: a phone must scan the QR code or enter a pairing code. */
  status: 'created' | 'connecting' | 'awaiting_pairing' | 'connected' | 'disconnected' | 'logged_out' | 'failed';
  /** When the session connected; null while it is not connected. */
  connectedAt: string | null;
  /** When the network last reported something; null if it never did. */
  lastEventAt: string | null;
  /** API key that set the text for callers (`calls.message`); left out for a login. */
  callTextKeyId?: string;
  /** Why the session is not connected, as a sentence; null if there was no error. */
  error: string | null;
  /** Options of the network, without their secrets. */
  options: Record<string, unknown>;
  /** URL that the network calls for this session; null if the network makes no calls. */
  callbackUrl: string | null;
  /** Your own data, as you set it. */
  metadata: Record<string, string>;
  /** When the session was created. */
  createdAt: string;
  /** Import of the history of the phone, which begins when the session is linked. */
  history?: {
    /** `none`: the session imports no history, or the network has none. `waiting`: the phone has sent nothing yet. `failed`: a part is missing; `error` says why. */
    state: 'none' | 'waiting' | 'importing' | 'complete' | 'failed';
    /** Percent, as the phone reports it. */
    progress: number;
    /** Messages imported so far. */
    messages: number;
    /** Chats that are new. */
    chats: number;
    /** Contacts that are new. */
    contacts: number;
    /** Why a part is missing, as a sentence; null if nothing failed. */
    error: string | null;
    /** When that last changed; null if it never did. */
    updatedAt: string | null;
  };
  /** The network's judgment of the number; null if the network has none. */
  network: {
    /** Name that recipients see; null if it is unknown. */
    displayName: string | null;
    /** Review of the name, such as `approved` or `declined`; null if it is unknown. */
    nameStatus: string | null;
    /** Quality by the reactions of recipients; null if the network has not rated it. */
    quality: 'high' | 'medium' | 'low' | 'unknown' | null;
    /** The network's name of the messaging limit, such as `TIER_2K`. */
    messagingTier: string | null;
    /** People to whom the business may start to write within 24 hours; null if it is unknown or unlimited. */
    messagingLimit: number | null;
    /** Sending speed, such as `standard` or `high`; null if it is unknown. */
    throughput: string | null;
    /** `live`, or `sandbox` for a test number; null if it is unknown. */
    accountMode: string | null;
    /** Whether the network lets the number send; `problems` has the reasons if it does not. */
    canSend: 'yes' | 'limited' | 'no' | null;
    /** Restrictions of the number, its account, its business or its app. */
    problems: {
      /** The restricted part, such as `phone_number` or `business_account`. */
      concerns: string;
      /** The reason, in the network's words. */
      message: string;
    }[];
    /** Up to ten latest notices about the number or its account. */
    notices: {
      /** The network's name of the notice, such as `ACCOUNT_RESTRICTION`. */
      type: string;
      /** How urgent it is. */
      severity: 'info' | 'warning' | 'critical';
      /** Text of the notice, as a sentence. */
      message: string;
      /** When the network sent it. */
      at: string;
    }[];
    /** When the network last reported a change. */
    updatedAt: string;
  } | null;
  health?: SessionHealth;
}

export interface OwnBusinessProfile {
  /** Postal address; null if there is none. */
  address: string | null;
  /** Description of the business; null if there is none. */
  description: string | null;
  /** Email address for customers; null if there is none. */
  email: string | null;
  /** Websites. */
  websites: string[];
  /** The network's name of the trade, such as `RETAIL`; null if there is none. */
  vertical: string | null;
}

export interface OwnProfile {
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Phone number digits of the session; null if the network never reported them. */
  phoneNumber: string | null;
  /** Name that other people see; null if there is none. */
  name: string | null;
  /** About text; null if there is none. */
  about: string | null;
  /** Picture; null if there is none. */
  picture: {
    /** Id of the media (`med_…`). */
    mediaId: string;
    /** Media type of the file, such as `image/jpeg`. */
    mimeType: string;
    /** Size of the file in bytes. */
    size: number;
    /** Name that the sender gave the file; null if there is none. */
    fileName: string | null;
    /** Download the file here, with an API key that has `media:read`. */
    url: string;
  } | null;
  /** Data of the business; null if the number is not a business, or its network has no such data. */
  business: OwnBusinessProfile | null;
}

export interface Privacy {
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** People who see when the session was last online. `contacts_except`: all contacts but those excluded on the phone. */
  lastSeen: 'everyone' | 'contacts' | 'contacts_except' | 'nobody';
  /** People who see that the session is online. */
  online: 'everyone' | 'same_as_last_seen';
  /** People who see the profile picture. `contacts_except`: all contacts but those excluded on the phone. */
  profilePicture: 'everyone' | 'contacts' | 'contacts_except' | 'nobody';
  /** People who see the about text. `contacts_except`: all contacts but those excluded on the phone. */
  about: 'everyone' | 'contacts' | 'contacts_except' | 'nobody';
  /** Whether others see that their messages were read. */
  readReceipts: boolean;
  /** People who can add the session to groups. `contacts_except`: all contacts but those excluded on the phone. */
  groupAdd: 'everyone' | 'contacts' | 'contacts_except' | 'nobody';
  /** People who can call. `known`: only those whom the session knows. */
  calls: 'everyone' | 'known';
  /** Seconds until messages of new chats disappear; 0 if they stay. */
  disappearingSeconds: number;
}

export interface Template {
  /** Id of the template at the network. */
  templateId: string;
  /** Name of the template. The same in all languages. */
  name: string;
  /** Language of the template, such as `en_US`. */
  language: string;
  /** Status at the network, such as `approved`, `pending`, `rejected`, `paused` or `disabled`. */
  status: string;
  /** Category, such as `marketing`, `utility` or `authentication`. */
  category: string;
  /** Header, body, footer and buttons, in the network's format. */
  components: Record<string, unknown>[];
  /** Quality by the reactions of recipients; null if it was never rated. */
  quality: 'high' | 'medium' | 'low' | 'unknown' | null;
  /** Why the network rejected it; null if it did not. */
  rejectionReason: string | null;
}

export interface Profile {
  /** Phone number digits of the contact. */
  phoneNumber: string;
  /** About text of the contact; null if it is empty or hidden from the session. */
  about: string | null;
  /** Picture of the contact; null if there is none or it is hidden. */
  picture: {
    /** Id of the media (`med_…`). */
    mediaId: string;
    /** Media type of the file, such as `image/jpeg`. */
    mimeType: string;
    /** Size of the file in bytes. */
    size: number;
    /** Name that the sender gave the file; null if there is none. */
    fileName: string | null;
    /** Download the file here, with an API key that has `media:read`. */
    url: string;
  } | null;
}

export interface ContactBusinessProfile {
  /** Description; null if there is none. */
  description: string | null;
  /** Category; null if there is none. */
  category: string | null;
  /** Postal address; null if there is none. */
  address: string | null;
  /** Email address; null if there is none. */
  email: string | null;
  /** Websites. */
  websites: string[];
  /** Opening hours; null if it shows none. */
  hours: {
    /** Time zone, such as `Europe/Berlin`; null if there is none. */
    timeZone: string | null;
    /** Days on which it is open. */
    days: {
      /** Day of the week. */
      day: 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';
      /** `hours`: from `opens` to `closes`; `always`: around the clock; `appointment`: by appointment only. */
      mode: 'hours' | 'always' | 'appointment';
      /** Minutes after midnight. */
      opens?: number;
      /** Minutes after midnight. */
      closes?: number;
    }[];
  } | null;
}

export interface ContactPresence {
  /** Phone number digits of the contact. */
  phoneNumber: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Whether the session follows the presence of the contact. */
  followed: boolean;
  /** The last report of the network; null if there was none since the session follows the contact. */
  presence: 'online' | 'offline' | 'typing' | 'recording' | 'paused' | null;
  /** When the contact was last online; null if the network does not show it. */
  lastSeen: string | null;
  /** When the network last reported something; null if it never did. */
  updatedAt: string | null;
}

export interface Message {
  /** Id of the message (`msg_…`). */
  messageId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Phone number digits of the other person, or the id of the group (`grp_…`). */
  chatId: string;
  /** `incoming`: the session received the message. */
  direction: 'incoming' | 'outgoing';
  /** Type of the content. */
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
    | 'interactive'
    | 'event'
    | 'product'
    | 'order'
    | 'group_invite'
    | 'unsupported';
  /** Phone number digits of the sender. */
  from: string;
  /** Phone number digits of the recipient, or the id of the group (`grp_…`). */
  to: string;
  /** Phone number digits of the recipient; null in a group. */
  toNumber: string | null;
  /** Id of the group (`grp_…`); only in a group. */
  groupId?: string;
  /** Text of the message, caption of the file, or question of the poll. */
  message: string;
  /** `pending_approval`: waits for a person. `queued`: stored and about to be sent. `scheduled`: waits for its time. `sent`: the network accepted it. */
  status: 'pending_approval' | 'queued' | 'scheduled' | 'sent' | 'delivered' | 'read' | 'failed';
  /** When the message was sent, or will be sent if it is scheduled. */
  timestamp: string;
  /** Id of the message that this message replies to. */
  replyTo?: string;
  /** Id of the message on the network; left out until the network has accepted it. */
  networkId?: string;
  media?: {
    /** Id of the media (`med_…`). */
    mediaId: string;
    /** Media type of the file, such as `image/jpeg`. */
    mimeType: string;
    /** Size of the file in bytes. */
    size: number;
    /** Name that the sender gave the file; null if there is none. */
    fileName: string | null;
    /** Download the file here, with an API key that has `media:read`. */
    url: string;
    /** Present if the file was deleted: its URL answers 404. */
    available?: false;
    /** The content in base64; only if you ask for it, and of up to 1 MiB. */
    content?: string;
  };
  location?: {
    /** Degrees north (WGS 84). */
    latitude: number;
    /** Degrees east (WGS 84). */
    longitude: number;
    /** Name of the place. */
    name?: string;
    /** Postal address of the place. */
    address?: string;
    /** Present if the sender shares a position that moves. A later position replaces it in the message. */
    live?: {
      /** How exact the position is. */
      accuracyInMeters?: number;
      /** Speed of the sender. */
      metersPerSecond?: number;
      /** Direction of the movement, in degrees clockwise from north. */
      heading?: number;
      /** Grows with every position of this message. */
      sequence?: number;
    };
  };
  contact?: {
    /** Name on the contact card. */
    name: string;
    phoneNumbers: string[];
  };
  poll?: {
    /** Answers to choose from. The question is in `message`. */
    options: string[];
    /** Number of options that one person can choose. */
    maxSelections: number;
  };
  template?: {
    /** Name of the template at the network. */
    name: string;
    /** Language of the template, such as `en_US`. */
    language: string;
    /** Values of the template, in the network's format. */
    components: unknown[];
  };
  /** Buttons, list or link of the message, as they were sent. */
  interactive?: Record<string, unknown>;
  mentions?: string[];
  /** Present if the message was forwarded. */
  forwarded?: true;
  /** Id of the button or list row that the sender chose. */
  payload?: string;
  linkPreview?: {
    /** The link, as it occurs in the text. */
    url: string;
    /** Title of the page. */
    title?: string;
    /** Description of the page. */
    description?: string;
    /** Present if a small picture goes out with it. */
    hasImage?: true;
  };
  /** Present if the file can be opened only once. */
  viewOnce?: true;
  /** Present if the video plays like a GIF: in a loop, without sound. */
  gif?: true;
  /** Present if the video is a round video note. */
  videoNote?: true;
  /** Present if the sticker is animated. */
  animated?: true;
  /** Present if everybody in the group is mentioned. */
  mentionsAll?: true;
  album?: {
    /** The same for all files of the album. */
    albumId: string;
    /** How many images the album has, if it is known. */
    images?: number;
    /** How many videos the album has, if it is known. */
    videos?: number;
  };
  /** All cards of a message with several. `contact` then has the numbers of all of them. */
  contacts?: {
    /** Name on the contact card. */
    name: string;
    phoneNumbers: string[];
  }[];
  /** Only of messages of the type `event`. The name is in `message`. */
  event?: {
    /** Description of the event. */
    description?: string;
    /** When it begins. */
    startsAt?: string;
    /** When it ends. */
    endsAt?: string;
    location?: {
      /** Degrees north (WGS 84). */
      latitude?: number;
      /** Degrees east (WGS 84). */
      longitude?: number;
      /** Name of the place. */
      name?: string;
      /** Postal address of the place. */
      address?: string;
    };
    /** Link to its call. */
    joinLink?: string;
    /** Present if it was canceled. */
    canceled?: true;
    /** Present if guests can bring others. */
    extraGuests?: true;
  };
  /** The product that a message shows or is about. */
  product?: {
    /** The network's id of the product. */
    productId?: string;
    /** The seller's own id of the product. */
    retailerId?: string;
    /** The network's id of the catalog. */
    catalogId?: string;
    /** Name of the product. */
    title?: string;
    /** Description of the product. */
    description?: string;
    /** Price, in units of the currency. */
    price?: number;
    /** Currency, such as `EUR`. */
    currency?: string;
    /** Page of the product. */
    url?: string;
    /** Phone number digits of the seller. */
    seller?: string;
  };
  /** Only of messages of the type `order`. */
  order?: {
    /** The network's id of the order. */
    orderId?: string;
    /** The network's id of the catalog. */
    catalogId?: string;
    /** Title of the order. */
    title?: string;
    /** How many items were ordered. */
    itemCount?: number;
    /** Total price, in units of the currency. */
    total?: number;
    /** Currency, such as `EUR`. */
    currency?: string;
    /** Phone number digits of the seller. */
    seller?: string;
    /** The ordered products, if the network tells them. */
    items?: {
      /** The seller's own id of the product. */
      retailerId: string;
      /** How many of it were ordered. */
      quantity: number;
      /** Price of one, in units of the currency. */
      price?: number;
      /** Currency, such as `EUR`. */
      currency?: string;
    }[];
  };
  /** Only of messages of the type `group_invite`. */
  groupInvite?: {
    /** Address of the group at the network. */
    networkGroupId: string;
    /** Name of the group. */
    subject?: string;
    /** Code of the invite, which is only for the recipient. */
    code: string;
    /** When the invite expires. */
    expiresAt?: string;
  };
  /** Present if the message answers buttons, a list, a template or a form. */
  choice?: {
    /** Kind of the message that the sender answered. */
    kind: 'button' | 'list' | 'template' | 'form';
    /** The network's name of the form. */
    name?: string;
    /** Second line of the chosen row. */
    description?: string;
    /** The answers in the form, as JSON. */
    response?: string;
  };
  /** The network's name of this kind of message. Only of messages of the type `unsupported`. */
  rawType?: string;
  /** Size, duration and waveform of the file, as far as they are known. */
  mediaFacts?: {
    /** Width in pixels, if it is known. */
    width?: number;
    /** Height in pixels, if it is known. */
    height?: number;
    /** Duration in seconds, if it is known. */
    durationSeconds?: number;
    /** Loudness of a voice message over its duration: 64 values. */
    waveform?: number[];
    /** Present if apps get a small picture of it before they download it. */
    hasThumbnail?: true;
  };
  /** Present if the content is left out because the API key has the permission `metadata` but not `read`. */
  contentHidden?: true;
  /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
  unidentified?: true;
  /** Present if the message was sent from the phone or another linked device, not through the API. */
  sentElsewhere?: true;
  /** `history`: the message is from before the session was linked. */
  origin?: 'history';
  /** File that is still at the network. `POST /messages/{messageId}/media` fetches it, and `media` replaces this field. */
  remoteMedia?: {
    /** Media type of the file, as the sender stated it. */
    mimeType: string;
    /** Size of the file in bytes, as the sender stated it. */
    size: number;
    /** Name of the file; null if there is none. */
    fileName: string | null;
  };
  /** Votes on the poll, one entry per voter. */
  votes?: {
    /** Phone number digits of the voter. */
    from: string;
    /** Options that the voter chose. */
    options: string[];
  }[];
  /** Answers to the event, one per person. */
  answers?: {
    /** Phone number digits of the person who answered. */
    from: string;
    /** Whether the person comes. */
    answer: 'going' | 'not_going' | 'maybe';
  }[];
  /** Reactions to the message, one per person. */
  reactions?: {
    /** Phone number digits of the person who reacted. */
    from: string;
    /** The emoji. */
    emoji: string;
    /** When the person reacted. */
    at: string;
  }[];
  /** Present if the owner of the session starred the message. */
  starred?: true;
  /** Until when the message is pinned in its chat. */
  pinnedUntil?: string;
  /** When the message disappears from phones. Switchboard keeps it. */
  expiresAt?: string;
  /** Ids of its labels (`lbl_…`). */
  labelIds?: string[];
  /** Present if the text was edited after sending. */
  edited?: true;
  /** Present if the message was deleted for everyone; its text is then empty. */
  deleted?: true;
  /** Why the message failed, as a sentence. */
  error?: string;
  /** Approval of the message; only if its API key needs one. */
  approval?: {
    /** `withdrawn`: it was cancelled before anybody decided. */
    status: 'pending' | 'approved' | 'rejected' | 'expired' | 'withdrawn';
    /** Id of the API key that asked for the message (`key_…`). */
    keyId: string;
    /** When the key asked. */
    requestedAt: string;
    /** When a message that waits is given up. */
    expiresAt?: string;
    /** When it was decided. */
    decidedAt?: string;
    /** Id of the API key that approved or rejected it, or `login`. */
    decidedBy?: string;
    /** Why it was rejected, if a reason was given. */
    reason?: string;
    /** Present if the text was edited when it was approved. */
    edited?: true;
  };
  /** The message that `replyTo` quotes, as its recipient will see it; only while the message waits for approval. */
  quoted?: {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Chat of the quoted message. */
    chatId: string;
    /** Phone number digits of its sender. */
    from: string;
    /** Type of the content. */
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
      | 'interactive'
      | 'event'
      | 'product'
      | 'order'
      | 'group_invite'
      | 'unsupported';
    /** Its text, caption or question. */
    message: string;
  };
  /** Image of the link preview, a JPEG in base64; only while the message waits for approval. */
  previewImage?: string;
  /** API key that sent or scheduled the message (`key_…`); left out for a login. */
  createdByKeyId?: string;
  /** URLs that the server fetches once the message is approved; only while it waits. */
  toFetch?: {
    /** URL of the file. */
    fileUrl?: string;
    /** Name of the file that the recipient sees. */
    fileName?: string;
    /** Present if the first link of the text gets a preview. */
    preview?: true;
    /** URL of the image of `linkPreview`. */
    previewImageUrl?: string;
  };
  /** Price of the message; only if the network has reported it. */
  pricing?: {
    /** Category of the price, such as `marketing`, `utility` or `service`. */
    category: string;
    /** Whether the message costs something. */
    billable: boolean;
  };
}

export interface Album {
  /** The same as in `album.albumId` of each message. */
  albumId: string;
  /** One message per file, in the order of `files`. */
  messages: Message[];
}

export interface BulkResult {
  /** Recipient as you passed it. */
  to: string;
  /** Id of the message; null if it was refused. */
  messageId: string | null;
  /** When the message will be sent; null if it was refused. */
  sendAt: string | null;
  /** Why the message was refused, as a sentence. */
  error?: string;
}

export interface MessageStats {
  /** Minutes with at least one message, oldest first. */
  series: {
    /** Start of the minute. */
    minute: string;
    /** Messages received. */
    incoming: number;
    /** Messages that the network accepted. */
    outgoing: number;
  }[];
}

export interface MessageWithHistory {
  /** Id of the message (`msg_…`). */
  messageId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Phone number digits of the other person, or the id of the group (`grp_…`). */
  chatId: string;
  /** `incoming`: the session received the message. */
  direction: 'incoming' | 'outgoing';
  /** Type of the content. */
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
    | 'interactive'
    | 'event'
    | 'product'
    | 'order'
    | 'group_invite'
    | 'unsupported';
  /** Phone number digits of the sender. */
  from: string;
  /** Phone number digits of the recipient, or the id of the group (`grp_…`). */
  to: string;
  /** Phone number digits of the recipient; null in a group. */
  toNumber: string | null;
  /** Id of the group (`grp_…`); only in a group. */
  groupId?: string;
  /** Text of the message, caption of the file, or question of the poll. */
  message: string;
  /** `pending_approval`: waits for a person. `queued`: stored and about to be sent. `scheduled`: waits for its time. `sent`: the network accepted it. */
  status: 'pending_approval' | 'queued' | 'scheduled' | 'sent' | 'delivered' | 'read' | 'failed';
  /** When the message was sent, or will be sent if it is scheduled. */
  timestamp: string;
  /** Id of the message that this message replies to. */
  replyTo?: string;
  /** Id of the message on the network; left out until the network has accepted it. */
  networkId?: string;
  media?: {
    /** Id of the media (`med_…`). */
    mediaId: string;
    /** Media type of the file, such as `image/jpeg`. */
    mimeType: string;
    /** Size of the file in bytes. */
    size: number;
    /** Name that the sender gave the file; null if there is none. */
    fileName: string | null;
    /** Download the file here, with an API key that has `media:read`. */
    url: string;
    /** Present if the file was deleted: its URL answers 404. */
    available?: false;
    /** The content in base64; only if you ask for it, and of up to 1 MiB. */
    content?: string;
  };
  location?: {
    /** Degrees north (WGS 84). */
    latitude: number;
    /** Degrees east (WGS 84). */
    longitude: number;
    /** Name of the place. */
    name?: string;
    /** Postal address of the place. */
    address?: string;
    /** Present if the sender shares a position that moves. A later position replaces it in the message. */
    live?: {
      /** How exact the position is. */
      accuracyInMeters?: number;
      /** Speed of the sender. */
      metersPerSecond?: number;
      /** Direction of the movement, in degrees clockwise from north. */
      heading?: number;
      /** Grows with every position of this message. */
      sequence?: number;
    };
  };
  contact?: {
    /** Name on the contact card. */
    name: string;
    phoneNumbers: string[];
  };
  poll?: {
    /** Answers to choose from. The question is in `message`. */
    options: string[];
    /** Number of options that one person can choose. */
    maxSelections: number;
  };
  template?: {
    /** Name of the template at the network. */
    name: string;
    /** Language of the template, such as `en_US`. */
    language: string;
    /** Values of the template, in the network's format. */
    components: unknown[];
  };
  /** Buttons, list or link of the message, as they were sent. */
  interactive?: Record<string, unknown>;
  mentions?: string[];
  /** Present if the message was forwarded. */
  forwarded?: true;
  /** Id of the button or list row that the sender chose. */
  payload?: string;
  linkPreview?: {
    /** The link, as it occurs in the text. */
    url: string;
    /** Title of the page. */
    title?: string;
    /** Description of the page. */
    description?: string;
    /** Present if a small picture goes out with it. */
    hasImage?: true;
  };
  /** Present if the file can be opened only once. */
  viewOnce?: true;
  /** Present if the video plays like a GIF: in a loop, without sound. */
  gif?: true;
  /** Present if the video is a round video note. */
  videoNote?: true;
  /** Present if the sticker is animated. */
  animated?: true;
  /** Present if everybody in the group is mentioned. */
  mentionsAll?: true;
  album?: {
    /** The same for all files of the album. */
    albumId: string;
    /** How many images the album has, if it is known. */
    images?: number;
    /** How many videos the album has, if it is known. */
    videos?: number;
  };
  /** All cards of a message with several. `contact` then has the numbers of all of them. */
  contacts?: {
    /** Name on the contact card. */
    name: string;
    phoneNumbers: string[];
  }[];
  /** Only of messages of the type `event`. The name is in `message`. */
  event?: {
    /** Description of the event. */
    description?: string;
    /** When it begins. */
    startsAt?: string;
    /** When it ends. */
    endsAt?: string;
    location?: {
      /** Degrees north (WGS 84). */
      latitude?: number;
      /** Degrees east (WGS 84). */
      longitude?: number;
      /** Name of the place. */
      name?: string;
      /** Postal address of the place. */
      address?: string;
    };
    /** Link to its call. */
    joinLink?: string;
    /** Present if it was canceled. */
    canceled?: true;
    /** Present if guests can bring others. */
    extraGuests?: true;
  };
  /** The product that a message shows or is about. */
  product?: {
    /** The network's id of the product. */
    productId?: string;
    /** The seller's own id of the product. */
    retailerId?: string;
    /** The network's id of the catalog. */
    catalogId?: string;
    /** Name of the product. */
    title?: string;
    /** Description of the product. */
    description?: string;
    /** Price, in units of the currency. */
    price?: number;
    /** Currency, such as `EUR`. */
    currency?: string;
    /** Page of the product. */
    url?: string;
    /** Phone number digits of the seller. */
    seller?: string;
  };
  /** Only of messages of the type `order`. */
  order?: {
    /** The network's id of the order. */
    orderId?: string;
    /** The network's id of the catalog. */
    catalogId?: string;
    /** Title of the order. */
    title?: string;
    /** How many items were ordered. */
    itemCount?: number;
    /** Total price, in units of the currency. */
    total?: number;
    /** Currency, such as `EUR`. */
    currency?: string;
    /** Phone number digits of the seller. */
    seller?: string;
    /** The ordered products, if the network tells them. */
    items?: {
      /** The seller's own id of the product. */
      retailerId: string;
      /** How many of it were ordered. */
      quantity: number;
      /** Price of one, in units of the currency. */
      price?: number;
      /** Currency, such as `EUR`. */
      currency?: string;
    }[];
  };
  /** Only of messages of the type `group_invite`. */
  groupInvite?: {
    /** Address of the group at the network. */
    networkGroupId: string;
    /** Name of the group. */
    subject?: string;
    /** Code of the invite, which is only for the recipient. */
    code: string;
    /** When the invite expires. */
    expiresAt?: string;
  };
  /** Present if the message answers buttons, a list, a template or a form. */
  choice?: {
    /** Kind of the message that the sender answered. */
    kind: 'button' | 'list' | 'template' | 'form';
    /** The network's name of the form. */
    name?: string;
    /** Second line of the chosen row. */
    description?: string;
    /** The answers in the form, as JSON. */
    response?: string;
  };
  /** The network's name of this kind of message. Only of messages of the type `unsupported`. */
  rawType?: string;
  /** Size, duration and waveform of the file, as far as they are known. */
  mediaFacts?: {
    /** Width in pixels, if it is known. */
    width?: number;
    /** Height in pixels, if it is known. */
    height?: number;
    /** Duration in seconds, if it is known. */
    durationSeconds?: number;
    /** Loudness of a voice message over its duration: 64 values. */
    waveform?: number[];
    /** Present if apps get a small picture of it before they download it. */
    hasThumbnail?: true;
  };
  /** Present if the content is left out because the API key has the permission `metadata` but not `read`. */
  contentHidden?: true;
  /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
  unidentified?: true;
  /** Present if the message was sent from the phone or another linked device, not through the API. */
  sentElsewhere?: true;
  /** `history`: the message is from before the session was linked. */
  origin?: 'history';
  /** File that is still at the network. `POST /messages/{messageId}/media` fetches it, and `media` replaces this field. */
  remoteMedia?: {
    /** Media type of the file, as the sender stated it. */
    mimeType: string;
    /** Size of the file in bytes, as the sender stated it. */
    size: number;
    /** Name of the file; null if there is none. */
    fileName: string | null;
  };
  /** Votes on the poll, one entry per voter. */
  votes?: {
    /** Phone number digits of the voter. */
    from: string;
    /** Options that the voter chose. */
    options: string[];
  }[];
  /** Answers to the event, one per person. */
  answers?: {
    /** Phone number digits of the person who answered. */
    from: string;
    /** Whether the person comes. */
    answer: 'going' | 'not_going' | 'maybe';
  }[];
  /** Reactions to the message, one per person. */
  reactions?: {
    /** Phone number digits of the person who reacted. */
    from: string;
    /** The emoji. */
    emoji: string;
    /** When the person reacted. */
    at: string;
  }[];
  /** Present if the owner of the session starred the message. */
  starred?: true;
  /** Until when the message is pinned in its chat. */
  pinnedUntil?: string;
  /** When the message disappears from phones. Switchboard keeps it. */
  expiresAt?: string;
  /** Ids of its labels (`lbl_…`). */
  labelIds?: string[];
  /** Present if the text was edited after sending. */
  edited?: true;
  /** Present if the message was deleted for everyone; its text is then empty. */
  deleted?: true;
  /** Why the message failed, as a sentence. */
  error?: string;
  /** Approval of the message; only if its API key needs one. */
  approval?: {
    /** `withdrawn`: it was cancelled before anybody decided. */
    status: 'pending' | 'approved' | 'rejected' | 'expired' | 'withdrawn';
    /** Id of the API key that asked for the message (`key_…`). */
    keyId: string;
    /** When the key asked. */
    requestedAt: string;
    /** When a message that waits is given up. */
    expiresAt?: string;
    /** When it was decided. */
    decidedAt?: string;
    /** Id of the API key that approved or rejected it, or `login`. */
    decidedBy?: string;
    /** Why it was rejected, if a reason was given. */
    reason?: string;
    /** Present if the text was edited when it was approved. */
    edited?: true;
  };
  /** The message that `replyTo` quotes, as its recipient will see it; only while the message waits for approval. */
  quoted?: {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Chat of the quoted message. */
    chatId: string;
    /** Phone number digits of its sender. */
    from: string;
    /** Type of the content. */
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
      | 'interactive'
      | 'event'
      | 'product'
      | 'order'
      | 'group_invite'
      | 'unsupported';
    /** Its text, caption or question. */
    message: string;
  };
  /** Image of the link preview, a JPEG in base64; only while the message waits for approval. */
  previewImage?: string;
  /** API key that sent or scheduled the message (`key_…`); left out for a login. */
  createdByKeyId?: string;
  /** URLs that the server fetches once the message is approved; only while it waits. */
  toFetch?: {
    /** URL of the file. */
    fileUrl?: string;
    /** Name of the file that the recipient sees. */
    fileName?: string;
    /** Present if the first link of the text gets a preview. */
    preview?: true;
    /** URL of the image of `linkPreview`. */
    previewImageUrl?: string;
  };
  /** Price of the message; only if the network has reported it. */
  pricing?: {
    /** Category of the price, such as `marketing`, `utility` or `service`. */
    category: string;
    /** Whether the message costs something. */
    billable: boolean;
  };
  /** Every status that the message has had, oldest first. */
  statusHistory: {
    /** `pending_approval`: waits for a person. `queued`: stored and about to be sent. `scheduled`: waits for its time. `sent`: the network accepted it. */
    status: 'pending_approval' | 'queued' | 'scheduled' | 'sent' | 'delivered' | 'read' | 'failed';
    /** When the message reached the status. */
    at: string;
  }[];
}

export interface Chat {
  /** Phone number digits of the other person, or the id of the group (`grp_…`). */
  chatId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** `direct` is a chat with one person. */
  type: 'direct' | 'group';
  /** Name that the person chose, or subject of the group; null if it is not known. */
  name: string | null;
  /** Incoming messages that are not marked as read. */
  unreadCount: number;
  /** Whether the chat is archived. */
  archived: boolean;
  /** Whether the chat is pinned. */
  pinned: boolean;
  /** Until when the chat is muted; null if it is not. */
  mutedUntil: string | null;
  /** Newest message; null if there is none. */
  lastMessage: Message | null;
  /** Whether the chat is marked as unread, whatever its messages are. */
  markedUnread: boolean;
  /** After how many seconds new messages disappear; null if they stay. */
  disappearingSeconds: number | null;
  /** Ids of its labels (`lbl_…`). */
  labelIds: string[];
  /** Address of the chat at the network, such as `491701234567@s.whatsapp.net`. */
  networkChatId?: string;
}

export interface UpdatedChat {
  /** Phone number digits of the other person, or the id of the group (`grp_…`). */
  chatId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** `direct` is a chat with one person. */
  type: 'direct' | 'group';
  /** Name that the person chose, or subject of the group; null if it is not known. */
  name: string | null;
  /** Incoming messages that are not marked as read. */
  unreadCount: number;
  /** Whether the chat is archived. */
  archived: boolean;
  /** Whether the chat is pinned. */
  pinned: boolean;
  /** Until when the chat is muted; null if it is not. */
  mutedUntil: string | null;
  /** Newest message; null if there is none. */
  lastMessage: Message | null;
  /** Whether the chat is marked as unread, whatever its messages are. */
  markedUnread: boolean;
  /** After how many seconds new messages disappear; null if they stay. */
  disappearingSeconds: number | null;
  /** Ids of its labels (`lbl_…`). */
  labelIds: string[];
  /** Address of the chat at the network, such as `491701234567@s.whatsapp.net`. */
  networkChatId?: string;
  /** Whether the change was made on the phone as well. `false` if the network does not support it or the session is not connected: then it holds only in Switchboard. */
  synchronized: boolean;
}

export interface Label {
  /** Id of the label (`lbl_…`). */
  labelId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Name of the label; empty until the network has reported it. */
  name: string;
  /** Index into the palette of the network. */
  color: number;
}

export interface Contact {
  /** Phone number digits of the contact. */
  phoneNumber: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Name in the address book, or the name that the contact chose; null if neither is known. */
  name: string | null;
  /** Name that the contact chose; null if it is not known. */
  pushName: string | null;
  /** Name in the address book of the account; null if there is none. */
  savedName: string | null;
  /** Whether the session has blocked the contact. */
  blocked: boolean;
  /** Whether the number is on the network; null if it was never checked. */
  onNetwork: boolean | null;
  /** When the number was last checked; null if never. */
  checkedAt: string | null;
  /** Present if the contact hides the number: `phoneNumber` is then a placeholder. */
  unidentified?: true;
}

export interface ContactWithIds {
  /** Phone number digits of the contact. */
  phoneNumber: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Name in the address book, or the name that the contact chose; null if neither is known. */
  name: string | null;
  /** Name that the contact chose; null if it is not known. */
  pushName: string | null;
  /** Name in the address book of the account; null if there is none. */
  savedName: string | null;
  /** Whether the session has blocked the contact. */
  blocked: boolean;
  /** Whether the number is on the network; null if it was never checked. */
  onNetwork: boolean | null;
  /** When the number was last checked; null if never. */
  checkedAt: string | null;
  /** Present if the contact hides the number: `phoneNumber` is then a placeholder. */
  unidentified?: true;
  /** Ids of the contact on the network, as far as they are known, such as `491701234567@s.whatsapp.net`. */
  networkIds: string[];
}

export interface Media {
  /** Id of the file (`med_…`). */
  mediaId: string;
  /** Media type, detected from the content, such as `image/jpeg`. */
  mimeType: string;
  /** Size in bytes. */
  size: number;
  /** SHA-256 of the content, in hexadecimal. */
  sha256: string;
  /** Name of the file; null if it has none. */
  fileName: string | null;
  /** When the file was first stored. */
  createdAt: string;
  /** Download the content here, with a credential that has `media:read`. */
  url: string;
  /** Width in pixels, if it is known. */
  width?: number;
  /** Height in pixels, if it is known. */
  height?: number;
  /** Duration in seconds, if it is known. */
  durationSeconds?: number;
  /** Loudness of a voice message over its duration: 64 values. */
  waveform?: number[];
  /** Present if apps get a small picture of it before they download it. */
  hasThumbnail?: true;
  /** The content in base64; only if you ask for it, and of up to 1 MiB. */
  content?: string;
  /** The thumbnail in base64, a small JPEG; only if you ask for it, and if there is one. */
  thumbnail?: string;
}

export interface Status {
  /** Id of the status (`sts_…`). */
  statusId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Phone number digits of the person who posted it. */
  from: string;
  /** Whether the session's own number posted it. */
  fromMe: boolean;
  /** Type of the status. */
  type: 'text' | 'image' | 'video' | 'voice';
  /** Text, or caption of the file. */
  message: string;
  media?: {
    /** Id of the media (`med_…`). */
    mediaId: string;
    /** Media type of the file, such as `image/jpeg`. */
    mimeType: string;
    /** Size of the file in bytes. */
    size: number;
    /** Name that the sender gave the file; null if there is none. */
    fileName: string | null;
    /** Download the file here, with an API key that has `media:read`. */
    url: string;
    /** Present if the file was deleted: its URL answers 404. */
    available?: false;
  };
  /** Color behind a text, such as `#1F6F5C`. */
  backgroundColor?: string;
  /** The network's number of the font of a text. */
  font?: number;
  /** `sending`: the network has not confirmed it. If the server stopped meanwhile, it may or may not be visible. */
  state: 'sending' | 'sent' | 'failed';
  /** Why it could not be posted, as a sentence; null if there was no error. */
  error: string | null;
  /** How many people have viewed it; 0 for statuses of others. */
  views: number;
  /** When it was posted. */
  timestamp: string;
  /** When it disappears. */
  expiresAt: string;
  /** When the session marked it as viewed; null if it did not. */
  viewedAt: string | null;
  /** Present if the content is left out because the API key has the permission `metadata` but not `read`. */
  contentHidden?: true;
}

export interface Channel {
  /** Id of the channel (`chn_…`). */
  channelId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Address of the channel on the network, such as `…@newsletter`. */
  networkChannelId: string;
  /** Name of the channel; null until the network has described it. */
  name: string | null;
  /** Text that describes the channel; null if there is none. */
  description: string | null;
  /** Link by which people find the channel; null if it is unknown. */
  inviteLink: string | null;
  /** Role of the session. Admins and the owner can post. null if the session does not follow the channel. */
  role: 'follower' | 'admin' | 'owner' | null;
  /** Whether the session has muted the channel. */
  muted: boolean;
  /** Whether the network has verified who owns it. */
  verified: boolean;
  /** How many people follow it; null if it is unknown. */
  followers: number | null;
  /** When the channel was created; null if it is unknown. */
  createdAt: string | null;
}

export interface ChannelPreview {
  /** Address of the channel on the network, such as `…@newsletter`. */
  networkChannelId: string;
  /** Name of the channel; null until the network has described it. */
  name: string | null;
  /** Text that describes the channel; null if there is none. */
  description: string | null;
  /** Link by which people find the channel; null if it is unknown. */
  inviteLink: string | null;
  /** Role of the session. Admins and the owner can post. null if the session does not follow the channel. */
  role: 'follower' | 'admin' | 'owner' | null;
  /** Whether the session has muted the channel. */
  muted: boolean;
  /** Whether the network has verified who owns it. */
  verified: boolean;
  /** How many people follow it; null if it is unknown. */
  followers: number | null;
  /** When the channel was created; null if it is unknown. */
  createdAt: string | null;
}

export interface ChannelPost {
  /** Id of the post (`pst_…`). */
  postId: string;
  /** Id of the channel (`chn_…`). */
  channelId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Whether it was posted with this API. */
  fromMe: boolean;
  /** Type of the post. */
  type: 'text' | 'image' | 'video';
  /** Text, or caption of the file. */
  message: string;
  media?: {
    /** Id of the media (`med_…`). */
    mediaId: string;
    /** Media type of the file, such as `image/jpeg`. */
    mimeType: string;
    /** Size of the file in bytes. */
    size: number;
    /** Name that the sender gave the file; null if there is none. */
    fileName: string | null;
    /** Download the file here, with an API key that has `media:read`. */
    url: string;
    /** Present if the file was deleted: its URL answers 404. */
    available?: false;
  };
  /** `sending`: the network has not confirmed it. If the server stopped meanwhile, it may or may not be visible. */
  state: 'sending' | 'sent' | 'failed';
  /** Why it could not be posted, as a sentence; null if there was no error. */
  error: string | null;
  /** How many people have seen it, as last reported; null if it is unknown. */
  views: number | null;
  /** How many people reacted with each emoji, as last reported. */
  reactions: Record<string, number>;
  /** When it was posted. */
  timestamp: string;
  /** Present if the content is left out because the API key has the permission `metadata` but not `read`. */
  contentHidden?: true;
}

export interface Group {
  /** Id of the group (`grp_…`). */
  groupId: string;
  /** Id of the session (`ses_…`). */
  sessionId: string;
  /** Name of the group. */
  subject: string;
  /** Text that describes the group; null if there is none. */
  description: string | null;
  /** Members of the group, with their roles. */
  participants: {
    /** Phone number digits of the participant. */
    phoneNumber: string;
    /** `admin` and `owner` can change the group and its participants. */
    role: 'member' | 'admin' | 'owner';
    /** Name of the person, if it is known: as saved on the phone, or as the person chose. */
    name?: string;
  }[];
  settings: {
    /** Only admins can send messages. */
    announce: boolean;
    /** Only admins can change subject, description and picture. */
    locked: boolean;
    /** An admin must approve people who join with the invite link. */
    joinApproval: boolean;
    /** People who can add members, if it is known. */
    memberAdd?: 'admins' | 'all';
    /** Seconds until messages disappear, if it is known; 0 if they stay. */
    disappearingSeconds?: number;
  };
  /** Id of the picture (`med_…`); null if there is none. */
  pictureMediaId: string | null;
  /** When the group was created. */
  createdAt: string;
  /** Address of the group at the network, such as `…@g.us`. */
  networkGroupId?: string;
  /** Present if it is a community. */
  isCommunity?: true;
  /** Id of its community (`grp_…`), if the session is a member of it. */
  communityId?: string;
  /** Present if it is the group of its community in which only admins write. */
  isAnnouncementGroup?: true;
}

export interface GroupInvite {
  /** Id of the group (`grp_…`). */
  groupId: string;
  /** Code at the end of the link. `groups.join` accepts the code or the link. */
  inviteCode: string;
  /** Link to send to people. Anyone with the link can join. */
  inviteLink: string;
}

export interface InvitePreview {
  /** Address of the group at the network, such as `…@g.us`. */
  networkGroupId: string;
  /** Name of the group. */
  subject: string;
  /** Text that describes the group; null if there is none. */
  description: string | null;
  /** Number of members; null if the network does not report it. */
  size: number | null;
  /** Phone number digits of its creator; null if they are not known. */
  createdBy: string | null;
  /** When the group was created; null if it is not known. */
  createdAt: string | null;
  /** An admin must approve people who join with the invite link. */
  joinApproval: boolean;
  /** Present if it is a community. */
  isCommunity?: true;
}

export interface WebhookTest {
  /** Whether the receiver responded with 2xx, or the broker confirmed the message. */
  delivered: boolean;
  /** Outcome class; `ok` means that the receiver responded with 2xx, or that the broker confirmed the message. */
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
  /** HTTP status of the response; null if there was none. */
  status: number | null;
  /** Result as a sentence. */
  message: string;
  /** Duration of the request in milliseconds. */
  latencyMs: number;
  /** Result of each stage, in order: URL, name lookup, connection, TLS, then HTTP, or login and publishing. */
  stages: {
    /** Stage of the request: `http` over HTTP, `login` and `publish` at a message broker. */
    stage: 'url' | 'dns' | 'connect' | 'tls' | 'http' | 'login' | 'publish';
    /** Result of the stage. */
    result: 'ok' | 'failed' | 'skipped';
    /** Duration in milliseconds; null if the stage was not reached. */
    ms: number | null;
  }[];
  /** Id of the entry in the delivery log (`dlv_…`). */
  deliveryId: string;
  request: {
    /** URL of the request. */
    url: string;
    /** Headers as sent, signatures included. */
    headers: Record<string, string>;
    /** Body as sent. */
    body: string;
  };
  /** First 1 KiB of the response; null if there was none. */
  response: string | null;
}

export interface WebhookStats {
  /** Number of deliveries that are not settled. */
  pending: number;
  /** Number of pending deliveries while the circuit breaker is open or half open. */
  held: number;
  /** Age of the oldest pending delivery in milliseconds; null if none is pending. */
  oldestPendingAgeMs: number | null;
  /** Totals by period. */
  windows: {
    '1h': {
      /** Number of attempts. */
      attempts: number;
      /** Share of attempts that succeeded, from 0 to 1; null without attempts. */
      successRate: number | null;
      /** Duration of attempts in milliseconds. */
      latencyMs: {
        /** Median; null without attempts. */
        p50: number | null;
        /** 95th percentile; null without attempts. */
        p95: number | null;
        /** 99th percentile; null without attempts. */
        p99: number | null;
      };
      /** Number of attempts by outcome class. */
      byClass: Record<string, number>;
      /** Number of deliveries by final state. */
      byState: Record<string, number>;
    };
    '24h': {
      /** Number of attempts. */
      attempts: number;
      /** Share of attempts that succeeded, from 0 to 1; null without attempts. */
      successRate: number | null;
      /** Duration of attempts in milliseconds. */
      latencyMs: {
        /** Median; null without attempts. */
        p50: number | null;
        /** 95th percentile; null without attempts. */
        p95: number | null;
        /** 99th percentile; null without attempts. */
        p99: number | null;
      };
      /** Number of attempts by outcome class. */
      byClass: Record<string, number>;
      /** Number of deliveries by final state. */
      byState: Record<string, number>;
    };
    '7d': {
      /** Number of attempts. */
      attempts: number;
      /** Share of attempts that succeeded, from 0 to 1; null without attempts. */
      successRate: number | null;
      /** Duration of attempts in milliseconds. */
      latencyMs: {
        /** Median; null without attempts. */
        p50: number | null;
        /** 95th percentile; null without attempts. */
        p95: number | null;
        /** 99th percentile; null without attempts. */
        p99: number | null;
      };
      /** Number of attempts by outcome class. */
      byClass: Record<string, number>;
      /** Number of deliveries by final state. */
      byState: Record<string, number>;
    };
  };
  /** Minutes of the last hour with at least one attempt, oldest first. */
  series: {
    /** Start of the minute. */
    minute: string;
    /** Number of attempts. */
    attempts: number;
    /** Number of attempts that succeeded. */
    delivered: number;
    /** Number of attempts that failed. */
    failedAttempts: number;
    /** 95th percentile of the duration in milliseconds. */
    p95Ms: number | null;
  }[];
}

export interface CircuitBreaker {
  /** `closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time, as a probe. */
  state: 'closed' | 'open' | 'half_open';
  /** When the circuit breaker entered this state; null if no webhook is set. */
  since: string | null;
  /** Why the circuit breaker entered this state. */
  reason: string | null;
  /** Last attempt that failed; null if none has. */
  lastError: {
    /** Outcome class; `ok` means that the receiver responded with 2xx, or that the broker confirmed the message. */
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
    /** HTTP status of the response; null if there was none. */
    status: number | null;
    /** Error as a sentence. */
    message: string;
    /** When the attempt failed. */
    at: string;
  } | null;
  /** Number of attempts that failed since the last success. */
  failuresInARow: number;
  /** Recent attempts, which determine the failure rate. */
  window: {
    /** Length of the window. */
    seconds: number;
    /** Number of attempts in the window. */
    attempts: number;
    /** Number of failed attempts in the window. */
    failures: number;
  };
  /** When the open period ends; null if the circuit breaker is not open. */
  openUntil: string | null;
  /** When the next held delivery goes out as a probe; null unless the breaker is open and holds deliveries. */
  nextProbeAt: string | null;
  /** Deliveries that wait until the circuit breaker closes. */
  held: {
    /** Number of held deliveries. */
    count: number;
    /** Time of the oldest held delivery; null unless the breaker is open and holds deliveries. */
    oldestAt: string | null;
  };
  /** Rules by which the circuit breaker opens and closes. */
  thresholds: {
    /** Failed attempts in a row that open the circuit breaker. */
    failuresInARow: number;
    /** Length of the window for the failure rate. */
    windowSeconds: number;
    /** Minimum attempts in the window before the failure rate applies. */
    windowAttempts: number;
    /** Failure rate in the window that opens it, from 0 to 1. */
    windowFailureRate: number;
    /** Successful probes in a row that close it. */
    successesToClose: number;
    /** Length of the first open period, and of every other one in the first part of an outage. */
    openSeconds: number;
    /** Length of the first part of an outage. After it, each failed probe doubles the open period. */
    steadySeconds: number;
    /** Length of the longest open period. */
    longestOpenSeconds: number;
  };
  /** Latest changes of the state, newest first. Of several failed probes in a row only the last one is listed. */
  transitions: {
    /** When the state changed. */
    at: string;
    /** `closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time, as a probe. */
    from: 'closed' | 'open' | 'half_open';
    /** `closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time, as a probe. */
    to: 'closed' | 'open' | 'half_open';
    /** Why the state changed. */
    reason: string;
  }[];
}

export interface BreakerReset {
  /** `closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time, as a probe. */
  previousState: 'closed' | 'open' | 'half_open';
  /** `closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time, as a probe. */
  state: 'closed' | 'open' | 'half_open';
  /** Number of deliveries that were held and now go out. */
  released: number;
}

export interface Delivery {
  /** Id of the delivery (`dlv_…`). */
  deliveryId: string;
  /** Id of the webhook (`whk_…`) or of the event subscription (`whs_…`). */
  webhookId: string;
  /** Id of the event (`evt_…`), which receivers get as `X-Webhook-Id`. */
  eventId: string;
  /** Event type. */
  event:
    | 'message.incoming'
    | 'message.sent'
    | 'message.delivered'
    | 'message.read'
    | 'session.connected'
    | 'session.disconnected'
    | 'group.created'
    | 'group.updated'
    | 'message.reaction'
    | 'message.edited'
    | 'message.deleted'
    | 'message.failed'
    | 'message.queued'
    | 'message.approval'
    | 'poll.vote'
    | 'message.location'
    | 'event.answer'
    | 'chat.updated'
    | 'chat.removed'
    | 'message.removed'
    | 'message.marked'
    | 'message.pinned'
    | 'label.updated'
    | 'contact.updated'
    | 'presence.updated'
    | 'session.status'
    | 'session.history'
    | 'session.updated'
    | 'template.updated'
    | 'group.participants'
    | 'group.join_request'
    | 'call.incoming'
    | 'call.ended'
    | 'status.received'
    | 'status.deleted'
    | 'status.viewed'
    | 'channel.message'
    | 'webhook.circuit_opened'
    | 'webhook.circuit_closed';
  /** `pending`: not settled yet. `failed`: all attempts failed. `expired`: it was held for too long. */
  state: 'pending' | 'delivered' | 'failed' | 'expired' | 'cancelled';
  /** Number of attempts so far. */
  attempts: number;
  /** Outcome class of the last attempt; null before the first one. */
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
  /** Outcome of the last attempt as a sentence; null before the first one. */
  lastMessage: string | null;
  /** When the next attempt is due, unless the circuit breaker holds it; null once settled, and while `heldBehind` is set. */
  dueAt: string | null;
  /** Earlier delivery of the chat (`dlv_…`) for which it waits, at a webhook with `ordering: "strict"`; otherwise null. */
  heldBehind: string | null;
  /** Id of the message that the event is about; null if it is not about one. */
  messageId: string | null;
  /** Whether it is the sample event of a test. */
  isTest: boolean;
  /** When the event happened. */
  createdAt: string;
  /** When the delivery reached its final state; null while it is pending. */
  settledAt: string | null;
}

export interface DeliveryWithAttempts {
  /** Id of the delivery (`dlv_…`). */
  deliveryId: string;
  /** Id of the webhook (`whk_…`) or of the event subscription (`whs_…`). */
  webhookId: string;
  /** Id of the event (`evt_…`), which receivers get as `X-Webhook-Id`. */
  eventId: string;
  /** Event type. */
  event:
    | 'message.incoming'
    | 'message.sent'
    | 'message.delivered'
    | 'message.read'
    | 'session.connected'
    | 'session.disconnected'
    | 'group.created'
    | 'group.updated'
    | 'message.reaction'
    | 'message.edited'
    | 'message.deleted'
    | 'message.failed'
    | 'message.queued'
    | 'message.approval'
    | 'poll.vote'
    | 'message.location'
    | 'event.answer'
    | 'chat.updated'
    | 'chat.removed'
    | 'message.removed'
    | 'message.marked'
    | 'message.pinned'
    | 'label.updated'
    | 'contact.updated'
    | 'presence.updated'
    | 'session.status'
    | 'session.history'
    | 'session.updated'
    | 'template.updated'
    | 'group.participants'
    | 'group.join_request'
    | 'call.incoming'
    | 'call.ended'
    | 'status.received'
    | 'status.deleted'
    | 'status.viewed'
    | 'channel.message'
    | 'webhook.circuit_opened'
    | 'webhook.circuit_closed';
  /** `pending`: not settled yet. `failed`: all attempts failed. `expired`: it was held for too long. */
  state: 'pending' | 'delivered' | 'failed' | 'expired' | 'cancelled';
  /** Number of attempts so far. */
  attempts: number;
  /** Outcome class of the last attempt; null before the first one. */
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
  /** Outcome of the last attempt as a sentence; null before the first one. */
  lastMessage: string | null;
  /** When the next attempt is due, unless the circuit breaker holds it; null once settled, and while `heldBehind` is set. */
  dueAt: string | null;
  /** Earlier delivery of the chat (`dlv_…`) for which it waits, at a webhook with `ordering: "strict"`; otherwise null. */
  heldBehind: string | null;
  /** Id of the message that the event is about; null if it is not about one. */
  messageId: string | null;
  /** Whether it is the sample event of a test. */
  isTest: boolean;
  /** When the event happened. */
  createdAt: string;
  /** When the delivery reached its final state; null while it is pending. */
  settledAt: string | null;
  /** Why the delivery has or has not arrived, as a sentence. */
  why: string;
  /** Body as the next attempt would send it. With only `webhooks:metadata`, the content of the message is left out. */
  body: string;
  /** Every attempt, oldest first. */
  attemptLog: {
    /** Number of the attempt, from 1. */
    number: number;
    /** Headers of the request, without the signatures, which are not stored. `webhook-id` and `webhook-timestamp` are present if the webhook has a secret now. */
    headers: Record<string, string>;
    /** Outcome class; `ok` means that the receiver responded with 2xx, or that the broker confirmed the message. */
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
    /** HTTP status of the response; null if there was none. */
    status: number | null;
    /** Duration of the attempt in milliseconds. */
    durationMs: number;
    /** Outcome as a sentence. */
    message: string;
    /** First 1 KiB of the response, which can repeat what was sent; null if there was none. */
    response: string | null;
    /** When the attempt started. */
    at: string;
  }[];
}

export interface SecretRotation {
  /** Whether a secret is set. */
  hasSecret: boolean;
  /** Until when `webhook-signature` has both signatures; null if it has one. */
  previousSecretValidUntil: string | null;
  /** Page of the dashboard on which a person with a login reads the new secret, for seven days. Only its path if `PUBLIC_URL` is not set. */
  secretUrl?: string;
}

export interface RevealedSecret {
  /** The secret. Set it in the receiver. */
  secret: string;
  /** Until when it can be read. */
  readableUntil: string;
}

export interface WebhookDestination {
  /** How events are sent; `http` by default. */
  type: 'http' | 'rabbitmq' | 'nats' | 'redis' | 'kafka' | 'sqs';
  /** RabbitMQ: the exchange; left out for the default one, where `routingKey` names a queue. */
  exchange?: string;
  /** RabbitMQ: the routing key. */
  routingKey?: string;
  /** NATS: a subject of a JetStream stream. */
  subject?: string;
  /** Redis: the key of the stream. */
  stream?: string;
  /** Redis: the approximate number of entries to keep; left out for all. */
  maxLength?: number;
  /** Kafka: the topic. The conversation is the key of a message. */
  topic?: string;
  /** Kafka: how to log in; `plain` by default. */
  saslMechanism?: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  /** Amazon SQS: the region, if the URL does not name it. */
  region?: string;
}

export interface WebhookEndpoint {
  /** Id of the webhook (`whk_…`). */
  webhookId: string;
  /** Whether it is the default webhook, which `POST /webhooks/set` manages. */
  isDefault: boolean;
  /** URL that receives events; null if no webhook is set. */
  webhookUrl: string | null;
  /** Event types that the webhook receives, and patterns. */
  events: string[];
  /** Whether a secret is set. The secret itself is never returned. */
  hasSecret: boolean;
  /** Whether events are sent. */
  enabled: boolean;
  /** When the webhook was first set; null if none is set. */
  createdAt: string | null;
  /** When the webhook was last changed; null if none is set. */
  updatedAt: string | null;
  /** Sessions whose events it receives; null for all. */
  sessionIds: string[] | null;
  /** Note for people; null if there is none. */
  description: string | null;
  /** Your own data, as you set it. */
  metadata: Record<string, string>;
  destination: WebhookDestination;
  /** Names of the credentials that are set. */
  credentialNames: string[];
  /** Selection of events; null for all. */
  filters: {
    /** Only these chats: phone numbers, ids of groups (`grp_…`, `…@g.us`) and channels (`chn_…`), or beginnings such as `49170*`. */
    chats?: string[];
    /** Not these chats, in the same form. */
    ignoredChats?: string[];
    /** Only chats of these types. */
    chatTypes?: ('direct' | 'group' | 'channel')[];
    /** `true`: only what the session itself did; `false`: only what others did. */
    fromMe?: boolean;
    /** Only messages of these types. */
    messageTypes?: (
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
      | 'product'
      | 'order'
      | 'group_invite'
      | 'unsupported'
    )[];
  } | null;
  /** Names of the headers that deliveries have in addition. */
  headerNames: string[];
  /** Deadline; null for that of the server. */
  timeoutMs: number | null;
  /** Whether 302 and 303 count as delivered. */
  acceptRedirects: boolean;
  /** Seconds before each retry; null for the schedule of the server. */
  retrySeconds: number[] | null;
  /** Whether events are queued but not sent. */
  paused: boolean;
  /** Reason why the server paused it; null if a caller did, or if it is not paused. */
  pausedReason: string | null;
  /** `strict`: a delivery that failed holds back the later ones of its chat until it succeeds, fails for good or is cancelled. `best_effort`, the default: only first attempts keep the order. */
  ordering: 'best_effort' | 'strict';
  /** Groups of fields that are added to `data` of its events. */
  include: ('network' | 'contact' | 'chat' | 'session')[];
  /** Number of deliveries in flight at the same time. */
  maxInFlight: number;
  /** API key that created the webhook, or the last one that changed where it sends; null for a login. */
  setByKeyId: string | null;
  /** Until when a login can read the secret that the server made; null if it cannot. */
  secretReadableUntil: string | null;
  /** State of the circuit breaker; `open` means that deliveries are held. */
  breakerState: 'closed' | 'open' | 'half_open';
}

export interface ChangedWebhookEndpoint {
  /** Id of the webhook (`whk_…`). */
  webhookId: string;
  /** Whether it is the default webhook, which `POST /webhooks/set` manages. */
  isDefault: boolean;
  /** URL that receives events; null if no webhook is set. */
  webhookUrl: string | null;
  /** Event types that the webhook receives, and patterns. */
  events: string[];
  /** Whether a secret is set. The secret itself is never returned. */
  hasSecret: boolean;
  /** Whether events are sent. */
  enabled: boolean;
  /** When the webhook was first set; null if none is set. */
  createdAt: string | null;
  /** When the webhook was last changed; null if none is set. */
  updatedAt: string | null;
  /** Sessions whose events it receives; null for all. */
  sessionIds: string[] | null;
  /** Note for people; null if there is none. */
  description: string | null;
  /** Your own data, as you set it. */
  metadata: Record<string, string>;
  destination: WebhookDestination;
  /** Names of the credentials that are set. */
  credentialNames: string[];
  /** Selection of events; null for all. */
  filters: {
    /** Only these chats: phone numbers, ids of groups (`grp_…`, `…@g.us`) and channels (`chn_…`), or beginnings such as `49170*`. */
    chats?: string[];
    /** Not these chats, in the same form. */
    ignoredChats?: string[];
    /** Only chats of these types. */
    chatTypes?: ('direct' | 'group' | 'channel')[];
    /** `true`: only what the session itself did; `false`: only what others did. */
    fromMe?: boolean;
    /** Only messages of these types. */
    messageTypes?: (
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
      | 'product'
      | 'order'
      | 'group_invite'
      | 'unsupported'
    )[];
  } | null;
  /** Names of the headers that deliveries have in addition. */
  headerNames: string[];
  /** Deadline; null for that of the server. */
  timeoutMs: number | null;
  /** Whether 302 and 303 count as delivered. */
  acceptRedirects: boolean;
  /** Seconds before each retry; null for the schedule of the server. */
  retrySeconds: number[] | null;
  /** Whether events are queued but not sent. */
  paused: boolean;
  /** Reason why the server paused it; null if a caller did, or if it is not paused. */
  pausedReason: string | null;
  /** `strict`: a delivery that failed holds back the later ones of its chat until it succeeds, fails for good or is cancelled. `best_effort`, the default: only first attempts keep the order. */
  ordering: 'best_effort' | 'strict';
  /** Groups of fields that are added to `data` of its events. */
  include: ('network' | 'contact' | 'chat' | 'session')[];
  /** Number of deliveries in flight at the same time. */
  maxInFlight: number;
  /** API key that created the webhook, or the last one that changed where it sends; null for a login. */
  setByKeyId: string | null;
  /** Until when a login can read the secret that the server made; null if it cannot. */
  secretReadableUntil: string | null;
  /** State of the circuit breaker; `open` means that deliveries are held. */
  breakerState: 'closed' | 'open' | 'half_open';
  /** Number of pending deliveries that the change cancelled, up to 100,000. */
  cancelled: number;
  /** Remarks on the new configuration, as sentences. */
  warnings: string[];
}

export interface EventSubscription {
  /** Id of the webhook (`whk_…`). */
  webhookId: string;
  /** Id that the client knows (`sub_…`), which deliveries have as `X-MCP-Subscription-Id`. */
  subscriptionId: string;
  /** API key that subscribed (`key_…`). */
  keyId: string;
  /** URL that receives the events. */
  webhookUrl: string;
  /** Event type. */
  event: string;
  /** Arguments that select events, as the client sent them. */
  arguments: Record<string, unknown>;
  /** When it ends unless the client refreshes it. */
  expiresAt: string;
  /** When the client subscribed. */
  createdAt: string;
  /** State of the circuit breaker. */
  breakerState: 'closed' | 'open' | 'half_open';
}

/** Input and output of each operation. */
export interface Operations {
  /** Register an account. Create an account and log in. Returns a login token, with which you can create API keys. Fails with `registration_closed` if the server accepts no new accounts. */
  'auth.register': {
    input: {
      /** Email address, such as you@example.com. Case does not matter. */
      email: string;
      /** 10 to 256 characters. Must not be the email address or a common password. */
      password: string;
      /** Name of the account, such as that of your company. Only you see it. */
      name?: string;
    };
    output: Login;
  };
  /** Log in. Exchange the email address and the password for a login token. Failed logins are limited per account and address. */
  'auth.login': {
    input: {
      /** Email address, such as you@example.com. Case does not matter. */
      email: string;
      /** Password of the account. */
      password: string;
    };
    output: Login;
  };
  /** Log out in this browser. Delete the login cookie of the dashboard. Login tokens keep working; `auth.logout` revokes them. */
  'auth.forget_login': {
    input: Record<string, never>;
    output: {
      /** Always true. */
      loggedOut: true;
    };
  };
  /** Log out everywhere. Revoke all login tokens of the account, on all devices. API keys keep working. */
  'auth.logout': {
    input: Record<string, never>;
    output: {
      /** Always true. */
      loggedOut: true;
    };
  };
  /** Get the account and the credential. Get the account, and the permissions of the credential that you send, with the limits of a key. Use it to check a credential. */
  'auth.me': {
    input: Record<string, never>;
    output: {
      account: Account;
      credential: {
        /** `jwt` is a login token. */
        type: 'jwt' | 'api_key';
        /** Id of the API key (`key_…`). */
        keyId?: string;
        /** Permissions of the credential. */
        permissions: string[];
        /** Sessions that the key may use; null for all. */
        sessionIds?: string[] | null;
        /** Networks that may use the key; null for all. */
        allowedIps?: string[] | null;
        /** Recipients to whom the key may send; null for all. */
        allowedRecipients?: string[] | null;
        /** Messages that the key may send per day (UTC); null for any number. */
        sendQuota?: number | null;
        /** Calls before which an agent with the key asks its user; null for none. */
        confirm?: ('destructive' | 'new_recipients')[] | null;
        /** Whether every message of the key waits for approval. */
        requiresApproval?: boolean;
      };
    };
  };
  /** Change the password. Change the password of the account. Revokes all login tokens and returns a new one. API keys keep working. */
  'auth.change_password': {
    input: {
      /** Current password, as a check. */
      currentPassword: string;
      /** 10 to 256 characters. Must not be the email address or a common password. */
      newPassword: string;
    };
    output: Login;
  };
  /** Create an API key. Create a key for a program or an agent. The key is returned once and cannot be read again. Grant only the permissions that the program needs; the default is `["*"]`. You cannot grant permissions that you do not have. */
  'api_keys.create': {
    input: {
      /** Label for the key, such as `my integration`. */
      name: string;
      /** Permissions of the key: `*` for everything, `*:read` for reading, `messages:*` for a resource, or `messages:send` for one action. */
      permissions?: string[];
      /** When the key stops working; null for never. */
      expiresAt?: string | null;
      /** Only these sessions and what belongs to them; `null` for all, which is the default. */
      sessionIds?: string[] | null;
      /** Only from these networks, such as `203.0.113.0/24` or `2001:db8::/32`, or single addresses; `null` for all. */
      allowedIps?: string[] | null;
      /** Sends only to these phone numbers, groups (`grp_…`, `…@g.us`) and numbers that begin with digits (`49170*`); `null` for all. */
      allowedRecipients?: string[] | null;
      /** Sends at most this many messages per day (UTC); `null` for any number. */
      sendQuota?: number | null;
      /** Asks the user over MCP before these calls: `destructive` ones, and the first message to `new_recipients`. Over REST they are refused. `null` never asks. */
      confirm?: ('destructive' | 'new_recipients')[] | null;
      /** true holds every message until it is approved; false by default. */
      requiresApproval?: boolean;
    };
    output: NewApiKey;
  };
  /** List API keys. List the account's API keys and connected apps with their permissions and last use, newest first. The keys themselves are never returned. */
  'api_keys.list': {
    input: {
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: ApiKey[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Update an API key. Change the name, the permissions, the expiry or the limits of a key. Fields that you leave out do not change. The change applies at once, and ends the streams of a key whose limits it changes. */
  'api_keys.update': {
    input: {
      /** Id of the key (`key_…`). */
      keyId: string;
      /** Label for the key, such as `my integration`. */
      name?: string;
      /** Permissions of the key: `*` for everything, `*:read` for reading, `messages:*` for a resource, or `messages:send` for one action. */
      permissions?: string[];
      /** When the key stops working; null for never. */
      expiresAt?: string | null;
      /** Only these sessions and what belongs to them; `null` for all, which is the default. */
      sessionIds?: string[] | null;
      /** Only from these networks, such as `203.0.113.0/24` or `2001:db8::/32`, or single addresses; `null` for all. */
      allowedIps?: string[] | null;
      /** Sends only to these phone numbers, groups (`grp_…`, `…@g.us`) and numbers that begin with digits (`49170*`); `null` for all. */
      allowedRecipients?: string[] | null;
      /** Sends at most this many messages per day (UTC); `null` for any number. */
      sendQuota?: number | null;
      /** Asks the user over MCP before these calls: `destructive` ones, and the first message to `new_recipients`. Over REST they are refused. `null` never asks. */
      confirm?: ('destructive' | 'new_recipients')[] | null;
      /** true holds every message until it is approved; false by default. */
      requiresApproval?: boolean;
    };
    output: ApiKey;
  };
  /** Rotate an API key. Replace a key with a new one, which is returned once. The id, the name, the permissions and the limits stay. The old key stops working at once. A connected app has no key. */
  'api_keys.rotate': {
    input: {
      /** Id of the key (`key_…`). */
      keyId: string;
    };
    output: NewApiKey;
  };
  /** Revoke an API key. Delete a key, or disconnect an app. It stops working immediately, and its open event streams and subscriptions end. Scheduled messages and webhooks that it made stay, unless `created` is `remove`. */
  'api_keys.revoke': {
    input: {
      /** Id of the key (`key_…`). */
      keyId: string;
      /** `remove` also cancels its messages that are scheduled, queued or wait for approval, and removes its webhooks and its texts for callers. Defaults to `keep`. */
      created?: 'keep' | 'remove';
    };
    output: {
      /** Id of the key (`key_…`). */
      keyId: string;
      /** Always true. */
      revoked: true;
      /** Things that were removed with the key; only with `created=remove`. */
      removed?: {
        /** Number of messages that were cancelled. */
        messages: number;
        /** Number of webhooks that were removed. */
        webhooks: number;
      };
    };
  };
  /** List the tool calls of an API key. List the calls of agents with a key over MCP, newest first, without the content of messages. The calls of a revoked key stay listed until they are as old as events may get (`EVENT_RETENTION_DAYS`). Calls above the rate limit are not listed. */
  'api_keys.list_calls': {
    input: {
      /** Id of the key (`key_…`), which may be revoked. */
      keyId: string;
      /** Only calls of this tool, such as `messages_send`. */
      tool?: string;
      /** Only calls with this outcome: `ok`, `pending_approval`, `failed` for any error, or the code of an error. */
      outcome?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: ToolCall[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Get the request of an app. Get the app that asks to be connected by OAuth, and the permissions that it asks for. For the consent page of the dashboard. */
  'connections.get_request': {
    input: {
      /** Id of the request, from the address of the consent page. */
      requestId: string;
    };
    output: ConnectionRequest;
  };
  /** Connect an app. Approve the request of an app, with the permissions that you choose, and with the limits of an API key. The app becomes an API key without a secret. If it is connected already, its permissions are replaced, and its limits as far as you give them. Only the browser in which the request began can continue. */
  'connections.approve': {
    input: {
      /** Id of the request, from the address of the consent page. */
      requestId: string;
      /** Permissions for the app, among `permissions` and `morePermissions`. */
      permissions: string[];
      /** When the key stops working; null for never. */
      expiresAt?: string | null;
      /** Only these sessions and what belongs to them; `null` for all, which is the default. */
      sessionIds?: string[] | null;
      /** Only from these networks, such as `203.0.113.0/24` or `2001:db8::/32`, or single addresses; `null` for all. */
      allowedIps?: string[] | null;
      /** Sends only to these phone numbers, groups (`grp_…`, `…@g.us`) and numbers that begin with digits (`49170*`); `null` for all. */
      allowedRecipients?: string[] | null;
      /** Sends at most this many messages per day (UTC); `null` for any number. */
      sendQuota?: number | null;
      /** Asks the user over MCP before these calls: `destructive` ones, and the first message to `new_recipients`. Over REST they are refused. `null` never asks. */
      confirm?: ('destructive' | 'new_recipients')[] | null;
      /** true holds every message until it is approved; false by default. */
      requiresApproval?: boolean;
    };
    output: {
      /** Id of the API key that stands for the app. */
      keyId: string;
      /** Path of this server where the same browser continues. */
      redirectUrl: string;
    };
  };
  /** Deny the request of an app. Deny the request of an app, which learns of it. A present connection of the app does not change. */
  'connections.deny': {
    input: {
      /** Id of the request, from the address of the consent page. */
      requestId: string;
    };
    output: {
      /** Path of this server where the same browser continues. */
      redirectUrl: string;
    };
  };
  /** List networks. List the networks (connectors) that sessions can use, the default one first, with their options and message types. Also returns the server's size limit for files. The list is not paged. */
  'connectors.list': {
    input: Record<string, never>;
    output: {
      /** All networks of this server. */
      data: Connector[];
      /** Largest file in bytes that can be uploaded or fetched from a `url`. A network can have a lower limit. */
      mediaMaxBytes: number;
    };
  };
  /** List sessions. List the account's sessions with their status, phone number and network, newest first. Use it to find a `sessionId`. */
  'sessions.list': {
    input: {
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Session[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Create a session. Add a session, which is one phone number on one network. Returns it with the status `created`; call `sessions.connect` next. */
  'sessions.create': {
    input: {
      /** Label for people, such as `support`. */
      name?: string;
      /** Network, such as `sandbox` or `whatsapp`; the server's default if left out. */
      connector?: string;
      /** Number of the session, if the network lets you choose it. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber?: string;
      /** Options of the network that the user names, see `GET /connectors`. */
      options?: Record<string, unknown>;
      /** Your own data: up to 50 strings by key (40 characters), such as `{"team": "sales"}`. */
      metadata?: Record<string, string>;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
    };
    output: Session;
  };
  /** Get a session. Get one session with its status, phone number and error. Use it to see whether the session is connected and, if not, why. */
  'sessions.get': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: Session;
  };
  /** Update a session. Change the name, the metadata or the options of a session. Fields that you leave out do not change. `metadata` and `options` replace what was set before, except that secret options stay unless you pass new ones. A session that is connected or connecting connects again with new options before the response, so `status` and `error` show whether they work. Other sessions use new options once they connect; `warnings` says so. */
  'sessions.update': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Label for people; null removes it. */
      name?: string | null;
      /** Your own data: up to 50 strings by key (40 characters), such as `{"team": "sales"}`. */
      metadata?: Record<string, string>;
      /** Options of the network that the user names, see `GET /connectors`. */
      options?: Record<string, unknown>;
    };
    output: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Label for people; null if none was set. */
      name: string | null;
      /** Network of the session, such as `whatsapp`. */
      connector: string;
      /** Phone number digits; null until the network has reported them. */
      phoneNumber: string | null;
      /** Only `connected` sessions send and receive. `awaiting_pairing`: a phone must scan the QR code or enter a pairing code. */
      status: 'created' | 'connecting' | 'awaiting_pairing' | 'connected' | 'disconnected' | 'logged_out' | 'failed';
      /** When the session connected; null while it is not connected. */
      connectedAt: string | null;
      /** When the network last reported something; null if it never did. */
      lastEventAt: string | null;
      /** API key that set the text for callers (`calls.message`); left out for a login. */
      callTextKeyId?: string;
      /** Why the session is not connected, as a sentence; null if there was no error. */
      error: string | null;
      /** Options of the network, without their secrets. */
      options: Record<string, unknown>;
      /** URL that the network calls for this session; null if the network makes no calls. */
      callbackUrl: string | null;
      /** Your own data, as you set it. */
      metadata: Record<string, string>;
      /** When the session was created. */
      createdAt: string;
      /** Import of the history of the phone, which begins when the session is linked. */
      history?: {
        /** `none`: the session imports no history, or the network has none. `waiting`: the phone has sent nothing yet. `failed`: a part is missing; `error` says why. */
        state: 'none' | 'waiting' | 'importing' | 'complete' | 'failed';
        /** Percent, as the phone reports it. */
        progress: number;
        /** Messages imported so far. */
        messages: number;
        /** Chats that are new. */
        chats: number;
        /** Contacts that are new. */
        contacts: number;
        /** Why a part is missing, as a sentence; null if nothing failed. */
        error: string | null;
        /** When that last changed; null if it never did. */
        updatedAt: string | null;
      };
      /** The network's judgment of the number; null if the network has none. */
      network: {
        /** Name that recipients see; null if it is unknown. */
        displayName: string | null;
        /** Review of the name, such as `approved` or `declined`; null if it is unknown. */
        nameStatus: string | null;
        /** Quality by the reactions of recipients; null if the network has not rated it. */
        quality: 'high' | 'medium' | 'low' | 'unknown' | null;
        /** The network's name of the messaging limit, such as `TIER_2K`. */
        messagingTier: string | null;
        /** People to whom the business may start to write within 24 hours; null if it is unknown or unlimited. */
        messagingLimit: number | null;
        /** Sending speed, such as `standard` or `high`; null if it is unknown. */
        throughput: string | null;
        /** `live`, or `sandbox` for a test number; null if it is unknown. */
        accountMode: string | null;
        /** Whether the network lets the number send; `problems` has the reasons if it does not. */
        canSend: 'yes' | 'limited' | 'no' | null;
        /** Restrictions of the number, its account, its business or its app. */
        problems: {
          /** The restricted part, such as `phone_number` or `business_account`. */
          concerns: string;
          /** The reason, in the network's words. */
          message: string;
        }[];
        /** Up to ten latest notices about the number or its account. */
        notices: {
          /** The network's name of the notice, such as `ACCOUNT_RESTRICTION`. */
          type: string;
          /** How urgent it is. */
          severity: 'info' | 'warning' | 'critical';
          /** Text of the notice, as a sentence. */
          message: string;
          /** When the network sent it. */
          at: string;
        }[];
        /** When the network last reported a change. */
        updatedAt: string;
      } | null;
      health?: SessionHealth;
      /** Sentences that explain why the change has no effect yet; absent if it already has. */
      warnings?: string[];
    };
  };
  /** Update the profile of a session. Change the name, the about text, the picture or the business data that other people see of the session's number. Pass at least one of them. A network that reviews names shows the new one once it is approved. If the network does not support one of the changes, the request fails with `not_supported` and changes nothing. */
  'sessions.update_profile': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Name that other people see. */
      name?: string;
      /** About text that other people see; empty removes it. */
      about?: string;
      /** Id of an uploaded image; null removes the picture. */
      pictureMediaId?: string | null;
      /** Data of the business that owns the number. An empty text or list removes it. */
      business?: {
        /** Postal address. */
        address?: string;
        /** Description of the business. */
        description?: string;
        /** Email address for customers. */
        email?: string;
        /** Up to two http or https URLs. */
        websites?: string[];
        /** The network's name of the trade, such as `RETAIL` or `EDU`. */
        vertical?: string;
      };
    };
    output: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Always true. */
      updated: true;
    };
  };
  /** Get the profile of a session. Get the name, the about text and the picture of the session's own number. Asks the network, because the phone can change them. */
  'sessions.get_profile': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: OwnProfile;
  };
  /** List the devices of an account. List the devices of the session's account: the phone and those that are linked to it. The network tells a linked device only their ids, not their names, nor when they were last used. */
  'sessions.list_devices': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** The phone first, then linked devices. */
      data: {
        /** Id of the device; 0 for the phone. */
        deviceId: number;
        /** Whether it is the phone. */
        phone: boolean;
        /** Whether it is the device of this session. */
        thisSession: boolean;
        /** Whether Meta runs it for a business that uses the Cloud API. */
        hosted: boolean;
        /** Counter that grows with every device that is linked, so the newest has the largest; null for the phone. */
        keyIndex: number | null;
      }[];
    };
  };
  /** Get the privacy settings of a session. Get the privacy settings of the session's account. Asks the network, because the phone can change them. */
  'sessions.get_privacy': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: Privacy;
  };
  /** Update the privacy settings of a session. Change privacy settings of the session's account, also for its phone and other devices. Fields that you leave out do not change. The network sets one after the other, so if one fails, those before it are set. */
  'sessions.update_privacy': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** People who see when the session was last online. */
      lastSeen?: 'everyone' | 'contacts' | 'nobody';
      /** People who see that the session is online. */
      online?: 'everyone' | 'same_as_last_seen';
      /** People who see the profile picture. */
      profilePicture?: 'everyone' | 'contacts' | 'nobody';
      /** People who see the about text. */
      about?: 'everyone' | 'contacts' | 'nobody';
      /** Whether others see that their messages were read. */
      readReceipts?: boolean;
      /** People who can add the session to groups. */
      groupAdd?: 'everyone' | 'contacts';
      /** People who can call. `known`: only those whom the session knows. */
      calls?: 'everyone' | 'known';
      /** Seconds until messages of new chats disappear; 0 if they stay. Otherwise 86400, 604800 or 7776000. */
      disappearingSeconds?: number;
    };
    output: Privacy;
  };
  /** Connect a session. Connect a session to its network. Returns within seconds. If the status is `awaiting_pairing`, link a phone with `sessions.get_qr` or `sessions.request_pairing_code`. If it is `connecting`, check `sessions.get`. */
  'sessions.connect': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: Session;
  };
  /** Get the QR code of a session. Get the QR code that links a phone to the session, for the phone's owner to scan. Works only while the status is `awaiting_pairing`. Each code expires within about a minute; call again for the next one. */
  'sessions.get_qr': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: {
      /** Text to show as a QR code. */
      qr: string;
      /** When a new QR code replaces this one. */
      expiresAt: string;
      /** Seconds until then, for callers whose clock may be wrong. */
      expiresInSeconds?: number;
    };
  };
  /** Request a pairing code. Get a code that the phone's owner enters instead of scanning a QR code. Works only while the status is `awaiting_pairing`, and not on every network. */
  'sessions.request_pairing_code': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Number of the phone to link. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
    };
    output: {
      /** Code to enter on the phone. */
      code: string;
      /** When the code stops working. */
      expiresAt: string;
    };
  };
  /** Disconnect a session. Take a session offline until you connect it again. It stays linked to its phone, but neither sends nor receives. */
  'sessions.disconnect': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: Session;
  };
  /** Log out a session. Unlink the session from its phone and disconnect it. Chats and messages stay; queued messages fail. To use the session again, connect it and pair it with a phone. */
  'sessions.logout': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: Session;
  };
  /** List the status changes of a session. List when and why the status of a session changed, newest first. Use it to investigate outages. */
  'sessions.history': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: {
        /** Status that the session changed to. */
        status: string;
        /** Why, as a sentence; null if not known. */
        reason: string | null;
        /** When the status changed. */
        at: string;
      }[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Delete a session. Delete a session with its chats, messages, contacts and groups. This cannot be undone. A connected session is first logged out of its network, which may take up to 5 s. Its events stay in the delivery log. The response comes after at most 10 s; a large session is deleted in the background, and a restart does not stop the deletion. Until it ends, other operations on the session return `not_found`. */
  'sessions.delete': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
    };
    output: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Always true. */
      deleted: true;
    };
  };
  /** List templates. List the templates of the session's business account, read from the network, with their review and quality. A page can have fewer entries than `limit`, even if more follow. */
  'templates.list': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Only templates with this name. */
      name?: string;
      /** Only templates with this status, such as `approved`. */
      status?: string;
      /** Language of the template, such as `en_US`. */
      language?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Template[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Get a template. Get one template with its content and its review, read from the network. */
  'templates.get': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Id of the template at the network. */
      templateId: string;
    };
    output: Template;
  };
  /** Create a template. Create a template, which the network reviews before it can be sent. Subscribe to `template.updated` to learn the outcome. A name in several languages is several templates. */
  'templates.create': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Name in small letters, digits and underscores. */
      name: string;
      /** Language of the template, such as `en_US`. */
      language: string;
      /** Category, on which the price and the review depend. */
      category: 'marketing' | 'utility' | 'authentication';
      /** Header, body, footer and buttons, in the network's format. */
      components: Record<string, unknown>[];
    };
    output: Template;
  };
  /** Update a template. Change the category or the components of a template; `components` replaces all of them. The network reviews the template again, and limits how often an approved one can change. */
  'templates.update': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Id of the template at the network. */
      templateId: string;
      /** Category, on which the price and the review depend. */
      category?: 'marketing' | 'utility' | 'authentication';
      /** Header, body, footer and buttons, in the network's format. */
      components?: Record<string, unknown>[];
    };
    output: Template;
  };
  /** Delete a template. Delete a template in one language. This cannot be undone, and the network may refuse a new template of the same name for 30 days. */
  'templates.delete': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Id of the template at the network. */
      templateId: string;
    };
    output: {
      /** Id of the template at the network. */
      templateId: string;
      /** Always true. */
      deleted: true;
    };
  };
  /** Get the profile of a contact. Get the about text and the picture that a contact shows to the session right now. Every call asks the network, and networks ban numbers that look up many people. The picture is stored as a file of the account. */
  'contacts.profile': {
    input: {
      /** Number of the contact. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: Profile;
  };
  /** Look up LIDs and phone numbers. Find the LIDs of phone numbers, and the phone numbers of LIDs. The session answers from what it knows and, while it is connected, asks the network for the LIDs of other numbers. No network tells the number of a LID whose owner hides it. Do not look up in bulk: networks ban sessions that do. */
  'contacts.look_up': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Up to 50 numbers. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumbers?: string[];
      /** Up to 50 LIDs: digits, with or without `@lid`, or placeholders (`000…`). */
      lids?: string[];
    };
    output: {
      /** One entry per number, then one per LID. */
      data: {
        /** Phone number digits; null if they are not known. */
        phoneNumber: string | null;
        /** LID as `…@lid`; null if it is not known, or the number is not on the network. */
        lid: string | null;
      }[];
    };
  };
  /** Get the business profile of a contact. Get what a business shows about itself: description, category, address, opening hours and websites. Every call asks the network. */
  'contacts.business_profile': {
    input: {
      /** Number of the business; it can be that of the session. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Phone number digits of the business. */
      phoneNumber: string;
      /** Profile of the business; null if the number is not a business. */
      profile: ContactBusinessProfile | null;
    };
  };
  /** List the products of a business. List the products in the catalog of a business, page by page. Every call asks the network. */
  'contacts.catalog': {
    input: {
      /** Number of the business; it can be that of the session. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Number of products per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Phone number digits of the business. */
      phoneNumber: string;
      /** Products of this page. */
      data: {
        /** Id of the product at the network. */
        productId: string;
        /** Name of the product. */
        name: string;
        /** Description; null if there is none. */
        description: string | null;
        /** Price as a decimal number, such as `12.5`; null if there is none. */
        price: string | null;
        /** Currency of the price (ISO 4217); null if there is none. */
        currency: string | null;
        /** The business's own id of the product; null if there is none. */
        retailerId: string | null;
        /** Page of the product; null if there is none. */
        url: string | null;
        /** Address of a picture, which expires; null if there is none. */
        imageUrl: string | null;
        /** Whether the business hides the product from customers. */
        hidden: boolean;
      }[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      nextCursor: string | null;
    };
  };
  /** List the collections of a business. List the collections into which a business sorts its products. Every call asks the network. */
  'contacts.collections': {
    input: {
      /** Number of the business; it can be that of the session. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Phone number digits of the business. */
      phoneNumber: string;
      /** Collections. */
      data: {
        /** Id of the collection at the network. */
        collectionId: string;
        /** Name of the collection. */
        name: string;
        /** Its products. */
        products: {
          /** Id of the product at the network. */
          productId: string;
          /** Name of the product. */
          name: string;
          /** Description; null if there is none. */
          description: string | null;
          /** Price as a decimal number, such as `12.5`; null if there is none. */
          price: string | null;
          /** Currency of the price (ISO 4217); null if there is none. */
          currency: string | null;
          /** The business's own id of the product; null if there is none. */
          retailerId: string | null;
          /** Page of the product; null if there is none. */
          url: string | null;
          /** Address of a picture, which expires; null if there is none. */
          imageUrl: string | null;
          /** Whether the business hides the product from customers. */
          hidden: boolean;
        }[];
      }[];
    };
  };
  /** Show a session as online or offline. Show a session as online, or as offline, which is the default. While it is online, the phone of the account may not ring for new messages. It stays online after a reconnect, until `until`. */
  'sessions.set_presence': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Whether others see the session as online. */
      presence: 'online' | 'offline';
    };
    output: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Whether others see the session as online. */
      presence: 'online' | 'offline';
      /** When the session goes offline by itself; null if it is offline. */
      until: string | null;
    };
  };
  /** Follow a contact's presence. Ask the network to report when a contact is online, as the event `presence.updated`. A session follows up to 50 contacts, also after a reconnect, until you stop it with `followed: false`. Networks report presence only to sessions that are online themselves, and not if the contact hides it. */
  'contacts.follow_presence': {
    input: {
      /** Number of the contact. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** true follows the contact, false stops that. */
      followed: boolean;
    };
    output: ContactPresence;
  };
  /** Get a contact's presence. Get what the network last reported about the presence of a contact that the session follows. */
  'contacts.presence': {
    input: {
      /** Number of the contact. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: ContactPresence;
  };
  /** Reject a call. Reject a call that rings. The event `call.incoming` has its id. To reject all calls of a session, set its option `calls`. */
  'calls.reject': {
    input: {
      /** Id of the call, from the event `call.incoming`. */
      callId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Id of the call. */
      callId: string;
      /** Always true. */
      rejected: true;
    };
  };
  /** Play the other side of a sandbox session. Make something happen to a sandbox session, as if another person or the network did it. Use it to test an integration without a real phone. `action` determines which fields are used: `pair` scans the QR code. `incoming` sends a message to the session: `from`, and `message`, or the first of `mediaId` (with `type`), `location`, `contact` and `poll` that you pass; `message` is then its text. With `groupId` it is sent in a group, and with `messageId` it is a reply. `edit` (`messageId`, `message`), `delete` (`messageId`), `react` (`messageId`, `from`, `emoji`) and `vote` (`messageId`, `from`, `options`) change an existing message. `incoming` also sends the kinds `event`, `product`, `order`, `groupInvite` and, with `rawType`, one that the server does not know. `viewOnce`, `gif`, `videoNote`, `animated`, `mentionAll`, `albumId` and `choice` are added to any message. `event_answer` (`messageId`, `from`, `answer`) answers an event. `move` (`messageId`, `location`) moves a live location. `receipt` (`messageId`, `status`) confirms a message that the session sent. `disconnect` (`reason`, `reconnectAfterMs`) cuts the connection. `logout` unlinks the phone. `group_create` (`from`, `subject`, `phoneNumbers`), `group_subject` (`groupId`, `subject`) and `group_leave` (`groupId`, `from`) act as another member of a group. `presence` (`from`, `presence`, and `groupId` in a group) shows what a person is doing. `rename` (`from`, `senderName`) changes the name that a person shows. `identify` (`from`, `phoneNumber`) reports the number of a person who had hidden it: `from` is the placeholder, `000` and more digits, with which the person wrote before. `call` (`from`, `callId`, `video`) calls the session; `call_end` (the same, and `outcome`) ends the call. `history` (`history`) passes on chats, contacts and messages from before the session was linked, as far as the option `history` of the session asks for them. `chat_update` (`from` or `groupId`, and `archived`, `pinned`, `mutedUntil`, `markedUnread` or `read`) changes a chat on another device of the account. `chat_clear` and `chat_delete` (`from` or `groupId`) delete the messages of a chat, or the chat, on another device of the account. `star` (`messageId`, `starred`) and `delete_for_me` (`messageId`) do so with a message on another device. `label` (`labelId` or none for a new one, `labelName`, `labelColor`), `label_delete` (`labelId`) and `label_assign` (`labelId`, `labeled`, and `messageId`, or the chat by `from` or `groupId`) change labels on another device. `pin` (`messageId`, `from`, `pinnedUntil`) pins a message as somebody in the chat; null unpins it. `disappearing` (`from`, `groupId` in a group, `disappearingSeconds`) sets the timer of a chat as somebody in it. `group_join_request` and `group_join_withdraw` (`groupId`, `from`) ask to join a group, and withdraw that. `group_picture` (`groupId`, `from`, and `mediaId` unless the picture is removed) and `group_settings` (`groupId`, `from`, `settings`) change a group. `community_create` (`from`, `subject`, `phoneNumbers`) creates a community with the session in it. `business_profile` (`from`, `business`) makes a number a business for this session, with a profile and a catalog. `template_review` (`templateId`, `templateStatus`, `reason`) reviews a template that the session has created. `number_update` (`quality`, `messagingLimit`, `reason`) changes the judgment of the number; `reason` adds a notice. `own_message` (`from` or `groupId`, and `message`) sends a text from the phone of the account to that chat. `block_report` makes somebody block or report the number. `standing` (`noNewChatsUntil`, `newChats`) changes the limits that the network sets for it. `status` (`from`, and `message`, or `mediaId` with `type`) posts a status, which a session with the option `statuses` gets. `status_delete` (`from`, `statusId`) deletes it as its author. `status_view` and `status_react` (`from`, `statusId`, `emoji`) act on a status of the session as somebody who sees it. `channel_create` (`from`, `subject`) creates a channel, which the session follows. `channel_post` (`channelId`, and `message`, or `mediaId` with `type`) posts in it, which a session with the option `channels` gets. Direct messages and actions of a blocked contact do not reach the session. */
  'sessions.simulate': {
    input: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Event to simulate; see the description of the operation. */
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
        | 'group_leave'
        | 'presence'
        | 'call'
        | 'call_end'
        | 'chat_update'
        | 'rename'
        | 'identify'
        | 'history'
        | 'chat_clear'
        | 'chat_delete'
        | 'star'
        | 'delete_for_me'
        | 'pin'
        | 'disappearing'
        | 'label'
        | 'label_delete'
        | 'label_assign'
        | 'group_join_request'
        | 'group_join_withdraw'
        | 'group_picture'
        | 'group_settings'
        | 'community_create'
        | 'business_profile'
        | 'template_review'
        | 'number_update'
        | 'own_message'
        | 'block_report'
        | 'standing'
        | 'status'
        | 'status_delete'
        | 'status_view'
        | 'status_react'
        | 'channel_create'
        | 'channel_post'
        | 'event_answer'
        | 'move';
      /** Number of the person who acts. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      from?: string;
      /** Number that becomes known. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber?: string;
      /** Name that the sender shows. */
      senderName?: string;
      /** Text, caption of the file, or question of the poll. */
      message?: string;
      /** Type in which the file is sent; `document` by default. */
      type?: 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker';
      /** Id of an uploaded file (`med_…`). */
      mediaId?: string;
      /** Location to send. */
      location?: {
        /** Degrees north (WGS 84). */
        latitude: number;
        /** Degrees east (WGS 84). */
        longitude: number;
        /** Name of the place. */
        name?: string;
        /** Postal address of the place. */
        address?: string;
        /** Makes it a live location, whose position the action `move` changes. */
        live?: {
          /** How exact the position is. */
          accuracyInMeters?: number;
          /** Speed of the sender. */
          metersPerSecond?: number;
          /** Degrees clockwise from north. */
          heading?: number;
          /** Higher than that of the position before. */
          sequence?: number;
        };
      };
      /** Contact card to send. */
      contact?: {
        /** Name on the card. */
        name: string;
        /** Up to ten numbers on the card. In international form, such as 491701234567; +, spaces and dashes are ignored. */
        phoneNumbers: string[];
      };
      /** Poll to send; the question is in `message`. */
      poll?: {
        /** Answers to choose from. */
        options: string[];
        /** Number of options that one person can choose; 1 by default. */
        maxSelections?: number;
      };
      /** Options of the poll that the person chooses; empty withdraws the vote. */
      options?: string[];
      /** A single emoji; empty removes the reaction. */
      emoji?: string;
      /** Id of the group (`grp_…`). */
      groupId?: string;
      /** Id of the message (`msg_…`) that changes, or is replied to. */
      messageId?: string;
      /** Status that the receipt reports. */
      status?: 'delivered' | 'read' | 'failed';
      /** Reason that the network gives, as a sentence. */
      reason?: string;
      /** Milliseconds until the session reconnects; 1000 by default, null for never. */
      reconnectAfterMs?: number | null;
      /** Presence of the person. */
      presence?: 'online' | 'offline' | 'typing' | 'recording' | 'paused';
      /** Id of the call, of your choice. */
      callId?: string;
      /** Whether it is a video call; false by default. */
      video?: boolean;
      /** How the call ended; `missed` by default. */
      outcome?: 'answered' | 'rejected' | 'missed' | 'ended';
      /** Whether the chat is archived. */
      archived?: boolean;
      /** Whether the chat is pinned. */
      pinned?: boolean;
      /** Until when the chat is muted; null unmutes it. */
      mutedUntil?: string | null;
      /** Marks the chat as read. */
      read?: true;
      /** Whether the chat is marked as unread. */
      markedUnread?: boolean;
      /** Whether the message is starred; true by default. */
      starred?: boolean;
      /** Until when the message is pinned; null unpins it. */
      pinnedUntil?: string | null;
      /** After how many seconds the messages of the chat disappear, or the message of `incoming`; null for never. */
      disappearingSeconds?: number | null;
      /** Id of the label (`lbl_…`). */
      labelId?: string;
      /** Name of the label. */
      labelName?: string;
      /** Color of the label; 0 by default. */
      labelColor?: number;
      /** Whether the label is put on or taken off; true by default. */
      labeled?: boolean;
      /** Until when the network allows no new chats; null if it does. */
      noNewChatsUntil?: string | null;
      /** The network's quota of new chats; null for none. */
      newChats?: {
        /** Chats started. */
        used: number;
        /** Chats allowed. */
        total: number;
      } | null;
      /** Id of the template. */
      templateId?: string;
      /** Status of the template after the review. */
      templateStatus?: 'approved' | 'rejected' | 'paused' | 'disabled' | 'pending';
      /** Quality of the number. */
      quality?: 'high' | 'medium' | 'low' | 'unknown';
      /** People to whom the business may start to write within 24 hours; null for any number. */
      messagingLimit?: number | null;
      /** Id of the status (`sts_…`). */
      statusId?: string;
      /** Id of the channel (`chn_…`). */
      channelId?: string;
      /** Name of the group or channel. */
      subject?: string;
      /** Other members of the new group. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumbers?: string[];
      /** The history that the phone passes on; `generate` adds made-up messages. */
      history?: {
        chats?: {
          /** Other person of a direct chat. In international form, such as 491701234567; +, spaces and dashes are ignored. */
          with?: string;
          /** Address of a group, of your choice, such as `team@sandbox`. */
          group?: string;
          /** Subject of the group. */
          name?: string;
          /** Messages that are not read. */
          unreadCount?: number;
          /** Whether the chat is archived. */
          archived?: boolean;
          /** Whether the chat is pinned. */
          pinned?: boolean;
          /** Until when the chat is muted. */
          mutedUntil?: string | null;
        }[];
        contacts?: {
          /** Number of the contact. In international form, such as 491701234567; +, spaces and dashes are ignored. */
          phoneNumber: string;
          /** Name that the contact chose. */
          pushName?: string;
          /** Name in the address book. */
          savedName?: string;
        }[];
        messages?: {
          /** Id of the message on the network, of your choice. */
          id: string;
          /** Other person of a direct chat. In international form, such as 491701234567; +, spaces and dashes are ignored. */
          with?: string;
          /** Address of a group, of your choice, such as `team@sandbox`. */
          group?: string;
          /** Sender, in a group; by default the session itself. In international form, such as 491701234567; +, spaces and dashes are ignored. */
          from?: string;
          /** Whether the session sent it, in a direct chat. */
          own?: boolean;
          /** Text of the message. */
          message: string;
          /** When it was sent. */
          timestamp: string;
          /** Id of the message that it replies to. */
          replyTo?: string;
          /** Marks an incoming message as not read. */
          unread?: true;
          /** Id of an uploaded file that the message has (`med_…`); null for one that the network no longer has. */
          mediaId?: string | null;
        }[];
        /** Messages to make up, in direct chats. */
        generate?: {
          /** How many messages. */
          messages: number;
          /** In how many chats; 10 by default. */
          chats?: number;
        };
      };
      /** Settings of the group that change. */
      settings?: {
        /** Only admins can send messages. */
        announce?: boolean;
        /** Only admins can change the group. */
        locked?: boolean;
        /** Admins approve people who join by link. */
        joinApproval?: boolean;
        /** People who can add members. */
        memberAdd?: 'admins' | 'all';
        /** Seconds until messages disappear; 0 turns this off. */
        disappearingSeconds?: number;
      };
      /** Profile and catalog of the business. */
      business?: {
        /** Description of the business. */
        description?: string;
        /** Category of the business. */
        category?: string;
        /** Postal address. */
        address?: string;
        /** Email address. */
        email?: string;
        /** Websites. */
        websites?: string[];
        /** Collections of the catalog. */
        collections?: {
          /** Name of the collection. */
          name: string;
          /** Products of the collection. */
          products: {
            /** Id of the product, unique in the catalog. */
            productId: string;
            /** Name of the product. */
            name: string;
            /** Description of the product. */
            description?: string;
            /** Price in thousandths of the currency. */
            price?: number;
            /** Currency (ISO 4217). */
            currency?: string;
          }[];
        }[];
      };
      /** Whether the file can be opened only once. */
      viewOnce?: boolean;
      /** Whether the video plays like a GIF. */
      gif?: boolean;
      /** Whether the video is a round video note. */
      videoNote?: boolean;
      /** Whether the sticker is animated. */
      animated?: boolean;
      /** Whether everybody in the group is mentioned. */
      mentionAll?: boolean;
      /** The same for all files of an album. */
      albumId?: string;
      /** Event to send; its name is in `message`. */
      event?: {
        /** Description of the event. */
        description?: string;
        /** When it begins. */
        startsAt: string;
        /** When it ends. */
        endsAt?: string;
        /** Where it is. */
        location?: {
          /** Name of the place. */
          name?: string;
          /** Degrees north (WGS 84). */
          latitude?: number;
          /** Degrees east (WGS 84). */
          longitude?: number;
        };
        /** Link to its call. */
        joinLink?: string;
        /** Whether it was canceled. */
        canceled?: boolean;
      };
      /** Product to send. */
      product?: {
        /** The network's id of the product. */
        productId?: string;
        /** The seller's own id of the product. */
        retailerId?: string;
        /** Name of the product. */
        title?: string;
        /** Description of the product. */
        description?: string;
        /** Price, in units of the currency. */
        price?: number;
        /** Currency, such as `EUR`. */
        currency?: string;
        /** Page of the product. */
        url?: string;
      };
      /** Order to send. */
      order?: {
        /** The network's id of the order. */
        orderId?: string;
        /** Title of the order. */
        title?: string;
        /** Total price, in units of the currency. */
        total?: number;
        /** Currency, such as `EUR`. */
        currency?: string;
        /** The ordered products. */
        items?: {
          /** The seller's own id of the product. */
          retailerId: string;
          /** How many of it are ordered. */
          quantity: number;
          /** Price of one, in units of the currency. */
          price?: number;
          /** Currency, such as `EUR`. */
          currency?: string;
        }[];
      };
      /** Invite to a group, to send. */
      groupInvite?: {
        /** Address of the group at the network. */
        networkGroupId: string;
        /** Name of the group. */
        subject?: string;
        /** Code of the invite. */
        code: string;
        /** When it expires. */
        expiresAt?: string;
      };
      /** Answers buttons, a list, a template or a form; the title of the choice is in `message`. */
      choice?: {
        /** Kind of the message that the sender answers. */
        kind: 'button' | 'list' | 'template' | 'form';
        /** Id of the choice, which the session gets as `payload`. */
        id?: string;
        /** The network's name of the form. */
        name?: string;
        /** The answers in the form, as JSON. */
        response?: string;
      };
      /** The network's name of a kind of message that the server does not know. */
      rawType?: string;
      /** Whether the person comes to the event. */
      answer?: 'going' | 'not_going' | 'maybe';
    };
    output: {
      /** Event to simulate; see the description of the operation. */
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
        | 'group_leave'
        | 'presence'
        | 'call'
        | 'call_end'
        | 'chat_update'
        | 'rename'
        | 'identify'
        | 'history'
        | 'chat_clear'
        | 'chat_delete'
        | 'star'
        | 'delete_for_me'
        | 'pin'
        | 'disappearing'
        | 'label'
        | 'label_delete'
        | 'label_assign'
        | 'group_join_request'
        | 'group_join_withdraw'
        | 'group_picture'
        | 'group_settings'
        | 'community_create'
        | 'business_profile'
        | 'template_review'
        | 'number_update'
        | 'own_message'
        | 'block_report'
        | 'standing'
        | 'status'
        | 'status_delete'
        | 'status_view'
        | 'status_react'
        | 'channel_create'
        | 'channel_post'
        | 'event_answer'
        | 'move';
    };
  };
  /** Send a text message. Send a text message to a person or a group. Returns the message as `sent` once the network accepted it, or as `queued` if it goes out later. Call `messages.get` to see whether it was delivered or read. */
  'messages.send': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Id of a message (`msg_…`) in the same session, to reply to it. */
      replyTo?: string;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
      /** Text of the message. */
      message: string;
      /** People to mention, up to 256. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      mentions?: string[];
      /** Preview of the first link in the text. With true, the server fetches the page, over https only, and sends the text without a preview if there is none. Pass an object to choose what it shows. By default the network decides; WhatsApp then shows none. */
      linkPreview?:
        | boolean
        | {
            /** The link; by default the first one in the text, which must contain it. */
            url?: string;
            /** Title of the page. */
            title: string;
            /** A sentence below the title. */
            description?: string;
            /** Picture of the page: an https URL, or the id of an uploaded image (`med_…`). */
            image?: string;
          };
      /** Mention everybody in the group. Only for groups. */
      mentionAll?: boolean;
    };
    output: Message;
  };
  /** Send a file. Send an image, video, audio, voice message, document or sticker. Pass one of `mediaId`, an https `url`, which the server fetches first (for a key with `requiresApproval`, once the message is approved), and `content`. */
  'messages.send_media': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Id of a message (`msg_…`) in the same session, to reply to it. */
      replyTo?: string;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
      /** `voice` plays as a voice message; `document` accepts any file. */
      type: 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker';
      /** Id of an uploaded or received file (`med_…`). */
      mediaId?: string;
      /** https URL of the file. */
      url?: string;
      /** A small file in base64, up to 700,000 characters. */
      content?: string;
      /** Type of a text in `content`; others are detected. */
      mimeType?: string;
      /** Text shown below the file. */
      caption?: string;
      /** File name to show to the recipient, such as `invoice.pdf`. */
      fileName?: string;
      /** People to mention, up to 256. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      mentions?: string[];
      /** The recipient can open the file once. For images, videos and voice messages. */
      viewOnce?: boolean;
      /** Plays a video like a GIF: in a loop, without sound. */
      gif?: boolean;
      /** Shows a video as a round video note, which has no caption. */
      videoNote?: boolean;
      /** Mention everybody in the group. Only for groups. */
      mentionAll?: boolean;
    };
    output: Message;
  };
  /** Send a location. Send coordinates, which the recipient can open in a map. */
  'messages.send_location': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Id of a message (`msg_…`) in the same session, to reply to it. */
      replyTo?: string;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
      /** Degrees north (WGS 84), such as 52.5163. */
      latitude: number;
      /** Degrees east (WGS 84), such as 13.3777. */
      longitude: number;
      /** Name of the place. */
      name?: string;
      /** Postal address of the place. */
      address?: string;
    };
    output: Message;
  };
  /** Send a contact card. Send a name with phone numbers, which the recipient can save. */
  'messages.send_contact': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Id of a message (`msg_…`) in the same session, to reply to it. */
      replyTo?: string;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
      /** Name on the card. */
      name: string;
      /** Up to ten numbers on the card. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumbers: string[];
    };
    output: Message;
  };
  /** Send a poll. Send a question with 2 to 12 answers. Votes are stored on the message; read them with `messages.get`. Not every network supports polls. */
  'messages.send_poll': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Id of a message (`msg_…`) in the same session, to reply to it. */
      replyTo?: string;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
      /** Question above the options. */
      question: string;
      /** Two to twelve different answers. */
      options: string[];
      /** Number of options that one person can choose; 1 by default. */
      maxSelections?: number;
    };
    output: Message;
  };
  /** Send an event. Send an event with its time and place, which recipients can answer. The answers are stored on the message; read them with `messages.get`. */
  'messages.send_event': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Id of a message (`msg_…`) in the same session, to reply to it. */
      replyTo?: string;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
      /** Name of the event. */
      name: string;
      /** Description of the event. */
      description?: string;
      /** When it begins. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      startsAt: string;
      /** When it ends; after `startsAt`. */
      endsAt?: string;
      /** Where it is: a name, coordinates, or both. */
      location?: {
        /** Name of the place. */
        name?: string;
        /** Postal address of the place. */
        address?: string;
        /** Degrees north (WGS 84). */
        latitude?: number;
        /** Degrees east (WGS 84). */
        longitude?: number;
      };
      /** Guests can bring others; false by default. */
      extraGuests?: boolean;
    };
    output: Message;
  };
  /** Send an album. Send 2 to 30 images and videos that the recipient sees as one album. Each is a message of its own, with the same `album.albumId`. All are stored before the response and go out one after the other, so a restart loses none. Pass `mediaId` or `url` for each. */
  'messages.send_album': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Id of a message (`msg_…`) in the same session, to reply to it. */
      replyTo?: string;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
      /** The files, in the order in which they are shown. */
      files: {
        /** Type in which the file is sent. */
        type: 'image' | 'video';
        /** Id of an uploaded or received file (`med_…`). */
        mediaId?: string;
        /** https URL of the file. */
        url?: string;
        /** Text shown below the file. */
        caption?: string;
      }[];
    };
    output: Album;
  };
  /** Send a text to many recipients. Schedule the same text for up to 1,000 recipients, sent `intervalMs` apart. All messages are stored before the response, so a restart loses none. An invalid recipient gets an `error` in its result and does not affect the others. */
  'messages.send_bulk': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Recipients. Each gets a result, in this order. */
      to: string[];
      /** Text of the message. */
      message: string;
      /** Milliseconds between two messages; 1000 by default. */
      intervalMs?: number;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
    };
    output: {
      /** Number of messages that were scheduled. */
      accepted: number;
      /** Number of recipients that cannot be sent to. */
      refused: number;
      /** Present if the accepted messages wait for approval. */
      pendingApproval?: true;
      /** One entry per recipient, in the order of `to`. */
      results: BulkResult[];
    };
  };
  /** Check messages before they are sent. Say for up to 100 recipients what would happen to a message now, without sending it. Limits count the recipients in their order. Numbers that were not checked within a day are checked at the network, at most 20 in a call and 200 in a day, because networks ban numbers that look up many. That needs the permission `contacts:check`; without it, unchecked numbers are `unknown`. */
  'messages.preflight': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Recipients. Each gets a result, in this order. */
      to: string[];
      /** Text of the message. */
      message?: string;
      /** The template to send instead of a text. */
      template?: {
        /** Name of the template at the network. */
        name: string;
        /** Language of the template, such as `en_US`; without it, the template is not checked completely. */
        language?: string;
      };
    };
    output: {
      /** Recipients with nothing against the message: those with `ok` or `limit_near`. */
      ok: number;
      /** One entry per recipient, in the order of `to`. */
      results: {
        /** Recipient as you passed it. */
        to: string;
        /** Phone number digits, or the id of the group; null if it is neither. */
        chatId: string | null;
        /** `not_allowed`: the API key cannot send to the recipient. `restricted`: the network does not let the number of the session send. `blocked`: the session has blocked the contact; `message` says whether the network would accept the message. `group_denied`: the session is not in the group, or only its admins may write. `template_unavailable`: the template does not exist, or is not approved. `confirmation_required`: the API key has to ask its user before the message. `pending_approval`: the message would wait for approval. `limit_near`: the message would go out, and few more would. `unknown`: it cannot be checked now. */
        outcome:
          | 'ok'
          | 'invalid_number'
          | 'not_allowed'
          | 'restricted'
          | 'blocked'
          | 'not_on_network'
          | 'group_denied'
          | 'template_required'
          | 'template_unavailable'
          | 'confirmation_required'
          | 'pending_approval'
          | 'limit_near'
          | 'limit_reached'
          | 'unknown';
        /** The outcome in words. */
        message: string;
        /** Seconds until the limit allows more. */
        retryAfterSeconds?: number;
      }[];
    };
  };
  /** List messages. List messages, newest first. Use it to read a chat (`chatId`), to search text (`q`), or to find failed messages (`status`) or unread ones (`direction` incoming, `status` delivered). */
  'messages.list': {
    input: {
      /** Only those of this session (`ses_…`). */
      sessionId?: string;
      /** Only this chat: phone number digits or group id (`grp_…`). */
      chatId?: string;
      /** Only those from this phone number. */
      from?: string;
      /** Only received or only sent ones. */
      direction?: 'incoming' | 'outgoing';
      /** Only those of this type. */
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
        | 'interactive'
        | 'event'
        | 'product'
        | 'order'
        | 'group_invite'
        | 'unsupported';
      /** Only those with this status. */
      status?: 'pending_approval' | 'queued' | 'scheduled' | 'sent' | 'delivered' | 'read' | 'failed';
      /** `history`: only those from before the session was linked; `live`: only others. */
      origin?: 'history' | 'live';
      /** Only starred ones. */
      starred?: true;
      /** Only those with this label (`lbl_…`). */
      labelId?: string;
      /** Only at or after this time, such as 2026-07-01T12:00:00Z. */
      afterTime?: string;
      /** Only before this time. */
      beforeTime?: string;
      /** Only those with all of these words; the last can be the start of a word. Requires `messages:read`. */
      q?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Message[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Count messages per minute. Count incoming and outgoing messages for each minute of the last hour. Minutes without messages are left out. */
  'messages.stats': {
    input: Record<string, never>;
    output: MessageStats;
  };
  /** Get a message. Get one message with its status history, reactions and poll votes. Use it to see whether it was delivered or read, or why it failed, and with `wait` to wait for that. */
  'messages.get': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** Seconds to wait until the message reaches `until` or fails; up to 30. */
      wait?: number;
      /** The status to wait for; `delivered` by default. */
      until?: 'sent' | 'delivered' | 'read';
      /** `content` returns the file of the message in base64, of up to 1 MiB. Needs `media:read`. */
      include?: 'content';
    };
    output: MessageWithHistory;
  };
  /** Fetch the file of a message. Fetch and store the file of a message from the history, which has `remoteMedia`. Returns the message with `media`. Networks delete files after some weeks; WhatsApp then asks the phone for it, which must be online. */
  'messages.fetch_media': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
    };
    output: Message;
  };
  /** React to a message. React to a message with one emoji. It replaces the previous reaction of the session. */
  'messages.react': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** A single emoji, such as 👍. Empty removes the reaction. */
      emoji: string;
    };
    output: Message;
  };
  /** Vote in a poll. Vote in a poll that the session received or sent. The vote replaces the previous one of the session. */
  'messages.vote': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** The chosen options; empty withdraws the vote. */
      options: string[];
    };
    output: Message;
  };
  /** Edit a message. Replace the text of a message that the session sent, or the caption of a file, for everyone in the chat. Some networks do not allow editing a caption. Polls, locations and contact cards cannot be edited. */
  'messages.edit': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** New text; it replaces the old one completely. */
      message: string;
    };
    output: Message;
  };
  /** Delete a message. Delete a message that the session sent, for everyone in the chat. This cannot be undone. The message stays in lists without its text, marked `deleted`. A scheduled message is cancelled instead: it stays with the status `failed`. */
  'messages.delete': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** `me` deletes any message, also a received one, for the session only: it leaves all lists, here and on the phone. That requires `chats:delete`. `everyone` by default. */
      for?: 'everyone' | 'me';
    };
    output: Message;
  };
  /** Send a template. Send a text that the network has approved in advance. Use it on networks that require a template to start a conversation, or when another send fails with `template_required`. `components` fills in the values. */
  'messages.send_template': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Id of a message (`msg_…`) in the same session, to reply to it. */
      replyTo?: string;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
      /** Name of the template at the network, such as `order_sent`. */
      name: string;
      /** Language of the template, such as `en_US`. */
      language: string;
      /** Values for the template, in the network's format. */
      components?: Record<string, unknown>[];
    };
    output: Message;
  };
  /** Send an interactive message. Send a text with buttons, a list or a link: pass exactly one of `buttons`, `list` and `link`. When the recipient chooses, the session receives a message whose text is the title of the choice and whose `payload` is its id. */
  'messages.send_interactive': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Id of a message (`msg_…`) in the same session, to reply to it. */
      replyTo?: string;
      /** Send later, up to 366 days ahead. Time with an offset, such as 2026-07-01T14:00:00+02:00. */
      sendAt?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
      /** Text above the choices. */
      message: string;
      /** Bold line above the text. */
      header?: string;
      /** Small line below the text. */
      footer?: string;
      /** Up to three buttons. */
      buttons?: {
        /** Your id for this choice. The recipient's reply contains it as `payload`. */
        id: string;
        /** Text of the button or row. */
        title: string;
      }[];
      /** A list that the recipient opens to choose a row. */
      list?: {
        /** Text of the button that opens the list. */
        title: string;
        /** Up to ten rows. */
        rows: {
          /** Your id for this choice. The recipient's reply contains it as `payload`. */
          id: string;
          /** Text of the button or row. */
          title: string;
          /** Second line of the row. */
          description?: string;
          /** Heading; rows with the same section are grouped. */
          section?: string;
        }[];
      };
      /** A button that opens a URL. */
      link?: {
        /** Text of the button. */
        title: string;
        /** http or https URL that the button opens. */
        url: string;
      };
    };
    output: Message;
  };
  /** Forward a message. Send a copy of a message, including its file, to another person or group. The copy is marked as forwarded and goes out through the session of the original. */
  'messages.forward': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** Phone number in international form, such as 491701234567 (+, spaces and dashes are ignored), or the id of a group (`grp_…`, `…@g.us`). */
      to: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
    };
    output: Message;
  };
  /** Cancel a scheduled message. Cancel a message that waits for its `sendAt` or for approval. It stays in lists with the status `failed`. Messages that are no longer `scheduled` or `pending_approval` cannot be cancelled. Repeating the call changes nothing. */
  'messages.cancel': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
    };
    output: Message;
  };
  /** Approve a message. Send a message that waits for approval, if you like with another text. It is returned as `queued` and goes out as soon as its session is connected; a `sendAt` that is still to come is kept. A file or link preview that it gets from a URL is fetched now; if that fails, the message still waits. List the waiting messages with `messages.list` and the status `pending_approval`. An API key cannot approve its own messages, and a key with `requiresApproval` none at all. */
  'messages.approve': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** Text or caption to send instead; leave it out to send the message as it is. */
      message?: string;
    };
    output: Message;
  };
  /** Reject a message. Refuse to send a message that waits for approval. It stays in lists with the status `failed` and the reason, which its author can read. An API key cannot reject its own messages; it cancels them with `messages.cancel`. */
  'messages.reject': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** Why, for the author of the message. */
      reason?: string;
    };
    output: Message;
  };
  /** List chats. List chats with their name, last message and unread count, the most recent first. Use it to find a `chatId` or unread messages. Read a chat with `messages.list`. */
  'chats.list': {
    input: {
      /** Only those of this session (`ses_…`). */
      sessionId?: string;
      /** `true`: only chats with unread messages; `false`: only others. */
      unread?: boolean;
      /** Only chats with this label (`lbl_…`). */
      labelId?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Chat[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Get a chat. Get one chat with its last message, unread count and settings. */
  'chats.get': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: Chat;
  };
  /** Update a chat. Archive, pin or mute a chat, on the phone as well if the network supports that and the session is connected. The other person sees only `disappearingSeconds`. Fields that you leave out do not change. */
  'chats.update': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** true archives the chat, false restores it. */
      archived?: boolean;
      /** true pins the chat, false unpins it. */
      pinned?: boolean;
      /** Mutes the chat until this time; null unmutes it. */
      mutedUntil?: string | null;
      /** After how many seconds new messages of a direct chat disappear, for both sides: 86400, 604800 or 7776000; null lets them stay. Requires a connected session. In a group, it is a setting of the group. */
      disappearingSeconds?: number | null;
    };
    output: UpdatedChat;
  };
  /** Mark a chat as read. Mark all incoming messages of a chat as read. Senders get read receipts, so call it only once somebody has handled the messages. */
  'chats.mark_read': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Number of messages that were unread before. */
      read: number;
    };
  };
  /** Show a typing indicator. Show in a chat that the session is typing or recording. Networks hide it after some seconds. */
  'chats.set_typing': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** `recording` is for voice messages; `paused` hides the indicator. */
      state: 'typing' | 'recording' | 'paused';
    };
    output: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** State that is shown now. */
      state: string;
    };
  };
  /** Request older messages of a chat. Ask the network for messages that are older than the oldest known one of a chat. They arrive within seconds to minutes, if the phone of the session is online and has some, and are listed with `origin` history. Each session has a limit of such requests. */
  'chats.request_history': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** How many messages; 50 by default. */
      count?: number;
    };
    output: {
      /** Id of the chat. */
      chatId: string;
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Number of messages that were asked for. */
      count: number;
      /** Time of the oldest known message: older ones were asked for. */
      before: string;
      /** Id of that message (`msg_…`). */
      beforeMessageId: string;
    };
  };
  /** Mark a chat as unread. Mark a chat as unread in Switchboard, and on the phone where the network supports that. Its messages and `unreadCount` do not change, and nobody else sees it. Marking the chat as read ends it. */
  'chats.mark_unread': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Always true. */
      markedUnread: true;
      /** Whether the change was made on the phone as well. `false` if the network does not support it or the session is not connected: then it holds only in Switchboard. */
      synchronized: boolean;
    };
  };
  /** Delete the messages of a chat. Delete all messages of a chat from Switchboard, and from the phone where the network supports that. The chat stays in the list, and the other people keep their messages. Messages that wait to be sent stay. */
  'chats.clear': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Number of messages that were deleted. */
      removed: number;
      /** Whether the change was made on the phone as well. `false` if the network does not support it or the session is not connected: then it holds only in Switchboard. */
      synchronized: boolean;
    };
  };
  /** Delete a chat. Delete a chat with all of its messages from Switchboard, and from the phone where the network supports that. The other people keep their messages, and the session stays in a group. Messages that wait to be sent stay, and the chat with them. A new message begins the chat again. */
  'chats.delete': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Number of messages that were deleted. */
      removed: number;
      /** Whether the change was made on the phone as well. `false` if the network does not support it or the session is not connected: then it holds only in Switchboard. */
      synchronized: boolean;
    };
  };
  /** Star a message. Star a message, on the phone as well. Nobody else sees it. List starred messages with `starred`. */
  'messages.star': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
    };
    output: Message;
  };
  /** Remove the star of a message. Remove the star of a message, on the phone as well. */
  'messages.unstar': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
    };
    output: Message;
  };
  /** Pin a message. Pin a message at the top of its chat, for everyone in it. In some groups only admins may. Networks limit how many messages of a chat are pinned at a time, and show the newest pins. */
  'messages.pin': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** How long the message stays pinned; `7d` by default. */
      duration?: '24h' | '7d' | '30d';
    };
    output: Message;
  };
  /** Unpin a message. Remove the pin of a message, for everyone in the chat. */
  'messages.unpin': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
    };
    output: Message;
  };
  /** List labels. List the labels of a session, or of all sessions, in the order in which they were created. List the chats with a label with `labelId`. On WhatsApp, only business accounts have labels. */
  'labels.list': {
    input: {
      /** Only those of this session (`ses_…`). */
      sessionId?: string;
    };
    output: {
      /** The labels. */
      data: Label[];
    };
  };
  /** Create a label. Create a label, on the phone as well. */
  'labels.create': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Name of the label. */
      name: string;
      /** Index into the palette of the network; WhatsApp has 20 colors. */
      color?: number;
    };
    output: Label;
  };
  /** Change a label. Change the name or color of a label, on the phone as well. Fields that you leave out do not change. */
  'labels.update': {
    input: {
      /** Id of the label (`lbl_…`). */
      labelId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Name of the label. */
      name?: string;
      /** Index into the palette of the network; WhatsApp has 20 colors. */
      color?: number;
    };
    output: Label;
  };
  /** Delete a label. Delete a label, on the phone as well, and take it off all chats and messages. */
  'labels.delete': {
    input: {
      /** Id of the label (`lbl_…`). */
      labelId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Id of the label (`lbl_…`). */
      labelId: string;
      /** Always true. */
      deleted: true;
    };
  };
  /** Put a label on a chat. Put a label on a chat, on the phone as well. Nobody else sees it. */
  'chats.add_label': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the label (`lbl_…`). */
      labelId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Ids of its labels (`lbl_…`). */
      labelIds: string[];
    };
  };
  /** Take a label off a chat. Take a label off a chat, on the phone as well. */
  'chats.remove_label': {
    input: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Id of the label (`lbl_…`). */
      labelId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Phone number digits of the other person, or the id of the group (`grp_…`). */
      chatId: string;
      /** Ids of its labels (`lbl_…`). */
      labelIds: string[];
    };
  };
  /** Put a label on a message. Put a label on a message, on the phone as well. Nobody else sees it. */
  'messages.add_label': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** Id of the label (`lbl_…`). */
      labelId: string;
    };
    output: Message;
  };
  /** Take a label off a message. Take a label off a message, on the phone as well. */
  'messages.remove_label': {
    input: {
      /** Id of the message (`msg_…`). */
      messageId: string;
      /** Id of the label (`lbl_…`). */
      labelId: string;
    };
    output: Message;
  };
  /** List contacts. List contacts, ordered by phone number: people who wrote to a session, whose number was checked, or who were blocked. Use it to find a number by name (`q`). */
  'contacts.list': {
    input: {
      /** Only those of this session (`ses_…`). */
      sessionId?: string;
      /** Part of the name, or the first digits of the number. */
      q?: string;
      /** Only the contact with this number. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber?: string;
      /** `true`: only blocked contacts; `false`: only others. */
      blocked?: boolean;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Contact[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Get a contact. Get one contact of a session, by its phone number or by an id of the network. A contact who hid the number before is also found by the placeholder and the LID of that time. */
  'contacts.get': {
    input: {
      /** Phone number, address (`491701234567@s.whatsapp.net`), LID (`…@lid`) or placeholder (`000…`). In international form, such as 491701234567; +, spaces and dashes are ignored. */
      contactId: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: ContactWithIds;
  };
  /** Check phone numbers. Check which phone numbers have an account on the network, before you write to them. Results are cached for a day. Do not check in bulk: networks ban sessions that do. */
  'contacts.check': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Up to 100 numbers. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumbers: string[];
    };
    output: {
      /** One entry per number. */
      data: {
        /** Phone number digits. */
        phoneNumber: string;
        /** Whether the number has an account on the network. */
        onNetwork: boolean;
        /** When the network was asked. */
        checkedAt: string;
      }[];
    };
  };
  /** Block or unblock a contact. Block or unblock a contact. Direct messages sent while a contact is blocked never arrive, even after you unblock it. Its group messages still arrive. The contact is not notified. */
  'contacts.set_blocked': {
    input: {
      /** Number of the contact. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** true blocks the contact, false unblocks it. */
      blocked: boolean;
    };
    output: Contact;
  };
  /** Upload a file. Upload a file to send it in a message, or to use it as a picture. The request body is the file itself, or a form (`multipart/form-data`) with one file. The server detects the media type from the content. Uploading the same content again returns the existing file under the name of its first upload, so repeats are safe. */
  'media.upload': {
    input: {
      /** Name of the file. By default the name in `Content-Disposition` or in the form. */
      fileName?: string;
    };
    output: Media;
  };
  /** Get a file. Get a file's type, size and download `url`. Use it to look at the file of a message. */
  'media.get': {
    input: {
      /** Id of the file (`med_…`). */
      mediaId: string;
      /** `base64` also returns the content, of files of up to 1 MiB. */
      encoding?: 'base64';
      /** `true` also returns the thumbnail, if there is one. */
      thumbnail?: boolean;
    };
    output: Media;
  };
  /** Delete a file. Delete a file. This cannot be undone. Messages that were sent or received with it stay, and show it with `available: false`. A file that a scheduled or queued message or the picture of a group needs is not deleted. */
  'media.delete': {
    input: {
      /** Id of the file (`med_…`). */
      mediaId: string;
    };
    output: {
      /** Id of the file (`med_…`). */
      mediaId: string;
      /** Always true. */
      deleted: true;
    };
  };
  /** Post a status. Post a status (story), which disappears after 24 hours: a text, or with `type` a file from `mediaId`, `url` or `content`. The people in `phoneNumbers` see it, or all contacts of the session that are not blocked, up to 1000. On WhatsApp, people who have not saved the number do not see its statuses. */
  'status.post': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Type of the status; `text` by default. */
      type?: 'text' | 'image' | 'video' | 'voice';
      /** Text, or caption of the file. */
      message?: string;
      /** Id of an uploaded or received file (`med_…`). */
      mediaId?: string;
      /** https URL of the file. */
      url?: string;
      /** A small file in base64, up to 700,000 characters. */
      content?: string;
      /** Color behind a text or a voice message, such as `#1F6F5C`. */
      backgroundColor?: string;
      /** The network's number of the font of a text. */
      font?: number;
      /** The people who see it, up to 1000; all contacts if left out. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumbers?: string[];
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
    };
    output: Status;
  };
  /** List statuses. List the statuses (stories) that have not expired, newest first: own ones, and those of others for sessions with the option `statuses`. */
  'status.list': {
    input: {
      /** Only those of this session (`ses_…`). */
      sessionId?: string;
      /** Only those of this person. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumber?: string;
      /** Only own statuses, or only those of others. */
      by?: 'me' | 'others';
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Status[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Delete a status. Delete an own status, which was posted with this API, for everybody who can see it. */
  'status.delete': {
    input: {
      /** Id of the status (`sts_…`). */
      statusId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
    };
    output: {
      /** Id of the status (`sts_…`). */
      statusId: string;
      /** Always true. */
      deleted: true;
    };
  };
  /** List the views of a status. List the people who have viewed an own status, with their reactions, ordered by phone number. */
  'status.views': {
    input: {
      /** Id of the status (`sts_…`). */
      statusId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: {
        /** Phone number digits of the person. */
        phoneNumber: string;
        /** Emoji of the reaction; null if there is none. */
        emoji: string | null;
        /** When the person viewed it. */
        viewedAt: string;
      }[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Mark a status as viewed. Tell the author of a status that the session has viewed it. */
  'status.mark_viewed': {
    input: {
      /** Id of the status (`sts_…`). */
      statusId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
    };
    output: {
      /** Id of the status (`sts_…`). */
      statusId: string;
      /** When it was first marked as viewed. */
      viewedAt: string;
    };
  };
  /** List channels. List the channels that sessions own or follow, as far as they are known here, newest first. Call `channels.refresh` to learn which channels the account followed on its phone. */
  'channels.list': {
    input: {
      /** Only those of this session (`ses_…`). */
      sessionId?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Channel[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Preview a channel. Ask the network about a channel by its link, invite code or address, for example before following it. */
  'channels.preview': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Link or invite code of the channel, its address on the network (`…@newsletter`), or its id (`chn_…`). */
      channel: string;
    };
    output: ChannelPreview;
  };
  /** Refresh the list of channels. Ask the network which channels the session owns and follows, and store them. */
  'channels.refresh': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: {
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** How many channels the session owns or follows. */
      channels: number;
    };
  };
  /** Create a channel. Create a channel with the session as its owner. Anybody who has its link can follow it. */
  'channels.create': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Name of the channel. */
      name: string;
      /** Text that describes the channel. */
      description?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
    };
    output: Channel;
  };
  /** Follow a channel. Follow a channel by its link, invite code or address. */
  'channels.follow': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Link or invite code of the channel, its address on the network (`…@newsletter`), or its id (`chn_…`). */
      channel: string;
    };
    output: Channel;
  };
  /** Get a channel. Get one channel that the session owns, follows or has followed. */
  'channels.get': {
    input: {
      /** Id of the channel (`chn_…`). */
      channelId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
    };
    output: Channel;
  };
  /** Mute or unmute a channel. Mute or unmute a channel for the account. A muted channel still reports its posts. */
  'channels.update': {
    input: {
      /** Id of the channel (`chn_…`). */
      channelId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
      /** Whether the channel is muted. */
      muted: boolean;
    };
    output: Channel;
  };
  /** Unfollow a channel. Stop following a channel. The posts that the session has received stay. */
  'channels.unfollow': {
    input: {
      /** Id of the channel (`chn_…`). */
      channelId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
    };
    output: Channel;
  };
  /** List the posts of a channel. List the stored posts of a channel, newest first: own ones, those that arrived in a session with the option `channels`, and those that `channels.refresh_messages` fetched. The newest 1000 are kept. */
  'channels.messages': {
    input: {
      /** Id of the channel (`chn_…`). */
      channelId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: ChannelPost[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Post to a channel. Post a text, or with `type` a file from `mediaId`, `url` or `content`, to a channel that the session owns or administers. A key with `allowedRecipients` cannot post. */
  'channels.post': {
    input: {
      /** Id of the channel (`chn_…`). */
      channelId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
      /** Type of the post; `text` by default. */
      type?: 'text' | 'image' | 'video';
      /** Text, or caption of the file. */
      message?: string;
      /** Id of an uploaded or received file (`med_…`). */
      mediaId?: string;
      /** https URL of the file. */
      url?: string;
      /** A small file in base64, up to 700,000 characters. */
      content?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
    };
    output: ChannelPost;
  };
  /** Refresh the posts of a channel. Ask the network for the newest posts of a channel, and for how many people have seen them and reacted. New posts are stored without an event and without their files. */
  'channels.refresh_messages': {
    input: {
      /** Id of the channel (`chn_…`). */
      channelId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
      /** How many posts to ask for. */
      limit?: number;
    };
    output: {
      /** Id of the channel (`chn_…`). */
      channelId: string;
      /** How many posts the network returned. */
      posts: number;
    };
  };
  /** React to a post of a channel. React to a post of a channel with an emoji, or remove the reaction with an empty one. */
  'channels.react': {
    input: {
      /** Id of the channel (`chn_…`). */
      channelId: string;
      /** Id of the session (`ses_…`). It can be left out, because the other id determines it. */
      sessionId?: string;
      /** Id of the post (`pst_…`). */
      postId: string;
      /** A single emoji; empty removes the reaction. */
      emoji: string;
    };
    output: {
      /** Id of the post (`pst_…`). */
      postId: string;
      /** The reaction; null if it was removed. */
      emoji: string | null;
    };
  };
  /** List groups. List the groups that sessions are members of, with participants and settings, newest first. Use it to find a `groupId` by name (`q`). */
  'groups.list': {
    input: {
      /** Only those of this session (`ses_…`). */
      sessionId?: string;
      /** Part of the name. */
      q?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Group[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Get a group. Get one group with its participants, their roles, and its settings. Use it to see who is an admin. */
  'groups.get': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
    };
    output: Group;
  };
  /** Create a group. Create a group with the session as its owner, and add participants. People whose privacy settings forbid it are not added; compare `participants` in the result. */
  'groups.create': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Name of the group. */
      subject: string;
      /** Participants, up to 1024. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumbers: string[];
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
    };
    output: Group;
  };
  /** Update a group. Change the subject, description, settings or picture of a group. Fields that you leave out do not change. Only admins can change settings, or anything in a `locked` group. */
  'groups.update': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** Name of the group. */
      subject?: string;
      /** Text that describes the group; null removes it. */
      description?: string | null;
      /** Settings to change. */
      settings?: {
        /** Only admins can send messages. */
        announce?: boolean;
        /** Only admins can change the group. */
        locked?: boolean;
        /** Admins approve people who join by link. */
        joinApproval?: boolean;
        /** People who can add members. */
        memberAdd?: 'admins' | 'all';
        /** Seconds until messages disappear: 86400, 604800 or 7776000; 0 turns this off. */
        disappearingSeconds?: number;
      };
      /** Id of an uploaded image; null removes the picture. */
      pictureMediaId?: string | null;
    };
    output: Group;
  };
  /** Update group participants. Add, remove, promote or demote participants of a group. The session must be an admin. Returns one result per number, because some can fail. */
  'groups.update_participants': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** `promote` makes participants admins; `demote` makes them members again. */
      action: 'add' | 'remove' | 'promote' | 'demote';
      /** Participants, up to 1024. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumbers: string[];
    };
    output: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** One entry per number. */
      results: {
        /** Phone number digits of the participant. */
        phoneNumber: string;
        /** Whether the change was made. */
        ok: boolean;
        /** Why the change was not made. */
        reason?: string;
      }[];
    };
  };
  /** Get the invite link of a group. Get the invite link of a group, or create it. Anyone with the link can join. The session must be an admin. */
  'groups.get_invite_link': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
    };
    output: GroupInvite;
  };
  /** Revoke the invite link of a group. Replace the invite link of a group with a new one, which is returned. The previous invite link stops working. The session must be an admin. */
  'groups.revoke_invite_link': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
    };
    output: GroupInvite;
  };
  /** Join a group. Join a group with an invite link or the code after its last slash. If the status is `requested`, an admin must approve first. */
  'groups.join': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Invite link (`https://chat.whatsapp.com/…`), a text with one, or the code after its last slash. */
      invite: string;
    };
    output: {
      /** `requested`: an admin must approve first. */
      status: 'joined' | 'requested';
      /** The group. Null until an admin approves; then `groups.list` has it. */
      group: Group | null;
    };
  };
  /** Leave a group. Leave a group. The session needs an invite to come back. Existing messages stay readable. */
  'groups.leave': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
    };
    output: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** Always true. */
      left: true;
    };
  };
  /** Preview a group invite. Show the group behind an invite, without joining it. Asks the network. Join it with `groups.join`. */
  'groups.preview_invite': {
    input: {
      /** Invite link (`https://chat.whatsapp.com/…`), a text with one, or the code after its last slash. */
      invite: string;
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
    };
    output: InvitePreview;
  };
  /** List requests to join a group. List the people who wait to join a group with `joinApproval`, the oldest first. Asks the network. The session must be an admin. The event `group.join_request` reports new ones. */
  'groups.list_join_requests': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
    };
    output: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** People who wait. */
      data: {
        /** Phone number digits of the person. */
        phoneNumber: string;
        /** Present if the person hides the number: `phoneNumber` is then a placeholder. */
        unidentified?: true;
        /** When the person asked, if the network reports it. */
        requestedAt?: string;
        /** How the person asked, if the network reports it. `member`: a member proposed the person. */
        method?: 'invite_link' | 'member' | 'community';
      }[];
    };
  };
  /** Approve requests to join a group. Let people in who wait to join a group. The session must be an admin. Returns one result per number, because some can fail. */
  'groups.approve_join_requests': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** Participants, up to 1024. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumbers: string[];
    };
    output: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** One entry per number. */
      results: {
        /** Phone number digits of the person. */
        phoneNumber: string;
        /** Whether the request was decided. */
        ok: boolean;
        /** Why it was not. */
        reason?: string;
      }[];
    };
  };
  /** Reject requests to join a group. Turn down people who wait to join a group. The session must be an admin. Returns one result per number, because some can fail. */
  'groups.reject_join_requests': {
    input: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** Participants, up to 1024. In international form, such as 491701234567; +, spaces and dashes are ignored. */
      phoneNumbers: string[];
    };
    output: {
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** One entry per number. */
      results: {
        /** Phone number digits of the person. */
        phoneNumber: string;
        /** Whether the request was decided. */
        ok: boolean;
        /** Why it was not. */
        reason?: string;
      }[];
    };
  };
  /** List communities. List the communities that sessions are members of, newest first. */
  'communities.list': {
    input: {
      /** Only those of this session (`ses_…`). */
      sessionId?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Group[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Create a community. Create a community with the session as its owner. The network adds its announcement group, which `groups.list` shows with `isAnnouncementGroup`. Link groups to it afterwards. */
  'communities.create': {
    input: {
      /** Id of the session (`ses_…`). Required if the account has several sessions. */
      sessionId?: string;
      /** Name of the group. */
      subject: string;
      /** Text that describes the community. */
      description?: string;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
    };
    output: Group;
  };
  /** List the groups of a community. List the groups that are linked to a community, also those that the session has not joined. Asks the network. */
  'communities.list_groups': {
    input: {
      /** Id of the community: a group (`grp_…`) with `isCommunity`. */
      groupId: string;
    };
    output: {
      /** Id of the community: a group (`grp_…`) with `isCommunity`. */
      communityId: string;
      /** Id of the session (`ses_…`). */
      sessionId: string;
      /** Groups of the community. */
      data: {
        /** Id of the group (`grp_…`); null if the session is not a member. */
        groupId: string | null;
        /** Address of the group at the network, such as `…@g.us`. */
        networkGroupId: string;
        /** Name of the group. */
        subject: string;
        /** Number of members; null if the network does not report it. */
        size: number | null;
      }[];
    };
  };
  /** Link a group to a community. Make a group part of a community. The session must be an admin of both. The members of the group become members of the community, so a key with `allowedRecipients` needs the group among them. */
  'communities.link_group': {
    input: {
      /** Id of the community: a group (`grp_…`) with `isCommunity`. */
      groupId: string;
      /** Id of the group (`grp_…`) of the same session, or its address at the network. */
      linkedGroupId: string;
    };
    output: {
      /** Id of the community: a group (`grp_…`) with `isCommunity`. */
      communityId: string;
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** Always true. */
      linked: true;
    };
  };
  /** Unlink a group from a community. Take a group out of a community. The group stays. The session must be an admin of the community. */
  'communities.unlink_group': {
    input: {
      /** Id of the community: a group (`grp_…`) with `isCommunity`. */
      groupId: string;
      /** Id of the group (`grp_…`) of the same session, or its address at the network. */
      linkedGroupId: string;
    };
    output: {
      /** Id of the community: a group (`grp_…`) with `isCommunity`. */
      communityId: string;
      /** Id of the group (`grp_…`). */
      groupId: string;
      /** Always true. */
      unlinked: true;
    };
  };
  /** Set the webhook. Replace the URL and event types of the default webhook, or of another one. Call `webhooks.test` to verify it. A new URL closes the circuit breaker. Cancels pending deliveries of event types that you drop. */
  'webhooks.set': {
    input: {
      /** A webhook other than the default one (`whk_…`). */
      webhookId?: string;
      /** http or https URL, such as https://example.com/hooks. Private addresses are refused. */
      webhookUrl: string;
      /** Event types, such as `message.incoming`, or patterns, such as `message.*`. `GET /events/types` and `switchboard://event-kinds` list them. */
      events: string[];
      /** Signs deliveries. Never returned. Left out: no change; `null`: removed. */
      secret?: string | null;
      /** Signs with a new secret, which is not returned. A person reads it at `secretUrl`. Repeat URL and events to only rotate. */
      rotateSecret?: boolean;
      /** Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer. */
      idempotencyKey?: string;
    };
    output: {
      /** URL that receives events; null if no webhook is set. */
      webhookUrl: string | null;
      /** Event types that the webhook receives, and patterns. */
      events: string[];
      /** Whether a secret is set. The secret itself is never returned. */
      hasSecret: boolean;
      /** Whether events are sent. */
      enabled: boolean;
      /** When the webhook was first set; null if none is set. */
      createdAt: string | null;
      /** When the webhook was last changed; null if none is set. */
      updatedAt: string | null;
      /** Page of the dashboard on which a person with a login reads the new secret, for seven days. Only its path if `PUBLIC_URL` is not set. */
      secretUrl?: string;
      /** Number of pending deliveries that the change cancelled, up to 100,000. */
      cancelled?: number;
      /** Remarks on the new configuration, as sentences. */
      warnings?: string[];
    };
  };
  /** Get the webhook. Get the URL and the event types of the default webhook, whether it has a secret, and the ids of `others`. Use it before `webhooks.set`, which replaces them. */
  'webhooks.get': {
    input: {
      /** A webhook other than the default one (`whk_…`). */
      webhookId?: string;
    };
    output: {
      /** URL that receives events; null if no webhook is set. */
      webhookUrl: string | null;
      /** Event types that the webhook receives, and patterns. */
      events: string[];
      /** Whether a secret is set. The secret itself is never returned. */
      hasSecret: boolean;
      /** Whether events are sent. */
      enabled: boolean;
      /** When the webhook was first set; null if none is set. */
      createdAt: string | null;
      /** When the webhook was last changed; null if none is set. */
      updatedAt: string | null;
      /** Webhooks besides the default one; left out if there is none, and with `webhookId`. */
      others?: {
        /** Id of the webhook (`whk_…`). */
        webhookId: string;
        /** URL that receives events. */
        webhookUrl: string;
      }[];
    };
  };
  /** Test the webhook. Send one sample event to the webhook now, even if its circuit breaker is open. Use it to verify a URL, or to find the stage that fails. Returns the request, the response and every stage. The event has `data.test: true` and is not counted in the statistics. */
  'webhooks.test': {
    input: {
      /** A webhook other than the default one (`whk_…`). */
      webhookId?: string;
      /** Event type of the sample, such as `message.incoming`; by default the first one of the webhook. */
      event?: string;
    };
    output: WebhookTest;
  };
  /** Get webhook statistics. Get attempts, success rate and latency of the default webhook over 1 h, 24 h and 7 d, and its pending deliveries. Tests are not counted. */
  'webhooks.stats': {
    input: {
      /** A webhook other than the default one (`whk_…`). */
      webhookId?: string;
    };
    output: WebhookStats;
  };
  /** Get the circuit breaker. Get the state of the default webhook's circuit breaker, the last error, the held deliveries and the next probe. `open` means that deliveries are held because the receiver fails. */
  'webhooks.get_circuit_breaker': {
    input: {
      /** A webhook other than the default one (`whk_…`). */
      webhookId?: string;
    };
    output: CircuitBreaker;
  };
  /** Reset the circuit breaker. Close the circuit breaker of the default webhook, so that held deliveries go out in order, slowly at first. Use it once the receiver works again. */
  'webhooks.reset_circuit_breaker': {
    input: {
      /** A webhook other than the default one (`whk_…`). */
      webhookId?: string;
    };
    output: BreakerReset;
  };
  /** List deliveries. List webhook deliveries with their state, newest first. Use it to find events that did not arrive: filter by `states`, `messageId` or `chatId`. `webhooks.get_delivery` then says why. */
  'webhooks.list_deliveries': {
    input: {
      /** Only deliveries of this webhook (`whk_…`). */
      webhookId?: string;
      /** Only deliveries in these states. */
      states?: ('pending' | 'delivered' | 'failed' | 'expired' | 'cancelled')[];
      /** Only these event types, such as `message.*`. */
      events?: string[];
      /** Only events about this message (`msg_…`). */
      messageId?: string;
      /** Only events of this chat: phone number or group id (`grp_…`). */
      chatId?: string;
      /** Only at or after this time, such as 2026-07-01T12:00:00Z. */
      afterTime?: string;
      /** Only before this time. */
      beforeTime?: string;
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: Delivery[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Get a delivery. Get one delivery with its body, every attempt, and `why`: a sentence that says why it has or has not arrived. */
  'webhooks.get_delivery': {
    input: {
      /** Id of the delivery (`dlv_…`). */
      deliveryId: string;
    };
    output: DeliveryWithAttempts;
  };
  /** Replay deliveries. Send settled deliveries again, with the same `X-Webhook-Id`. Select them by `deliveryIds`, or by `afterTime` and `beforeTime`: failed and expired ones unless you pass `states`. Count them first with `dryRun`. At most 100,000 per call. */
  'webhooks.replay': {
    input: {
      /** Ids of deliveries, up to 1,000. */
      deliveryIds?: string[];
      /** Only at or after this time, such as 2026-07-01T12:00:00Z. */
      afterTime?: string;
      /** Only before this time. */
      beforeTime?: string;
      /** Only these event types, such as `message.*`. */
      events?: string[];
      /** Only deliveries in these states. */
      states?: ('delivered' | 'failed' | 'expired' | 'cancelled')[];
      /** Only deliveries of this webhook (`whk_…`). */
      webhookId?: string;
      /** Only counts; sends nothing. */
      dryRun?: boolean;
      /** Deliveries per second; 100 by default. */
      perSecond?: number;
    };
    output: {
      /** Number of settled deliveries that match. */
      matched: number;
      /** Number of deliveries that are sent again; 0 on a dry run. */
      replayed: number;
      /** When the last of them is due; null if none is sent. */
      lastDueAt: string | null;
      /** Only with `deliveryIds`: those not selected because they are unknown, still pending, tests, of a deleted webhook, or excluded by another filter. */
      notFound?: string[];
    };
  };
  /** Cancel a delivery. Cancel a pending delivery: it is not attempted again, and stays in the log. Use it to skip an event that the receiver cannot process, which at a webhook with `ordering: "strict"` holds back the later events of its chat. An attempt in flight may still deliver it. `webhooks.replay` sends it again. */
  'webhooks.cancel_delivery': {
    input: {
      /** Id of the delivery (`dlv_…`). */
      deliveryId: string;
    };
    output: Delivery;
  };
  /** Rotate the secret of the webhook. Replace the secret without losing deliveries. For `graceSeconds`, `webhook-signature` has the signatures of both secrets, so that receivers can switch. `X-Webhook-Signature` uses the new secret at once. Without `secret`, the server makes one, which `webhooks.reveal_secret` returns. */
  'webhooks.rotate_secret': {
    input: {
      /** A webhook other than the default one (`whk_…`). */
      webhookId?: string;
      /** New secret, with at least 16 characters. Never returned. Left out: the server makes one. */
      secret?: string;
      /** Seconds for which `webhook-signature` also has the signature of the old secret; one day by default. */
      graceSeconds?: number;
    };
    output: SecretRotation;
  };
  /** Show the secret that the server made. Return the secret of the default webhook, if the server made it in the last seven days. Use it after an agent has rotated the secret, which never sees it. A secret that was passed to the server is never returned. */
  'webhooks.reveal_secret': {
    input: {
      /** A webhook other than the default one (`whk_…`). */
      webhookId?: string;
    };
    output: RevealedSecret;
  };
  /** Remove the webhook. Remove the default webhook. Pending deliveries are cancelled and stay in the delivery log. Once the request returns, nothing more is sent to the URL. */
  'webhooks.delete': {
    input: Record<string, never>;
    output: {
      /** Whether a webhook was removed; false if none was set. */
      deleted: boolean;
    };
  };
  /** List webhooks. List all webhooks of the account, newest first, each with its URL, event types and breaker state. The default one, which `webhooks.set` sets, is included. Use it to find a `webhookId`. */
  'webhooks.endpoints.list': {
    input: {
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: WebhookEndpoint[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** Add a webhook. Add another webhook with its own URL, event types, sessions, secret, circuit breaker and statistics. An account can have up to 100 webhooks. */
  'webhooks.endpoints.create': {
    input: {
      /** http or https URL, such as https://example.com/hooks. Private addresses are refused. */
      webhookUrl: string;
      /** Event types, such as `message.incoming`, or patterns, such as `message.*`. `GET /events/types` and `switchboard://event-kinds` list them. */
      events: string[];
      /** Signs deliveries. Never returned. Without one, deliveries are not signed. */
      secret?: string | null;
      /** Whether events are queued and sent; true by default. */
      enabled?: boolean;
      /** Number of deliveries in flight at the same time; 8 by default. */
      maxInFlight?: number;
      /** Where events go if not over HTTP. `webhookUrl` is then the address of the broker, such as `amqps://example.com/vhost`. */
      destination?: {
        /** How events are sent; `http` by default. */
        type: 'http' | 'rabbitmq' | 'nats' | 'redis' | 'kafka' | 'sqs';
        /** RabbitMQ: the exchange; left out for the default one, where `routingKey` names a queue. */
        exchange?: string;
        /** RabbitMQ: the routing key. */
        routingKey?: string;
        /** NATS: a subject of a JetStream stream. */
        subject?: string;
        /** Redis: the key of the stream. */
        stream?: string;
        /** Redis: the approximate number of entries to keep; left out for all. */
        maxLength?: number;
        /** Kafka: the topic. The conversation is the key of a message. */
        topic?: string;
        /** Kafka: how to log in; `plain` by default. */
        saslMechanism?: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        /** Amazon SQS: the region, if the URL does not name it. */
        region?: string;
      };
      /** Replaces all credentials; `null` removes them. */
      credentials?: {
        username?: string;
        password?: string;
        token?: string;
        creds?: string;
        accessKeyId?: string;
        secretAccessKey?: string;
        sessionToken?: string;
      } | null;
      /** Only events of these sessions; `null` for all, which is the default. Not for the default webhook. */
      sessionIds?: string[] | null;
      /** Note for people, such as `orders of the shop`. */
      description?: string | null;
      /** Your own data: up to 50 strings by key (40 characters), such as `{"team": "sales"}`. */
      metadata?: Record<string, string>;
      /** Selects events by chat, sender and type; `null` for all. Not for the default webhook. */
      filters?: {
        /** Only these chats: phone numbers, ids of groups (`grp_…`, `…@g.us`) and channels (`chn_…`), or beginnings such as `49170*`. */
        chats?: string[];
        /** Not these chats, in the same form. */
        ignoredChats?: string[];
        /** Only chats of these types. */
        chatTypes?: ('direct' | 'group' | 'channel')[];
        /** `true`: only what the session itself did; `false`: only what others did. */
        fromMe?: boolean;
        /** Only messages of these types. */
        messageTypes?: (
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
          | 'product'
          | 'order'
          | 'group_invite'
          | 'unsupported'
        )[];
      } | null;
      /** Up to 20 headers of every delivery, such as `{"Authorization": "Bearer …"}`. Their values are never returned. `null` removes them. */
      headers?: Record<string, string> | null;
      /** Milliseconds of a whole attempt; `null` for that of the server (`WEBHOOK_TIMEOUT_MS`). */
      timeoutMs?: number | null;
      /** Seconds before each retry; an empty list for no retries, `null` for the schedule of the server (`WEBHOOK_RETRY_SECONDS`). */
      retrySeconds?: number[] | null;
      /** `true` counts 302 and 303 as delivered, for receivers that redirect after they have processed an event, such as Google Apps Script; false by default. */
      acceptRedirects?: boolean;
      /** While true, events are queued but not sent. */
      paused?: boolean;
      /** `strict`: a delivery that failed holds back the later ones of its chat until it succeeds, fails for good or is cancelled. `best_effort`, the default: only first attempts keep the order. */
      ordering?: 'best_effort' | 'strict';
      /** Groups of fields that are added to `data` of its events. `null`, the default, adds `network` and `contact` if it receives event types beyond the first eight, otherwise nothing. */
      include?: ('network' | 'contact' | 'chat' | 'session')[] | null;
    };
    output: ChangedWebhookEndpoint;
  };
  /** Get a webhook. Get the URL and the event types of one webhook, whether it is enabled and has a secret, and the state of its circuit breaker. The secret is never included. */
  'webhooks.endpoints.get': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: WebhookEndpoint;
  };
  /** Update a webhook. Change a webhook. Fields that you leave out do not change. While `enabled` is false, nothing is sent and new events are not queued. A new URL closes the circuit breaker, and pending deliveries of event types and sessions that you drop are cancelled. `metadata` replaces what was set before. */
  'webhooks.endpoints.update': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
      /** http or https URL, such as https://example.com/hooks. Private addresses are refused. */
      webhookUrl?: string;
      /** Event types, such as `message.incoming`, or patterns, such as `message.*`. `GET /events/types` and `switchboard://event-kinds` list them. */
      events?: string[];
      /** Signs deliveries. Never returned. Left out: no change; `null`: removed. */
      secret?: string | null;
      /** Whether events are queued and sent; true by default. */
      enabled?: boolean;
      /** Number of deliveries in flight at the same time; 8 by default. */
      maxInFlight?: number;
      /** Where events go if not over HTTP. `webhookUrl` is then the address of the broker, such as `amqps://example.com/vhost`. */
      destination?: {
        /** How events are sent; `http` by default. */
        type: 'http' | 'rabbitmq' | 'nats' | 'redis' | 'kafka' | 'sqs';
        /** RabbitMQ: the exchange; left out for the default one, where `routingKey` names a queue. */
        exchange?: string;
        /** RabbitMQ: the routing key. */
        routingKey?: string;
        /** NATS: a subject of a JetStream stream. */
        subject?: string;
        /** Redis: the key of the stream. */
        stream?: string;
        /** Redis: the approximate number of entries to keep; left out for all. */
        maxLength?: number;
        /** Kafka: the topic. The conversation is the key of a message. */
        topic?: string;
        /** Kafka: how to log in; `plain` by default. */
        saslMechanism?: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        /** Amazon SQS: the region, if the URL does not name it. */
        region?: string;
      };
      /** Replaces all credentials; `null` removes them. */
      credentials?: {
        username?: string;
        password?: string;
        token?: string;
        creds?: string;
        accessKeyId?: string;
        secretAccessKey?: string;
        sessionToken?: string;
      } | null;
      /** Only events of these sessions; `null` for all, which is the default. Not for the default webhook. */
      sessionIds?: string[] | null;
      /** Note for people, such as `orders of the shop`. */
      description?: string | null;
      /** Your own data: up to 50 strings by key (40 characters), such as `{"team": "sales"}`. */
      metadata?: Record<string, string>;
      /** Selects events by chat, sender and type; `null` for all. Not for the default webhook. */
      filters?: {
        /** Only these chats: phone numbers, ids of groups (`grp_…`, `…@g.us`) and channels (`chn_…`), or beginnings such as `49170*`. */
        chats?: string[];
        /** Not these chats, in the same form. */
        ignoredChats?: string[];
        /** Only chats of these types. */
        chatTypes?: ('direct' | 'group' | 'channel')[];
        /** `true`: only what the session itself did; `false`: only what others did. */
        fromMe?: boolean;
        /** Only messages of these types. */
        messageTypes?: (
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
          | 'product'
          | 'order'
          | 'group_invite'
          | 'unsupported'
        )[];
      } | null;
      /** Up to 20 headers of every delivery, such as `{"Authorization": "Bearer …"}`. Their values are never returned. `null` removes them. */
      headers?: Record<string, string> | null;
      /** Milliseconds of a whole attempt; `null` for that of the server (`WEBHOOK_TIMEOUT_MS`). */
      timeoutMs?: number | null;
      /** Seconds before each retry; an empty list for no retries, `null` for the schedule of the server (`WEBHOOK_RETRY_SECONDS`). */
      retrySeconds?: number[] | null;
      /** `true` counts 302 and 303 as delivered, for receivers that redirect after they have processed an event, such as Google Apps Script; false by default. */
      acceptRedirects?: boolean;
      /** While true, events are queued but not sent. */
      paused?: boolean;
      /** `strict`: a delivery that failed holds back the later ones of its chat until it succeeds, fails for good or is cancelled. `best_effort`, the default: only first attempts keep the order. */
      ordering?: 'best_effort' | 'strict';
      /** Groups of fields that are added to `data` of its events. `null`, the default, adds `network` and `contact` if it receives event types beyond the first eight, otherwise nothing. */
      include?: ('network' | 'contact' | 'chat' | 'session')[] | null;
    };
    output: ChangedWebhookEndpoint;
  };
  /** Remove a webhook. Remove a webhook. Pending deliveries are cancelled and stay in the delivery log. Once the request returns, nothing more is sent to the URL. */
  'webhooks.endpoints.delete': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
      /** Always true. */
      deleted: true;
    };
  };
  /** Rotate the secret of a webhook. Replace the secret of a webhook without losing deliveries. For `graceSeconds`, `webhook-signature` has the signatures of both secrets. `X-Webhook-Signature` uses the new secret at once. Without `secret`, the server makes one, which `webhooks.endpoints.reveal_secret` returns. */
  'webhooks.endpoints.rotate_secret': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
      /** New secret, with at least 16 characters. Never returned. Left out: the server makes one. */
      secret?: string;
      /** Seconds for which `webhook-signature` also has the signature of the old secret; one day by default. */
      graceSeconds?: number;
    };
    output: SecretRotation;
  };
  /** Show the secret that the server made for a webhook. Return the secret of a webhook, if the server made it in the last seven days. A secret that was passed to the server is never returned. */
  'webhooks.endpoints.reveal_secret': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: RevealedSecret;
  };
  /** Test a webhook. Send one sample event to a webhook now, even if its circuit breaker is open. Returns the request, the response, and the result of each stage. */
  'webhooks.endpoints.test': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
      /** Event type of the sample, such as `message.incoming`; by default the first one of the webhook. */
      event?: string;
    };
    output: WebhookTest;
  };
  /** Get the statistics of a webhook. Get attempts, success rate and latency of a webhook over 1 h, 24 h and 7 d, and per minute for the last hour. Tests are not counted. */
  'webhooks.endpoints.stats': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: WebhookStats;
  };
  /** Get the circuit breaker of a webhook. Get the state of the circuit breaker of a webhook, with the reason, the last error, the held deliveries and the next probe. */
  'webhooks.endpoints.get_circuit_breaker': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: CircuitBreaker;
  };
  /** Reset the circuit breaker of a webhook. Close the circuit breaker of a webhook, so that held deliveries go out in order, slowly at first. Use it once the receiver works again. */
  'webhooks.endpoints.reset_circuit_breaker': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: BreakerReset;
  };
  /** List event subscriptions. List what MCP clients have subscribed to with `events/subscribe`, newest first. Only the client can change a subscription. Its deliveries are in the delivery log under `webhookId`, by which you also get its statistics and reset its circuit breaker. */
  'webhooks.subscriptions.list': {
    input: {
      /** Number of entries per page. */
      limit?: number;
      /** `nextCursor` of the previous page. Leave it out for the first page. */
      cursor?: string;
    };
    output: {
      /** Entries of this page. */
      data: EventSubscription[];
      /** Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a page can be short or empty even if more pages follow. */
      nextCursor: string | null;
    };
  };
  /** End an event subscription. End a subscription of an MCP client. Pending deliveries are cancelled, and the client is told. It can subscribe again until you revoke its API key. */
  'webhooks.subscriptions.delete': {
    input: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
    };
    output: {
      /** Id of the webhook (`whk_…`). */
      webhookId: string;
      /** Always true. */
      deleted: true;
    };
  };
  /** List events. Read the account's events, oldest first, as webhooks receive them. Use it to catch up or to wait for a reply: pass `nextCursor` as `afterCursor`, and `wait` to hold the request until an event arrives. */
  'events.list': {
    input: {
      /** `nextCursor` of the previous response, or `now`; without it, starts at the oldest event. */
      afterCursor?: string;
      /** Only these types, such as `message.*`; `*` for all. By default the first eight of `switchboard://event-kinds`. */
      events?: string[];
      /** Number of events per response. */
      limit?: number;
      /** Seconds to wait for an event if there is none yet; up to 30. */
      wait?: number;
    };
    output: {
      /** Events, oldest first. */
      data: {
        /** Id of the event (`evt_…`), which webhooks get as `X-Webhook-Id`. */
        eventId: string;
        /** Event type. */
        event:
          | 'message.incoming'
          | 'message.sent'
          | 'message.delivered'
          | 'message.read'
          | 'session.connected'
          | 'session.disconnected'
          | 'group.created'
          | 'group.updated'
          | 'message.reaction'
          | 'message.edited'
          | 'message.deleted'
          | 'message.failed'
          | 'message.queued'
          | 'message.approval'
          | 'poll.vote'
          | 'message.location'
          | 'event.answer'
          | 'chat.updated'
          | 'chat.removed'
          | 'message.removed'
          | 'message.marked'
          | 'message.pinned'
          | 'label.updated'
          | 'contact.updated'
          | 'presence.updated'
          | 'session.status'
          | 'session.history'
          | 'session.updated'
          | 'template.updated'
          | 'group.participants'
          | 'group.join_request'
          | 'call.incoming'
          | 'call.ended'
          | 'status.received'
          | 'status.deleted'
          | 'status.viewed'
          | 'channel.message'
          | 'webhook.circuit_opened'
          | 'webhook.circuit_closed';
        /** Data of the event, with all fields that `include` adds at a webhook. */
        data: Record<string, unknown>;
        /** When the event happened. */
        createdAt: string;
        /** Greater than that of all earlier events of the same chat; 0 for events stored before sequences existed. */
        sequence: number;
      }[];
      /** Pass it as `afterCursor` next time, even if `data` is empty: with `events` or a key of some sessions, a page can be short or empty even if more events follow. Null if there has never been an event. */
      nextCursor: string | null;
      /** Present if the server was restored from a backup or failed over since `afterCursor`. Events after it may be gone, and `data` starts shortly before the restore, so it can repeat events. */
      truncated?: true;
    };
  };
  /** List event types. List all event types with the JSON Schema of their `data` and an example. Subscribe to them by name, or by a pattern: `*` for all, `message.*` for all whose names begin with `message.`. */
  'events.types': {
    input: Record<string, never>;
    output: {
      /** Event types. */
      data: {
        /** Event type. */
        event:
          | 'message.incoming'
          | 'message.sent'
          | 'message.delivered'
          | 'message.read'
          | 'session.connected'
          | 'session.disconnected'
          | 'group.created'
          | 'group.updated'
          | 'message.reaction'
          | 'message.edited'
          | 'message.deleted'
          | 'message.failed'
          | 'message.queued'
          | 'message.approval'
          | 'poll.vote'
          | 'message.location'
          | 'event.answer'
          | 'chat.updated'
          | 'chat.removed'
          | 'message.removed'
          | 'message.marked'
          | 'message.pinned'
          | 'label.updated'
          | 'contact.updated'
          | 'presence.updated'
          | 'session.status'
          | 'session.history'
          | 'session.updated'
          | 'template.updated'
          | 'group.participants'
          | 'group.join_request'
          | 'call.incoming'
          | 'call.ended'
          | 'status.received'
          | 'status.deleted'
          | 'status.viewed'
          | 'channel.message'
          | 'webhook.circuit_opened'
          | 'webhook.circuit_closed';
        /** Meaning of the event. */
        description: string;
        /** JSON Schema of `data`. */
        schema: Record<string, unknown>;
        /** A delivery of the event. */
        example: Record<string, unknown>;
      }[];
    };
  };
}

/** Codes of the errors that the server returns. */
export type ErrorCode =
  | 'validation_failed'
  | 'invalid_json'
  | 'unauthorized'
  | 'invalid_credentials'
  | 'jwt_required'
  | 'permission_denied'
  | 'confirmation_required'
  | 'confirmation_declined'
  | 'network_denied'
  | 'permission_not_grantable'
  | 'registration_closed'
  | 'not_found'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'upgrade_required'
  | 'email_taken'
  | 'phone_number_in_use'
  | 'session_not_connected'
  | 'session_state'
  | 'message_state'
  | 'delivery_settled'
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
  | 'quota_exceeded'
  | 'internal_error'
  | 'storage_unavailable'
  | 'too_busy'
  | 'shutting_down';

/** Method and path of each operation. */
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
  'api_keys.list_calls': {
    method: 'GET',
    path: '/api-keys/{keyId}/calls',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'connections.get_request': {
    method: 'GET',
    path: '/connections/requests/{requestId}',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'connections.approve': {
    method: 'POST',
    path: '/connections/requests/{requestId}/approve',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'connections.deny': {
    method: 'POST',
    path: '/connections/requests/{requestId}/deny',
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
  'sessions.get_profile': {
    method: 'GET',
    path: '/sessions/{sessionId}/profile',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'sessions.list_devices': {
    method: 'GET',
    path: '/sessions/{sessionId}/devices',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'sessions.get_privacy': {
    method: 'GET',
    path: '/sessions/{sessionId}/privacy',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'sessions.update_privacy': {
    method: 'PATCH',
    path: '/sessions/{sessionId}/privacy',
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
  'templates.list': {
    method: 'GET',
    path: '/sessions/{sessionId}/templates',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'templates.get': {
    method: 'GET',
    path: '/sessions/{sessionId}/templates/{templateId}',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'templates.create': {
    method: 'POST',
    path: '/sessions/{sessionId}/templates',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'templates.update': {
    method: 'PATCH',
    path: '/sessions/{sessionId}/templates/{templateId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'templates.delete': {
    method: 'DELETE',
    path: '/sessions/{sessionId}/templates/{templateId}',
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
  'contacts.look_up': { method: 'GET', path: '/contacts/lookup', isRead: true, idempotent: false, takesContent: false },
  'contacts.business_profile': {
    method: 'GET',
    path: '/contacts/{phoneNumber}/business-profile',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'contacts.catalog': {
    method: 'GET',
    path: '/contacts/{phoneNumber}/catalog',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'contacts.collections': {
    method: 'GET',
    path: '/contacts/{phoneNumber}/catalog/collections',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'sessions.set_presence': {
    method: 'PUT',
    path: '/sessions/{sessionId}/presence',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'contacts.follow_presence': {
    method: 'PUT',
    path: '/contacts/{phoneNumber}/presence',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'contacts.presence': {
    method: 'GET',
    path: '/contacts/{phoneNumber}/presence',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'calls.reject': {
    method: 'POST',
    path: '/calls/{callId}/reject',
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
  'messages.send_event': {
    method: 'POST',
    path: '/messages/send-event',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'messages.send_album': {
    method: 'POST',
    path: '/messages/send-album',
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
  'messages.preflight': {
    method: 'POST',
    path: '/messages/preflight',
    isRead: false,
    idempotent: false,
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
  'messages.fetch_media': {
    method: 'POST',
    path: '/messages/{messageId}/media',
    isRead: false,
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
  'messages.vote': {
    method: 'POST',
    path: '/messages/{messageId}/vote',
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
  'messages.approve': {
    method: 'POST',
    path: '/messages/{messageId}/approve',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.reject': {
    method: 'POST',
    path: '/messages/{messageId}/reject',
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
  'chats.request_history': {
    method: 'POST',
    path: '/chats/{chatId}/history',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'chats.mark_unread': {
    method: 'POST',
    path: '/chats/{chatId}/unread',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'chats.clear': {
    method: 'POST',
    path: '/chats/{chatId}/clear',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'chats.delete': { method: 'DELETE', path: '/chats/{chatId}', isRead: false, idempotent: false, takesContent: false },
  'messages.star': {
    method: 'PUT',
    path: '/messages/{messageId}/star',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.unstar': {
    method: 'DELETE',
    path: '/messages/{messageId}/star',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.pin': {
    method: 'POST',
    path: '/messages/{messageId}/pin',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.unpin': {
    method: 'DELETE',
    path: '/messages/{messageId}/pin',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'labels.list': { method: 'GET', path: '/labels', isRead: true, idempotent: false, takesContent: false },
  'labels.create': { method: 'POST', path: '/labels', isRead: false, idempotent: false, takesContent: false },
  'labels.update': {
    method: 'PATCH',
    path: '/labels/{labelId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'labels.delete': {
    method: 'DELETE',
    path: '/labels/{labelId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'chats.add_label': {
    method: 'PUT',
    path: '/chats/{chatId}/labels/{labelId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'chats.remove_label': {
    method: 'DELETE',
    path: '/chats/{chatId}/labels/{labelId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.add_label': {
    method: 'PUT',
    path: '/messages/{messageId}/labels/{labelId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'messages.remove_label': {
    method: 'DELETE',
    path: '/messages/{messageId}/labels/{labelId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'contacts.list': { method: 'GET', path: '/contacts', isRead: true, idempotent: false, takesContent: false },
  'contacts.get': {
    method: 'GET',
    path: '/contacts/{contactId}',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'contacts.check': { method: 'GET', path: '/contacts/check', isRead: true, idempotent: false, takesContent: false },
  'contacts.set_blocked': {
    method: 'PUT',
    path: '/contacts/{phoneNumber}/blocked',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'media.upload': { method: 'POST', path: '/media', isRead: false, idempotent: false, takesContent: true },
  'media.get': { method: 'GET', path: '/media/{mediaId}', isRead: true, idempotent: false, takesContent: false },
  'media.delete': { method: 'DELETE', path: '/media/{mediaId}', isRead: false, idempotent: false, takesContent: false },
  'status.post': { method: 'POST', path: '/status', isRead: false, idempotent: true, takesContent: false },
  'status.list': { method: 'GET', path: '/status', isRead: true, idempotent: false, takesContent: false },
  'status.delete': {
    method: 'DELETE',
    path: '/status/{statusId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'status.views': {
    method: 'GET',
    path: '/status/{statusId}/views',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'status.mark_viewed': {
    method: 'POST',
    path: '/status/{statusId}/viewed',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'channels.list': { method: 'GET', path: '/channels', isRead: true, idempotent: false, takesContent: false },
  'channels.preview': {
    method: 'GET',
    path: '/channels/preview',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'channels.refresh': {
    method: 'POST',
    path: '/channels/refresh',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'channels.create': { method: 'POST', path: '/channels', isRead: false, idempotent: true, takesContent: false },
  'channels.follow': {
    method: 'POST',
    path: '/channels/follow',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'channels.get': {
    method: 'GET',
    path: '/channels/{channelId}',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'channels.update': {
    method: 'PATCH',
    path: '/channels/{channelId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'channels.unfollow': {
    method: 'POST',
    path: '/channels/{channelId}/unfollow',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'channels.messages': {
    method: 'GET',
    path: '/channels/{channelId}/messages',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'channels.post': {
    method: 'POST',
    path: '/channels/{channelId}/messages',
    isRead: false,
    idempotent: true,
    takesContent: false,
  },
  'channels.refresh_messages': {
    method: 'POST',
    path: '/channels/{channelId}/messages/refresh',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'channels.react': {
    method: 'POST',
    path: '/channels/{channelId}/messages/{postId}/reaction',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
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
  'groups.preview_invite': {
    method: 'GET',
    path: '/groups/preview',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'groups.list_join_requests': {
    method: 'GET',
    path: '/groups/{groupId}/join-requests',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'groups.approve_join_requests': {
    method: 'POST',
    path: '/groups/{groupId}/join-requests/approve',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'groups.reject_join_requests': {
    method: 'POST',
    path: '/groups/{groupId}/join-requests/reject',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'communities.list': { method: 'GET', path: '/communities', isRead: true, idempotent: false, takesContent: false },
  'communities.create': { method: 'POST', path: '/communities', isRead: false, idempotent: true, takesContent: false },
  'communities.list_groups': {
    method: 'GET',
    path: '/communities/{groupId}/groups',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'communities.link_group': {
    method: 'PUT',
    path: '/communities/{groupId}/groups/{linkedGroupId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'communities.unlink_group': {
    method: 'DELETE',
    path: '/communities/{groupId}/groups/{linkedGroupId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.set': { method: 'POST', path: '/webhooks/set', isRead: false, idempotent: true, takesContent: false },
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
  'webhooks.cancel_delivery': {
    method: 'POST',
    path: '/webhooks/deliveries/{deliveryId}/cancel',
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
  'webhooks.reveal_secret': {
    method: 'POST',
    path: '/webhooks/secret/reveal',
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
  'webhooks.endpoints.reveal_secret': {
    method: 'POST',
    path: '/webhooks/endpoints/{webhookId}/secret/reveal',
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
  'webhooks.subscriptions.list': {
    method: 'GET',
    path: '/webhooks/subscriptions',
    isRead: true,
    idempotent: false,
    takesContent: false,
  },
  'webhooks.subscriptions.delete': {
    method: 'DELETE',
    path: '/webhooks/subscriptions/{webhookId}',
    isRead: false,
    idempotent: false,
    takesContent: false,
  },
  'events.list': { method: 'GET', path: '/events', isRead: true, idempotent: false, takesContent: false },
  'events.types': { method: 'GET', path: '/events/types', isRead: true, idempotent: false, takesContent: false },
} as const;
