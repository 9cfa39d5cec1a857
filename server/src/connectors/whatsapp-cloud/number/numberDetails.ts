import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { NumberProblem, NumberState, Quality } from '../../contract/business.ts';
import { GraphError } from '../graph.ts';
import type { CloudNumber } from './cloudNumber.ts';

/* The state of a number: https://developers.facebook.com/docs/whatsapp/business-management-api/manage-phone-numbers */

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

const Entity = Type.Object({
  entity_type: Type.String(),
  id: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  can_send_message: Text,
  additional_info: Type.Optional(Type.Array(Type.String())),
  errors: Type.Optional(Type.Array(Type.Object({ error_description: Text, possible_solution: Text }))),
});
type Entity = Static<typeof Entity>;

const Details = Type.Object({
  verified_name: Text,
  name_status: Text,
  quality_rating: Text,
  whatsapp_business_manager_messaging_limit: Text,
  messaging_limit_tier: Text,
  throughput: Type.Optional(Type.Object({ level: Text })),
  account_mode: Text,
  health_status: Type.Optional(
    Type.Object({ can_send_message: Text, entities: Type.Optional(Type.Array(Type.Unknown())) }),
  ),
});
const OneDetails = Compile(Details);
const OneEntity = Compile(Entity);

const OLDER = 'verified_name,name_status,quality_rating,messaging_limit_tier,throughput,account_mode,health_status';
/** Requests for the fields, the best first: an older version of the Graph API refuses a field that it does not know. */
const FIELDS = [OLDER.replace('messaging_limit_tier', 'whatsapp_business_manager_messaging_limit'), OLDER];
const UNKNOWN_FIELD = 100;

const EVERY_MS = 30 * 60_000;

/** Reads the state of a number when it connects, every half hour, and when Meta says that it changed. */
export class NumberDetails {
  readonly #number: CloudNumber;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #isStale = false;

  constructor(number: CloudNumber) {
    this.#number = number;
  }

  /** Reads the state if that is due. */
  check(): void {
    if (this.#number.host.clock.elapsed() - this.#readAt >= EVERY_MS) void this.refresh();
  }

  /** Never fails: without the state, the number still works. Requests during a request become one more. */
  refresh(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readWhileStale().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readWhileStale(): Promise<void> {
    const { host, monitor } = this.#number;
    while (this.#isStale && !monitor.isClosed) {
      this.#isStale = false;
      this.#readAt = host.clock.elapsed();
      try {
        await this.#read();
      } catch (error) {
        if (!monitor.isClosed) host.log.info({ err: error }, 'failed to read the state of the number');
      }
    }
  }

  async #read(): Promise<void> {
    const { host, account } = this.#number;
    const found = await this.#request();
    if (!OneDetails.Check(found)) return;
    const id = entitiesOf(found).find((entity) => entity.entity_type === 'WABA')?.id;
    if (id !== undefined) await account.learn(String(id));
    await host.onEvent({ type: 'number_updated', state: toState(found), timestamp: host.clock.now() });
  }

  async #request(): Promise<unknown> {
    const { graph, options } = this.#number;
    for (const [index, fields] of FIELDS.entries()) {
      try {
        return await graph.call('GET', `${options.phoneNumberId}?fields=${fields}`);
      } catch (error) {
        const isFieldUnknown = error instanceof GraphError && error.code === UNKNOWN_FIELD;
        if (!isFieldUnknown || index === FIELDS.length - 1) throw error;
      }
    }
    return undefined;
  }
}

function toState(found: Static<typeof Details>): Partial<NumberState> {
  const { verified_name: name, name_status: nameStatus, throughput, account_mode: mode, health_status: health } = found;
  const tier = found.whatsapp_business_manager_messaging_limit ?? found.messaging_limit_tier;
  return {
    ...(name && { displayName: name }),
    ...(nameStatus && { nameStatus: lower(nameStatus) }),
    ...(found.quality_rating && { quality: toQuality(found.quality_rating) }),
    ...(tier && toLimit(tier)),
    ...(throughput?.level && { throughput: lower(throughput.level) }),
    ...(mode && { accountMode: lower(mode) }),
    ...(health && { canSend: toAbility(health.can_send_message), problems: problemsOf(found) }),
  };
}

function entitiesOf({ health_status: health }: Static<typeof Details>): Entity[] {
  return (health?.entities ?? []).filter((entity): entity is Entity => OneEntity.Check(entity));
}

const CONCERNS: Readonly<Record<string, string>> = { WABA: 'business_account' };

function problemsOf(found: Static<typeof Details>): NumberProblem[] {
  return entitiesOf(found).flatMap(({ entity_type: type, additional_info: info = [], errors = [] }) => {
    const words = errors.map(({ error_description: what, possible_solution: how }) =>
      what && how ? `${asSentence(what)} ${how}` : (what ?? how ?? ''),
    );
    return [...words, ...info]
      .filter((message) => message !== '')
      .map((message) => ({ concerns: CONCERNS[type] ?? lower(type), message }));
  });
}

/** Meta leaves out some full stops, and the next sentence follows. */
const asSentence = (text: string) => (/[.!?…:]$/.test(text.trim()) ? text : `${text.trim()}.`);

const ABILITIES: Readonly<Record<string, NumberState['canSend']>> = {
  AVAILABLE: 'yes',
  LIMITED: 'limited',
  BLOCKED: 'no',
};

const toAbility = (status: string | null | undefined) => ABILITIES[status ?? ''] ?? null;

const QUALITIES: Readonly<Record<string, Quality>> = { GREEN: 'high', YELLOW: 'medium', RED: 'low' };

/** Meta rates with the colors of a traffic light. */
export const toQuality = (color: string): Quality => QUALITIES[color.toUpperCase()] ?? 'unknown';

const THOUSANDS = /^TIER_([0-9]{1,6})(K?)$/;

/** @param limit such as `TIER_2K`, or a number of people, with -1 for any number */
export function toLimit(limit: string | number): Pick<NumberState, 'messagingTier' | 'messagingLimit'> {
  if (typeof limit === 'number') {
    const isUnlimited = limit < 0;
    const count = Math.trunc(limit);
    const name = count >= 1000 && count % 1000 === 0 ? `${count / 1000}K` : `${count}`;
    return {
      messagingTier: isUnlimited ? 'TIER_UNLIMITED' : `TIER_${name}`,
      messagingLimit: isUnlimited ? null : count,
    };
  }
  const [, digits, thousands] = THOUSANDS.exec(limit) ?? [];
  const messagingLimit = digits === undefined ? null : Number(digits) * (thousands === 'K' ? 1000 : 1);
  return { messagingTier: limit, messagingLimit };
}

/** Meta writes its constants in capitals, the API in small letters. */
export const lower = (constant: string): string => constant.toLowerCase();
