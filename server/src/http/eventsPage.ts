import { eventKinds, events } from '../events/events.ts';
import { exampleEvent } from '../events/samples.ts';

const head = `# Events

<!-- Generated from the table of events by \`npm run openapi\`. Do not edit. -->

Everything that happens in an account is an event. A [webhook](webhooks.md) receives those that it subscribes to. \`GET /events\`, the stream and the socket return the first eight types of the table, or those named by \`kinds\`.

Name event types one by one, or by a pattern: \`message.*\` includes every type whose name begins with \`message.\`, and \`*\` includes all. A pattern also includes the types of later versions, so a receiver must ignore types that it does not know. \`GET /events/types\` returns the table below with the JSON Schema of each type.

`;

/** Writes `docs/events.md`: every event type with its meaning, and an example of each. */
export function eventsPage(): string {
  const rows = eventKinds.map((kind) => `| [\`${kind}\`](#${anchorOf(kind)}) | ${events[kind].description} |`);
  const table = ['| event type | sent when |', '|---|---|', ...rows].join('\n');
  const examples = eventKinds.map(
    (kind) => `### ${kind}\n\n\`\`\`json\n${JSON.stringify(exampleEvent(kind), null, 2)}\n\`\`\`\n`,
  );
  return `${head}${table}\n\n## Examples\n\n${examples.join('\n')}`;
}

const anchorOf = (heading: string) => heading.replaceAll('.', '');
