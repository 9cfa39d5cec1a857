import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../../errors.ts';
import type { JoinDecision, JoinRequest, JoinRequestActions } from '../../contract/groupActions.ts';
import { describe } from '../errors.ts';
import { withKnownParts } from '../inbound/knownParts.ts';
import type { CloudNumber } from '../number/cloudNumber.ts';
import { presentTime } from '../people.ts';
import { digitsOf, Person } from './networkGroup.ts';

/*
 * Requests to join a group that was created with `approval_required`:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/reference#groups-with-join-requests
 */

const PAGE = 100;
const MAX_PAGES = 10;
/** Requests that are decided together. */
const AT_ONCE = 50;

const Request = Compile(
  Type.Intersect([
    Person,
    Type.Object({
      join_request_id: Type.String({ minLength: 1 }),
      creation_timestamp: Type.Optional(Type.Union([Type.Integer(), Type.String({ pattern: '^[0-9]{1,12}$' })])),
    }),
  ]),
);
const Page = Compile(
  Type.Object({
    data: Type.Array(Type.Unknown()),
    paging: Type.Optional(
      Type.Object({
        cursors: Type.Optional(Type.Object({ after: Type.Optional(Type.String()) })),
        next: Type.Optional(Type.String()),
      }),
    ),
  }),
);
const Problem = Type.Object({
  code: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  message: Type.Optional(Type.String()),
  error_data: Type.Optional(Type.Object({ details: Type.Optional(Type.String()) })),
});
const Decided = Compile(
  Type.Object({
    approved_join_requests: Type.Optional(Type.Array(Type.String())),
    rejected_join_requests: Type.Optional(Type.Array(Type.String())),
    failed_join_requests: Type.Optional(
      Type.Array(Type.Object({ join_request_id: Type.String(), errors: Type.Optional(Type.Array(Problem)) })),
    ),
  }),
);
type Decided = Static<ReturnType<typeof Decided.Type>>;

interface Waiting extends JoinRequest {
  readonly id: string;
}

export class CloudJoinRequests implements JoinRequestActions {
  readonly #number: CloudNumber;

  constructor(number: CloudNumber) {
    this.#number = number;
  }

  async list(networkId: string): Promise<readonly JoinRequest[]> {
    return (await this.#read(networkId)).map(({ id: _, ...request }) => request);
  }

  /** Meta decides on requests by their ids, and not by their people. */
  async decide(
    networkId: string,
    decision: 'approve' | 'reject',
    phoneNumbers: readonly string[],
  ): Promise<readonly JoinDecision[]> {
    const { graph, monitor, people } = this.#number;
    const waiting = new Map((await this.#read(networkId)).map(({ phoneNumber, id }) => [phoneNumber, id]));
    const asked: { readonly phoneNumber: string; readonly id: string | undefined }[] = [];
    for (const phoneNumber of phoneNumbers)
      asked.push({ phoneNumber, id: waiting.get(phoneNumber) ?? waiting.get(await people.currentOf(phoneNumber)) });
    const ids = [...new Set(asked.flatMap(({ id }) => id ?? []))];
    const reasons = new Map<string, string | null>();
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const body = { messaging_product: 'whatsapp', join_requests: ids.slice(start, start + AT_ONCE) };
      const path = `${encodeURIComponent(networkId)}/join_requests`;
      const answer = await monitor.ask(() => graph.call(decision === 'approve' ? 'POST' : 'DELETE', path, body));
      if (!Decided.Check(answer)) throw new AppError('send_failed', 'WhatsApp did not return its decisions');
      for (const [id, reason] of outcomesOf(answer)) reasons.set(id, reason);
    }
    return asked.map(({ phoneNumber, id }) => {
      if (id === undefined) return { phoneNumber, ok: false, reason: 'The person does not ask to join the group' };
      const reason = reasons.get(id);
      if (reason === null) return { phoneNumber, ok: true };
      return { phoneNumber, ok: false, reason: reason ?? 'WhatsApp did not return a decision' };
    });
  }

  async #read(networkId: string): Promise<Waiting[]> {
    const { graph, host, monitor, people } = this.#number;
    const found: Waiting[] = [];
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = new URLSearchParams({ limit: String(PAGE), ...(after !== undefined && { after }) });
      const path = `${encodeURIComponent(networkId)}/join_requests?${query}`;
      const answer = await monitor.ask(() => graph.call('GET', path));
      if (!Page.Check(answer)) throw new AppError('send_failed', 'WhatsApp did not return the requests to join');
      for (const given of answer.data) {
        const request = withKnownParts(Request, given, {});
        const phoneNumber = request && (await digitsOf(request, people, presentTime(host)));
        if (request === undefined || phoneNumber === undefined) continue;
        const { join_request_id: id, creation_timestamp: createdAt } = request;
        found.push({ phoneNumber, id, ...(createdAt !== undefined && { requestedAt: Number(createdAt) * 1000 }) });
      }
      const next = answer.paging?.cursors?.after;
      // Meta leaves out `next` on the last page, but its sample of this list has only cursors.
      if (next === undefined || next === after || answer.data.length < PAGE) break;
      after = next;
    }
    return found;
  }
}

/** Returns the reason for each request that failed, and null for one that was decided. */
function outcomesOf({ approved_join_requests, rejected_join_requests, failed_join_requests: failed = [] }: Decided) {
  const done = [...(approved_join_requests ?? []), ...(rejected_join_requests ?? [])];
  return [
    ...done.map((id) => [id, null] as const),
    ...failed.map(({ join_request_id: id, errors: [error] = [] }) => {
      const message = error?.error_data?.details ?? error?.message ?? 'the request failed';
      return [id, describe({ code: Number(error?.code) || 0, message })] as const;
    }),
  ];
}
