import { Type } from 'typebox';
import { invalidField } from '../errors.ts';
import { strictObject } from '../invoke/fields.ts';
import { defineOperation } from '../invoke/operation.ts';
import { envelope, send, sendErrors, sendOperation } from './send.ts';

export const sendTemplate = defineOperation({
  ...sendOperation,
  id: 'messages.send_template',
  path: '/messages/send-template',
  summary: 'Send a template',
  description:
    'Send a text that the network has approved in advance. Use it on networks that require a template to start a conversation, or when another send fails with `template_required`. `components` fills in the values.',
  input: strictObject({
    ...envelope,
    name: Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'Name of the template at the network, such as `order_sent`.',
    }),
    language: Type.String({ minLength: 2, maxLength: 20, description: 'Language of the template, such as `en_US`.' }),
    components: Type.Optional(
      Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        maxItems: 20,
        description: "Values for the template, in the network's format.",
      }),
    ),
  }),
  errors: sendErrors,
  example: {
    to: '491707654321',
    name: 'order_sent',
    language: 'en_US',
    components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }],
  },
  run(ctx, input) {
    const { name, language, components = [] } = input;
    return send(ctx, input, { type: 'template', text: '', content: { template: { name, language, components } } });
  },
});

const Choice = {
  id: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Your id for this choice. The recipient's reply contains it as `payload`.",
  }),
  title: Type.String({ minLength: 1, maxLength: 24, description: 'Text of the button or row.' }),
};

export const sendInteractive = defineOperation({
  ...sendOperation,
  id: 'messages.send_interactive',
  path: '/messages/send-interactive',
  summary: 'Send an interactive message',
  description:
    'Send a text with buttons, a list or a link: pass exactly one of `buttons`, `list` and `link`. When the recipient chooses, the session receives a message whose text is the title of the choice and whose `payload` is its id.',
  input: strictObject({
    ...envelope,
    message: Type.String({ minLength: 1, maxLength: 1024, description: 'Text above the choices.' }),
    header: Type.Optional(Type.String({ minLength: 1, maxLength: 60, description: 'Bold line above the text.' })),
    footer: Type.Optional(Type.String({ minLength: 1, maxLength: 60, description: 'Small line below the text.' })),
    buttons: Type.Optional(
      Type.Array(strictObject(Choice), {
        minItems: 1,
        maxItems: 3,
        description: 'Up to three buttons.',
      }),
    ),
    list: Type.Optional(
      Type.Object(
        {
          title: Type.String({ minLength: 1, maxLength: 20, description: 'Text of the button that opens the list.' }),
          rows: Type.Array(
            strictObject({
              ...Choice,
              description: Type.Optional(
                Type.String({ minLength: 1, maxLength: 72, description: 'Second line of the row.' }),
              ),
              section: Type.Optional(
                Type.String({
                  minLength: 1,
                  maxLength: 24,
                  description: 'Heading; rows with the same section are grouped.',
                }),
              ),
            }),
            { minItems: 1, maxItems: 10, description: 'Up to ten rows.' },
          ),
        },
        { additionalProperties: false, description: 'A list that the recipient opens to choose a row.' },
      ),
    ),
    link: Type.Optional(
      Type.Object(
        {
          title: Type.String({ minLength: 1, maxLength: 20, description: 'Text of the button.' }),
          url: Type.String({
            pattern: '^https?://',
            maxLength: 2000,
            description: 'http or https URL that the button opens.',
          }),
        },
        { additionalProperties: false, description: 'A button that opens a URL.' },
      ),
    ),
  }),
  errors: sendErrors,
  example: { to: '491707654321', message: 'Tea?', buttons: [{ id: 'yes', title: 'Yes, please' }] },
  run(ctx, input) {
    const { message, header, footer, buttons, list, link } = input;
    if ([buttons, list, link].filter((part) => part !== undefined).length !== 1)
      throw invalidField('buttons', 'Pass exactly one of `buttons`, `list` and `link`', 'required');
    const ids = (buttons ?? list?.rows ?? []).map(({ id }) => id);
    if (new Set(ids).size < ids.length)
      throw invalidField(buttons ? 'buttons' : 'list.rows', 'Each id must be unique, but two are the same');
    const given = { header, footer, buttons, list, link };
    const interactive = Object.fromEntries(Object.entries(given).filter(([, part]) => part !== undefined));
    return send(ctx, input, { type: 'interactive', text: message, content: { interactive } });
  },
});
