import { upgrade } from '../../conversion/upgrade.ts';
import { explainStart } from '../../startErrors.ts';
import type { Context } from '../context.ts';
import { readDataSettings } from '../dataOwner.ts';
import { CliError } from '../failure.ts';

export interface UpgradeFlags {
  /** Whether to leave the database as it is. */
  readonly check?: boolean;
  readonly restart?: boolean;
}

/** Converts the database of the server on this machine, which must not be running. */
export async function upgradeDatabase(
  { io, out }: Context,
  { check = false, restart = false }: UpgradeFlags,
): Promise<void> {
  const settings = readDataSettings(io);
  const reporter = { line: (text: string) => out.note(text) };
  const upgraded = await upgrade(settings, { dryRun: check, restart }, reporter).catch((cause) => {
    throw new CliError('failed', explainStart(cause, settings), { cause });
  });
  if (upgraded === undefined) {
    out.result({ upgraded: false }, () => out.line('The database needs no conversion.'));
    return;
  }
  const { from, kept, uncovered } = upgraded;
  out.result({ upgraded: !check, from, kept: kept ?? null, uncovered }, () => {
    if (uncovered.length > 0) out.note(`Not copied, because they are not part of Switchboard: ${uncovered.join(', ')}`);
    if (kept === undefined) {
      out.line(`Schema version ${from} can be converted: the copy was complete, and was removed again.`);
      return;
    }
    out.line(`Upgraded from schema version ${from}. The earlier data is in ${kept}.`);
    const removal = settings.databaseUrl === '' ? `rm ${kept}` : `drop ${kept.replace(/^the /, '')} cascade`;
    out.note(`Start the server. Once everything works, remove the earlier data: ${removal}`);
  });
}
