# Generated from openapi.json by `npm run openapi`. Do not edit.
"""The events, and the checks of their fields when a delivery is parsed."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union


class EventSession(TypedDict):
    """Name of the session and its metadata, as you set them."""

    name: Optional[str]
    metadata: dict[str, str]


class MessageIncomingDataRemoteMedia(TypedDict):
    """File that is still at the network. `POST /messages/{messageId}/media` fetches it, and
    `media` replaces this field.
    """

    mimeType: str
    """Media type of the file, as the sender stated it."""
    size: int
    """Size of the file in bytes, as the sender stated it."""
    fileName: Optional[str]
    """Name of the file; null if there is none."""


class MessageIncomingDataMedia(TypedDict):
    mediaId: str
    """Id of the media (`med_…`)."""
    mimeType: str
    """Media type of the file, such as `image/jpeg`."""
    size: int
    """Size of the file in bytes."""
    fileName: Optional[str]
    """Name that the sender gave the file; null if there is none."""
    url: str
    """Download the file here, with an API key that has `media:read`."""


class MessageIncomingDataLocationLive(TypedDict, total=False):
    """Present if the sender shares a position that moves. A later position replaces it in the
    message.
    """

    accuracyInMeters: float
    """How exact the position is."""
    metersPerSecond: float
    """Speed of the sender."""
    heading: float
    """Direction of the movement, in degrees clockwise from north."""
    sequence: int
    """Grows with every position of this message."""


class _MessageIncomingDataLocationRequired(TypedDict):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""


class MessageIncomingDataLocation(_MessageIncomingDataLocationRequired, total=False):
    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""
    live: MessageIncomingDataLocationLive
    """Present if the sender shares a position that moves. A later position replaces it in the
    message.
    """


class MessageIncomingDataContact(TypedDict):
    name: str
    """Name on the contact card."""
    phoneNumbers: list[str]


class MessageIncomingDataPoll(TypedDict):
    options: list[str]
    """Answers to choose from. The question is in `message`."""
    maxSelections: int
    """Number of options that one person can choose."""


class MessageIncomingDataTemplate(TypedDict):
    name: str
    """Name of the template at the network."""
    language: str
    """Language of the template, such as `en_US`."""
    components: list[Any]
    """Values of the template, in the network's format."""


class _MessageIncomingDataLinkPreviewRequired(TypedDict):
    url: str
    """The link, as it occurs in the text."""


class MessageIncomingDataLinkPreview(_MessageIncomingDataLinkPreviewRequired, total=False):
    title: str
    """Title of the page."""
    description: str
    """Description of the page."""
    hasImage: Literal[True]
    """Present if a small picture goes out with it."""


class _MessageIncomingDataAlbumRequired(TypedDict):
    albumId: str
    """The same for all files of the album."""


class MessageIncomingDataAlbum(_MessageIncomingDataAlbumRequired, total=False):
    images: int
    """How many images the album has, if it is known."""
    videos: int
    """How many videos the album has, if it is known."""


class MessageIncomingDataEventLocation(TypedDict, total=False):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""
    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""


class MessageIncomingDataEvent(TypedDict, total=False):
    """Only of messages of the type `event`. The name is in `message`."""

    description: str
    """Description of the event."""
    startsAt: str
    """When it begins."""
    endsAt: str
    """When it ends."""
    location: MessageIncomingDataEventLocation
    joinLink: str
    """Link to its call."""
    canceled: Literal[True]
    """Present if it was canceled."""
    extraGuests: Literal[True]
    """Present if guests can bring others."""


class MessageIncomingDataProduct(TypedDict, total=False):
    """The product that a message shows or is about."""

    productId: str
    """The network's id of the product."""
    retailerId: str
    """The seller's own id of the product."""
    catalogId: str
    """The network's id of the catalog."""
    title: str
    """Name of the product."""
    description: str
    """Description of the product."""
    price: float
    """Price, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""
    url: str
    """Page of the product."""
    seller: str
    """Phone number digits of the seller."""


class _MessageIncomingDataOrderItemRequired(TypedDict):
    retailerId: str
    """The seller's own id of the product."""
    quantity: float
    """How many of it were ordered."""


class MessageIncomingDataOrderItem(_MessageIncomingDataOrderItemRequired, total=False):
    price: float
    """Price of one, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""


class MessageIncomingDataOrder(TypedDict, total=False):
    """Only of messages of the type `order`."""

    orderId: str
    """The network's id of the order."""
    catalogId: str
    """The network's id of the catalog."""
    title: str
    """Title of the order."""
    itemCount: int
    """How many items were ordered."""
    total: float
    """Total price, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""
    seller: str
    """Phone number digits of the seller."""
    items: list[MessageIncomingDataOrderItem]
    """The ordered products, if the network tells them."""


class _MessageIncomingDataGroupInviteRequired(TypedDict):
    networkGroupId: str
    """Address of the group at the network."""
    code: str
    """Code of the invite, which is only for the recipient."""


class MessageIncomingDataGroupInvite(_MessageIncomingDataGroupInviteRequired, total=False):
    """Only of messages of the type `group_invite`."""

    subject: str
    """Name of the group."""
    expiresAt: str
    """When the invite expires."""


class _MessageIncomingDataChoiceRequired(TypedDict):
    kind: Literal["button", "list", "template", "form"]
    """Kind of the message that the sender answered."""


class MessageIncomingDataChoice(_MessageIncomingDataChoiceRequired, total=False):
    """Present if the message answers buttons, a list, a template or a form."""

    name: str
    """The network's name of the form."""
    description: str
    """Second line of the chosen row."""
    response: str
    """The answers in the form, as JSON."""


_MessageIncomingDataRequired = TypedDict(
    "_MessageIncomingDataRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Phone number digits of the sender, or a placeholder if `unidentified` is present.
        "from": str,
        # Text of the message, caption of the file, or question of the poll.
        "message": str,
        # When the sender sent the message.
        "timestamp": str,
    },
)


class MessageIncomingData(_MessageIncomingDataRequired, total=False):
    """A message was received."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only for messages in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    sessionId: str
    """Id of the session (`ses_…`)."""
    chatId: str
    """Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
    (`000…`) of a person who hides the phone number.
    """
    to: str
    """Phone number digits of the receiving session."""
    type: str
    """Type of the message: `text`, `image`, `video`, `audio`, `document`, …"""
    replyTo: str
    """Id of the message that this message replies to."""
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    replayed: Literal[True]
    """Present if the message arrived late because the session was not connected when it was
    sent.
    """
    history: Literal[True]
    """Present if the message is from the history of the phone. Only sessions with the option
    `historyEvents` report these.
    """
    remoteMedia: MessageIncomingDataRemoteMedia
    """File that is still at the network. `POST /messages/{messageId}/media` fetches it, and
    `media` replaces this field.
    """
    media: MessageIncomingDataMedia
    location: MessageIncomingDataLocation
    contact: MessageIncomingDataContact
    poll: MessageIncomingDataPoll
    template: MessageIncomingDataTemplate
    interactive: dict[str, Any]
    """Buttons, list or link of the message, as they were sent."""
    mentions: list[str]
    forwarded: Literal[True]
    """Present if the message was forwarded."""
    payload: str
    """Id of the button or list row that the sender chose."""
    linkPreview: MessageIncomingDataLinkPreview
    viewOnce: Literal[True]
    """Present if the file can be opened only once."""
    gif: Literal[True]
    """Present if the video plays like a GIF: in a loop, without sound."""
    videoNote: Literal[True]
    """Present if the video is a round video note."""
    animated: Literal[True]
    """Present if the sticker is animated."""
    mentionsAll: Literal[True]
    """Present if everybody in the group is mentioned."""
    album: MessageIncomingDataAlbum
    contacts: list[MessageIncomingDataContact]
    """All cards of a message with several. `contact` then has the numbers of all of them."""
    event: MessageIncomingDataEvent
    """Only of messages of the type `event`. The name is in `message`."""
    product: MessageIncomingDataProduct
    """The product that a message shows or is about."""
    order: MessageIncomingDataOrder
    """Only of messages of the type `order`."""
    groupInvite: MessageIncomingDataGroupInvite
    """Only of messages of the type `group_invite`."""
    choice: MessageIncomingDataChoice
    """Present if the message answers buttons, a list, a template or a form."""
    rawType: str
    """The network's name of this kind of message. Only of messages of the type `unsupported`."""
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class MessageSentDataRemoteMedia(TypedDict):
    """File that is still at the network. `POST /messages/{messageId}/media` fetches it, and
    `media` replaces this field.
    """

    mimeType: str
    """Media type of the file, as the sender stated it."""
    size: int
    """Size of the file in bytes, as the sender stated it."""
    fileName: Optional[str]
    """Name of the file; null if there is none."""


class MessageSentDataMedia(TypedDict):
    mediaId: str
    """Id of the media (`med_…`)."""
    mimeType: str
    """Media type of the file, such as `image/jpeg`."""
    size: int
    """Size of the file in bytes."""
    fileName: Optional[str]
    """Name that the sender gave the file; null if there is none."""
    url: str
    """Download the file here, with an API key that has `media:read`."""


class MessageSentDataLocationLive(TypedDict, total=False):
    """Present if the sender shares a position that moves. A later position replaces it in the
    message.
    """

    accuracyInMeters: float
    """How exact the position is."""
    metersPerSecond: float
    """Speed of the sender."""
    heading: float
    """Direction of the movement, in degrees clockwise from north."""
    sequence: int
    """Grows with every position of this message."""


class _MessageSentDataLocationRequired(TypedDict):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""


class MessageSentDataLocation(_MessageSentDataLocationRequired, total=False):
    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""
    live: MessageSentDataLocationLive
    """Present if the sender shares a position that moves. A later position replaces it in the
    message.
    """


class MessageSentDataContact(TypedDict):
    name: str
    """Name on the contact card."""
    phoneNumbers: list[str]


class MessageSentDataPoll(TypedDict):
    options: list[str]
    """Answers to choose from. The question is in `message`."""
    maxSelections: int
    """Number of options that one person can choose."""


class MessageSentDataTemplate(TypedDict):
    name: str
    """Name of the template at the network."""
    language: str
    """Language of the template, such as `en_US`."""
    components: list[Any]
    """Values of the template, in the network's format."""


class _MessageSentDataLinkPreviewRequired(TypedDict):
    url: str
    """The link, as it occurs in the text."""


class MessageSentDataLinkPreview(_MessageSentDataLinkPreviewRequired, total=False):
    title: str
    """Title of the page."""
    description: str
    """Description of the page."""
    hasImage: Literal[True]
    """Present if a small picture goes out with it."""


class _MessageSentDataAlbumRequired(TypedDict):
    albumId: str
    """The same for all files of the album."""


class MessageSentDataAlbum(_MessageSentDataAlbumRequired, total=False):
    images: int
    """How many images the album has, if it is known."""
    videos: int
    """How many videos the album has, if it is known."""


class MessageSentDataEventLocation(TypedDict, total=False):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""
    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""


class MessageSentDataEvent(TypedDict, total=False):
    """Only of messages of the type `event`. The name is in `message`."""

    description: str
    """Description of the event."""
    startsAt: str
    """When it begins."""
    endsAt: str
    """When it ends."""
    location: MessageSentDataEventLocation
    joinLink: str
    """Link to its call."""
    canceled: Literal[True]
    """Present if it was canceled."""
    extraGuests: Literal[True]
    """Present if guests can bring others."""


class MessageSentDataProduct(TypedDict, total=False):
    """The product that a message shows or is about."""

    productId: str
    """The network's id of the product."""
    retailerId: str
    """The seller's own id of the product."""
    catalogId: str
    """The network's id of the catalog."""
    title: str
    """Name of the product."""
    description: str
    """Description of the product."""
    price: float
    """Price, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""
    url: str
    """Page of the product."""
    seller: str
    """Phone number digits of the seller."""


class _MessageSentDataOrderItemRequired(TypedDict):
    retailerId: str
    """The seller's own id of the product."""
    quantity: float
    """How many of it were ordered."""


class MessageSentDataOrderItem(_MessageSentDataOrderItemRequired, total=False):
    price: float
    """Price of one, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""


class MessageSentDataOrder(TypedDict, total=False):
    """Only of messages of the type `order`."""

    orderId: str
    """The network's id of the order."""
    catalogId: str
    """The network's id of the catalog."""
    title: str
    """Title of the order."""
    itemCount: int
    """How many items were ordered."""
    total: float
    """Total price, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""
    seller: str
    """Phone number digits of the seller."""
    items: list[MessageSentDataOrderItem]
    """The ordered products, if the network tells them."""


class _MessageSentDataGroupInviteRequired(TypedDict):
    networkGroupId: str
    """Address of the group at the network."""
    code: str
    """Code of the invite, which is only for the recipient."""


class MessageSentDataGroupInvite(_MessageSentDataGroupInviteRequired, total=False):
    """Only of messages of the type `group_invite`."""

    subject: str
    """Name of the group."""
    expiresAt: str
    """When the invite expires."""


class _MessageSentDataChoiceRequired(TypedDict):
    kind: Literal["button", "list", "template", "form"]
    """Kind of the message that the sender answered."""


class MessageSentDataChoice(_MessageSentDataChoiceRequired, total=False):
    """Present if the message answers buttons, a list, a template or a form."""

    name: str
    """The network's name of the form."""
    description: str
    """Second line of the chosen row."""
    response: str
    """The answers in the form, as JSON."""


class _MessageSentDataRequired(TypedDict):
    messageId: str
    """Id of the message (`msg_…`)."""
    to: str
    """Phone number digits of the recipient. In a group it is the id of the group (`grp_…`),
    which is not digits.
    """
    status: str
    """New status, as in the name of the event, such as `sent`."""
    timestamp: str
    """When the message reached the status."""


_MessageSentDataOptional = TypedDict(
    "_MessageSentDataOptional",
    {
        # Id of the message on the network.
        "networkId": str,
        # Address of the chat on the network, such as `491701234567@s.whatsapp.net`.
        "networkChatId": str,
        # Address of the group on the network, such as `…@g.us`. Only in groups.
        "networkGroupId": str,
        # Address of the person in `from` on the network.
        "networkFrom": str,
        # Name that the person in `from` shows; null if it is unknown.
        "senderName": Optional[str],
        # Whether the chat is a group.
        "isGroup": bool,
        # Id of the group (`grp_…`). Only for messages in groups.
        "groupId": str,
        # Phone number digits of the person in `from`. Only in groups.
        "participant": str,
        # Phone number digits of the recipient; null if it is a group. Only if the event has `to`.
        "toNumber": Optional[str],
        "session": EventSession,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the sending session.
        "from": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Present on the sample event that a webhook test sends.
        "test": Literal[True],
        # Present if the message was sent from the phone or another linked device, not through the
        # API.
        "sentElsewhere": Literal[True],
        # Text of the message. This field and the following ones are present only together with
        # `sentElsewhere`.
        "message": str,
        # Id of the message that this message replies to.
        "replyTo": str,
        # Present if the message arrived late because the session was not connected when it was
        # sent.
        "replayed": Literal[True],
        # Present if the message is from the history of the phone. Only sessions with the option
        # `historyEvents` report these.
        "history": Literal[True],
        # File that is still at the network. `POST /messages/{messageId}/media` fetches it, and
        # `media` replaces this field.
        "remoteMedia": MessageSentDataRemoteMedia,
        "media": MessageSentDataMedia,
        "location": MessageSentDataLocation,
        "contact": MessageSentDataContact,
        "poll": MessageSentDataPoll,
        "template": MessageSentDataTemplate,
        # Buttons, list or link of the message, as they were sent.
        "interactive": dict[str, Any],
        "mentions": list[str],
        # Present if the message was forwarded.
        "forwarded": Literal[True],
        # Id of the button or list row that the sender chose.
        "payload": str,
        "linkPreview": MessageSentDataLinkPreview,
        # Present if the file can be opened only once.
        "viewOnce": Literal[True],
        # Present if the video plays like a GIF: in a loop, without sound.
        "gif": Literal[True],
        # Present if the video is a round video note.
        "videoNote": Literal[True],
        # Present if the sticker is animated.
        "animated": Literal[True],
        # Present if everybody in the group is mentioned.
        "mentionsAll": Literal[True],
        "album": MessageSentDataAlbum,
        # All cards of a message with several. `contact` then has the numbers of all of them.
        "contacts": list[MessageSentDataContact],
        # Only of messages of the type `event`. The name is in `message`.
        "event": MessageSentDataEvent,
        # The product that a message shows or is about.
        "product": MessageSentDataProduct,
        # Only of messages of the type `order`.
        "order": MessageSentDataOrder,
        # Only of messages of the type `group_invite`.
        "groupInvite": MessageSentDataGroupInvite,
        # Present if the message answers buttons, a list, a template or a form.
        "choice": MessageSentDataChoice,
        # The network's name of this kind of message. Only of messages of the type `unsupported`.
        "rawType": str,
    },
    total=False,
)


class MessageSentData(_MessageSentDataRequired, _MessageSentDataOptional):
    """The network accepted a message, or a person sent one from the phone."""


class _MessageDeliveredDataRequired(TypedDict):
    messageId: str
    """Id of the message (`msg_…`)."""
    to: str
    """Phone number digits of the recipient. In a group it is the id of the group (`grp_…`),
    which is not digits.
    """
    status: str
    """New status, as in the name of the event, such as `sent`."""
    timestamp: str
    """When the message reached the status."""


_MessageDeliveredDataOptional = TypedDict(
    "_MessageDeliveredDataOptional",
    {
        # Id of the message on the network.
        "networkId": str,
        # Address of the chat on the network, such as `491701234567@s.whatsapp.net`.
        "networkChatId": str,
        # Address of the group on the network, such as `…@g.us`. Only in groups.
        "networkGroupId": str,
        # Address of the person in `from` on the network.
        "networkFrom": str,
        # Name that the person in `from` shows; null if it is unknown.
        "senderName": Optional[str],
        # Whether the chat is a group.
        "isGroup": bool,
        # Id of the group (`grp_…`). Only for messages in groups.
        "groupId": str,
        # Phone number digits of the person in `from`. Only in groups.
        "participant": str,
        # Phone number digits of the recipient; null if it is a group. Only if the event has `to`.
        "toNumber": Optional[str],
        "session": EventSession,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the sending session.
        "from": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Present on the sample event that a webhook test sends.
        "test": Literal[True],
    },
    total=False,
)


class MessageDeliveredData(_MessageDeliveredDataRequired, _MessageDeliveredDataOptional):
    """A message reached the recipient's device."""


class _MessageReadDataRequired(TypedDict):
    messageId: str
    """Id of the message (`msg_…`)."""
    to: str
    """Phone number digits of the recipient. In a group it is the id of the group (`grp_…`),
    which is not digits.
    """
    status: str
    """New status, as in the name of the event, such as `sent`."""
    timestamp: str
    """When the message reached the status."""


_MessageReadDataOptional = TypedDict(
    "_MessageReadDataOptional",
    {
        # Id of the message on the network.
        "networkId": str,
        # Address of the chat on the network, such as `491701234567@s.whatsapp.net`.
        "networkChatId": str,
        # Address of the group on the network, such as `…@g.us`. Only in groups.
        "networkGroupId": str,
        # Address of the person in `from` on the network.
        "networkFrom": str,
        # Name that the person in `from` shows; null if it is unknown.
        "senderName": Optional[str],
        # Whether the chat is a group.
        "isGroup": bool,
        # Id of the group (`grp_…`). Only for messages in groups.
        "groupId": str,
        # Phone number digits of the person in `from`. Only in groups.
        "participant": str,
        # Phone number digits of the recipient; null if it is a group. Only if the event has `to`.
        "toNumber": Optional[str],
        "session": EventSession,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the sending session.
        "from": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Present on the sample event that a webhook test sends.
        "test": Literal[True],
    },
    total=False,
)


class MessageReadData(_MessageReadDataRequired, _MessageReadDataOptional):
    """The recipient read a message."""


class _SessionConnectedDataRequired(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    phoneNumber: str
    """Phone number digits of the session."""
    connectedAt: str
    """When the session connected."""


class SessionConnectedData(_SessionConnectedDataRequired, total=False):
    """A session connected to its network."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _SessionDisconnectedDataRequired(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    phoneNumber: str
    """Phone number digits of the session."""
    reason: str
    """Why the session disconnected, as a sentence."""
    willReconnect: bool
    """Whether the session reconnects automatically."""
    disconnectedAt: str
    """When the session disconnected."""


class SessionDisconnectedData(_SessionDisconnectedDataRequired, total=False):
    """A session lost its network, was disconnected or was logged out. Sent once per outage, and
    again if a session that was expected to reconnect gives up.
    """

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class GroupCreatedDataParticipant(TypedDict):
    phoneNumber: str
    """Phone number digits of the participant."""
    role: Literal["member", "admin", "owner"]
    """`admin` and `owner` can change the group and its participants."""


class _GroupCreatedDataRequired(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    subject: str
    """Name of the group."""
    participants: list[GroupCreatedDataParticipant]
    """Members of the group, with their roles."""
    createdBy: str
    """Phone number digits of the person who created the group."""
    timestamp: str
    """When the group was created."""


class GroupCreatedData(_GroupCreatedDataRequired, total=False):
    """A group was created, or the session was added to one."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class GroupUpdatedDataChangeSettings(TypedDict, total=False):
    announce: bool
    """Only admins can send messages."""
    locked: bool
    """Only admins can change subject, description and picture."""
    joinApproval: bool
    """An admin must approve people who join with the invite link."""
    memberAdd: Literal["admins", "all"]
    """People who can add members."""
    disappearingSeconds: int
    """Seconds until messages disappear; 0 if they stay."""


class _GroupUpdatedDataChangeRequired(TypedDict):
    type: Literal["subject", "description", "settings", "participants", "picture", "invite_link"]
    """Type of the change. It determines which of the other fields are present."""


class GroupUpdatedDataChange(_GroupUpdatedDataChangeRequired, total=False):
    subject: str
    """New name of the group."""
    description: Optional[str]
    """New description; null if it was removed."""
    settings: GroupUpdatedDataChangeSettings
    action: Literal["add", "remove", "promote", "demote"]
    """Type of the change to the participants in `phoneNumbers`."""
    phoneNumbers: list[str]


class _GroupUpdatedDataRequired(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    subject: str
    """Name of the group after the change."""
    change: GroupUpdatedDataChange
    timestamp: str
    """When the group changed."""


class GroupUpdatedData(_GroupUpdatedDataRequired, total=False):
    """The participants, subject, description, settings, picture or invite link of a group
    changed.
    """

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_MessageReactionDataRequired = TypedDict(
    "_MessageReactionDataRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the person who reacted.
        "from": str,
        # Whether the session's own number did it, on any of its devices.
        "fromMe": bool,
        # When the person reacted.
        "timestamp": str,
        # The emoji; null if the reaction was removed.
        "emoji": Optional[str],
    },
)


class MessageReactionData(_MessageReactionDataRequired, total=False):
    """Somebody reacted to a message, or removed the reaction."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_MessageEditedDataRequired = TypedDict(
    "_MessageEditedDataRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the sender.
        "from": str,
        # Whether the session's own number did it, on any of its devices.
        "fromMe": bool,
        # When the message was changed.
        "timestamp": str,
        # The new text or caption.
        "message": str,
    },
)


class MessageEditedData(_MessageEditedDataRequired, total=False):
    """The text of a message was changed."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_MessageDeletedDataRequired = TypedDict(
    "_MessageDeletedDataRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the person who deleted it: the sender or an admin of the group.
        "from": str,
        # Whether the session's own number did it, on any of its devices.
        "fromMe": bool,
        # When the message was deleted.
        "timestamp": str,
    },
)


class MessageDeletedData(_MessageDeletedDataRequired, total=False):
    """A message was deleted for everyone."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _MessageFailedDataRequired(TypedDict):
    messageId: str
    """Id of the message (`msg_…`)."""
    to: str
    """Phone number digits of the recipient. In a group it is the id of the group (`grp_…`),
    which is not digits.
    """
    status: str
    """New status, as in the name of the event, such as `sent`."""
    timestamp: str
    """When the message reached the status."""
    error: str
    """Why the message failed, as a sentence."""


_MessageFailedDataOptional = TypedDict(
    "_MessageFailedDataOptional",
    {
        # Id of the message on the network.
        "networkId": str,
        # Address of the chat on the network, such as `491701234567@s.whatsapp.net`.
        "networkChatId": str,
        # Address of the group on the network, such as `…@g.us`. Only in groups.
        "networkGroupId": str,
        # Address of the person in `from` on the network.
        "networkFrom": str,
        # Name that the person in `from` shows; null if it is unknown.
        "senderName": Optional[str],
        # Whether the chat is a group.
        "isGroup": bool,
        # Id of the group (`grp_…`). Only for messages in groups.
        "groupId": str,
        # Phone number digits of the person in `from`. Only in groups.
        "participant": str,
        # Phone number digits of the recipient; null if it is a group. Only if the event has `to`.
        "toNumber": Optional[str],
        "session": EventSession,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the sending session.
        "from": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Present on the sample event that a webhook test sends.
        "test": Literal[True],
    },
    total=False,
)


class MessageFailedData(_MessageFailedDataRequired, _MessageFailedDataOptional):
    """A message could not be sent, or was cancelled."""


class _MessageQueuedDataRequired(TypedDict):
    messageId: str
    """Id of the message (`msg_…`)."""
    to: str
    """Phone number digits of the recipient. In a group it is the id of the group (`grp_…`),
    which is not digits.
    """
    status: str
    """New status, as in the name of the event, such as `sent`."""
    timestamp: str
    """When the message reached the status."""


_MessageQueuedDataOptional = TypedDict(
    "_MessageQueuedDataOptional",
    {
        # Id of the message on the network.
        "networkId": str,
        # Address of the chat on the network, such as `491701234567@s.whatsapp.net`.
        "networkChatId": str,
        # Address of the group on the network, such as `…@g.us`. Only in groups.
        "networkGroupId": str,
        # Address of the person in `from` on the network.
        "networkFrom": str,
        # Name that the person in `from` shows; null if it is unknown.
        "senderName": Optional[str],
        # Whether the chat is a group.
        "isGroup": bool,
        # Id of the group (`grp_…`). Only for messages in groups.
        "groupId": str,
        # Phone number digits of the person in `from`. Only in groups.
        "participant": str,
        # Phone number digits of the recipient; null if it is a group. Only if the event has `to`.
        "toNumber": Optional[str],
        "session": EventSession,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the sending session.
        "from": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Present on the sample event that a webhook test sends.
        "test": Literal[True],
    },
    total=False,
)


class MessageQueuedData(_MessageQueuedDataRequired, _MessageQueuedDataOptional):
    """A message that was scheduled, sent in bulk or approved became due and waits to be sent."""


class _MessageApprovalDataRequired(TypedDict):
    messageId: str
    """Id of the message (`msg_…`)."""
    to: str
    """Phone number digits of the recipient. In a group it is the id of the group (`grp_…`),
    which is not digits.
    """
    status: str
    """Status of the message after that, such as `pending_approval`."""
    timestamp: str
    """When the message reached the status."""
    approval: Literal["pending", "approved", "rejected", "expired", "withdrawn"]
    """`pending`: the message waits. `withdrawn`: it was cancelled before anybody decided."""
    keyId: str
    """Id of the API key that asked for the message (`key_…`)."""


_MessageApprovalDataOptional = TypedDict(
    "_MessageApprovalDataOptional",
    {
        # Id of the message on the network.
        "networkId": str,
        # Address of the chat on the network, such as `491701234567@s.whatsapp.net`.
        "networkChatId": str,
        # Address of the group on the network, such as `…@g.us`. Only in groups.
        "networkGroupId": str,
        # Address of the person in `from` on the network.
        "networkFrom": str,
        # Name that the person in `from` shows; null if it is unknown.
        "senderName": Optional[str],
        # Whether the chat is a group.
        "isGroup": bool,
        # Id of the group (`grp_…`). Only for messages in groups.
        "groupId": str,
        # Phone number digits of the person in `from`. Only in groups.
        "participant": str,
        # Phone number digits of the recipient; null if it is a group. Only if the event has `to`.
        "toNumber": Optional[str],
        "session": EventSession,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the sending session.
        "from": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Present on the sample event that a webhook test sends.
        "test": Literal[True],
        # Why it was rejected, if a reason was given.
        "reason": str,
    },
    total=False,
)


class MessageApprovalData(_MessageApprovalDataRequired, _MessageApprovalDataOptional):
    """A message of an API key waits for approval, or was approved, rejected or withdrawn, or
    expired.
    """


_PollVoteDataRequired = TypedDict(
    "_PollVoteDataRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the person who voted.
        "from": str,
        # Whether the session's own number did it, on any of its devices.
        "fromMe": bool,
        # When the person voted.
        "timestamp": str,
        # The chosen options; none if the vote was withdrawn.
        "options": list[str],
    },
)


class PollVoteData(_PollVoteDataRequired, total=False):
    """Somebody voted in a poll, or withdrew the vote."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class MessageLocationDataLocationLive(TypedDict, total=False):
    """Present if the sender shares a position that moves. A later position replaces it in the
    message.
    """

    accuracyInMeters: float
    """How exact the position is."""
    metersPerSecond: float
    """Speed of the sender."""
    heading: float
    """Direction of the movement, in degrees clockwise from north."""
    sequence: int
    """Grows with every position of this message."""


class _MessageLocationDataLocationRequired(TypedDict):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""


class MessageLocationDataLocation(_MessageLocationDataLocationRequired, total=False):
    """The new position."""

    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""
    live: MessageLocationDataLocationLive
    """Present if the sender shares a position that moves. A later position replaces it in the
    message.
    """


_MessageLocationDataRequired = TypedDict(
    "_MessageLocationDataRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the person who moves.
        "from": str,
        # Whether the session's own number did it, on any of its devices.
        "fromMe": bool,
        # When the position was reported.
        "timestamp": str,
    },
)


class MessageLocationData(_MessageLocationDataRequired, total=False):
    """The live location in a message has moved."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    location: MessageLocationDataLocation
    """The new position."""
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_EventAnswerDataRequired = TypedDict(
    "_EventAnswerDataRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the person who answered.
        "from": str,
        # Whether the session's own number did it, on any of its devices.
        "fromMe": bool,
        # When the person answered.
        "timestamp": str,
    },
)


class EventAnswerData(_EventAnswerDataRequired, total=False):
    """Somebody answered an event."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    answer: Literal["going", "not_going", "maybe"]
    """Whether the person comes."""
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _ChatUpdatedDataRequired(TypedDict):
    chatId: str
    """Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
    (`000…`) of a person who hides the phone number.
    """
    sessionId: str
    """Id of the session (`ses_…`)."""
    archived: bool
    """Whether the chat is archived."""
    pinned: bool
    """Whether the chat is pinned."""
    mutedUntil: Optional[str]
    """Until when the chat is muted; null if it is not."""
    unreadCount: int
    """Number of incoming messages that are not marked as read."""
    markedUnread: bool
    """Whether the chat is marked as unread, whatever its messages are."""
    disappearingSeconds: Optional[int]
    """After how many seconds new messages disappear; null if they stay."""
    labelIds: list[str]
    """Ids of its labels (`lbl_…`)."""
    timestamp: str
    """When the chat changed."""


class ChatUpdatedData(_ChatUpdatedDataRequired, total=False):
    """A chat was archived, pinned, muted, read, marked as unread or labeled, or its timer for
    messages changed, here or on another device.
    """

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _ChatRemovedDataRequired(TypedDict):
    chatId: str
    """Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
    (`000…`) of a person who hides the phone number.
    """
    sessionId: str
    """Id of the session (`ses_…`)."""
    action: Literal["deleted", "cleared"]
    """`cleared`: the chat stays, without its messages."""
    timestamp: str
    """When the chat was deleted or cleared."""


class ChatRemovedData(_ChatRemovedDataRequired, total=False):
    """A chat, or all of its messages, were deleted for the session, here or on another device."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _MessageRemovedDataRequired(TypedDict):
    messageId: str
    """Id of the message (`msg_…`)."""
    type: str
    """Type of the message: `text`, `image`, `video`, `audio`, `document`, …"""
    sessionId: str
    """Id of the session (`ses_…`)."""
    chatId: str
    """Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
    (`000…`) of a person who hides the phone number.
    """
    timestamp: str
    """When the message was deleted."""


class MessageRemovedData(_MessageRemovedDataRequired, total=False):
    """A message was deleted for the session only, here or on another device. Others still have
    it.
    """

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _MessageMarkedDataRequired(TypedDict):
    messageId: str
    """Id of the message (`msg_…`)."""
    type: str
    """Type of the message: `text`, `image`, `video`, `audio`, `document`, …"""
    sessionId: str
    """Id of the session (`ses_…`)."""
    chatId: str
    """Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
    (`000…`) of a person who hides the phone number.
    """
    starred: bool
    """Whether the message is starred."""
    labelIds: list[str]
    """Ids of its labels (`lbl_…`)."""
    timestamp: str
    """When the message was marked."""


class MessageMarkedData(_MessageMarkedDataRequired, total=False):
    """A message was starred or labeled, or no longer is, here or on another device."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_MessagePinnedDataRequired = TypedDict(
    "_MessagePinnedDataRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Type of the message: `text`, `image`, `video`, `audio`, `document`, …
        "type": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the person who did it.
        "from": str,
        # Whether the session's own number did it, on any of its devices.
        "fromMe": bool,
        # When the person did it.
        "timestamp": str,
        # When the pin ends; null if it was removed.
        "pinnedUntil": Optional[str],
    },
)


class MessagePinnedData(_MessagePinnedDataRequired, total=False):
    """Somebody pinned a message for everyone in the chat, or removed the pin."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _LabelUpdatedDataRequired(TypedDict):
    labelId: str
    """Id of the label (`lbl_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    name: str
    """Name of the label."""
    color: int
    """Index into the palette of the network."""
    timestamp: str
    """When the label changed."""


class LabelUpdatedData(_LabelUpdatedDataRequired, total=False):
    """A label was created, changed or deleted, here or on another device."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    deleted: Literal[True]
    """Present if the label was deleted."""
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _ContactUpdatedDataRequired(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    phoneNumber: str
    """Phone number digits of the contact, or a placeholder if `unidentified` is present."""
    name: Optional[str]
    """Name that the contact shows; null if there is none."""
    blocked: bool
    """Whether the session has blocked the contact."""
    timestamp: str
    """When the contact changed."""


class ContactUpdatedData(_ContactUpdatedDataRequired, total=False):
    """A contact is new, has another name, was blocked or unblocked, or its hidden number became
    known.
    """

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    previousPhoneNumber: str
    """The placeholder, or other number, under which everything of the contact was stored until
    now. It is stored under `phoneNumber` from now on.
    """
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_PresenceUpdatedDataRequired = TypedDict(
    "_PresenceUpdatedDataRequired",
    {
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the person.
        "from": str,
        # `paused` means that the person stopped typing or recording.
        "presence": Literal["online", "offline", "typing", "recording", "paused"],
        # When the network reported it.
        "timestamp": str,
    },
)


class PresenceUpdatedData(_PresenceUpdatedDataRequired, total=False):
    """A person came online or went offline, or is typing or recording."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    lastSeen: str
    """When the person was last online, if the network shows it."""
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class SessionStatusDataHealthReason(TypedDict):
    code: str
    """Reason, such as `new_chats`."""
    risk: Literal["elevated", "high"]
    """How grave the reason is."""
    message: str
    """The reason in words, with its figures."""


class SessionStatusDataHealth(TypedDict):
    """Only if the risk changed. The status is then the same as before."""

    risk: Literal["low", "elevated", "high"]
    """How likely the network is to ban the number."""
    previousRisk: Literal["low", "elevated", "high"]
    """The risk before."""
    reasons: list[SessionStatusDataHealthReason]
    """Why the risk is not low, the gravest first."""


class _SessionStatusDataRequired(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    status: str
    """New status, such as `connecting`, `awaiting_pairing` or `connected`."""
    previousStatus: str
    """Status before; the same if only the code or the risk is new."""
    reason: Optional[str]
    """Why the status changed, as a sentence; null if there is nothing to explain."""
    timestamp: str
    """When the status changed."""


class SessionStatusData(_SessionStatusDataRequired, total=False):
    """The status of a session or its risk of being banned changed, or a session that waits to be
    linked got a new code.
    """

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    qr: str
    """Text of the QR code to scan, with the status `awaiting_pairing`. In the log and stream
    only with `sessions:write`.
    """
    pairingCode: str
    """Code to enter on the phone. Only if one was requested."""
    expiresAt: str
    """When `qr` or `pairingCode` stops working."""
    health: SessionStatusDataHealth
    """Only if the risk changed. The status is then the same as before."""
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _SessionHistoryDataRequired(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    state: Literal["none", "waiting", "importing", "complete", "failed"]
    """`waiting`: the phone has sent nothing yet. `failed`: a part is missing; `error` says why."""
    progress: int
    """Percent, as the phone reports it."""
    messages: int
    """Number of messages imported so far."""
    chats: int
    """Number of chats that are new."""
    contacts: int
    """Number of contacts that are new."""
    error: Optional[str]
    """Why a part of the history is missing, as a sentence; null if nothing failed."""
    timestamp: str
    """When that happened."""


class SessionHistoryData(_SessionHistoryDataRequired, total=False):
    """The import of the history of a phone began, made progress, ended or failed in part."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class SessionUpdatedDataNetworkProblem(TypedDict):
    concerns: str
    """The restricted part, such as `phone_number` or `business_account`."""
    message: str
    """The reason, in the network's words."""


class SessionUpdatedDataNetworkNotice(TypedDict):
    type: str
    """The network's name of the notice, such as `ACCOUNT_RESTRICTION`."""
    severity: Literal["info", "warning", "critical"]
    """How urgent it is."""
    message: str
    """Text of the notice, as a sentence."""
    at: str
    """When the network sent it."""


class SessionUpdatedDataNetwork(TypedDict):
    displayName: Optional[str]
    """Name that recipients see; null if it is unknown."""
    nameStatus: Optional[str]
    """Review of the name, such as `approved` or `declined`; null if it is unknown."""
    quality: Optional[Literal["high", "medium", "low", "unknown"]]
    """Quality by the reactions of recipients; null if the network has not rated it."""
    messagingTier: Optional[str]
    """The network's name of the messaging limit, such as `TIER_2K`."""
    messagingLimit: Optional[int]
    """People to whom the business may start to write within 24 hours; null if it is unknown or
    unlimited.
    """
    throughput: Optional[str]
    """Sending speed, such as `standard` or `high`; null if it is unknown."""
    accountMode: Optional[str]
    """`live`, or `sandbox` for a test number; null if it is unknown."""
    canSend: Optional[Literal["yes", "limited", "no"]]
    """Whether the network lets the number send; `problems` has the reasons if it does not."""
    problems: list[SessionUpdatedDataNetworkProblem]
    """Restrictions of the number, its account, its business or its app."""
    notices: list[SessionUpdatedDataNetworkNotice]
    """Up to ten latest notices about the number or its account."""
    updatedAt: str
    """When the network last reported a change."""


class SessionUpdatedDataNotice(TypedDict):
    type: str
    """The network's name of the notice, such as `ACCOUNT_RESTRICTION`."""
    severity: Literal["info", "warning", "critical"]
    """How urgent it is."""
    message: str
    """Text of the notice, as a sentence."""
    at: str
    """When the network sent it."""


class _SessionUpdatedDataRequired(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    changed: list[str]
    """Names of the fields of `network` that changed."""
    network: SessionUpdatedDataNetwork
    timestamp: str
    """When the network reported it."""


class SessionUpdatedData(_SessionUpdatedDataRequired, total=False):
    """The network's judgment of a session's number changed: its quality, limits, name or
    restrictions.
    """

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    notice: SessionUpdatedDataNotice
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _TemplateUpdatedDataRequired(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    templateId: str
    """Id of the template at the network."""
    name: str
    """Name of the template."""
    language: str
    """Language of the template, such as `en_US`."""
    status: Optional[str]
    """Status, such as `approved` or `rejected`; null if no report has named it."""
    previousStatus: Optional[str]
    """Status of the previous report; null if there was none."""
    category: Optional[str]
    """Category, such as `utility`; null if no report has named it."""
    quality: Optional[Literal["high", "medium", "low", "unknown"]]
    """Quality by the reactions of recipients; null if no report has named it."""
    reason: Optional[str]
    """Why it was rejected, paused or disabled; null if there is no reason."""
    timestamp: str
    """When the template changed."""


class TemplateUpdatedData(_TemplateUpdatedDataRequired, total=False):
    """A template was approved, rejected, paused, disabled, recategorized or rated."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _GroupParticipantsDataRequired(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    subject: str
    """Name of the group."""
    action: Literal["add", "remove", "promote", "demote"]
    """Change of the participants."""
    phoneNumbers: list[str]
    timestamp: str
    """When the group changed."""


class GroupParticipantsData(_GroupParticipantsDataRequired, total=False):
    """People joined or left a group, or their roles changed."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _GroupJoinRequestDataRequired(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    subject: str
    """Name of the group."""
    phoneNumber: str
    """Phone number digits of the person."""
    change: Literal["created", "withdrawn", "approved", "rejected"]
    """`withdrawn` by the person; `approved` and `rejected` by an admin, here or on a phone."""
    timestamp: str
    """When the person asked, or the request ended."""


class GroupJoinRequestData(_GroupJoinRequestDataRequired, total=False):
    """Somebody asked to join a group of the session, or the request ended."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    method: Literal["invite_link", "member", "community"]
    """How the person asked, if the network reports it. `member`: a member proposed the person."""
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_CallIncomingDataRequired = TypedDict(
    "_CallIncomingDataRequired",
    {
        # Id of the call at the network; the same when it starts and ends.
        "callId": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the caller.
        "from": str,
        # Whether it is a video call.
        "video": bool,
        # When the call began.
        "timestamp": str,
    },
)


class CallIncomingData(_CallIncomingDataRequired, total=False):
    """Somebody calls the session."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_CallEndedDataRequired = TypedDict(
    "_CallEndedDataRequired",
    {
        # Id of the call at the network; the same when it starts and ends.
        "callId": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of a direct chat, the id of the group (`grp_…`), or the placeholder
        # (`000…`) of a person who hides the phone number.
        "chatId": str,
        # Phone number digits of the caller.
        "from": str,
        # Whether it is a video call.
        "video": bool,
        # `answered` and `rejected`: on another device of the account, such as the phone, or
        # rejected with this API. `ended`: the network does not report why.
        "outcome": Literal["answered", "rejected", "missed", "ended"],
        # When the call stopped ringing.
        "timestamp": str,
    },
)


class CallEndedData(_CallEndedDataRequired, total=False):
    """A call to the session stopped ringing: it was answered elsewhere, rejected or given up."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class StatusReceivedDataMedia(TypedDict):
    mediaId: str
    """Id of the media (`med_…`)."""
    mimeType: str
    """Media type of the file, such as `image/jpeg`."""
    size: int
    """Size of the file in bytes."""
    fileName: Optional[str]
    """Name that the sender gave the file; null if there is none."""
    url: str
    """Download the file here, with an API key that has `media:read`."""


_StatusReceivedDataRequired = TypedDict(
    "_StatusReceivedDataRequired",
    {
        # Id of the status (`sts_…`).
        "statusId": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of the person who posted it.
        "from": str,
        # Whether the session's own number posted it, on any of its devices.
        "fromMe": bool,
        # Type of the status.
        "type": Literal["text", "image", "video", "voice"],
        # Text, or caption of the file.
        "message": str,
        # When the status was posted.
        "timestamp": str,
        # When the status disappears.
        "expiresAt": str,
    },
)


class StatusReceivedData(_StatusReceivedDataRequired, total=False):
    """A person posted a status (story), or the session's own number did on another device. Only
    for sessions with the option `statuses`.
    """

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    media: StatusReceivedDataMedia
    backgroundColor: str
    """Color behind a text, such as `#1F6F5C`."""
    font: int
    """The network's number of the font of a text."""
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_StatusDeletedDataRequired = TypedDict(
    "_StatusDeletedDataRequired",
    {
        # Id of the status (`sts_…`).
        "statusId": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of the author.
        "from": str,
        # Whether the session's own number posted it, on any of its devices.
        "fromMe": bool,
        # When the status was deleted.
        "timestamp": str,
    },
)


class StatusDeletedData(_StatusDeletedDataRequired, total=False):
    """The author of a status deleted it before it expired."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


_StatusViewedDataRequired = TypedDict(
    "_StatusViewedDataRequired",
    {
        # Id of the status (`sts_…`).
        "statusId": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of the person who viewed it.
        "from": str,
        # Emoji of the reaction; null if there is none.
        "emoji": Optional[str],
        # When the person viewed it or reacted.
        "timestamp": str,
    },
)


class StatusViewedData(_StatusViewedDataRequired, total=False):
    """Somebody viewed a status of the session for the first time, or reacted to it."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class ChannelMessageDataMedia(TypedDict):
    mediaId: str
    """Id of the media (`med_…`)."""
    mimeType: str
    """Media type of the file, such as `image/jpeg`."""
    size: int
    """Size of the file in bytes."""
    fileName: Optional[str]
    """Name that the sender gave the file; null if there is none."""
    url: str
    """Download the file here, with an API key that has `media:read`."""


class _ChannelMessageDataRequired(TypedDict):
    postId: str
    """Id of the post (`pst_…`)."""
    channelId: str
    """Id of the channel (`chn_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    channelName: Optional[str]
    """Name of the channel; null if it is not known yet."""
    type: Literal["text", "image", "video"]
    """Type of the post."""
    message: str
    """Text, or caption of the file."""
    timestamp: str
    """When it was posted."""


class ChannelMessageData(_ChannelMessageDataRequired, total=False):
    """A channel that the session follows or owns has a new post. Only for sessions with the
    option `channels`.
    """

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    media: ChannelMessageDataMedia
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _WebhookCircuitOpenedDataRequired(TypedDict):
    webhookId: str
    """Id of the webhook (`whk_…`)."""
    webhookOrigin: str
    """Scheme, host and port of the webhook."""
    reason: str
    """Why it opened, such as `failures_in_a_row` or `gone`."""
    error: Optional[str]
    """Result of the last failed attempt, as a sentence; null if there is none."""
    timestamp: str
    """When it opened."""


class WebhookCircuitOpenedData(_WebhookCircuitOpenedDataRequired, total=False):
    """The circuit breaker of another webhook opened: its deliveries are held."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class _WebhookCircuitClosedDataRequired(TypedDict):
    webhookId: str
    """Id of the webhook (`whk_…`)."""
    webhookOrigin: str
    """Scheme, host and port of the webhook."""
    reason: str
    """Why it closed, such as `probes_succeeded`, `reset` or `new_url`."""
    timestamp: str
    """When it closed."""


class WebhookCircuitClosedData(_WebhookCircuitClosedDataRequired, total=False):
    """The circuit breaker of another webhook closed: its held deliveries go out."""

    networkId: str
    """Id of the message on the network."""
    networkChatId: str
    """Address of the chat on the network, such as `491701234567@s.whatsapp.net`."""
    networkGroupId: str
    """Address of the group on the network, such as `…@g.us`. Only in groups."""
    networkFrom: str
    """Address of the person in `from` on the network."""
    senderName: Optional[str]
    """Name that the person in `from` shows; null if it is unknown."""
    isGroup: bool
    """Whether the chat is a group."""
    groupId: str
    """Id of the group (`grp_…`). Only in groups."""
    participant: str
    """Phone number digits of the person in `from`. Only in groups."""
    toNumber: Optional[str]
    """Phone number digits of the recipient; null if it is a group. Only if the event has `to`."""
    session: EventSession
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


class MessageIncoming(TypedDict):
    """A delivery of `message.incoming`."""

    event: Literal["message.incoming"]
    data: MessageIncomingData


class StreamedMessageIncoming(TypedDict):
    """The event `message.incoming` in a stream."""

    id: str
    event: Literal["message.incoming"]
    data: MessageIncomingData


class MessageSent(TypedDict):
    """A delivery of `message.sent`."""

    event: Literal["message.sent"]
    data: MessageSentData


class StreamedMessageSent(TypedDict):
    """The event `message.sent` in a stream."""

    id: str
    event: Literal["message.sent"]
    data: MessageSentData


class MessageDelivered(TypedDict):
    """A delivery of `message.delivered`."""

    event: Literal["message.delivered"]
    data: MessageDeliveredData


class StreamedMessageDelivered(TypedDict):
    """The event `message.delivered` in a stream."""

    id: str
    event: Literal["message.delivered"]
    data: MessageDeliveredData


class MessageRead(TypedDict):
    """A delivery of `message.read`."""

    event: Literal["message.read"]
    data: MessageReadData


class StreamedMessageRead(TypedDict):
    """The event `message.read` in a stream."""

    id: str
    event: Literal["message.read"]
    data: MessageReadData


class SessionConnected(TypedDict):
    """A delivery of `session.connected`."""

    event: Literal["session.connected"]
    data: SessionConnectedData


class StreamedSessionConnected(TypedDict):
    """The event `session.connected` in a stream."""

    id: str
    event: Literal["session.connected"]
    data: SessionConnectedData


class SessionDisconnected(TypedDict):
    """A delivery of `session.disconnected`."""

    event: Literal["session.disconnected"]
    data: SessionDisconnectedData


class StreamedSessionDisconnected(TypedDict):
    """The event `session.disconnected` in a stream."""

    id: str
    event: Literal["session.disconnected"]
    data: SessionDisconnectedData


class GroupCreated(TypedDict):
    """A delivery of `group.created`."""

    event: Literal["group.created"]
    data: GroupCreatedData


class StreamedGroupCreated(TypedDict):
    """The event `group.created` in a stream."""

    id: str
    event: Literal["group.created"]
    data: GroupCreatedData


class GroupUpdated(TypedDict):
    """A delivery of `group.updated`."""

    event: Literal["group.updated"]
    data: GroupUpdatedData


class StreamedGroupUpdated(TypedDict):
    """The event `group.updated` in a stream."""

    id: str
    event: Literal["group.updated"]
    data: GroupUpdatedData


class MessageReaction(TypedDict):
    """A delivery of `message.reaction`."""

    event: Literal["message.reaction"]
    data: MessageReactionData


class StreamedMessageReaction(TypedDict):
    """The event `message.reaction` in a stream."""

    id: str
    event: Literal["message.reaction"]
    data: MessageReactionData


class MessageEdited(TypedDict):
    """A delivery of `message.edited`."""

    event: Literal["message.edited"]
    data: MessageEditedData


class StreamedMessageEdited(TypedDict):
    """The event `message.edited` in a stream."""

    id: str
    event: Literal["message.edited"]
    data: MessageEditedData


class MessageDeleted(TypedDict):
    """A delivery of `message.deleted`."""

    event: Literal["message.deleted"]
    data: MessageDeletedData


class StreamedMessageDeleted(TypedDict):
    """The event `message.deleted` in a stream."""

    id: str
    event: Literal["message.deleted"]
    data: MessageDeletedData


class MessageFailed(TypedDict):
    """A delivery of `message.failed`."""

    event: Literal["message.failed"]
    data: MessageFailedData


class StreamedMessageFailed(TypedDict):
    """The event `message.failed` in a stream."""

    id: str
    event: Literal["message.failed"]
    data: MessageFailedData


class MessageQueued(TypedDict):
    """A delivery of `message.queued`."""

    event: Literal["message.queued"]
    data: MessageQueuedData


class StreamedMessageQueued(TypedDict):
    """The event `message.queued` in a stream."""

    id: str
    event: Literal["message.queued"]
    data: MessageQueuedData


class MessageApproval(TypedDict):
    """A delivery of `message.approval`."""

    event: Literal["message.approval"]
    data: MessageApprovalData


class StreamedMessageApproval(TypedDict):
    """The event `message.approval` in a stream."""

    id: str
    event: Literal["message.approval"]
    data: MessageApprovalData


class PollVote(TypedDict):
    """A delivery of `poll.vote`."""

    event: Literal["poll.vote"]
    data: PollVoteData


class StreamedPollVote(TypedDict):
    """The event `poll.vote` in a stream."""

    id: str
    event: Literal["poll.vote"]
    data: PollVoteData


class MessageLocation(TypedDict):
    """A delivery of `message.location`."""

    event: Literal["message.location"]
    data: MessageLocationData


class StreamedMessageLocation(TypedDict):
    """The event `message.location` in a stream."""

    id: str
    event: Literal["message.location"]
    data: MessageLocationData


class EventAnswer(TypedDict):
    """A delivery of `event.answer`."""

    event: Literal["event.answer"]
    data: EventAnswerData


class StreamedEventAnswer(TypedDict):
    """The event `event.answer` in a stream."""

    id: str
    event: Literal["event.answer"]
    data: EventAnswerData


class ChatUpdated(TypedDict):
    """A delivery of `chat.updated`."""

    event: Literal["chat.updated"]
    data: ChatUpdatedData


class StreamedChatUpdated(TypedDict):
    """The event `chat.updated` in a stream."""

    id: str
    event: Literal["chat.updated"]
    data: ChatUpdatedData


class ChatRemoved(TypedDict):
    """A delivery of `chat.removed`."""

    event: Literal["chat.removed"]
    data: ChatRemovedData


class StreamedChatRemoved(TypedDict):
    """The event `chat.removed` in a stream."""

    id: str
    event: Literal["chat.removed"]
    data: ChatRemovedData


class MessageRemoved(TypedDict):
    """A delivery of `message.removed`."""

    event: Literal["message.removed"]
    data: MessageRemovedData


class StreamedMessageRemoved(TypedDict):
    """The event `message.removed` in a stream."""

    id: str
    event: Literal["message.removed"]
    data: MessageRemovedData


class MessageMarked(TypedDict):
    """A delivery of `message.marked`."""

    event: Literal["message.marked"]
    data: MessageMarkedData


class StreamedMessageMarked(TypedDict):
    """The event `message.marked` in a stream."""

    id: str
    event: Literal["message.marked"]
    data: MessageMarkedData


class MessagePinned(TypedDict):
    """A delivery of `message.pinned`."""

    event: Literal["message.pinned"]
    data: MessagePinnedData


class StreamedMessagePinned(TypedDict):
    """The event `message.pinned` in a stream."""

    id: str
    event: Literal["message.pinned"]
    data: MessagePinnedData


class LabelUpdated(TypedDict):
    """A delivery of `label.updated`."""

    event: Literal["label.updated"]
    data: LabelUpdatedData


class StreamedLabelUpdated(TypedDict):
    """The event `label.updated` in a stream."""

    id: str
    event: Literal["label.updated"]
    data: LabelUpdatedData


class ContactUpdated(TypedDict):
    """A delivery of `contact.updated`."""

    event: Literal["contact.updated"]
    data: ContactUpdatedData


class StreamedContactUpdated(TypedDict):
    """The event `contact.updated` in a stream."""

    id: str
    event: Literal["contact.updated"]
    data: ContactUpdatedData


class PresenceUpdated(TypedDict):
    """A delivery of `presence.updated`."""

    event: Literal["presence.updated"]
    data: PresenceUpdatedData


class StreamedPresenceUpdated(TypedDict):
    """The event `presence.updated` in a stream."""

    id: str
    event: Literal["presence.updated"]
    data: PresenceUpdatedData


class SessionStatus(TypedDict):
    """A delivery of `session.status`."""

    event: Literal["session.status"]
    data: SessionStatusData


class StreamedSessionStatus(TypedDict):
    """The event `session.status` in a stream."""

    id: str
    event: Literal["session.status"]
    data: SessionStatusData


class SessionHistory(TypedDict):
    """A delivery of `session.history`."""

    event: Literal["session.history"]
    data: SessionHistoryData


class StreamedSessionHistory(TypedDict):
    """The event `session.history` in a stream."""

    id: str
    event: Literal["session.history"]
    data: SessionHistoryData


class SessionUpdated(TypedDict):
    """A delivery of `session.updated`."""

    event: Literal["session.updated"]
    data: SessionUpdatedData


class StreamedSessionUpdated(TypedDict):
    """The event `session.updated` in a stream."""

    id: str
    event: Literal["session.updated"]
    data: SessionUpdatedData


class TemplateUpdated(TypedDict):
    """A delivery of `template.updated`."""

    event: Literal["template.updated"]
    data: TemplateUpdatedData


class StreamedTemplateUpdated(TypedDict):
    """The event `template.updated` in a stream."""

    id: str
    event: Literal["template.updated"]
    data: TemplateUpdatedData


class GroupParticipants(TypedDict):
    """A delivery of `group.participants`."""

    event: Literal["group.participants"]
    data: GroupParticipantsData


class StreamedGroupParticipants(TypedDict):
    """The event `group.participants` in a stream."""

    id: str
    event: Literal["group.participants"]
    data: GroupParticipantsData


class GroupJoinRequest(TypedDict):
    """A delivery of `group.join_request`."""

    event: Literal["group.join_request"]
    data: GroupJoinRequestData


class StreamedGroupJoinRequest(TypedDict):
    """The event `group.join_request` in a stream."""

    id: str
    event: Literal["group.join_request"]
    data: GroupJoinRequestData


class CallIncoming(TypedDict):
    """A delivery of `call.incoming`."""

    event: Literal["call.incoming"]
    data: CallIncomingData


class StreamedCallIncoming(TypedDict):
    """The event `call.incoming` in a stream."""

    id: str
    event: Literal["call.incoming"]
    data: CallIncomingData


class CallEnded(TypedDict):
    """A delivery of `call.ended`."""

    event: Literal["call.ended"]
    data: CallEndedData


class StreamedCallEnded(TypedDict):
    """The event `call.ended` in a stream."""

    id: str
    event: Literal["call.ended"]
    data: CallEndedData


class StatusReceived(TypedDict):
    """A delivery of `status.received`."""

    event: Literal["status.received"]
    data: StatusReceivedData


class StreamedStatusReceived(TypedDict):
    """The event `status.received` in a stream."""

    id: str
    event: Literal["status.received"]
    data: StatusReceivedData


class StatusDeleted(TypedDict):
    """A delivery of `status.deleted`."""

    event: Literal["status.deleted"]
    data: StatusDeletedData


class StreamedStatusDeleted(TypedDict):
    """The event `status.deleted` in a stream."""

    id: str
    event: Literal["status.deleted"]
    data: StatusDeletedData


class StatusViewed(TypedDict):
    """A delivery of `status.viewed`."""

    event: Literal["status.viewed"]
    data: StatusViewedData


class StreamedStatusViewed(TypedDict):
    """The event `status.viewed` in a stream."""

    id: str
    event: Literal["status.viewed"]
    data: StatusViewedData


class ChannelMessage(TypedDict):
    """A delivery of `channel.message`."""

    event: Literal["channel.message"]
    data: ChannelMessageData


class StreamedChannelMessage(TypedDict):
    """The event `channel.message` in a stream."""

    id: str
    event: Literal["channel.message"]
    data: ChannelMessageData


class WebhookCircuitOpened(TypedDict):
    """A delivery of `webhook.circuit_opened`."""

    event: Literal["webhook.circuit_opened"]
    data: WebhookCircuitOpenedData


class StreamedWebhookCircuitOpened(TypedDict):
    """The event `webhook.circuit_opened` in a stream."""

    id: str
    event: Literal["webhook.circuit_opened"]
    data: WebhookCircuitOpenedData


class WebhookCircuitClosed(TypedDict):
    """A delivery of `webhook.circuit_closed`."""

    event: Literal["webhook.circuit_closed"]
    data: WebhookCircuitClosedData


class StreamedWebhookCircuitClosed(TypedDict):
    """The event `webhook.circuit_closed` in a stream."""

    id: str
    event: Literal["webhook.circuit_closed"]
    data: WebhookCircuitClosedData


EventKind = Literal[
    "message.incoming",
    "message.sent",
    "message.delivered",
    "message.read",
    "session.connected",
    "session.disconnected",
    "group.created",
    "group.updated",
    "message.reaction",
    "message.edited",
    "message.deleted",
    "message.failed",
    "message.queued",
    "message.approval",
    "poll.vote",
    "message.location",
    "event.answer",
    "chat.updated",
    "chat.removed",
    "message.removed",
    "message.marked",
    "message.pinned",
    "label.updated",
    "contact.updated",
    "presence.updated",
    "session.status",
    "session.history",
    "session.updated",
    "template.updated",
    "group.participants",
    "group.join_request",
    "call.incoming",
    "call.ended",
    "status.received",
    "status.deleted",
    "status.viewed",
    "channel.message",
    "webhook.circuit_opened",
    "webhook.circuit_closed",
]
"""All event types."""

KnownEvent = Union[
    MessageIncoming,
    MessageSent,
    MessageDelivered,
    MessageRead,
    SessionConnected,
    SessionDisconnected,
    GroupCreated,
    GroupUpdated,
    MessageReaction,
    MessageEdited,
    MessageDeleted,
    MessageFailed,
    MessageQueued,
    MessageApproval,
    PollVote,
    MessageLocation,
    EventAnswer,
    ChatUpdated,
    ChatRemoved,
    MessageRemoved,
    MessageMarked,
    MessagePinned,
    LabelUpdated,
    ContactUpdated,
    PresenceUpdated,
    SessionStatus,
    SessionHistory,
    SessionUpdated,
    TemplateUpdated,
    GroupParticipants,
    GroupJoinRequest,
    CallIncoming,
    CallEnded,
    StatusReceived,
    StatusDeleted,
    StatusViewed,
    ChannelMessage,
    WebhookCircuitOpened,
    WebhookCircuitClosed,
]
"""The event of a delivery, discriminated by `event`."""

StreamedEvent = Union[
    StreamedMessageIncoming,
    StreamedMessageSent,
    StreamedMessageDelivered,
    StreamedMessageRead,
    StreamedSessionConnected,
    StreamedSessionDisconnected,
    StreamedGroupCreated,
    StreamedGroupUpdated,
    StreamedMessageReaction,
    StreamedMessageEdited,
    StreamedMessageDeleted,
    StreamedMessageFailed,
    StreamedMessageQueued,
    StreamedMessageApproval,
    StreamedPollVote,
    StreamedMessageLocation,
    StreamedEventAnswer,
    StreamedChatUpdated,
    StreamedChatRemoved,
    StreamedMessageRemoved,
    StreamedMessageMarked,
    StreamedMessagePinned,
    StreamedLabelUpdated,
    StreamedContactUpdated,
    StreamedPresenceUpdated,
    StreamedSessionStatus,
    StreamedSessionHistory,
    StreamedSessionUpdated,
    StreamedTemplateUpdated,
    StreamedGroupParticipants,
    StreamedGroupJoinRequest,
    StreamedCallIncoming,
    StreamedCallEnded,
    StreamedStatusReceived,
    StreamedStatusDeleted,
    StreamedStatusViewed,
    StreamedChannelMessage,
    StreamedWebhookCircuitOpened,
    StreamedWebhookCircuitClosed,
]
"""An event of the stream, discriminated by `event`."""

# The type of each field. A `?` marks a field that may be missing.
EVENT_FIELDS: dict[str, dict[str, Any]] = {
    "message.incoming": {
        "messageId": "string",
        "from": "string",
        "message": "string",
        "timestamp": "string",
        "sessionId": "string?",
        "chatId": "string?",
        "to": "string?",
        "type": "string?",
        "groupId": "string?",
        "replyTo": "string?",
        "unidentified": "true?",
        "replayed": "true?",
        "history": "true?",
        "remoteMedia": "object?",
        "media": "object?",
        "location": "object?",
        "contact": "object?",
        "poll": "object?",
        "template": "object?",
        "interactive": "object?",
        "mentions": "string[]?",
        "forwarded": "true?",
        "payload": "string?",
        "linkPreview": "object?",
        "viewOnce": "true?",
        "gif": "true?",
        "videoNote": "true?",
        "animated": "true?",
        "mentionsAll": "true?",
        "album": "object?",
        "contacts": "object[]?",
        "event": "object?",
        "product": "object?",
        "order": "object?",
        "groupInvite": "object?",
        "choice": "object?",
        "rawType": "string?",
        "test": "true?",
    },
    "message.sent": {
        "messageId": "string",
        "to": "string",
        "status": "string",
        "timestamp": "string",
        "sessionId": "string?",
        "chatId": "string?",
        "from": "string?",
        "groupId": "string?",
        "type": "string?",
        "test": "true?",
        "sentElsewhere": "true?",
        "message": "string?",
        "replyTo": "string?",
        "replayed": "true?",
        "history": "true?",
        "remoteMedia": "object?",
        "media": "object?",
        "location": "object?",
        "contact": "object?",
        "poll": "object?",
        "template": "object?",
        "interactive": "object?",
        "mentions": "string[]?",
        "forwarded": "true?",
        "payload": "string?",
        "linkPreview": "object?",
        "viewOnce": "true?",
        "gif": "true?",
        "videoNote": "true?",
        "animated": "true?",
        "mentionsAll": "true?",
        "album": "object?",
        "contacts": "object[]?",
        "event": "object?",
        "product": "object?",
        "order": "object?",
        "groupInvite": "object?",
        "choice": "object?",
        "rawType": "string?",
    },
    "message.delivered": {
        "messageId": "string",
        "to": "string",
        "status": "string",
        "timestamp": "string",
        "sessionId": "string?",
        "chatId": "string?",
        "from": "string?",
        "groupId": "string?",
        "type": "string?",
        "test": "true?",
    },
    "message.read": {
        "messageId": "string",
        "to": "string",
        "status": "string",
        "timestamp": "string",
        "sessionId": "string?",
        "chatId": "string?",
        "from": "string?",
        "groupId": "string?",
        "type": "string?",
        "test": "true?",
    },
    "session.connected": {
        "sessionId": "string",
        "phoneNumber": "string",
        "connectedAt": "string",
        "test": "true?",
    },
    "session.disconnected": {
        "sessionId": "string",
        "phoneNumber": "string",
        "reason": "string",
        "willReconnect": "boolean",
        "disconnectedAt": "string",
        "test": "true?",
    },
    "group.created": {
        "groupId": "string",
        "sessionId": "string",
        "subject": "string",
        "participants": [{
            "phoneNumber": "string",
            "role": "string",
        }],
        "createdBy": "string",
        "timestamp": "string",
        "test": "true?",
    },
    "group.updated": {
        "groupId": "string",
        "sessionId": "string",
        "subject": "string",
        "change": {
            "type": "string",
        },
        "timestamp": "string",
        "test": "true?",
    },
    "message.reaction": {
        "messageId": "string",
        "type": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "fromMe": "boolean",
        "unidentified": "true?",
        "timestamp": "string",
        "emoji": "string|null",
        "test": "true?",
    },
    "message.edited": {
        "messageId": "string",
        "type": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "fromMe": "boolean",
        "unidentified": "true?",
        "timestamp": "string",
        "message": "string",
        "test": "true?",
    },
    "message.deleted": {
        "messageId": "string",
        "type": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "fromMe": "boolean",
        "unidentified": "true?",
        "timestamp": "string",
        "test": "true?",
    },
    "message.failed": {
        "messageId": "string",
        "to": "string",
        "status": "string",
        "timestamp": "string",
        "sessionId": "string?",
        "chatId": "string?",
        "from": "string?",
        "groupId": "string?",
        "type": "string?",
        "test": "true?",
        "error": "string",
    },
    "message.queued": {
        "messageId": "string",
        "to": "string",
        "status": "string",
        "timestamp": "string",
        "sessionId": "string?",
        "chatId": "string?",
        "from": "string?",
        "groupId": "string?",
        "type": "string?",
        "test": "true?",
    },
    "message.approval": {
        "messageId": "string",
        "to": "string",
        "status": "string",
        "timestamp": "string",
        "sessionId": "string?",
        "chatId": "string?",
        "from": "string?",
        "groupId": "string?",
        "type": "string?",
        "test": "true?",
        "approval": "string",
        "keyId": "string",
        "reason": "string?",
    },
    "poll.vote": {
        "messageId": "string",
        "type": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "fromMe": "boolean",
        "unidentified": "true?",
        "timestamp": "string",
        "options": "string[]",
        "test": "true?",
    },
    "message.location": {
        "messageId": "string",
        "type": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "fromMe": "boolean",
        "unidentified": "true?",
        "timestamp": "string",
        "location": "object?",
        "test": "true?",
    },
    "event.answer": {
        "messageId": "string",
        "type": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "fromMe": "boolean",
        "unidentified": "true?",
        "timestamp": "string",
        "answer": "string?",
        "test": "true?",
    },
    "chat.updated": {
        "chatId": "string",
        "sessionId": "string",
        "groupId": "string?",
        "archived": "boolean",
        "pinned": "boolean",
        "mutedUntil": "string|null",
        "unreadCount": "number",
        "markedUnread": "boolean",
        "disappearingSeconds": "number|null",
        "labelIds": "string[]",
        "timestamp": "string",
        "test": "true?",
    },
    "chat.removed": {
        "chatId": "string",
        "sessionId": "string",
        "groupId": "string?",
        "action": "string",
        "timestamp": "string",
        "test": "true?",
    },
    "message.removed": {
        "messageId": "string",
        "type": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "timestamp": "string",
        "test": "true?",
    },
    "message.marked": {
        "messageId": "string",
        "type": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "starred": "boolean",
        "labelIds": "string[]",
        "timestamp": "string",
        "test": "true?",
    },
    "message.pinned": {
        "messageId": "string",
        "type": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "fromMe": "boolean",
        "unidentified": "true?",
        "timestamp": "string",
        "pinnedUntil": "string|null",
        "test": "true?",
    },
    "label.updated": {
        "labelId": "string",
        "sessionId": "string",
        "name": "string",
        "color": "number",
        "deleted": "true?",
        "timestamp": "string",
        "test": "true?",
    },
    "contact.updated": {
        "sessionId": "string",
        "phoneNumber": "string",
        "name": "string|null",
        "blocked": "boolean",
        "previousPhoneNumber": "string?",
        "unidentified": "true?",
        "timestamp": "string",
        "test": "true?",
    },
    "presence.updated": {
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "unidentified": "true?",
        "presence": "string",
        "lastSeen": "string?",
        "timestamp": "string",
        "test": "true?",
    },
    "session.status": {
        "sessionId": "string",
        "status": "string",
        "previousStatus": "string",
        "reason": "string|null",
        "qr": "string?",
        "pairingCode": "string?",
        "expiresAt": "string?",
        "health": "object?",
        "timestamp": "string",
        "test": "true?",
    },
    "session.history": {
        "sessionId": "string",
        "state": "string",
        "progress": "number",
        "messages": "number",
        "chats": "number",
        "contacts": "number",
        "error": "string|null",
        "timestamp": "string",
        "test": "true?",
    },
    "session.updated": {
        "sessionId": "string",
        "changed": "string[]",
        "network": {
            "displayName": "string|null",
            "nameStatus": "string|null",
            "quality": "string|null",
            "messagingTier": "string|null",
            "messagingLimit": "number|null",
            "throughput": "string|null",
            "accountMode": "string|null",
            "canSend": "string|null",
            "problems": [{
                "concerns": "string",
                "message": "string",
            }],
            "notices": [{
                "type": "string",
                "severity": "string",
                "message": "string",
                "at": "string",
            }],
            "updatedAt": "string",
        },
        "notice": "object?",
        "timestamp": "string",
        "test": "true?",
    },
    "template.updated": {
        "sessionId": "string",
        "templateId": "string",
        "name": "string",
        "language": "string",
        "status": "string|null",
        "previousStatus": "string|null",
        "category": "string|null",
        "quality": "string|null",
        "reason": "string|null",
        "timestamp": "string",
        "test": "true?",
    },
    "group.participants": {
        "groupId": "string",
        "sessionId": "string",
        "subject": "string",
        "action": "string",
        "phoneNumbers": "string[]",
        "timestamp": "string",
        "test": "true?",
    },
    "group.join_request": {
        "groupId": "string",
        "sessionId": "string",
        "subject": "string",
        "phoneNumber": "string",
        "unidentified": "true?",
        "change": "string",
        "method": "string?",
        "timestamp": "string",
        "test": "true?",
    },
    "call.incoming": {
        "callId": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "unidentified": "true?",
        "video": "boolean",
        "timestamp": "string",
        "test": "true?",
    },
    "call.ended": {
        "callId": "string",
        "sessionId": "string",
        "chatId": "string",
        "groupId": "string?",
        "from": "string",
        "unidentified": "true?",
        "video": "boolean",
        "outcome": "string",
        "timestamp": "string",
        "test": "true?",
    },
    "status.received": {
        "statusId": "string",
        "sessionId": "string",
        "from": "string",
        "fromMe": "boolean",
        "unidentified": "true?",
        "type": "string",
        "message": "string",
        "media": "object?",
        "backgroundColor": "string?",
        "font": "number?",
        "timestamp": "string",
        "expiresAt": "string",
        "test": "true?",
    },
    "status.deleted": {
        "statusId": "string",
        "sessionId": "string",
        "from": "string",
        "fromMe": "boolean",
        "unidentified": "true?",
        "timestamp": "string",
        "test": "true?",
    },
    "status.viewed": {
        "statusId": "string",
        "sessionId": "string",
        "from": "string",
        "unidentified": "true?",
        "emoji": "string|null",
        "timestamp": "string",
        "test": "true?",
    },
    "channel.message": {
        "postId": "string",
        "channelId": "string",
        "sessionId": "string",
        "channelName": "string|null",
        "type": "string",
        "message": "string",
        "media": "object?",
        "timestamp": "string",
        "test": "true?",
    },
    "webhook.circuit_opened": {
        "webhookId": "string",
        "webhookOrigin": "string",
        "reason": "string",
        "error": "string|null",
        "timestamp": "string",
        "test": "true?",
    },
    "webhook.circuit_closed": {
        "webhookId": "string",
        "webhookOrigin": "string",
        "reason": "string",
        "timestamp": "string",
        "test": "true?",
    },
}
