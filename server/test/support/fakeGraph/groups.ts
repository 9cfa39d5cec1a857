import { randomBytes } from 'node:crypto';
import { ApiError } from './businessNodes.ts';
import type { Report } from './callbacks.ts';

/*
 * The groups of the fake Graph API, after Meta's pages groups/reference (May 2026), groups/webhooks (February 2026) and
 * business-scoped-user-ids below https://developers.facebook.com/documentation/business-messaging/whatsapp/. A creation
 * is answered with `request_id`, as Meta's schema of the groups management API says; other clients report the group's
 * `id` in the answer, so a test can ask for that. Meta documents `{success}` for deletions and settings.
 */

/** A person as Meta shows one: `wa_id`, or only `user_id` if the number is hidden. */
export interface GroupPerson {
  readonly wa_id?: string;
  readonly user_id?: string;
  readonly username?: string;
}

interface FakeGroup {
  subject: string;
  description?: string;
  join_approval_mode: string;
  creation_timestamp: number;
  suspended: boolean;
  participants: readonly GroupPerson[];
}

interface Hidden {
  link: string;
  picture: Buffer | undefined;
  readonly requests: Map<string, GroupPerson>;
  /** People who were removed cannot join again. */
  readonly removed: Set<string>;
}

type Kind = 'create' | 'delete' | 'remove' | 'settings';

/** "Max group participants: 8", the business apart. */
const MAX_PARTICIPANTS = 8;
const FIELDS: readonly string[] = [
  'subject',
  'description',
  'suspended',
  'creation_timestamp',
  'participants',
  'total_participant_count',
  'join_approval_mode',
];

const random = (prefix: string) => `${prefix}${randomBytes(9).toString('base64url')}`;
const problem = (code: number, title: string) => ({
  errors: [{ code, title, message: `(#${code}) ${title}`, error_data: { details: title } }],
});
const isSame = (person: GroupPerson, id: string) => person.wa_id === id || person.user_id === id;

export class FakeGroups {
  readonly #groups = new Map<string, FakeGroup>();
  readonly #hidden = new Map<string, Hidden>();
  readonly #post: (report: Report) => Promise<unknown>;
  readonly #refusals = new Map<Kind, { readonly code: number; readonly title: string }>();
  /** Resolves with the first list, which a session reads once it is connected. */
  readonly wasListed: Promise<void>;
  readonly #onListed: () => void;
  /** Whether changes are reported by callbacks, as for an app that subscribes to them. */
  isReporting = true;
  /** Errors of the next lists, one each. */
  readonly listFaults: ApiError[] = [];
  /** Number of lists. */
  lists = 0;
  /** The id in the answer to a creation. */
  answersWith: 'request_id' | 'id' | 'nothing' = 'request_id';

  /** @param post sends a callback after the answer */
  constructor(post: (report: Report) => Promise<unknown>) {
    this.#post = post;
    ({ promise: this.wasListed, resolve: this.#onListed } = Promise.withResolvers<void>());
  }

  has(id: string): boolean {
    return this.#groups.has(id);
  }

  /** Returns a group for the test to look at. */
  at(id: string): FakeGroup & Hidden {
    const [group, hidden] = [this.#groups.get(id), this.#hidden.get(id)];
    if (group === undefined || hidden === undefined) throw new Error(`no group ${id}`);
    return { ...group, ...hidden };
  }

  /** Changes a group at Meta. Its report comes later, or not at all. */
  set(id: string, fields: Partial<FakeGroup>): void {
    const group = this.#groups.get(id);
    if (group !== undefined) this.#groups.set(id, { ...group, ...fields });
  }

  /** Creates a group at Meta, without a report. @returns its id */
  add(fields: Partial<FakeGroup>): string {
    const id = random('Y2FwaV9ncm91cDo');
    this.#groups.set(id, {
      subject: 'Group',
      join_approval_mode: 'auto_approve',
      creation_timestamp: Math.floor(Date.now() / 1000),
      suspended: false,
      participants: [],
      ...fields,
    });
    const link = `https://chat.whatsapp.com/${random('')}`;
    this.#hidden.set(id, { link, picture: undefined, requests: new Map(), removed: new Set() });
    return id;
  }

  /** Lets Meta accept the next request of a kind and report that it failed. */
  refuseNext(kind: Kind, code: number, title: string): void {
    this.#refusals.set(kind, { code, title });
  }

  /** A person uses the invite link. */
  async join(id: string, person: GroupPerson): Promise<void> {
    const { group, hidden } = this.#find(id);
    if (group.join_approval_mode === 'approval_required') {
      const requestId = random('request');
      hidden.requests.set(requestId, person);
      await this.#report('group_participants_update', id, {
        type: 'group_join_request_created',
        reason: 'invite_link',
        join_request_id: requestId,
        ...person,
      });
      return;
    }
    await this.#enter(id, [person]);
  }

  async withdraw(id: string, person: string): Promise<void> {
    const { hidden } = this.#find(id);
    for (const [requestId, asking] of hidden.requests) {
      if (!isSame(asking, person)) continue;
      hidden.requests.delete(requestId);
      await this.#report('group_participants_update', id, {
        type: 'group_join_request_revoked',
        join_request_id: requestId,
        ...asking,
      });
    }
  }

  /** "The `initiated_by` field and only the `wa_id` in the `removed_participants` list": a person leaves. */
  async leave(id: string, person: string): Promise<void> {
    const { group } = this.#find(id);
    const gone = group.participants.filter((one) => isSame(one, person));
    group.participants = group.participants.filter((one) => !isSame(one, person));
    await this.#report('group_participants_update', id, {
      type: 'group_participants_remove',
      removed_participants: gone,
      initiated_by: 'participant',
    });
  }

  async suspend(id: string, isSuspended: boolean): Promise<void> {
    this.#find(id).group.suspended = isSuspended;
    await this.#report('group_status_update', id, { type: isSuspended ? 'group_suspend' : 'group_suspend_cleared' });
  }

  create({ subject, description, join_approval_mode: mode = 'auto_approve' }: Partial<FakeGroup>): object {
    if (typeof subject !== 'string' || subject === '' || subject.length > 128)
      throw new ApiError(400, 100, 'Invalid parameter: subject');
    if (!['auto_approve', 'approval_required'].includes(mode)) throw new ApiError(400, 100, 'Invalid parameter');
    const requestId = random('');
    const refusal = this.#takeRefusal('create');
    const about = { type: 'group_create', subject, request_id: requestId };
    if (refusal !== undefined) {
      void this.#report('group_lifecycle_update', undefined, { ...about, ...refusal });
      return { messaging_product: 'whatsapp', request_id: requestId };
    }
    const id = this.add({ subject, ...(description !== undefined && { description }), join_approval_mode: mode });
    const { link } = this.at(id);
    void this.#report('group_lifecycle_update', id, { ...about, invite_link: link, join_approval_mode: mode });
    return {
      messaging_product: 'whatsapp',
      ...(this.answersWith === 'request_id' && { request_id: requestId }),
      ...(this.answersWith === 'id' && { id }),
    };
  }

  list({ searchParams }: URL): object {
    const limit = Number(searchParams.get('limit') ?? 25);
    if (!(limit >= 1 && limit <= 1024)) throw new ApiError(400, 100, 'Invalid parameter: limit');
    this.#onListed();
    this.lists++;
    const fault = this.listFaults.shift();
    if (fault !== undefined) throw fault;
    const all = [...this.#groups].map(([id, { subject, creation_timestamp: createdAt }]) => ({
      id,
      subject,
      created_at: String(createdAt),
    }));
    const start = Number(searchParams.get('after') ?? 0);
    const end = start + limit;
    return {
      data: { groups: all.slice(start, end) },
      paging: {
        cursors: { before: String(start), after: String(end) },
        ...(end < all.length && { next: 'https://graph.example/next' }),
      },
    };
  }

  /** "Specifying no fields in the query parameters will just return the group ID and messaging product." */
  read(id: string, { searchParams }: URL): object {
    const { group } = this.#find(id);
    const asked = searchParams.get('fields')?.split(',') ?? [];
    const unknown = asked.find((field) => !FIELDS.includes(field));
    if (unknown !== undefined) throw new ApiError(400, 100, `Tried accessing nonexisting field (${unknown})`);
    const all = { ...group, total_participant_count: group.participants.length };
    const shown = Object.entries(all).filter(([field]) => asked.includes(field));
    return { messaging_product: 'whatsapp', id, ...Object.fromEntries(shown) };
  }

  async update(id: string, type: string, body: Buffer): Promise<object> {
    const { group, hidden } = this.#find(id);
    const refusal = this.#takeRefusal('settings');
    const outcome = { update_successful: refusal === undefined, ...refusal };
    if (type.startsWith('multipart/')) {
      const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
      const file = form.get('file');
      if (form.get('messaging_product') !== 'whatsapp' || !(file instanceof File) || file.type !== 'image/jpeg')
        throw new ApiError(400, 100, 'Invalid parameter: file');
      if (refusal === undefined) hidden.picture = Buffer.from(await file.arrayBuffer());
      this.#reportSettings(id, { profile_picture: { mime_type: file.type, sha256: 'hash', ...outcome }, ...refusal });
      return { success: true };
    }
    const { messaging_product: product, subject, description } = JSON.parse(body.toString());
    if (product !== 'whatsapp' || subject === '') throw new ApiError(400, 100, 'Invalid parameter');
    if (refusal === undefined && subject !== undefined) group.subject = subject;
    if (refusal === undefined && description !== undefined) group.description = description;
    this.#reportSettings(id, {
      ...(subject !== undefined && { group_subject: { text: subject, ...outcome } }),
      ...(description !== undefined && { group_description: { text: description, ...outcome } }),
      ...refusal,
    });
    return { success: true };
  }

  remove(id: string): object {
    this.#find(id);
    const refusal = this.#takeRefusal('delete');
    if (refusal === undefined) for (const map of [this.#groups, this.#hidden]) map.delete(id);
    void this.#report('group_lifecycle_update', id, { type: 'group_delete', request_id: random(''), ...refusal });
    return { success: true };
  }

  removeParticipants(id: string, { participants }: { participants?: readonly { user: string }[] }): object {
    const { group, hidden } = this.#find(id);
    if (!Array.isArray(participants) || participants.length < 1 || participants.length > MAX_PARTICIPANTS)
      throw new ApiError(400, 100, 'Invalid parameter: participants');
    const refusal = this.#takeRefusal('remove');
    const inputs = participants.map(({ user }) => user);
    const isIn = (input: string) => group.participants.some((one) => isSame(one, input.replace(/^\+/, '')));
    const removed = refusal === undefined ? inputs.filter(isIn) : [];
    const failed = inputs.filter((input) => !removed.includes(input));
    for (const input of removed) {
      const person = input.replace(/^\+/, '');
      hidden.removed.add(person);
      group.participants = group.participants.filter((one) => !isSame(one, person));
    }
    void this.#report('group_participants_update', id, {
      type: 'group_participants_remove',
      request_id: random(''),
      initiated_by: 'business',
      ...(removed.length > 0 && { removed_participants: removed.map((input) => ({ input })) }),
      ...(failed.length > 0 && {
        failed_participants: failed.map((input) => ({ input, ...(!refusal && problem(131_204, 'not in the group')) })),
        ...(refusal ?? problem(131_203, 'Failed to remove some participants from the group')),
      }),
    });
    return { success: true };
  }

  invite(id: string, isReset: boolean): object {
    const { hidden } = this.#find(id);
    if (isReset) hidden.link = `https://chat.whatsapp.com/${random('')}`;
    return { messaging_product: 'whatsapp', invite_link: hidden.link };
  }

  listRequests(id: string, { searchParams }: URL): object {
    const { hidden } = this.#find(id);
    const start = Number(searchParams.get('after') ?? 0);
    const end = start + Number(searchParams.get('limit') ?? 25);
    const all = [...hidden.requests].map(([requestId, person]) => ({
      join_request_id: requestId,
      creation_timestamp: '1767225600',
      ...person,
    }));
    return { data: all.slice(start, end), paging: { cursors: { before: String(start), after: String(end) } } };
  }

  async decide(id: string, { join_requests: ids }: { join_requests?: readonly string[] }, isApproved: boolean) {
    const { hidden, group } = this.#find(id);
    if (!Array.isArray(ids) || ids.length === 0) throw new ApiError(400, 100, 'Invalid parameter: join_requests');
    const done: string[] = [];
    const failed: object[] = [];
    const people: GroupPerson[] = [];
    for (const requestId of ids) {
      const person = hidden.requests.get(requestId);
      const isFull = isApproved && group.participants.length + people.length >= MAX_PARTICIPANTS;
      if (person === undefined || isFull) {
        failed.push({ join_request_id: requestId, ...problem(131_203, 'Unable to add participant to group') });
        continue;
      }
      hidden.requests.delete(requestId);
      done.push(requestId);
      people.push(person);
    }
    if (isApproved && people.length > 0) void this.#enter(id, people);
    return {
      messaging_product: 'whatsapp',
      [isApproved ? 'approved_join_requests' : 'rejected_join_requests']: done,
      ...(failed.length > 0 && { failed_join_requests: failed, ...problem(131_203, 'Some requests failed') }),
    };
  }

  async #enter(id: string, people: readonly GroupPerson[]): Promise<void> {
    const { group } = this.#find(id);
    group.participants = [...group.participants, ...people];
    await this.#report('group_participants_update', id, {
      type: 'group_participants_add',
      reason: 'invite_link',
      added_participants: people,
    });
  }

  #reportSettings(id: string, settings: object): void {
    void this.#report('group_settings_update', id, {
      type: 'group_settings_update',
      request_id: random(''),
      ...settings,
    });
  }

  async #report(field: string, id: string | undefined, entry: object): Promise<void> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const group = { timestamp, ...(id !== undefined && { group_id: id }), ...entry };
    if (this.isReporting) await this.#post({ field, groups: [group] });
  }

  #takeRefusal(kind: Kind): ReturnType<typeof problem> | undefined {
    const refusal = this.#refusals.get(kind);
    this.#refusals.delete(kind);
    return refusal && problem(refusal.code, refusal.title);
  }

  #find(id: string): { group: FakeGroup; hidden: Hidden } {
    const [group, hidden] = [this.#groups.get(id), this.#hidden.get(id)];
    if (group === undefined || hidden === undefined)
      throw new ApiError(400, 100, `Object with ID '${id}' does not exist`);
    return { group, hidden };
  }
}
