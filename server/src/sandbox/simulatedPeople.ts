import { randomUUID } from 'node:crypto';
import { AppError } from '../errors.ts';
import { SandboxChannels } from './channels.ts';
import { SandboxCommunities } from './communities.ts';
import { SandboxGroups } from './groups.ts';
import type { SandboxNetwork } from './network.ts';
import type { Simulation } from './simulatedActions.ts';
import { withdrawJoinRequest } from './waiting.ts';

/** Actions of other people in groups, communities and channels. */
type Played = Extract<
  Simulation,
  {
    action:
      | 'group_create'
      | 'group_subject'
      | 'group_leave'
      | 'group_join_request'
      | 'group_join_withdraw'
      | 'group_picture'
      | 'group_settings'
      | 'community_create'
      | 'channel_post';
  }
>;

/** The people whom simulations play, each by the phone number. They are always online. */
export class SimulatedPeople {
  readonly #network: SandboxNetwork;
  readonly #now: () => number;

  constructor(network: SandboxNetwork, now: () => number) {
    this.#network = network;
    this.#now = now;
  }

  /** @param number the number of the session, which becomes a member of what they create */
  async play(action: Played, number: string): Promise<void> {
    switch (action.action) {
      case 'group_create':
        await this.#groupsOf(action.from).create(action.subject, [number, ...action.phoneNumbers]);
        return;
      case 'community_create': {
        const members = [number, ...action.phoneNumbers];
        await new SandboxCommunities(this.#network, person(action.from)).create(action.subject, null, members);
        return;
      }
      case 'group_subject': {
        const { group: networkId, subject } = action;
        await this.#network.changeGroup(networkId, (group) => [
          { ...group, subject },
          { type: 'subject', subject },
        ]);
        return;
      }
      case 'group_leave':
        return this.#groupsOf(action.from).leave(action.group);
      case 'group_join_request':
        await this.#groupsOf(action.from).ask(action.group, () => {});
        return;
      case 'group_join_withdraw':
        await this.#network.changeGroup(action.group, (group) => withdrawJoinRequest(group, action.from, this.#now()));
        return;
      case 'group_picture':
        return this.#groupsOf(action.from).setPicture(action.group, action.picture);
      case 'group_settings':
        return this.#groupsOf(action.from).setSettings(action.group, action.settings);
      case 'channel_post': {
        const channel = await this.#network.store.channel(this.#network.addressOf(action.channel));
        if (channel === undefined) throw new AppError('not_found', 'The channel does not exist on the network');
        const post = { networkId: randomUUID(), channel: action.channel, content: action.content };
        await this.#channelsOf(channel.owner).post(post);
        return;
      }
    }
  }

  /** @returns the network id of the channel */
  async createChannel(from: string, name: string): Promise<string> {
    return (await this.#channelsOf(from).create(name, null)).networkId;
  }

  async setDisappearing(group: string, from: string, seconds: number): Promise<void> {
    await this.#groupsOf(from).setSettings(group, { disappearingSeconds: seconds });
  }

  #channelsOf(number: string): SandboxChannels {
    return new SandboxChannels(this.#network, person(number));
  }

  #groupsOf(number: string): SandboxGroups {
    return new SandboxGroups(this.#network, person(number));
  }
}

const person = (number: string) => ({ number, requireOnline: () => {} });
