import { milliseconds } from '../../strings/format.ts';

export const activityStrings = {
  title: 'Activity',
  titleOf: (name: string) => `Activity of ${name}`,
  lead: 'The calls of agents with this key over MCP. Texts of messages are not stored here.',
  back: 'All API keys',
  notFound: 'API key not found',
  tool: 'Tool',
  toolHint: 'messages_send',
  outcome: 'Outcome',
  any: 'Any',
  client: 'Client',
  unknown: 'unknown',
  duration: 'Duration',
  milliseconds,
  time: 'Time',
  noneFit: 'No calls match these filters',
  empty: 'No tool calls yet',
  emptyHint: 'Connect an agent with this key. Each call then appears here.',
} as const;

const outcomeLabels: Readonly<Record<string, string>> = {
  ok: 'Done',
  pending_approval: 'Waits for approval',
  failed: 'Any error',
  confirmation_required: 'Asked the user',
  confirmation_declined: 'User declined',
  not_selected: 'Not selected by the client',
};

/** Errors are shown by their code, as agents and logs name them. */
export function outcomeLabel(outcome: string): string {
  return Object.hasOwn(outcomeLabels, outcome) ? (outcomeLabels[outcome] ?? outcome) : outcome;
}
