import type { ReportHandlers } from '../reports.ts';
import { storeNumberState } from './numberState.ts';
import { countUnreadable, storeStanding, storeWarnings } from './sessionRisk.ts';
import { storeTemplateState } from './templateStates.ts';

type StandingReport = 'number_updated' | 'template_updated' | 'standing' | 'warned' | 'unreadable';

/** Reports about what the network allows a session. */
export const standingReports: ReportHandlers<StandingReport> = {
  number_updated: storeNumberState,
  template_updated: storeTemplateState,
  standing: (_, tx, session, event) => storeStanding(tx, session, event),
  warned: ({ clock }, tx, session, { warning }) => storeWarnings(tx, [{ ...session, warning }], clock.now()),
  unreadable: async (options, tx, session, event) => countUnreadable(options, tx, session, event),
};
