import type { Operation } from '../../invoke/operation.ts';
import * as account from './account.ts';
import * as businessProfiles from './businessProfiles.ts';
import * as calls from './calls.ts';
import * as connectors from './connectors.ts';
import * as presence from './presence.ts';
import * as privacy from './privacy.ts';
import * as profiles from './profiles.ts';
import * as sessionConnection from './sessionConnection.ts';
import * as sessions from './sessions.ts';
import * as templates from './templates.ts';

/** Operations on sessions, their account on the network, and the people of that network. */
export const sessionOperations: readonly Operation[] = [
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
  sessionConnection.restartSession,
  sessionConnection.logoutSession,
  sessions.sessionHistory,
  sessions.deleteSession,
  templates.listTemplates,
  templates.getTemplate,
  templates.createTemplate,
  templates.updateTemplate,
  templates.deleteTemplate,
  profiles.contactProfile,
  account.lookUpContacts,
  businessProfiles.getBusinessProfile,
  businessProfiles.getCatalog,
  businessProfiles.listCollections,
  presence.setPresence,
  presence.followPresence,
  presence.contactPresence,
  calls.rejectCall,
];
