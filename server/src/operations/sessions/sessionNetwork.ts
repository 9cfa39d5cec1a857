import type { SessionTable } from '../../db/schema.ts';
import { NumberNetwork } from '../../events/businessEvents.ts';
import { notForAgents, orNull } from '../../invoke/input/fields.ts';
import { numberStateOf, shownNumberState } from '../../messages/standing/numberState.ts';

/** The network's judgment of a session's number. */
export const SessionNetwork = {
  ...orNull(NumberNetwork, "The network's judgment of the number; null if the network has none."),
  ...notForAgents,
};

export function sessionNetwork(row: Pick<SessionTable, 'number_state'>) {
  const state = numberStateOf(row);
  return state === null ? null : shownNumberState(state);
}
