import type { ReportHandlers } from '../reports.ts';
import { emitCall, emitNumberRequest, emitPresence } from './activity.ts';
import { noteContact, noteUserIds, saveContact } from './contactChanges.ts';
import { notePresence } from './presences.ts';

type PeopleReport =
  | 'contact_named'
  | 'contact_ids'
  | 'contact_saved'
  | 'presence'
  | 'number_requested'
  | 'call'
  | 'call_ended';

export const peopleReports: ReportHandlers<PeopleReport> = {
  contact_named: (options, tx, session, { phoneNumber, name }) =>
    noteContact(options, tx, session, phoneNumber, { name }),
  contact_ids: (options, tx, session, event) => noteUserIds(options, tx, session, event),
  contact_saved: (options, tx, session, { phoneNumber, name }) => saveContact(options, tx, session, phoneNumber, name),
  presence: async (options, tx, session, event) => {
    await notePresence(tx, session, event);
    await emitPresence(options, tx, session, event);
  },
  number_requested: emitNumberRequest,
  call: emitCall,
  call_ended: emitCall,
};
