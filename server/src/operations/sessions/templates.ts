import { Type } from 'typebox';
import { MAX_SEND_MS } from '../../cluster/forward.ts';
import type { NetworkTemplate } from '../../connectors/contract/business.ts';
import { invalidField } from '../../errors.ts';
import { integer, list, named, object, oneOf, onlyTrue, optional, orNull, string } from '../../invoke/input/fields.ts';
import { LANGUAGE, TEMPLATE_ID, TEMPLATE_NAME, TEMPLATE_STATUS } from '../../invoke/input/patterns.ts';
import { ref } from '../../invoke/input/references.ts';
import { defineOperation, type SessionContext } from '../../invoke/operation.ts';
import { pageOf } from '../../invoke/pages.ts';
import { storedMedia, toNetworkMedia } from '../../messages/content.ts';
import { SessionId } from '../shared/sessionFields.ts';

const TemplateId = string('Id of the template at the network.', {
  ...ref('other'),
  pattern: TEMPLATE_ID,
  maxLength: 100,
});
const Language = string('Language of the template, such as `en_US`.', { pattern: LANGUAGE, maxLength: 20 });
const Category = oneOf(
  ['marketing', 'utility', 'authentication'],
  'Category, on which the price and the review depend.',
);
const Components = list(
  Type.Record(Type.String(), Type.Unknown()),
  "Header, body, footer and buttons, in the network's format.",
  { minItems: 1, maxItems: 20 },
);

const HeaderMediaId = optional(
  string(
    'Id of an uploaded file (`med_…`), which the network reviews as the example of a header with a file. On networks with the capability `template_files`.',
    { ...ref('file'), maxLength: 100 },
  ),
);

const Template = named('Template', {
  templateId: TemplateId,
  name: string('Name of the template. The same in all languages.'),
  language: string('Language of the template, such as `en_US`.'),
  status: string('Status at the network, such as `approved`, `pending`, `rejected`, `paused` or `disabled`.'),
  category: string('Category, such as `marketing`, `utility` or `authentication`.'),
  components: list(
    Type.Record(Type.String(), Type.Unknown()),
    "Header, body, footer and buttons, in the network's format.",
  ),
  quality: orNull(
    oneOf(['high', 'medium', 'low', 'unknown']),
    'Quality by the reactions of recipients; null if it was never rated.',
  ),
  rejectionReason: orNull(Type.String(), 'Why the network rejected it; null if it did not.'),
});

const errors = [
  'not_found',
  'session_not_connected',
  'session_state',
  'not_supported',
  'network_denied',
  'send_failed',
] as const;

const fileErrors = ['unsupported_media_type', 'payload_too_large'] as const;

/** Where a list continues at the network. */
const Cursor = optional(
  string('`nextCursor` of the previous page. Leave it out for the first page.', { maxLength: 2000 }),
);

export const listTemplates = defineOperation({
  id: 'templates.list',
  route: 'GET /sessions/{sessionId}/templates',
  owner: { field: 'sessionId' },
  permission: 'sessions:read',
  scope: 'sessionId',
  effect: 'read',
  summary: 'List templates',
  description:
    "List the templates of the session's business account, read from the network, with their review and quality. A page can have fewer entries than `limit`, even if more follow.",
  input: {
    sessionId: SessionId,
    name: optional(string('Only templates with this name.', { minLength: 1, maxLength: 512 })),
    status: optional(
      string('Only templates with this status, such as `approved`.', { pattern: TEMPLATE_STATUS, maxLength: 50 }),
    ),
    language: optional(Language),
    limit: optional(integer('Number of entries per page.', { minimum: 1, maximum: 200, default: 50 })),
    cursor: Cursor,
  },
  output: pageOf(Template),
  errors,
  async run(ctx, { name, status, language, limit = 50, cursor }) {
    const templates = await templatesOf(ctx);
    const filter = {
      ...(name !== undefined && { name }),
      ...(status !== undefined && { status }),
      ...(language !== undefined && { language }),
    };
    const page = { limit, ...(cursor !== undefined && { after: decodeCursor(cursor) }) };
    const { templates: found, next } = await templates.list(filter, page);
    return { data: found.map(shown), nextCursor: next === null ? null : encodeCursor(next) };
  },
});

export const getTemplate = defineOperation({
  id: 'templates.get',
  route: 'GET /sessions/{sessionId}/templates/{templateId}',
  owner: { field: 'sessionId' },
  permission: 'sessions:read',
  scope: 'sessionId',
  effect: 'read',
  summary: 'Get a template',
  description: 'Get one template with its content and its review, read from the network.',
  input: { sessionId: SessionId, templateId: TemplateId },
  output: Template,
  errors,
  run: async (ctx, { templateId }) => shown(await (await templatesOf(ctx)).get(templateId)),
});

export const createTemplate = defineOperation({
  id: 'templates.create',
  route: 'POST /sessions/{sessionId}/templates',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  summary: 'Create a template',
  description:
    'Create a template, which the network reviews before it can be sent. Subscribe to `template.updated` to learn the outcome. A name in several languages is several templates.',
  status: 201,
  uses: ['media'],
  deadlineMs: MAX_SEND_MS,
  input: {
    sessionId: SessionId,
    name: string('Name in small letters, digits and underscores.', { pattern: TEMPLATE_NAME, maxLength: 512 }),
    language: Language,
    category: Category,
    components: Components,
    headerMediaId: HeaderMediaId,
  },
  output: Template,
  errors: [...errors, ...fileErrors, 'too_many'],
  example: {
    sessionId: 'ses_01JZ0000000000000000000000',
    name: 'order_sent',
    language: 'en_US',
    category: 'utility',
    components: [{ type: 'BODY', text: 'Your order {{1}} is on its way.', example: { body_text: [['4711']] } }],
  },
  async run(ctx, { name, language, category, components, headerMediaId }) {
    const templates = await templatesOf(ctx);
    const file = await headerFileOf(ctx, headerMediaId);
    return shown(await templates.create({ name, language, category, components, ...file }));
  },
});

export const updateTemplate = defineOperation({
  id: 'templates.update',
  route: 'PATCH /sessions/{sessionId}/templates/{templateId}',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  summary: 'Update a template',
  description:
    'Change the category or the components of a template; `components` replaces all of them. The network reviews the template again, and limits how often an approved one can change.',
  uses: ['media'],
  deadlineMs: MAX_SEND_MS,
  input: {
    sessionId: SessionId,
    templateId: TemplateId,
    category: optional(Category),
    components: optional(Components),
    headerMediaId: HeaderMediaId,
  },
  output: Template,
  errors: [...errors, ...fileErrors],
  async run(ctx, { templateId, category, components, headerMediaId }) {
    if (category === undefined && components === undefined)
      throw invalidField('components', 'Pass at least one of `category` and `components`', 'required');
    if (headerMediaId !== undefined && components === undefined)
      throw invalidField('components', 'is required with `headerMediaId`', 'required');
    const templates = await templatesOf(ctx);
    const change = {
      ...(category !== undefined && { category }),
      ...(components !== undefined && { components }),
      ...(await headerFileOf(ctx, headerMediaId)),
    };
    return shown(await templates.update(templateId, change));
  },
});

export const deleteTemplate = defineOperation({
  id: 'templates.delete',
  route: 'DELETE /sessions/{sessionId}/templates/{templateId}',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'destructive',
  summary: 'Delete a template',
  description:
    'Delete a template in one language. This cannot be undone, and the network may refuse a new template of the same name for 30 days.',
  input: { sessionId: SessionId, templateId: TemplateId },
  output: object({ templateId: TemplateId, deleted: onlyTrue() }),
  errors,
  async run(ctx, { templateId }) {
    const templates = await templatesOf(ctx);
    await templates.remove(templateId);
    return { templateId, deleted: true as const };
  },
});

/** Returns the example of a header, which a network reviews with the template. */
async function headerFileOf(ctx: SessionContext<'media'>, mediaId: string | undefined) {
  if (mediaId === undefined) return {};
  await ctx.liveSessions.requireCapability(ctx.session, 'template_files');
  return { headerFile: toNetworkMedia(storedMedia(await ctx.media.find(ctx.accountId, mediaId)), ctx.media) };
}

const templatesOf = ({ liveSessions, session }: SessionContext) => liveSessions.part(session, 'templates');

const shown = ({ components, ...template }: NetworkTemplate) => ({
  ...template,
  components: components.map((component) => ({ ...component })),
});

const LIST = 'templates~';

const encodeCursor = (next: string) => Buffer.from(LIST + next).toString('base64url');

function decodeCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!text.startsWith(LIST) || text.length === LIST.length)
    throw invalidField('cursor', 'is not a cursor of this list; pass `nextCursor` of the previous page');
  return text.slice(LIST.length);
}
