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


class _MediaRequired(TypedDict):
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


class Media(_MediaRequired, total=False):
    width: int
    """Width in pixels, if it is known."""
    height: int
    """Height in pixels, if it is known."""
    durationSeconds: int
    """Duration in seconds, if it is known."""
    waveform: list[int]
    """Loudness of a voice message over its duration: 64 values."""
    hasThumbnail: Literal[True]
    """Present if apps get a small picture of it before they download it."""
    content: str
    """The content in base64; only if you ask for it, and of up to 1 MiB."""
    thumbnail: str
    """The thumbnail in base64, a small JPEG; only if you ask for it, and if there is one."""


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
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class ApiKeysRevokeResultRemoved(TypedDict):
    """Things that were removed with the key; only with `created=remove`."""

    messages: int
    """Number of messages that were cancelled."""
    webhooks: int
    """Number of webhooks that were removed."""


class _ApiKeysRevokeResultRequired(TypedDict):
    keyId: str
    """Id of the key (`key_…`)."""
    revoked: Literal[True]
    """Always true."""


class ApiKeysRevokeResult(_ApiKeysRevokeResultRequired, total=False):
    removed: ApiKeysRevokeResultRemoved
    """Things that were removed with the key; only with `created=remove`."""


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
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


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
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event"]]
    """Types of messages that its sessions can send."""
    capabilities: Optional[list[Literal["pairing_code", "read_receipts", "typing", "reactions", "edit", "delete_for_everyone", "check_numbers", "block", "groups", "profile", "profiles_of_others", "simulator", "history", "history_on_demand", "history_media", "chat_settings", "labels", "star", "delete_for_me", "pin_message", "disappearing", "group_join_requests", "group_invite_preview", "communities", "group_member_add_mode", "group_disappearing", "delete_for_everyone_as_admin", "own_profile", "privacy", "business_profiles", "linked_devices", "people_lookup", "templates", "number_quality", "business_profile", "preflight", "warm_up", "standing", "own_presence", "presence_of_others", "reject_calls", "status", "channels", "link_previews", "chosen_link_previews", "view_once", "gif", "video_note", "albums", "mention_all", "edit_captions", "vote"]]]
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


class SessionHistory(TypedDict):
    """Import of the history of the phone, which begins when the session is linked."""

    state: Literal["none", "waiting", "importing", "complete", "failed"]
    """`none`: the session imports no history, or the network has none. `waiting`: the phone has
    sent nothing yet. `failed`: a part is missing; `error` says why.
    """
    progress: int
    """Percent, as the phone reports it."""
    messages: int
    """Messages imported so far."""
    chats: int
    """Chats that are new."""
    contacts: int
    """Contacts that are new."""
    error: Optional[str]
    """Why a part is missing, as a sentence; null if nothing failed."""
    updatedAt: Optional[str]
    """When that last changed; null if it never did."""


class SessionNetworkProblem(TypedDict):
    concerns: str
    """The restricted part, such as `phone_number` or `business_account`."""
    message: str
    """The reason, in the network's words."""


class SessionNetworkNotice(TypedDict):
    type: str
    """The network's name of the notice, such as `ACCOUNT_RESTRICTION`."""
    severity: Literal["info", "warning", "critical"]
    """How urgent it is."""
    message: str
    """Text of the notice, as a sentence."""
    at: str
    """When the network sent it."""


class SessionNetwork(TypedDict):
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
    problems: list[SessionNetworkProblem]
    """Restrictions of the number, its account, its business or its app."""
    notices: list[SessionNetworkNotice]
    """Up to ten latest notices about the number or its account."""
    updatedAt: str
    """When the network last reported a change."""


class SessionHealthReason(TypedDict):
    code: str
    """Reason, such as `new_chats`, `pace`, `failures`, `unreachable`, `unanswered`,
    `block_reports`, `spam_limits`, `restricted`, `new_chats_denied`, `network_quota` or
    `quality`.
    """
    risk: Literal["elevated", "high"]
    """How grave the reason is."""
    message: str
    """The reason in words, with its figures."""


class SessionHealthLastDay(TypedDict):
    newChats: int
    """Direct chats that the session started."""
    sent: int
    """Messages that the network accepted."""
    unreachable: int
    """Messages to numbers that the network cannot reach."""
    blockReports: int
    """People who blocked or reported the number, as far as the network tells."""
    spamLimits: int
    """Messages that the network did not deliver, to protect people from unwanted ones."""
    lookUps: int
    """Numbers that the session looked up at the network."""


class SessionHealthLastHour(TypedDict):
    sent: int
    """Messages that the network accepted."""
    failed: int
    """Messages that failed."""
    peakPerMinute: int
    """The most messages within one minute."""


class SessionHealthStartedChats(TypedDict):
    started: int
    """Direct chats that the session started within the last week, and more than a day ago."""
    answered: int
    """Those of them in which the other side has written."""


class SessionHealthNetworkNewChats(TypedDict):
    used: int
    """Chats started."""
    total: int
    """Chats allowed."""


class SessionHealthNetwork(TypedDict):
    noNewChatsUntil: Optional[str]
    """Until when the network allows no new chats; null if it does."""
    newChats: Optional[SessionHealthNetworkNewChats]
    """The network's own quota of new chats; null if it reports none."""


class SessionHealth(TypedDict):
    risk: Literal["low", "elevated", "high"]
    """How likely the network is to ban the number; `elevated` means: slow down."""
    reasons: list[SessionHealthReason]
    """Why the risk is not low, the gravest first."""
    linkedAt: Optional[str]
    """When the session first connected with this number; null if it never did."""
    lastDay: SessionHealthLastDay
    lastHour: SessionHealthLastHour
    startedChats: SessionHealthStartedChats
    network: SessionHealthNetwork


class _SessionRequired(TypedDict):
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
    network: Optional[SessionNetwork]
    """The network's judgment of the number; null if the network has none."""


class Session(_SessionRequired, total=False):
    callTextKeyId: str
    """API key that set the text for callers (`calls.message`); left out for a login."""
    history: SessionHistory
    """Import of the history of the phone, which begins when the session is linked."""
    health: SessionHealth


class SessionsListResult(TypedDict):
    data: list[Session]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class SessionsUpdateResultHistory(TypedDict):
    """Import of the history of the phone, which begins when the session is linked."""

    state: Literal["none", "waiting", "importing", "complete", "failed"]
    """`none`: the session imports no history, or the network has none. `waiting`: the phone has
    sent nothing yet. `failed`: a part is missing; `error` says why.
    """
    progress: int
    """Percent, as the phone reports it."""
    messages: int
    """Messages imported so far."""
    chats: int
    """Chats that are new."""
    contacts: int
    """Contacts that are new."""
    error: Optional[str]
    """Why a part is missing, as a sentence; null if nothing failed."""
    updatedAt: Optional[str]
    """When that last changed; null if it never did."""


class SessionsUpdateResultNetworkProblem(TypedDict):
    concerns: str
    """The restricted part, such as `phone_number` or `business_account`."""
    message: str
    """The reason, in the network's words."""


class SessionsUpdateResultNetworkNotice(TypedDict):
    type: str
    """The network's name of the notice, such as `ACCOUNT_RESTRICTION`."""
    severity: Literal["info", "warning", "critical"]
    """How urgent it is."""
    message: str
    """Text of the notice, as a sentence."""
    at: str
    """When the network sent it."""


class SessionsUpdateResultNetwork(TypedDict):
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
    problems: list[SessionsUpdateResultNetworkProblem]
    """Restrictions of the number, its account, its business or its app."""
    notices: list[SessionsUpdateResultNetworkNotice]
    """Up to ten latest notices about the number or its account."""
    updatedAt: str
    """When the network last reported a change."""


class _SessionsUpdateResultRequired(TypedDict):
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
    network: Optional[SessionsUpdateResultNetwork]
    """The network's judgment of the number; null if the network has none."""


class SessionsUpdateResult(_SessionsUpdateResultRequired, total=False):
    callTextKeyId: str
    """API key that set the text for callers (`calls.message`); left out for a login."""
    history: SessionsUpdateResultHistory
    """Import of the history of the phone, which begins when the session is linked."""
    health: SessionHealth
    warnings: list[str]
    """Sentences that explain why the change has no effect yet; absent if it already has."""


class SessionsDeleteResult(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    deleted: Literal[True]
    """Always true."""


class SessionsUpdateProfileBusiness(TypedDict, total=False):
    """Data of the business that owns the number. An empty text or list removes it."""

    address: str
    """Postal address."""
    description: str
    """Description of the business."""
    email: str
    """Email address for customers."""
    websites: list[str]
    """Up to two http or https URLs."""
    vertical: str
    """The network's name of the trade, such as `RETAIL` or `EDU`."""


class SessionsUpdateProfileResult(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    updated: Literal[True]
    """Always true."""


class OwnProfilePicture(TypedDict):
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


class OwnBusinessProfile(TypedDict):
    address: Optional[str]
    """Postal address; null if there is none."""
    description: Optional[str]
    """Description of the business; null if there is none."""
    email: Optional[str]
    """Email address for customers; null if there is none."""
    websites: list[str]
    """Websites."""
    vertical: Optional[str]
    """The network's name of the trade, such as `RETAIL`; null if there is none."""


class OwnProfile(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    phoneNumber: Optional[str]
    """Phone number digits of the session; null if the network never reported them."""
    name: Optional[str]
    """Name that other people see; null if there is none."""
    about: Optional[str]
    """About text; null if there is none."""
    picture: Optional[OwnProfilePicture]
    """Picture; null if there is none."""
    business: Optional[OwnBusinessProfile]
    """Data of the business; null if the number is not a business, or its network has no such
    data.
    """


class SessionsListDevicesResultData(TypedDict):
    deviceId: int
    """Id of the device; 0 for the phone."""
    phone: bool
    """Whether it is the phone."""
    thisSession: bool
    """Whether it is the device of this session."""
    hosted: bool
    """Whether Meta runs it for a business that uses the Cloud API."""
    keyIndex: Optional[int]
    """Counter that grows with every device that is linked, so the newest has the largest; null
    for the phone.
    """


class SessionsListDevicesResult(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    data: list[SessionsListDevicesResultData]
    """The phone first, then linked devices."""


class Privacy(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    lastSeen: Literal["everyone", "contacts", "contacts_except", "nobody"]
    """People who see when the session was last online. `contacts_except`: all contacts but those
    excluded on the phone.
    """
    online: Literal["everyone", "same_as_last_seen"]
    """People who see that the session is online."""
    profilePicture: Literal["everyone", "contacts", "contacts_except", "nobody"]
    """People who see the profile picture. `contacts_except`: all contacts but those excluded on
    the phone.
    """
    about: Literal["everyone", "contacts", "contacts_except", "nobody"]
    """People who see the about text. `contacts_except`: all contacts but those excluded on the
    phone.
    """
    readReceipts: bool
    """Whether others see that their messages were read."""
    groupAdd: Literal["everyone", "contacts", "contacts_except", "nobody"]
    """People who can add the session to groups. `contacts_except`: all contacts but those
    excluded on the phone.
    """
    calls: Literal["everyone", "known"]
    """People who can call. `known`: only those whom the session knows."""
    disappearingSeconds: int
    """Seconds until messages of new chats disappear; 0 if they stay."""


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
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class SessionsSetPresenceResult(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    presence: Literal["online", "offline"]
    """Whether others see the session as online."""
    until: Optional[str]
    """When the session goes offline by itself; null if it is offline."""


class SessionsSimulateLocationLive(TypedDict, total=False):
    """Makes it a live location, whose position the action `move` changes."""

    accuracyInMeters: float
    """How exact the position is."""
    metersPerSecond: float
    """Speed of the sender."""
    heading: float
    """Degrees clockwise from north."""
    sequence: int
    """Higher than that of the position before."""


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
    live: SessionsSimulateLocationLive
    """Makes it a live location, whose position the action `move` changes."""


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


class SessionsSimulateNewChats(TypedDict):
    """The network's quota of new chats."""

    used: int
    """Chats started."""
    total: int
    """Chats allowed."""


SessionsSimulateHistoryChat = TypedDict(
    "SessionsSimulateHistoryChat",
    {
        # Other person of a direct chat. In international form, such as 491701234567; +, spaces and
        # dashes are ignored.
        "with": str,
        # Address of a group, of your choice, such as `team@sandbox`.
        "group": str,
        # Subject of the group.
        "name": str,
        # Messages that are not read.
        "unreadCount": int,
        # Whether the chat is archived.
        "archived": bool,
        # Whether the chat is pinned.
        "pinned": bool,
        # Until when the chat is muted.
        "mutedUntil": Optional[str],
    },
    total=False,
)


class _SessionsSimulateHistoryContactRequired(TypedDict):
    phoneNumber: str
    """Number of the contact. In international form, such as 491701234567; +, spaces and dashes
    are ignored.
    """


class SessionsSimulateHistoryContact(_SessionsSimulateHistoryContactRequired, total=False):
    """A contact."""

    pushName: str
    """Name that the contact chose."""
    savedName: str
    """Name in the address book."""


class _SessionsSimulateHistoryMessageRequired(TypedDict):
    id: str
    """Id of the message on the network, of your choice."""
    message: str
    """Text of the message."""
    timestamp: str
    """When it was sent."""


_SessionsSimulateHistoryMessageOptional = TypedDict(
    "_SessionsSimulateHistoryMessageOptional",
    {
        # Other person of a direct chat. In international form, such as 491701234567; +, spaces and
        # dashes are ignored.
        "with": str,
        # Address of a group, of your choice, such as `team@sandbox`.
        "group": str,
        # Sender, in a group; by default the session itself. In international form, such as
        # 491701234567; +, spaces and dashes are ignored.
        "from": str,
        # Whether the session sent it, in a direct chat.
        "own": bool,
        # Id of the message that it replies to.
        "replyTo": str,
        # Marks an incoming message as not read.
        "unread": Literal[True],
        # Id of an uploaded file that the message has (`med_…`); null for one that the network no
        # longer has.
        "mediaId": Optional[str],
    },
    total=False,
)


class SessionsSimulateHistoryMessage(_SessionsSimulateHistoryMessageRequired, _SessionsSimulateHistoryMessageOptional):
    """A text or file, in a chat with `with` or `group`."""


class _SessionsSimulateHistoryGenerateRequired(TypedDict):
    messages: int
    """How many messages."""


class SessionsSimulateHistoryGenerate(_SessionsSimulateHistoryGenerateRequired, total=False):
    """Messages to make up, in direct chats."""

    chats: int
    """In how many chats; 10 by default."""


class SessionsSimulateHistory(TypedDict, total=False):
    """The history that the phone passes on; `generate` adds made-up messages."""

    chats: list[SessionsSimulateHistoryChat]
    contacts: list[SessionsSimulateHistoryContact]
    messages: list[SessionsSimulateHistoryMessage]
    generate: SessionsSimulateHistoryGenerate
    """Messages to make up, in direct chats."""


class SessionsSimulateSettings(TypedDict, total=False):
    """Settings of the group that change."""

    announce: bool
    """Only admins can send messages."""
    locked: bool
    """Only admins can change the group."""
    joinApproval: bool
    """Admins approve people who join by link."""
    memberAdd: Literal["admins", "all"]
    """People who can add members."""
    disappearingSeconds: int
    """Seconds until messages disappear; 0 turns this off."""


class _SessionsSimulateBusinessCollectionProductRequired(TypedDict):
    productId: str
    """Id of the product, unique in the catalog."""
    name: str
    """Name of the product."""


class SessionsSimulateBusinessCollectionProduct(_SessionsSimulateBusinessCollectionProductRequired, total=False):
    description: str
    """Description of the product."""
    price: int
    """Price in thousandths of the currency."""
    currency: str
    """Currency (ISO 4217)."""


class SessionsSimulateBusinessCollection(TypedDict):
    name: str
    """Name of the collection."""
    products: list[SessionsSimulateBusinessCollectionProduct]
    """Products of the collection."""


class SessionsSimulateBusiness(TypedDict, total=False):
    """Profile and catalog of the business."""

    description: str
    """Description of the business."""
    category: str
    """Category of the business."""
    address: str
    """Postal address."""
    email: str
    """Email address."""
    websites: list[str]
    """Websites."""
    collections: list[SessionsSimulateBusinessCollection]
    """Collections of the catalog."""


class SessionsSimulateEventLocation(TypedDict, total=False):
    """Where it is."""

    name: str
    """Name of the place."""
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""


class _SessionsSimulateEventRequired(TypedDict):
    startsAt: str
    """When it begins."""


class SessionsSimulateEvent(_SessionsSimulateEventRequired, total=False):
    """Event to send; its name is in `message`."""

    description: str
    """Description of the event."""
    endsAt: str
    """When it ends."""
    location: SessionsSimulateEventLocation
    """Where it is."""
    joinLink: str
    """Link to its call."""
    canceled: bool
    """Whether it was canceled."""


class SessionsSimulateProduct(TypedDict, total=False):
    """Product to send."""

    productId: str
    """The network's id of the product."""
    retailerId: str
    """The seller's own id of the product."""
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


class _SessionsSimulateOrderItemRequired(TypedDict):
    retailerId: str
    """The seller's own id of the product."""
    quantity: float
    """How many of it are ordered."""


class SessionsSimulateOrderItem(_SessionsSimulateOrderItemRequired, total=False):
    price: float
    """Price of one, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""


class SessionsSimulateOrder(TypedDict, total=False):
    """Order to send."""

    orderId: str
    """The network's id of the order."""
    title: str
    """Title of the order."""
    total: float
    """Total price, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""
    items: list[SessionsSimulateOrderItem]
    """The ordered products."""


class _SessionsSimulateGroupInviteRequired(TypedDict):
    networkGroupId: str
    """Address of the group at the network."""
    code: str
    """Code of the invite."""


class SessionsSimulateGroupInvite(_SessionsSimulateGroupInviteRequired, total=False):
    """Invite to a group, to send."""

    subject: str
    """Name of the group."""
    expiresAt: str
    """When it expires."""


class _SessionsSimulateChoiceRequired(TypedDict):
    kind: Literal["button", "list", "template", "form"]
    """Kind of the message that the sender answers."""


class SessionsSimulateChoice(_SessionsSimulateChoiceRequired, total=False):
    """Answers buttons, a list, a template or a form; the title of the choice is in `message`."""

    id: str
    """Id of the choice, which the session gets as `payload`."""
    name: str
    """The network's name of the form."""
    response: str
    """The answers in the form, as JSON."""


class SessionsSimulateResult(TypedDict):
    simulated: Literal["pair", "incoming", "edit", "delete", "react", "vote", "receipt", "disconnect", "logout", "group_create", "group_subject", "group_leave", "presence", "call", "call_end", "chat_update", "rename", "identify", "history", "chat_clear", "chat_delete", "star", "delete_for_me", "pin", "disappearing", "label", "label_delete", "label_assign", "group_join_request", "group_join_withdraw", "group_picture", "group_settings", "community_create", "business_profile", "template_review", "number_update", "own_message", "block_report", "standing", "status", "status_delete", "status_view", "status_react", "channel_create", "channel_post", "event_answer", "move"]
    """Event to simulate; see the description of the operation."""


class Template(TypedDict):
    templateId: str
    """Id of the template at the network."""
    name: str
    """Name of the template. The same in all languages."""
    language: str
    """Language of the template, such as `en_US`."""
    status: str
    """Status at the network, such as `approved`, `pending`, `rejected`, `paused` or `disabled`."""
    category: str
    """Category, such as `marketing`, `utility` or `authentication`."""
    components: list[dict[str, Any]]
    """Header, body, footer and buttons, in the network's format."""
    quality: Optional[Literal["high", "medium", "low", "unknown"]]
    """Quality by the reactions of recipients; null if it was never rated."""
    rejectionReason: Optional[str]
    """Why the network rejected it; null if it did not."""


class TemplatesListResult(TypedDict):
    data: list[Template]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class TemplatesDeleteResult(TypedDict):
    templateId: str
    """Id of the template at the network."""
    deleted: Literal[True]
    """Always true."""


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


class ContactsLookUpResultData(TypedDict):
    phoneNumber: Optional[str]
    """Phone number digits; null if they are not known."""
    lid: Optional[str]
    """LID as `…@lid`; null if it is not known, or the number is not on the network."""


class ContactsLookUpResult(TypedDict):
    data: list[ContactsLookUpResultData]
    """One entry per number, then one per LID."""


class _ContactBusinessProfileHoursDayRequired(TypedDict):
    day: Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    """Day of the week."""
    mode: Literal["hours", "always", "appointment"]
    """`hours`: from `opens` to `closes`; `always`: around the clock; `appointment`: by
    appointment only.
    """


class ContactBusinessProfileHoursDay(_ContactBusinessProfileHoursDayRequired, total=False):
    opens: int
    """Minutes after midnight."""
    closes: int
    """Minutes after midnight."""


class ContactBusinessProfileHours(TypedDict):
    timeZone: Optional[str]
    """Time zone, such as `Europe/Berlin`; null if there is none."""
    days: list[ContactBusinessProfileHoursDay]
    """Days on which it is open."""


class ContactBusinessProfile(TypedDict):
    description: Optional[str]
    """Description; null if there is none."""
    category: Optional[str]
    """Category; null if there is none."""
    address: Optional[str]
    """Postal address; null if there is none."""
    email: Optional[str]
    """Email address; null if there is none."""
    websites: list[str]
    """Websites."""
    hours: Optional[ContactBusinessProfileHours]
    """Opening hours; null if it shows none."""


class ContactsBusinessProfileResult(TypedDict):
    phoneNumber: str
    """Phone number digits of the business."""
    profile: Optional[ContactBusinessProfile]
    """Profile of the business; null if the number is not a business."""


class ContactsCatalogResultData(TypedDict):
    productId: str
    """Id of the product at the network."""
    name: str
    """Name of the product."""
    description: Optional[str]
    """Description; null if there is none."""
    price: Optional[str]
    """Price as a decimal number, such as `12.5`; null if there is none."""
    currency: Optional[str]
    """Currency of the price (ISO 4217); null if there is none."""
    retailerId: Optional[str]
    """The business's own id of the product; null if there is none."""
    url: Optional[str]
    """Page of the product; null if there is none."""
    imageUrl: Optional[str]
    """Address of a picture, which expires; null if there is none."""
    hidden: bool
    """Whether the business hides the product from customers."""


class ContactsCatalogResult(TypedDict):
    phoneNumber: str
    """Phone number digits of the business."""
    data: list[ContactsCatalogResultData]
    """Products of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class ContactsCollectionsResultDataProduct(TypedDict):
    productId: str
    """Id of the product at the network."""
    name: str
    """Name of the product."""
    description: Optional[str]
    """Description; null if there is none."""
    price: Optional[str]
    """Price as a decimal number, such as `12.5`; null if there is none."""
    currency: Optional[str]
    """Currency of the price (ISO 4217); null if there is none."""
    retailerId: Optional[str]
    """The business's own id of the product; null if there is none."""
    url: Optional[str]
    """Page of the product; null if there is none."""
    imageUrl: Optional[str]
    """Address of a picture, which expires; null if there is none."""
    hidden: bool
    """Whether the business hides the product from customers."""


class ContactsCollectionsResultData(TypedDict):
    collectionId: str
    """Id of the collection at the network."""
    name: str
    """Name of the collection."""
    products: list[ContactsCollectionsResultDataProduct]
    """Its products."""


class ContactsCollectionsResult(TypedDict):
    phoneNumber: str
    """Phone number digits of the business."""
    data: list[ContactsCollectionsResultData]
    """Collections."""


class ContactPresence(TypedDict):
    phoneNumber: str
    """Phone number digits of the contact."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    followed: bool
    """Whether the session follows the presence of the contact."""
    presence: Optional[Literal["online", "offline", "typing", "recording", "paused"]]
    """The last report of the network; null if there was none since the session follows the
    contact.
    """
    lastSeen: Optional[str]
    """When the contact was last online; null if the network does not show it."""
    updatedAt: Optional[str]
    """When the network last reported something; null if it never did."""


class _ContactRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the contact."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    name: Optional[str]
    """Name in the address book, or the name that the contact chose; null if neither is known."""
    pushName: Optional[str]
    """Name that the contact chose; null if it is not known."""
    savedName: Optional[str]
    """Name in the address book of the account; null if there is none."""
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
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class _ContactWithIdsRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the contact."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    name: Optional[str]
    """Name in the address book, or the name that the contact chose; null if neither is known."""
    pushName: Optional[str]
    """Name that the contact chose; null if it is not known."""
    savedName: Optional[str]
    """Name in the address book of the account; null if there is none."""
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


class CallsRejectResult(TypedDict):
    callId: str
    """Id of the call."""
    rejected: Literal[True]
    """Always true."""


class _MessagesSendLinkPreviewRequired(TypedDict):
    title: str
    """Title of the page."""


class MessagesSendLinkPreview(_MessagesSendLinkPreviewRequired, total=False):
    """Title, description and picture of the preview."""

    url: str
    """The link; by default the first one in the text, which must contain it."""
    description: str
    """A sentence below the title."""
    image: str
    """Picture of the page: an https URL, or the id of an uploaded image (`med_…`)."""


class _MessageMediaRequired(TypedDict):
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


class MessageMedia(_MessageMediaRequired, total=False):
    available: Literal[False]
    """Present if the file was deleted: its URL answers 404."""
    content: str
    """The content in base64; only if you ask for it, and of up to 1 MiB."""


class MessageLocationLive(TypedDict, total=False):
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
    live: MessageLocationLive
    """Present if the sender shares a position that moves. A later position replaces it in the
    message.
    """


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


class _MessageLinkPreviewRequired(TypedDict):
    url: str
    """The link, as it occurs in the text."""


class MessageLinkPreview(_MessageLinkPreviewRequired, total=False):
    title: str
    """Title of the page."""
    description: str
    """Description of the page."""
    hasImage: Literal[True]
    """Present if a small picture goes out with it."""


class _MessageAlbumRequired(TypedDict):
    albumId: str
    """The same for all files of the album."""


class MessageAlbum(_MessageAlbumRequired, total=False):
    images: int
    """How many images the album has, if it is known."""
    videos: int
    """How many videos the album has, if it is known."""


class MessageEventLocation(TypedDict, total=False):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""
    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""


class MessageEvent(TypedDict, total=False):
    """Only of messages of the type `event`. The name is in `message`."""

    description: str
    """Description of the event."""
    startsAt: str
    """When it begins."""
    endsAt: str
    """When it ends."""
    location: MessageEventLocation
    joinLink: str
    """Link to its call."""
    canceled: Literal[True]
    """Present if it was canceled."""
    extraGuests: Literal[True]
    """Present if guests can bring others."""


class MessageProduct(TypedDict, total=False):
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


class _MessageOrderItemRequired(TypedDict):
    retailerId: str
    """The seller's own id of the product."""
    quantity: float
    """How many of it were ordered."""


class MessageOrderItem(_MessageOrderItemRequired, total=False):
    price: float
    """Price of one, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""


class MessageOrder(TypedDict, total=False):
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
    items: list[MessageOrderItem]
    """The ordered products, if the network tells them."""


class _MessageGroupInviteRequired(TypedDict):
    networkGroupId: str
    """Address of the group at the network."""
    code: str
    """Code of the invite, which is only for the recipient."""


class MessageGroupInvite(_MessageGroupInviteRequired, total=False):
    """Only of messages of the type `group_invite`."""

    subject: str
    """Name of the group."""
    expiresAt: str
    """When the invite expires."""


class _MessageChoiceRequired(TypedDict):
    kind: Literal["button", "list", "template", "form"]
    """Kind of the message that the sender answered."""


class MessageChoice(_MessageChoiceRequired, total=False):
    """Present if the message answers buttons, a list, a template or a form."""

    name: str
    """The network's name of the form."""
    description: str
    """Second line of the chosen row."""
    response: str
    """The answers in the form, as JSON."""


class MessageMediaFacts(TypedDict, total=False):
    """Size, duration and waveform of the file, as far as they are known."""

    width: int
    """Width in pixels, if it is known."""
    height: int
    """Height in pixels, if it is known."""
    durationSeconds: int
    """Duration in seconds, if it is known."""
    waveform: list[int]
    """Loudness of a voice message over its duration: 64 values."""
    hasThumbnail: Literal[True]
    """Present if apps get a small picture of it before they download it."""


class MessageRemoteMedia(TypedDict):
    """File that is still at the network. `POST /messages/{messageId}/media` fetches it, and
    `media` replaces this field.
    """

    mimeType: str
    """Media type of the file, as the sender stated it."""
    size: int
    """Size of the file in bytes, as the sender stated it."""
    fileName: Optional[str]
    """Name of the file; null if there is none."""


MessageVote = TypedDict(
    "MessageVote",
    {
        # Phone number digits of the voter.
        "from": str,
        # Options that the voter chose.
        "options": list[str],
    },
)


MessageAnswer = TypedDict(
    "MessageAnswer",
    {
        # Phone number digits of the person who answered.
        "from": str,
        # Whether the person comes.
        "answer": Literal["going", "not_going", "maybe"],
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


MessageQuoted = TypedDict(
    "MessageQuoted",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Chat of the quoted message.
        "chatId": str,
        # Phone number digits of its sender.
        "from": str,
        # Type of the content.
        "type": Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"],
        # Its text, caption or question.
        "message": str,
    },
)


class MessageToFetch(TypedDict, total=False):
    """URLs that the server fetches once the message is approved; only while it waits."""

    fileUrl: str
    """URL of the file."""
    fileName: str
    """Name of the file that the recipient sees."""
    preview: Literal[True]
    """Present if the first link of the text gets a preview."""
    previewImageUrl: str
    """URL of the image of `linkPreview`."""


class MessagePricing(TypedDict):
    """Price of the message; only if the network has reported it."""

    category: str
    """Category of the price, such as `marketing`, `utility` or `service`."""
    billable: bool
    """Whether the message costs something."""


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
        "type": Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"],
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
    linkPreview: MessageLinkPreview
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
    album: MessageAlbum
    contacts: list[MessageContact]
    """All cards of a message with several. `contact` then has the numbers of all of them."""
    event: MessageEvent
    """Only of messages of the type `event`. The name is in `message`."""
    product: MessageProduct
    """The product that a message shows or is about."""
    order: MessageOrder
    """Only of messages of the type `order`."""
    groupInvite: MessageGroupInvite
    """Only of messages of the type `group_invite`."""
    choice: MessageChoice
    """Present if the message answers buttons, a list, a template or a form."""
    rawType: str
    """The network's name of this kind of message. Only of messages of the type `unsupported`."""
    mediaFacts: MessageMediaFacts
    """Size, duration and waveform of the file, as far as they are known."""
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
    origin: Literal["history"]
    """`history`: the message is from before the session was linked."""
    remoteMedia: MessageRemoteMedia
    """File that is still at the network. `POST /messages/{messageId}/media` fetches it, and
    `media` replaces this field.
    """
    votes: list[MessageVote]
    """Votes on the poll, one entry per voter."""
    answers: list[MessageAnswer]
    """Answers to the event, one per person."""
    reactions: list[MessageReaction]
    """Reactions to the message, one per person."""
    starred: Literal[True]
    """Present if the owner of the session starred the message."""
    pinnedUntil: str
    """Until when the message is pinned in its chat."""
    expiresAt: str
    """When the message disappears from phones. Switchboard keeps it."""
    labelIds: list[str]
    """Ids of its labels (`lbl_…`)."""
    edited: Literal[True]
    """Present if the text was edited after sending."""
    deleted: Literal[True]
    """Present if the message was deleted for everyone; its text is then empty."""
    error: str
    """Why the message failed, as a sentence."""
    approval: MessageApproval
    """Approval of the message; only if its API key needs one."""
    quoted: MessageQuoted
    """The message that `replyTo` quotes, as its recipient will see it; only while the message
    waits for approval.
    """
    previewImage: str
    """Image of the link preview, a JPEG in base64; only while the message waits for approval."""
    createdByKeyId: str
    """API key that sent or scheduled the message (`key_…`); left out for a login."""
    toFetch: MessageToFetch
    """URLs that the server fetches once the message is approved; only while it waits."""
    pricing: MessagePricing
    """Price of the message; only if the network has reported it."""


class MessagesSendEventLocation(TypedDict, total=False):
    """Where it is: a name, coordinates, or both."""

    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""


class _MessagesSendAlbumFileRequired(TypedDict):
    type: Literal["image", "video"]
    """Type in which the file is sent."""


class MessagesSendAlbumFile(_MessagesSendAlbumFileRequired, total=False):
    mediaId: str
    """Id of an uploaded or received file (`med_…`)."""
    url: str
    """https URL of the file."""
    caption: str
    """Text shown below the file."""


class Album(TypedDict):
    albumId: str
    """The same as in `album.albumId` of each message."""
    messages: list[Message]
    """One message per file, in the order of `files`."""


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


class _MessagesPreflightTemplateRequired(TypedDict):
    name: str
    """Name of the template at the network."""


class MessagesPreflightTemplate(_MessagesPreflightTemplateRequired, total=False):
    """The template to send instead of a text."""

    language: str
    """Language of the template, such as `en_US`; without it, the template is not checked
    completely.
    """


class _MessagesPreflightResultResultRequired(TypedDict):
    to: str
    """Recipient as you passed it."""
    chatId: Optional[str]
    """Phone number digits, or the id of the group; null if it is neither."""
    outcome: Literal["ok", "invalid_number", "not_allowed", "restricted", "blocked", "not_on_network", "group_denied", "template_required", "template_unavailable", "confirmation_required", "pending_approval", "limit_near", "limit_reached", "unknown"]
    """`not_allowed`: the API key cannot send to the recipient. `restricted`: the network does
    not let the number of the session send. `blocked`: the session has blocked the contact;
    `message` says whether the network would accept the message. `group_denied`: the session
    is not in the group, or only its admins may write. `template_unavailable`: the template
    does not exist, or is not approved. `confirmation_required`: the API key has to ask its
    user before the message. `pending_approval`: the message would wait for approval.
    `limit_near`: the message would go out, and few more would. `unknown`: it cannot be
    checked now.
    """
    message: str
    """The outcome in words."""


class MessagesPreflightResultResult(_MessagesPreflightResultResultRequired, total=False):
    retryAfterSeconds: int
    """Seconds until the limit allows more."""


class MessagesPreflightResult(TypedDict):
    ok: int
    """Recipients with nothing against the message: those with `ok` or `limit_near`."""
    results: list[MessagesPreflightResultResult]
    """One entry per recipient, in the order of `to`."""


class MessagesListResult(TypedDict):
    data: list[Message]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


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


class _MessageWithHistoryMediaRequired(TypedDict):
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


class MessageWithHistoryMedia(_MessageWithHistoryMediaRequired, total=False):
    available: Literal[False]
    """Present if the file was deleted: its URL answers 404."""
    content: str
    """The content in base64; only if you ask for it, and of up to 1 MiB."""


class MessageWithHistoryLocationLive(TypedDict, total=False):
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
    live: MessageWithHistoryLocationLive
    """Present if the sender shares a position that moves. A later position replaces it in the
    message.
    """


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


class _MessageWithHistoryLinkPreviewRequired(TypedDict):
    url: str
    """The link, as it occurs in the text."""


class MessageWithHistoryLinkPreview(_MessageWithHistoryLinkPreviewRequired, total=False):
    title: str
    """Title of the page."""
    description: str
    """Description of the page."""
    hasImage: Literal[True]
    """Present if a small picture goes out with it."""


class _MessageWithHistoryAlbumRequired(TypedDict):
    albumId: str
    """The same for all files of the album."""


class MessageWithHistoryAlbum(_MessageWithHistoryAlbumRequired, total=False):
    images: int
    """How many images the album has, if it is known."""
    videos: int
    """How many videos the album has, if it is known."""


class MessageWithHistoryEventLocation(TypedDict, total=False):
    latitude: float
    """Degrees north (WGS 84)."""
    longitude: float
    """Degrees east (WGS 84)."""
    name: str
    """Name of the place."""
    address: str
    """Postal address of the place."""


class MessageWithHistoryEvent(TypedDict, total=False):
    """Only of messages of the type `event`. The name is in `message`."""

    description: str
    """Description of the event."""
    startsAt: str
    """When it begins."""
    endsAt: str
    """When it ends."""
    location: MessageWithHistoryEventLocation
    joinLink: str
    """Link to its call."""
    canceled: Literal[True]
    """Present if it was canceled."""
    extraGuests: Literal[True]
    """Present if guests can bring others."""


class MessageWithHistoryProduct(TypedDict, total=False):
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


class _MessageWithHistoryOrderItemRequired(TypedDict):
    retailerId: str
    """The seller's own id of the product."""
    quantity: float
    """How many of it were ordered."""


class MessageWithHistoryOrderItem(_MessageWithHistoryOrderItemRequired, total=False):
    price: float
    """Price of one, in units of the currency."""
    currency: str
    """Currency, such as `EUR`."""


class MessageWithHistoryOrder(TypedDict, total=False):
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
    items: list[MessageWithHistoryOrderItem]
    """The ordered products, if the network tells them."""


class _MessageWithHistoryGroupInviteRequired(TypedDict):
    networkGroupId: str
    """Address of the group at the network."""
    code: str
    """Code of the invite, which is only for the recipient."""


class MessageWithHistoryGroupInvite(_MessageWithHistoryGroupInviteRequired, total=False):
    """Only of messages of the type `group_invite`."""

    subject: str
    """Name of the group."""
    expiresAt: str
    """When the invite expires."""


class _MessageWithHistoryChoiceRequired(TypedDict):
    kind: Literal["button", "list", "template", "form"]
    """Kind of the message that the sender answered."""


class MessageWithHistoryChoice(_MessageWithHistoryChoiceRequired, total=False):
    """Present if the message answers buttons, a list, a template or a form."""

    name: str
    """The network's name of the form."""
    description: str
    """Second line of the chosen row."""
    response: str
    """The answers in the form, as JSON."""


class MessageWithHistoryMediaFacts(TypedDict, total=False):
    """Size, duration and waveform of the file, as far as they are known."""

    width: int
    """Width in pixels, if it is known."""
    height: int
    """Height in pixels, if it is known."""
    durationSeconds: int
    """Duration in seconds, if it is known."""
    waveform: list[int]
    """Loudness of a voice message over its duration: 64 values."""
    hasThumbnail: Literal[True]
    """Present if apps get a small picture of it before they download it."""


class MessageWithHistoryRemoteMedia(TypedDict):
    """File that is still at the network. `POST /messages/{messageId}/media` fetches it, and
    `media` replaces this field.
    """

    mimeType: str
    """Media type of the file, as the sender stated it."""
    size: int
    """Size of the file in bytes, as the sender stated it."""
    fileName: Optional[str]
    """Name of the file; null if there is none."""


MessageWithHistoryVote = TypedDict(
    "MessageWithHistoryVote",
    {
        # Phone number digits of the voter.
        "from": str,
        # Options that the voter chose.
        "options": list[str],
    },
)


MessageWithHistoryAnswer = TypedDict(
    "MessageWithHistoryAnswer",
    {
        # Phone number digits of the person who answered.
        "from": str,
        # Whether the person comes.
        "answer": Literal["going", "not_going", "maybe"],
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


MessageWithHistoryQuoted = TypedDict(
    "MessageWithHistoryQuoted",
    {
        # Id of the message (`msg_…`).
        "messageId": str,
        # Chat of the quoted message.
        "chatId": str,
        # Phone number digits of its sender.
        "from": str,
        # Type of the content.
        "type": Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"],
        # Its text, caption or question.
        "message": str,
    },
)


class MessageWithHistoryToFetch(TypedDict, total=False):
    """URLs that the server fetches once the message is approved; only while it waits."""

    fileUrl: str
    """URL of the file."""
    fileName: str
    """Name of the file that the recipient sees."""
    preview: Literal[True]
    """Present if the first link of the text gets a preview."""
    previewImageUrl: str
    """URL of the image of `linkPreview`."""


class MessageWithHistoryPricing(TypedDict):
    """Price of the message; only if the network has reported it."""

    category: str
    """Category of the price, such as `marketing`, `utility` or `service`."""
    billable: bool
    """Whether the message costs something."""


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
        "type": Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"],
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
    linkPreview: MessageWithHistoryLinkPreview
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
    album: MessageWithHistoryAlbum
    contacts: list[MessageWithHistoryContact]
    """All cards of a message with several. `contact` then has the numbers of all of them."""
    event: MessageWithHistoryEvent
    """Only of messages of the type `event`. The name is in `message`."""
    product: MessageWithHistoryProduct
    """The product that a message shows or is about."""
    order: MessageWithHistoryOrder
    """Only of messages of the type `order`."""
    groupInvite: MessageWithHistoryGroupInvite
    """Only of messages of the type `group_invite`."""
    choice: MessageWithHistoryChoice
    """Present if the message answers buttons, a list, a template or a form."""
    rawType: str
    """The network's name of this kind of message. Only of messages of the type `unsupported`."""
    mediaFacts: MessageWithHistoryMediaFacts
    """Size, duration and waveform of the file, as far as they are known."""
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
    origin: Literal["history"]
    """`history`: the message is from before the session was linked."""
    remoteMedia: MessageWithHistoryRemoteMedia
    """File that is still at the network. `POST /messages/{messageId}/media` fetches it, and
    `media` replaces this field.
    """
    votes: list[MessageWithHistoryVote]
    """Votes on the poll, one entry per voter."""
    answers: list[MessageWithHistoryAnswer]
    """Answers to the event, one per person."""
    reactions: list[MessageWithHistoryReaction]
    """Reactions to the message, one per person."""
    starred: Literal[True]
    """Present if the owner of the session starred the message."""
    pinnedUntil: str
    """Until when the message is pinned in its chat."""
    expiresAt: str
    """When the message disappears from phones. Switchboard keeps it."""
    labelIds: list[str]
    """Ids of its labels (`lbl_…`)."""
    edited: Literal[True]
    """Present if the text was edited after sending."""
    deleted: Literal[True]
    """Present if the message was deleted for everyone; its text is then empty."""
    error: str
    """Why the message failed, as a sentence."""
    approval: MessageWithHistoryApproval
    """Approval of the message; only if its API key needs one."""
    quoted: MessageWithHistoryQuoted
    """The message that `replyTo` quotes, as its recipient will see it; only while the message
    waits for approval.
    """
    previewImage: str
    """Image of the link preview, a JPEG in base64; only while the message waits for approval."""
    createdByKeyId: str
    """API key that sent or scheduled the message (`key_…`); left out for a login."""
    toFetch: MessageWithHistoryToFetch
    """URLs that the server fetches once the message is approved; only while it waits."""
    pricing: MessageWithHistoryPricing
    """Price of the message; only if the network has reported it."""


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
    markedUnread: bool
    """Whether the chat is marked as unread, whatever its messages are."""
    disappearingSeconds: Optional[int]
    """After how many seconds new messages disappear; null if they stay."""
    labelIds: list[str]
    """Ids of its labels (`lbl_…`)."""


class Chat(_ChatRequired, total=False):
    networkChatId: str
    """Address of the chat at the network, such as `491701234567@s.whatsapp.net`."""


class ChatsListResult(TypedDict):
    data: list[Chat]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class _UpdatedChatRequired(TypedDict):
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
    markedUnread: bool
    """Whether the chat is marked as unread, whatever its messages are."""
    disappearingSeconds: Optional[int]
    """After how many seconds new messages disappear; null if they stay."""
    labelIds: list[str]
    """Ids of its labels (`lbl_…`)."""
    synchronized: bool
    """Whether the change was made on the phone as well. `false` if the network does not support
    it or the session is not connected: then it holds only in Switchboard.
    """


class UpdatedChat(_UpdatedChatRequired, total=False):
    networkChatId: str
    """Address of the chat at the network, such as `491701234567@s.whatsapp.net`."""


class ChatsDeleteResult(TypedDict):
    chatId: str
    """Phone number digits of the other person, or the id of the group (`grp_…`)."""
    removed: int
    """Number of messages that were deleted."""
    synchronized: bool
    """Whether the change was made on the phone as well. `false` if the network does not support
    it or the session is not connected: then it holds only in Switchboard.
    """


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


class ChatsRequestHistoryResult(TypedDict):
    chatId: str
    """Id of the chat."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    count: int
    """Number of messages that were asked for."""
    before: str
    """Time of the oldest known message: older ones were asked for."""
    beforeMessageId: str
    """Id of that message (`msg_…`)."""


class ChatsMarkUnreadResult(TypedDict):
    chatId: str
    """Phone number digits of the other person, or the id of the group (`grp_…`)."""
    markedUnread: Literal[True]
    """Always true."""
    synchronized: bool
    """Whether the change was made on the phone as well. `false` if the network does not support
    it or the session is not connected: then it holds only in Switchboard.
    """


class ChatsClearResult(TypedDict):
    chatId: str
    """Phone number digits of the other person, or the id of the group (`grp_…`)."""
    removed: int
    """Number of messages that were deleted."""
    synchronized: bool
    """Whether the change was made on the phone as well. `false` if the network does not support
    it or the session is not connected: then it holds only in Switchboard.
    """


class ChatsAddLabelResult(TypedDict):
    chatId: str
    """Phone number digits of the other person, or the id of the group (`grp_…`)."""
    labelIds: list[str]
    """Ids of its labels (`lbl_…`)."""


class ChatsRemoveLabelResult(TypedDict):
    chatId: str
    """Phone number digits of the other person, or the id of the group (`grp_…`)."""
    labelIds: list[str]
    """Ids of its labels (`lbl_…`)."""


class Label(TypedDict):
    labelId: str
    """Id of the label (`lbl_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    name: str
    """Name of the label; empty until the network has reported it."""
    color: int
    """Index into the palette of the network."""


class LabelsListResult(TypedDict):
    data: list[Label]
    """The labels."""


class LabelsDeleteResult(TypedDict):
    labelId: str
    """Id of the label (`lbl_…`)."""
    deleted: Literal[True]
    """Always true."""


class MediaDeleteResult(TypedDict):
    mediaId: str
    """Id of the file (`med_…`)."""
    deleted: Literal[True]
    """Always true."""


class _StatusMediaRequired(TypedDict):
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


class StatusMedia(_StatusMediaRequired, total=False):
    available: Literal[False]
    """Present if the file was deleted: its URL answers 404."""


_StatusRequired = TypedDict(
    "_StatusRequired",
    {
        # Id of the status (`sts_…`).
        "statusId": str,
        # Id of the session (`ses_…`).
        "sessionId": str,
        # Phone number digits of the person who posted it.
        "from": str,
        # Whether the session's own number posted it.
        "fromMe": bool,
        # Type of the status.
        "type": Literal["text", "image", "video", "voice"],
        # Text, or caption of the file.
        "message": str,
        # `sending`: the network has not confirmed it. If the server stopped meanwhile, it may or
        # may not be visible.
        "state": Literal["sending", "sent", "failed"],
        # Why it could not be posted, as a sentence; null if there was no error.
        "error": Optional[str],
        # How many people have viewed it; 0 for statuses of others.
        "views": int,
        # When it was posted.
        "timestamp": str,
        # When it disappears.
        "expiresAt": str,
        # When the session marked it as viewed; null if it did not.
        "viewedAt": Optional[str],
    },
)


class Status(_StatusRequired, total=False):
    media: StatusMedia
    backgroundColor: str
    """Color behind a text, such as `#1F6F5C`."""
    font: int
    """The network's number of the font of a text."""
    contentHidden: Literal[True]
    """Present if the content is left out because the API key has the permission `metadata` but
    not `read`.
    """


class StatusListResult(TypedDict):
    data: list[Status]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class StatusDeleteResult(TypedDict):
    statusId: str
    """Id of the status (`sts_…`)."""
    deleted: Literal[True]
    """Always true."""


class StatusViewsResultData(TypedDict):
    phoneNumber: str
    """Phone number digits of the person."""
    emoji: Optional[str]
    """Emoji of the reaction; null if there is none."""
    viewedAt: str
    """When the person viewed it."""


class StatusViewsResult(TypedDict):
    data: list[StatusViewsResultData]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class StatusMarkViewedResult(TypedDict):
    statusId: str
    """Id of the status (`sts_…`)."""
    viewedAt: str
    """When it was first marked as viewed."""


class Channel(TypedDict):
    channelId: str
    """Id of the channel (`chn_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    networkChannelId: str
    """Address of the channel on the network, such as `…@newsletter`."""
    name: Optional[str]
    """Name of the channel; null until the network has described it."""
    description: Optional[str]
    """Text that describes the channel; null if there is none."""
    inviteLink: Optional[str]
    """Link by which people find the channel; null if it is unknown."""
    role: Optional[Literal["follower", "admin", "owner"]]
    """Role of the session. Admins and the owner can post. null if the session does not follow
    the channel.
    """
    muted: bool
    """Whether the session has muted the channel."""
    verified: bool
    """Whether the network has verified who owns it."""
    followers: Optional[int]
    """How many people follow it; null if it is unknown."""
    createdAt: Optional[str]
    """When the channel was created; null if it is unknown."""


class ChannelsListResult(TypedDict):
    data: list[Channel]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class ChannelPreview(TypedDict):
    networkChannelId: str
    """Address of the channel on the network, such as `…@newsletter`."""
    name: Optional[str]
    """Name of the channel; null until the network has described it."""
    description: Optional[str]
    """Text that describes the channel; null if there is none."""
    inviteLink: Optional[str]
    """Link by which people find the channel; null if it is unknown."""
    role: Optional[Literal["follower", "admin", "owner"]]
    """Role of the session. Admins and the owner can post. null if the session does not follow
    the channel.
    """
    muted: bool
    """Whether the session has muted the channel."""
    verified: bool
    """Whether the network has verified who owns it."""
    followers: Optional[int]
    """How many people follow it; null if it is unknown."""
    createdAt: Optional[str]
    """When the channel was created; null if it is unknown."""


class ChannelsRefreshResult(TypedDict):
    sessionId: str
    """Id of the session (`ses_…`)."""
    channels: int
    """How many channels the session owns or follows."""


class _ChannelPostMediaRequired(TypedDict):
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


class ChannelPostMedia(_ChannelPostMediaRequired, total=False):
    available: Literal[False]
    """Present if the file was deleted: its URL answers 404."""


class _ChannelPostRequired(TypedDict):
    postId: str
    """Id of the post (`pst_…`)."""
    channelId: str
    """Id of the channel (`chn_…`)."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    fromMe: bool
    """Whether it was posted with this API."""
    type: Literal["text", "image", "video"]
    """Type of the post."""
    message: str
    """Text, or caption of the file."""
    state: Literal["sending", "sent", "failed"]
    """`sending`: the network has not confirmed it. If the server stopped meanwhile, it may or
    may not be visible.
    """
    error: Optional[str]
    """Why it could not be posted, as a sentence; null if there was no error."""
    views: Optional[int]
    """How many people have seen it, as last reported; null if it is unknown."""
    reactions: dict[str, int]
    """How many people reacted with each emoji, as last reported."""
    timestamp: str
    """When it was posted."""


class ChannelPost(_ChannelPostRequired, total=False):
    media: ChannelPostMedia
    contentHidden: Literal[True]
    """Present if the content is left out because the API key has the permission `metadata` but
    not `read`.
    """


class ChannelsMessagesResult(TypedDict):
    data: list[ChannelPost]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class ChannelsRefreshMessagesResult(TypedDict):
    channelId: str
    """Id of the channel (`chn_…`)."""
    posts: int
    """How many posts the network returned."""


class ChannelsReactResult(TypedDict):
    postId: str
    """Id of the post (`pst_…`)."""
    emoji: Optional[str]
    """The reaction; null if it was removed."""


class _GroupParticipantRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the participant."""
    role: Literal["member", "admin", "owner"]
    """`admin` and `owner` can change the group and its participants."""


class GroupParticipant(_GroupParticipantRequired, total=False):
    name: str
    """Name of the person, if it is known: as saved on the phone, or as the person chose."""


class _GroupSettingsRequired(TypedDict):
    announce: bool
    """Only admins can send messages."""
    locked: bool
    """Only admins can change subject, description and picture."""
    joinApproval: bool
    """An admin must approve people who join with the invite link."""


class GroupSettings(_GroupSettingsRequired, total=False):
    memberAdd: Literal["admins", "all"]
    """People who can add members, if it is known."""
    disappearingSeconds: int
    """Seconds until messages disappear, if it is known; 0 if they stay."""


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
    isCommunity: Literal[True]
    """Present if it is a community."""
    communityId: str
    """Id of its community (`grp_…`), if the session is a member of it."""
    isAnnouncementGroup: Literal[True]
    """Present if it is the group of its community in which only admins write."""


class GroupsListResult(TypedDict):
    data: list[Group]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class GroupsUpdateSettings(TypedDict, total=False):
    """Settings to change."""

    announce: bool
    """Only admins can send messages."""
    locked: bool
    """Only admins can change the group."""
    joinApproval: bool
    """Admins approve people who join by link."""
    memberAdd: Literal["admins", "all"]
    """People who can add members."""
    disappearingSeconds: int
    """Seconds until messages disappear: 86400, 604800 or 7776000; 0 turns this off."""


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


class _InvitePreviewRequired(TypedDict):
    networkGroupId: str
    """Address of the group at the network, such as `…@g.us`."""
    subject: str
    """Name of the group."""
    description: Optional[str]
    """Text that describes the group; null if there is none."""
    size: Optional[int]
    """Number of members; null if the network does not report it."""
    createdBy: Optional[str]
    """Phone number digits of its creator; null if they are not known."""
    createdAt: Optional[str]
    """When the group was created; null if it is not known."""
    joinApproval: bool
    """An admin must approve people who join with the invite link."""


class InvitePreview(_InvitePreviewRequired, total=False):
    isCommunity: Literal[True]
    """Present if it is a community."""


class _GroupsListJoinRequestsResultDataRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the person."""


class GroupsListJoinRequestsResultData(_GroupsListJoinRequestsResultDataRequired, total=False):
    unidentified: Literal[True]
    """Present if the person hides the number: `phoneNumber` is then a placeholder."""
    requestedAt: str
    """When the person asked, if the network reports it."""
    method: Literal["invite_link", "member", "community"]
    """How the person asked, if the network reports it. `member`: a member proposed the person."""


class GroupsListJoinRequestsResult(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    data: list[GroupsListJoinRequestsResultData]
    """People who wait."""


class _GroupsApproveJoinRequestsResultResultRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the person."""
    ok: bool
    """Whether the request was decided."""


class GroupsApproveJoinRequestsResultResult(_GroupsApproveJoinRequestsResultResultRequired, total=False):
    reason: str
    """Why it was not."""


class GroupsApproveJoinRequestsResult(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    results: list[GroupsApproveJoinRequestsResultResult]
    """One entry per number."""


class _GroupsRejectJoinRequestsResultResultRequired(TypedDict):
    phoneNumber: str
    """Phone number digits of the person."""
    ok: bool
    """Whether the request was decided."""


class GroupsRejectJoinRequestsResultResult(_GroupsRejectJoinRequestsResultResultRequired, total=False):
    reason: str
    """Why it was not."""


class GroupsRejectJoinRequestsResult(TypedDict):
    groupId: str
    """Id of the group (`grp_…`)."""
    results: list[GroupsRejectJoinRequestsResultResult]
    """One entry per number."""


class CommunitiesListResult(TypedDict):
    data: list[Group]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


class CommunitiesListGroupsResultData(TypedDict):
    groupId: Optional[str]
    """Id of the group (`grp_…`); null if the session is not a member."""
    networkGroupId: str
    """Address of the group at the network, such as `…@g.us`."""
    subject: str
    """Name of the group."""
    size: Optional[int]
    """Number of members; null if the network does not report it."""


class CommunitiesListGroupsResult(TypedDict):
    communityId: str
    """Id of the community: a group (`grp_…`) with `isCommunity`."""
    sessionId: str
    """Id of the session (`ses_…`)."""
    data: list[CommunitiesListGroupsResultData]
    """Groups of the community."""


class CommunitiesLinkGroupResult(TypedDict):
    communityId: str
    """Id of the community: a group (`grp_…`) with `isCommunity`."""
    groupId: str
    """Id of the group (`grp_…`)."""
    linked: Literal[True]
    """Always true."""


class CommunitiesUnlinkGroupResult(TypedDict):
    communityId: str
    """Id of the community: a group (`grp_…`) with `isCommunity`."""
    groupId: str
    """Id of the group (`grp_…`)."""
    unlinked: Literal[True]
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
    """Only these chats: phone numbers, ids of groups (`grp_…`, `…@g.us`) and channels (`chn_…`),
    or beginnings such as `49170*`.
    """
    ignoredChats: list[str]
    """Not these chats, in the same form."""
    chatTypes: list[Literal["direct", "group", "channel"]]
    """Only chats of these types."""
    fromMe: bool
    """`true`: only what the session itself did; `false`: only what others did."""
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"]]
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
    acceptRedirects: bool
    """Whether 302 and 303 count as delivered."""
    retrySeconds: Optional[list[int]]
    """Seconds before each retry; null for the schedule of the server."""
    paused: bool
    """Whether events are queued but not sent."""
    pausedReason: Optional[str]
    """Reason why the server paused it; null if a caller did, or if it is not paused."""
    ordering: Literal["best_effort", "strict"]
    """`strict`: a delivery that failed holds back the later ones of its chat until it succeeds,
    fails for good or is cancelled. `best_effort`, the default: only first attempts keep the
    order.
    """
    include: list[Literal["network", "contact", "chat", "session"]]
    """Groups of fields that are added to `data` of its events."""
    maxInFlight: int
    """Number of deliveries in flight at the same time."""
    setByKeyId: Optional[str]
    """API key that created the webhook, or the last one that changed where it sends; null for a
    login.
    """
    secretReadableUntil: Optional[str]
    """Until when a login can read the secret that the server made; null if it cannot."""
    breakerState: Literal["closed", "open", "half_open"]
    """State of the circuit breaker; `open` means that deliveries are held."""


class WebhooksEndpointsListResult(TypedDict):
    data: list[WebhookEndpoint]
    """Entries of this page."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


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
    """Only these chats: phone numbers, ids of groups (`grp_…`, `…@g.us`) and channels (`chn_…`),
    or beginnings such as `49170*`.
    """
    ignoredChats: list[str]
    """Not these chats, in the same form."""
    chatTypes: list[Literal["direct", "group", "channel"]]
    """Only chats of these types."""
    fromMe: bool
    """`true`: only what the session itself did; `false`: only what others did."""
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"]]
    """Only messages of these types."""


class ChangedWebhookEndpointFilters(TypedDict, total=False):
    """Selects the events of a webhook. Events without a chat or message pass."""

    chats: list[str]
    """Only these chats: phone numbers, ids of groups (`grp_…`, `…@g.us`) and channels (`chn_…`),
    or beginnings such as `49170*`.
    """
    ignoredChats: list[str]
    """Not these chats, in the same form."""
    chatTypes: list[Literal["direct", "group", "channel"]]
    """Only chats of these types."""
    fromMe: bool
    """`true`: only what the session itself did; `false`: only what others did."""
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"]]
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
    acceptRedirects: bool
    """Whether 302 and 303 count as delivered."""
    retrySeconds: Optional[list[int]]
    """Seconds before each retry; null for the schedule of the server."""
    paused: bool
    """Whether events are queued but not sent."""
    pausedReason: Optional[str]
    """Reason why the server paused it; null if a caller did, or if it is not paused."""
    ordering: Literal["best_effort", "strict"]
    """`strict`: a delivery that failed holds back the later ones of its chat until it succeeds,
    fails for good or is cancelled. `best_effort`, the default: only first attempts keep the
    order.
    """
    include: list[Literal["network", "contact", "chat", "session"]]
    """Groups of fields that are added to `data` of its events."""
    maxInFlight: int
    """Number of deliveries in flight at the same time."""
    setByKeyId: Optional[str]
    """API key that created the webhook, or the last one that changed where it sends; null for a
    login.
    """
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
    """Only these chats: phone numbers, ids of groups (`grp_…`, `…@g.us`) and channels (`chn_…`),
    or beginnings such as `49170*`.
    """
    ignoredChats: list[str]
    """Not these chats, in the same form."""
    chatTypes: list[Literal["direct", "group", "channel"]]
    """Only chats of these types."""
    fromMe: bool
    """`true`: only what the session itself did; `false`: only what others did."""
    messageTypes: list[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"]]
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
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


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
    cancelled: int
    """Number of pending deliveries that the change cancelled, up to 100,000."""
    warnings: list[str]
    """Remarks on the new configuration, as sentences."""


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
    event: Literal["message.incoming", "message.sent", "message.delivered", "message.read", "session.connected", "session.disconnected", "group.created", "group.updated", "message.reaction", "message.edited", "message.deleted", "message.failed", "message.queued", "message.approval", "poll.vote", "message.location", "event.answer", "chat.updated", "chat.removed", "message.removed", "message.marked", "message.pinned", "label.updated", "contact.updated", "presence.updated", "session.status", "session.history", "session.updated", "template.updated", "group.participants", "group.join_request", "call.incoming", "call.ended", "status.received", "status.deleted", "status.viewed", "channel.message", "webhook.circuit_opened", "webhook.circuit_closed"]
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
    """Pass it as `cursor` to get the next page; null on the last page. In a filtered list, a
    page can be short or empty even if more pages follow.
    """


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
    event: Literal["message.incoming", "message.sent", "message.delivered", "message.read", "session.connected", "session.disconnected", "group.created", "group.updated", "message.reaction", "message.edited", "message.deleted", "message.failed", "message.queued", "message.approval", "poll.vote", "message.location", "event.answer", "chat.updated", "chat.removed", "message.removed", "message.marked", "message.pinned", "label.updated", "contact.updated", "presence.updated", "session.status", "session.history", "session.updated", "template.updated", "group.participants", "group.join_request", "call.incoming", "call.ended", "status.received", "status.deleted", "status.viewed", "channel.message", "webhook.circuit_opened", "webhook.circuit_closed"]
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
    event: Literal["message.incoming", "message.sent", "message.delivered", "message.read", "session.connected", "session.disconnected", "group.created", "group.updated", "message.reaction", "message.edited", "message.deleted", "message.failed", "message.queued", "message.approval", "poll.vote", "message.location", "event.answer", "chat.updated", "chat.removed", "message.removed", "message.marked", "message.pinned", "label.updated", "contact.updated", "presence.updated", "session.status", "session.history", "session.updated", "template.updated", "group.participants", "group.join_request", "call.incoming", "call.ended", "status.received", "status.deleted", "status.viewed", "channel.message", "webhook.circuit_opened", "webhook.circuit_closed"]
    """Event type."""
    data: dict[str, Any]
    """Data of the event, with all fields that `include` adds at a webhook."""
    createdAt: str
    """When the event happened."""
    sequence: int
    """Greater than that of all earlier events of the same chat; 0 for events stored before
    sequences existed.
    """


class _EventsListResultRequired(TypedDict):
    data: list[EventsListResultData]
    """Events, oldest first."""
    nextCursor: Optional[str]
    """Pass it as `afterCursor` next time, even if `data` is empty: with `events` or a key of
    some sessions, a page can be short or empty even if more events follow. Null if there has
    never been an event.
    """


class EventsListResult(_EventsListResultRequired, total=False):
    truncated: Literal[True]
    """Present if the server was restored from a backup or failed over since `afterCursor`.
    Events after it may be gone, and `data` starts shortly before the restore, so it can
    repeat events.
    """


class EventsTypesResultData(TypedDict):
    event: Literal["message.incoming", "message.sent", "message.delivered", "message.read", "session.connected", "session.disconnected", "group.created", "group.updated", "message.reaction", "message.edited", "message.deleted", "message.failed", "message.queued", "message.approval", "poll.vote", "message.location", "event.answer", "chat.updated", "chat.removed", "message.removed", "message.marked", "message.pinned", "label.updated", "contact.updated", "presence.updated", "session.status", "session.history", "session.updated", "template.updated", "group.participants", "group.join_request", "call.incoming", "call.ended", "status.received", "status.deleted", "status.viewed", "channel.message", "webhook.circuit_opened", "webhook.circuit_closed"]
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
