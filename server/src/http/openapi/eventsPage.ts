import type { TObject, TSchemaOptions } from 'typebox';
import { addedFields, includes } from '../../events/addedFields.ts';
import { type EventKind, eventKinds, events } from '../../events/events.ts';
import { exampleEvent } from '../../events/samples.ts';

const head = `# Events

<!-- keywords: event types, payload, delivery receipt, read receipt, delivered, status change, fields, example, json, webhook events, list of events -->

<!-- Generated from the table of events by \`npm run openapi\`. Do not edit. -->

Everything that happens in an account is an event. A [webhook](webhooks.md) receives those that it subscribes to. \`GET /events\`, the stream and the socket return the first eight types of the table, or those named by \`events\`.

Name event types one by one, or by a pattern: \`message.*\` includes every type whose name begins with \`message.\`, and \`*\` includes all. A pattern also includes the types of later versions, so a receiver must ignore types that it does not know. \`GET /events/types\` returns the table below with the JSON Schema of each type.

A message in a group goes to the group: \`to\` of \`message.sent\`, \`message.delivered\` and \`message.read\` is then the id of the group, not digits, and \`groupId\` is present. A reader that expects digits only can use \`toNumber\` ([added fields](#added-fields)).

A message that could not be decrypted has \`awaited: true\` and the type \`unsupported\`. If it arrives later, a second \`message.incoming\` (or \`message.sent\`) with the same \`messageId\` and \`wasAwaited: true\` has the real type and content ([details](whatsapp.md#receiving)).

`;

/** Writes `docs/events.md`: every event type with its meaning, its fields and an example. */
export function eventsPage(): string {
  const rows = eventKinds.map((kind) => `| [\`${kind}\`](#${anchorOf(kind)}) | ${events[kind].description} |`);
  const table = ['| event type | sent when |', '|---|---|', ...rows].join('\n');
  const sections = eventKinds.map((kind) => `### ${kind}\n\n${fieldsOf(kind)}\n\n${exampleOf(kind)}\n`);
  return [
    `${head}${table}\n`,
    `## Added fields\n\n${added}\n\n${tableOfAdded()}\n`,
    `## Fields and examples\n\n${sections.join('\n')}`,
  ].join('\n');
}

const added = `Events can have more fields in \`data\`. A webhook names groups of them in \`include\`: ${includes.map((group) => `\`${group}\``).join(', ')}. Without \`include\`, a webhook that receives only the first eight event types gets none of them, and any other one gets \`network\` and \`contact\`. \`GET /events\`, the stream and the socket return all. The fields tell the state at the time of the delivery, so the name of a contact can differ between two attempts, and the fields of a deleted chat or session are missing.`;

function tableOfAdded(): string {
  const rows = includes.flatMap((group) =>
    Object.entries(addedFields[group]).map(
      ([name, schema]) => `| \`${name}\` | \`${group}\` | ${meaningOf(schema as Shown)} |`,
    ),
  );
  return ['| field | group | meaning |', '|---|---|---|', ...rows].join('\n');
}

/** A table of the fields of `data`, without the mark of sample events, which all types have. */
function fieldsOf(kind: EventKind): string {
  const data: TObject = events[kind].data;
  const always: readonly string[] = data.required ?? [];
  const rows = Object.entries(data.properties)
    .filter(([name]) => name !== 'test')
    .map(
      ([name, schema]) =>
        `| \`${name}\` | ${always.includes(name) ? 'always' : 'optional'} | ${meaningOf(schema as Shown)} |`,
    );
  return ['| field | present | meaning |', '|---|---|---|', ...rows].join('\n');
}

/** The parts of a schema that the table shows, which the type of any schema lacks. */
interface Shown extends TSchemaOptions {
  readonly items?: Shown;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Shown>>;
}

function meaningOf({ description, items, enum: values = [], properties = {} }: Shown): string {
  const isComplete = values.every((value) => description?.includes(`\`${value}\``));
  const oneOf = isComplete ? '' : ` One of ${values.map((value) => `\`${value}\``).join(', ')}.`;
  if (description !== undefined) return description + oneOf;
  if (items !== undefined) return `List. ${meaningOf(items)}`;
  const names = Object.keys(properties).map((name) => `\`${name}\``);
  return `Object with ${names.join(', ')}.`;
}

const exampleOf = (kind: EventKind) => `\`\`\`json\n${JSON.stringify(exampleEvent(kind), null, 2)}\n\`\`\``;

const anchorOf = (heading: string) => heading.replaceAll('.', '');
