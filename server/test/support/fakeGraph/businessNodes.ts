import { randomBytes } from 'node:crypto';

/*
 * The parts of the fake Graph API that belong to a business: its templates, the state of its number, and its profile.
 */

export class ApiError extends Error {
  readonly status: number;
  readonly code: number;
  readonly retryAfter: number | undefined;
  constructor(status: number, code: number, details: string, retryAfter?: number) {
    super(details);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

export interface FakeTemplate {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  status: string;
  category: string;
  components: readonly object[];
  quality_score?: { score: string };
  rejected_reason?: string;
}

const TEMPLATE_NAME = /^[a-z0-9_]{1,512}$/;
const CATEGORIES = ['MARKETING', 'UTILITY', 'AUTHENTICATION'];

/** The templates of a business account. A new one is pending until the test reviews it. */
export class FakeTemplates {
  readonly all: FakeTemplate[] = [];
  /** Of another account that the same token can read. */
  readonly foreign: FakeTemplate[] = [];

  add(fields: Partial<FakeTemplate> & Pick<FakeTemplate, 'name'>): FakeTemplate {
    const template: FakeTemplate = {
      id: String(randomBytes(6).readUIntBE(0, 6)),
      language: 'en_US',
      status: 'APPROVED',
      category: 'UTILITY',
      components: [{ type: 'BODY', text: 'Hello' }],
      ...fields,
    };
    this.all.push(template);
    return template;
  }

  find(id: string): FakeTemplate | undefined {
    return [...this.all, ...this.foreign].find((template) => template.id === id);
  }

  /** Pages end with a cursor as long as another page follows. */
  list({ searchParams }: URL): object {
    const fits = (name: 'name' | 'status' | 'language') => (template: FakeTemplate) =>
      !searchParams.has(name) || template[name] === searchParams.get(name);
    const found = this.all.filter(fits('name')).filter(fits('status')).filter(fits('language'));
    const limit = Number(searchParams.get('limit') ?? 25);
    const start = Number(Buffer.from(searchParams.get('after') ?? '', 'base64').toString() || 0);
    const cursorOf = (position: number) => Buffer.from(String(position)).toString('base64');
    const end = start + limit;
    return {
      data: found.slice(start, end),
      paging: {
        cursors: { before: cursorOf(start), after: cursorOf(end) },
        ...(end < found.length && { next: 'https://graph.example/next' }),
      },
    };
  }

  create({ name, language, category, components }: Partial<FakeTemplate>): object {
    if (name === undefined || !TEMPLATE_NAME.test(name) || language === undefined || !Array.isArray(components))
      throw new ApiError(400, 100, 'Invalid parameter');
    if (category === undefined || !CATEGORIES.includes(category)) throw new ApiError(400, 100, 'Invalid category');
    if (this.all.some((one) => one.name === name && one.language === language))
      throw new ApiError(400, 100, 'There is already content in this language for this template');
    const { id, status } = this.add({ name, language, category, components, status: 'PENDING' });
    return { id, status, category };
  }

  change(template: FakeTemplate, { category, components }: Partial<FakeTemplate>): object {
    if (template.status === 'APPROVED' && category !== undefined)
      throw new ApiError(400, 100, 'The category of an approved template cannot be edited');
    Object.assign(template, {
      ...(category !== undefined && { category }),
      ...(components !== undefined && { components }),
      status: 'PENDING',
    });
    return { success: true };
  }

  remove({ searchParams }: URL): object {
    const id = searchParams.get('hsm_id');
    const name = searchParams.get('name');
    const gone = this.all.filter((one) => one.name === name && (id === null || one.id === id));
    if (gone.length === 0) throw new ApiError(400, 100, 'Message template does not exist');
    for (const one of gone) this.all.splice(this.all.indexOf(one), 1);
    return { success: true };
  }

  isMarketing(name: string | undefined): boolean {
    return this.all.some((one) => one.name === name && one.category === 'MARKETING');
  }

  /** Refuses a message with a template that the account has, unless it is approved. */
  requireSendable(name: string, language: string): void {
    const found = this.all.find((one) => one.name === name && one.language === language);
    if (found === undefined && this.all.some((one) => one.name === name))
      throw new ApiError(404, 132001, `template name (${name}) does not exist in ${language}`);
    if (found?.status === 'PAUSED') throw new ApiError(400, 132015, 'Template is paused due to low quality');
    if (found?.status === 'DISABLED') throw new ApiError(400, 132016, 'Template is disabled');
    if (found !== undefined && found.status !== 'APPROVED')
      throw new ApiError(404, 132001, `template name (${name}) does not exist in ${language}`);
  }
}

/** The state of a number, as its node shows it. */
export function newNumberState(accountId: string, phoneNumberId: string) {
  return {
    verified_name: 'Lucky Shrub',
    name_status: 'APPROVED',
    quality_rating: 'GREEN',
    whatsapp_business_manager_messaging_limit: 'TIER_2K' as string | undefined,
    messaging_limit_tier: 'TIER_2K' as string | undefined,
    throughput: { level: 'STANDARD' },
    account_mode: 'LIVE',
    health_status: {
      can_send_message: 'AVAILABLE',
      entities: [
        { entity_type: 'PHONE_NUMBER', id: phoneNumberId, can_send_message: 'AVAILABLE' },
        { entity_type: 'WABA', id: accountId, can_send_message: 'AVAILABLE' },
        { entity_type: 'APP', id: '9', can_send_message: 'AVAILABLE' },
      ] as object[],
    },
  };
}
