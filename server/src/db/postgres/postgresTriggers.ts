import type { RowTrigger } from '../dialect.ts';

/** Function names are qualified, because others are not looked up among temporary ones; see `inScratch`. */
export const rowTrigger = ({ name, after, table, when, statements }: RowTrigger): string => `
  do $migration$ begin execute format($statements$
    create function %1$I.${name}() returns trigger language plpgsql as $body$
    begin
      ${statements.map((statement) => `${statement};`).join('\n')}
      return null;
    end $body$;
    create trigger ${name} after ${after} on ${table} for each row when (${when}) execute function %1$I.${name}();
  $statements$, current_schema()); end $migration$`;
