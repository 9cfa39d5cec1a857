import { createApiKey, listApiKeys, revokeApiKey, rotateApiKey, updateApiKey } from './apiKeys.ts';
import { changePassword, login, logout, me, register } from './auth.ts';
import { listChats, markChatRead } from './chats.ts';
import { createGroup, getGroup, listGroups, updateGroup, updateParticipants } from './groups.ts';
import { getMessage, listMessages, sendMessage } from './messages.ts';
import type { Operation } from './operation.ts';
import {
  connectSession,
  createSession,
  deleteSession,
  disconnectSession,
  getSession,
  getSessionQr,
  listSessions,
  logoutSession,
  requestPairingCode,
  sessionHistory,
  simulateSession,
  updateSession,
} from './sessions.ts';
import {
  getCircuitBreaker,
  getWebhook,
  resetCircuitBreaker,
  setWebhook,
  testWebhook,
  webhookStats,
} from './webhooks.ts';

/** What the platform can do. Routes, OpenAPI and permissions derive from this list; there is no second one. */
export const operations: readonly Operation[] = [
  register,
  login,
  logout,
  me,
  changePassword,
  createApiKey,
  listApiKeys,
  updateApiKey,
  rotateApiKey,
  revokeApiKey,
  listSessions,
  createSession,
  getSession,
  updateSession,
  connectSession,
  getSessionQr,
  requestPairingCode,
  disconnectSession,
  logoutSession,
  sessionHistory,
  deleteSession,
  simulateSession,
  sendMessage,
  listMessages,
  getMessage,
  listChats,
  markChatRead,
  listGroups,
  getGroup,
  createGroup,
  updateGroup,
  updateParticipants,
  setWebhook,
  getWebhook,
  testWebhook,
  webhookStats,
  getCircuitBreaker,
  resetCircuitBreaker,
];
