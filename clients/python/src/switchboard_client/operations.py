# Generated from openapi.json by `npm run openapi`. Do not edit.
"""The operations of the API, with a class for each resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Optional, Union

from ._transport import UNSET, Transport, Unset, quote
from .models import (
    Album,
    ApiKey,
    ApiKeysListCallsResult,
    ApiKeysListResult,
    ApiKeysRevokeResult,
    AuthForgetLoginResult,
    AuthLogoutResult,
    AuthMeResult,
    BreakerReset,
    CallsRejectResult,
    ChangedWebhookEndpoint,
    Channel,
    ChannelPost,
    ChannelPreview,
    ChannelsListResult,
    ChannelsMessagesResult,
    ChannelsReactResult,
    ChannelsRefreshMessagesResult,
    ChannelsRefreshResult,
    Chat,
    ChatsAddLabelResult,
    ChatsClearResult,
    ChatsDeleteResult,
    ChatsListResult,
    ChatsMarkReadResult,
    ChatsMarkUnreadResult,
    ChatsRemoveLabelResult,
    ChatsRequestHistoryResult,
    ChatsSetTypingResult,
    CircuitBreaker,
    CommunitiesLinkGroupResult,
    CommunitiesListGroupsResult,
    CommunitiesListResult,
    CommunitiesUnlinkGroupResult,
    ConnectionRequest,
    ConnectionsApproveResult,
    ConnectionsDenyResult,
    ConnectorsListResult,
    Contact,
    ContactPresence,
    ContactWithIds,
    ContactsBusinessProfileResult,
    ContactsCatalogResult,
    ContactsCatalogResultData,
    ContactsCheckResult,
    ContactsCollectionsResult,
    ContactsListResult,
    ContactsLookUpResult,
    Delivery,
    DeliveryWithAttempts,
    EventSubscription,
    EventsListResult,
    EventsTypesResult,
    Group,
    GroupInvite,
    GroupsApproveJoinRequestsResult,
    GroupsJoinResult,
    GroupsLeaveResult,
    GroupsListJoinRequestsResult,
    GroupsListResult,
    GroupsRejectJoinRequestsResult,
    GroupsUpdateParticipantsResult,
    GroupsUpdateSettings,
    InvitePreview,
    Label,
    LabelsDeleteResult,
    LabelsListResult,
    Login,
    Media,
    MediaDeleteResult,
    Message,
    MessageStats,
    MessageWithHistory,
    MessagesListResult,
    MessagesPreflightResult,
    MessagesPreflightTemplate,
    MessagesSendAlbumFile,
    MessagesSendBulkResult,
    MessagesSendEventLocation,
    MessagesSendInteractiveButton,
    MessagesSendInteractiveLink,
    MessagesSendInteractiveList,
    MessagesSendLinkPreview,
    NewApiKey,
    OwnProfile,
    Privacy,
    Profile,
    RevealedSecret,
    SecretRotation,
    Session,
    SessionsDeleteResult,
    SessionsGetQrResult,
    SessionsHistoryResult,
    SessionsHistoryResultData,
    SessionsListDevicesResult,
    SessionsListResult,
    SessionsRequestPairingCodeResult,
    SessionsSetPresenceResult,
    SessionsSimulateBusiness,
    SessionsSimulateChoice,
    SessionsSimulateContact,
    SessionsSimulateEvent,
    SessionsSimulateGroupInvite,
    SessionsSimulateHistory,
    SessionsSimulateLocation,
    SessionsSimulateNewChats,
    SessionsSimulateOrder,
    SessionsSimulatePoll,
    SessionsSimulateProduct,
    SessionsSimulateResult,
    SessionsSimulateSettings,
    SessionsUpdateProfileBusiness,
    SessionsUpdateProfileResult,
    SessionsUpdateResult,
    Status,
    StatusDeleteResult,
    StatusListResult,
    StatusMarkViewedResult,
    StatusViewsResult,
    StatusViewsResultData,
    Template,
    TemplatesDeleteResult,
    TemplatesListResult,
    ToolCall,
    UpdatedChat,
    WebhookEndpoint,
    WebhookStats,
    WebhookTest,
    WebhooksDeleteResult,
    WebhooksEndpointsCreateCredentials,
    WebhooksEndpointsCreateDestination,
    WebhooksEndpointsCreateFilters,
    WebhooksEndpointsDeleteResult,
    WebhooksEndpointsListResult,
    WebhooksEndpointsUpdateCredentials,
    WebhooksEndpointsUpdateDestination,
    WebhooksEndpointsUpdateFilters,
    WebhooksGetResult,
    WebhooksListDeliveriesResult,
    WebhooksReplayResult,
    WebhooksSetResult,
    WebhooksSubscriptionsDeleteResult,
    WebhooksSubscriptionsListResult,
)


class AuthResource:
    """Register, log in and manage the account."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def register(
        self,
        *,
        email: str,
        password: str,
        name: Optional[str] = None,
    ) -> Login:
        """Register an account.

        Create an account and log in. Returns a login token, with which you can create API
        keys. Fails with `registration_closed` if the server accepts no new accounts.

        Requires no credential.

        :param email: Email address, such as you@example.com. Case does not matter.
        :param password: 10 to 256 characters. Must not be the email address or a common
            password.
        :param name: Name of the account, such as that of your company. Only you see it.
        """
        result: Login = self._transport.call(
            "POST",
            "/auth/register",
            body={
                "email": email,
                "password": password,
                "name": UNSET if name is None else name,
            },
        )
        return result

    def login(
        self,
        *,
        email: str,
        password: str,
    ) -> Login:
        """Log in.

        Exchange the email address and the password for a login token. Failed logins are
        limited per account and address.

        Requires no credential.

        :param email: Email address, such as you@example.com. Case does not matter.
        :param password: Password of the account.
        """
        result: Login = self._transport.call(
            "POST",
            "/auth/login",
            body={
                "email": email,
                "password": password,
            },
        )
        return result

    def forget_login(self) -> AuthForgetLoginResult:
        """Log out in this browser.

        Delete the login cookie of the dashboard. Login tokens keep working; `auth.logout`
        revokes them.

        Requires no credential.
        """
        result: AuthForgetLoginResult = self._transport.call(
            "POST",
            "/auth/forget-login",
            body={},
        )
        return result

    def logout(self) -> AuthLogoutResult:
        """Log out everywhere.

        Revoke all login tokens of the account, on all devices. API keys keep working.

        Requires a login token; API keys are refused.
        """
        result: AuthLogoutResult = self._transport.call(
            "POST",
            "/auth/logout",
            body={},
        )
        return result

    def me(self) -> AuthMeResult:
        """Get the account and the credential.

        Get the account, and the permissions of the credential that you send, with the limits
        of a key. Use it to check a credential.
        """
        result: AuthMeResult = self._transport.call(
            "GET",
            "/auth/me",
            repeatable=True,
        )
        return result

    def change_password(
        self,
        *,
        current_password: str,
        new_password: str,
    ) -> Login:
        """Change the password.

        Change the password of the account. Revokes all login tokens and returns a new one.
        API keys keep working.

        Requires a login token; API keys are refused.

        :param current_password: Current password, as a check.
        :param new_password: 10 to 256 characters. Must not be the email address or a common
            password.
        """
        result: Login = self._transport.call(
            "POST",
            "/auth/password",
            body={
                "currentPassword": current_password,
                "newPassword": new_password,
            },
        )
        return result


class ApiKeysResource:
    """Create keys for programs, with the permissions that they need."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        *,
        name: str,
        permissions: Optional[Sequence[str]] = None,
        expires_at: Union[Optional[str], Unset] = UNSET,
        session_ids: Union[Optional[Sequence[str]], Unset] = UNSET,
        allowed_ips: Union[Optional[Sequence[str]], Unset] = UNSET,
        allowed_recipients: Union[Optional[Sequence[str]], Unset] = UNSET,
        send_quota: Union[Optional[int], Unset] = UNSET,
        confirm: Union[Optional[Sequence[Literal["destructive", "new_recipients"]]], Unset] = UNSET,
        requires_approval: Optional[bool] = None,
    ) -> NewApiKey:
        """Create an API key.

        Create a key for a program or an agent. The key is returned once and cannot be read
        again. Grant only the permissions that the program needs; the default is `["*"]`. You
        cannot grant permissions that you do not have.

        Requires a login token; API keys are refused.

        :param name: Label for the key, such as `my integration`.
        :param permissions: Permissions of the key: `*` for everything, `*:read` for
            reading, `messages:*` for a resource, or `messages:send` for one action.
        :param expires_at: When the key stops working; null for never.
        :param session_ids: Only these sessions and what belongs to them; `null` for all,
            which is the default.
        :param allowed_ips: Only from these networks, such as `203.0.113.0/24` or
            `2001:db8::/32`, or single addresses; `null` for all.
        :param allowed_recipients: Sends only to these phone numbers, groups (`grp_…`,
            `…@g.us`) and numbers that begin with digits (`49170*`); `null` for all.
        :param send_quota: Sends at most this many messages per day (UTC); `null` for any
            number.
        :param confirm: Asks the user over MCP before these calls: `destructive` ones, and
            the first message to `new_recipients`. Over REST they are refused. `null` never
            asks.
        :param requires_approval: true holds every message until it is approved; false by
            default.
        """
        result: NewApiKey = self._transport.call(
            "POST",
            "/api-keys/create",
            body={
                "name": name,
                "permissions": UNSET if permissions is None else permissions,
                "expiresAt": expires_at,
                "sessionIds": session_ids,
                "allowedIps": allowed_ips,
                "allowedRecipients": allowed_recipients,
                "sendQuota": send_quota,
                "confirm": confirm,
                "requiresApproval": UNSET if requires_approval is None else requires_approval,
            },
        )
        return result

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ApiKeysListResult:
        """List API keys.

        List the account's API keys and connected apps with their permissions and last use,
        newest first. The keys themselves are never returned.

        Requires the permission `account:read`.

        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: ApiKeysListResult = self._transport.call(
            "GET",
            "/api-keys",
            query={
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        limit: Optional[int] = None,
    ) -> Iterator[ApiKey]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def update(
        self,
        key_id: str,
        *,
        name: Optional[str] = None,
        permissions: Optional[Sequence[str]] = None,
        expires_at: Union[Optional[str], Unset] = UNSET,
        session_ids: Union[Optional[Sequence[str]], Unset] = UNSET,
        allowed_ips: Union[Optional[Sequence[str]], Unset] = UNSET,
        allowed_recipients: Union[Optional[Sequence[str]], Unset] = UNSET,
        send_quota: Union[Optional[int], Unset] = UNSET,
        confirm: Union[Optional[Sequence[Literal["destructive", "new_recipients"]]], Unset] = UNSET,
        requires_approval: Optional[bool] = None,
    ) -> ApiKey:
        """Update an API key.

        Change the name, the permissions, the expiry or the limits of a key. Fields that you
        leave out do not change. The change applies at once, and ends the streams of a key
        whose limits it changes.

        Requires a login token; API keys are refused.

        :param key_id: Id of the key (`key_…`).
        :param name: Label for the key, such as `my integration`.
        :param permissions: Permissions of the key: `*` for everything, `*:read` for
            reading, `messages:*` for a resource, or `messages:send` for one action.
        :param expires_at: When the key stops working; null for never.
        :param session_ids: Only these sessions and what belongs to them; `null` for all,
            which is the default.
        :param allowed_ips: Only from these networks, such as `203.0.113.0/24` or
            `2001:db8::/32`, or single addresses; `null` for all.
        :param allowed_recipients: Sends only to these phone numbers, groups (`grp_…`,
            `…@g.us`) and numbers that begin with digits (`49170*`); `null` for all.
        :param send_quota: Sends at most this many messages per day (UTC); `null` for any
            number.
        :param confirm: Asks the user over MCP before these calls: `destructive` ones, and
            the first message to `new_recipients`. Over REST they are refused. `null` never
            asks.
        :param requires_approval: true holds every message until it is approved; false by
            default.
        """
        result: ApiKey = self._transport.call(
            "PATCH",
            f"/api-keys/{quote(key_id)}",
            body={
                "name": UNSET if name is None else name,
                "permissions": UNSET if permissions is None else permissions,
                "expiresAt": expires_at,
                "sessionIds": session_ids,
                "allowedIps": allowed_ips,
                "allowedRecipients": allowed_recipients,
                "sendQuota": send_quota,
                "confirm": confirm,
                "requiresApproval": UNSET if requires_approval is None else requires_approval,
            },
        )
        return result

    def revoke(
        self,
        key_id: str,
        *,
        created: Optional[Literal["keep", "remove"]] = None,
    ) -> ApiKeysRevokeResult:
        """Revoke an API key.

        Delete a key, or disconnect an app. It stops working immediately, and its open event
        streams and subscriptions end. Scheduled messages and webhooks that it made stay,
        unless `created` is `remove`.

        Requires a login token; API keys are refused.

        :param key_id: Id of the key (`key_…`).
        :param created: `remove` also cancels its messages that are scheduled, queued or
            wait for approval, and removes its webhooks and its texts for callers. Defaults to
            `keep`.
        """
        result: ApiKeysRevokeResult = self._transport.call(
            "DELETE",
            f"/api-keys/{quote(key_id)}",
            query={
                "created": UNSET if created is None else created,
            },
        )
        return result

    def rotate(
        self,
        key_id: str,
    ) -> NewApiKey:
        """Rotate an API key.

        Replace a key with a new one, which is returned once. The id, the name, the
        permissions and the limits stay. The old key stops working at once. A connected app
        has no key.

        Requires a login token; API keys are refused.

        :param key_id: Id of the key (`key_…`).
        """
        result: NewApiKey = self._transport.call(
            "POST",
            f"/api-keys/{quote(key_id)}/rotate",
            body={},
        )
        return result

    def list_calls(
        self,
        key_id: str,
        *,
        tool: Optional[str] = None,
        outcome: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ApiKeysListCallsResult:
        """List the tool calls of an API key.

        List the calls of agents with a key over MCP, newest first, without the content of
        messages. The calls of a revoked key stay listed until they are as old as events may
        get (`EVENT_RETENTION_DAYS`). Calls above the rate limit are not listed.

        Requires the permission `account:read`.

        :param key_id: Id of the key (`key_…`), which may be revoked.
        :param tool: Only calls of this tool, such as `messages_send`.
        :param outcome: Only calls with this outcome: `ok`, `pending_approval`, `failed` for
            any error, or the code of an error.
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: ApiKeysListCallsResult = self._transport.call(
            "GET",
            f"/api-keys/{quote(key_id)}/calls",
            query={
                "tool": UNSET if tool is None else tool,
                "outcome": UNSET if outcome is None else outcome,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_calls_all(
        self,
        key_id: str,
        *,
        tool: Optional[str] = None,
        outcome: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[ToolCall]:
        """Iterate over all pages of `list_calls`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list_calls(key_id, tool=tool, outcome=outcome, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return


class ConnectionsResource:
    """Answer apps that ask to be connected by OAuth."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get_request(
        self,
        request_id: str,
    ) -> ConnectionRequest:
        """Get the request of an app.

        Get the app that asks to be connected by OAuth, and the permissions that it asks for.
        For the consent page of the dashboard.

        Requires a login token; API keys are refused.

        :param request_id: Id of the request, from the address of the consent page.
        """
        result: ConnectionRequest = self._transport.call(
            "GET",
            f"/connections/requests/{quote(request_id)}",
            repeatable=True,
        )
        return result

    def approve(
        self,
        request_id: str,
        *,
        permissions: Sequence[str],
        expires_at: Union[Optional[str], Unset] = UNSET,
        session_ids: Union[Optional[Sequence[str]], Unset] = UNSET,
        allowed_ips: Union[Optional[Sequence[str]], Unset] = UNSET,
        allowed_recipients: Union[Optional[Sequence[str]], Unset] = UNSET,
        send_quota: Union[Optional[int], Unset] = UNSET,
        confirm: Union[Optional[Sequence[Literal["destructive", "new_recipients"]]], Unset] = UNSET,
        requires_approval: Optional[bool] = None,
    ) -> ConnectionsApproveResult:
        """Connect an app.

        Approve the request of an app, with the permissions that you choose, and with the
        limits of an API key. The app becomes an API key without a secret. If it is connected
        already, its permissions are replaced, and its limits as far as you give them. Only
        the browser in which the request began can continue.

        Requires a login token; API keys are refused.

        :param request_id: Id of the request, from the address of the consent page.
        :param permissions: Permissions for the app, among `permissions` and
            `morePermissions`.
        :param expires_at: When the key stops working; null for never.
        :param session_ids: Only these sessions and what belongs to them; `null` for all,
            which is the default.
        :param allowed_ips: Only from these networks, such as `203.0.113.0/24` or
            `2001:db8::/32`, or single addresses; `null` for all.
        :param allowed_recipients: Sends only to these phone numbers, groups (`grp_…`,
            `…@g.us`) and numbers that begin with digits (`49170*`); `null` for all.
        :param send_quota: Sends at most this many messages per day (UTC); `null` for any
            number.
        :param confirm: Asks the user over MCP before these calls: `destructive` ones, and
            the first message to `new_recipients`. Over REST they are refused. `null` never
            asks.
        :param requires_approval: true holds every message until it is approved; false by
            default.
        """
        result: ConnectionsApproveResult = self._transport.call(
            "POST",
            f"/connections/requests/{quote(request_id)}/approve",
            body={
                "permissions": permissions,
                "expiresAt": expires_at,
                "sessionIds": session_ids,
                "allowedIps": allowed_ips,
                "allowedRecipients": allowed_recipients,
                "sendQuota": send_quota,
                "confirm": confirm,
                "requiresApproval": UNSET if requires_approval is None else requires_approval,
            },
        )
        return result

    def deny(
        self,
        request_id: str,
    ) -> ConnectionsDenyResult:
        """Deny the request of an app.

        Deny the request of an app, which learns of it. A present connection of the app does
        not change.

        Requires a login token; API keys are refused.

        :param request_id: Id of the request, from the address of the consent page.
        """
        result: ConnectionsDenyResult = self._transport.call(
            "POST",
            f"/connections/requests/{quote(request_id)}/deny",
            body={},
        )
        return result


class ConnectorsResource:
    """List the networks that sessions can use."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> ConnectorsListResult:
        """List networks.

        List the networks (connectors) that sessions can use, the default one first, with
        their options and message types. Also returns the server's size limit for files. The
        list is not paged.

        Requires the permission `sessions:read`.
        """
        result: ConnectorsListResult = self._transport.call(
            "GET",
            "/connectors",
            repeatable=True,
        )
        return result


class SessionsResource:
    """Connect phone numbers to their networks."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> SessionsListResult:
        """List sessions.

        List the account's sessions with their status, phone number and network, newest first.
        Use it to find a `sessionId`.

        Requires the permission `sessions:read`.

        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: SessionsListResult = self._transport.call(
            "GET",
            "/sessions",
            query={
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        limit: Optional[int] = None,
    ) -> Iterator[Session]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def create(
        self,
        *,
        name: Optional[str] = None,
        connector: Optional[str] = None,
        phone_number: Optional[str] = None,
        options: Optional[Mapping[str, Any]] = None,
        metadata: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Session:
        """Create a session.

        Add a session, which is one phone number on one network. Returns it with the status
        `created`; call `sessions.connect` next.

        Requires the permission `sessions:write`.

        :param name: Label for people, such as `support`.
        :param connector: Network, such as `sandbox` or `whatsapp`; the server's default if
            left out.
        :param phone_number: Number of the session, if the network lets you choose it. In
            international form, such as 491701234567; +, spaces and dashes are ignored.
        :param options: Options of the network that the user names, see `GET /connectors`.
        :param metadata: Your own data: up to 50 strings by key (40 characters), such as
            `{"team": "sales"}`.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Session = self._transport.call(
            "POST",
            "/sessions",
            body={
                "name": UNSET if name is None else name,
                "connector": UNSET if connector is None else connector,
                "phoneNumber": UNSET if phone_number is None else phone_number,
                "options": UNSET if options is None else options,
                "metadata": UNSET if metadata is None else metadata,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def get(
        self,
        session_id: str,
    ) -> Session:
        """Get a session.

        Get one session with its status, phone number and error. Use it to see whether the
        session is connected and, if not, why.

        Requires the permission `sessions:read`.

        :param session_id: Id of the session (`ses_…`).
        """
        result: Session = self._transport.call(
            "GET",
            f"/sessions/{quote(session_id)}",
            repeatable=True,
        )
        return result

    def update(
        self,
        session_id: str,
        *,
        name: Union[Optional[str], Unset] = UNSET,
        metadata: Optional[Mapping[str, str]] = None,
        options: Optional[Mapping[str, Any]] = None,
    ) -> SessionsUpdateResult:
        """Update a session.

        Change the name, the metadata or the options of a session. Fields that you leave out
        do not change. `metadata` and `options` replace what was set before, except that
        secret options stay unless you pass new ones. A session that is connected or
        connecting connects again with new options before the response, so `status` and
        `error` show whether they work. Other sessions use new options once they connect;
        `warnings` says so.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        :param name: Label for people; null removes it.
        :param metadata: Your own data: up to 50 strings by key (40 characters), such as
            `{"team": "sales"}`.
        :param options: Options of the network that the user names, see `GET /connectors`.
        """
        result: SessionsUpdateResult = self._transport.call(
            "PATCH",
            f"/sessions/{quote(session_id)}",
            body={
                "name": name,
                "metadata": UNSET if metadata is None else metadata,
                "options": UNSET if options is None else options,
            },
        )
        return result

    def delete(
        self,
        session_id: str,
    ) -> SessionsDeleteResult:
        """Delete a session.

        Delete a session with its chats, messages, contacts and groups. This cannot be undone.
        A connected session is first logged out of its network, which may take up to 5 s. Its
        events stay in the delivery log. The response comes after at most 10 s; a large
        session is deleted in the background, and a restart does not stop the deletion. Until
        it ends, other operations on the session return `not_found`.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        """
        result: SessionsDeleteResult = self._transport.call(
            "DELETE",
            f"/sessions/{quote(session_id)}",
        )
        return result

    def update_profile(
        self,
        session_id: str,
        *,
        name: Optional[str] = None,
        about: Optional[str] = None,
        picture_media_id: Union[Optional[str], Unset] = UNSET,
        business: Optional[SessionsUpdateProfileBusiness] = None,
    ) -> SessionsUpdateProfileResult:
        """Update the profile of a session.

        Change the name, the about text, the picture or the business data that other people
        see of the session's number. Pass at least one of them. A network that reviews names
        shows the new one once it is approved. If the network does not support one of the
        changes, the request fails with `not_supported` and changes nothing.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        :param name: Name that other people see.
        :param about: About text that other people see; empty removes it.
        :param picture_media_id: Id of an uploaded image; null removes the picture.
        :param business: Data of the business that owns the number. An empty text or list
            removes it.
        """
        result: SessionsUpdateProfileResult = self._transport.call(
            "PATCH",
            f"/sessions/{quote(session_id)}/profile",
            body={
                "name": UNSET if name is None else name,
                "about": UNSET if about is None else about,
                "pictureMediaId": picture_media_id,
                "business": UNSET if business is None else business,
            },
        )
        return result

    def get_profile(
        self,
        session_id: str,
    ) -> OwnProfile:
        """Get the profile of a session.

        Get the name, the about text and the picture of the session's own number. Asks the
        network, because the phone can change them.

        Requires the permission `sessions:read`.

        :param session_id: Id of the session (`ses_…`).
        """
        result: OwnProfile = self._transport.call(
            "GET",
            f"/sessions/{quote(session_id)}/profile",
            repeatable=True,
        )
        return result

    def list_devices(
        self,
        session_id: str,
    ) -> SessionsListDevicesResult:
        """List the devices of an account.

        List the devices of the session's account: the phone and those that are linked to it.
        The network tells a linked device only their ids, not their names, nor when they were
        last used.

        Requires the permission `sessions:read`.

        :param session_id: Id of the session (`ses_…`).
        """
        result: SessionsListDevicesResult = self._transport.call(
            "GET",
            f"/sessions/{quote(session_id)}/devices",
            repeatable=True,
        )
        return result

    def get_privacy(
        self,
        session_id: str,
    ) -> Privacy:
        """Get the privacy settings of a session.

        Get the privacy settings of the session's account. Asks the network, because the phone
        can change them.

        Requires the permission `sessions:read`.

        :param session_id: Id of the session (`ses_…`).
        """
        result: Privacy = self._transport.call(
            "GET",
            f"/sessions/{quote(session_id)}/privacy",
            repeatable=True,
        )
        return result

    def update_privacy(
        self,
        session_id: str,
        *,
        last_seen: Optional[Literal["everyone", "contacts", "nobody"]] = None,
        online: Optional[Literal["everyone", "same_as_last_seen"]] = None,
        profile_picture: Optional[Literal["everyone", "contacts", "nobody"]] = None,
        about: Optional[Literal["everyone", "contacts", "nobody"]] = None,
        read_receipts: Optional[bool] = None,
        group_add: Optional[Literal["everyone", "contacts"]] = None,
        calls: Optional[Literal["everyone", "known"]] = None,
        disappearing_seconds: Optional[int] = None,
    ) -> Privacy:
        """Update the privacy settings of a session.

        Change privacy settings of the session's account, also for its phone and other
        devices. Fields that you leave out do not change. The network sets one after the
        other, so if one fails, those before it are set.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        :param last_seen: People who see when the session was last online.
        :param online: People who see that the session is online.
        :param profile_picture: People who see the profile picture.
        :param about: People who see the about text.
        :param read_receipts: Whether others see that their messages were read.
        :param group_add: People who can add the session to groups.
        :param calls: People who can call. `known`: only those whom the session knows.
        :param disappearing_seconds: Seconds until messages of new chats disappear; 0 if
            they stay. Otherwise 86400, 604800 or 7776000.
        """
        result: Privacy = self._transport.call(
            "PATCH",
            f"/sessions/{quote(session_id)}/privacy",
            body={
                "lastSeen": UNSET if last_seen is None else last_seen,
                "online": UNSET if online is None else online,
                "profilePicture": UNSET if profile_picture is None else profile_picture,
                "about": UNSET if about is None else about,
                "readReceipts": UNSET if read_receipts is None else read_receipts,
                "groupAdd": UNSET if group_add is None else group_add,
                "calls": UNSET if calls is None else calls,
                "disappearingSeconds": UNSET if disappearing_seconds is None else disappearing_seconds,
            },
        )
        return result

    def connect(
        self,
        session_id: str,
    ) -> Session:
        """Connect a session.

        Connect a session to its network. Returns within seconds. If the status is
        `awaiting_pairing`, link a phone with `sessions.get_qr` or
        `sessions.request_pairing_code`. If it is `connecting`, check `sessions.get`.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        """
        result: Session = self._transport.call(
            "POST",
            f"/sessions/{quote(session_id)}/connect",
            body={},
        )
        return result

    def get_qr(
        self,
        session_id: str,
    ) -> SessionsGetQrResult:
        """Get the QR code of a session.

        Get the QR code that links a phone to the session, for the phone's owner to scan.
        Works only while the status is `awaiting_pairing`. Each code expires within about a
        minute; call again for the next one.

        With `Accept`: `image/png`, returns the result in this format if it has one, and as
        JSON otherwise.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        """
        result: SessionsGetQrResult = self._transport.call(
            "GET",
            f"/sessions/{quote(session_id)}/qr",
            repeatable=True,
        )
        return result

    def request_pairing_code(
        self,
        session_id: str,
        *,
        phone_number: str,
    ) -> SessionsRequestPairingCodeResult:
        """Request a pairing code.

        Get a code that the phone's owner enters instead of scanning a QR code. Works only
        while the status is `awaiting_pairing`, and not on every network.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        :param phone_number: Number of the phone to link. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        """
        result: SessionsRequestPairingCodeResult = self._transport.call(
            "POST",
            f"/sessions/{quote(session_id)}/pairing-code",
            body={
                "phoneNumber": phone_number,
            },
        )
        return result

    def disconnect(
        self,
        session_id: str,
    ) -> Session:
        """Disconnect a session.

        Take a session offline until you connect it again. It stays linked to its phone, but
        neither sends nor receives.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        """
        result: Session = self._transport.call(
            "POST",
            f"/sessions/{quote(session_id)}/disconnect",
            body={},
        )
        return result

    def logout(
        self,
        session_id: str,
    ) -> Session:
        """Log out a session.

        Unlink the session from its phone and disconnect it. Chats and messages stay; queued
        messages fail. To use the session again, connect it and pair it with a phone.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        """
        result: Session = self._transport.call(
            "POST",
            f"/sessions/{quote(session_id)}/logout",
            body={},
        )
        return result

    def history(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> SessionsHistoryResult:
        """List the status changes of a session.

        List when and why the status of a session changed, newest first. Use it to investigate
        outages.

        Requires the permission `sessions:read`.

        :param session_id: Id of the session (`ses_…`).
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: SessionsHistoryResult = self._transport.call(
            "GET",
            f"/sessions/{quote(session_id)}/history",
            query={
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def history_all(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
    ) -> Iterator[SessionsHistoryResultData]:
        """Iterate over all pages of `history`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.history(session_id, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def set_presence(
        self,
        session_id: str,
        *,
        presence: Literal["online", "offline"],
    ) -> SessionsSetPresenceResult:
        """Show a session as online or offline.

        Show a session as online, or as offline, which is the default. While it is online, the
        phone of the account may not ring for new messages. It stays online after a reconnect,
        until `until`.

        Requires the permission `chats:write`.

        :param session_id: Id of the session (`ses_…`).
        :param presence: Whether others see the session as online.
        """
        result: SessionsSetPresenceResult = self._transport.call(
            "PUT",
            f"/sessions/{quote(session_id)}/presence",
            body={
                "presence": presence,
            },
        )
        return result

    def simulate(
        self,
        session_id: str,
        *,
        action: Literal["pair", "incoming", "edit", "delete", "react", "vote", "receipt", "disconnect", "logout", "group_create", "group_subject", "group_leave", "presence", "call", "call_end", "chat_update", "rename", "identify", "history", "chat_clear", "chat_delete", "star", "delete_for_me", "pin", "disappearing", "label", "label_delete", "label_assign", "group_join_request", "group_join_withdraw", "group_picture", "group_settings", "community_create", "business_profile", "template_review", "number_update", "own_message", "block_report", "standing", "status", "status_delete", "status_view", "status_react", "channel_create", "channel_post", "event_answer", "move"],
        from_: Optional[str] = None,
        phone_number: Optional[str] = None,
        sender_name: Optional[str] = None,
        message: Optional[str] = None,
        type: Optional[Literal["image", "video", "audio", "voice", "document", "sticker"]] = None,
        media_id: Optional[str] = None,
        location: Optional[SessionsSimulateLocation] = None,
        contact: Optional[SessionsSimulateContact] = None,
        poll: Optional[SessionsSimulatePoll] = None,
        options: Optional[Sequence[str]] = None,
        emoji: Optional[str] = None,
        group_id: Optional[str] = None,
        message_id: Optional[str] = None,
        status: Optional[Literal["delivered", "read", "failed"]] = None,
        reason: Optional[str] = None,
        reconnect_after_ms: Union[Optional[int], Unset] = UNSET,
        presence: Optional[Literal["online", "offline", "typing", "recording", "paused"]] = None,
        call_id: Optional[str] = None,
        video: Optional[bool] = None,
        outcome: Optional[Literal["answered", "rejected", "missed", "ended"]] = None,
        archived: Optional[bool] = None,
        pinned: Optional[bool] = None,
        muted_until: Union[Optional[str], Unset] = UNSET,
        read: Optional[Literal[True]] = None,
        marked_unread: Optional[bool] = None,
        starred: Optional[bool] = None,
        pinned_until: Union[Optional[str], Unset] = UNSET,
        disappearing_seconds: Union[Optional[int], Unset] = UNSET,
        label_id: Optional[str] = None,
        label_name: Optional[str] = None,
        label_color: Optional[int] = None,
        labeled: Optional[bool] = None,
        no_new_chats_until: Union[Optional[str], Unset] = UNSET,
        new_chats: Union[Optional[SessionsSimulateNewChats], Unset] = UNSET,
        template_id: Optional[str] = None,
        template_status: Optional[Literal["approved", "rejected", "paused", "disabled", "pending"]] = None,
        quality: Optional[Literal["high", "medium", "low", "unknown"]] = None,
        messaging_limit: Union[Optional[int], Unset] = UNSET,
        status_id: Optional[str] = None,
        channel_id: Optional[str] = None,
        subject: Optional[str] = None,
        phone_numbers: Optional[Sequence[str]] = None,
        history: Optional[SessionsSimulateHistory] = None,
        settings: Optional[SessionsSimulateSettings] = None,
        business: Optional[SessionsSimulateBusiness] = None,
        view_once: Optional[bool] = None,
        gif: Optional[bool] = None,
        video_note: Optional[bool] = None,
        animated: Optional[bool] = None,
        mention_all: Optional[bool] = None,
        album_id: Optional[str] = None,
        event: Optional[SessionsSimulateEvent] = None,
        product: Optional[SessionsSimulateProduct] = None,
        order: Optional[SessionsSimulateOrder] = None,
        group_invite: Optional[SessionsSimulateGroupInvite] = None,
        choice: Optional[SessionsSimulateChoice] = None,
        raw_type: Optional[str] = None,
        answer: Optional[Literal["going", "not_going", "maybe"]] = None,
    ) -> SessionsSimulateResult:
        """Play the other side of a sandbox session.

        Make something happen to a sandbox session, as if another person or the network did
        it. Use it to test an integration without a real phone. `action` determines which
        fields are used:
        `pair` scans the QR code.
        `incoming` sends a message to the session: `from`, and `message`, or the first of
        `mediaId` (with `type`), `location`, `contact` and `poll` that you pass; `message` is
        then its text. With `groupId` it is sent in a group, and with `messageId` it is a
        reply.
        `edit` (`messageId`, `message`), `delete` (`messageId`), `react` (`messageId`, `from`,
        `emoji`) and `vote` (`messageId`, `from`, `options`) change an existing message.
        `incoming` also sends the kinds `event`, `product`, `order`, `groupInvite` and, with
        `rawType`, one that the server does not know. `viewOnce`, `gif`, `videoNote`,
        `animated`, `mentionAll`, `albumId` and `choice` are added to any message.
        `event_answer` (`messageId`, `from`, `answer`) answers an event. `move` (`messageId`,
        `location`) moves a live location.
        `receipt` (`messageId`, `status`) confirms a message that the session sent.
        `disconnect` (`reason`, `reconnectAfterMs`) cuts the connection. `logout` unlinks the
        phone.
        `group_create` (`from`, `subject`, `phoneNumbers`), `group_subject` (`groupId`,
        `subject`) and `group_leave` (`groupId`, `from`) act as another member of a group.
        `presence` (`from`, `presence`, and `groupId` in a group) shows what a person is
        doing. `rename` (`from`, `senderName`) changes the name that a person shows.
        `identify` (`from`, `phoneNumber`) reports the number of a person who had hidden it:
        `from` is the placeholder, `000` and more digits, with which the person wrote before.
        `call` (`from`, `callId`, `video`) calls the session; `call_end` (the same, and
        `outcome`) ends the call.
        `history` (`history`) passes on chats, contacts and messages from before the session
        was linked, as far as the option `history` of the session asks for them.
        `chat_update` (`from` or `groupId`, and `archived`, `pinned`, `mutedUntil`,
        `markedUnread` or `read`) changes a chat on another device of the account.
        `chat_clear` and `chat_delete` (`from` or `groupId`) delete the messages of a chat, or
        the chat, on another device of the account.
        `star` (`messageId`, `starred`) and `delete_for_me` (`messageId`) do so with a message
        on another device.
        `label` (`labelId` or none for a new one, `labelName`, `labelColor`), `label_delete`
        (`labelId`) and `label_assign` (`labelId`, `labeled`, and `messageId`, or the chat by
        `from` or `groupId`) change labels on another device.
        `pin` (`messageId`, `from`, `pinnedUntil`) pins a message as somebody in the chat;
        null unpins it. `disappearing` (`from`, `groupId` in a group, `disappearingSeconds`)
        sets the timer of a chat as somebody in it.
        `group_join_request` and `group_join_withdraw` (`groupId`, `from`) ask to join a
        group, and withdraw that. `group_picture` (`groupId`, `from`, and `mediaId` unless the
        picture is removed) and `group_settings` (`groupId`, `from`, `settings`) change a
        group. `community_create` (`from`, `subject`, `phoneNumbers`) creates a community with
        the session in it.
        `business_profile` (`from`, `business`) makes a number a business for this session,
        with a profile and a catalog.
        `template_review` (`templateId`, `templateStatus`, `reason`) reviews a template that
        the session has created.
        `number_update` (`quality`, `messagingLimit`, `reason`) changes the judgment of the
        number; `reason` adds a notice.
        `own_message` (`from` or `groupId`, and `message`) sends a text from the phone of the
        account to that chat.
        `block_report` makes somebody block or report the number. `standing`
        (`noNewChatsUntil`, `newChats`) changes the limits that the network sets for it.
        `status` (`from`, and `message`, or `mediaId` with `type`) posts a status, which a
        session with the option `statuses` gets. `status_delete` (`from`, `statusId`) deletes
        it as its author. `status_view` and `status_react` (`from`, `statusId`, `emoji`) act
        on a status of the session as somebody who sees it.
        `channel_create` (`from`, `subject`) creates a channel, which the session follows.
        `channel_post` (`channelId`, and `message`, or `mediaId` with `type`) posts in it,
        which a session with the option `channels` gets.
        Direct messages and actions of a blocked contact do not reach the session.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        :param action: Event to simulate; see the description of the operation.
        :param from_: Number of the person who acts. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param phone_number: Number that becomes known. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param sender_name: Name that the sender shows.
        :param message: Text, caption of the file, or question of the poll.
        :param type: Type in which the file is sent; `document` by default.
        :param media_id: Id of an uploaded file (`med_…`).
        :param location: Location to send.
        :param contact: Contact card to send.
        :param poll: Poll to send; the question is in `message`.
        :param options: Options of the poll that the person chooses; empty withdraws the
            vote.
        :param emoji: A single emoji; empty removes the reaction.
        :param group_id: Id of the group (`grp_…`).
        :param message_id: Id of the message (`msg_…`) that changes, or is replied to.
        :param status: Status that the receipt reports.
        :param reason: Reason that the network gives, as a sentence.
        :param reconnect_after_ms: Milliseconds until the session reconnects; 1000 by
            default, null for never.
        :param presence: Presence of the person.
        :param call_id: Id of the call, of your choice.
        :param video: Whether it is a video call; false by default.
        :param outcome: How the call ended; `missed` by default.
        :param archived: Whether the chat is archived.
        :param pinned: Whether the chat is pinned.
        :param muted_until: Until when the chat is muted; null unmutes it.
        :param read: Marks the chat as read.
        :param marked_unread: Whether the chat is marked as unread.
        :param starred: Whether the message is starred; true by default.
        :param pinned_until: Until when the message is pinned; null unpins it.
        :param disappearing_seconds: After how many seconds the messages of the chat
            disappear, or the message of `incoming`; null for never.
        :param label_id: Id of the label (`lbl_…`).
        :param label_name: Name of the label.
        :param label_color: Color of the label; 0 by default.
        :param labeled: Whether the label is put on or taken off; true by default.
        :param no_new_chats_until: Until when the network allows no new chats; null if it
            does.
        :param new_chats: The network's quota of new chats; null for none.
        :param template_id: Id of the template.
        :param template_status: Status of the template after the review.
        :param quality: Quality of the number.
        :param messaging_limit: People to whom the business may start to write within 24
            hours; null for any number.
        :param status_id: Id of the status (`sts_…`).
        :param channel_id: Id of the channel (`chn_…`).
        :param subject: Name of the group or channel.
        :param phone_numbers: Other members of the new group. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param history: The history that the phone passes on; `generate` adds made-up
            messages.
        :param settings: Settings of the group that change.
        :param business: Profile and catalog of the business.
        :param view_once: Whether the file can be opened only once.
        :param gif: Whether the video plays like a GIF.
        :param video_note: Whether the video is a round video note.
        :param animated: Whether the sticker is animated.
        :param mention_all: Whether everybody in the group is mentioned.
        :param album_id: The same for all files of an album.
        :param event: Event to send; its name is in `message`.
        :param product: Product to send.
        :param order: Order to send.
        :param group_invite: Invite to a group, to send.
        :param choice: Answers buttons, a list, a template or a form; the title of the
            choice is in `message`.
        :param raw_type: The network's name of a kind of message that the server does not
            know.
        :param answer: Whether the person comes to the event.
        """
        result: SessionsSimulateResult = self._transport.call(
            "POST",
            f"/sessions/{quote(session_id)}/simulate",
            body={
                "action": action,
                "from": UNSET if from_ is None else from_,
                "phoneNumber": UNSET if phone_number is None else phone_number,
                "senderName": UNSET if sender_name is None else sender_name,
                "message": UNSET if message is None else message,
                "type": UNSET if type is None else type,
                "mediaId": UNSET if media_id is None else media_id,
                "location": UNSET if location is None else location,
                "contact": UNSET if contact is None else contact,
                "poll": UNSET if poll is None else poll,
                "options": UNSET if options is None else options,
                "emoji": UNSET if emoji is None else emoji,
                "groupId": UNSET if group_id is None else group_id,
                "messageId": UNSET if message_id is None else message_id,
                "status": UNSET if status is None else status,
                "reason": UNSET if reason is None else reason,
                "reconnectAfterMs": reconnect_after_ms,
                "presence": UNSET if presence is None else presence,
                "callId": UNSET if call_id is None else call_id,
                "video": UNSET if video is None else video,
                "outcome": UNSET if outcome is None else outcome,
                "archived": UNSET if archived is None else archived,
                "pinned": UNSET if pinned is None else pinned,
                "mutedUntil": muted_until,
                "read": UNSET if read is None else read,
                "markedUnread": UNSET if marked_unread is None else marked_unread,
                "starred": UNSET if starred is None else starred,
                "pinnedUntil": pinned_until,
                "disappearingSeconds": disappearing_seconds,
                "labelId": UNSET if label_id is None else label_id,
                "labelName": UNSET if label_name is None else label_name,
                "labelColor": UNSET if label_color is None else label_color,
                "labeled": UNSET if labeled is None else labeled,
                "noNewChatsUntil": no_new_chats_until,
                "newChats": new_chats,
                "templateId": UNSET if template_id is None else template_id,
                "templateStatus": UNSET if template_status is None else template_status,
                "quality": UNSET if quality is None else quality,
                "messagingLimit": messaging_limit,
                "statusId": UNSET if status_id is None else status_id,
                "channelId": UNSET if channel_id is None else channel_id,
                "subject": UNSET if subject is None else subject,
                "phoneNumbers": UNSET if phone_numbers is None else phone_numbers,
                "history": UNSET if history is None else history,
                "settings": UNSET if settings is None else settings,
                "business": UNSET if business is None else business,
                "viewOnce": UNSET if view_once is None else view_once,
                "gif": UNSET if gif is None else gif,
                "videoNote": UNSET if video_note is None else video_note,
                "animated": UNSET if animated is None else animated,
                "mentionAll": UNSET if mention_all is None else mention_all,
                "albumId": UNSET if album_id is None else album_id,
                "event": UNSET if event is None else event,
                "product": UNSET if product is None else product,
                "order": UNSET if order is None else order,
                "groupInvite": UNSET if group_invite is None else group_invite,
                "choice": UNSET if choice is None else choice,
                "rawType": UNSET if raw_type is None else raw_type,
                "answer": UNSET if answer is None else answer,
            },
        )
        return result


class TemplatesResource:
    """Texts that the network of a business number approves in advance."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        session_id: str,
        *,
        name: Optional[str] = None,
        status: Optional[str] = None,
        language: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> TemplatesListResult:
        """List templates.

        List the templates of the session's business account, read from the network, with
        their review and quality. A page can have fewer entries than `limit`, even if more
        follow.

        Requires the permission `sessions:read`.

        :param session_id: Id of the session (`ses_…`).
        :param name: Only templates with this name.
        :param status: Only templates with this status, such as `approved`.
        :param language: Language of the template, such as `en_US`.
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: TemplatesListResult = self._transport.call(
            "GET",
            f"/sessions/{quote(session_id)}/templates",
            query={
                "name": UNSET if name is None else name,
                "status": UNSET if status is None else status,
                "language": UNSET if language is None else language,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        session_id: str,
        *,
        name: Optional[str] = None,
        status: Optional[str] = None,
        language: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Template]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(session_id, name=name, status=status, language=language, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def create(
        self,
        session_id: str,
        *,
        name: str,
        language: str,
        category: Literal["marketing", "utility", "authentication"],
        components: Sequence[Mapping[str, Any]],
    ) -> Template:
        """Create a template.

        Create a template, which the network reviews before it can be sent. Subscribe to
        `template.updated` to learn the outcome. A name in several languages is several
        templates.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        :param name: Name in small letters, digits and underscores.
        :param language: Language of the template, such as `en_US`.
        :param category: Category, on which the price and the review depend.
        :param components: Header, body, footer and buttons, in the network's format.
        """
        result: Template = self._transport.call(
            "POST",
            f"/sessions/{quote(session_id)}/templates",
            body={
                "name": name,
                "language": language,
                "category": category,
                "components": components,
            },
        )
        return result

    def get(
        self,
        session_id: str,
        template_id: str,
    ) -> Template:
        """Get a template.

        Get one template with its content and its review, read from the network.

        Requires the permission `sessions:read`.

        :param session_id: Id of the session (`ses_…`).
        :param template_id: Id of the template at the network.
        """
        result: Template = self._transport.call(
            "GET",
            f"/sessions/{quote(session_id)}/templates/{quote(template_id)}",
            repeatable=True,
        )
        return result

    def update(
        self,
        session_id: str,
        template_id: str,
        *,
        category: Optional[Literal["marketing", "utility", "authentication"]] = None,
        components: Optional[Sequence[Mapping[str, Any]]] = None,
    ) -> Template:
        """Update a template.

        Change the category or the components of a template; `components` replaces all of
        them. The network reviews the template again, and limits how often an approved one can
        change.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        :param template_id: Id of the template at the network.
        :param category: Category, on which the price and the review depend.
        :param components: Header, body, footer and buttons, in the network's format.
        """
        result: Template = self._transport.call(
            "PATCH",
            f"/sessions/{quote(session_id)}/templates/{quote(template_id)}",
            body={
                "category": UNSET if category is None else category,
                "components": UNSET if components is None else components,
            },
        )
        return result

    def delete(
        self,
        session_id: str,
        template_id: str,
    ) -> TemplatesDeleteResult:
        """Delete a template.

        Delete a template in one language. This cannot be undone, and the network may refuse a
        new template of the same name for 30 days.

        Requires the permission `sessions:write`.

        :param session_id: Id of the session (`ses_…`).
        :param template_id: Id of the template at the network.
        """
        result: TemplatesDeleteResult = self._transport.call(
            "DELETE",
            f"/sessions/{quote(session_id)}/templates/{quote(template_id)}",
        )
        return result


class ContactsResource:
    """Find, check and block contacts."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def profile(
        self,
        phone_number: str,
        *,
        session_id: Optional[str] = None,
    ) -> Profile:
        """Get the profile of a contact.

        Get the about text and the picture that a contact shows to the session right now.
        Every call asks the network, and networks ban numbers that look up many people. The
        picture is stored as a file of the account.

        Requires the permission `contacts:read`.

        :param phone_number: Number of the contact. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: Profile = self._transport.call(
            "GET",
            f"/contacts/{quote(phone_number)}/profile",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
            repeatable=True,
        )
        return result

    def look_up(
        self,
        *,
        session_id: Optional[str] = None,
        phone_numbers: Optional[Sequence[str]] = None,
        lids: Optional[Sequence[str]] = None,
    ) -> ContactsLookUpResult:
        """Look up LIDs and phone numbers.

        Find the LIDs of phone numbers, and the phone numbers of LIDs. The session answers
        from what it knows and, while it is connected, asks the network for the LIDs of other
        numbers. No network tells the number of a LID whose owner hides it. Do not look up in
        bulk: networks ban sessions that do.

        Requires the permission `contacts:check`.

        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param phone_numbers: Up to 50 numbers. In international form, such as 491701234567;
            +, spaces and dashes are ignored.
        :param lids: Up to 50 LIDs: digits, with or without `@lid`, or placeholders
            (`000…`).
        """
        result: ContactsLookUpResult = self._transport.call(
            "GET",
            "/contacts/lookup",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "phoneNumbers": UNSET if phone_numbers is None else phone_numbers,
                "lids": UNSET if lids is None else lids,
            },
            repeatable=True,
        )
        return result

    def business_profile(
        self,
        phone_number: str,
        *,
        session_id: Optional[str] = None,
    ) -> ContactsBusinessProfileResult:
        """Get the business profile of a contact.

        Get what a business shows about itself: description, category, address, opening hours
        and websites. Every call asks the network.

        Requires the permission `contacts:read`.

        :param phone_number: Number of the business; it can be that of the session. In
            international form, such as 491701234567; +, spaces and dashes are ignored.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ContactsBusinessProfileResult = self._transport.call(
            "GET",
            f"/contacts/{quote(phone_number)}/business-profile",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
            repeatable=True,
        )
        return result

    def catalog(
        self,
        phone_number: str,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ContactsCatalogResult:
        """List the products of a business.

        List the products in the catalog of a business, page by page. Every call asks the
        network.

        Requires the permission `contacts:read`.

        :param phone_number: Number of the business; it can be that of the session. In
            international form, such as 491701234567; +, spaces and dashes are ignored.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param limit: Number of products per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: ContactsCatalogResult = self._transport.call(
            "GET",
            f"/contacts/{quote(phone_number)}/catalog",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def catalog_all(
        self,
        phone_number: str,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[ContactsCatalogResultData]:
        """Iterate over all pages of `catalog`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.catalog(phone_number, session_id=session_id, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def collections(
        self,
        phone_number: str,
        *,
        session_id: Optional[str] = None,
    ) -> ContactsCollectionsResult:
        """List the collections of a business.

        List the collections into which a business sorts its products. Every call asks the
        network.

        Requires the permission `contacts:read`.

        :param phone_number: Number of the business; it can be that of the session. In
            international form, such as 491701234567; +, spaces and dashes are ignored.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ContactsCollectionsResult = self._transport.call(
            "GET",
            f"/contacts/{quote(phone_number)}/catalog/collections",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
            repeatable=True,
        )
        return result

    def follow_presence(
        self,
        phone_number: str,
        *,
        followed: bool,
        session_id: Optional[str] = None,
    ) -> ContactPresence:
        """Follow a contact's presence.

        Ask the network to report when a contact is online, as the event `presence.updated`. A
        session follows up to 50 contacts, also after a reconnect, until you stop it with
        `followed: false`. Networks report presence only to sessions that are online
        themselves, and not if the contact hides it.

        Requires the permission `chats:write`.

        :param phone_number: Number of the contact. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param followed: true follows the contact, false stops that.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ContactPresence = self._transport.call(
            "PUT",
            f"/contacts/{quote(phone_number)}/presence",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "followed": followed,
            },
        )
        return result

    def presence(
        self,
        phone_number: str,
        *,
        session_id: Optional[str] = None,
    ) -> ContactPresence:
        """Get a contact's presence.

        Get what the network last reported about the presence of a contact that the session
        follows.

        Requires the permission `contacts:read`.

        :param phone_number: Number of the contact. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ContactPresence = self._transport.call(
            "GET",
            f"/contacts/{quote(phone_number)}/presence",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
            repeatable=True,
        )
        return result

    def list(
        self,
        *,
        session_id: Optional[str] = None,
        q: Optional[str] = None,
        phone_number: Optional[str] = None,
        blocked: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ContactsListResult:
        """List contacts.

        List contacts, ordered by phone number: people who wrote to a session, whose number
        was checked, or who were blocked. Use it to find a number by name (`q`).

        Requires the permission `contacts:read`.

        :param session_id: Only those of this session (`ses_…`).
        :param q: Part of the name, or the first digits of the number.
        :param phone_number: Only the contact with this number. In international form, such
            as 491701234567; +, spaces and dashes are ignored.
        :param blocked: `true`: only blocked contacts; `false`: only others.
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: ContactsListResult = self._transport.call(
            "GET",
            "/contacts",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "q": UNSET if q is None else q,
                "phoneNumber": UNSET if phone_number is None else phone_number,
                "blocked": UNSET if blocked is None else blocked,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        session_id: Optional[str] = None,
        q: Optional[str] = None,
        phone_number: Optional[str] = None,
        blocked: Optional[bool] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Contact]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(session_id=session_id, q=q, phone_number=phone_number, blocked=blocked, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def get(
        self,
        contact_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> ContactWithIds:
        """Get a contact.

        Get one contact of a session, by its phone number or by an id of the network. A
        contact who hid the number before is also found by the placeholder and the LID of that
        time.

        Requires the permission `contacts:read`.

        :param contact_id: Phone number, address (`491701234567@s.whatsapp.net`), LID
            (`…@lid`) or placeholder (`000…`). In international form, such as 491701234567; +,
            spaces and dashes are ignored.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ContactWithIds = self._transport.call(
            "GET",
            f"/contacts/{quote(contact_id)}",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
            repeatable=True,
        )
        return result

    def check(
        self,
        *,
        phone_numbers: Sequence[str],
        session_id: Optional[str] = None,
    ) -> ContactsCheckResult:
        """Check phone numbers.

        Check which phone numbers have an account on the network, before you write to them.
        Results are cached for a day. Do not check in bulk: networks ban sessions that do.

        Requires the permission `contacts:check`.

        :param phone_numbers: Up to 100 numbers. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ContactsCheckResult = self._transport.call(
            "GET",
            "/contacts/check",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "phoneNumbers": phone_numbers,
            },
            repeatable=True,
        )
        return result

    def set_blocked(
        self,
        phone_number: str,
        *,
        blocked: bool,
        session_id: Optional[str] = None,
    ) -> Contact:
        """Block or unblock a contact.

        Block or unblock a contact. Direct messages sent while a contact is blocked never
        arrive, even after you unblock it. Its group messages still arrive. The contact is not
        notified.

        Requires the permission `contacts:write`.

        :param phone_number: Number of the contact. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param blocked: true blocks the contact, false unblocks it.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: Contact = self._transport.call(
            "PUT",
            f"/contacts/{quote(phone_number)}/blocked",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "blocked": blocked,
            },
        )
        return result


class CallsResource:
    """Reject calls."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def reject(
        self,
        call_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> CallsRejectResult:
        """Reject a call.

        Reject a call that rings. The event `call.incoming` has its id. To reject all calls of
        a session, set its option `calls`.

        Requires the permission `chats:write`.

        :param call_id: Id of the call, from the event `call.incoming`.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: CallsRejectResult = self._transport.call(
            "POST",
            f"/calls/{quote(call_id)}/reject",
            body={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result


class MessagesResource:
    """Send, find and change messages."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def send(
        self,
        *,
        to: str,
        message: str,
        session_id: Optional[str] = None,
        reply_to: Optional[str] = None,
        send_at: Optional[str] = None,
        mentions: Optional[Sequence[str]] = None,
        link_preview: Optional[Union[bool, MessagesSendLinkPreview]] = None,
        mention_all: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> Message:
        """Send a text message.

        Send a text message to a person or a group. Returns the message as `sent` once the
        network accepted it, or as `queued` if it goes out later. Call `messages.get` to see
        whether it was delivered or read.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param message: Text of the message.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param reply_to: Id of a message (`msg_…`) in the same session, to reply to it.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param mentions: People to mention, up to 256. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param link_preview: Preview of the first link in the text. With true, the server
            fetches the page, over https only, and sends the text without a preview if there
        is
            none. Pass an object to choose what it shows. By default the network decides;
            WhatsApp then shows none.
        :param mention_all: Mention everybody in the group. Only for groups.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Message = self._transport.call(
            "POST",
            "/messages/send",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "replyTo": UNSET if reply_to is None else reply_to,
                "sendAt": UNSET if send_at is None else send_at,
                "message": message,
                "mentions": UNSET if mentions is None else mentions,
                "linkPreview": UNSET if link_preview is None else link_preview,
                "mentionAll": UNSET if mention_all is None else mention_all,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def send_media(
        self,
        *,
        to: str,
        type: Literal["image", "video", "audio", "voice", "document", "sticker"],
        session_id: Optional[str] = None,
        reply_to: Optional[str] = None,
        send_at: Optional[str] = None,
        media_id: Optional[str] = None,
        url: Optional[str] = None,
        content: Optional[str] = None,
        mime_type: Optional[str] = None,
        caption: Optional[str] = None,
        file_name: Optional[str] = None,
        mentions: Optional[Sequence[str]] = None,
        view_once: Optional[bool] = None,
        gif: Optional[bool] = None,
        video_note: Optional[bool] = None,
        mention_all: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> Message:
        """Send a file.

        Send an image, video, audio, voice message, document or sticker. Pass one of
        `mediaId`, an https `url`, which the server fetches first (for a key with
        `requiresApproval`, once the message is approved), and `content`.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param type: `voice` plays as a voice message; `document` accepts any file.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param reply_to: Id of a message (`msg_…`) in the same session, to reply to it.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param media_id: Id of an uploaded or received file (`med_…`).
        :param url: https URL of the file.
        :param content: A small file in base64, up to 700,000 characters.
        :param mime_type: Type of a text in `content`; others are detected.
        :param caption: Text shown below the file.
        :param file_name: File name to show to the recipient, such as `invoice.pdf`.
        :param mentions: People to mention, up to 256. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param view_once: The recipient can open the file once. For images, videos and voice
            messages.
        :param gif: Plays a video like a GIF: in a loop, without sound.
        :param video_note: Shows a video as a round video note, which has no caption.
        :param mention_all: Mention everybody in the group. Only for groups.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Message = self._transport.call(
            "POST",
            "/messages/send-media",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "replyTo": UNSET if reply_to is None else reply_to,
                "sendAt": UNSET if send_at is None else send_at,
                "type": type,
                "mediaId": UNSET if media_id is None else media_id,
                "url": UNSET if url is None else url,
                "content": UNSET if content is None else content,
                "mimeType": UNSET if mime_type is None else mime_type,
                "caption": UNSET if caption is None else caption,
                "fileName": UNSET if file_name is None else file_name,
                "mentions": UNSET if mentions is None else mentions,
                "viewOnce": UNSET if view_once is None else view_once,
                "gif": UNSET if gif is None else gif,
                "videoNote": UNSET if video_note is None else video_note,
                "mentionAll": UNSET if mention_all is None else mention_all,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def send_location(
        self,
        *,
        to: str,
        latitude: float,
        longitude: float,
        session_id: Optional[str] = None,
        reply_to: Optional[str] = None,
        send_at: Optional[str] = None,
        name: Optional[str] = None,
        address: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Message:
        """Send a location.

        Send coordinates, which the recipient can open in a map.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param latitude: Degrees north (WGS 84), such as 52.5163.
        :param longitude: Degrees east (WGS 84), such as 13.3777.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param reply_to: Id of a message (`msg_…`) in the same session, to reply to it.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param name: Name of the place.
        :param address: Postal address of the place.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Message = self._transport.call(
            "POST",
            "/messages/send-location",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "replyTo": UNSET if reply_to is None else reply_to,
                "sendAt": UNSET if send_at is None else send_at,
                "latitude": latitude,
                "longitude": longitude,
                "name": UNSET if name is None else name,
                "address": UNSET if address is None else address,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def send_contact(
        self,
        *,
        to: str,
        name: str,
        phone_numbers: Sequence[str],
        session_id: Optional[str] = None,
        reply_to: Optional[str] = None,
        send_at: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Message:
        """Send a contact card.

        Send a name with phone numbers, which the recipient can save.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param name: Name on the card.
        :param phone_numbers: Up to ten numbers on the card. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param reply_to: Id of a message (`msg_…`) in the same session, to reply to it.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Message = self._transport.call(
            "POST",
            "/messages/send-contact",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "replyTo": UNSET if reply_to is None else reply_to,
                "sendAt": UNSET if send_at is None else send_at,
                "name": name,
                "phoneNumbers": phone_numbers,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def send_poll(
        self,
        *,
        to: str,
        question: str,
        options: Sequence[str],
        session_id: Optional[str] = None,
        reply_to: Optional[str] = None,
        send_at: Optional[str] = None,
        max_selections: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Message:
        """Send a poll.

        Send a question with 2 to 12 answers. Votes are stored on the message; read them with
        `messages.get`. Not every network supports polls.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param question: Question above the options.
        :param options: Two to twelve different answers.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param reply_to: Id of a message (`msg_…`) in the same session, to reply to it.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param max_selections: Number of options that one person can choose; 1 by default.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Message = self._transport.call(
            "POST",
            "/messages/send-poll",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "replyTo": UNSET if reply_to is None else reply_to,
                "sendAt": UNSET if send_at is None else send_at,
                "question": question,
                "options": options,
                "maxSelections": UNSET if max_selections is None else max_selections,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def send_event(
        self,
        *,
        to: str,
        name: str,
        starts_at: str,
        session_id: Optional[str] = None,
        reply_to: Optional[str] = None,
        send_at: Optional[str] = None,
        description: Optional[str] = None,
        ends_at: Optional[str] = None,
        location: Optional[MessagesSendEventLocation] = None,
        extra_guests: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> Message:
        """Send an event.

        Send an event with its time and place, which recipients can answer. The answers are
        stored on the message; read them with `messages.get`.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param name: Name of the event.
        :param starts_at: When it begins. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param reply_to: Id of a message (`msg_…`) in the same session, to reply to it.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param description: Description of the event.
        :param ends_at: When it ends; after `startsAt`.
        :param location: Where it is: a name, coordinates, or both.
        :param extra_guests: Guests can bring others; false by default.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Message = self._transport.call(
            "POST",
            "/messages/send-event",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "replyTo": UNSET if reply_to is None else reply_to,
                "sendAt": UNSET if send_at is None else send_at,
                "name": name,
                "description": UNSET if description is None else description,
                "startsAt": starts_at,
                "endsAt": UNSET if ends_at is None else ends_at,
                "location": UNSET if location is None else location,
                "extraGuests": UNSET if extra_guests is None else extra_guests,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def send_album(
        self,
        *,
        to: str,
        files: Sequence[MessagesSendAlbumFile],
        session_id: Optional[str] = None,
        reply_to: Optional[str] = None,
        send_at: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Album:
        """Send an album.

        Send 2 to 30 images and videos that the recipient sees as one album. Each is a message
        of its own, with the same `album.albumId`. All are stored before the response and go
        out one after the other, so a restart loses none. Pass `mediaId` or `url` for each.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param files: The files, in the order in which they are shown.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param reply_to: Id of a message (`msg_…`) in the same session, to reply to it.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Album = self._transport.call(
            "POST",
            "/messages/send-album",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "replyTo": UNSET if reply_to is None else reply_to,
                "sendAt": UNSET if send_at is None else send_at,
                "files": files,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def send_bulk(
        self,
        *,
        to: Sequence[str],
        message: str,
        session_id: Optional[str] = None,
        interval_ms: Optional[int] = None,
        send_at: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> MessagesSendBulkResult:
        """Send a text to many recipients.

        Schedule the same text for up to 1,000 recipients, sent `intervalMs` apart. All
        messages are stored before the response, so a restart loses none. An invalid recipient
        gets an `error` in its result and does not affect the others.

        Requires the permission `messages:send`.

        :param to: Recipients. Each gets a result, in this order.
        :param message: Text of the message.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param interval_ms: Milliseconds between two messages; 1000 by default.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: MessagesSendBulkResult = self._transport.call(
            "POST",
            "/messages/send-bulk",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "message": message,
                "intervalMs": UNSET if interval_ms is None else interval_ms,
                "sendAt": UNSET if send_at is None else send_at,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def preflight(
        self,
        *,
        to: Sequence[str],
        session_id: Optional[str] = None,
        message: Optional[str] = None,
        template: Optional[MessagesPreflightTemplate] = None,
    ) -> MessagesPreflightResult:
        """Check messages before they are sent.

        Say for up to 100 recipients what would happen to a message now, without sending it.
        Limits count the recipients in their order. Numbers that were not checked within a day
        are checked at the network, at most 20 in a call and 200 in a day, because networks
        ban numbers that look up many. That needs the permission `contacts:check`; without it,
        unchecked numbers are `unknown`.

        Requires the permission `messages:send`.

        :param to: Recipients. Each gets a result, in this order.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param message: Text of the message.
        :param template: The template to send instead of a text.
        """
        result: MessagesPreflightResult = self._transport.call(
            "POST",
            "/messages/preflight",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "message": UNSET if message is None else message,
                "template": UNSET if template is None else template,
            },
        )
        return result

    def list(
        self,
        *,
        session_id: Optional[str] = None,
        chat_id: Optional[str] = None,
        from_: Optional[str] = None,
        direction: Optional[Literal["incoming", "outgoing"]] = None,
        type: Optional[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"]] = None,
        status: Optional[Literal["pending_approval", "queued", "scheduled", "sent", "delivered", "read", "failed"]] = None,
        origin: Optional[Literal["history", "live"]] = None,
        starred: Optional[Literal[True]] = None,
        label_id: Optional[str] = None,
        after_time: Optional[str] = None,
        before_time: Optional[str] = None,
        q: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> MessagesListResult:
        """List messages.

        List messages, newest first. Use it to read a chat (`chatId`), to search text (`q`),
        or to find failed messages (`status`) or unread ones (`direction` incoming, `status`
        delivered).

        Requires the permission `messages:read`. With `messages:metadata` instead, the content
        of messages is left out.

        :param session_id: Only those of this session (`ses_…`).
        :param chat_id: Only this chat: phone number digits or group id (`grp_…`).
        :param from_: Only those from this phone number.
        :param direction: Only received or only sent ones.
        :param type: Only those of this type.
        :param status: Only those with this status.
        :param origin: `history`: only those from before the session was linked; `live`:
            only others.
        :param starred: Only starred ones.
        :param label_id: Only those with this label (`lbl_…`).
        :param after_time: Only at or after this time, such as 2026-07-01T12:00:00Z.
        :param before_time: Only before this time.
        :param q: Only those with all of these words; the last can be the start of a word.
            Requires `messages:read`.
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: MessagesListResult = self._transport.call(
            "GET",
            "/messages",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "chatId": UNSET if chat_id is None else chat_id,
                "from": UNSET if from_ is None else from_,
                "direction": UNSET if direction is None else direction,
                "type": UNSET if type is None else type,
                "status": UNSET if status is None else status,
                "origin": UNSET if origin is None else origin,
                "starred": UNSET if starred is None else starred,
                "labelId": UNSET if label_id is None else label_id,
                "afterTime": UNSET if after_time is None else after_time,
                "beforeTime": UNSET if before_time is None else before_time,
                "q": UNSET if q is None else q,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        session_id: Optional[str] = None,
        chat_id: Optional[str] = None,
        from_: Optional[str] = None,
        direction: Optional[Literal["incoming", "outgoing"]] = None,
        type: Optional[Literal["text", "image", "video", "audio", "voice", "document", "sticker", "location", "contact", "poll", "template", "interactive", "event", "product", "order", "group_invite", "unsupported"]] = None,
        status: Optional[Literal["pending_approval", "queued", "scheduled", "sent", "delivered", "read", "failed"]] = None,
        origin: Optional[Literal["history", "live"]] = None,
        starred: Optional[Literal[True]] = None,
        label_id: Optional[str] = None,
        after_time: Optional[str] = None,
        before_time: Optional[str] = None,
        q: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Message]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(session_id=session_id, chat_id=chat_id, from_=from_, direction=direction, type=type, status=status, origin=origin, starred=starred, label_id=label_id, after_time=after_time, before_time=before_time, q=q, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def stats(self) -> MessageStats:
        """Count messages per minute.

        Count incoming and outgoing messages for each minute of the last hour. Minutes without
        messages are left out.

        Requires the permission `messages:metadata`.
        """
        result: MessageStats = self._transport.call(
            "GET",
            "/messages/stats",
            repeatable=True,
        )
        return result

    def get(
        self,
        message_id: str,
        *,
        wait: Optional[int] = None,
        until: Optional[Literal["sent", "delivered", "read"]] = None,
        include: Optional[Literal["content"]] = None,
    ) -> MessageWithHistory:
        """Get a message.

        Get one message with its status history, reactions and poll votes. Use it to see
        whether it was delivered or read, or why it failed, and with `wait` to wait for that.

        Requires the permission `messages:read`. With `messages:metadata` instead, the content
        of messages is left out.

        :param message_id: Id of the message (`msg_…`).
        :param wait: Seconds to wait until the message reaches `until` or fails; up to 30.
        :param until: The status to wait for; `delivered` by default.
        :param include: `content` returns the file of the message in base64, of up to 1 MiB.
            Needs `media:read`.
        """
        result: MessageWithHistory = self._transport.call(
            "GET",
            f"/messages/{quote(message_id)}",
            query={
                "wait": UNSET if wait is None else wait,
                "until": UNSET if until is None else until,
                "include": UNSET if include is None else include,
            },
            repeatable=True,
        )
        return result

    def edit(
        self,
        message_id: str,
        *,
        message: str,
    ) -> Message:
        """Edit a message.

        Replace the text of a message that the session sent, or the caption of a file, for
        everyone in the chat. Some networks do not allow editing a caption. Polls, locations
        and contact cards cannot be edited.

        Requires the permission `messages:edit`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param message: New text; it replaces the old one completely.
        """
        result: Message = self._transport.call(
            "PATCH",
            f"/messages/{quote(message_id)}",
            body={
                "message": message,
            },
        )
        return result

    def delete(
        self,
        message_id: str,
        *,
        for_: Optional[Literal["everyone", "me"]] = None,
    ) -> Message:
        """Delete a message.

        Delete a message that the session sent, for everyone in the chat. This cannot be
        undone. The message stays in lists without its text, marked `deleted`. A scheduled
        message is cancelled instead: it stays with the status `failed`.

        Requires the permission `messages:delete`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param for_: `me` deletes any message, also a received one, for the session only: it
            leaves all lists, here and on the phone. That requires `chats:delete`. `everyone`
        by
            default.
        """
        result: Message = self._transport.call(
            "DELETE",
            f"/messages/{quote(message_id)}",
            query={
                "for": UNSET if for_ is None else for_,
            },
        )
        return result

    def fetch_media(
        self,
        message_id: str,
    ) -> Message:
        """Fetch the file of a message.

        Fetch and store the file of a message from the history, which has `remoteMedia`.
        Returns the message with `media`. Networks delete files after some weeks; WhatsApp
        then asks the phone for it, which must be online.

        Requires the permission `messages:read`. With `messages:metadata` instead, the content
        of messages is left out.

        :param message_id: Id of the message (`msg_…`).
        """
        result: Message = self._transport.call(
            "POST",
            f"/messages/{quote(message_id)}/media",
            body={},
        )
        return result

    def react(
        self,
        message_id: str,
        *,
        emoji: str,
    ) -> Message:
        """React to a message.

        React to a message with one emoji. It replaces the previous reaction of the session.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param emoji: A single emoji, such as 👍. Empty removes the reaction.
        """
        result: Message = self._transport.call(
            "PUT",
            f"/messages/{quote(message_id)}/reaction",
            body={
                "emoji": emoji,
            },
        )
        return result

    def vote(
        self,
        message_id: str,
        *,
        options: Sequence[str],
    ) -> Message:
        """Vote in a poll.

        Vote in a poll that the session received or sent. The vote replaces the previous one
        of the session.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param options: The chosen options; empty withdraws the vote.
        """
        result: Message = self._transport.call(
            "POST",
            f"/messages/{quote(message_id)}/vote",
            body={
                "options": options,
            },
        )
        return result

    def send_template(
        self,
        *,
        to: str,
        name: str,
        language: str,
        session_id: Optional[str] = None,
        reply_to: Optional[str] = None,
        send_at: Optional[str] = None,
        components: Optional[Sequence[Mapping[str, Any]]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Message:
        """Send a template.

        Send a text that the network has approved in advance. Use it on networks that require
        a template to start a conversation, or when another send fails with
        `template_required`. `components` fills in the values.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param name: Name of the template at the network, such as `order_sent`.
        :param language: Language of the template, such as `en_US`.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param reply_to: Id of a message (`msg_…`) in the same session, to reply to it.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param components: Values for the template, in the network's format.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Message = self._transport.call(
            "POST",
            "/messages/send-template",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "replyTo": UNSET if reply_to is None else reply_to,
                "sendAt": UNSET if send_at is None else send_at,
                "name": name,
                "language": language,
                "components": UNSET if components is None else components,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def send_interactive(
        self,
        *,
        to: str,
        message: str,
        session_id: Optional[str] = None,
        reply_to: Optional[str] = None,
        send_at: Optional[str] = None,
        header: Optional[str] = None,
        footer: Optional[str] = None,
        buttons: Optional[Sequence[MessagesSendInteractiveButton]] = None,
        list: Optional[MessagesSendInteractiveList] = None,
        link: Optional[MessagesSendInteractiveLink] = None,
        idempotency_key: Optional[str] = None,
    ) -> Message:
        """Send an interactive message.

        Send a text with buttons, a list or a link: pass exactly one of `buttons`, `list` and
        `link`. When the recipient chooses, the session receives a message whose text is the
        title of the choice and whose `payload` is its id.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param message: Text above the choices.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param reply_to: Id of a message (`msg_…`) in the same session, to reply to it.
        :param send_at: Send later, up to 366 days ahead. Time with an offset, such as
            2026-07-01T14:00:00+02:00.
        :param header: Bold line above the text.
        :param footer: Small line below the text.
        :param buttons: Up to three buttons.
        :param list: A list that the recipient opens to choose a row.
        :param link: A button that opens a URL.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Message = self._transport.call(
            "POST",
            "/messages/send-interactive",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "to": to,
                "replyTo": UNSET if reply_to is None else reply_to,
                "sendAt": UNSET if send_at is None else send_at,
                "message": message,
                "header": UNSET if header is None else header,
                "footer": UNSET if footer is None else footer,
                "buttons": UNSET if buttons is None else buttons,
                "list": UNSET if list is None else list,
                "link": UNSET if link is None else link,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def forward(
        self,
        message_id: str,
        *,
        to: str,
        idempotency_key: Optional[str] = None,
    ) -> Message:
        """Forward a message.

        Send a copy of a message, including its file, to another person or group. The copy is
        marked as forwarded and goes out through the session of the original.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param to: Phone number in international form, such as 491701234567 (+, spaces and
            dashes are ignored), or the id of a group (`grp_…`, `…@g.us`).
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Message = self._transport.call(
            "POST",
            f"/messages/{quote(message_id)}/forward",
            body={
                "to": to,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def cancel(
        self,
        message_id: str,
    ) -> Message:
        """Cancel a scheduled message.

        Cancel a message that waits for its `sendAt` or for approval. It stays in lists with
        the status `failed`. Messages that are no longer `scheduled` or `pending_approval`
        cannot be cancelled. Repeating the call changes nothing.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        """
        result: Message = self._transport.call(
            "POST",
            f"/messages/{quote(message_id)}/cancel",
            body={},
        )
        return result

    def approve(
        self,
        message_id: str,
        *,
        message: Optional[str] = None,
    ) -> Message:
        """Approve a message.

        Send a message that waits for approval, if you like with another text. It is returned
        as `queued` and goes out as soon as its session is connected; a `sendAt` that is still
        to come is kept. A file or link preview that it gets from a URL is fetched now; if
        that fails, the message still waits. List the waiting messages with `messages.list`
        and the status `pending_approval`. An API key cannot approve its own messages, and a
        key with `requiresApproval` none at all.

        Requires the permission `messages:approve`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param message: Text or caption to send instead; leave it out to send the message as
            it is.
        """
        result: Message = self._transport.call(
            "POST",
            f"/messages/{quote(message_id)}/approve",
            body={
                "message": UNSET if message is None else message,
            },
        )
        return result

    def reject(
        self,
        message_id: str,
        *,
        reason: Optional[str] = None,
    ) -> Message:
        """Reject a message.

        Refuse to send a message that waits for approval. It stays in lists with the status
        `failed` and the reason, which its author can read. An API key cannot reject its own
        messages; it cancels them with `messages.cancel`.

        Requires the permission `messages:approve`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param reason: Why, for the author of the message.
        """
        result: Message = self._transport.call(
            "POST",
            f"/messages/{quote(message_id)}/reject",
            body={
                "reason": UNSET if reason is None else reason,
            },
        )
        return result

    def star(
        self,
        message_id: str,
    ) -> Message:
        """Star a message.

        Star a message, on the phone as well. Nobody else sees it. List starred messages with
        `starred`.

        Requires the permission `chats:write`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        """
        result: Message = self._transport.call(
            "PUT",
            f"/messages/{quote(message_id)}/star",
            body={},
        )
        return result

    def unstar(
        self,
        message_id: str,
    ) -> Message:
        """Remove the star of a message.

        Remove the star of a message, on the phone as well.

        Requires the permission `chats:write`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        """
        result: Message = self._transport.call(
            "DELETE",
            f"/messages/{quote(message_id)}/star",
        )
        return result

    def pin(
        self,
        message_id: str,
        *,
        duration: Optional[Literal["24h", "7d", "30d"]] = None,
    ) -> Message:
        """Pin a message.

        Pin a message at the top of its chat, for everyone in it. In some groups only admins
        may. Networks limit how many messages of a chat are pinned at a time, and show the
        newest pins.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param duration: How long the message stays pinned; `7d` by default.
        """
        result: Message = self._transport.call(
            "POST",
            f"/messages/{quote(message_id)}/pin",
            body={
                "duration": UNSET if duration is None else duration,
            },
        )
        return result

    def unpin(
        self,
        message_id: str,
    ) -> Message:
        """Unpin a message.

        Remove the pin of a message, for everyone in the chat.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        """
        result: Message = self._transport.call(
            "DELETE",
            f"/messages/{quote(message_id)}/pin",
        )
        return result

    def add_label(
        self,
        message_id: str,
        label_id: str,
    ) -> Message:
        """Put a label on a message.

        Put a label on a message, on the phone as well. Nobody else sees it.

        Requires the permission `chats:write`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param label_id: Id of the label (`lbl_…`).
        """
        result: Message = self._transport.call(
            "PUT",
            f"/messages/{quote(message_id)}/labels/{quote(label_id)}",
            body={},
        )
        return result

    def remove_label(
        self,
        message_id: str,
        label_id: str,
    ) -> Message:
        """Take a label off a message.

        Take a label off a message, on the phone as well.

        Requires the permission `chats:write`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param message_id: Id of the message (`msg_…`).
        :param label_id: Id of the label (`lbl_…`).
        """
        result: Message = self._transport.call(
            "DELETE",
            f"/messages/{quote(message_id)}/labels/{quote(label_id)}",
        )
        return result


class ChatsResource:
    """List and manage the chats of a session."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        session_id: Optional[str] = None,
        unread: Optional[bool] = None,
        label_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ChatsListResult:
        """List chats.

        List chats with their name, last message and unread count, the most recent first. Use
        it to find a `chatId` or unread messages. Read a chat with `messages.list`.

        Requires the permission `chats:read`. With `chats:metadata` instead, the content of
        messages is left out.

        :param session_id: Only those of this session (`ses_…`).
        :param unread: `true`: only chats with unread messages; `false`: only others.
        :param label_id: Only chats with this label (`lbl_…`).
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: ChatsListResult = self._transport.call(
            "GET",
            "/chats",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "unread": UNSET if unread is None else unread,
                "labelId": UNSET if label_id is None else label_id,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        session_id: Optional[str] = None,
        unread: Optional[bool] = None,
        label_id: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Chat]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(session_id=session_id, unread=unread, label_id=label_id, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def get(
        self,
        chat_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> Chat:
        """Get a chat.

        Get one chat with its last message, unread count and settings.

        Requires the permission `chats:read`. With `chats:metadata` instead, the content of
        messages is left out.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: Chat = self._transport.call(
            "GET",
            f"/chats/{quote(chat_id)}",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
            repeatable=True,
        )
        return result

    def update(
        self,
        chat_id: str,
        *,
        session_id: Optional[str] = None,
        archived: Optional[bool] = None,
        pinned: Optional[bool] = None,
        muted_until: Union[Optional[str], Unset] = UNSET,
        disappearing_seconds: Union[Optional[int], Unset] = UNSET,
    ) -> UpdatedChat:
        """Update a chat.

        Archive, pin or mute a chat, on the phone as well if the network supports that and the
        session is connected. The other person sees only `disappearingSeconds`. Fields that
        you leave out do not change.

        Requires the permission `chats:write`. A key that has `chats:metadata` but not
        `chats:read` gets the result without message content.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param archived: true archives the chat, false restores it.
        :param pinned: true pins the chat, false unpins it.
        :param muted_until: Mutes the chat until this time; null unmutes it.
        :param disappearing_seconds: After how many seconds new messages of a direct chat
            disappear, for both sides: 86400, 604800 or 7776000; null lets them stay. Requires
        a
            connected session. In a group, it is a setting of the group.
        """
        result: UpdatedChat = self._transport.call(
            "PATCH",
            f"/chats/{quote(chat_id)}",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "archived": UNSET if archived is None else archived,
                "pinned": UNSET if pinned is None else pinned,
                "mutedUntil": muted_until,
                "disappearingSeconds": disappearing_seconds,
            },
        )
        return result

    def delete(
        self,
        chat_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> ChatsDeleteResult:
        """Delete a chat.

        Delete a chat with all of its messages from Switchboard, and from the phone where the
        network supports that. The other people keep their messages, and the session stays in
        a group. Messages that wait to be sent stay, and the chat with them. A new message
        begins the chat again.

        Requires the permission `chats:delete`.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ChatsDeleteResult = self._transport.call(
            "DELETE",
            f"/chats/{quote(chat_id)}",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result

    def mark_read(
        self,
        chat_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> ChatsMarkReadResult:
        """Mark a chat as read.

        Mark all incoming messages of a chat as read. Senders get read receipts, so call it
        only once somebody has handled the messages.

        Requires the permission `chats:write`.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ChatsMarkReadResult = self._transport.call(
            "POST",
            f"/chats/{quote(chat_id)}/read",
            body={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result

    def set_typing(
        self,
        chat_id: str,
        *,
        state: Literal["typing", "recording", "paused"],
        session_id: Optional[str] = None,
    ) -> ChatsSetTypingResult:
        """Show a typing indicator.

        Show in a chat that the session is typing or recording. Networks hide it after some
        seconds.

        Requires the permission `chats:write`.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param state: `recording` is for voice messages; `paused` hides the indicator.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ChatsSetTypingResult = self._transport.call(
            "POST",
            f"/chats/{quote(chat_id)}/typing",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "state": state,
            },
        )
        return result

    def request_history(
        self,
        chat_id: str,
        *,
        session_id: Optional[str] = None,
        count: Optional[int] = None,
    ) -> ChatsRequestHistoryResult:
        """Request older messages of a chat.

        Ask the network for messages that are older than the oldest known one of a chat. They
        arrive within seconds to minutes, if the phone of the session is online and has some,
        and are listed with `origin` history. Each session has a limit of such requests.

        Requires the permission `chats:write`.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param count: How many messages; 50 by default.
        """
        result: ChatsRequestHistoryResult = self._transport.call(
            "POST",
            f"/chats/{quote(chat_id)}/history",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "count": UNSET if count is None else count,
            },
        )
        return result

    def mark_unread(
        self,
        chat_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> ChatsMarkUnreadResult:
        """Mark a chat as unread.

        Mark a chat as unread in Switchboard, and on the phone where the network supports
        that. Its messages and `unreadCount` do not change, and nobody else sees it. Marking
        the chat as read ends it.

        Requires the permission `chats:write`.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ChatsMarkUnreadResult = self._transport.call(
            "POST",
            f"/chats/{quote(chat_id)}/unread",
            body={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result

    def clear(
        self,
        chat_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> ChatsClearResult:
        """Delete the messages of a chat.

        Delete all messages of a chat from Switchboard, and from the phone where the network
        supports that. The chat stays in the list, and the other people keep their messages.
        Messages that wait to be sent stay.

        Requires the permission `chats:delete`.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ChatsClearResult = self._transport.call(
            "POST",
            f"/chats/{quote(chat_id)}/clear",
            body={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result

    def add_label(
        self,
        chat_id: str,
        label_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> ChatsAddLabelResult:
        """Put a label on a chat.

        Put a label on a chat, on the phone as well. Nobody else sees it.

        Requires the permission `chats:write`.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param label_id: Id of the label (`lbl_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ChatsAddLabelResult = self._transport.call(
            "PUT",
            f"/chats/{quote(chat_id)}/labels/{quote(label_id)}",
            body={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result

    def remove_label(
        self,
        chat_id: str,
        label_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> ChatsRemoveLabelResult:
        """Take a label off a chat.

        Take a label off a chat, on the phone as well.

        Requires the permission `chats:write`.

        :param chat_id: Phone number digits of the other person, or the id of the group
            (`grp_…`).
        :param label_id: Id of the label (`lbl_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ChatsRemoveLabelResult = self._transport.call(
            "DELETE",
            f"/chats/{quote(chat_id)}/labels/{quote(label_id)}",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result


class LabelsResource:
    """Label chats and messages, for yourself."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        session_id: Optional[str] = None,
    ) -> LabelsListResult:
        """List labels.

        List the labels of a session, or of all sessions, in the order in which they were
        created. List the chats with a label with `labelId`. On WhatsApp, only business
        accounts have labels.

        Requires the permission `chats:metadata`.

        :param session_id: Only those of this session (`ses_…`).
        """
        result: LabelsListResult = self._transport.call(
            "GET",
            "/labels",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
            repeatable=True,
        )
        return result

    def create(
        self,
        *,
        name: str,
        session_id: Optional[str] = None,
        color: Optional[int] = None,
    ) -> Label:
        """Create a label.

        Create a label, on the phone as well.

        Requires the permission `chats:write`.

        :param name: Name of the label.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param color: Index into the palette of the network; WhatsApp has 20 colors.
        """
        result: Label = self._transport.call(
            "POST",
            "/labels",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "name": name,
                "color": UNSET if color is None else color,
            },
        )
        return result

    def update(
        self,
        label_id: str,
        *,
        session_id: Optional[str] = None,
        name: Optional[str] = None,
        color: Optional[int] = None,
    ) -> Label:
        """Change a label.

        Change the name or color of a label, on the phone as well. Fields that you leave out
        do not change.

        Requires the permission `chats:write`.

        :param label_id: Id of the label (`lbl_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param name: Name of the label.
        :param color: Index into the palette of the network; WhatsApp has 20 colors.
        """
        result: Label = self._transport.call(
            "PATCH",
            f"/labels/{quote(label_id)}",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "name": UNSET if name is None else name,
                "color": UNSET if color is None else color,
            },
        )
        return result

    def delete(
        self,
        label_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> LabelsDeleteResult:
        """Delete a label.

        Delete a label, on the phone as well, and take it off all chats and messages.

        Requires the permission `chats:write`.

        :param label_id: Id of the label (`lbl_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: LabelsDeleteResult = self._transport.call(
            "DELETE",
            f"/labels/{quote(label_id)}",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result


class MediaResource:
    """Upload and download the files of messages."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(
        self,
        media_id: str,
        *,
        encoding: Optional[Literal["base64"]] = None,
        thumbnail: Optional[bool] = None,
    ) -> Media:
        """Get a file.

        Get a file's type, size and download `url`. Use it to look at the file of a message.

        With `Accept`: `image/png`, `image/jpeg`, `image/webp`, `image/gif`, returns the
        result in this format if it has one, and as JSON otherwise.

        Requires the permission `media:read`.

        :param media_id: Id of the file (`med_…`).
        :param encoding: `base64` also returns the content, of files of up to 1 MiB.
        :param thumbnail: `true` also returns the thumbnail, if there is one.
        """
        result: Media = self._transport.call(
            "GET",
            f"/media/{quote(media_id)}",
            query={
                "encoding": UNSET if encoding is None else encoding,
                "thumbnail": UNSET if thumbnail is None else thumbnail,
            },
            repeatable=True,
        )
        return result

    def delete(
        self,
        media_id: str,
    ) -> MediaDeleteResult:
        """Delete a file.

        Delete a file. This cannot be undone. Messages that were sent or received with it
        stay, and show it with `available: false`. A file that a scheduled or queued message
        or the picture of a group needs is not deleted.

        Requires the permission `media:write`.

        :param media_id: Id of the file (`med_…`).
        """
        result: MediaDeleteResult = self._transport.call(
            "DELETE",
            f"/media/{quote(media_id)}",
        )
        return result


class StatusResource:
    """Post and view statuses (stories)."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def post(
        self,
        *,
        session_id: Optional[str] = None,
        type: Optional[Literal["text", "image", "video", "voice"]] = None,
        message: Optional[str] = None,
        media_id: Optional[str] = None,
        url: Optional[str] = None,
        content: Optional[str] = None,
        background_color: Optional[str] = None,
        font: Optional[int] = None,
        phone_numbers: Optional[Sequence[str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Status:
        """Post a status.

        Post a status (story), which disappears after 24 hours: a text, or with `type` a file
        from `mediaId`, `url` or `content`. The people in `phoneNumbers` see it, or all
        contacts of the session that are not blocked, up to 1000. On WhatsApp, people who have
        not saved the number do not see its statuses.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param type: Type of the status; `text` by default.
        :param message: Text, or caption of the file.
        :param media_id: Id of an uploaded or received file (`med_…`).
        :param url: https URL of the file.
        :param content: A small file in base64, up to 700,000 characters.
        :param background_color: Color behind a text or a voice message, such as `#1F6F5C`.
        :param font: The network's number of the font of a text.
        :param phone_numbers: The people who see it, up to 1000; all contacts if left out.
            In international form, such as 491701234567; +, spaces and dashes are ignored.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Status = self._transport.call(
            "POST",
            "/status",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "type": UNSET if type is None else type,
                "message": UNSET if message is None else message,
                "mediaId": UNSET if media_id is None else media_id,
                "url": UNSET if url is None else url,
                "content": UNSET if content is None else content,
                "backgroundColor": UNSET if background_color is None else background_color,
                "font": UNSET if font is None else font,
                "phoneNumbers": UNSET if phone_numbers is None else phone_numbers,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def list(
        self,
        *,
        session_id: Optional[str] = None,
        phone_number: Optional[str] = None,
        by: Optional[Literal["me", "others"]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> StatusListResult:
        """List statuses.

        List the statuses (stories) that have not expired, newest first: own ones, and those
        of others for sessions with the option `statuses`.

        Requires the permission `messages:read`. With `messages:metadata` instead, the content
        of messages is left out.

        :param session_id: Only those of this session (`ses_…`).
        :param phone_number: Only those of this person. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param by: Only own statuses, or only those of others.
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: StatusListResult = self._transport.call(
            "GET",
            "/status",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "phoneNumber": UNSET if phone_number is None else phone_number,
                "by": UNSET if by is None else by,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        session_id: Optional[str] = None,
        phone_number: Optional[str] = None,
        by: Optional[Literal["me", "others"]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Status]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(session_id=session_id, phone_number=phone_number, by=by, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def delete(
        self,
        status_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> StatusDeleteResult:
        """Delete a status.

        Delete an own status, which was posted with this API, for everybody who can see it.

        Requires the permission `messages:delete`.

        :param status_id: Id of the status (`sts_…`).
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        """
        result: StatusDeleteResult = self._transport.call(
            "DELETE",
            f"/status/{quote(status_id)}",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result

    def views(
        self,
        status_id: str,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> StatusViewsResult:
        """List the views of a status.

        List the people who have viewed an own status, with their reactions, ordered by phone
        number.

        Requires the permission `messages:read`. With `messages:metadata` instead, the content
        of messages is left out.

        :param status_id: Id of the status (`sts_…`).
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: StatusViewsResult = self._transport.call(
            "GET",
            f"/status/{quote(status_id)}/views",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def views_all(
        self,
        status_id: str,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[StatusViewsResultData]:
        """Iterate over all pages of `views`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.views(status_id, session_id=session_id, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def mark_viewed(
        self,
        status_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> StatusMarkViewedResult:
        """Mark a status as viewed.

        Tell the author of a status that the session has viewed it.

        Requires the permission `chats:write`.

        :param status_id: Id of the status (`sts_…`).
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        """
        result: StatusMarkViewedResult = self._transport.call(
            "POST",
            f"/status/{quote(status_id)}/viewed",
            body={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result


class ChannelsResource:
    """Follow channels, and post in own ones."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ChannelsListResult:
        """List channels.

        List the channels that sessions own or follow, as far as they are known here, newest
        first. Call `channels.refresh` to learn which channels the account followed on its
        phone.

        Requires the permission `groups:read`.

        :param session_id: Only those of this session (`ses_…`).
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: ChannelsListResult = self._transport.call(
            "GET",
            "/channels",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Channel]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(session_id=session_id, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def create(
        self,
        *,
        name: str,
        session_id: Optional[str] = None,
        description: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Channel:
        """Create a channel.

        Create a channel with the session as its owner. Anybody who has its link can follow
        it.

        Requires the permission `groups:write`.

        :param name: Name of the channel.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param description: Text that describes the channel.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Channel = self._transport.call(
            "POST",
            "/channels",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "name": name,
                "description": UNSET if description is None else description,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def preview(
        self,
        *,
        channel: str,
        session_id: Optional[str] = None,
    ) -> ChannelPreview:
        """Preview a channel.

        Ask the network about a channel by its link, invite code or address, for example
        before following it.

        Requires the permission `groups:read`.

        :param channel: Link or invite code of the channel, its address on the network
            (`…@newsletter`), or its id (`chn_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ChannelPreview = self._transport.call(
            "GET",
            "/channels/preview",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "channel": channel,
            },
            repeatable=True,
        )
        return result

    def refresh(
        self,
        *,
        session_id: Optional[str] = None,
    ) -> ChannelsRefreshResult:
        """Refresh the list of channels.

        Ask the network which channels the session owns and follows, and store them.

        Requires the permission `groups:write`.

        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: ChannelsRefreshResult = self._transport.call(
            "POST",
            "/channels/refresh",
            body={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result

    def follow(
        self,
        *,
        channel: str,
        session_id: Optional[str] = None,
    ) -> Channel:
        """Follow a channel.

        Follow a channel by its link, invite code or address.

        Requires the permission `groups:write`.

        :param channel: Link or invite code of the channel, its address on the network
            (`…@newsletter`), or its id (`chn_…`).
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: Channel = self._transport.call(
            "POST",
            "/channels/follow",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "channel": channel,
            },
        )
        return result

    def get(
        self,
        channel_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> Channel:
        """Get a channel.

        Get one channel that the session owns, follows or has followed.

        Requires the permission `groups:read`.

        :param channel_id: Id of the channel (`chn_…`).
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        """
        result: Channel = self._transport.call(
            "GET",
            f"/channels/{quote(channel_id)}",
            query={
                "sessionId": UNSET if session_id is None else session_id,
            },
            repeatable=True,
        )
        return result

    def update(
        self,
        channel_id: str,
        *,
        muted: bool,
        session_id: Optional[str] = None,
    ) -> Channel:
        """Mute or unmute a channel.

        Mute or unmute a channel for the account. A muted channel still reports its posts.

        Requires the permission `groups:write`.

        :param channel_id: Id of the channel (`chn_…`).
        :param muted: Whether the channel is muted.
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        """
        result: Channel = self._transport.call(
            "PATCH",
            f"/channels/{quote(channel_id)}",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "muted": muted,
            },
        )
        return result

    def unfollow(
        self,
        channel_id: str,
        *,
        session_id: Optional[str] = None,
    ) -> Channel:
        """Unfollow a channel.

        Stop following a channel. The posts that the session has received stay.

        Requires the permission `groups:write`.

        :param channel_id: Id of the channel (`chn_…`).
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        """
        result: Channel = self._transport.call(
            "POST",
            f"/channels/{quote(channel_id)}/unfollow",
            body={
                "sessionId": UNSET if session_id is None else session_id,
            },
        )
        return result

    def messages(
        self,
        channel_id: str,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ChannelsMessagesResult:
        """List the posts of a channel.

        List the stored posts of a channel, newest first: own ones, those that arrived in a
        session with the option `channels`, and those that `channels.refresh_messages`
        fetched. The newest 1000 are kept.

        Requires the permission `messages:read`. With `messages:metadata` instead, the content
        of messages is left out.

        :param channel_id: Id of the channel (`chn_…`).
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: ChannelsMessagesResult = self._transport.call(
            "GET",
            f"/channels/{quote(channel_id)}/messages",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def messages_all(
        self,
        channel_id: str,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[ChannelPost]:
        """Iterate over all pages of `messages`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.messages(channel_id, session_id=session_id, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def post(
        self,
        channel_id: str,
        *,
        session_id: Optional[str] = None,
        type: Optional[Literal["text", "image", "video"]] = None,
        message: Optional[str] = None,
        media_id: Optional[str] = None,
        url: Optional[str] = None,
        content: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> ChannelPost:
        """Post to a channel.

        Post a text, or with `type` a file from `mediaId`, `url` or `content`, to a channel
        that the session owns or administers. A key with `allowedRecipients` cannot post.

        Requires the permission `messages:send`. A key that has `messages:metadata` but not
        `messages:read` gets the result without message content.

        :param channel_id: Id of the channel (`chn_…`).
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        :param type: Type of the post; `text` by default.
        :param message: Text, or caption of the file.
        :param media_id: Id of an uploaded or received file (`med_…`).
        :param url: https URL of the file.
        :param content: A small file in base64, up to 700,000 characters.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: ChannelPost = self._transport.call(
            "POST",
            f"/channels/{quote(channel_id)}/messages",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "type": UNSET if type is None else type,
                "message": UNSET if message is None else message,
                "mediaId": UNSET if media_id is None else media_id,
                "url": UNSET if url is None else url,
                "content": UNSET if content is None else content,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def refresh_messages(
        self,
        channel_id: str,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> ChannelsRefreshMessagesResult:
        """Refresh the posts of a channel.

        Ask the network for the newest posts of a channel, and for how many people have seen
        them and reacted. New posts are stored without an event and without their files.

        Requires the permission `messages:read`.

        :param channel_id: Id of the channel (`chn_…`).
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        :param limit: How many posts to ask for.
        """
        result: ChannelsRefreshMessagesResult = self._transport.call(
            "POST",
            f"/channels/{quote(channel_id)}/messages/refresh",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "limit": UNSET if limit is None else limit,
            },
        )
        return result

    def react(
        self,
        channel_id: str,
        post_id: str,
        *,
        emoji: str,
        session_id: Optional[str] = None,
    ) -> ChannelsReactResult:
        """React to a post of a channel.

        React to a post of a channel with an emoji, or remove the reaction with an empty one.

        Requires the permission `messages:send`.

        :param channel_id: Id of the channel (`chn_…`).
        :param post_id: Id of the post (`pst_…`).
        :param emoji: A single emoji; empty removes the reaction.
        :param session_id: Id of the session (`ses_…`). It can be left out, because the
            other id determines it.
        """
        result: ChannelsReactResult = self._transport.call(
            "POST",
            f"/channels/{quote(channel_id)}/messages/{quote(post_id)}/reaction",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "emoji": emoji,
            },
        )
        return result


class GroupsResource:
    """Manage groups, their participants, settings and invites."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        session_id: Optional[str] = None,
        q: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> GroupsListResult:
        """List groups.

        List the groups that sessions are members of, with participants and settings, newest
        first. Use it to find a `groupId` by name (`q`).

        Requires the permission `groups:read`.

        :param session_id: Only those of this session (`ses_…`).
        :param q: Part of the name.
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: GroupsListResult = self._transport.call(
            "GET",
            "/groups",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "q": UNSET if q is None else q,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        session_id: Optional[str] = None,
        q: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Group]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(session_id=session_id, q=q, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def create(
        self,
        *,
        subject: str,
        phone_numbers: Sequence[str],
        session_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Group:
        """Create a group.

        Create a group with the session as its owner, and add participants. People whose
        privacy settings forbid it are not added; compare `participants` in the result.

        Requires the permission `groups:write`.

        :param subject: Name of the group.
        :param phone_numbers: Participants, up to 1024. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Group = self._transport.call(
            "POST",
            "/groups",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "subject": subject,
                "phoneNumbers": phone_numbers,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def get(
        self,
        group_id: str,
    ) -> Group:
        """Get a group.

        Get one group with its participants, their roles, and its settings. Use it to see who
        is an admin.

        Requires the permission `groups:read`.

        :param group_id: Id of the group (`grp_…`).
        """
        result: Group = self._transport.call(
            "GET",
            f"/groups/{quote(group_id)}",
            repeatable=True,
        )
        return result

    def update(
        self,
        group_id: str,
        *,
        subject: Optional[str] = None,
        description: Union[Optional[str], Unset] = UNSET,
        settings: Optional[GroupsUpdateSettings] = None,
        picture_media_id: Union[Optional[str], Unset] = UNSET,
    ) -> Group:
        """Update a group.

        Change the subject, description, settings or picture of a group. Fields that you leave
        out do not change. Only admins can change settings, or anything in a `locked` group.

        Requires the permission `groups:write`.

        :param group_id: Id of the group (`grp_…`).
        :param subject: Name of the group.
        :param description: Text that describes the group; null removes it.
        :param settings: Settings to change.
        :param picture_media_id: Id of an uploaded image; null removes the picture.
        """
        result: Group = self._transport.call(
            "PATCH",
            f"/groups/{quote(group_id)}",
            body={
                "subject": UNSET if subject is None else subject,
                "description": description,
                "settings": UNSET if settings is None else settings,
                "pictureMediaId": picture_media_id,
            },
        )
        return result

    def update_participants(
        self,
        group_id: str,
        *,
        action: Literal["add", "remove", "promote", "demote"],
        phone_numbers: Sequence[str],
    ) -> GroupsUpdateParticipantsResult:
        """Update group participants.

        Add, remove, promote or demote participants of a group. The session must be an admin.
        Returns one result per number, because some can fail.

        Requires the permission `groups:write`.

        :param group_id: Id of the group (`grp_…`).
        :param action: `promote` makes participants admins; `demote` makes them members
            again.
        :param phone_numbers: Participants, up to 1024. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        """
        result: GroupsUpdateParticipantsResult = self._transport.call(
            "POST",
            f"/groups/{quote(group_id)}/participants",
            body={
                "action": action,
                "phoneNumbers": phone_numbers,
            },
        )
        return result

    def get_invite_link(
        self,
        group_id: str,
    ) -> GroupInvite:
        """Get the invite link of a group.

        Get the invite link of a group, or create it. Anyone with the link can join. The
        session must be an admin.

        Requires the permission `groups:invite`.

        :param group_id: Id of the group (`grp_…`).
        """
        result: GroupInvite = self._transport.call(
            "GET",
            f"/groups/{quote(group_id)}/invite-link",
            repeatable=True,
        )
        return result

    def revoke_invite_link(
        self,
        group_id: str,
    ) -> GroupInvite:
        """Revoke the invite link of a group.

        Replace the invite link of a group with a new one, which is returned. The previous
        invite link stops working. The session must be an admin.

        Requires the permission `groups:write`.

        :param group_id: Id of the group (`grp_…`).
        """
        result: GroupInvite = self._transport.call(
            "DELETE",
            f"/groups/{quote(group_id)}/invite-link",
        )
        return result

    def join(
        self,
        *,
        invite: str,
        session_id: Optional[str] = None,
    ) -> GroupsJoinResult:
        """Join a group.

        Join a group with an invite link or the code after its last slash. If the status is
        `requested`, an admin must approve first.

        Requires the permission `groups:write`.

        :param invite: Invite link (`https://chat.whatsapp.com/…`), a text with one, or the
            code after its last slash.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: GroupsJoinResult = self._transport.call(
            "POST",
            "/groups/join",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "invite": invite,
            },
        )
        return result

    def leave(
        self,
        group_id: str,
    ) -> GroupsLeaveResult:
        """Leave a group.

        Leave a group. The session needs an invite to come back. Existing messages stay
        readable.

        Requires the permission `groups:write`.

        :param group_id: Id of the group (`grp_…`).
        """
        result: GroupsLeaveResult = self._transport.call(
            "POST",
            f"/groups/{quote(group_id)}/leave",
            body={},
        )
        return result

    def preview_invite(
        self,
        *,
        invite: str,
        session_id: Optional[str] = None,
    ) -> InvitePreview:
        """Preview a group invite.

        Show the group behind an invite, without joining it. Asks the network. Join it with
        `groups.join`.

        Requires the permission `groups:read`.

        :param invite: Invite link (`https://chat.whatsapp.com/…`), a text with one, or the
            code after its last slash.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        """
        result: InvitePreview = self._transport.call(
            "GET",
            "/groups/preview",
            query={
                "invite": invite,
                "sessionId": UNSET if session_id is None else session_id,
            },
            repeatable=True,
        )
        return result

    def list_join_requests(
        self,
        group_id: str,
    ) -> GroupsListJoinRequestsResult:
        """List requests to join a group.

        List the people who wait to join a group with `joinApproval`, the oldest first. Asks
        the network. The session must be an admin. The event `group.join_request` reports new
        ones.

        Requires the permission `groups:read`.

        :param group_id: Id of the group (`grp_…`).
        """
        result: GroupsListJoinRequestsResult = self._transport.call(
            "GET",
            f"/groups/{quote(group_id)}/join-requests",
            repeatable=True,
        )
        return result

    def approve_join_requests(
        self,
        group_id: str,
        *,
        phone_numbers: Sequence[str],
    ) -> GroupsApproveJoinRequestsResult:
        """Approve requests to join a group.

        Let people in who wait to join a group. The session must be an admin. Returns one
        result per number, because some can fail.

        Requires the permission `groups:write`.

        :param group_id: Id of the group (`grp_…`).
        :param phone_numbers: Participants, up to 1024. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        """
        result: GroupsApproveJoinRequestsResult = self._transport.call(
            "POST",
            f"/groups/{quote(group_id)}/join-requests/approve",
            body={
                "phoneNumbers": phone_numbers,
            },
        )
        return result

    def reject_join_requests(
        self,
        group_id: str,
        *,
        phone_numbers: Sequence[str],
    ) -> GroupsRejectJoinRequestsResult:
        """Reject requests to join a group.

        Turn down people who wait to join a group. The session must be an admin. Returns one
        result per number, because some can fail.

        Requires the permission `groups:write`.

        :param group_id: Id of the group (`grp_…`).
        :param phone_numbers: Participants, up to 1024. In international form, such as
            491701234567; +, spaces and dashes are ignored.
        """
        result: GroupsRejectJoinRequestsResult = self._transport.call(
            "POST",
            f"/groups/{quote(group_id)}/join-requests/reject",
            body={
                "phoneNumbers": phone_numbers,
            },
        )
        return result


class CommunitiesResource:
    """Manage communities, and the groups that belong to them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> CommunitiesListResult:
        """List communities.

        List the communities that sessions are members of, newest first.

        Requires the permission `groups:read`.

        :param session_id: Only those of this session (`ses_…`).
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: CommunitiesListResult = self._transport.call(
            "GET",
            "/communities",
            query={
                "sessionId": UNSET if session_id is None else session_id,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        session_id: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Group]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(session_id=session_id, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def create(
        self,
        *,
        subject: str,
        session_id: Optional[str] = None,
        description: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Group:
        """Create a community.

        Create a community with the session as its owner. The network adds its announcement
        group, which `groups.list` shows with `isAnnouncementGroup`. Link groups to it
        afterwards.

        Requires the permission `groups:write`.

        :param subject: Name of the group.
        :param session_id: Id of the session (`ses_…`). Required if the account has several
            sessions.
        :param description: Text that describes the community.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: Group = self._transport.call(
            "POST",
            "/communities",
            body={
                "sessionId": UNSET if session_id is None else session_id,
                "subject": subject,
                "description": UNSET if description is None else description,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def list_groups(
        self,
        group_id: str,
    ) -> CommunitiesListGroupsResult:
        """List the groups of a community.

        List the groups that are linked to a community, also those that the session has not
        joined. Asks the network.

        Requires the permission `groups:read`.

        :param group_id: Id of the community: a group (`grp_…`) with `isCommunity`.
        """
        result: CommunitiesListGroupsResult = self._transport.call(
            "GET",
            f"/communities/{quote(group_id)}/groups",
            repeatable=True,
        )
        return result

    def link_group(
        self,
        group_id: str,
        linked_group_id: str,
    ) -> CommunitiesLinkGroupResult:
        """Link a group to a community.

        Make a group part of a community. The session must be an admin of both. The members of
        the group become members of the community, so a key with `allowedRecipients` needs the
        group among them.

        Requires the permission `groups:write`.

        :param group_id: Id of the community: a group (`grp_…`) with `isCommunity`.
        :param linked_group_id: Id of the group (`grp_…`) of the same session, or its
            address at the network.
        """
        result: CommunitiesLinkGroupResult = self._transport.call(
            "PUT",
            f"/communities/{quote(group_id)}/groups/{quote(linked_group_id)}",
            body={},
        )
        return result

    def unlink_group(
        self,
        group_id: str,
        linked_group_id: str,
    ) -> CommunitiesUnlinkGroupResult:
        """Unlink a group from a community.

        Take a group out of a community. The group stays. The session must be an admin of the
        community.

        Requires the permission `groups:write`.

        :param group_id: Id of the community: a group (`grp_…`) with `isCommunity`.
        :param linked_group_id: Id of the group (`grp_…`) of the same session, or its
            address at the network.
        """
        result: CommunitiesUnlinkGroupResult = self._transport.call(
            "DELETE",
            f"/communities/{quote(group_id)}/groups/{quote(linked_group_id)}",
        )
        return result


class WebhooksEndpointsResource:
    """Operations of `webhooks.endpoints`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> WebhooksEndpointsListResult:
        """List webhooks.

        List all webhooks of the account, newest first, each with its URL, event types and
        breaker state. The default one, which `webhooks.set` sets, is included. Use it to find
        a `webhookId`.

        Requires the permission `webhooks:metadata`.

        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: WebhooksEndpointsListResult = self._transport.call(
            "GET",
            "/webhooks/endpoints",
            query={
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        limit: Optional[int] = None,
    ) -> Iterator[WebhookEndpoint]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def create(
        self,
        *,
        webhook_url: str,
        events: Sequence[str],
        secret: Union[Optional[str], Unset] = UNSET,
        enabled: Optional[bool] = None,
        max_in_flight: Optional[int] = None,
        destination: Optional[WebhooksEndpointsCreateDestination] = None,
        credentials: Union[Optional[WebhooksEndpointsCreateCredentials], Unset] = UNSET,
        session_ids: Union[Optional[Sequence[str]], Unset] = UNSET,
        description: Union[Optional[str], Unset] = UNSET,
        metadata: Optional[Mapping[str, str]] = None,
        filters: Union[Optional[WebhooksEndpointsCreateFilters], Unset] = UNSET,
        headers: Union[Optional[Mapping[str, str]], Unset] = UNSET,
        timeout_ms: Union[Optional[int], Unset] = UNSET,
        retry_seconds: Union[Optional[Sequence[int]], Unset] = UNSET,
        accept_redirects: Optional[bool] = None,
        paused: Optional[bool] = None,
        ordering: Optional[Literal["best_effort", "strict"]] = None,
        include: Union[Optional[Sequence[Literal["network", "contact", "chat", "session"]]], Unset] = UNSET,
        idempotency_key: Optional[str] = None,
    ) -> ChangedWebhookEndpoint:
        """Add a webhook.

        Add another webhook with its own URL, event types, sessions, secret, circuit breaker
        and statistics. An account can have up to 100 webhooks.

        Requires the permission `webhooks:write`.

        :param webhook_url: http or https URL, such as https://example.com/hooks. Private
            addresses are refused.
        :param events: Event types, such as `message.incoming`, or patterns, such as
            `message.*`. `GET /events/types` and `switchboard://event-kinds` list them.
        :param secret: Signs deliveries. Never returned. Without one, deliveries are not
            signed.
        :param enabled: Whether events are queued and sent; true by default.
        :param max_in_flight: Number of deliveries in flight at the same time; 8 by default.
        :param destination: Where events go if not over HTTP. `webhookUrl` is then the
            address of the broker, such as `amqps://example.com/vhost`.
        :param credentials: Replaces all credentials; `null` removes them.
        :param session_ids: Only events of these sessions; `null` for all, which is the
            default. Not for the default webhook.
        :param description: Note for people, such as `orders of the shop`.
        :param metadata: Your own data: up to 50 strings by key (40 characters), such as
            `{"team": "sales"}`.
        :param filters: Selects events by chat, sender and type; `null` for all. Not for the
            default webhook.
        :param headers: Up to 20 headers of every delivery, such as `{"Authorization":
            "Bearer …"}`. Their values are never returned. `null` removes them.
        :param timeout_ms: Milliseconds of a whole attempt; `null` for that of the server
            (`WEBHOOK_TIMEOUT_MS`).
        :param retry_seconds: Seconds before each retry; an empty list for no retries,
            `null` for the schedule of the server (`WEBHOOK_RETRY_SECONDS`).
        :param accept_redirects: `true` counts 302 and 303 as delivered, for receivers that
            redirect after they have processed an event, such as Google Apps Script; false by
            default.
        :param paused: While true, events are queued but not sent.
        :param ordering: `strict`: a delivery that failed holds back the later ones of its
            chat until it succeeds, fails for good or is cancelled. `best_effort`, the
        default:
            only first attempts keep the order.
        :param include: Groups of fields that are added to `data` of its events. `null`, the
            default, adds `network` and `contact` if it receives event types beyond the first
            eight, otherwise nothing.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: ChangedWebhookEndpoint = self._transport.call(
            "POST",
            "/webhooks/endpoints",
            body={
                "webhookUrl": webhook_url,
                "events": events,
                "secret": secret,
                "enabled": UNSET if enabled is None else enabled,
                "maxInFlight": UNSET if max_in_flight is None else max_in_flight,
                "destination": UNSET if destination is None else destination,
                "credentials": credentials,
                "sessionIds": session_ids,
                "description": description,
                "metadata": UNSET if metadata is None else metadata,
                "filters": filters,
                "headers": headers,
                "timeoutMs": timeout_ms,
                "retrySeconds": retry_seconds,
                "acceptRedirects": UNSET if accept_redirects is None else accept_redirects,
                "paused": UNSET if paused is None else paused,
                "ordering": UNSET if ordering is None else ordering,
                "include": include,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def get(
        self,
        webhook_id: str,
    ) -> WebhookEndpoint:
        """Get a webhook.

        Get the URL and the event types of one webhook, whether it is enabled and has a
        secret, and the state of its circuit breaker. The secret is never included.

        Requires the permission `webhooks:metadata`.

        :param webhook_id: Id of the webhook (`whk_…`).
        """
        result: WebhookEndpoint = self._transport.call(
            "GET",
            f"/webhooks/endpoints/{quote(webhook_id)}",
            repeatable=True,
        )
        return result

    def update(
        self,
        webhook_id: str,
        *,
        webhook_url: Optional[str] = None,
        events: Optional[Sequence[str]] = None,
        secret: Union[Optional[str], Unset] = UNSET,
        enabled: Optional[bool] = None,
        max_in_flight: Optional[int] = None,
        destination: Optional[WebhooksEndpointsUpdateDestination] = None,
        credentials: Union[Optional[WebhooksEndpointsUpdateCredentials], Unset] = UNSET,
        session_ids: Union[Optional[Sequence[str]], Unset] = UNSET,
        description: Union[Optional[str], Unset] = UNSET,
        metadata: Optional[Mapping[str, str]] = None,
        filters: Union[Optional[WebhooksEndpointsUpdateFilters], Unset] = UNSET,
        headers: Union[Optional[Mapping[str, str]], Unset] = UNSET,
        timeout_ms: Union[Optional[int], Unset] = UNSET,
        retry_seconds: Union[Optional[Sequence[int]], Unset] = UNSET,
        accept_redirects: Optional[bool] = None,
        paused: Optional[bool] = None,
        ordering: Optional[Literal["best_effort", "strict"]] = None,
        include: Union[Optional[Sequence[Literal["network", "contact", "chat", "session"]]], Unset] = UNSET,
    ) -> ChangedWebhookEndpoint:
        """Update a webhook.

        Change a webhook. Fields that you leave out do not change. While `enabled` is false,
        nothing is sent and new events are not queued. A new URL closes the circuit breaker,
        and pending deliveries of event types and sessions that you drop are cancelled.
        `metadata` replaces what was set before.

        Requires the permission `webhooks:write`.

        :param webhook_id: Id of the webhook (`whk_…`).
        :param webhook_url: http or https URL, such as https://example.com/hooks. Private
            addresses are refused.
        :param events: Event types, such as `message.incoming`, or patterns, such as
            `message.*`. `GET /events/types` and `switchboard://event-kinds` list them.
        :param secret: Signs deliveries. Never returned. Left out: no change; `null`:
            removed.
        :param enabled: Whether events are queued and sent; true by default.
        :param max_in_flight: Number of deliveries in flight at the same time; 8 by default.
        :param destination: Where events go if not over HTTP. `webhookUrl` is then the
            address of the broker, such as `amqps://example.com/vhost`.
        :param credentials: Replaces all credentials; `null` removes them.
        :param session_ids: Only events of these sessions; `null` for all, which is the
            default. Not for the default webhook.
        :param description: Note for people, such as `orders of the shop`.
        :param metadata: Your own data: up to 50 strings by key (40 characters), such as
            `{"team": "sales"}`.
        :param filters: Selects events by chat, sender and type; `null` for all. Not for the
            default webhook.
        :param headers: Up to 20 headers of every delivery, such as `{"Authorization":
            "Bearer …"}`. Their values are never returned. `null` removes them.
        :param timeout_ms: Milliseconds of a whole attempt; `null` for that of the server
            (`WEBHOOK_TIMEOUT_MS`).
        :param retry_seconds: Seconds before each retry; an empty list for no retries,
            `null` for the schedule of the server (`WEBHOOK_RETRY_SECONDS`).
        :param accept_redirects: `true` counts 302 and 303 as delivered, for receivers that
            redirect after they have processed an event, such as Google Apps Script; false by
            default.
        :param paused: While true, events are queued but not sent.
        :param ordering: `strict`: a delivery that failed holds back the later ones of its
            chat until it succeeds, fails for good or is cancelled. `best_effort`, the
        default:
            only first attempts keep the order.
        :param include: Groups of fields that are added to `data` of its events. `null`, the
            default, adds `network` and `contact` if it receives event types beyond the first
            eight, otherwise nothing.
        """
        result: ChangedWebhookEndpoint = self._transport.call(
            "PATCH",
            f"/webhooks/endpoints/{quote(webhook_id)}",
            body={
                "webhookUrl": UNSET if webhook_url is None else webhook_url,
                "events": UNSET if events is None else events,
                "secret": secret,
                "enabled": UNSET if enabled is None else enabled,
                "maxInFlight": UNSET if max_in_flight is None else max_in_flight,
                "destination": UNSET if destination is None else destination,
                "credentials": credentials,
                "sessionIds": session_ids,
                "description": description,
                "metadata": UNSET if metadata is None else metadata,
                "filters": filters,
                "headers": headers,
                "timeoutMs": timeout_ms,
                "retrySeconds": retry_seconds,
                "acceptRedirects": UNSET if accept_redirects is None else accept_redirects,
                "paused": UNSET if paused is None else paused,
                "ordering": UNSET if ordering is None else ordering,
                "include": include,
            },
        )
        return result

    def delete(
        self,
        webhook_id: str,
    ) -> WebhooksEndpointsDeleteResult:
        """Remove a webhook.

        Remove a webhook. Pending deliveries are cancelled and stay in the delivery log. Once
        the request returns, nothing more is sent to the URL.

        Requires the permission `webhooks:write`.

        :param webhook_id: Id of the webhook (`whk_…`).
        """
        result: WebhooksEndpointsDeleteResult = self._transport.call(
            "DELETE",
            f"/webhooks/endpoints/{quote(webhook_id)}",
        )
        return result

    def rotate_secret(
        self,
        webhook_id: str,
        *,
        secret: Optional[str] = None,
        grace_seconds: Optional[int] = None,
    ) -> SecretRotation:
        """Rotate the secret of a webhook.

        Replace the secret of a webhook without losing deliveries. For `graceSeconds`,
        `webhook-signature` has the signatures of both secrets. `X-Webhook-Signature` uses the
        new secret at once. Without `secret`, the server makes one, which
        `webhooks.endpoints.reveal_secret` returns.

        Requires the permission `webhooks:write`.

        :param webhook_id: Id of the webhook (`whk_…`).
        :param secret: New secret, with at least 16 characters. Never returned. Left out:
            the server makes one.
        :param grace_seconds: Seconds for which `webhook-signature` also has the signature
            of the old secret; one day by default.
        """
        result: SecretRotation = self._transport.call(
            "POST",
            f"/webhooks/endpoints/{quote(webhook_id)}/secret/rotate",
            body={
                "secret": UNSET if secret is None else secret,
                "graceSeconds": UNSET if grace_seconds is None else grace_seconds,
            },
        )
        return result

    def reveal_secret(
        self,
        webhook_id: str,
    ) -> RevealedSecret:
        """Show the secret that the server made for a webhook.

        Return the secret of a webhook, if the server made it in the last seven days. A secret
        that was passed to the server is never returned.

        Requires a login token; API keys are refused.

        :param webhook_id: Id of the webhook (`whk_…`).
        """
        result: RevealedSecret = self._transport.call(
            "POST",
            f"/webhooks/endpoints/{quote(webhook_id)}/secret/reveal",
            body={},
        )
        return result

    def test(
        self,
        webhook_id: str,
        *,
        event: Optional[str] = None,
    ) -> WebhookTest:
        """Test a webhook.

        Send one sample event to a webhook now, even if its circuit breaker is open. Returns
        the request, the response, and the result of each stage.

        Requires the permission `webhooks:operate`.

        :param webhook_id: Id of the webhook (`whk_…`).
        :param event: Event type of the sample, such as `message.incoming`; by default the
            first one of the webhook.
        """
        result: WebhookTest = self._transport.call(
            "GET",
            f"/webhooks/endpoints/{quote(webhook_id)}/test",
            query={
                "event": UNSET if event is None else event,
            },
        )
        return result

    def stats(
        self,
        webhook_id: str,
    ) -> WebhookStats:
        """Get the statistics of a webhook.

        Get attempts, success rate and latency of a webhook over 1 h, 24 h and 7 d, and per
        minute for the last hour. Tests are not counted.

        Requires the permission `webhooks:metadata`.

        :param webhook_id: Id of the webhook (`whk_…`).
        """
        result: WebhookStats = self._transport.call(
            "GET",
            f"/webhooks/endpoints/{quote(webhook_id)}/stats",
            repeatable=True,
        )
        return result

    def get_circuit_breaker(
        self,
        webhook_id: str,
    ) -> CircuitBreaker:
        """Get the circuit breaker of a webhook.

        Get the state of the circuit breaker of a webhook, with the reason, the last error,
        the held deliveries and the next probe.

        Requires the permission `webhooks:metadata`.

        :param webhook_id: Id of the webhook (`whk_…`).
        """
        result: CircuitBreaker = self._transport.call(
            "GET",
            f"/webhooks/endpoints/{quote(webhook_id)}/circuit-breaker",
            repeatable=True,
        )
        return result

    def reset_circuit_breaker(
        self,
        webhook_id: str,
    ) -> BreakerReset:
        """Reset the circuit breaker of a webhook.

        Close the circuit breaker of a webhook, so that held deliveries go out in order,
        slowly at first. Use it once the receiver works again.

        Requires the permission `webhooks:operate`.

        :param webhook_id: Id of the webhook (`whk_…`).
        """
        result: BreakerReset = self._transport.call(
            "POST",
            f"/webhooks/endpoints/{quote(webhook_id)}/circuit-breaker/reset",
            body={},
        )
        return result


class WebhooksSubscriptionsResource:
    """Operations of `webhooks.subscriptions`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> WebhooksSubscriptionsListResult:
        """List event subscriptions.

        List what MCP clients have subscribed to with `events/subscribe`, newest first. Only
        the client can change a subscription. Its deliveries are in the delivery log under
        `webhookId`, by which you also get its statistics and reset its circuit breaker.

        Requires the permission `webhooks:metadata`.

        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: WebhooksSubscriptionsListResult = self._transport.call(
            "GET",
            "/webhooks/subscriptions",
            query={
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_all(
        self,
        *,
        limit: Optional[int] = None,
    ) -> Iterator[EventSubscription]:
        """Iterate over all pages of `list`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list(limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def delete(
        self,
        webhook_id: str,
    ) -> WebhooksSubscriptionsDeleteResult:
        """End an event subscription.

        End a subscription of an MCP client. Pending deliveries are cancelled, and the client
        is told. It can subscribe again until you revoke its API key.

        Requires the permission `webhooks:write`.

        :param webhook_id: Id of the webhook (`whk_…`).
        """
        result: WebhooksSubscriptionsDeleteResult = self._transport.call(
            "DELETE",
            f"/webhooks/subscriptions/{quote(webhook_id)}",
        )
        return result


class WebhooksResource:
    """Set up webhooks, and find out why an event did not arrive."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.endpoints = WebhooksEndpointsResource(transport)
        self.subscriptions = WebhooksSubscriptionsResource(transport)

    def set(
        self,
        *,
        webhook_url: str,
        events: Sequence[str],
        webhook_id: Optional[str] = None,
        secret: Union[Optional[str], Unset] = UNSET,
        rotate_secret: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> WebhooksSetResult:
        """Set the webhook.

        Replace the URL and event types of the default webhook, or of another one. Call
        `webhooks.test` to verify it. A new URL closes the circuit breaker. Cancels pending
        deliveries of event types that you drop.

        Requires the permission `webhooks:write`.

        :param webhook_url: http or https URL, such as https://example.com/hooks. Private
            addresses are refused.
        :param events: Event types, such as `message.incoming`, or patterns, such as
            `message.*`. `GET /events/types` and `switchboard://event-kinds` list them.
        :param webhook_id: A webhook other than the default one (`whk_…`).
        :param secret: Signs deliveries. Never returned. Left out: no change; `null`:
            removed.
        :param rotate_secret: Signs with a new secret, which is not returned. A person reads
            it at `secretUrl`. Repeat URL and events to only rotate.
        :param idempotency_key: Replaces the key that the client generates.
        """
        result: WebhooksSetResult = self._transport.call(
            "POST",
            "/webhooks/set",
            body={
                "webhookId": UNSET if webhook_id is None else webhook_id,
                "webhookUrl": webhook_url,
                "events": events,
                "secret": secret,
                "rotateSecret": UNSET if rotate_secret is None else rotate_secret,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
        )
        return result

    def get(
        self,
        *,
        webhook_id: Optional[str] = None,
    ) -> WebhooksGetResult:
        """Get the webhook.

        Get the URL and the event types of the default webhook, whether it has a secret, and
        the ids of `others`. Use it before `webhooks.set`, which replaces them.

        Requires the permission `webhooks:metadata`.

        :param webhook_id: A webhook other than the default one (`whk_…`).
        """
        result: WebhooksGetResult = self._transport.call(
            "GET",
            "/webhooks",
            query={
                "webhookId": UNSET if webhook_id is None else webhook_id,
            },
            repeatable=True,
        )
        return result

    def delete(self) -> WebhooksDeleteResult:
        """Remove the webhook.

        Remove the default webhook. Pending deliveries are cancelled and stay in the delivery
        log. Once the request returns, nothing more is sent to the URL.

        Requires the permission `webhooks:write`.
        """
        result: WebhooksDeleteResult = self._transport.call(
            "DELETE",
            "/webhooks",
        )
        return result

    def test(
        self,
        *,
        webhook_id: Optional[str] = None,
        event: Optional[str] = None,
    ) -> WebhookTest:
        """Test the webhook.

        Send one sample event to the webhook now, even if its circuit breaker is open. Use it
        to verify a URL, or to find the stage that fails. Returns the request, the response
        and every stage. The event has `data.test: true` and is not counted in the statistics.

        Requires the permission `webhooks:operate`.

        :param webhook_id: A webhook other than the default one (`whk_…`).
        :param event: Event type of the sample, such as `message.incoming`; by default the
            first one of the webhook.
        """
        result: WebhookTest = self._transport.call(
            "GET",
            "/webhooks/test",
            query={
                "webhookId": UNSET if webhook_id is None else webhook_id,
                "event": UNSET if event is None else event,
            },
        )
        return result

    def stats(
        self,
        *,
        webhook_id: Optional[str] = None,
    ) -> WebhookStats:
        """Get webhook statistics.

        Get attempts, success rate and latency of the default webhook over 1 h, 24 h and 7 d,
        and its pending deliveries. Tests are not counted.

        Requires the permission `webhooks:metadata`.

        :param webhook_id: A webhook other than the default one (`whk_…`).
        """
        result: WebhookStats = self._transport.call(
            "GET",
            "/webhooks/stats",
            query={
                "webhookId": UNSET if webhook_id is None else webhook_id,
            },
            repeatable=True,
        )
        return result

    def get_circuit_breaker(
        self,
        *,
        webhook_id: Optional[str] = None,
    ) -> CircuitBreaker:
        """Get the circuit breaker.

        Get the state of the default webhook's circuit breaker, the last error, the held
        deliveries and the next probe. `open` means that deliveries are held because the
        receiver fails.

        Requires the permission `webhooks:metadata`.

        :param webhook_id: A webhook other than the default one (`whk_…`).
        """
        result: CircuitBreaker = self._transport.call(
            "GET",
            "/webhooks/circuit-breaker",
            query={
                "webhookId": UNSET if webhook_id is None else webhook_id,
            },
            repeatable=True,
        )
        return result

    def reset_circuit_breaker(
        self,
        *,
        webhook_id: Optional[str] = None,
    ) -> BreakerReset:
        """Reset the circuit breaker.

        Close the circuit breaker of the default webhook, so that held deliveries go out in
        order, slowly at first. Use it once the receiver works again.

        Requires the permission `webhooks:operate`.

        :param webhook_id: A webhook other than the default one (`whk_…`).
        """
        result: BreakerReset = self._transport.call(
            "POST",
            "/webhooks/circuit-breaker/reset",
            body={
                "webhookId": UNSET if webhook_id is None else webhook_id,
            },
        )
        return result

    def list_deliveries(
        self,
        *,
        webhook_id: Optional[str] = None,
        states: Optional[Sequence[Literal["pending", "delivered", "failed", "expired", "cancelled"]]] = None,
        events: Optional[Sequence[str]] = None,
        message_id: Optional[str] = None,
        chat_id: Optional[str] = None,
        after_time: Optional[str] = None,
        before_time: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> WebhooksListDeliveriesResult:
        """List deliveries.

        List webhook deliveries with their state, newest first. Use it to find events that did
        not arrive: filter by `states`, `messageId` or `chatId`. `webhooks.get_delivery` then
        says why.

        Requires the permission `webhooks:metadata`.

        :param webhook_id: Only deliveries of this webhook (`whk_…`).
        :param states: Only deliveries in these states.
        :param events: Only these event types, such as `message.*`.
        :param message_id: Only events about this message (`msg_…`).
        :param chat_id: Only events of this chat: phone number or group id (`grp_…`).
        :param after_time: Only at or after this time, such as 2026-07-01T12:00:00Z.
        :param before_time: Only before this time.
        :param limit: Number of entries per page.
        :param cursor: `nextCursor` of the previous page. Leave it out for the first page.
        """
        result: WebhooksListDeliveriesResult = self._transport.call(
            "GET",
            "/webhooks/deliveries",
            query={
                "webhookId": UNSET if webhook_id is None else webhook_id,
                "states": UNSET if states is None else states,
                "events": UNSET if events is None else events,
                "messageId": UNSET if message_id is None else message_id,
                "chatId": UNSET if chat_id is None else chat_id,
                "afterTime": UNSET if after_time is None else after_time,
                "beforeTime": UNSET if before_time is None else before_time,
                "limit": UNSET if limit is None else limit,
                "cursor": UNSET if cursor is None else cursor,
            },
            repeatable=True,
        )
        return result

    def list_deliveries_all(
        self,
        *,
        webhook_id: Optional[str] = None,
        states: Optional[Sequence[Literal["pending", "delivered", "failed", "expired", "cancelled"]]] = None,
        events: Optional[Sequence[str]] = None,
        message_id: Optional[str] = None,
        chat_id: Optional[str] = None,
        after_time: Optional[str] = None,
        before_time: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Delivery]:
        """Iterate over all pages of `list_deliveries`, and request each when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.list_deliveries(webhook_id=webhook_id, states=states, events=events, message_id=message_id, chat_id=chat_id, after_time=after_time, before_time=before_time, limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def get_delivery(
        self,
        delivery_id: str,
    ) -> DeliveryWithAttempts:
        """Get a delivery.

        Get one delivery with its body, every attempt, and `why`: a sentence that says why it
        has or has not arrived.

        Requires the permission `webhooks:read`. With `webhooks:metadata` instead, the content
        of messages is left out.

        :param delivery_id: Id of the delivery (`dlv_…`).
        """
        result: DeliveryWithAttempts = self._transport.call(
            "GET",
            f"/webhooks/deliveries/{quote(delivery_id)}",
            repeatable=True,
        )
        return result

    def replay(
        self,
        *,
        delivery_ids: Optional[Sequence[str]] = None,
        after_time: Optional[str] = None,
        before_time: Optional[str] = None,
        events: Optional[Sequence[str]] = None,
        states: Optional[Sequence[Literal["delivered", "failed", "expired", "cancelled"]]] = None,
        webhook_id: Optional[str] = None,
        dry_run: Optional[bool] = None,
        per_second: Optional[int] = None,
    ) -> WebhooksReplayResult:
        """Replay deliveries.

        Send settled deliveries again, with the same `X-Webhook-Id`. Select them by
        `deliveryIds`, or by `afterTime` and `beforeTime`: failed and expired ones unless you
        pass `states`. Count them first with `dryRun`. At most 100,000 per call.

        Requires the permission `webhooks:operate`.

        :param delivery_ids: Ids of deliveries, up to 1,000.
        :param after_time: Only at or after this time, such as 2026-07-01T12:00:00Z.
        :param before_time: Only before this time.
        :param events: Only these event types, such as `message.*`.
        :param states: Only deliveries in these states.
        :param webhook_id: Only deliveries of this webhook (`whk_…`).
        :param dry_run: Only counts; sends nothing.
        :param per_second: Deliveries per second; 100 by default.
        """
        result: WebhooksReplayResult = self._transport.call(
            "POST",
            "/webhooks/replay",
            body={
                "deliveryIds": UNSET if delivery_ids is None else delivery_ids,
                "afterTime": UNSET if after_time is None else after_time,
                "beforeTime": UNSET if before_time is None else before_time,
                "events": UNSET if events is None else events,
                "states": UNSET if states is None else states,
                "webhookId": UNSET if webhook_id is None else webhook_id,
                "dryRun": UNSET if dry_run is None else dry_run,
                "perSecond": UNSET if per_second is None else per_second,
            },
        )
        return result

    def cancel_delivery(
        self,
        delivery_id: str,
    ) -> Delivery:
        """Cancel a delivery.

        Cancel a pending delivery: it is not attempted again, and stays in the log. Use it to
        skip an event that the receiver cannot process, which at a webhook with `ordering:
        "strict"` holds back the later events of its chat. An attempt in flight may still
        deliver it. `webhooks.replay` sends it again.

        Requires the permission `webhooks:operate`.

        :param delivery_id: Id of the delivery (`dlv_…`).
        """
        result: Delivery = self._transport.call(
            "POST",
            f"/webhooks/deliveries/{quote(delivery_id)}/cancel",
            body={},
        )
        return result

    def rotate_secret(
        self,
        *,
        webhook_id: Optional[str] = None,
        secret: Optional[str] = None,
        grace_seconds: Optional[int] = None,
    ) -> SecretRotation:
        """Rotate the secret of the webhook.

        Replace the secret without losing deliveries. For `graceSeconds`, `webhook-signature`
        has the signatures of both secrets, so that receivers can switch.
        `X-Webhook-Signature` uses the new secret at once. Without `secret`, the server makes
        one, which `webhooks.reveal_secret` returns.

        Requires the permission `webhooks:write`.

        :param webhook_id: A webhook other than the default one (`whk_…`).
        :param secret: New secret, with at least 16 characters. Never returned. Left out:
            the server makes one.
        :param grace_seconds: Seconds for which `webhook-signature` also has the signature
            of the old secret; one day by default.
        """
        result: SecretRotation = self._transport.call(
            "POST",
            "/webhooks/secret/rotate",
            body={
                "webhookId": UNSET if webhook_id is None else webhook_id,
                "secret": UNSET if secret is None else secret,
                "graceSeconds": UNSET if grace_seconds is None else grace_seconds,
            },
        )
        return result

    def reveal_secret(
        self,
        *,
        webhook_id: Optional[str] = None,
    ) -> RevealedSecret:
        """Show the secret that the server made.

        Return the secret of the default webhook, if the server made it in the last seven
        days. Use it after an agent has rotated the secret, which never sees it. A secret that
        was passed to the server is never returned.

        Requires a login token; API keys are refused.

        :param webhook_id: A webhook other than the default one (`whk_…`).
        """
        result: RevealedSecret = self._transport.call(
            "POST",
            "/webhooks/secret/reveal",
            body={
                "webhookId": UNSET if webhook_id is None else webhook_id,
            },
        )
        return result


class EventsResource:
    """Read events without a webhook."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        after_cursor: Optional[str] = None,
        events: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        wait: Optional[int] = None,
    ) -> EventsListResult:
        """List events.

        Read the account's events, oldest first, as webhooks receive them. Use it to catch up
        or to wait for a reply: pass `nextCursor` as `afterCursor`, and `wait` to hold the
        request until an event arrives.

        Requires the permission `events:read`. With `events:metadata` instead, the content of
        messages is left out.

        :param after_cursor: `nextCursor` of the previous response, or `now`; without it,
            starts at the oldest event.
        :param events: Only these types, such as `message.*`; `*` for all. By default the
            first eight of `switchboard://event-kinds`.
        :param limit: Number of events per response.
        :param wait: Seconds to wait for an event if there is none yet; up to 30.
        """
        result: EventsListResult = self._transport.call(
            "GET",
            "/events",
            query={
                "afterCursor": UNSET if after_cursor is None else after_cursor,
                "events": UNSET if events is None else events,
                "limit": UNSET if limit is None else limit,
                "wait": UNSET if wait is None else wait,
            },
            repeatable=True,
        )
        return result

    def types(self) -> EventsTypesResult:
        """List event types.

        List all event types with the JSON Schema of their `data` and an example. Subscribe to
        them by name, or by a pattern: `*` for all, `message.*` for all whose names begin with
        `message.`.

        Requires the permission `events:metadata`.
        """
        result: EventsTypesResult = self._transport.call(
            "GET",
            "/events/types",
            repeatable=True,
        )
        return result


class Resources:
    """The resources of the API."""

    def __init__(self, transport: Transport) -> None:
        self.auth = AuthResource(transport)
        self.api_keys = ApiKeysResource(transport)
        self.connections = ConnectionsResource(transport)
        self.connectors = ConnectorsResource(transport)
        self.sessions = SessionsResource(transport)
        self.templates = TemplatesResource(transport)
        self.contacts = ContactsResource(transport)
        self.calls = CallsResource(transport)
        self.messages = MessagesResource(transport)
        self.chats = ChatsResource(transport)
        self.labels = LabelsResource(transport)
        self.status = StatusResource(transport)
        self.channels = ChannelsResource(transport)
        self.groups = GroupsResource(transport)
        self.communities = CommunitiesResource(transport)
        self.webhooks = WebhooksResource(transport)
