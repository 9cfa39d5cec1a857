import { randomUUID } from 'node:crypto';
import type { NetworkTemplate, TemplateActions } from '../connectors/contract/business.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { SessionHost } from '../connectors/contract/host.ts';
import type { OutgoingMessage } from '../connectors/contract/outgoing.ts';
import type { PlannedTemplate } from '../connectors/contract/standing.ts';
import { AppError } from '../errors.ts';

const PREFIX = 'template:';
/** Set once the session has created a template. */
const HAS_CREATED = 'templates';
const MAX_TEMPLATES = 250;
/** Approved ones that cannot be sent for now. Others that are not approved do not exist for a sender, as at Meta. */
const STOPPED: ReadonlySet<string> = new Set(['paused', 'disabled']);

type Kept = NetworkTemplate & { readonly createdAt: number };

/** The templates of a sandbox session, kept in its store. They are pending until the simulator reviews them. */
export class SandboxTemplates implements TemplateActions {
  readonly #host: SessionHost;
  readonly #requireOnline: () => void;

  constructor(host: SessionHost, requireOnline: () => void) {
    this.#host = host;
    this.#requireOnline = requireOnline;
  }

  async list(
    { name, status, language }: Parameters<TemplateActions['list']>[0],
    { after, limit }: Parameters<TemplateActions['list']>[1],
  ) {
    this.#requireOnline();
    const rest = (await this.#all())
      .filter((one) => after === undefined || positionOf(one) > after)
      .filter((one) => name === undefined || one.name === name)
      .filter((one) => status === undefined || one.status === status)
      .filter((one) => language === undefined || one.language === language);
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return { templates: page.map(shown), next: rest.length > limit && last !== undefined ? positionOf(last) : null };
  }

  async get(templateId: string): Promise<NetworkTemplate> {
    this.#requireOnline();
    return shown(await this.#find(templateId));
  }

  async create({ name, language, category, components }: Parameters<TemplateActions['create']>[0]) {
    this.#requireOnline();
    const all = await this.#all();
    if (all.length >= MAX_TEMPLATES)
      throw new AppError('too_many', `A sandbox session can have at most ${MAX_TEMPLATES} templates; delete one first`);
    if (all.some((one) => one.name === name && one.language === language))
      throw new AppError('validation_failed', `There is a template ${name} in the language ${language} already`);
    const template: Kept = {
      templateId: randomUUID(),
      name,
      language,
      status: 'pending',
      category,
      components,
      quality: null,
      rejectionReason: null,
      createdAt: this.#host.clock.now(),
    };
    await this.#host.store.set(HAS_CREATED, 'yes');
    await this.#keep(template);
    return shown(template);
  }

  async update(templateId: string, change: Parameters<TemplateActions['update']>[1]) {
    this.#requireOnline();
    const template = { ...(await this.#find(templateId)), ...change, status: 'pending', rejectionReason: null };
    await this.#keep(template);
    return shown(template);
  }

  async remove(templateId: string): Promise<void> {
    this.#requireOnline();
    await this.#find(templateId);
    await this.#host.store.delete(PREFIX + templateId);
  }

  /** Plays the review of the network. Returns the report of it. */
  async review(templateId: string, status: string, reason: string | undefined): Promise<NetworkEvent> {
    const template = await this.#find(templateId);
    const rejectionReason = status === 'rejected' ? (reason ?? 'INVALID_FORMAT') : null;
    await this.#keep({ ...template, status, rejectionReason });
    const { name, language, category } = template;
    const why = rejectionReason ?? reason;
    return {
      type: 'template_updated',
      templateId,
      name,
      language,
      status,
      category,
      ...(why !== undefined && why !== null && { reason: why }),
      timestamp: this.#host.clock.now(),
    };
  }

  /** @throws {AppError} `not_found`, `network_denied` */
  async requireSendable({ content: { template } }: OutgoingMessage): Promise<void> {
    const refusal = template && (await this.refusalOf(template));
    if (refusal !== undefined) throw refusal;
  }

  /**
   * Returns why a template cannot be sent, with the errors of the Cloud API. A session that has never created one can
   * send any, so that an integration can be tried without creating its templates. Without a language, a template that
   * is approved in any is enough.
   */
  async refusalOf({ name, language }: PlannedTemplate): Promise<AppError | undefined> {
    const named = (await this.#all()).filter((one) => one.name === name && one.language === (language ?? one.language));
    const [first] = named;
    if (first === undefined) {
      if ((await this.#host.store.get(HAS_CREATED)) === undefined) return undefined;
      const where = language === undefined ? '' : ` in the language ${language}`;
      return new AppError('not_found', `The session has no template ${name}${where}`);
    }
    if (named.some(({ status }) => status === 'approved')) return undefined;
    return new AppError(
      STOPPED.has(first.status) ? 'network_denied' : 'not_found',
      `The template ${name} (${first.language}) is ${first.status}, and not approved`,
    );
  }

  /** The oldest first. */
  async #all(): Promise<Kept[]> {
    const entries = await this.#host.store.list(PREFIX);
    const all = [...entries.values()].map((text): Kept => JSON.parse(text));
    return all.toSorted((one, other) => (positionOf(one) < positionOf(other) ? -1 : 1));
  }

  async #find(templateId: string): Promise<Kept> {
    const text = await this.#host.store.get(PREFIX + templateId);
    if (text === undefined) throw new AppError('not_found', `The template ${templateId} does not exist`);
    return JSON.parse(text);
  }

  async #keep(template: Kept): Promise<void> {
    await this.#host.store.set(PREFIX + template.templateId, JSON.stringify(template));
  }
}

/** Orders templates by their age. */
const positionOf = ({ createdAt, templateId }: Kept) => `${String(createdAt).padStart(15, '0')}/${templateId}`;

const shown = ({ createdAt: _, ...template }: Kept): NetworkTemplate => template;
