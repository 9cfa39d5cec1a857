import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../../errors.ts';
import { verdictOf } from '../errors.ts';
import { GraphError } from '../graph.ts';
import type { CloudNumber } from '../number/cloudNumber.ts';
import type { GroupReports } from './groupReports.ts';
import { findGroup } from './networkGroup.ts';

/* https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/reference#get-active-groups */

/** Meta's largest page. */
const PAGE = 1024;
/** A number can create 10,000 groups. */
const MAX_PAGES = 10;
/** Groups that one connection adds. Others appear with their first message or change, or with the next connection. */
const MAX_NEW = 500;

const Listed = Type.Object({
  id: Type.String(),
  subject: Type.Optional(Type.String()),
  created_at: Type.Union([Type.Integer(), Type.String({ pattern: '^[0-9]{1,12}$' })]),
});
const OneListed = Compile(Listed);
const Page = Compile(
  Type.Object({
    data: Type.Object({ groups: Type.Array(Type.Unknown()) }),
    paging: Type.Optional(
      Type.Object({
        cursors: Type.Optional(Type.Object({ after: Type.Optional(Type.String()) })),
        next: Type.Optional(Type.String()),
      }),
    ),
  }),
);

export interface ListedGroup {
  readonly id: string;
  readonly subject: string;
  readonly createdAt: number;
}

/** Lists the groups of a number. Throws the errors of `Graph.call`. */
export async function listGroups({ graph, options }: Pick<CloudNumber, 'graph' | 'options'>): Promise<ListedGroup[]> {
  const found: ListedGroup[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ limit: String(PAGE), ...(after !== undefined && { after }) });
    const answer = await graph.call('GET', `${options.phoneNumberId}/groups?${query}`);
    if (!Page.Check(answer)) break;
    for (const group of answer.data.groups)
      if (OneListed.Check(group)) {
        const { id, subject = '', created_at: createdAt } = group;
        found.push({ id, subject, createdAt: Number(createdAt) * 1000 });
      }
    after = answer.paging?.next === undefined ? undefined : answer.paging.cursors?.after;
    if (after === undefined) break;
  }
  return found;
}

/**
 * Reports the groups that were created elsewhere, once for each connection. After an outage, the next check tries
 * again.
 */
export class GroupList {
  readonly #number: CloudNumber;
  readonly #reports: GroupReports;
  #isRead = false;

  constructor(number: CloudNumber, reports: GroupReports) {
    this.#number = number;
    this.#reports = reports;
  }

  /** Most numbers cannot have groups, so a refusal is no fault. */
  async read(): Promise<void> {
    if (this.#isRead) return;
    this.#isRead = true; // The next check does not wait for this one.
    const { host, monitor } = this.#number;
    try {
      const listed = await listGroups(this.#number);
      if (listed.length === 0) return;
      const known = new Set((await host.groups()).map(({ networkId }) => networkId));
      for (const { id } of listed.filter((group) => !known.has(group.id)).slice(0, MAX_NEW)) {
        if (monitor.isClosed) return;
        await this.#report(id);
      }
    } catch (err) {
      this.#isRead = isRefusal(err);
      host.log.debug({ err, willRetry: !this.#isRead }, 'failed to list the groups of the number');
    }
  }

  /** Leaves out a group that Meta does not return, such as one that was deleted in the meantime. */
  async #report(id: string): Promise<void> {
    try {
      await this.#reports.created(await findGroup(this.#number, id));
    } catch (err) {
      if (!isRefusal(err)) throw err;
      this.#number.host.log.debug({ err, group: id }, 'left out a group that WhatsApp does not return');
    }
  }
}

/** Whether the same request will be refused again. */
const isRefusal = (error: unknown): boolean =>
  (error instanceof GraphError && ['refused', 'permission'].includes(verdictOf(error))) ||
  (error instanceof AppError && error.code === 'fetch_failed');
