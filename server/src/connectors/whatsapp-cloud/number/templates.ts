import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../../errors.ts';
import type { NetworkTemplate, TemplateActions, TemplateFilter } from '../../contract/business.ts';
import { describe } from '../errors.ts';
import { GraphError } from '../graph.ts';
import type { CloudNumber } from './cloudNumber.ts';
import { lower, toQuality } from './numberDetails.ts';
import { withExample } from './templateFiles.ts';

/* https://developers.facebook.com/docs/whatsapp/business-management-api/message-templates */

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

const Template = Type.Object({
  id: Type.String(),
  name: Type.String(),
  language: Type.String(),
  status: Type.String(),
  category: Type.String(),
  components: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  quality_score: Type.Optional(Type.Object({ score: Text })),
  rejected_reason: Text,
});
const OneTemplate = Compile(Template);
const List = Compile(
  Type.Object({
    data: Type.Array(Type.Unknown()),
    paging: Type.Optional(
      Type.Object({ cursors: Type.Optional(Type.Object({ after: Text })), next: Type.Optional(Type.String()) }),
    ),
  }),
);
const Created = Compile(Type.Object({ id: Type.String() }));

const FIELDS = 'id,name,language,status,category,components,quality_score,rejected_reason';
/** Meta's codes for an object that does not exist, or is of another kind. */
const NO_OBJECT: ReadonlySet<number> = new Set([100, 803]);

/** How many templates with the same name, or a part of it, are searched. */
const PAGE = 100;
const MAX_PAGES = 60; // an account has up to 6000 templates

/**
 * Every call asks Meta, whose list is the only one that is right: people also change templates in the WhatsApp Manager.
 */
export function createTemplateActions(number: CloudNumber): TemplateActions {
  const { graph, monitor, account } = number;
  async function list(filter: TemplateFilter, { after, limit }: { readonly after?: string; readonly limit: number }) {
    const id = await account.require();
    const query = new URLSearchParams({ fields: FIELDS, limit: String(limit) });
    const { name, status, language } = filter;
    if (name !== undefined) query.set('name', name);
    if (status !== undefined) query.set('status', status.toUpperCase());
    if (language !== undefined) query.set('language', language);
    if (after !== undefined) query.set('after', after);
    const found = await monitor.ask(() => graph.call('GET', `${id}/message_templates?${query}`));
    if (!List.Check(found)) throw unreadable();
    // Some versions of the Graph API treat the name as a part of the name.
    const templates = found.data
      .filter((one): one is Static<typeof Template> => OneTemplate.Check(one))
      .filter((one) => name === undefined || one.name === name)
      .filter((one) => language === undefined || one.language === language)
      .map(toTemplate);
    const next = found.paging?.next === undefined ? null : (found.paging.cursors?.after ?? null);
    return { templates, next };
  }

  async function read(templateId: string): Promise<NetworkTemplate> {
    // The path must name a template, and no other object that the token can read.
    if (!/^[0-9]{1,40}$/.test(templateId)) throw notFound(templateId);
    const found = await monitor.ask(() =>
      graph.call('GET', `${templateId}?fields=${FIELDS}`).catch((error: unknown) => {
        throw error instanceof GraphError && NO_OBJECT.has(error.code) ? notFound(templateId, error) : error;
      }),
    );
    if (!OneTemplate.Check(found)) throw notFound(templateId);
    return toTemplate(found);
  }

  /** Finds a template in the list of the account: the token may read those of other accounts as well. */
  async function get(templateId: string): Promise<NetworkTemplate> {
    const { name } = await read(templateId);
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const { templates, next } = await list({ name }, { limit: PAGE, ...(after !== undefined && { after }) });
      const found = templates.find((template) => template.templateId === templateId);
      if (found !== undefined) return found;
      if (next === null) break;
      after = next;
    }
    throw notFound(templateId);
  }

  return {
    list,
    get,
    async create({ name, language, category, components: given, headerFile }) {
      const id = await account.require();
      const components = await withExample(number, given, headerFile);
      const body = { name, language, category: category.toUpperCase(), components };
      const made = await monitor.ask(() => refusable(() => graph.call('POST', `${id}/message_templates`, body)));
      if (!Created.Check(made)) throw unreadable();
      return read(made.id);
    },
    async update(templateId, { category, components: given, headerFile }) {
      const template = await get(templateId);
      const components = given && (await withExample(number, given, headerFile));
      const body = {
        ...(category !== undefined && category !== template.category && { category: category.toUpperCase() }),
        ...(components !== undefined && { components }),
      };
      if (Object.keys(body).length > 0)
        await monitor.ask(() => refusable(() => graph.call('POST', template.templateId, body)));
      return read(templateId);
    },
    async remove(templateId) {
      const id = await account.require();
      const { name } = await get(templateId);
      // Without the id, Meta would delete the template in all languages.
      const query = new URLSearchParams({ hsm_id: templateId, name });
      await monitor.ask(() => refusable(() => graph.call('DELETE', `${id}/message_templates?${query}`)));
    },
  };
}

/** Meta refuses a wrong template with the code of an invalid parameter, and the reason in words. */
async function refusable<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof GraphError) || error.code !== INVALID) throw error;
    throw new AppError('validation_failed', describe(error), { cause: error });
  }
}

const INVALID = 100;

function toTemplate(found: Static<typeof Template>): NetworkTemplate {
  const { id: templateId, name, language, status, category, components = [], quality_score: quality } = found;
  const reason = found.rejected_reason;
  return {
    templateId,
    name,
    language,
    status: lower(status),
    category: lower(category),
    components,
    quality: quality?.score ? toQuality(quality.score) : null,
    rejectionReason: reason && reason !== 'NONE' ? reason : null,
  };
}

const notFound = (templateId: string, cause?: unknown) =>
  new AppError('not_found', `The template ${templateId} does not exist`, { cause });

const unreadable = () => new AppError('send_failed', 'WhatsApp returned an answer of an unknown shape');
