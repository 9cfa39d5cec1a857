import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { Tx } from '../db/commit.ts';
import type { StoredMedia } from './content.ts';
import type { InboxOptions } from './inboxOptions.ts';
import type { SessionRef } from './store.ts';

/* Reports of networks. Each room has the handlers of its reports, and `inbox.ts` joins them. */

/** The reports that are stored in one transaction each. */
export type ReportType = Exclude<
  NetworkEvent['type'],
  'receipt' | 'chat_removed' | 'chat_updated' | 'label_removed' | 'identified'
>;

export type Report<T extends NetworkEvent['type']> = Extract<NetworkEvent, { type: T }>;

/**
 * Stores a report and the events that follow from it. A repeated report changes nothing.
 * @param file the file of the report, which has been stored before
 */
export type ReportHandler<T extends ReportType> = (
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  event: Report<T>,
  file: StoredMedia | undefined,
) => Promise<void>;

/** The handlers of some types of reports. */
export type ReportHandlers<T extends ReportType> = { readonly [Type in T]: ReportHandler<Type> };
