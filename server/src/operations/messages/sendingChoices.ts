import { type Static, type TObject, Type } from 'typebox';
import { templateHeaders } from '../../connectors/contract/content.ts';
import { invalidField } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import { list, oneOf, optional, strictObject, strictPart, string } from '../../invoke/input/fields.ts';
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

const Choice = {
  id: string("Your id for this choice. The recipient's reply contains it as `payload`.", {
    minLength: 1,
    maxLength: 200,
  }),
  title: string('Text of the button or row.', { minLength: 1, maxLength: 24 }),
};

export const choiceFields = {
  message: string('Text above the choices.', { minLength: 1, maxLength: 1024 }),
  header: optional(string('Bold line above the text.', { minLength: 1, maxLength: 60 })),
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
};

export const sendInteractive = defineOperation({
  ...sendOperation,
  id: 'messages.send_interactive',
  route: 'POST /messages/send-interactive',
  uses: ['sender', 'media'],
  summary: 'Send an interactive message',
  description:
    'Send a text with buttons, a list, a link or a request: pass exactly one of `buttons`, `list`, `link` and `request`. When the recipient chooses, the session receives a message whose text is the title of the choice and whose `payload` is its id.',
  input: { ...envelope, ...choiceFields },
  example: { to: '491707654321', message: 'Tea?', buttons: [{ id: 'yes', title: 'Yes, please' }] },
  async run(ctx, input) {
    const content = interactiveContent(input);
    if (input.request !== undefined) await requireRequest(ctx, await requireSendable(ctx, input, 'interactive'), input);
    return send(ctx, input, content);
  },
});

/** @throws {AppError} `validation_failed` */
export function interactiveContent(input: Static<TObject<typeof choiceFields>>): Content {
  const { message, header, footer, buttons, list: menu, link, request } = input;
  if ([buttons, menu, link, request].filter((part) => part !== undefined).length !== 1)
    throw invalidField('buttons', 'Pass exactly one of `buttons`, `list`, `link` and `request`', 'required');
  const ids = (buttons ?? menu?.rows ?? []).map(({ id }) => id);
  if (new Set(ids).size < ids.length)
    throw invalidField(buttons ? 'buttons' : 'list.rows', 'Each id must be unique, but two are the same');
  const given = { header, footer, buttons, list: menu, link, request };
  const interactive = Object.fromEntries(Object.entries(given).filter(([, part]) => part !== undefined));
  return { type: 'interactive', text: message, content: { interactive } };
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
