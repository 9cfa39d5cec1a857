import type { JoinDecision, JoinRequest, JoinRequestActions } from '../connectors/contract/groupActions.ts';
import { changeParticipants, type Member, requireAdmin } from './groups.ts';
import type { SandboxNetwork } from './network.ts';
import { waitingFor, withoutRequests } from './waiting.ts';

/** The requests to join groups that a member decides on. */
export class SandboxJoinRequests implements JoinRequestActions {
  readonly #network: SandboxNetwork;
  readonly #self: Member;

  constructor(network: SandboxNetwork, self: Member) {
    this.#network = network;
    this.#self = self;
  }

  async list(networkId: string): Promise<readonly JoinRequest[]> {
    this.#self.requireOnline();
    const group = await this.#network.group(networkId);
    requireAdmin(group, this.#self.number);
    return waitingFor(group);
  }

  async decide(
    networkId: string,
    decision: 'approve' | 'reject',
    phoneNumbers: readonly string[],
  ): Promise<readonly JoinDecision[]> {
    this.#self.requireOnline();
    let results: JoinDecision[] = [];
    await this.#network.changeGroup(networkId, (group) => {
      requireAdmin(group, this.#self.number);
      const waiting = new Set(waitingFor(group).map(({ phoneNumber }) => phoneNumber));
      results = phoneNumbers.map((phoneNumber) =>
        waiting.has(phoneNumber)
          ? { phoneNumber, ok: true }
          : { phoneNumber, ok: false, reason: 'does not wait to join the group' },
      );
      const decided = results.filter(({ ok }) => ok).map(({ phoneNumber }) => phoneNumber);
      if (decided.length === 0) return undefined;
      const rest = withoutRequests(group, decided);
      // The admin who rejects knows it, and others hear nothing.
      if (decision === 'reject') return { group: rest, event: { type: 'group_noted', group: rest }, to: [] };
      const { participants } = changeParticipants(group.participants, 'add', decided);
      return [
        { ...rest, participants },
        { type: 'participants', action: 'add', phoneNumbers: decided },
      ];
    });
    return results;
  }
}
