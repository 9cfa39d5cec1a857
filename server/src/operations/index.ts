import type { Operation } from '../invoke/operation.ts';
import * as account from './account.ts';
import * as apiKeys from './apiKeys.ts';
import * as approvals from './approvals.ts';
import * as auth from './auth.ts';
import * as businessProfiles from './businessProfiles.ts';
import * as calls from './calls.ts';
import * as channelPosts from './channelPosts.ts';
import * as channels from './channels.ts';
import * as chatRemoval from './chatRemoval.ts';
import * as chats from './chats.ts';
import * as communities from './communities.ts';
import * as connecting from './connecting.ts';
import * as connectors from './connectors.ts';
import * as contacts from './contacts.ts';
import * as deliveries from './deliveries.ts';
import * as endpoints from './endpoints.ts';
import * as eventSubscriptions from './eventSubscriptions.ts';
import * as events from './events.ts';
import * as eventsAndAlbums from './eventsAndAlbums.ts';
import * as eventTypes from './eventTypes.ts';
import * as groupInvites from './groupInvites.ts';
import * as groups from './groups.ts';
import * as history from './history.ts';
import * as joinRequests from './joinRequests.ts';
import * as keyCalls from './keyCalls.ts';
import * as labels from './labels.ts';
import * as media from './media.ts';
import * as messageChanges from './messageChanges.ts';
import * as messageList from './messageList.ts';
import * as messageMarks from './messageMarks.ts';
import * as messages from './messages.ts';
import * as preflight from './preflight.ts';
import * as presence from './presence.ts';
import * as privacy from './privacy.ts';
import * as profiles from './profiles.ts';
import * as scheduling from './scheduling.ts';
import * as sending from './sending.ts';
import * as sendingChoices from './sendingChoices.ts';
import * as sessionConnection from './sessionConnection.ts';
import * as sessions from './sessions.ts';
import * as simulator from './simulator.ts';
import * as statuses from './statuses.ts';
import * as templates from './templates.ts';
import * as voting from './voting.ts';
import * as webhookHealth from './webhookHealth.ts';
import * as webhookSecret from './webhookSecret.ts';
import * as webhooks from './webhooks.ts';
import * as webhookTest from './webhookTest.ts';

/** All operations. Routes, OpenAPI and permissions derive from this list. */
export const operations: readonly Operation[] = [
  auth.register,
  auth.login,
  auth.forgetLogin,
  auth.logout,
  auth.me,
  auth.changePassword,
  apiKeys.createApiKey,
  apiKeys.listApiKeys,
  apiKeys.updateApiKey,
  apiKeys.rotateApiKey,
  apiKeys.revokeApiKey,
  keyCalls.listKeyCalls,
  connecting.getConnectionRequest,
  connecting.approveConnection,
  connecting.denyConnection,
  connectors.listConnectors,
  sessions.listSessions,
  sessions.createSession,
  sessions.getSession,
  sessions.updateSession,
  profiles.updateProfile,
  account.ownProfile,
  account.listDevices,
  privacy.getPrivacy,
  privacy.updatePrivacy,
  sessionConnection.connectSession,
  sessionConnection.getSessionQr,
  sessionConnection.requestPairingCode,
  sessionConnection.disconnectSession,
  sessionConnection.logoutSession,
  sessions.sessionHistory,
  sessions.deleteSession,
  simulator.simulateSession,
  templates.listTemplates,
  templates.getTemplate,
  templates.createTemplate,
  templates.updateTemplate,
  templates.deleteTemplate,
  sending.sendMessage,
  sending.sendMedia,
  sending.sendLocation,
  sending.sendContact,
  sending.sendPoll,
  eventsAndAlbums.sendEvent,
  eventsAndAlbums.sendAlbum,
  scheduling.sendBulk,
  preflight.preflightMessages,
  messageList.listMessages,
  messages.messageStats,
  messages.getMessage,
  history.fetchMessageMedia,
  messageChanges.reactToMessage,
  voting.voteInPoll,
  messageChanges.editMessage,
  messageChanges.deleteMessage,
  sendingChoices.sendTemplate,
  sendingChoices.sendInteractive,
  sending.forwardMessage,
  scheduling.cancelMessage,
  approvals.approveMessage,
  approvals.rejectMessage,
  chats.listChats,
  chats.getChat,
  chats.updateChat,
  chats.markChatRead,
  chats.setTyping,
  history.requestChatHistory,
  chatRemoval.markChatUnread,
  chatRemoval.clearChat,
  chatRemoval.deleteChat,
  messageMarks.starMessage,
  messageMarks.unstarMessage,
  messageMarks.pinMessage,
  messageMarks.unpinMessage,
  labels.listLabels,
  labels.createLabel,
  labels.updateLabel,
  labels.deleteLabel,
  labels.labelChat,
  labels.unlabelChat,
  labels.labelMessage,
  labels.unlabelMessage,
  contacts.listContacts,
  contacts.getContact,
  contacts.checkContacts,
  contacts.setContactBlocked,
  profiles.contactProfile,
  account.lookUpContacts,
  businessProfiles.getBusinessProfile,
  businessProfiles.getCatalog,
  businessProfiles.listCollections,
  presence.setPresence,
  presence.followPresence,
  presence.contactPresence,
  calls.rejectCall,
  statuses.postStatus,
  statuses.listStatuses,
  statuses.deleteStatus,
  statuses.listViews,
  statuses.markViewed,
  channels.listChannels,
  channels.previewChannel,
  channels.refreshChannels,
  channels.createChannel,
  channels.followChannel,
  channels.getChannel,
  channels.updateChannel,
  channels.unfollowChannel,
  channelPosts.listPosts,
  channelPosts.postToChannel,
  channelPosts.refreshPosts,
  channelPosts.reactToPost,
  media.uploadMedia,
  media.getMedia,
  media.deleteMedia,
  groups.listGroups,
  groups.getGroup,
  groups.createGroup,
  groups.updateGroup,
  groups.updateParticipants,
  groups.getInviteLink,
  groups.revokeInviteLink,
  groups.joinGroup,
  groups.leaveGroup,
  groupInvites.previewInvite,
  joinRequests.listJoinRequests,
  joinRequests.approveJoinRequests,
  joinRequests.rejectJoinRequests,
  communities.listCommunities,
  communities.createCommunity,
  communities.listCommunityGroups,
  communities.linkGroup,
  communities.unlinkGroup,
  webhooks.setWebhook,
  webhooks.getWebhook,
  webhookTest.testWebhook,
  webhookHealth.webhookStats,
  webhookHealth.getCircuitBreaker,
  webhookHealth.resetCircuitBreaker,
  deliveries.listDeliveries,
  deliveries.getDelivery,
  deliveries.replayDeliveries,
  deliveries.cancelPendingDelivery,
  webhookSecret.rotateWebhookSecret,
  webhookSecret.revealWebhookSecret,
  webhooks.deleteWebhook,
  endpoints.listEndpoints,
  endpoints.createEndpoint,
  endpoints.getEndpoint,
  endpoints.updateEndpoint,
  endpoints.deleteEndpoint,
  webhookSecret.rotateEndpointSecret,
  webhookSecret.revealEndpointSecret,
  webhookTest.testEndpoint,
  webhookHealth.endpointStats,
  webhookHealth.getEndpointBreaker,
  webhookHealth.resetEndpointBreaker,
  eventSubscriptions.listSubscriptions,
  eventSubscriptions.deleteSubscription,
  events.listEvents,
  eventTypes.listEventTypes,
];
