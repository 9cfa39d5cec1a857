import type { Settings } from '../config.ts';
import { lockFolder } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { requireKey } from '../db/sealing.ts';
import type { ConversionDatabase } from './conversionDatabase.ts';
import { checkRows, copyRows, createIndexes, createTables } from './copy.ts';
import { makePlan } from './plan.ts';
import type { Reporter } from './report.ts';
import { openSqliteConversion } from './sqliteConversion.ts';
import { former } from './tables/deployment.ts';
import { searchTables, tableDescriptions } from './tables/index.ts';
import { rebuildWords } from './words.ts';

export interface UpgradeOptions {
  /** Discards an interrupted upgrade's copy. */
  readonly restart?: boolean;
  /** Copies and checks everything, and leaves the source in place. */
  readonly dryRun?: boolean;
  /** Rows per transaction. */
  readonly batchRows?: number;
}

export interface Upgraded {
  /** Schema version of the source. */
  readonly from: number;
  /** Name of the earlier data; undefined after a dry run. */
  readonly kept: string | undefined;
  /** Tables and columns that are not part of Switchboard, and that were not copied. */
  readonly uncovered: readonly string[];
}

type Used = Pick<Settings, 'dataDir' | 'databaseUrl' | 'databaseDirectUrl' | 'encryptionKey' | 'encryptionKeyPrevious'>;

/**
 * Converts a database from before the first release. It makes a copy in the current schema next to it, compares the
 * copy with the source, and then swaps the two. Every step is stored in the copy, so that another run continues after
 * an interruption. The source stays as it is.
 * @returns undefined if the database needs no conversion
 * @throws {DataInUseError} if a server uses the data folder
 * @throws {WrongKeyError}
 */
export async function upgrade(
  settings: Used,
  { restart = false, ...options }: UpgradeOptions,
  reporter: Reporter,
): Promise<Upgraded | undefined> {
  const unlock = lockFolder(settings.dataDir);
  try {
    const open = () => openConversion(settings);
    let db = await open();
    if (db === undefined) return undefined;
    if (restart) {
      await db.discard();
      db = await open();
      if (db === undefined) return undefined;
    }
    return await convert(db, options, reporter);
  } finally {
    unlock();
  }
}

async function openConversion(settings: Used) {
  const { databaseUrl, databaseDirectUrl, dataDir } = settings;
  const check = (source: Queryable) => requireKey(source, settings);
  if (databaseUrl === '') return openSqliteConversion(dataDir, check);
  const { openPostgresConversion } = await import('./postgresConversion.ts');
  return openPostgresConversion(databaseDirectUrl || databaseUrl, check);
}

async function convert(
  db: ConversionDatabase,
  { dryRun = false, batchRows }: UpgradeOptions,
  reporter: Reporter,
): Promise<Upgraded> {
  let isClosed = false;
  try {
    await createTables(db, Date.now());
    reporter.stored?.('tables');
    const { names, version } = db;
    const [source, target] = [await db.sourceTables(), await db.targetTables()];
    const plan = makePlan({
      version,
      source,
      target,
      names,
      descriptions: tableDescriptions,
      former,
      later: searchTables,
    });
    reporter.line(`Converting schema version ${version}, into ${db.copyName}`);
    await copyRows(db, plan, reporter, batchRows);
    await rebuildWords(db, reporter);
    await createIndexes(db, reporter);
    await db.finish();
    reporter.stored?.('finish');
    await checkRows(db, plan, reporter);
    reporter.stored?.('check');
    if (dryRun) {
      isClosed = true;
      await db.discard();
      return { from: version, kept: undefined, uncovered: plan.uncovered };
    }
    isClosed = true;
    return { from: version, kept: await db.swap(), uncovered: plan.uncovered };
  } finally {
    if (!isClosed) await db.close();
  }
}
