import { type Static, type TObject, Type } from 'typebox';
import { templateHeaders } from '../../connectors/contract/content.ts';
import { invalidField } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import { list, notBlank, oneOf, optional, strictObject, strictPart, string } from '../../invoke/input/fields.ts';
import { HTTP_URL } from '../../invoke/input/patterns.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import type { SessionRef } from '../../messages/store.ts';
import { requireFeature } from './richSending.ts';
import { type Content, envelope, requireSendable, send, sendErrors, sendOperation } from './send.ts';
import { contentToSend, FILE_DEADLINE_MS, fileErrors } from './sending.ts';

export const templateFields = {
  name: string('Name of the template at the network, such as `order_sent`.', { minLength: 1, maxLength: 512 }),
  language: string('Language of the template, such as `en_US`.', { minLength: 2, maxLength: 20 }),
  components: optional(
    list(Type.Record(Type.String(), Type.Unknown()), "Values for the template, in the network's format.", {
      maxItems: 20,
    }),
  ),
  header: optional(
    strictPart(
      'File for the header of the template, on networks with the capability `template_files`. Pass either `mediaId` or an https `url`, which the server fetches first.',
      {
        type: oneOf(templateHeaders, 'Type of the header, as in the template.'),
        mediaId: optional(string('Id of an uploaded or received file (`med_…`).', { ...ref('file'), maxLength: 100 })),
        url: optional(string('https URL of the file.', { maxLength: 2048 })),
        fileName: optional(string('File name of a document.', { minLength: 1, maxLength: 255 })),
      },
    ),
  ),
};

export const sendTemplate = defineOperation({
  ...sendOperation,
  id: 'messages.send_template',
  route: 'POST /messages/send-template',
  owner: { field: 'sessionId' }, // a later send fetches the file now
  deadlineMs: FILE_DEADLINE_MS,
  uses: ['sender', 'media', 'preparation', 'targets'],
  summary: 'Send a template',
  description:
    'Send a text that the network has approved in advance. Use it on networks that require a template to start a conversation, or when another send fails with `template_required`. `components` fills in the values.',
  input: { ...envelope, ...templateFields },
  errors: [...sendErrors, ...fileErrors],
  example: {
    to: '491707654321',
    name: 'order_sent',
    language: 'en_US',
    components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }],
  },
  async run(ctx, input) {
    const session = input.header === undefined ? ctx.session : await requireSendable(ctx, input, 'template');
    return send(ctx, input, await templateContent(ctx, session, input));
  },
});

/** @throws {AppError} `validation_failed`, `not_supported`, and the errors of the file in the header */
export async function templateContent(
  ctx: Context<'media' | 'preparation' | 'targets'>,
  session: SessionRef,
  { name, language, components = [], header }: Static<TObject<typeof templateFields>>,
): Promise<Content> {
  const template = { name, language, components };
  if (header === undefined) return { type: 'template', text: '', content: { template } };
  if (components.some(({ type }) => String(type).toLowerCase() === 'header'))
    throw invalidField('header', 'cannot be combined with a header in `components`');
  await requireFeature(ctx, session, 'template_files');
  const file = await contentToSend(ctx, session, header, 'header.');
  return { type: 'template', text: '', content: { ...file, template: { ...template, header: header.type } } };
}

const MAX_PRODUCTS = 30;
const MAX_PRODUCT_SECTIONS = 10;

const PRODUCT_ID = { ...ref('other'), minLength: 1, maxLength: 100 };
const CatalogId = notBlank(string("The network's id of the catalog.", PRODUCT_ID));
const RetailerId = notBlank(string("The seller's own id of the product.", PRODUCT_ID));

const Choice = {
  id: string("Your id for this choice. The recipient's reply contains it as `payload`.", {
    minLength: 1,
    maxLength: 200,
  }),
  title: string('Text of the button or row.', { minLength: 1, maxLength: 24 }),
};

export const choiceFields = {
  message: optional(
    string('Text above the choices. Required, except with `product`.', { minLength: 1, maxLength: 1024 }),
  ),
  header: optional(string('Bold line above the text. Required with `products`.', { minLength: 1, maxLength: 60 })),
  footer: optional(string('Small line below the text.', { minLength: 1, maxLength: 60 })),
  buttons: optional(list(strictObject(Choice), 'Up to three buttons.', { minItems: 1, maxItems: 3 })),
  list: optional(
    strictPart('A list that the recipient opens to choose a row.', {
      title: string('Text of the button that opens the list.', { minLength: 1, maxLength: 20 }),
      rows: list(
        strictObject({
          ...Choice,
          description: optional(string('Second line of the row.', { minLength: 1, maxLength: 72 })),
          section: optional(
            string('Heading; rows with the same section are grouped.', { minLength: 1, maxLength: 24 }),
          ),
        }),
        'Up to ten rows.',
        { minItems: 1, maxItems: 10 },
      ),
    }),
  ),
  link: optional(
    strictPart('A button that opens a URL.', {
      title: string('Text of the button.', { minLength: 1, maxLength: 20 }),
      url: string('http or https URL that the button opens.', { pattern: HTTP_URL, maxLength: 2000 }),
    }),
  ),
  request: optional(
    oneOf(
      ['contact_info', 'call_permission'],
      "Shows the network's own button to share the phone number, or to allow calls, on networks with the capability `interactive_requests`. A shared number arrives as a message of the type `contact`, and the decision about calls as the event `call.permission`. Without `header` and `footer`.",
    ),
  ),
  product: optional(
    strictPart(
      'One product of a catalog, on networks with the capability `catalog_messages`. Without `header`. An order arrives as a message of the type `order`, and a question about the product as a message with `product`.',
      { catalogId: CatalogId, retailerId: RetailerId },
    ),
  ),
  products: optional(
    strictPart('Several products of a catalog, on networks with the capability `catalog_messages`.', {
      catalogId: CatalogId,
      items: list(
        strictObject({
          retailerId: RetailerId,
          section: optional(
            string('Heading; products with the same section are grouped. Required if there are several sections.', {
              minLength: 1,
              maxLength: 24,
            }),
          ),
        }),
        `Up to ${MAX_PRODUCTS} products in up to ${MAX_PRODUCT_SECTIONS} sections.`,
        { minItems: 1, maxItems: MAX_PRODUCTS },
      ),
    }),
  ),
  catalog: optional(
    strictPart(
      'A button that opens the whole catalog of the number, on networks with the capability `catalog_messages`. Without `header`.',
      { retailerId: notBlank(string('Id of the product whose image heads the message.', PRODUCT_ID)) },
    ),
  ),
};

export const sendInteractive = defineOperation({
  ...sendOperation,
  id: 'messages.send_interactive',
  route: 'POST /messages/send-interactive',
  uses: ['sender', 'media'],
  summary: 'Send an interactive message',
  description:
    'Send a text with buttons, a list, a link, a request or products: pass exactly one of `buttons`, `list`, `link`, `request`, `product`, `products` and `catalog`. When the recipient chooses a button or row, the session receives a message whose text is the title of the choice and whose `payload` is its id.',
  input: { ...envelope, ...choiceFields },
  example: { to: '491707654321', message: 'Tea?', buttons: [{ id: 'yes', title: 'Yes, please' }] },
  async run(ctx, input) {
    const content = interactiveContent(input);
    if (input.request !== undefined) await requireRequest(ctx, await requireSendable(ctx, input, 'interactive'), input);
    await requireCatalog(ctx, ctx.session, input);
    return send(ctx, input, content);
  },
});

type Choices = Static<TObject<typeof choiceFields>>;

const kinds = ['buttons', 'list', 'link', 'request', 'product', 'products', 'catalog'] as const;

/** @throws {AppError} `validation_failed` */
export function interactiveContent(input: Choices): Content {
  const { message, buttons, list: menu, products } = input;
  const [kind, ...others] = kinds.filter((one) => input[one] !== undefined);
  if (kind === undefined || others.length > 0)
    throw invalidField(
      'buttons',
      'Pass exactly one of `buttons`, `list`, `link`, `request`, `product`, `products` and `catalog`',
      'required',
    );
  requireTexts(kind, input);
  requireUnique(
    buttons === undefined ? 'list.rows' : 'buttons',
    'id',
    (buttons ?? menu?.rows ?? []).map(({ id }) => id),
  );
  if (products !== undefined) requireSections(products.items);
  const interactive = Object.fromEntries(
    (['header', 'footer', ...kinds] as const)
      .filter((name) => input[name] !== undefined)
      .map((name) => [name, input[name]]),
  );
  return { type: 'interactive', text: message ?? '', content: { interactive } };
}

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/catalogs/sell-products-and-services/share-products */
function requireTexts(kind: (typeof kinds)[number], { message, header }: Choices): void {
  if (message === undefined && kind !== 'product') throw invalidField('message', 'is required', 'required');
  if (header === undefined && kind === 'products')
    throw invalidField('header', 'is required with `products`', 'required');
  if (header !== undefined && (kind === 'product' || kind === 'catalog'))
    throw invalidField('header', `is not possible with \`${kind}\``);
}

function requireSections(items: NonNullable<Choices['products']>['items']): void {
  requireUnique(
    'products.items',
    'retailerId',
    items.map(({ retailerId }) => retailerId),
  );
  const sections = new Set(items.map(({ section }) => section));
  if (sections.size > MAX_PRODUCT_SECTIONS)
    throw invalidField('products.items', `can have at most ${MAX_PRODUCT_SECTIONS} sections, not ${sections.size}`);
  if (sections.size > 1 && sections.has(undefined))
    throw invalidField('products.items', 'Each product needs a section if there are several sections');
}

function requireUnique(field: string, name: string, ids: readonly string[]): void {
  const repeated = ids.find((id, place) => ids.indexOf(id) < place);
  if (repeated !== undefined)
    throw invalidField(field, `Each ${name} must be unique, but "${repeated}" occurs more than once`);
}

/** @throws {AppError} `not_supported` if the content has products, and the network has no catalogs */
export async function requireCatalog(
  ctx: Context,
  session: SessionRef,
  { product, products, catalog }: Choices,
): Promise<void> {
  if (product === undefined && products === undefined && catalog === undefined) return;
  await requireFeature(ctx, session, 'catalog_messages');
}

/** @throws {AppError} `not_supported`, `validation_failed` */
async function requireRequest(
  ctx: Context,
  session: SessionRef,
  {
    to,
    header,
    footer,
  }: { readonly to: string; readonly header?: string | undefined; readonly footer?: string | undefined },
): Promise<void> {
  if (isGroupId(to)) throw invalidField('request', 'is only for chats with one person');
  for (const [name, value] of Object.entries({ header, footer }))
    if (value !== undefined) throw invalidField(name, 'is not possible with `request`');
  await requireFeature(ctx, session, 'interactive_requests');
}
