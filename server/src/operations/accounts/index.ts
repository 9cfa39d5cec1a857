import type { Operation } from '../../invoke/operation.ts';
import * as apiKeys from './apiKeys.ts';
import * as auth from './auth.ts';
import * as connecting from './connecting.ts';
import * as keyCalls from './keyCalls.ts';

/** Operations on accounts, logins and API keys. */
export const accountOperations: readonly Operation[] = [
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
];
