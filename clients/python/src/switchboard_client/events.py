# Generated from openapi.json by `npm run openapi`. Do not edit.
"""The events, and the checks of their fields when a delivery is parsed."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union


class EventSession(TypedDict):
    """Name of the session and its metadata, as you set them."""

    name: Optional[str]
    metadata: dict[str, str]


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
    test: Literal[True]
    """Present on the sample event that a webhook test sends."""


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
    timestamp: str
    """When the chat changed."""


class ChatUpdatedData(_ChatUpdatedDataRequired, total=False):
    """A chat was archived, pinned, muted or read, here or on another device."""

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


class _SessionStatusDataRequired(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    status: str
    """New status, such as `connecting`, `awaiting_pairing` or `connected`."""
    previousStatus: str
    """Status before; the same if only the code is new."""
    reason: Optional[str]
    """Why the status changed, as a sentence; null if there is nothing to explain."""
    timestamp: str
    """When the status changed."""


class SessionStatusData(_SessionStatusDataRequired, total=False):
    """The status of a session changed, or a session that waits to be linked got a new code."""

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
        # `answered` and `rejected`: on another device of the account, such as the phone. `ended`:
        # the network does not report why.
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


class ChatUpdated(TypedDict):
    """A delivery of `chat.updated`."""

    event: Literal["chat.updated"]
    data: ChatUpdatedData


class StreamedChatUpdated(TypedDict):
    """The event `chat.updated` in a stream."""

    id: str
    event: Literal["chat.updated"]
    data: ChatUpdatedData


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


class GroupParticipants(TypedDict):
    """A delivery of `group.participants`."""

    event: Literal["group.participants"]
    data: GroupParticipantsData


class StreamedGroupParticipants(TypedDict):
    """The event `group.participants` in a stream."""

    id: str
    event: Literal["group.participants"]
    data: GroupParticipantsData


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
    "chat.updated",
    "contact.updated",
    "presence.updated",
    "session.status",
    "group.participants",
    "call.incoming",
    "call.ended",
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
    ChatUpdated,
    ContactUpdated,
    PresenceUpdated,
    SessionStatus,
    GroupParticipants,
    CallIncoming,
    CallEnded,
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
    StreamedChatUpdated,
    StreamedContactUpdated,
    StreamedPresenceUpdated,
    StreamedSessionStatus,
    StreamedGroupParticipants,
    StreamedCallIncoming,
    StreamedCallEnded,
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
        "media": "object?",
        "location": "object?",
        "contact": "object?",
        "poll": "object?",
        "template": "object?",
        "interactive": "object?",
        "mentions": "string[]?",
        "forwarded": "true?",
        "payload": "string?",
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
        "media": "object?",
        "location": "object?",
        "contact": "object?",
        "poll": "object?",
        "template": "object?",
        "interactive": "object?",
        "mentions": "string[]?",
        "forwarded": "true?",
        "payload": "string?",
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
    "chat.updated": {
        "chatId": "string",
        "sessionId": "string",
        "groupId": "string?",
        "archived": "boolean",
        "pinned": "boolean",
        "mutedUntil": "string|null",
        "unreadCount": "number",
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
