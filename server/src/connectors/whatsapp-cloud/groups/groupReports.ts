import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { GroupChange } from '../../../events/networkTypes.ts';
import type { NetworkGroup } from '../../contract/groups.ts';
import { describe } from '../errors.ts';
import { withKnownParts } from '../inbound/knownParts.ts';
import { LastIds } from '../inbound/lastIds.ts';
import type { CloudNumber } from '../number/cloudNumber.ts';
import { codeOf, digitsOf, isApprovalRequired, Person, placeholderGroup } from './networkGroup.ts';
import type { ChangeKind, Outcome, PendingChange, PendingChanges } from './pendingChanges.ts';

/*
 * Callbacks about groups, in the fields `group_lifecycle_update`, `group_participants_update`, `group_settings_update`
 * and `group_status_update`: https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/webhooks
 */

const GROUP_FIELDS = [
  'group_lifecycle_update',
  'group_participants_update',
  'group_settings_update',
  'group_status_update',
] as const;

export const isGroupField = (field: string): boolean => (GROUP_FIELDS as readonly string[]).includes(field);

const Text = Type.Optional(Type.String());
const Problem = Type.Object({
  code: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  title: Text,
  message: Text,
  error_data: Type.Optional(Type.Object({ details: Text })),
});
const Problems = Type.Optional(Type.Array(Problem));
/** People. Each is read alone, so that a bad one does not affect the others. */
const People = Type.Optional(Type.Array(Type.Unknown()));
const OnePerson = Compile(Person);
const OneFailed = Compile(Type.Object({ input: Text, errors: Problems }));
const Setting = Type.Optional(
  Type.Object({ text: Text, update_successful: Type.Optional(Type.Boolean()), errors: Problems }),
);

const Report = Compile(
  Type.Object({
    type: Type.String(),
    group_id: Text,
    timestamp: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]{1,12}$' })])),
    request_id: Text,
    subject: Text,
    description: Text,
    invite_link: Text,
    join_approval_mode: Text,
    reason: Text,
    wa_id: Text,
    user_id: Text,
    parent_user_id: Text,
    username: Text,
    added_participants: People,
    removed_participants: People,
    failed_participants: People,
    group_subject: Setting,
    group_description: Setting,
    profile_picture: Setting,
    errors: Problems,
  }),
);
type Report = Static<ReturnType<typeof Report.Type>>;

/** Looks up a group of a report from that time; undefined if Meta never returns it. */
export type FindGroup = (id: string, at: number) => Promise<NetworkGroup | undefined>;

/** More than a group can have. */
const MAX_PEOPLE = 1024;

/** Meta's answer about a group can be older than a report that it has just sent. */
const RECENT_MS = 60_000;

/** Reports groups of the Cloud API and their changes to the host, each once. */
export class GroupReports {
  readonly #number: CloudNumber;
  readonly #pending: PendingChanges;
  readonly #reported: LastIds;
  #known: Set<string> | undefined;

  constructor(number: CloudNumber, pending: PendingChanges) {
    this.#number = number;
    this.#pending = pending;
    this.#reported = new LastIds(number.host.store, 'groups');
  }

  /** Stores an entry of a callback. Returns the problem if it has none that can be stored. */
  async store(given: unknown, find: FindGroup): Promise<string | undefined> {
    const report = withKnownParts(Report, given, {});
    if (report === undefined) return 'a report about a group of an unknown shape';
    let problem: string | undefined;
    await this.#reported.once(JSON.stringify(given), async () => {
      problem = await this.#store(report, find);
    });
    return problem;
  }

  /** Reports a group that the host does not know. */
  async know(id: string, at: number, find: FindGroup): Promise<void> {
    const { host } = this.#number;
    this.#known ??= new Set((await host.groups()).map(({ networkId }) => networkId));
    if (this.#known.has(id)) return;
    await this.created((await find(id, at)) ?? placeholderGroup(host, id));
  }

  async created(group: NetworkGroup): Promise<void> {
    await this.#number.host.onEvent({ type: 'group_created', group });
    this.#known?.add(group.networkId);
  }

  async changed(group: NetworkGroup, change: GroupChange, timestamp: number): Promise<void> {
    await this.#number.host.onEvent({ type: 'group_updated', group, change, timestamp });
    this.#known?.add(group.networkId);
  }

  /** Reports that a group is deleted: the session is no longer in it, and nobody else is. */
  async deleted(id: string, timestamp: number): Promise<void> {
    const { host } = this.#number;
    const group = await this.#stored(id);
    if (group === undefined) return;
    const phoneNumbers = group.participants.map(({ phoneNumber }) => phoneNumber);
    const change = { type: 'participants' as const, action: 'remove' as const, phoneNumbers };
    await host.onEvent({ type: 'group_updated', group: { ...group, participants: [] }, change, timestamp });
    this.#known?.delete(id);
  }

  async #store(report: Report, find: FindGroup): Promise<string | undefined> {
    const { type, group_id: id } = report;
    const at = report.timestamp === undefined ? this.#number.host.clock.now() : Number(report.timestamp) * 1000;
    // A group that was not created has no id in some reports.
    if (type === 'group_create') return this.#storeCreation(report, id, at, find);
    if (id === undefined) return `a report ${type} without a group`;
    switch (type) {
      case 'group_delete':
        return this.#storeDeletion(report, id, at);
      case 'group_participants_add':
        return this.#storeAdded(report, id, at, find);
      case 'group_participants_remove':
        return this.#storeRemoved(report, id, at, find);
      case 'group_join_request_created':
      case 'group_join_request_revoked':
        return this.#storeRequest(report, id, at, find);
      case 'group_settings_update':
        return this.#storeSettings(report, id, at, find);
      case 'group_suspend':
      case 'group_suspend_cleared':
        return this.#storeSuspension(id, type === 'group_suspend', at, find);
      default:
        return `a report ${type} about a group`;
    }
  }

  async #storeCreation(report: Report, id: string | undefined, at: number, find: FindGroup) {
    const { subject = '', request_id: requestId, invite_link: link } = report;
    const take = () => this.#pending.take('create', subject, requestId);
    const problem = problemOf(report.errors);
    if (problem !== undefined || id === undefined) {
      take()?.settle({ problem: problem ?? 'WhatsApp did not create the group' });
      return undefined;
    }
    const placeholder = placeholderGroup(this.#number.host, id);
    const found = (await find(id, at)) ?? {
      ...placeholder,
      subject: subject || id,
      description: report.description || null,
      createdAt: at,
      settings: { ...placeholder.settings, joinApproval: isApprovalRequired(report.join_approval_mode) },
    };
    const group = { ...found, inviteCode: link === undefined ? null : codeOf(link.trim()) };
    await this.created(group);
    take()?.settle({ group });
    return undefined;
  }

  async #storeDeletion({ errors, request_id: requestId }: Report, id: string, at: number) {
    const problem = problemOf(errors);
    if (problem === undefined) await this.deleted(id, at);
    this.#pending.take('delete', id, requestId)?.settle(problem === undefined ? {} : { problem });
    return undefined;
  }

  async #storeAdded({ added_participants: added = [] }: Report, id: string, at: number, find: FindGroup) {
    const phoneNumbers = await this.#digitsOf(added, at);
    if (phoneNumbers.length === 0) return 'a report of new participants without any';
    await this.#storeMembers('add', phoneNumbers, id, at, find);
    return undefined;
  }

  /** Meta's samples name people who were removed by `input`, and one who left by `wa_id`. */
  async #storeRemoved(report: Report, id: string, at: number, find: FindGroup) {
    const { removed_participants: removed = [], failed_participants: failed = [], request_id: requestId } = report;
    const phoneNumbers = await this.#digitsOf(removed, at);
    const pending = this.#pending.take('remove', id, requestId);
    try {
      if (phoneNumbers.length > 0 && pending?.isReported !== true)
        await this.#storeMembers('remove', phoneNumbers, id, at, find);
    } catch (error) {
      this.#pending.restore('remove', id, pending);
      throw error;
    }
    const whole = problemOf(report.errors);
    const reasons = failed.map((given) => {
      const { input = '', errors } = withKnownParts(OneFailed, given, {}) ?? {};
      return [plain(input), problemOf(errors) ?? whole ?? 'WhatsApp gave no reason'] as const;
    });
    const isRefused = whole !== undefined && phoneNumbers.length === 0 && reasons.length === 0;
    pending?.settle(isRefused ? { problem: whole } : { failed: new Map(reasons) });
    return undefined;
  }

  /**
   * Reports the people whose membership changes. Only these change the stored list: others have their own report, even
   * if Meta returns them already. An old report counts only if Meta still returns what it says.
   */
  async #storeMembers(
    action: 'add' | 'remove',
    phoneNumbers: readonly string[],
    id: string,
    at: number,
    find: FindGroup,
  ): Promise<void> {
    const isAdded = action === 'add';
    const without = (members: NetworkGroup['participants'], gone: readonly string[]) =>
      members.filter(({ phoneNumber }) => !gone.includes(phoneNumber));
    const apply = (members: NetworkGroup['participants'], changed: readonly string[]) => [
      ...without(members, changed),
      ...(isAdded ? changed.map((phoneNumber) => ({ phoneNumber, role: 'member' as const })) : []),
    ];
    const stored = await this.#stored(id);
    if (stored === undefined || !isComplete(stored)) {
      const group = await this.#groupAt(id, at, find, (members) => apply(members, phoneNumbers));
      return this.changed(group, { type: 'participants', action, phoneNumbers: [...phoneNumbers] }, at);
    }
    const found = await find(id, at);
    const isMember = ({ participants }: NetworkGroup, digits: string) =>
      participants.some(({ phoneNumber }) => phoneNumber === digits);
    const isStated = (digits: string) =>
      found === undefined || this.#isRecent(at) || isMember(found, digits) === isAdded;
    const changed = phoneNumbers.filter((digits) => isMember(stored, digits) !== isAdded && isStated(digits));
    if (changed.length === 0) return;
    const { settings } = found ?? stored;
    const group = { ...stored, settings, participants: apply(stored.participants, changed) };
    await this.changed(group, { type: 'participants', action, phoneNumbers: changed }, at);
  }

  /**
   * Reports the members of a group that was only known by its id. It keeps the id as its name until that is reported.
   */
  async #storeMissing(stored: NetworkGroup, found: NetworkGroup, at: number): Promise<void> {
    const known = new Set(stored.participants.map(({ phoneNumber }) => phoneNumber));
    const phoneNumbers = found.participants.map(({ phoneNumber }) => phoneNumber).filter((one) => !known.has(one));
    if (phoneNumbers.length === 0) return;
    const { subject, description } = stored;
    await this.changed({ ...found, subject, description }, { type: 'participants', action: 'add', phoneNumbers }, at);
  }

  /** Returns a stored group; undefined if the session is not in it. */
  async #stored(id: string): Promise<NetworkGroup | undefined> {
    return (await this.#number.host.groups()).find(({ networkId }) => networkId === id);
  }

  async #storeRequest(report: Report, id: string, at: number, find: FindGroup) {
    const phoneNumber = await digitsOf(report, this.#number.people, at);
    if (phoneNumber === undefined) return 'a request to join a group without a person';
    await this.know(id, at, find);
    await this.#number.host.onEvent({
      type: 'join_request',
      group: id,
      phoneNumber,
      change: report.type === 'group_join_request_created' ? 'created' : 'withdrawn',
      ...(report.reason === 'invite_link' && { method: 'invite_link' as const }),
      timestamp: at,
    });
    return undefined;
  }

  async #storeSettings(report: Report, id: string, at: number, find: FindGroup) {
    const { group_subject: subject, group_description: description, profile_picture: picture } = report;
    const texts = [
      ['subject', subject],
      ['description', description],
    ] as const;
    for (const [kind, setting] of texts) {
      const text = setting?.text?.trim();
      if (setting === undefined) continue;
      await this.#settle(kind, id, report, setting, () => this.#storeText(kind, text, id, at, find));
    }
    if (picture !== undefined)
      await this.#settle('picture', id, report, picture, async (pending) => {
        // Meta does not return group pictures, so only the one that we have sent is known.
        if (pending?.picture === undefined) return;
        const group = await this.#groupAt(id, at, find);
        await this.changed({ ...group, picture: pending.picture }, { type: 'picture' }, at);
      });
    return undefined;
  }

  /** Reports a text that changes. If the report is old, Meta's present text counts, which can have its own report. */
  async #storeText(kind: 'subject' | 'description', text: string | undefined, id: string, at: number, find: FindGroup) {
    const { host } = this.#number;
    const stored = await this.#stored(id);
    const found = stored !== undefined && isComplete(stored) && this.#isRecent(at) ? undefined : await find(id, at);
    if (stored !== undefined && !isComplete(stored) && found !== undefined) await this.#storeMissing(stored, found, at);
    const group = stored ?? found ?? placeholderGroup(host, id);
    const present =
      found === undefined || this.#isRecent(at) ? { subject: text || group.subject, description: text || null } : found;
    if (present[kind] === stored?.[kind]) return;
    if (kind === 'subject')
      await this.changed({ ...group, subject: present.subject }, { type: kind, subject: present.subject }, at);
    else
      await this.changed(
        { ...group, description: present.description },
        { type: kind, description: present.description },
        at,
      );
  }

  /** Ends our own request for a setting. Reports the setting if it was changed. */
  async #settle(
    kind: ChangeKind,
    id: string,
    { request_id: requestId }: Report,
    { update_successful: isDone, errors }: NonNullable<Report['group_subject']>,
    report: (pending: PendingChange | undefined) => Promise<void>,
  ): Promise<void> {
    const problem = problemOf(errors) ?? (isDone === false ? 'WhatsApp did not change it' : undefined);
    const pending = this.#pending.take(kind, id, requestId);
    const outcome: Outcome = problem === undefined ? {} : { problem };
    try {
      if (problem === undefined && pending?.isReported !== true) await report(pending);
    } catch (error) {
      this.#pending.restore(kind, id, pending);
      throw error;
    }
    pending?.settle(outcome);
  }

  async #storeSuspension(id: string, isSuspended: boolean, at: number, find: FindGroup) {
    await this.know(id, at, find);
    const group = await this.#stored(id);
    const name = `the group "${group?.subject ?? id}"`;
    await this.#number.host.onEvent({
      type: 'number_updated',
      state: {},
      notice: isSuspended
        ? { type: 'GROUP_SUSPENDED', severity: 'warning', message: `WhatsApp has suspended ${name}` }
        : { type: 'GROUP_SUSPENSION_CLEARED', severity: 'info', message: `WhatsApp no longer suspends ${name}` },
      timestamp: at,
    });
    return undefined;
  }

  /**
   * Returns a group as it is now: as Meta returns it, or else as it is stored.
   * @param apply the change of a report, which Meta's answer may not contain yet
   */
  async #groupAt(
    id: string,
    at: number,
    find: FindGroup,
    apply: (members: NetworkGroup['participants']) => NetworkGroup['participants'] = (members) => members,
  ): Promise<NetworkGroup> {
    const { host } = this.#number;
    const found = await find(id, at);
    const group = found ?? (await this.#stored(id)) ?? placeholderGroup(host, id);
    return found === undefined || this.#isRecent(at) ? { ...group, participants: apply(group.participants) } : group;
  }

  #isRecent(at: number): boolean {
    return this.#number.host.clock.now() - at < RECENT_MS;
  }

  async #digitsOf(given: readonly unknown[], at: number): Promise<string[]> {
    const { people, host } = this.#number;
    const found = new Set<string>();
    for (const one of given.slice(0, MAX_PEOPLE)) {
      const person = withKnownParts(OnePerson, one, {});
      const digits = person && (await digitsOf(person, people, at));
      if (digits !== undefined && digits !== host.phoneNumber) found.add(digits);
    }
    return [...found];
  }
}

/** Returns whether all members of a stored group are known. A group that is only known by its id lacks members. */
const isComplete = (group: NetworkGroup): boolean => group.subject !== group.networkId;

/** A phone number without a plus, or a user id. */
export const plain = (input: string): string => input.replace(/^\+/, '');

function problemOf([error]: NonNullable<Report['errors']> = []): string | undefined {
  if (error === undefined) return undefined;
  const message = error.error_data?.details ?? error.message ?? error.title ?? 'the request failed';
  return describe({ code: Number(error.code) || 0, message });
}
