import type { Operation } from '../../invoke/operation.ts';
import * as approvals from './approvals.ts';
import * as chatRemoval from './chatRemoval.ts';
import * as chats from './chats.ts';
import * as contacts from './contacts.ts';
import * as eventsAndAlbums from './eventsAndAlbums.ts';
import * as history from './history.ts';
import * as labels from './labels.ts';
import * as media from './media.ts';
import * as messageChanges from './messageChanges.ts';
import * as messageList from './messageList.ts';
import * as messageMarks from './messageMarks.ts';
import * as messages from './messages.ts';
import * as preflight from './preflight.ts';
import * as scheduling from './scheduling.ts';
import * as sending from './sending.ts';
import * as sendingChoices from './sendingChoices.ts';
import * as voting from './voting.ts';

/** Operations on messages, chats, contacts, labels and files. */
export const messageOperations: readonly Operation[] = [
  sending.sendMessage,
  sending.sendMedia,
  sending.sendLocation,
  sending.sendContact,
  sending.sendPoll,
  eventsAndAlbums.sendEvent,
  eventsAndAlbums.sendAlbum,
  preflight.preflightMessages,
  messageList.listMessages,
  messageList.messageStats,
  messages.getMessage,
  messageList.listReceipts,
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
  contacts.setContactName,
  media.uploadMedia,
  media.getMedia,
  media.deleteMedia,
];
