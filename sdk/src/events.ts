// Generated from the table of events by `npm run openapi`. Do not edit.

/** Fields of any event, if its webhook has them in `include`. */
export type AddedFields = {
  /** Id of the message on the network. */
  networkId?: string;
  /** Address of the chat on the network, such as `491701234567@s.whatsapp.net`. */
  networkChatId?: string;
  /** Address of the group on the network, such as `…@g.us`. Only in groups. */
  networkGroupId?: string;
  /** Address of the person in `from` on the network. */
  networkFrom?: string;
  /** Name that the person in `from` shows; null if it is unknown. */
  senderName?: string | null;
  /** Whether the chat is a group. */
  isGroup?: boolean;
  /** Id of the group (`grp_…`). Only in groups. */
  groupId?: string;
  /** Phone number digits of the person in `from`. Only in groups. */
  participant?: string;
  /** Phone number digits of the recipient; null if it is a group. Only if the event has `to`. */
  toNumber?: string | null;
  /** Name of the session and its metadata, as you set them. */
  session?: {
    name: string | null;
    metadata: Record<string, string>;
  };
};

/** The `data` of each event type. */
export interface EventData {
  /** A message was received. */
  'message.incoming': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the sender, or a placeholder if `unidentified` is present. */
    from: string;
    /** Text of the message, caption of the file, or question of the poll. */
    message: string;
    /** When the sender sent the message. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId?: string;
    /** Phone number digits of the receiving session. */
    to?: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** Id of the group (`grp_…`). Only for messages in groups. */
    groupId?: string;
    /** Id of the message that this message replies to. */
    replyTo?: string;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** Present if the message arrived late because the session was not connected when it was sent. */
    replayed?: true;
    /** Present if the message is from the history of the phone. Only sessions with the option `historyEvents` report these. */
    history?: true;
    /** File that is still at the network. `POST /messages/{messageId}/media` fetches it, and `media` replaces this field. */
    remoteMedia?: {
      /** Media type of the file, as the sender stated it. */
      mimeType: string;
      /** Size of the file in bytes, as the sender stated it. */
      size: number;
      /** Name of the file; null if there is none. */
      fileName: string | null;
    };
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
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The network accepted a message, or a person sent one from the phone. */
  'message.sent': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the recipient. In a group it is the id of the group (`grp_…`), which is not digits. */
    to: string;
    /** New status, as in the name of the event, such as `sent`. */
    status: string;
    /** When the message reached the status. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId?: string;
    /** Phone number digits of the sending session. */
    from?: string;
    /** Id of the group (`grp_…`). Only for messages in groups. */
    groupId?: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
    /** Present if the message was sent from the phone or another linked device, not through the API. */
    sentElsewhere?: true;
    /** Text of the message. This field and the following ones are present only together with `sentElsewhere`. */
    message?: string;
    /** Id of the message that this message replies to. */
    replyTo?: string;
    /** Present if the message arrived late because the session was not connected when it was sent. */
    replayed?: true;
    /** Present if the message is from the history of the phone. Only sessions with the option `historyEvents` report these. */
    history?: true;
    /** File that is still at the network. `POST /messages/{messageId}/media` fetches it, and `media` replaces this field. */
    remoteMedia?: {
      /** Media type of the file, as the sender stated it. */
      mimeType: string;
      /** Size of the file in bytes, as the sender stated it. */
      size: number;
      /** Name of the file; null if there is none. */
      fileName: string | null;
    };
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
  } & AddedFields;
  /** A message reached the recipient's device. */
  'message.delivered': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the recipient. In a group it is the id of the group (`grp_…`), which is not digits. */
    to: string;
    /** New status, as in the name of the event, such as `sent`. */
    status: string;
    /** When the message reached the status. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId?: string;
    /** Phone number digits of the sending session. */
    from?: string;
    /** Id of the group (`grp_…`). Only for messages in groups. */
    groupId?: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The recipient read a message. */
  'message.read': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the recipient. In a group it is the id of the group (`grp_…`), which is not digits. */
    to: string;
    /** New status, as in the name of the event, such as `sent`. */
    status: string;
    /** When the message reached the status. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId?: string;
    /** Phone number digits of the sending session. */
    from?: string;
    /** Id of the group (`grp_…`). Only for messages in groups. */
    groupId?: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A session connected to its network. */
  'session.connected': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of the session. */
    phoneNumber: string;
    /** When the session connected. */
    connectedAt: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A session lost its network, was disconnected or was logged out. Sent once per outage, and again if a session that was expected to reconnect gives up. */
  'session.disconnected': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of the session. */
    phoneNumber: string;
    /** Why the session disconnected, as a sentence. */
    reason: string;
    /** Whether the session reconnects automatically. */
    willReconnect: boolean;
    /** When the session disconnected. */
    disconnectedAt: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A group was created, or the session was added to one. */
  'group.created': {
    /** Id of the group (`grp_…`). */
    groupId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Name of the group. */
    subject: string;
    /** Members of the group, with their roles. */
    participants: {
      /** Phone number digits of the participant. */
      phoneNumber: string;
      /** `admin` and `owner` can change the group and its participants. */
      role: 'member' | 'admin' | 'owner';
    }[];
    /** Phone number digits of the person who created the group. */
    createdBy: string;
    /** When the group was created. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The participants, subject, description, settings, picture or invite link of a group changed. */
  'group.updated': {
    /** Id of the group (`grp_…`). */
    groupId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Name of the group after the change. */
    subject: string;
    change: {
      /** Type of the change. It determines which of the other fields are present. */
      type: 'subject' | 'description' | 'settings' | 'participants' | 'picture' | 'invite_link';
      /** New name of the group. */
      subject?: string;
      /** New description; null if it was removed. */
      description?: string | null;
      settings?: {
        /** Only admins can send messages. */
        announce?: boolean;
        /** Only admins can change subject, description and picture. */
        locked?: boolean;
        /** An admin must approve people who join with the invite link. */
        joinApproval?: boolean;
        /** People who can add members. */
        memberAdd?: 'admins' | 'all';
        /** Seconds until messages disappear; 0 if they stay. */
        disappearingSeconds?: number;
      };
      /** Type of the change to the participants in `phoneNumbers`. */
      action?: 'add' | 'remove' | 'promote' | 'demote';
      phoneNumbers?: string[];
    };
    /** When the group changed. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** Somebody reacted to a message, or removed the reaction. */
  'message.reaction': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the person who reacted. */
    from: string;
    /** Whether the session's own number did it, on any of its devices. */
    fromMe: boolean;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** When the person reacted. */
    timestamp: string;
    /** The emoji; null if the reaction was removed. */
    emoji: string | null;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The text of a message was changed. */
  'message.edited': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the sender. */
    from: string;
    /** Whether the session's own number did it, on any of its devices. */
    fromMe: boolean;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** When the message was changed. */
    timestamp: string;
    /** The new text or caption. */
    message: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A message was deleted for everyone. */
  'message.deleted': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the person who deleted it: the sender or an admin of the group. */
    from: string;
    /** Whether the session's own number did it, on any of its devices. */
    fromMe: boolean;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** When the message was deleted. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A message could not be sent, or was cancelled. */
  'message.failed': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the recipient. In a group it is the id of the group (`grp_…`), which is not digits. */
    to: string;
    /** New status, as in the name of the event, such as `sent`. */
    status: string;
    /** When the message reached the status. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId?: string;
    /** Phone number digits of the sending session. */
    from?: string;
    /** Id of the group (`grp_…`). Only for messages in groups. */
    groupId?: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
    /** Why the message failed, as a sentence. */
    error: string;
  } & AddedFields;
  /** A message that was scheduled, sent in bulk or approved became due and waits to be sent. */
  'message.queued': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the recipient. In a group it is the id of the group (`grp_…`), which is not digits. */
    to: string;
    /** New status, as in the name of the event, such as `sent`. */
    status: string;
    /** When the message reached the status. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId?: string;
    /** Phone number digits of the sending session. */
    from?: string;
    /** Id of the group (`grp_…`). Only for messages in groups. */
    groupId?: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A message of an API key waits for approval, or was approved, rejected or withdrawn, or expired. */
  'message.approval': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Phone number digits of the recipient. In a group it is the id of the group (`grp_…`), which is not digits. */
    to: string;
    /** Status of the message after that, such as `pending_approval`. */
    status: string;
    /** When the message reached the status. */
    timestamp: string;
    /** Id of the session (`ses_…`). */
    sessionId?: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId?: string;
    /** Phone number digits of the sending session. */
    from?: string;
    /** Id of the group (`grp_…`). Only for messages in groups. */
    groupId?: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type?: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
    /** `pending`: the message waits. `withdrawn`: it was cancelled before anybody decided. */
    approval: 'pending' | 'approved' | 'rejected' | 'expired' | 'withdrawn';
    /** Id of the API key that asked for the message (`key_…`). */
    keyId: string;
    /** Why it was rejected, if a reason was given. */
    reason?: string;
  } & AddedFields;
  /** Somebody voted in a poll, or withdrew the vote. */
  'poll.vote': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the person who voted. */
    from: string;
    /** Whether the session's own number did it, on any of its devices. */
    fromMe: boolean;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** When the person voted. */
    timestamp: string;
    /** The chosen options; none if the vote was withdrawn. */
    options: string[];
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The live location in a message has moved. */
  'message.location': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the person who moves. */
    from: string;
    /** Whether the session's own number did it, on any of its devices. */
    fromMe: boolean;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** When the position was reported. */
    timestamp: string;
    /** The new position. */
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
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** Somebody answered an event. */
  'event.answer': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the person who answered. */
    from: string;
    /** Whether the session's own number did it, on any of its devices. */
    fromMe: boolean;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** When the person answered. */
    timestamp: string;
    /** Whether the person comes. */
    answer?: 'going' | 'not_going' | 'maybe';
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A chat was archived, pinned, muted, read, marked as unread or labeled, or its timer for messages changed, here or on another device. */
  'chat.updated': {
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Whether the chat is archived. */
    archived: boolean;
    /** Whether the chat is pinned. */
    pinned: boolean;
    /** Until when the chat is muted; null if it is not. */
    mutedUntil: string | null;
    /** Number of incoming messages that are not marked as read. */
    unreadCount: number;
    /** Whether the chat is marked as unread, whatever its messages are. */
    markedUnread: boolean;
    /** After how many seconds new messages disappear; null if they stay. */
    disappearingSeconds: number | null;
    /** Ids of its labels (`lbl_…`). */
    labelIds: string[];
    /** When the chat changed. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A chat, or all of its messages, were deleted for the session, here or on another device. */
  'chat.removed': {
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** `cleared`: the chat stays, without its messages. */
    action: 'deleted' | 'cleared';
    /** When the chat was deleted or cleared. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A message was deleted for the session only, here or on another device. Others still have it. */
  'message.removed': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** When the message was deleted. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A message was starred or labeled, or no longer is, here or on another device. */
  'message.marked': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Whether the message is starred. */
    starred: boolean;
    /** Ids of its labels (`lbl_…`). */
    labelIds: string[];
    /** When the message was marked. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** Somebody pinned a message for everyone in the chat, or removed the pin. */
  'message.pinned': {
    /** Id of the message (`msg_…`). */
    messageId: string;
    /** Type of the message: `text`, `image`, `video`, `audio`, `document`, … */
    type: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the person who did it. */
    from: string;
    /** Whether the session's own number did it, on any of its devices. */
    fromMe: boolean;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** When the person did it. */
    timestamp: string;
    /** When the pin ends; null if it was removed. */
    pinnedUntil: string | null;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A label was created, changed or deleted, here or on another device. */
  'label.updated': {
    /** Id of the label (`lbl_…`). */
    labelId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Name of the label. */
    name: string;
    /** Index into the palette of the network. */
    color: number;
    /** Present if the label was deleted. */
    deleted?: true;
    /** When the label changed. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A contact is new, has another name, was blocked or unblocked, or its hidden number became known. */
  'contact.updated': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of the contact, or a placeholder if `unidentified` is present. */
    phoneNumber: string;
    /** Name that the contact shows; null if there is none. */
    name: string | null;
    /** Whether the session has blocked the contact. */
    blocked: boolean;
    /** The placeholder, or other number, under which everything of the contact was stored until now. It is stored under `phoneNumber` from now on. */
    previousPhoneNumber?: string;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** When the contact changed. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A person came online or went offline, or is typing or recording. */
  'presence.updated': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the person. */
    from: string;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** `paused` means that the person stopped typing or recording. */
    presence: 'online' | 'offline' | 'typing' | 'recording' | 'paused';
    /** When the person was last online, if the network shows it. */
    lastSeen?: string;
    /** When the network reported it. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The status of a session or its risk of being banned changed, or a session that waits to be linked got a new code. */
  'session.status': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** New status, such as `connecting`, `awaiting_pairing` or `connected`. */
    status: string;
    /** Status before; the same if only the code or the risk is new. */
    previousStatus: string;
    /** Why the status changed, as a sentence; null if there is nothing to explain. */
    reason: string | null;
    /** Text of the QR code to scan, with the status `awaiting_pairing`. In the log and stream only with `sessions:write`. */
    qr?: string;
    /** Code to enter on the phone. Only if one was requested. */
    pairingCode?: string;
    /** When `qr` or `pairingCode` stops working. */
    expiresAt?: string;
    /** Only if the risk changed. The status is then the same as before. */
    health?: {
      /** How likely the network is to ban the number. */
      risk: 'low' | 'elevated' | 'high';
      /** The risk before. */
      previousRisk: 'low' | 'elevated' | 'high';
      /** Why the risk is not low, the gravest first. */
      reasons: {
        /** Reason, such as `new_chats`. */
        code: string;
        /** How grave the reason is. */
        risk: 'elevated' | 'high';
        /** The reason in words, with its figures. */
        message: string;
      }[];
    };
    /** When the status changed. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The import of the history of a phone began, made progress, ended or failed in part. */
  'session.history': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** `waiting`: the phone has sent nothing yet. `failed`: a part is missing; `error` says why. */
    state: 'none' | 'waiting' | 'importing' | 'complete' | 'failed';
    /** Percent, as the phone reports it. */
    progress: number;
    /** Number of messages imported so far. */
    messages: number;
    /** Number of chats that are new. */
    chats: number;
    /** Number of contacts that are new. */
    contacts: number;
    /** Why a part of the history is missing, as a sentence; null if nothing failed. */
    error: string | null;
    /** When that happened. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The network's judgment of a session's number changed: its quality, limits, name or restrictions. */
  'session.updated': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Names of the fields of `network` that changed. */
    changed: string[];
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
    };
    notice?: {
      /** The network's name of the notice, such as `ACCOUNT_RESTRICTION`. */
      type: string;
      /** How urgent it is. */
      severity: 'info' | 'warning' | 'critical';
      /** Text of the notice, as a sentence. */
      message: string;
      /** When the network sent it. */
      at: string;
    };
    /** When the network reported it. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A template was approved, rejected, paused, disabled, recategorized or rated. */
  'template.updated': {
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Id of the template at the network. */
    templateId: string;
    /** Name of the template. */
    name: string;
    /** Language of the template, such as `en_US`. */
    language: string;
    /** Status, such as `approved` or `rejected`; null if no report has named it. */
    status: string | null;
    /** Status of the previous report; null if there was none. */
    previousStatus: string | null;
    /** Category, such as `utility`; null if no report has named it. */
    category: string | null;
    /** Quality by the reactions of recipients; null if no report has named it. */
    quality: 'high' | 'medium' | 'low' | 'unknown' | null;
    /** Why it was rejected, paused or disabled; null if there is no reason. */
    reason: string | null;
    /** When the template changed. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** People joined or left a group, or their roles changed. */
  'group.participants': {
    /** Id of the group (`grp_…`). */
    groupId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Name of the group. */
    subject: string;
    /** Change of the participants. */
    action: 'add' | 'remove' | 'promote' | 'demote';
    phoneNumbers: string[];
    /** When the group changed. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** Somebody asked to join a group of the session, or the request ended. */
  'group.join_request': {
    /** Id of the group (`grp_…`). */
    groupId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Name of the group. */
    subject: string;
    /** Phone number digits of the person. */
    phoneNumber: string;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** `withdrawn` by the person; `approved` and `rejected` by an admin, here or on a phone. */
    change: 'created' | 'withdrawn' | 'approved' | 'rejected';
    /** How the person asked, if the network reports it. `member`: a member proposed the person. */
    method?: 'invite_link' | 'member' | 'community';
    /** When the person asked, or the request ended. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** Somebody calls the session. */
  'call.incoming': {
    /** Id of the call at the network; the same when it starts and ends. */
    callId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the caller. */
    from: string;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** Whether it is a video call. */
    video: boolean;
    /** When the call began. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A call to the session stopped ringing: it was answered elsewhere, rejected or given up. */
  'call.ended': {
    /** Id of the call at the network; the same when it starts and ends. */
    callId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder (`000…`) of a person who hides the phone number. */
    chatId: string;
    /** Id of the group (`grp_…`). Only in groups. */
    groupId?: string;
    /** Phone number digits of the caller. */
    from: string;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** Whether it is a video call. */
    video: boolean;
    /** `answered` and `rejected`: on another device of the account, such as the phone, or rejected with this API. `ended`: the network does not report why. */
    outcome: 'answered' | 'rejected' | 'missed' | 'ended';
    /** When the call stopped ringing. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A person posted a status (story), or the session's own number did on another device. Only for sessions with the option `statuses`. */
  'status.received': {
    /** Id of the status (`sts_…`). */
    statusId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of the person who posted it. */
    from: string;
    /** Whether the session's own number posted it, on any of its devices. */
    fromMe: boolean;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
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
    };
    /** Color behind a text, such as `#1F6F5C`. */
    backgroundColor?: string;
    /** The network's number of the font of a text. */
    font?: number;
    /** When the status was posted. */
    timestamp: string;
    /** When the status disappears. */
    expiresAt: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The author of a status deleted it before it expired. */
  'status.deleted': {
    /** Id of the status (`sts_…`). */
    statusId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of the author. */
    from: string;
    /** Whether the session's own number posted it, on any of its devices. */
    fromMe: boolean;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** When the status was deleted. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** Somebody viewed a status of the session for the first time, or reacted to it. */
  'status.viewed': {
    /** Id of the status (`sts_…`). */
    statusId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Phone number digits of the person who viewed it. */
    from: string;
    /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
    unidentified?: true;
    /** Emoji of the reaction; null if there is none. */
    emoji: string | null;
    /** When the person viewed it or reacted. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** A channel that the session follows or owns has a new post. Only for sessions with the option `channels`. */
  'channel.message': {
    /** Id of the post (`pst_…`). */
    postId: string;
    /** Id of the channel (`chn_…`). */
    channelId: string;
    /** Id of the session (`ses_…`). */
    sessionId: string;
    /** Name of the channel; null if it is not known yet. */
    channelName: string | null;
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
    };
    /** When it was posted. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The circuit breaker of another webhook opened: its deliveries are held. */
  'webhook.circuit_opened': {
    /** Id of the webhook (`whk_…`). */
    webhookId: string;
    /** Scheme, host and port of the webhook. */
    webhookOrigin: string;
    /** Why it opened, such as `failures_in_a_row` or `gone`. */
    reason: string;
    /** Result of the last failed attempt, as a sentence; null if there is none. */
    error: string | null;
    /** When it opened. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
  /** The circuit breaker of another webhook closed: its held deliveries go out. */
  'webhook.circuit_closed': {
    /** Id of the webhook (`whk_…`). */
    webhookId: string;
    /** Scheme, host and port of the webhook. */
    webhookOrigin: string;
    /** Why it closed, such as `probes_succeeded`, `reset` or `new_url`. */
    reason: string;
    /** When it closed. */
    timestamp: string;
    /** Present on the sample event that a webhook test sends. */
    test?: true;
  } & AddedFields;
}

/** An event type. */
export type EventKind = keyof EventData;

/** The event of one type: `EventOf<'message.incoming'>`. */
export interface EventOf<K extends EventKind> {
  readonly event: K;
  readonly data: EventData[K];
}

/** An event of a type in this table, discriminated by `event`. */
export type KnownEvent = { [K in EventKind]: EventOf<K> }[EventKind];

/** The checks of `data` when a delivery is parsed. A `?` marks a field that may be missing. */
export const eventFields = {
  'message.incoming': {
    messageId: 'string',
    from: 'string',
    message: 'string',
    timestamp: 'string',
    sessionId: 'string?',
    chatId: 'string?',
    to: 'string?',
    type: 'string?',
    groupId: 'string?',
    replyTo: 'string?',
    unidentified: 'true?',
    replayed: 'true?',
    history: 'true?',
    remoteMedia: 'object?',
    media: 'object?',
    location: 'object?',
    contact: 'object?',
    poll: 'object?',
    template: 'object?',
    interactive: 'object?',
    mentions: 'string[]?',
    forwarded: 'true?',
    payload: 'string?',
    linkPreview: 'object?',
    viewOnce: 'true?',
    gif: 'true?',
    videoNote: 'true?',
    animated: 'true?',
    mentionsAll: 'true?',
    album: 'object?',
    contacts: 'object[]?',
    event: 'object?',
    product: 'object?',
    order: 'object?',
    groupInvite: 'object?',
    choice: 'object?',
    rawType: 'string?',
    test: 'true?',
  },
  'message.sent': {
    messageId: 'string',
    to: 'string',
    status: 'string',
    timestamp: 'string',
    sessionId: 'string?',
    chatId: 'string?',
    from: 'string?',
    groupId: 'string?',
    type: 'string?',
    test: 'true?',
    sentElsewhere: 'true?',
    message: 'string?',
    replyTo: 'string?',
    replayed: 'true?',
    history: 'true?',
    remoteMedia: 'object?',
    media: 'object?',
    location: 'object?',
    contact: 'object?',
    poll: 'object?',
    template: 'object?',
    interactive: 'object?',
    mentions: 'string[]?',
    forwarded: 'true?',
    payload: 'string?',
    linkPreview: 'object?',
    viewOnce: 'true?',
    gif: 'true?',
    videoNote: 'true?',
    animated: 'true?',
    mentionsAll: 'true?',
    album: 'object?',
    contacts: 'object[]?',
    event: 'object?',
    product: 'object?',
    order: 'object?',
    groupInvite: 'object?',
    choice: 'object?',
    rawType: 'string?',
  },
  'message.delivered': {
    messageId: 'string',
    to: 'string',
    status: 'string',
    timestamp: 'string',
    sessionId: 'string?',
    chatId: 'string?',
    from: 'string?',
    groupId: 'string?',
    type: 'string?',
    test: 'true?',
  },
  'message.read': {
    messageId: 'string',
    to: 'string',
    status: 'string',
    timestamp: 'string',
    sessionId: 'string?',
    chatId: 'string?',
    from: 'string?',
    groupId: 'string?',
    type: 'string?',
    test: 'true?',
  },
  'session.connected': { sessionId: 'string', phoneNumber: 'string', connectedAt: 'string', test: 'true?' },
  'session.disconnected': {
    sessionId: 'string',
    phoneNumber: 'string',
    reason: 'string',
    willReconnect: 'boolean',
    disconnectedAt: 'string',
    test: 'true?',
  },
  'group.created': {
    groupId: 'string',
    sessionId: 'string',
    subject: 'string',
    participants: [{ phoneNumber: 'string', role: 'string' }],
    createdBy: 'string',
    timestamp: 'string',
    test: 'true?',
  },
  'group.updated': {
    groupId: 'string',
    sessionId: 'string',
    subject: 'string',
    change: { type: 'string' },
    timestamp: 'string',
    test: 'true?',
  },
  'message.reaction': {
    messageId: 'string',
    type: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    fromMe: 'boolean',
    unidentified: 'true?',
    timestamp: 'string',
    emoji: 'string|null',
    test: 'true?',
  },
  'message.edited': {
    messageId: 'string',
    type: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    fromMe: 'boolean',
    unidentified: 'true?',
    timestamp: 'string',
    message: 'string',
    test: 'true?',
  },
  'message.deleted': {
    messageId: 'string',
    type: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    fromMe: 'boolean',
    unidentified: 'true?',
    timestamp: 'string',
    test: 'true?',
  },
  'message.failed': {
    messageId: 'string',
    to: 'string',
    status: 'string',
    timestamp: 'string',
    sessionId: 'string?',
    chatId: 'string?',
    from: 'string?',
    groupId: 'string?',
    type: 'string?',
    test: 'true?',
    error: 'string',
  },
  'message.queued': {
    messageId: 'string',
    to: 'string',
    status: 'string',
    timestamp: 'string',
    sessionId: 'string?',
    chatId: 'string?',
    from: 'string?',
    groupId: 'string?',
    type: 'string?',
    test: 'true?',
  },
  'message.approval': {
    messageId: 'string',
    to: 'string',
    status: 'string',
    timestamp: 'string',
    sessionId: 'string?',
    chatId: 'string?',
    from: 'string?',
    groupId: 'string?',
    type: 'string?',
    test: 'true?',
    approval: 'string',
    keyId: 'string',
    reason: 'string?',
  },
  'poll.vote': {
    messageId: 'string',
    type: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    fromMe: 'boolean',
    unidentified: 'true?',
    timestamp: 'string',
    options: 'string[]',
    test: 'true?',
  },
  'message.location': {
    messageId: 'string',
    type: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    fromMe: 'boolean',
    unidentified: 'true?',
    timestamp: 'string',
    location: 'object?',
    test: 'true?',
  },
  'event.answer': {
    messageId: 'string',
    type: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    fromMe: 'boolean',
    unidentified: 'true?',
    timestamp: 'string',
    answer: 'string?',
    test: 'true?',
  },
  'chat.updated': {
    chatId: 'string',
    sessionId: 'string',
    groupId: 'string?',
    archived: 'boolean',
    pinned: 'boolean',
    mutedUntil: 'string|null',
    unreadCount: 'number',
    markedUnread: 'boolean',
    disappearingSeconds: 'number|null',
    labelIds: 'string[]',
    timestamp: 'string',
    test: 'true?',
  },
  'chat.removed': {
    chatId: 'string',
    sessionId: 'string',
    groupId: 'string?',
    action: 'string',
    timestamp: 'string',
    test: 'true?',
  },
  'message.removed': {
    messageId: 'string',
    type: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    timestamp: 'string',
    test: 'true?',
  },
  'message.marked': {
    messageId: 'string',
    type: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    starred: 'boolean',
    labelIds: 'string[]',
    timestamp: 'string',
    test: 'true?',
  },
  'message.pinned': {
    messageId: 'string',
    type: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    fromMe: 'boolean',
    unidentified: 'true?',
    timestamp: 'string',
    pinnedUntil: 'string|null',
    test: 'true?',
  },
  'label.updated': {
    labelId: 'string',
    sessionId: 'string',
    name: 'string',
    color: 'number',
    deleted: 'true?',
    timestamp: 'string',
    test: 'true?',
  },
  'contact.updated': {
    sessionId: 'string',
    phoneNumber: 'string',
    name: 'string|null',
    blocked: 'boolean',
    previousPhoneNumber: 'string?',
    unidentified: 'true?',
    timestamp: 'string',
    test: 'true?',
  },
  'presence.updated': {
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    unidentified: 'true?',
    presence: 'string',
    lastSeen: 'string?',
    timestamp: 'string',
    test: 'true?',
  },
  'session.status': {
    sessionId: 'string',
    status: 'string',
    previousStatus: 'string',
    reason: 'string|null',
    qr: 'string?',
    pairingCode: 'string?',
    expiresAt: 'string?',
    health: 'object?',
    timestamp: 'string',
    test: 'true?',
  },
  'session.history': {
    sessionId: 'string',
    state: 'string',
    progress: 'number',
    messages: 'number',
    chats: 'number',
    contacts: 'number',
    error: 'string|null',
    timestamp: 'string',
    test: 'true?',
  },
  'session.updated': {
    sessionId: 'string',
    changed: 'string[]',
    network: {
      displayName: 'string|null',
      nameStatus: 'string|null',
      quality: 'string|null',
      messagingTier: 'string|null',
      messagingLimit: 'number|null',
      throughput: 'string|null',
      accountMode: 'string|null',
      canSend: 'string|null',
      problems: [{ concerns: 'string', message: 'string' }],
      notices: [{ type: 'string', severity: 'string', message: 'string', at: 'string' }],
      updatedAt: 'string',
    },
    notice: 'object?',
    timestamp: 'string',
    test: 'true?',
  },
  'template.updated': {
    sessionId: 'string',
    templateId: 'string',
    name: 'string',
    language: 'string',
    status: 'string|null',
    previousStatus: 'string|null',
    category: 'string|null',
    quality: 'string|null',
    reason: 'string|null',
    timestamp: 'string',
    test: 'true?',
  },
  'group.participants': {
    groupId: 'string',
    sessionId: 'string',
    subject: 'string',
    action: 'string',
    phoneNumbers: 'string[]',
    timestamp: 'string',
    test: 'true?',
  },
  'group.join_request': {
    groupId: 'string',
    sessionId: 'string',
    subject: 'string',
    phoneNumber: 'string',
    unidentified: 'true?',
    change: 'string',
    method: 'string?',
    timestamp: 'string',
    test: 'true?',
  },
  'call.incoming': {
    callId: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    unidentified: 'true?',
    video: 'boolean',
    timestamp: 'string',
    test: 'true?',
  },
  'call.ended': {
    callId: 'string',
    sessionId: 'string',
    chatId: 'string',
    groupId: 'string?',
    from: 'string',
    unidentified: 'true?',
    video: 'boolean',
    outcome: 'string',
    timestamp: 'string',
    test: 'true?',
  },
  'status.received': {
    statusId: 'string',
    sessionId: 'string',
    from: 'string',
    fromMe: 'boolean',
    unidentified: 'true?',
    type: 'string',
    message: 'string',
    media: 'object?',
    backgroundColor: 'string?',
    font: 'number?',
    timestamp: 'string',
    expiresAt: 'string',
    test: 'true?',
  },
  'status.deleted': {
    statusId: 'string',
    sessionId: 'string',
    from: 'string',
    fromMe: 'boolean',
    unidentified: 'true?',
    timestamp: 'string',
    test: 'true?',
  },
  'status.viewed': {
    statusId: 'string',
    sessionId: 'string',
    from: 'string',
    unidentified: 'true?',
    emoji: 'string|null',
    timestamp: 'string',
    test: 'true?',
  },
  'channel.message': {
    postId: 'string',
    channelId: 'string',
    sessionId: 'string',
    channelName: 'string|null',
    type: 'string',
    message: 'string',
    media: 'object?',
    timestamp: 'string',
    test: 'true?',
  },
  'webhook.circuit_opened': {
    webhookId: 'string',
    webhookOrigin: 'string',
    reason: 'string',
    error: 'string|null',
    timestamp: 'string',
    test: 'true?',
  },
  'webhook.circuit_closed': {
    webhookId: 'string',
    webhookOrigin: 'string',
    reason: 'string',
    timestamp: 'string',
    test: 'true?',
  },
} as const;

/** All event types. */
export const eventKinds = Object.keys(eventFields) as readonly EventKind[]; // Object.keys forgets the type of the keys.
