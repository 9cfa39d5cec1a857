import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { KeyedQueue, unlessAborted, withTimeout } from '../../../async.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { GroupChange } from '../../../events/networkTypes.ts';
import type {
  GroupActions,
  GroupInvite,
  NetworkGroup,
  NewGroup,
  ParticipantAction,
  ParticipantResult,
} from '../../contract/groups.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import { GraphError, NoAnswerError } from '../graph.ts';
import { postFile } from '../media.ts';
import type { CloudNumber } from '../number/cloudNumber.ts';
import { listGroups } from './groupList.ts';
import { type GroupReports, plain } from './groupReports.ts';
import { codeOf, findGroup } from './networkGroup.ts';
import type { ChangeKind, Outcome, PendingChange, PendingChanges } from './pendingChanges.ts';

/*
 * Meta accepts a change and reports the outcome with a callback. The caller waits for it. The app at Meta may not
 * subscribe to these callbacks, so the group is read once when none arrives.
 */

const CONFIRM_WITHIN_MS = 10_000;
/** Requests about one group that wait for earlier ones. */
const MAX_WAITING = 20;
/** Meta's limit for one request, and the number of members that a group can have. */
const MAX_REMOVED = 8;
/** Largest difference between Meta's clock and ours. */
const CLOCK_SKEW_MS = 60_000;
/** Meta's code for an object that does not exist, or no longer. */
const NO_OBJECT = 100;

const PICTURE_TYPE = 'image/jpeg';
const MAX_PICTURE_BYTES = 5 * 1024 * 1024;

/** Meta's samples and clients disagree about the id in the answer, so each is used. */
const Accepted = Compile(
  Type.Object({
    success: Type.Optional(Type.Boolean()),
    request_id: Type.Optional(Type.String()),
    id: Type.Optional(Type.String()),
    group_id: Type.Optional(Type.String()),
  }),
);
const Invite = Compile(Type.Object({ invite_link: Type.String({ pattern: '^https://.+/.+$' }) }));

/** The actions on groups that Meta offers to a business. */
export class CloudGroups implements GroupActions {
  readonly #number: CloudNumber;
  readonly #pending: PendingChanges;
  readonly #reports: GroupReports;
  readonly #turns = new KeyedQueue();

  constructor(number: CloudNumber, pending: PendingChanges, reports: GroupReports) {
    this.#number = number;
    this.#pending = pending;
    this.#reports = reports;
  }

  create(
    given: string,
    phoneNumbers: readonly string[],
    { description = null, joinApproval = false }: NewGroup = {},
  ): Promise<NetworkGroup> {
    if (phoneNumbers.length > 0) return refuse('add people to a group; send them its invite link');
    const { graph, options, host } = this.#number;
    const subject = given.trim();
    const startedAt = host.clock.now();
    const body = {
      messaging_product: 'whatsapp',
      subject,
      ...(description !== null && { description }),
      join_approval_mode: joinApproval ? 'approval_required' : 'auto_approve',
    };
    return this.#inTurn(`create ${subject}`, async () => {
      const { group } = await this.#change(
        'create',
        subject,
        () => graph.call('POST', `${options.phoneNumberId}/groups`, body),
        (id) => this.#findCreated(subject, startedAt, id),
      );
      if (group === undefined) throw new Error('a created group has no outcome');
      // Meta returns a new group without the text that it has just accepted.
      return { ...group, description: group.description ?? description };
    });
  }

  async setSubject(networkId: string, subject: string): Promise<void> {
    const isDone = (group: NetworkGroup) => group.subject.trim() === subject.trim();
    await this.#set(networkId, { subject }, isDone, { type: 'subject', subject });
  }

  async setDescription(networkId: string, description: string | null): Promise<void> {
    const isDone = (group: NetworkGroup) => (group.description ?? '').trim() === (description ?? '').trim();
    await this.#set(networkId, { description: description ?? '' }, isDone, { type: 'description', description });
  }

  async setSettings(): Promise<void> {
    return refuse('change who can write to a group, change it or join it; `joinApproval` is set when it is created');
  }

  async setPicture(networkId: string, picture: NetworkMedia | null): Promise<void> {
    if (picture === null) return refuse('remove the picture; replace it instead');
    if (picture.mimeType !== PICTURE_TYPE)
      throw new AppError(
        'unsupported_media_type',
        `WhatsApp accepts square JPEG pictures here, but the file is ${picture.mimeType}`,
      );
    if (picture.size > MAX_PICTURE_BYTES)
      throw new AppError('payload_too_large', `The picture is larger than the limit of ${MAX_PICTURE_BYTES} bytes`);
    const { graph } = this.#number;
    await this.#inTurn(networkId, () =>
      this.#change(
        'picture',
        networkId,
        () => postFile(graph, encodeURIComponent(networkId), picture),
        // Meta does not return group pictures.
        async () => undefined,
        picture,
      ),
    );
  }

  async updateParticipants(
    networkId: string,
    action: ParticipantAction,
    phoneNumbers: readonly string[],
  ): Promise<readonly ParticipantResult[]> {
    if (action === 'add') return refuse('add people to a group; send them its invite link');
    if (action !== 'remove') return refuse('have other admins in its groups');
    if (phoneNumbers.length > MAX_REMOVED)
      throw invalidField('phoneNumbers', `WhatsApp removes at most ${MAX_REMOVED} people in one call`, 'maxItems');
    return this.#inTurn(networkId, () => this.#remove(networkId, phoneNumbers));
  }

  async invite(networkId: string): Promise<GroupInvite> {
    return this.#askInvite('GET', networkId);
  }

  /** Meta sends no callback about a new invite. */
  async renewInvite(networkId: string): Promise<GroupInvite> {
    const { host, monitor } = this.#number;
    const invite = await this.#askInvite('POST', networkId);
    const group = await monitor.ask(() => findGroup(this.#number, networkId));
    const changed = { ...group, inviteCode: invite.code };
    await this.#reports.changed(changed, { type: 'invite_link' }, host.clock.now());
    return invite;
  }

  async join(): Promise<NetworkGroup | null> {
    return refuse('join groups of others');
  }

  async leave(): Promise<void> {
    return refuse('leave its own group; delete the group instead');
  }

  async remove(networkId: string): Promise<void> {
    const { graph, host } = this.#number;
    await this.#inTurn(networkId, () =>
      this.#change(
        'delete',
        networkId,
        () => graph.call('DELETE', encodeURIComponent(networkId)),
        async () => {
          if (!(await this.#isGone(networkId))) return undefined;
          await this.#reports.deleted(networkId, host.clock.now());
          return {};
        },
      ),
    );
  }

  async #set(
    networkId: string,
    fields: object,
    isDone: (group: NetworkGroup) => boolean,
    change: GroupChange & { readonly type: 'subject' | 'description' },
  ): Promise<void> {
    const { graph } = this.#number;
    const body = { messaging_product: 'whatsapp', ...fields };
    await this.#inTurn(networkId, () =>
      this.#change(
        change.type,
        networkId,
        () => graph.call('POST', encodeURIComponent(networkId), body),
        () => this.#readBack(networkId, isDone, change),
      ),
    );
  }

  async #remove(networkId: string, phoneNumbers: readonly string[]): Promise<ParticipantResult[]> {
    const { graph, people } = this.#number;
    const users = new Map<string, string>();
    for (const phoneNumber of phoneNumbers) {
      const { to, recipient = '' } = await people.addressOf({ type: 'direct', id: phoneNumber });
      users.set(phoneNumber, to ?? recipient);
    }
    const participants = [...users.values()].map((user) => ({ user: /^\d/.test(user) ? `+${user}` : user }));
    const removed = new Set([...users].flat());
    const body = { messaging_product: 'whatsapp', participants };
    const { failed = new Map() } = await this.#change(
      'remove',
      networkId,
      () => graph.call('DELETE', `${encodeURIComponent(networkId)}/participants`, body),
      () =>
        this.#readBack(networkId, (group) => !group.participants.some((one) => removed.has(one.phoneNumber)), {
          type: 'participants',
          action: 'remove',
          phoneNumbers: [...phoneNumbers],
        }),
    );
    return phoneNumbers.map((phoneNumber) => {
      const reason = failed.get(plain(users.get(phoneNumber) ?? ''));
      return { phoneNumber, ok: reason === undefined, ...(reason !== undefined && { reason }) };
    });
  }

  /** Reports a change that Meta has made without a callback. Returns undefined if it has not made it. */
  async #readBack(
    networkId: string,
    isDone: (group: NetworkGroup) => boolean,
    change: GroupChange,
  ): Promise<Outcome | undefined> {
    const { host, monitor } = this.#number;
    const group = await monitor.ask(() => findGroup(this.#number, networkId));
    if (!isDone(group)) return undefined;
    await this.#reports.changed(group, change, host.clock.now());
    return {};
  }

  /** @param id of the group, if Meta's answer had it */
  async #findCreated(subject: string, startedAt: number, id: string | undefined): Promise<Outcome | undefined> {
    const { monitor } = this.#number;
    const found = id ?? (await this.#findNew(subject, startedAt));
    if (found === undefined) return undefined;
    const group = await monitor.ask(() => findGroup(this.#number, found));
    await this.#reports.created(group);
    return { group };
  }

  /** Returns the only group with the name that was created since then, and that the host does not know. */
  async #findNew(subject: string, since: number): Promise<string | undefined> {
    const { host, monitor } = this.#number;
    const listed = await monitor.ask(() => listGroups(this.#number));
    const known = new Set((await host.groups()).map(({ networkId }) => networkId));
    const found = listed.filter(
      ({ id, subject: name, createdAt }) =>
        name.trim() === subject && createdAt >= since - CLOCK_SKEW_MS && !known.has(id),
    );
    return found.length === 1 ? found[0]?.id : undefined;
  }

  async #isGone(networkId: string): Promise<boolean> {
    try {
      await this.#number.monitor.ask(() =>
        findGroup(this.#number, networkId).catch((error: unknown) => {
          if (error instanceof GraphError && error.code === NO_OBJECT) throw new GoneError();
          throw error;
        }),
      );
      return false;
    } catch (error) {
      if (error instanceof GoneError) return true;
      throw error;
    }
  }

  async #askInvite(method: 'GET' | 'POST', networkId: string): Promise<GroupInvite> {
    const { graph, monitor } = this.#number;
    const body = method === 'POST' ? { messaging_product: 'whatsapp' } : undefined;
    const path = `${encodeURIComponent(networkId)}/invite_link`;
    const answer = await monitor.ask(() => graph.call(method, path, body));
    if (!Invite.Check(answer)) throw new AppError('send_failed', 'WhatsApp did not return the invite link');
    const link = answer.invite_link.trim();
    return { code: codeOf(link), link };
  }

  /** Runs requests about the same group one after the other, so that each callback belongs to one of them. */
  #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#turns.length(key) >= MAX_WAITING)
      throw new AppError('rate_limited', 'Too many changes of this group wait for WhatsApp', { retryAfterSeconds: 10 });
    return this.#turns.run(key, work);
  }

  /**
   * Sends a request and waits for its outcome.
   * @param readBack looks whether Meta has done it, gets the id of the group from the answer, and reports the change
   * @throws {AppError} `send_failed` if Meta does not do it, or does not confirm it in time
   */
  async #change(
    kind: ChangeKind,
    subject: string,
    request: () => Promise<unknown>,
    readBack: (groupId: string | undefined) => Promise<Outcome | undefined>,
    picture?: NetworkMedia,
  ): Promise<Outcome> {
    const { monitor } = this.#number;
    const pending = this.#pending.add(kind, subject, picture);
    let answer: unknown;
    try {
      answer = await monitor.ask(() => request().catch(ignoreSilence));
      if (Accepted.Check(answer) && answer.success === false)
        throw new AppError('send_failed', 'WhatsApp refused the change of the group');
    } catch (error) {
      this.#pending.drop(kind, subject, pending);
      throw error;
    }
    const { request_id: requestId, id, group_id: groupId = id } = Accepted.Check(answer) ? answer : {};
    pending.requestId = requestId;
    const isDone = kind === 'create' && groupId !== undefined;
    const outcome =
      (isDone ? undefined : await this.#confirmed(pending)) ?? (await this.#readOnce(pending, () => readBack(groupId)));
    if (outcome === undefined) throw unconfirmed(kind);
    if (outcome.problem !== undefined) throw new AppError('send_failed', outcome.problem);
    return outcome;
  }

  async #confirmed({ outcome }: PendingChange): Promise<Outcome | undefined> {
    const { host, monitor } = this.#number;
    try {
      return await withTimeout(host.clock, CONFIRM_WITHIN_MS, unlessAborted(monitor.closed, outcome));
    } catch (error) {
      if (monitor.isClosed) throw error;
      return undefined;
    }
  }

  async #readOnce(pending: PendingChange, read: () => Promise<Outcome | undefined>): Promise<Outcome | undefined> {
    try {
      const outcome = await read();
      pending.isReported = outcome !== undefined;
      return outcome;
    } catch (err) {
      if (this.#number.monitor.isClosed) throw err;
      this.#number.host.log.warn({ err }, 'failed to read a group that was changed');
      return undefined;
    }
  }
}

/** The group does not exist. */
class GoneError extends Error {}

/** Meta may have the request nevertheless, so its outcome is awaited. */
function ignoreSilence(error: unknown): undefined {
  if (!(error instanceof NoAnswerError && error.wasSent)) throw error;
}

const FIELDS: Readonly<Record<ChangeKind, string>> = {
  create: 'group_lifecycle_update',
  delete: 'group_lifecycle_update',
  remove: 'group_participants_update',
  subject: 'group_settings_update',
  description: 'group_settings_update',
  picture: 'group_settings_update',
};

const unconfirmed = (kind: ChangeKind) =>
  new AppError(
    'send_failed',
    `WhatsApp has not confirmed the change of the group in time. It may still be made, and is stored once WhatsApp reports it, so check the group before you repeat it. If it never arrives, subscribe the app at Meta to \`${FIELDS[kind]}\``,
  );

/** @throws {AppError} `not_supported` */
function refuse(action: string): never {
  throw new AppError('not_supported', `WhatsApp does not let a business ${action}`);
}
