import type { Operation } from '../invoke/operation.ts';
import { createApiKey, listApiKeys, revokeApiKey, rotateApiKey, updateApiKey } from './apiKeys.ts';
import { changePassword, forgetLogin, login, logout, me, register } from './auth.ts';
import { getChat, listChats, markChatRead, setTyping, updateChat } from './chats.ts';
import { listConnectors } from './connectors.ts';
import { checkContacts, listContacts, setContactBlocked } from './contacts.ts';
import { getDelivery, listDeliveries, replayDeliveries } from './deliveries.ts';
import { createEndpoint, deleteEndpoint, getEndpoint, listEndpoints, updateEndpoint } from './endpoints.ts';
import { listEvents } from './events.ts';
import {
  createGroup,
  getGroup,
  getInviteLink,
  joinGroup,
  leaveGroup,
  listGroups,
  revokeInviteLink,
  updateGroup,
  updateParticipants,
} from './groups.ts';
import { getMedia, uploadMedia } from './media.ts';
import { deleteMessage, editMessage, reactToMessage } from './messageChanges.ts';
import { getMessage, listMessages, messageStats } from './messages.ts';
import { contactProfile, updateProfile } from './profiles.ts';
import { cancelMessage, sendBulk } from './scheduling.ts';
import { forwardMessage, sendContact, sendLocation, sendMedia, sendMessage, sendPoll } from './sending.ts';
import { sendInteractive, sendTemplate } from './sendingChoices.ts';
import {
  connectSession,
  disconnectSession,
  getSessionQr,
  logoutSession,
  requestPairingCode,
} from './sessionConnection.ts';
import { createSession, deleteSession, getSession, listSessions, sessionHistory, updateSession } from './sessions.ts';
import { simulateSession } from './simulator.ts';
import {
  endpointStats,
  getCircuitBreaker,
  getEndpointBreaker,
  resetCircuitBreaker,
  resetEndpointBreaker,
  webhookStats,
} from './webhookHealth.ts';
import { rotateEndpointSecret, rotateWebhookSecret } from './webhookSecret.ts';
import { deleteWebhook, getWebhook, setWebhook } from './webhooks.ts';
import { testEndpoint, testWebhook } from './webhookTest.ts';

/** All operations. Routes, OpenAPI and permissions derive from this list. */
export const operations: readonly Operation[] = [
  register,
  login,
  forgetLogin,
  logout,
  me,
  changePassword,
  createApiKey,
  listApiKeys,
  updateApiKey,
  rotateApiKey,
  revokeApiKey,
  listConnectors,
  listSessions,
  createSession,
  getSession,
  updateSession,
  updateProfile,
  connectSession,
  getSessionQr,
  requestPairingCode,
  disconnectSession,
  logoutSession,
  sessionHistory,
  deleteSession,
  simulateSession,
  sendMessage,
  sendMedia,
  sendLocation,
  sendContact,
  sendPoll,
  sendBulk,
  listMessages,
  messageStats,
  getMessage,
  reactToMessage,
  editMessage,
  deleteMessage,
  sendTemplate,
  sendInteractive,
  forwardMessage,
  cancelMessage,
  listChats,
  getChat,
  updateChat,
  markChatRead,
  setTyping,
  listContacts,
  checkContacts,
  setContactBlocked,
  contactProfile,
  uploadMedia,
  getMedia,
  listGroups,
  getGroup,
  createGroup,
  updateGroup,
  updateParticipants,
  getInviteLink,
  revokeInviteLink,
  joinGroup,
  leaveGroup,
  setWebhook,
  getWebhook,
  testWebhook,
  webhookStats,
  getCircuitBreaker,
  resetCircuitBreaker,
  listDeliveries,
  getDelivery,
  replayDeliveries,
  rotateWebhookSecret,
  deleteWebhook,
  listEndpoints,
  createEndpoint,
  getEndpoint,
  updateEndpoint,
  deleteEndpoint,
  rotateEndpointSecret,
  testEndpoint,
  endpointStats,
  getEndpointBreaker,
  resetEndpointBreaker,
  listEvents,
];
