import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { NetworkGroup } from '../connector.ts';
import type { Exchange, GroupStep, Parcel, Phone } from './exchange.ts';
import { createHanding, numberInUse } from './handing.ts';

interface Line {
  readonly phone: Phone;
  /** It has what was kept for it. */
  isCaughtUp: boolean;
}

/** A parcel that is kept for one number. */
interface Kept {
  readonly parcel: Parcel;
  readonly arrived: () => void;
  /** Whoever handed it in need not wait any longer. */
  readonly done: () => void;
}

/** The exchanges of networks that are inside one process, by their scope. */
export function createAloneExchanges(clock: Clock): (scope: string) => Exchange {
  const exchanges = new Map<string, Exchange>();
  return (scope) => {
    const exchange = exchanges.get(scope) ?? createAloneExchange(clock);
    exchanges.set(scope, exchange);
    return exchange;
  };
}

/**
 * The exchange of a network that is inside one process. It remembers nothing over a restart that the sessions do not:
 * they hand it their groups and undelivered messages when they connect, as a phone would sync with its server.
 */
function createAloneExchange(clock: Clock): Exchange {
  /** Numbers that have signed up, and by which session: what is sent while they are away waits for them alone. */
  const owners = new Map<string, string>();
  const lines = new Map<string, Line>();
  const mailboxes = new Map<string, Kept[]>();
  const groups = new Map<string, NetworkGroup>();
  const { hand, counting } = createHanding(clock, deliver);

  async function deliver(parcel: Parcel): Promise<void> {
    const arrived = counting(parcel, parcel.to.length);
    await Promise.all(parcel.to.map((number) => bring(number, parcel, arrived)));
  }

  async function bring(number: string, parcel: Parcel, arrived: () => void): Promise<void> {
    const line = lines.get(number);
    if (line?.isCaughtUp) return hand(line.phone, parcel, arrived, () => void bring(number, parcel, arrived));
    if (!owners.has(number)) return arrived();
    const { promise, resolve } = Promise.withResolvers<void>();
    const kept: Kept = { parcel, arrived, done: resolve };
    const mailbox = mailboxes.get(number);
    if (mailbox === undefined) mailboxes.set(number, [kept]);
    else mailbox.push(kept);
    if (line !== undefined) await promise;
  }

  async function emptyMailbox(line: Line): Promise<void> {
    const { phone } = line;
    while (lines.get(phone.number) === line) {
      const next = mailboxes.get(phone.number)?.shift();
      if (next === undefined) {
        line.isCaughtUp = true;
        return;
      }
      const { parcel, arrived, done } = next;
      await hand(phone, parcel, arrived, () => void bring(phone.number, parcel, arrived));
      done();
    }
  }

  async function putGroup({ group, event }: GroupStep, before: NetworkGroup | undefined): Promise<void> {
    groups.set(group.networkId, group);
    await deliver({ to: concernedBy(group, before), event });
  }

  return {
    remember(linked) {
      for (const { sessionId, phoneNumber } of linked) {
        if (!owners.has(phoneNumber)) owners.set(phoneNumber, sessionId);
      }
    },
    signedUp: async (numbers) => new Set(numbers.filter((number) => owners.has(number))),
    async join(phone) {
      const { number, sessionId } = phone;
      if (lines.has(number) || (owners.get(number) ?? sessionId) !== sessionId) throw numberInUse(number);
      owners.set(number, sessionId);
      lines.set(number, { phone, isCaughtUp: false });
    },
    catchUp(phone) {
      const line = lines.get(phone.number);
      if (line?.phone === phone) void emptyMailbox(line);
    },
    leave(phone) {
      if (lines.get(phone.number)?.phone !== phone) return;
      lines.delete(phone.number);
      for (const { done } of mailboxes.get(phone.number) ?? []) done();
    },
    async forget(number, sessionId) {
      if (owners.get(number) !== sessionId) return;
      owners.delete(number);
      mailboxes.delete(number);
    },
    deliver,
    group: async (networkId) => groups.get(networkId),
    groupByInvite: async (code) => [...groups.values()].find(({ inviteCode }) => inviteCode === code),
    async restoreGroups(known) {
      for (const group of known) if (!groups.has(group.networkId)) groups.set(group.networkId, group);
    },
    addGroup: (step) => putGroup(step, undefined),
    async changeGroup(networkId, change) {
      const group = groups.get(networkId);
      if (group === undefined) throw new AppError('not_found', 'The group does not exist on the network');
      const step = change(group);
      if (step === undefined) return group;
      await putGroup(step, group);
      return step.group;
    },
  };
}

/** The numbers that learn of a change: whoever was or is a member. */
export function concernedBy(group: NetworkGroup, before: NetworkGroup | undefined): string[] {
  const participants = [...(before?.participants ?? []), ...group.participants];
  return [...new Set(participants.map(({ phoneNumber }) => phoneNumber))];
}
