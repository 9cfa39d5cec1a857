import type { BinaryNode } from 'baileys';
import type { JoinMethod, JoinRequest, JoinRequestActions, JoinRequestChange } from '../../contract/groupActions.ts';
import type { Session } from '../session.ts';
import type { Addresses } from './addresses.ts';
import type { Groups } from './groups.ts';

/** A group can have as many members, so no more people can wait in earnest. */
const MAX_LISTED = 2000;
/** More in one notification are left to the next list. */
const MAX_REPORTED = 100;

/** By the server's name, which notifications and lists spell differently (`invite_link`, `InviteLink`). */
const METHODS: ReadonlyMap<string, JoinMethod> = new Map([
  ['invitelink', 'invite_link'],
  ['nonadminadd', 'member'],
  ['linkedgroupjoin', 'community'],
]);

interface Waiting extends JoinRequest {
  /** The address by which the server knows the request. */
  readonly jid: string;
}

/** Requests to join groups: reports those that the server notifies, and decides on them. */
export class JoinRequests implements JoinRequestActions {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #groups: Groups;

  constructor(session: Session, addresses: Addresses, groups: Groups) {
    const { link, host } = session;
    this.#session = session;
    this.#addresses = addresses;
    this.#groups = groups;
    link.on('socket', (socket) => {
      socket.ws.on('CB:notification,type:w:gp2', (node: BinaryNode) => {
        this.#onNotification(node).catch((error) =>
          host.log.warn({ err: error }, 'failed to report a request to join a group'),
        );
      });
    });
  }

  async list(networkId: string): Promise<readonly JoinRequest[]> {
    return (await this.#waiting(networkId)).map(({ jid: _, ...request }) => request);
  }

  async decide(networkId: string, decision: 'approve' | 'reject', phoneNumbers: readonly string[]) {
    // The server knows a request by the address with which it was made, mostly a LID.
    const waiting = new Map((await this.#waiting(networkId)).map(({ phoneNumber, jid }) => [phoneNumber, jid]));
    const jids = phoneNumbers.flatMap((phoneNumber) => waiting.get(phoneNumber) ?? []);
    const { requests } = this.#session;
    const answers =
      jids.length === 0
        ? []
        : await requests.ask((socket) => socket.groupRequestParticipantsUpdate(networkId, jids, decision));
    const statuses = new Map(answers.map(({ jid, status }) => [jid, status]));
    if (decision === 'approve' && jids.length > 0) await this.#groups.read(networkId);
    return phoneNumbers.map((phoneNumber) => {
      const jid = waiting.get(phoneNumber);
      if (jid === undefined) return { phoneNumber, ok: false, reason: 'does not wait to join the group' };
      const status = statuses.get(jid) ?? '200';
      if (status === '200') return { phoneNumber, ok: true };
      return { phoneNumber, ok: false, reason: REASONS[status] ?? `WhatsApp refused it (${status})` };
    });
  }

  async #waiting(networkId: string): Promise<Waiting[]> {
    const listed = await this.#session.requests.ask((socket) => socket.groupRequestParticipantsList(networkId));
    const waiting: Waiting[] = [];
    for (const { jid, phone_number: number, request_method: method, request_time: time } of listed.slice(0, MAX_LISTED))
      if (jid !== undefined)
        waiting.push({
          jid,
          phoneNumber: await this.#addresses.digitsOf(jid, number),
          ...toMethod(method),
          ...(Number(time) > 0 && { requestedAt: Number(time) * 1000 }),
        });
    return waiting;
  }

  async #onNotification({ attrs, content }: BinaryNode): Promise<void> {
    const { from, participant, participant_pn: number, t } = attrs;
    const change = Array.isArray(content) ? content.find(({ tag }) => CHANGES.has(tag)) : undefined;
    const kind = change && CHANGES.get(change.tag);
    if (from === undefined || kind === undefined || change === undefined) return;
    const timestamp = Number(t) > 0 ? Number(t) * 1000 : this.#session.host.clock.now();
    const named = Array.isArray(change.content)
      ? change.content.filter(({ tag }) => tag === 'requested_user' || tag === 'participant')
      : [];
    const acting = participant === undefined ? undefined : await this.#addresses.digitsOf(participant, number);
    const people = await Promise.all(
      named
        .slice(0, MAX_REPORTED)
        .flatMap(({ attrs: { jid, phone_number: pn } }) =>
          jid === undefined ? [] : [this.#addresses.digitsOf(jid, pn)],
        ),
    );
    // A person who acts alone is not always named again.
    for (const phoneNumber of people.length > 0 ? people : acting === undefined ? [] : [acting]) {
      const isByOther = acting !== undefined && acting !== phoneNumber;
      const ended: JoinRequestChange = isByOther ? 'rejected' : 'withdrawn';
      await this.#session.reporter.report({
        type: 'join_request',
        group: from,
        phoneNumber,
        change: kind === 'created' ? 'created' : ended,
        ...(kind === 'created' && toMethod(change.attrs['request_method'])),
        timestamp,
      });
    }
  }
}

const CHANGES: ReadonlyMap<string, 'created' | 'ended'> = new Map([
  ['created_membership_requests', 'created'],
  ['revoked_membership_requests', 'ended'],
]);

const REASONS: Readonly<Record<string, string>> = {
  '401': 'has blocked the session',
  '403': 'may not join the group',
  '404': 'does not wait to join the group',
  '409': 'is already a member',
  '419': 'the group is full',
};

function toMethod(text: string | undefined): { method?: JoinMethod } {
  const method = METHODS.get(text?.toLowerCase().replaceAll('_', '') ?? '');
  return method === undefined ? {} : { method };
}
