import { cacheOf } from '../../cache.ts';
import { AppError } from '../../errors.ts';
import type { TemplateActions } from '../contract/business.ts';
import type { SessionHost, SessionStore } from '../contract/host.ts';
import type { OutgoingMessage } from '../contract/outgoing.ts';
import type { PlannedMessage, PlannedTemplate } from '../contract/standing.ts';
import type { MarketingChoice } from './inbound/preferences.ts';

/** Followed by the digits of a person. */
const PREFIX = 'marketing/';
/** Templates that have the name of the sent one in their names. */
const PAGE = 100;
/** Templates whose category is in memory. */
const CATEGORIES = 1000;
/** Meta can change the category of a template. */
const CATEGORY_VALID_MS = 3600_000;

interface Category {
  readonly isMarketing: boolean;
  readonly at: number;
}

/**
 * Returns the changes of a session's store that move a choice to the other digits of the same person, where the later
 * one of two stays.
 */
export async function movedChoice(
  from: string,
  to: string,
  store: Pick<SessionStore, 'get'>,
): Promise<ReadonlyMap<string, string | null>> {
  const moved = await store.get(PREFIX + from);
  if (moved === undefined) return new Map();
  const present = await store.get(PREFIX + to);
  const isLater = present === undefined || timeOf(moved) > timeOf(present);
  return new Map([[PREFIX + from, null], ...(isLater ? ([[PREFIX + to, moved]] as const) : [])]);
}

const timeOf = (choice: string) => Number(choice.split(' ')[0]);
const isStop = (choice: string | undefined) => choice?.endsWith(' stop') === true;

export const STOPPED =
  'The recipient has stopped marketing messages of this business; send no marketing template until they resume them';

/** People who do not want marketing messages. Meta drops such a message after it has accepted it. */
export class MarketingChoices {
  readonly #host: Pick<SessionHost, 'store' | 'clock' | 'log'>;
  readonly #templates: Pick<TemplateActions, 'list'>;
  readonly #currentOf: (digits: string) => Promise<string>;
  readonly #categories = cacheOf<Category>(CATEGORIES);

  /** @param currentOf returns the current digits of a person */
  constructor(
    host: Pick<SessionHost, 'store' | 'clock' | 'log'>,
    templates: Pick<TemplateActions, 'list'>,
    currentOf: (digits: string) => Promise<string>,
  ) {
    this.#host = host;
    this.#templates = templates;
    this.#currentOf = currentOf;
  }

  /** Reports a choice and stores it, unless it changes nothing or a later one is stored. */
  async note({ from, isStopped, timestamp }: MarketingChoice, report: () => Promise<void>): Promise<void> {
    const { store } = this.#host;
    const key = PREFIX + (await this.#currentOf(from));
    const known = await store.get(key);
    if (known !== undefined && timeOf(known) > timestamp) return;
    if (known === undefined || isStop(known) !== isStopped) await report();
    await store.set(key, `${timestamp} ${isStopped ? 'stop' : 'resume'}`);
  }

  /** @throws {AppError} `network_denied` for a marketing template to a person who has stopped them */
  async requireWanted({ chat, content: { template } }: OutgoingMessage): Promise<void> {
    if (template !== undefined && (await this.isUnwanted(chat, template)))
      throw new AppError('network_denied', STOPPED);
  }

  /** Returns whether it is a marketing template to a person who has stopped them. */
  async isUnwanted({ type, id }: PlannedMessage['chat'], template: PlannedTemplate): Promise<boolean> {
    if (type !== 'direct') return false;
    const choice = await this.#host.store.get(PREFIX + (await this.#currentOf(id)));
    return isStop(choice) && this.#isMarketing(template);
  }

  /** Returns whether a template is known to be for marketing. If Meta does not tell, it is not. */
  async #isMarketing({ name, language }: PlannedTemplate): Promise<boolean> {
    const { clock, log } = this.#host;
    const filter = { name, ...(language !== undefined && { language }) };
    const key = JSON.stringify([name, language]);
    const known = this.#categories.get(key);
    if (known !== undefined && clock.now() - known.at < CATEGORY_VALID_MS) return known.isMarketing;
    try {
      const { templates } = await this.#templates.list(filter, { limit: PAGE });
      const isMarketing = templates.some(({ category }) => category === 'marketing');
      if (templates.length > 0) this.#categories.set(key, { isMarketing, at: clock.now() });
      return isMarketing;
    } catch (err) {
      log.warn({ err }, 'failed to look up the category of a template; sending it');
      return known?.isMarketing === true;
    }
  }
}
