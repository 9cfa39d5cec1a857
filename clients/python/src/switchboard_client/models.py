# Generated from openapi.json by `npm run openapi`. Do not edit.
"""Inputs and outputs of operations. They are plain dictionaries with the field names of the API."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict

ErrorCode = Literal[
    "validation_failed",
    "invalid_json",
    "unauthorized",
    "invalid_credentials",
    "jwt_required",
    "permission_denied",
    "confirmation_required",
    "network_denied",
    "permission_not_grantable",
    "registration_closed",
    "not_found",
    "method_not_allowed",
    "upgrade_required",
    "email_taken",
    "phone_number_in_use",
    "session_not_connected",
    "session_state",
    "message_state",
    "delivery_settled",
    "session_required",
    "idempotency_in_flight",
    "idempotency_mismatch",
    "too_many",
    "webhook_not_set",
    "not_supported",
    "recipient_not_on_network",
    "session_unavailable",
    "template_required",
    "send_failed",
    "fetch_failed",
    "payload_too_large",
    "unsupported_media_type",
    "range_not_satisfiable",
    "misdirected_request",
    "rate_limited",
    "quota_exceeded",
    "internal_error",
    "storage_unavailable",
    "too_busy",
    "shutting_down",
]
"""Codes of the errors that the server returns."""


class Media(TypedDict):
    mediaId: str
    """Id of the file (`med_…`)."""
    mimeType: str
    """Media type, detected from the content, such as `image/jpeg`."""
    size: int
    """Size in bytes."""
    sha256: str
    """SHA-256 of the content, in hexadecimal."""
    fileName: Optional[str]
    """Name of the file; null if it has none."""
    createdAt: str
    """When the file was first stored."""
    url: str
    """Download the content here, with a credential that has `media:read`."""


class Account(TypedDict):
    accountId: str
    """Id of the account (`acc_…`)."""
    email: str
    """Email address, in lower case."""
    name: Optional[str]
    """Name of the account; null if none was given."""
    createdAt: str
    """When the account was registered."""


class Login(TypedDict):
    token: str
    """Login token (JWT) to send as `Authorization: Bearer`. Empty for the dashboard, which gets
    a cookie.
    """
    tokenType: Literal["Bearer"]
    """Always `Bearer`."""
    expiresAt: str
    """When the token stops working."""
    account: Account


class AuthForgetLoginResult(TypedDict):
    loggedOut: Literal[True]
    """Always true."""


class AuthLogoutResult(TypedDict):
    loggedOut: Literal[True]
    """Always true."""


class _AuthMeResultCredentialRequired(TypedDict):
    type: Literal["jwt", "api_key"]
    """`jwt` is a login token."""
    permissions: list[str]
    """Permissions of the credential."""


class AuthMeResultCredential(_AuthMeResultCredentialRequired, total=False):
    keyId: str
    """Id of the API key (`key_…`)."""
    sessionIds: Optional[list[str]]
    """Sessions that the key may use; null for all."""
    allowedIps: Optional[list[str]]
    """Networks that may use the key; null for all."""
    allowedRecipients: Optional[list[str]]
    """Recipients to whom the key may send; null for all."""
    sendQuota: Optional[int]
    """Messages that the key may send per day (UTC); null for any number."""
    confirm: Optional[list[Literal["destructive", "new_recipients"]]]
    """Calls before which an agent with the key asks its user; null for none."""
    requiresApproval: bool
    """Whether every message of the key waits for approval."""


class AuthMeResult(TypedDict):
    account: Account
    credential: AuthMeResultCredential


class NewApiKey(TypedDict):
    keyId: str
    """Id of the key (`key_…`)."""
    name: str
    """Label for the key."""
    permissions: list[str]
    """Permissions of the key."""
    createdAt: str
    """When the key was created."""
    expiresAt: Optional[str]
    """When the key stops working; null for never."""
    sessionIds: Optional[list[str]]
    """Sessions that the key may use; null for all."""
    allowedIps: Optional[list[str]]
    """Networks that may use the key; null for all."""
    allowedRecipients: Optional[list[str]]
    """Recipients to whom the key may send; null for all."""
    sendQuota: Optional[int]
    """Messages that the key may send per day (UTC); null for any number."""
    confirm: Optional[list[Literal["destructive", "new_recipients"]]]
    """Calls before which an agent with the key asks its user; null for none."""
    requiresApproval: bool
    """Whether every message of the key waits for approval."""
    key: str
    """The key itself. It is returned only here; store it now."""


class ConnectedApp(TypedDict):
    clientId: str
    """Id of the app, which is the address of its description if it is a URL."""
    name: Optional[str]
    """Name that the app chose, which nobody has verified; null if it has none."""
    url: Optional[str]
    """Website that the app names; null if none."""
    redirectHost: str
    """Host, or scheme of a native app, to which the person was sent back."""


class ApiKey(TypedDict):
    keyId: str
    """Id of the key (`key_…`)."""
    name: str
    """Label for the key."""
    permissions: list[str]
    """Permissions of the key."""
    createdAt: str
    """When the key was created."""
    expiresAt: Optional[str]
    """When the key stops working; null for never."""
    sessionIds: Optional[list[str]]
    """Sessions that the key may use; null for all."""
    allowedIps: Optional[list[str]]
    """Networks that may use the key; null for all."""
    allowedRecipients: Optional[list[str]]
    """Recipients to whom the key may send; null for all."""
    sendQuota: Optional[int]
    """Messages that the key may send per day (UTC); null for any number."""
    confirm: Optional[list[Literal["destructive", "new_recipients"]]]
    """Calls before which an agent with the key asks its user; null for none."""
    requiresApproval: bool
    """Whether every message of the key waits for approval."""
    prefix: str
    """First characters of the key, to recognize it."""
    lastUsedAt: Optional[str]
    """When the key was last used; null if never."""
    app: Optional[ConnectedApp]
    """The connected app; null for a key."""


class ApiKeysListResult(TypedDict):
    data: list[ApiKey]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class ApiKeysRevokeResult(TypedDict):
    keyId: str
    """Id of the key (`key_…`)."""
    revoked: Literal[True]
    """Always true."""


class ToolCall(TypedDict):
    callId: str
    """Id of the call (`cal_…`)."""
    tool: str
    """Name of the tool, such as `messages_send`."""
    arguments: dict[str, Any]
    """Ids, recipients, choices, times and numbers as they were passed. Every other value is
    replaced by its size, such as `(24 characters)`.
    """
    outcome: str
    """`ok`, or the code of the error. `pending_approval`: the message waits for a person;
    `confirmation_required`: the user was asked; `confirmation_declined`: the user did not
    agree.
    """
    durationMs: int
    """Duration of the call in milliseconds."""
    clientName: Optional[str]
    """Name of the client, which nothing verifies; null if its protocol version does not send it
    with the call.
    """
    clientVersion: Optional[str]
    """Version of the client; null if its name is null or it sends none."""
    requestId: str
    """Id of the request, as in the log of the server."""
    createdAt: str
    """When the call ended."""


class ApiKeysListCallsResult(TypedDict):
    data: list[ToolCall]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class AppConnection(TypedDict):
    keyId: str
    """Id of the API key that stands for the app (`key_…`)."""
    permissions: list[str]
    """Permissions that the app has."""
    expiresAt: Optional[str]
    """When the connection ends; null for never."""
    sessionIds: Optional[list[str]]
    """Sessions that the key may use; null for all."""
    allowedIps: Optional[list[str]]
    """Networks that may use the key; null for all."""
    allowedRecipients: Optional[list[str]]
    """Recipients to whom the key may send; null for all."""
    sendQuota: Optional[int]
    """Messages that the key may send per day (UTC); null for any number."""
    confirm: Optional[list[Literal["destructive", "new_recipients"]]]
    """Calls before which an agent with the key asks its user; null for none."""
    requiresApproval: bool
    """Whether every message of the key waits for approval."""


class ConnectionRequest(TypedDict):
    requestId: str
    """Id of the request, from the address of the consent page."""
    clientId: str
    """Id of the app, which is the address of its description if it is a URL."""
    name: Optional[str]
    """Name that the app chose, which nobody has verified; null if it has none."""
    url: Optional[str]
    """Website that the app names, which nobody has verified; null if none."""
    redirectUri: str
    """Where the browser continues with the answer."""
    redirectHost: str
    """Host of `redirectUri`, or the scheme of a native app."""
    isLocal: bool
    """Whether `redirectUri` leads to a program on the device of the person."""
    permissions: list[str]
    """Permissions that the app asks for."""
    morePermissions: list[str]
    """Permissions that the app does not ask for, and that you can add."""
    connection: Optional[AppConnection]
    """The present connection of the app, which an approval replaces; null if none."""
    expiresAt: str
    """When the request expires."""


class ConnectionsApproveResult(TypedDict):
    keyId: str
    """Id of the API key that stands for the app."""
    redirectUrl: str
    """Path of this server where the same browser continues."""


class ConnectionsDenyResult(TypedDict):
    redirectUrl: str
    """Path of this server where the same browser continues."""


class Connector(TypedDict):
    name: str
    """Name to pass as `connector` when you create a session."""
    isDefault: bool
    """Whether new sessions use it if they name no connector."""
    options: dict[str, Any]
    """JSON Schema of a session's `options`. Options that are `writeOnly` are secrets, which are
    never returned.
    """
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive"]]
    """Types of messages that its sessions can send."""
    capabilities: Optional[list[Literal["pairing_code", "read_receipts", "typing", "reactions", "edit", "delete_for_everyone", "check_numbers", "block", "groups", "profile", "profiles_of_others", "simulator"]]]
    """Features of its sessions besides sending; null if the connector does not declare them."""
    takesCallbacks: bool
    """Whether the network calls this server; its sessions then have a `callbackUrl`."""


class ConnectorsListResult(TypedDict):
    data: list[Connector]
    """All networks of this server."""
    mediaMaxBytes: int
    """Largest file in bytes that can be uploaded or fetched from a `url`. A network can have a
    lower limit.
    """


class Session(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    name: Optional[str]
    """Label for people; null if none was set."""
    connector: str
    """Network of the session, such as `whatsapp`."""
    phoneNumber: Optional[str]
    """Phone number digits; null until the network has reported them."""
    status: Literal["created", "connecting", "awaiting_pairing", "connected", "disconnected", "logged_out", "failed"]
    """Only `connected` sessions send and receive. `awaiting_pairing`: a phone must scan the QR
    code or enter a pairing code.
    """
    connectedAt: Optional[str]
    """When the session connected; null while it is not connected."""
    lastEventAt: Optional[str]
    """When the network last reported something; null if it never did."""
    error: Optional[str]
    """Why the session is not connected, as a sentence; null if there was no error."""
    options: dict[str, Any]
    """Options of the network, without their secrets."""
    callbackUrl: Optional[str]
    """URL that the network calls for this session; null if the network makes no calls."""
    metadata: dict[str, str]
    """Your own data, as you set it."""
    createdAt: str
    """When the session was created."""


class SessionsListResult(TypedDict):
    data: list[Session]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class SessionsDeleteResult(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    deleted: Literal[True]
    """Always true."""


class SessionsUpdateProfileResult(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    updated: Literal[True]
    """Always true."""


class _SessionsGetQrResultRequired(TypedDict):
    qr: str
    """Text to show as a QR code."""
    expiresAt: str
    """When a new QR code replaces this one."""


class SessionsGetQrResult(_SessionsGetQrResultRequired, total=False):
    expiresInSeconds: int
    """Seconds until then, for callers whose clock may be wrong."""


class SessionsRequestPairingCodeResult(TypedDict):
    code: str
    """Code to enter on the phone."""
    expiresAt: str
    """When the code stops working."""


class SessionsHistoryResultData(TypedDict):
    status: str
    """Status that the session changed to."""
    reason: Optional[str]
    """Why, as a sentence; null if not known."""
    at: str
    """When the status changed."""


class SessionsHistoryResult(TypedDict):
    data: list[SessionsHistoryResultData]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class _SessionsSimulateLocationRequired(TypedDict):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""


class SessionsSimulateLocation(_SessionsSimulateLocationRequired, total=False):
    """Location to send."""

    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""


class SessionsSimulateContact(TypedDict):
    """Contact card to send."""

    name: str
    """Name on the card."""
    phoneNumbers: list[str]
    """Up to ten numbers on the card. In international form, such as 491701234567; +, spaces and
    dashes are ignored.
    """


class _SessionsSimulatePollRequired(TypedDict):
    options: list[str]
    """Answers to choose from."""


class SessionsSimulatePoll(_SessionsSimulatePollRequired, total=False):
    """Poll to send; the question is in `message`."""

    maxSelections: int
    """Number of options that one person can choose; 1 by default."""


class SessionsSimulateResult(TypedDict):
    simulated: Literal["pair", "incoming", "edit", "delete", "react", "vote", "receipt", "disconnect", "logout", "group_create", "group_subject", "group_leave", "presence", "call", "call_end", "chat_update", "rename"]
    """Event to simulate; see the description of the operation."""


class MessageMedia(TypedDict):
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


class _MessageLocationRequired(TypedDict):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""


class MessageLocation(_MessageLocationRequired, total=False):
    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""


class MessageContact(TypedDict):
    name: str
    """Name on the contact card."""
    phoneNumbers: list[str]


class MessagePoll(TypedDict):
    options: list[str]
    """Answers to choose from. The question is in `message`."""
    maxSelections: int
    """Number of options that one person can choose."""


class MessageTemplate(TypedDict):
    name: str
    """Name of the template at the network."""
    language: str
    """Language of the template, such as `en_US`."""
    components: list[Any]
    """Values of the template, in the network's format."""


MessageVote = TypedDict(
    "MessageVote",
    {
        # Phone number digits of the voter.
        "from": str,
        # Options that the voter chose.
        "options": list[str],
    },
)


MessageReaction = TypedDict(
    "MessageReaction",
    {
        # Phone number digits of the person who reacted.
        "from": str,
        # The emoji.
        "emoji": str,
        # When the person reacted.
        "at": str,
    },
)


class _MessageApprovalRequired(TypedDict):
    status: Literal["pending", "approved", "rejected", "expired", "withdrawn"]
    """`withdrawn`: it was cancelled before anybody decided."""
    keyId: str
    """Id of the API key that asked for the message (`key_…`)."""
    requestedAt: str
    """When the key asked."""


class MessageApproval(_MessageApprovalRequired, total=False):
    """Approval of the message; only if its API key needs one."""

    expiresAt: str
    """When a message that waits is given up."""
    decidedAt: str
    """When it was decided."""
    decidedBy: str
    """Id of the API key that approved or rejected it, or `login`."""
    reason: str
    """Why it was rejected, if a reason was given."""
    edited: Literal[True]
    """Present if the text was edited when it was approved."""


_MessageRequired = TypedDict(
    "_MessageRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of the other person, or the id of the group (`grp_…`).
        "chatId": str,
        # `incoming`: the session received the message.
        "direction": Literal["incoming", "outgoing"],
        # Type of the content.
        "type": Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive"],
        # Phone number digits of the sender.
        "from": str,
        # Phone number digits of the recipient, or the id of the group (`grp_…`).
        "to": str,
        # Phone number digits of the recipient; null in a group.
        "toNumber": Optional[str],
        # Text of the message, caption of the file, or question of the poll.
        "message": str,
        # `pending_approval`: waits for a person. `queued`: stored and about to be sent.
        # `scheduled`: waits for its time. `sent`: the network accepted it.
        "status": Literal["pending_approval", "queued", "scheduled", "sent", "delivered", "read", "failed"],
        # When the message was sent, or will be sent if it is scheduled.
        "timestamp": str,
    },
)


class Message(_MessageRequired, total=False):
    groupId: str
    """Id of the group (`grp_…`); only in a group."""
    replyTo: str
    """Id of the message that this message replies to."""
    networkId: str
    """Id of the message on the network; left out until the network has accepted it."""
    media: MessageMedia
    location: MessageLocation
    contact: MessageContact
    poll: MessagePoll
    template: MessageTemplate
    interactive: dict[str, Any]
    """Buttons, list or link of the message, as they were sent."""
    mentions: list[str]
    forwarded: Literal[True]
    """Present if the message was forwarded."""
    payload: str
    """Id of the button or list row that the sender chose."""
    contentHidden: Literal[True]
    """Present if the content is left out because the API key has the permission `metadata` but
    not `read`.
    """
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    sentElsewhere: Literal[True]
    """Present if the message was sent from the phone or another linked device, not through the
    API.
    """
    votes: list[MessageVote]
    """Votes on the poll, one entry per voter."""
    reactions: list[MessageReaction]
    """Reactions to the message, one per person."""
    edited: Literal[True]
    """Present if the text was edited after sending."""
    deleted: Literal[True]
    """Present if the message was deleted for everyone; its text is then empty."""
    error: str
    """Why the message failed, as a sentence."""
    approval: MessageApproval
    """Approval of the message; only if its API key needs one."""


class _BulkResultRequired(TypedDict):
    to: str
    """Recipient as you passed it."""
    messageId: Optional[str]
    """Id of the message; null if it was refused."""
    sendAt: Optional[str]
    """When the message will be sent; null if it was refused."""


class BulkResult(_BulkResultRequired, total=False):
    error: str
    """Why the message was refused, as a sentence."""


class _MessagesSendBulkResultRequired(TypedDict):
    accepted: int
    """Number of messages that were scheduled."""
    refused: int
    """Number of recipients that cannot be sent to."""
    results: list[BulkResult]
    """One entry per recipient, in the order of `to`."""


class MessagesSendBulkResult(_MessagesSendBulkResultRequired, total=False):
    pendingApproval: Literal[True]
    """Present if the accepted messages wait for approval."""


class MessagesListResult(TypedDict):
    data: list[Message]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class MessageStatsSerie(TypedDict):
    minute: str
    """Start of the minute."""
    incoming: int
    """Messages received."""
    outgoing: int
    """Messages that the network accepted."""


class MessageStats(TypedDict):
    series: list[MessageStatsSerie]
    """Minutes with at least one message, oldest first."""


class MessageWithHistoryMedia(TypedDict):
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


class _MessageWithHistoryLocationRequired(TypedDict):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""


class MessageWithHistoryLocation(_MessageWithHistoryLocationRequired, total=False):
    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""


class MessageWithHistoryContact(TypedDict):
    name: str
    """Name on the contact card."""
    phoneNumbers: list[str]


class MessageWithHistoryPoll(TypedDict):
    options: list[str]
    """Answers to choose from. The question is in `message`."""
    maxSelections: int
    """Number of options that one person can choose."""


class MessageWithHistoryTemplate(TypedDict):
    name: str
    """Name of the template at the network."""
    language: str
    """Language of the template, such as `en_US`."""
    components: list[Any]
    """Values of the template, in the network's format."""


MessageWithHistoryVote = TypedDict(
    "MessageWithHistoryVote",
    {
        # Phone number digits of the voter.
        "from": str,
        # Options that the voter chose.
        "options": list[str],
    },
)


MessageWithHistoryReaction = TypedDict(
    "MessageWithHistoryReaction",
    {
        # Phone number digits of the person who reacted.
        "from": str,
        # The emoji.
        "emoji": str,
        # When the person reacted.
        "at": str,
    },
)


class _MessageWithHistoryApprovalRequired(TypedDict):
    status: Literal["pending", "approved", "rejected", "expired", "withdrawn"]
    """`withdrawn`: it was cancelled before anybody decided."""
    keyId: str
    """Id of the API key that asked for the message (`key_…`)."""
    requestedAt: str
    """When the key asked."""


class MessageWithHistoryApproval(_MessageWithHistoryApprovalRequired, total=False):
    """Approval of the message; only if its API key needs one."""

    expiresAt: str
    """When a message that waits is given up."""
    decidedAt: str
    """When it was decided."""
    decidedBy: str
    """Id of the API key that approved or rejected it, or `login`."""
    reason: str
    """Why it was rejected, if a reason was given."""
    edited: Literal[True]
    """Present if the text was edited when it was approved."""


class MessageWithHistoryStatusHistory(TypedDict):
    status: Literal["pending_approval", "queued", "scheduled", "sent", "delivered", "read", "failed"]
    """`pending_approval`: waits for a person. `queued`: stored and about to be sent.
    `scheduled`: waits for its time. `sent`: the network accepted it.
    """
    at: str
    """When the message reached the status."""


_MessageWithHistoryRequired = TypedDict(
    "_MessageWithHistoryRequired",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of the other person, or the id of the group (`grp_…`).
        "chatId": str,
        # `incoming`: the session received the message.
        "direction": Literal["incoming", "outgoing"],
        # Type of the content.
        "type": Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive"],
        # Phone number digits of the sender.
        "from": str,
        # Phone number digits of the recipient, or the id of the group (`grp_…`).
        "to": str,
        # Phone number digits of the recipient; null in a group.
        "toNumber": Optional[str],
        # Text of the message, caption of the file, or question of the poll.
        "message": str,
        # `pending_approval`: waits for a person. `queued`: stored and about to be sent.
        # `scheduled`: waits for its time. `sent`: the network accepted it.
        "status": Literal["pending_approval", "queued", "scheduled", "sent", "delivered", "read", "failed"],
        # When the message was sent, or will be sent if it is scheduled.
        "timestamp": str,
        # Every status that the message has had, oldest first.
        "statusHistory": list[MessageWithHistoryStatusHistory],
    },
)


class MessageWithHistory(_MessageWithHistoryRequired, total=False):
    groupId: str
    """Id of the group (`grp_…`); only in a group."""
    replyTo: str
    """Id of the message that this message replies to."""
    networkId: str
    """Id of the message on the network; left out until the network has accepted it."""
    media: MessageWithHistoryMedia
    location: MessageWithHistoryLocation
    contact: MessageWithHistoryContact
    poll: MessageWithHistoryPoll
    template: MessageWithHistoryTemplate
    interactive: dict[str, Any]
    """Buttons, list or link of the message, as they were sent."""
    mentions: list[str]
    forwarded: Literal[True]
    """Present if the message was forwarded."""
    payload: str
    """Id of the button or list row that the sender chose."""
    contentHidden: Literal[True]
    """Present if the content is left out because the API key has the permission `metadata` but
    not `read`.
    """
    unidentified: Literal[True]
    """Present if the sender hides the phone number: `from` is then a placeholder, which you can
    use as `to`.
    """
    sentElsewhere: Literal[True]
    """Present if the message was sent from the phone or another linked device, not through the
    API.
    """
    votes: list[MessageWithHistoryVote]
    """Votes on the poll, one entry per voter."""
    reactions: list[MessageWithHistoryReaction]
    """Reactions to the message, one per person."""
    edited: Literal[True]
    """Present if the text was edited after sending."""
    deleted: Literal[True]
    """Present if the message was deleted for everyone; its text is then empty."""
    error: str
    """Why the message failed, as a sentence."""
    approval: MessageWithHistoryApproval
    """Approval of the message; only if its API key needs one."""


class MessagesSendInteractiveButton(TypedDict):
    id: str
    """Your id for this choice. The recipient's reply contains it as `payload`."""
    title: str
    """Text of the button or row."""


class _MessagesSendInteractiveListRowRequired(TypedDict):
    id: str
    """Your id for this choice. The recipient's reply contains it as `payload`."""
    title: str
    """Text of the button or row."""


class MessagesSendInteractiveListRow(_MessagesSendInteractiveListRowRequired, total=False):
    description: str
    """Second line of the row."""
    section: str
    """Heading; rows with the same section are grouped."""


class MessagesSendInteractiveList(TypedDict):
    """A list that the recipient opens to choose a row."""

    title: str
    """Text of the button that opens the list."""
    rows: list[MessagesSendInteractiveListRow]
    """Up to ten rows."""


class MessagesSendInteractiveLink(TypedDict):
    """A button that opens a URL."""

    title: str
    """Text of the button."""
    url: str
    """http or https URL that the button opens."""


class _ChatRequired(TypedDict):
    chatId: str
    """Phone number digits of the other person, or the id of the group (`grp_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    type: Literal["direct", "group"]
    """`direct` is a chat with one person."""
    name: Optional[str]
    """Name that the person chose, or subject of the group; null if it is not known."""
    unreadCount: int
    """Incoming messages that are not marked as read."""
    archived: bool
    """Whether the chat is archived."""
    pinned: bool
    """Whether the chat is pinned."""
    mutedUntil: Optional[str]
    """Until when the chat is muted; null if it is not."""
    lastMessage: Optional[Message]
    """Newest message; null if there is none."""


class Chat(_ChatRequired, total=False):
    networkChatId: str
    """Address of the chat at the network, such as `491701234567@s.whatsapp.net`."""


class ChatsListResult(TypedDict):
    data: list[Chat]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class ChatsMarkReadResult(TypedDict):
    chatId: str
    """Phone number digits of the other person, or the id of the group (`grp_…`)."""
    read: int
    """Number of messages that were unread before."""


class ChatsSetTypingResult(TypedDict):
    chatId: str
    """Phone number digits of the other person, or the id of the group (`grp_…`)."""
    state: str
    """State that is shown now."""


class _ContactRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the contact."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    name: Optional[str]
    """Name that the contact chose; null if it is not known."""
    blocked: bool
    """Whether the session has blocked the contact."""
    onNetwork: Optional[bool]
    """Whether the number is on the network; null if it was never checked."""
    checkedAt: Optional[str]
    """When the number was last checked; null if never."""


class Contact(_ContactRequired, total=False):
    unidentified: Literal[True]
    """Present if the contact hides the number: `phoneNumber` is then a placeholder."""


class ContactsListResult(TypedDict):
    data: list[Contact]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class _ContactWithIdsRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the contact."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    name: Optional[str]
    """Name that the contact chose; null if it is not known."""
    blocked: bool
    """Whether the session has blocked the contact."""
    onNetwork: Optional[bool]
    """Whether the number is on the network; null if it was never checked."""
    checkedAt: Optional[str]
    """When the number was last checked; null if never."""
    networkIds: list[str]
    """Ids of the contact on the network, as far as they are known, such as
    `491701234567@s.whatsapp.net`.
    """


class ContactWithIds(_ContactWithIdsRequired, total=False):
    unidentified: Literal[True]
    """Present if the contact hides the number: `phoneNumber` is then a placeholder."""


class ContactsCheckResultData(TypedDict):
    phoneNumber: str
    """Phone number digits."""
    onNetwork: bool
    """Whether the number has an account on the network."""
    checkedAt: str
    """When the network was asked."""


class ContactsCheckResult(TypedDict):
    data: list[ContactsCheckResultData]
    """One entry per number."""


class ProfilePicture(TypedDict):
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


class Profile(TypedDict):
    phoneNumber: str
    """Phone number digits of the contact."""
    about: Optional[str]
    """About text of the contact; null if it is empty or hidden from the session."""
    picture: Optional[ProfilePicture]
    """Picture of the contact; null if there is none or it is hidden."""


class _GroupParticipantRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the participant."""
    role: Literal["member", "admin", "owner"]
    """`admin` and `owner` can change the group and its participants."""


class GroupParticipant(_GroupParticipantRequired, total=False):
    name: str
    """Name that the person chose, if it is known."""


class GroupSettings(TypedDict):
    announce: bool
    """Only admins can send messages."""
    locked: bool
    """Only admins can change subject, description and picture."""
    joinApproval: bool
    """An admin must approve people who join with the invite link."""


class _GroupRequired(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    subject: str
    """Name of the group."""
    description: Optional[str]
    """Text that describes the group; null if there is none."""
    participants: list[GroupParticipant]
    """Members of the group, with their roles."""
    settings: GroupSettings
    pictureMediaId: Optional[str]
    """Id of the picture (`med_…`); null if there is none."""
    createdAt: str
    """When the group was created."""


class Group(_GroupRequired, total=False):
    networkGroupId: str
    """Address of the group at the network, such as `…@g.us`."""


class GroupsListResult(TypedDict):
    data: list[Group]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class GroupsUpdateSettings(TypedDict, total=False):
    """Settings to change."""

    announce: bool
    """Only admins can send messages."""
    locked: bool
    """Only admins can change the group."""
    joinApproval: bool
    """Admins approve people who join by link."""


class _GroupsUpdateParticipantsResultResultRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the participant."""
    ok: bool
    """Whether the change was made."""


class GroupsUpdateParticipantsResultResult(_GroupsUpdateParticipantsResultResultRequired, total=False):
    reason: str
    """Why the change was not made."""


class GroupsUpdateParticipantsResult(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    results: list[GroupsUpdateParticipantsResultResult]
    """One entry per number."""


class GroupInvite(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    inviteCode: str
    """Code at the end of the link. `groups.join` accepts the code or the link."""
    inviteLink: str
    """Link to send to people. Anyone with the link can join."""


class GroupsJoinResult(TypedDict):
    status: Literal["joined", "requested"]
    """`requested`: an admin must approve first."""
    group: Optional[Group]
    """The group. Null until an admin approves; then `groups.list` has it."""


class GroupsLeaveResult(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    left: Literal[True]
    """Always true."""


class _WebhookDestinationRequired(TypedDict):
    type: Literal["http", "rabbitmq", "nats", "redis", "kafka", "sqs"]
    """How events are sent; `http` by default."""


class WebhookDestination(_WebhookDestinationRequired, total=False):
    exchange: str
    """RabbitMQ: the exchange; left out for the default one, where `routingKey` names a queue."""
    routingKey: str
    """RabbitMQ: the routing key."""
    subject: str
    """NATS: a subject of a JetStream stream."""
    stream: str
    """Redis: the key of the stream."""
    maxLength: int
    """Redis: the approximate number of entries to keep; left out for all."""
    topic: str
    """Kafka: the topic. The conversation is the key of a message."""
    saslMechanism: Literal["plain", "scram-sha-256", "scram-sha-512"]
    """Kafka: how to log in; `plain` by default."""
    region: str
    """Amazon SQS: the region, if the URL does not name it."""


class WebhookEndpointFilters(TypedDict, total=False):
    """Selects the events of a webhook. Events without a chat or message pass."""

    chats: list[str]
    """Only these chats: phone numbers, group ids (`grp_…`, `…@g.us`), or beginnings such as
    `49170*`.
    """
    ignoredChats: list[str]
    """Not these chats, in the same form."""
    chatTypes: list[Literal["direct", "group"]]
    """Only chats of these types."""
    fromMe: bool
    """`true`: only what the session itself did; `false`: only what others did."""
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive"]]
    """Only messages of these types."""


class WebhookEndpoint(TypedDict):
    webhookId: str
    """Id of the webhook (`whk_…`)."""
    isDefault: bool
    """Whether it is the default webhook, which `POST /webhooks/set` manages."""
    webhookUrl: Optional[str]
    """URL that receives events; null if no webhook is set."""
    events: list[str]
    """Event types that the webhook receives, and patterns."""
    hasSecret: bool
    """Whether a secret is set. The secret itself is never returned."""
    enabled: bool
    """Whether events are sent."""
    createdAt: Optional[str]
    """When the webhook was first set; null if none is set."""
    updatedAt: Optional[str]
    """When the webhook was last changed; null if none is set."""
    sessionIds: Optional[list[str]]
    """Sessions whose events it receives; null for all."""
    description: Optional[str]
    """Note for people; null if there is none."""
    metadata: dict[str, str]
    """Your own data, as you set it."""
    destination: WebhookDestination
    credentialNames: list[str]
    """Names of the credentials that are set."""
    filters: Optional[WebhookEndpointFilters]
    """Selection of events; null for all."""
    headerNames: list[str]
    """Names of the headers that deliveries have in addition."""
    timeoutMs: Optional[int]
    """Deadline; null for that of the server."""
    retrySeconds: Optional[list[int]]
    """Seconds before each retry; null for the schedule of the server."""
    paused: bool
    """Whether events are queued but not sent."""
    ordering: Literal["best_effort", "strict"]
    """`strict`: a delivery that failed holds back the later ones of its chat until it succeeds,
    fails for good or is cancelled. `best_effort`, the default: only first attempts keep the
    order.
    """
    include: list[Literal["network", "contact", "chat", "session"]]
    """Groups of fields that are added to `data` of its events."""
    maxInFlight: int
    """Number of deliveries in flight at the same time."""
    secretReadableUntil: Optional[str]
    """Until when a login can read the secret that the server made; null if it cannot."""
    breakerState: Literal["closed", "open", "half_open"]
    """State of the circuit breaker; `open` means that deliveries are held."""


class WebhooksEndpointsListResult(TypedDict):
    data: list[WebhookEndpoint]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class _WebhooksEndpointsCreateDestinationRequired(TypedDict):
    type: Literal["http", "rabbitmq", "nats", "redis", "kafka", "sqs"]
    """How events are sent; `http` by default."""


class WebhooksEndpointsCreateDestination(_WebhooksEndpointsCreateDestinationRequired, total=False):
    """Where events go if not over HTTP. `webhookUrl` is then the address of the broker, such as
    `amqps://example.com/vhost`.
    """

    exchange: str
    """RabbitMQ: the exchange; left out for the default one, where `routingKey` names a queue."""
    routingKey: str
    """RabbitMQ: the routing key."""
    subject: str
    """NATS: a subject of a JetStream stream."""
    stream: str
    """Redis: the key of the stream."""
    maxLength: int
    """Redis: the approximate number of entries to keep; left out for all."""
    topic: str
    """Kafka: the topic. The conversation is the key of a message."""
    saslMechanism: Literal["plain", "scram-sha-256", "scram-sha-512"]
    """Kafka: how to log in; `plain` by default."""
    region: str
    """Amazon SQS: the region, if the URL does not name it."""


class WebhooksEndpointsCreateCredentials(TypedDict, total=False):
    """For the broker: `username` and `password`; NATS: also `token` or `creds`; Amazon SQS:
    `accessKeyId` and `secretAccessKey`. Never returned. A new host removes them.
    """

    username: str
    password: str
    token: str
    creds: str
    accessKeyId: str
    secretAccessKey: str
    sessionToken: str


class WebhooksEndpointsCreateFilters(TypedDict, total=False):
    """Selects the events of a webhook. Events without a chat or message pass."""

    chats: list[str]
    """Only these chats: phone numbers, group ids (`grp_…`, `…@g.us`), or beginnings such as
    `49170*`.
    """
    ignoredChats: list[str]
    """Not these chats, in the same form."""
    chatTypes: list[Literal["direct", "group"]]
    """Only chats of these types."""
    fromMe: bool
    """`true`: only what the session itself did; `false`: only what others did."""
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive"]]
    """Only messages of these types."""


class ChangedWebhookEndpointFilters(TypedDict, total=False):
    """Selects the events of a webhook. Events without a chat or message pass."""

    chats: list[str]
    """Only these chats: phone numbers, group ids (`grp_…`, `…@g.us`), or beginnings such as
    `49170*`.
    """
    ignoredChats: list[str]
    """Not these chats, in the same form."""
    chatTypes: list[Literal["direct", "group"]]
    """Only chats of these types."""
    fromMe: bool
    """`true`: only what the session itself did; `false`: only what others did."""
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive"]]
    """Only messages of these types."""


class ChangedWebhookEndpoint(TypedDict):
    webhookId: str
    """Id of the webhook (`whk_…`)."""
    isDefault: bool
    """Whether it is the default webhook, which `POST /webhooks/set` manages."""
    webhookUrl: Optional[str]
    """URL that receives events; null if no webhook is set."""
    events: list[str]
    """Event types that the webhook receives, and patterns."""
    hasSecret: bool
    """Whether a secret is set. The secret itself is never returned."""
    enabled: bool
    """Whether events are sent."""
    createdAt: Optional[str]
    """When the webhook was first set; null if none is set."""
    updatedAt: Optional[str]
    """When the webhook was last changed; null if none is set."""
    sessionIds: Optional[list[str]]
    """Sessions whose events it receives; null for all."""
    description: Optional[str]
    """Note for people; null if there is none."""
    metadata: dict[str, str]
    """Your own data, as you set it."""
    destination: WebhookDestination
    credentialNames: list[str]
    """Names of the credentials that are set."""
    filters: Optional[ChangedWebhookEndpointFilters]
    """Selection of events; null for all."""
    headerNames: list[str]
    """Names of the headers that deliveries have in addition."""
    timeoutMs: Optional[int]
    """Deadline; null for that of the server."""
    retrySeconds: Optional[list[int]]
    """Seconds before each retry; null for the schedule of the server."""
    paused: bool
    """Whether events are queued but not sent."""
    ordering: Literal["best_effort", "strict"]
    """`strict`: a delivery that failed holds back the later ones of its chat until it succeeds,
    fails for good or is cancelled. `best_effort`, the default: only first attempts keep the
    order.
    """
    include: list[Literal["network", "contact", "chat", "session"]]
    """Groups of fields that are added to `data` of its events."""
    maxInFlight: int
    """Number of deliveries in flight at the same time."""
    secretReadableUntil: Optional[str]
    """Until when a login can read the secret that the server made; null if it cannot."""
    breakerState: Literal["closed", "open", "half_open"]
    """State of the circuit breaker; `open` means that deliveries are held."""
    cancelled: int
    """Number of pending deliveries that the change cancelled, up to 100,000."""
    warnings: list[str]
    """Remarks on the new configuration, as sentences."""


class _WebhooksEndpointsUpdateDestinationRequired(TypedDict):
    type: Literal["http", "rabbitmq", "nats", "redis", "kafka", "sqs"]
    """How events are sent; `http` by default."""


class WebhooksEndpointsUpdateDestination(_WebhooksEndpointsUpdateDestinationRequired, total=False):
    """Where events go if not over HTTP. `webhookUrl` is then the address of the broker, such as
    `amqps://example.com/vhost`.
    """

    exchange: str
    """RabbitMQ: the exchange; left out for the default one, where `routingKey` names a queue."""
    routingKey: str
    """RabbitMQ: the routing key."""
    subject: str
    """NATS: a subject of a JetStream stream."""
    stream: str
    """Redis: the key of the stream."""
    maxLength: int
    """Redis: the approximate number of entries to keep; left out for all."""
    topic: str
    """Kafka: the topic. The conversation is the key of a message."""
    saslMechanism: Literal["plain", "scram-sha-256", "scram-sha-512"]
    """Kafka: how to log in; `plain` by default."""
    region: str
    """Amazon SQS: the region, if the URL does not name it."""


class WebhooksEndpointsUpdateCredentials(TypedDict, total=False):
    """For the broker: `username` and `password`; NATS: also `token` or `creds`; Amazon SQS:
    `accessKeyId` and `secretAccessKey`. Never returned. A new host removes them.
    """

    username: str
    password: str
    token: str
    creds: str
    accessKeyId: str
    secretAccessKey: str
    sessionToken: str


class WebhooksEndpointsUpdateFilters(TypedDict, total=False):
    """Selects the events of a webhook. Events without a chat or message pass."""

    chats: list[str]
    """Only these chats: phone numbers, group ids (`grp_…`, `…@g.us`), or beginnings such as
    `49170*`.
    """
    ignoredChats: list[str]
    """Not these chats, in the same form."""
    chatTypes: list[Literal["direct", "group"]]
    """Only chats of these types."""
    fromMe: bool
    """`true`: only what the session itself did; `false`: only what others did."""
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive"]]
    """Only messages of these types."""


class WebhooksEndpointsDeleteResult(TypedDict):
    webhookId: str
    """Id of the webhook (`whk_…`)."""
    deleted: Literal[True]
    """Always true."""


class _SecretRotationRequired(TypedDict):
    hasSecret: bool
    """Whether a secret is set."""
    previousSecretValidUntil: Optional[str]
    """Until when `webhook-signature` has both signatures; null if it has one."""


class SecretRotation(_SecretRotationRequired, total=False):
    secretUrl: str
    """Page of the dashboard on which a person with a login reads the new secret, for seven days.
    Only its path if `PUBLIC_URL` is not set.
    """


class RevealedSecret(TypedDict):
    secret: str
    """The secret. Set it in the receiver."""
    readableUntil: str
    """Until when it can be read."""


class WebhookTestStage(TypedDict):
    stage: Literal["url", "dns", "connect", "tls", "http", "login", "publish"]
    """Stage of the request: `http` over HTTP, `login` and `publish` at a message broker."""
    result: Literal["ok", "failed", "skipped"]
    """Result of the stage."""
    ms: Optional[int]
    """Duration in milliseconds; null if the stage was not reached."""


class WebhookTestRequest(TypedDict):
    url: str
    """URL of the request."""
    headers: dict[str, str]
    """Headers as sent, signatures included."""
    body: str
    """Body as sent."""


WebhookTest = TypedDict(
    "WebhookTest",
    {
        # Whether the receiver responded with 2xx, or the broker confirmed the message.
        "delivered": bool,
        # Outcome class; `ok` means that the receiver responded with 2xx, or that the broker
        # confirmed the message.
        "class": Literal["ok", "redirect", "client_error", "gone", "throttled", "server_error", "timeout", "dns", "connect", "tls", "reset", "protocol", "blocked_address", "no_socket", "unknown_outcome"],
        # HTTP status of the response; null if there was none.
        "status": Optional[int],
        # Result as a sentence.
        "message": str,
        # Duration of the request in milliseconds.
        "latencyMs": int,
        # Result of each stage, in order: URL, name lookup, connection, TLS, then HTTP, or login and
        # publishing.
        "stages": list[WebhookTestStage],
        # Id of the entry in the delivery log (`dlv_…`).
        "deliveryId": str,
        "request": WebhookTestRequest,
        # First 1 KiB of the response; null if there was none.
        "response": Optional[str],
    },
)


class WebhookStatsWindows1hLatencyMs(TypedDict):
    """Duration of attempts in milliseconds."""

    p50: Optional[int]
    """Median; null without attempts."""
    p95: Optional[int]
    """95th percentile; null without attempts."""
    p99: Optional[int]
    """99th percentile; null without attempts."""


class WebhookStatsWindows1h(TypedDict):
    attempts: int
    """Number of attempts."""
    successRate: Optional[float]
    """Share of attempts that succeeded, from 0 to 1; null without attempts."""
    latencyMs: WebhookStatsWindows1hLatencyMs
    """Duration of attempts in milliseconds."""
    byClass: dict[str, int]
    """Number of attempts by outcome class."""
    byState: dict[str, int]
    """Number of deliveries by final state."""


class WebhookStatsWindows24hLatencyMs(TypedDict):
    """Duration of attempts in milliseconds."""

    p50: Optional[int]
    """Median; null without attempts."""
    p95: Optional[int]
    """95th percentile; null without attempts."""
    p99: Optional[int]
    """99th percentile; null without attempts."""


class WebhookStatsWindows24h(TypedDict):
    attempts: int
    """Number of attempts."""
    successRate: Optional[float]
    """Share of attempts that succeeded, from 0 to 1; null without attempts."""
    latencyMs: WebhookStatsWindows24hLatencyMs
    """Duration of attempts in milliseconds."""
    byClass: dict[str, int]
    """Number of attempts by outcome class."""
    byState: dict[str, int]
    """Number of deliveries by final state."""


class WebhookStatsWindows7dLatencyMs(TypedDict):
    """Duration of attempts in milliseconds."""

    p50: Optional[int]
    """Median; null without attempts."""
    p95: Optional[int]
    """95th percentile; null without attempts."""
    p99: Optional[int]
    """99th percentile; null without attempts."""


class WebhookStatsWindows7d(TypedDict):
    attempts: int
    """Number of attempts."""
    successRate: Optional[float]
    """Share of attempts that succeeded, from 0 to 1; null without attempts."""
    latencyMs: WebhookStatsWindows7dLatencyMs
    """Duration of attempts in milliseconds."""
    byClass: dict[str, int]
    """Number of attempts by outcome class."""
    byState: dict[str, int]
    """Number of deliveries by final state."""


WebhookStatsWindows = TypedDict(
    "WebhookStatsWindows",
    {
        "1h": WebhookStatsWindows1h,
        "24h": WebhookStatsWindows24h,
        "7d": WebhookStatsWindows7d,
    },
)


class WebhookStatsSerie(TypedDict):
    minute: str
    """Start of the minute."""
    attempts: int
    """Number of attempts."""
    delivered: int
    """Number of attempts that succeeded."""
    failedAttempts: int
    """Number of attempts that failed."""
    p95Ms: Optional[int]
    """95th percentile of the duration in milliseconds."""


class WebhookStats(TypedDict):
    pending: int
    """Number of deliveries that are not settled."""
    held: int
    """Number of pending deliveries while the circuit breaker is open or half open."""
    oldestPendingAgeMs: Optional[int]
    """Age of the oldest pending delivery in milliseconds; null if none is pending."""
    windows: WebhookStatsWindows
    """Totals by period."""
    series: list[WebhookStatsSerie]
    """Minutes of the last hour with at least one attempt, oldest first."""


CircuitBreakerLastError = TypedDict(
    "CircuitBreakerLastError",
    {
        # Outcome class; `ok` means that the receiver responded with 2xx, or that the broker
        # confirmed the message.
        "class": Literal["ok", "redirect", "client_error", "gone", "throttled", "server_error", "timeout", "dns", "connect", "tls", "reset", "protocol", "blocked_address", "no_socket", "unknown_outcome"],
        # HTTP status of the response; null if there was none.
        "status": Optional[int],
        # Error as a sentence.
        "message": str,
        # When the attempt failed.
        "at": str,
    },
)


class CircuitBreakerWindow(TypedDict):
    """Recent attempts, which determine the failure rate."""

    seconds: int
    """Length of the window."""
    attempts: int
    """Number of attempts in the window."""
    failures: int
    """Number of failed attempts in the window."""


class CircuitBreakerHeld(TypedDict):
    """Deliveries that wait until the circuit breaker closes."""

    count: int
    """Number of held deliveries."""
    oldestAt: Optional[str]
    """Time of the oldest held delivery; null unless the breaker is open and holds deliveries."""


class CircuitBreakerThresholds(TypedDict):
    """Rules by which the circuit breaker opens and closes."""

    failuresInARow: int
    """Failed attempts in a row that open the circuit breaker."""
    windowSeconds: int
    """Length of the window for the failure rate."""
    windowAttempts: int
    """Minimum attempts in the window before the failure rate applies."""
    windowFailureRate: float
    """Failure rate in the window that opens it, from 0 to 1."""
    successesToClose: int
    """Successful probes in a row that close it."""
    openSeconds: int
    """Length of the first open period, and of every other one in the first part of an outage."""
    steadySeconds: int
    """Length of the first part of an outage. After it, each failed probe doubles the open
    period.
    """
    longestOpenSeconds: int
    """Length of the longest open period."""


CircuitBreakerTransition = TypedDict(
    "CircuitBreakerTransition",
    {
        # When the state changed.
        "at": str,
        # `closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time,
        # as a probe.
        "from": Literal["closed", "open", "half_open"],
        # `closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time,
        # as a probe.
        "to": Literal["closed", "open", "half_open"],
        # Why the state changed.
        "reason": str,
    },
)


class CircuitBreaker(TypedDict):
    state: Literal["closed", "open", "half_open"]
    """`closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time,
    as a probe.
    """
    since: Optional[str]
    """When the circuit breaker entered this state; null if no webhook is set."""
    reason: Optional[str]
    """Why the circuit breaker entered this state."""
    lastError: Optional[CircuitBreakerLastError]
    """Last attempt that failed; null if none has."""
    failuresInARow: int
    """Number of attempts that failed since the last success."""
    window: CircuitBreakerWindow
    """Recent attempts, which determine the failure rate."""
    openUntil: Optional[str]
    """When the open period ends; null if the circuit breaker is not open."""
    nextProbeAt: Optional[str]
    """When the next held delivery goes out as a probe; null unless the breaker is open and holds
    deliveries.
    """
    held: CircuitBreakerHeld
    """Deliveries that wait until the circuit breaker closes."""
    thresholds: CircuitBreakerThresholds
    """Rules by which the circuit breaker opens and closes."""
    transitions: list[CircuitBreakerTransition]
    """Latest changes of the state, newest first. Of several failed probes in a row only the last
    one is listed.
    """


class BreakerReset(TypedDict):
    previousState: Literal["closed", "open", "half_open"]
    """`closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time,
    as a probe.
    """
    state: Literal["closed", "open", "half_open"]
    """`closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time,
    as a probe.
    """
    released: int
    """Number of deliveries that were held and now go out."""


class EventSubscription(TypedDict):
    webhookId: str
    """Id of the webhook (`whk_…`)."""
    subscriptionId: str
    """Id that the client knows (`sub_…`), which deliveries have as `X-MCP-Subscription-Id`."""
    keyId: str
    """API key that subscribed (`key_…`)."""
    webhookUrl: str
    """URL that receives the events."""
    event: str
    """Event type."""
    arguments: dict[str, Any]
    """Arguments that select events, as the client sent them."""
    expiresAt: str
    """When it ends unless the client refreshes it."""
    createdAt: str
    """When the client subscribed."""
    breakerState: Literal["closed", "open", "half_open"]
    """State of the circuit breaker."""


class WebhooksSubscriptionsListResult(TypedDict):
    data: list[EventSubscription]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class WebhooksSubscriptionsDeleteResult(TypedDict):
    webhookId: str
    """Id of the webhook (`whk_…`)."""
    deleted: Literal[True]
    """Always true."""


class _WebhooksSetResultRequired(TypedDict):
    webhookUrl: Optional[str]
    """URL that receives events; null if no webhook is set."""
    events: list[str]
    """Event types that the webhook receives, and patterns."""
    hasSecret: bool
    """Whether a secret is set. The secret itself is never returned."""
    enabled: bool
    """Whether events are sent."""
    createdAt: Optional[str]
    """When the webhook was first set; null if none is set."""
    updatedAt: Optional[str]
    """When the webhook was last changed; null if none is set."""


class WebhooksSetResult(_WebhooksSetResultRequired, total=False):
    secretUrl: str
    """Page of the dashboard on which a person with a login reads the new secret, for seven days.
    Only its path if `PUBLIC_URL` is not set.
    """


class WebhooksGetResultOther(TypedDict):
    webhookId: str
    """Id of the webhook (`whk_…`)."""
    webhookUrl: str
    """URL that receives events."""


class _WebhooksGetResultRequired(TypedDict):
    webhookUrl: Optional[str]
    """URL that receives events; null if no webhook is set."""
    events: list[str]
    """Event types that the webhook receives, and patterns."""
    hasSecret: bool
    """Whether a secret is set. The secret itself is never returned."""
    enabled: bool
    """Whether events are sent."""
    createdAt: Optional[str]
    """When the webhook was first set; null if none is set."""
    updatedAt: Optional[str]
    """When the webhook was last changed; null if none is set."""


class WebhooksGetResult(_WebhooksGetResultRequired, total=False):
    others: list[WebhooksGetResultOther]
    """Webhooks besides the default one; left out if there is none, and with `webhookId`."""


class WebhooksDeleteResult(TypedDict):
    deleted: bool
    """Whether a webhook was removed; false if none was set."""


class Delivery(TypedDict):
    deliveryId: str
    """Id of the delivery (`dlv_…`)."""
    webhookId: str
    """Id of the webhook (`whk_…`) or of the event subscription (`whs_…`)."""
    eventId: str
    """Id of the event (`evt_…`), which receivers get as `X-Webhook-Id`."""
    event: Literal["message.incoming", "message.sent", "message.delivered", "message.read", "session.connected", "session.disconnected", "group.created", "group.updated", "message.reaction", "message.edited", "message.deleted", "message.failed", "message.queued", "message.approval", "poll.vote", "chat.updated", "contact.updated", "presence.updated", "session.status", "group.participants", "call.incoming", "call.ended", "webhook.circuit_opened", "webhook.circuit_closed"]
    """Event type."""
    state: Literal["pending", "delivered", "failed", "expired", "cancelled"]
    """`pending`: not settled yet. `failed`: all attempts failed. `expired`: it was held for too
    long.
    """
    attempts: int
    """Number of attempts so far."""
    lastClass: Optional[Literal["ok", "redirect", "client_error", "gone", "throttled", "server_error", "timeout", "dns", "connect", "tls", "reset", "protocol", "blocked_address", "no_socket", "unknown_outcome"]]
    """Outcome class of the last attempt; null before the first one."""
    lastMessage: Optional[str]
    """Outcome of the last attempt as a sentence; null before the first one."""
    dueAt: Optional[str]
    """When the next attempt is due, unless the circuit breaker holds it; null once settled, and
    while `heldBehind` is set.
    """
    heldBehind: Optional[str]
    """Earlier delivery of the chat (`dlv_…`) for which it waits, at a webhook with `ordering:
    "strict"`; otherwise null.
    """
    messageId: Optional[str]
    """Id of the message that the event is about; null if it is not about one."""
    isTest: bool
    """Whether it is the sample event of a test."""
    createdAt: str
    """When the event happened."""
    settledAt: Optional[str]
    """When the delivery reached its final state; null while it is pending."""


class WebhooksListDeliveriesResult(TypedDict):
    data: list[Delivery]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


DeliveryWithAttemptsAttemptLog = TypedDict(
    "DeliveryWithAttemptsAttemptLog",
    {
        # Number of the attempt, from 1.
        "number": int,
        # Headers of the request, without the signatures, which are not stored. `webhook-id` and
        # `webhook-timestamp` are present if the webhook has a secret now.
        "headers": dict[str, str],
        # Outcome class; `ok` means that the receiver responded with 2xx, or that the broker
        # confirmed the message.
        "class": Literal["ok", "redirect", "client_error", "gone", "throttled", "server_error", "timeout", "dns", "connect", "tls", "reset", "protocol", "blocked_address", "no_socket", "unknown_outcome"],
        # HTTP status of the response; null if there was none.
        "status": Optional[int],
        # Duration of the attempt in milliseconds.
        "durationMs": int,
        # Outcome as a sentence.
        "message": str,
        # First 1 KiB of the response, which can repeat what was sent; null if there was none.
        "response": Optional[str],
        # When the attempt started.
        "at": str,
    },
)


class DeliveryWithAttempts(TypedDict):
    deliveryId: str
    """Id of the delivery (`dlv_…`)."""
    webhookId: str
    """Id of the webhook (`whk_…`) or of the event subscription (`whs_…`)."""
    eventId: str
    """Id of the event (`evt_…`), which receivers get as `X-Webhook-Id`."""
    event: Literal["message.incoming", "message.sent", "message.delivered", "message.read", "session.connected", "session.disconnected", "group.created", "group.updated", "message.reaction", "message.edited", "message.deleted", "message.failed", "message.queued", "message.approval", "poll.vote", "chat.updated", "contact.updated", "presence.updated", "session.status", "group.participants", "call.incoming", "call.ended", "webhook.circuit_opened", "webhook.circuit_closed"]
    """Event type."""
    state: Literal["pending", "delivered", "failed", "expired", "cancelled"]
    """`pending`: not settled yet. `failed`: all attempts failed. `expired`: it was held for too
    long.
    """
    attempts: int
    """Number of attempts so far."""
    lastClass: Optional[Literal["ok", "redirect", "client_error", "gone", "throttled", "server_error", "timeout", "dns", "connect", "tls", "reset", "protocol", "blocked_address", "no_socket", "unknown_outcome"]]
    """Outcome class of the last attempt; null before the first one."""
    lastMessage: Optional[str]
    """Outcome of the last attempt as a sentence; null before the first one."""
    dueAt: Optional[str]
    """When the next attempt is due, unless the circuit breaker holds it; null once settled, and
    while `heldBehind` is set.
    """
    heldBehind: Optional[str]
    """Earlier delivery of the chat (`dlv_…`) for which it waits, at a webhook with `ordering:
    "strict"`; otherwise null.
    """
    messageId: Optional[str]
    """Id of the message that the event is about; null if it is not about one."""
    isTest: bool
    """Whether it is the sample event of a test."""
    createdAt: str
    """When the event happened."""
    settledAt: Optional[str]
    """When the delivery reached its final state; null while it is pending."""
    why: str
    """Why the delivery has or has not arrived, as a sentence."""
    body: str
    """Body as the next attempt would send it. With only `webhooks:metadata`, the content of the
    message is left out.
    """
    attemptLog: list[DeliveryWithAttemptsAttemptLog]
    """Every attempt, oldest first."""


class _WebhooksReplayResultRequired(TypedDict):
    matched: int
    """Number of settled deliveries that match."""
    replayed: int
    """Number of deliveries that are sent again; 0 on a dry run."""
    lastDueAt: Optional[str]
    """When the last of them is due; null if none is sent."""


class WebhooksReplayResult(_WebhooksReplayResultRequired, total=False):
    notFound: list[str]
    """Only with `deliveryIds`: those not selected because they are unknown, still pending,
    tests, of a deleted webhook, or excluded by another filter.
    """


class EventsListResultData(TypedDict):
    eventId: str
    """Id of the event (`evt_…`), which webhooks get as `X-Webhook-Id`."""
    event: Literal["message.incoming", "message.sent", "message.delivered", "message.read", "session.connected", "session.disconnected", "group.created", "group.updated", "message.reaction", "message.edited", "message.deleted", "message.failed", "message.queued", "message.approval", "poll.vote", "chat.updated", "contact.updated", "presence.updated", "session.status", "group.participants", "call.incoming", "call.ended", "webhook.circuit_opened", "webhook.circuit_closed"]
    """Event type."""
    data: dict[str, Any]
    """Data of the event, with all fields that `include` adds at a webhook."""
    createdAt: str
    """When the event happened."""
    sequence: int
    """Greater than that of all earlier events of the same chat; 0 for events of before there
    were sequences.
    """


class EventsListResult(TypedDict):
    data: list[EventsListResultData]
    """Events, oldest first."""
    nextCursor: Optional[str]
    """Pass it as `afterCursor` next time, even if `data` is empty; null if there has never been
    an event.
    """


class EventsTypesResultData(TypedDict):
    event: Literal["message.incoming", "message.sent", "message.delivered", "message.read", "session.connected", "session.disconnected", "group.created", "group.updated", "message.reaction", "message.edited", "message.deleted", "message.failed", "message.queued", "message.approval", "poll.vote", "chat.updated", "contact.updated", "presence.updated", "session.status", "group.participants", "call.incoming", "call.ended", "webhook.circuit_opened", "webhook.circuit_closed"]
    """Event type."""
    description: str
    """Meaning of the event."""
    schema: dict[str, Any]
    """JSON Schema of `data`."""
    example: dict[str, Any]
    """A delivery of the event."""


class EventsTypesResult(TypedDict):
    data: list[EventsTypesResultData]
    """Event types."""
