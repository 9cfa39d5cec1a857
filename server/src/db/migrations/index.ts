import { foundation } from './0001-foundation.ts';
import { sandboxScopes } from './0002-sandbox-scopes.ts';
import { order } from './0003-order.ts';
import { logPositions } from './0004-log-positions.ts';
import { sandboxMailbox } from './0005-sandbox-mailbox.ts';
import { lastAttempt } from './0006-last-attempt.ts';
import { webhookScope } from './0007-webhook-scope.ts';
import { webhookOptions } from './0008-webhook-options.ts';
import { keyScope } from './0009-key-scope.ts';
import { strictOrder } from './0010-strict-order.ts';
import { destinations } from './0011-destinations.ts';
import { oauth } from './0012-oauth.ts';
import { guards } from './0013-guards.ts';
import { approvals } from './0014-approvals.ts';
import { eventSubscriptions } from './0015-event-subscriptions.ts';
import { history } from './0016-history.ts';
import { chats } from './0017-chats.ts';
import { mediaFacts } from './0018-media-facts.ts';
import { social } from './0019-social.ts';
import { groupDetails } from './0020-group-details.ts';
import { cloudNumbers } from './0021-cloud-numbers.ts';
import { sessionHealth } from './0022-session-health.ts';
import { nodeFence } from './0023-node-fence.ts';
import { brokerFlights } from './0024-broker-flights.ts';
import { deletions } from './0025-deletions.ts';
import { listFilters } from './0026-list-filters.ts';
import { filterPaths } from './0027-filter-paths.ts';
import { sendOrder } from './0028-send-order.ts';
import { retriesAndRestores } from './0029-retries-and-restores.ts';
import { keyOrigin } from './0030-key-origin.ts';
import { networkNumbers } from './0031-network-numbers.ts';
import { acceptRedirects } from './0032-accept-redirects.ts';
import { listOrders } from './0033-list-orders.ts';
import { wordBuckets } from './0034-word-buckets.ts';
import { groupPictures } from './0035-group-pictures.ts';
import { people } from './0036-people.ts';
import { sessionReads } from './0037-session-reads.ts';
import { earlyChanges } from './0038-early-changes.ts';
import { groupReceipts } from './0039-group-receipts.ts';
import { unreadableMessages } from './0040-unreadable-messages.ts';
import { errorCodes } from './0041-error-codes.ts';
import { changeTimes } from './0042-change-times.ts';
import { userIds } from './0043-user-ids.ts';
import { ads } from './0044-ads.ts';
import { messageChanges } from './0045-message-changes.ts';
import { mediaLinks } from './0046-media-links.ts';
import { chatMetadata } from './0047-chat-metadata.ts';
import { batches } from './0048-batches.ts';
import { webhookExpiry } from './0049-webhook-expiry.ts';
import type { Migration } from './migration.ts';

/** Fingerprints of the tables that all migrations together create. A test computes them. */
export const newestShape = {
  sqlite: '4ru8HBbppDv83gYaK7GmtSMSlF_erz9vPTuQ0BPA3Os',
  postgres: 'OsvkW3qRmGC3rpjr_NJzoMisI6A301q9LfGLFCE3VsY',
};

/** Every migration, oldest first. A released one never changes; a new one is added below. */
export const migrations: readonly Migration[] = [
  foundation,
  sandboxScopes,
  order,
  logPositions,
  sandboxMailbox,
  lastAttempt,
  webhookScope,
  webhookOptions,
  keyScope,
  strictOrder,
  destinations,
  oauth,
  guards,
  approvals,
  eventSubscriptions,
  history,
  chats,
  mediaFacts,
  social,
  groupDetails,
  cloudNumbers,
  sessionHealth,
  nodeFence,
  brokerFlights,
  deletions,
  listFilters,
  filterPaths,
  sendOrder,
  retriesAndRestores,
  keyOrigin,
  networkNumbers,
  acceptRedirects,
  listOrders,
  wordBuckets,
  groupPictures,
  people,
  sessionReads,
  earlyChanges,
  groupReceipts,
  unreadableMessages,
  errorCodes,
  changeTimes,
  userIds,
  ads,
  messageChanges,
  mediaLinks,
  chatMetadata,
  batches,
  webhookExpiry,
];
