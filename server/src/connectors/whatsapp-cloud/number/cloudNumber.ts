import type { SessionHost } from '../../contract/host.ts';
import type { Graph } from '../graph.ts';
import type { CloudOptions } from '../options.ts';
import type { People } from '../people.ts';
import type { BusinessAccount } from './businessAccount.ts';
import type { NumberMonitor } from './numberMonitor.ts';

/** The phone number of a connection, with what all parts of the connection use. */
export interface CloudNumber {
  readonly host: SessionHost;
  readonly options: CloudOptions;
  readonly graph: Graph;
  readonly monitor: NumberMonitor;
  readonly people: People;
  readonly account: BusinessAccount;
}
