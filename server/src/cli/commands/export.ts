import { mkdir, open, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Client } from '../../../../sdk/src/client.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { ifMissing } from '../profiles.ts';
import { jsonLine } from '../text.ts';

const PAGE = 200;
const STATE_FILE = 'export.json';
/** The files of an export, in the order in which they are written. */
const files = ['sessions', 'messages', 'chats', 'contacts', 'groups'] as const;
type File = (typeof files)[number];

/** How far an export got. It is written after each page, so that an interrupted export continues there. */
interface State {
  readonly format: 1;
  readonly accountId: string;
  readonly startedAt: string;
  /** Number of files that are complete. */
  readonly step: number;
  /** Position in the current file; null at its beginning. */
  readonly cursor: string | null;
  /** Bytes of each file that are complete. */
  readonly bytes: Readonly<Record<File, number>>;
  readonly counts: Readonly<Record<File, number>>;
  readonly completedAt: string | null;
}

interface Page {
  readonly data: readonly unknown[];
  readonly nextCursor: string | null;
}

/**
 * Writes what the account has as JSON lines. Calling it again with the folder of an interrupted export continues it.
 */
export async function exportAccount(context: Context, folder: string): Promise<void> {
  const { io, out } = context;
  const client = await context.client();
  const target = resolve(folder);
  const signal = io.stopSignal();
  let state = await begin(client, target);
  for (const file of files.slice(state.step)) {
    do {
      const at = state.cursor === null ? {} : { cursor: state.cursor };
      state = await append(target, state, file, await client[file].list({ limit: PAGE, ...at }, { signal }));
    } while (state.cursor !== null);
    out.note(`${file}: ${state.counts[file]}`);
  }
  state = { ...state, completedAt: state.completedAt ?? new Date().toISOString() };
  await save(target, state);
  out.result({ folder: target, counts: state.counts, completedAt: state.completedAt }, () =>
    out.line(`The export is complete: ${target}`),
  );
}

/** @throws {CliError} if the folder has other files, a complete export, or one of another account */
async function begin(client: Client, folder: string): Promise<State> {
  const { account } = await client.auth.me();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await readFile(join(folder, STATE_FILE), 'utf8').catch(ifMissing);
  if (found !== undefined) {
    const state = readState(found, folder);
    if (state.accountId !== account.accountId)
      throw new CliError('failed', `${folder} has an export of another account. Name another folder.`);
    if (state.completedAt !== null)
      throw new CliError('failed', `${folder} has a complete export of ${state.completedAt}. Name another folder.`);
    return state;
  }
  if ((await readdir(folder)).length > 0)
    throw new CliError('failed', `${folder} has files that are not of an export. Name a new folder.`);
  const none = { sessions: 0, messages: 0, chats: 0, contacts: 0, groups: 0 };
  const state: State = {
    format: 1,
    accountId: account.accountId,
    startedAt: new Date().toISOString(),
    step: 0,
    cursor: null,
    bytes: none,
    counts: none,
    completedAt: null,
  };
  await save(folder, state);
  return state;
}

/** Appends a page after what is complete: an interrupted export may have written more. */
async function append(folder: string, state: State, file: File, page: Page): Promise<State> {
  const lines = Buffer.from(page.data.map((entry) => `${jsonLine(entry)}\n`).join(''));
  const at = state.bytes[file];
  const handle = await open(join(folder, `${file}.jsonl`), at === 0 ? 'w' : 'r+', 0o600);
  try {
    await handle.truncate(at);
    for (let written = 0; written < lines.length; )
      written += (await handle.write(lines, written, lines.length - written, at + written)).bytesWritten;
    await handle.sync();
  } finally {
    await handle.close();
  }
  const next: State = {
    ...state,
    step: page.nextCursor === null ? state.step + 1 : state.step,
    cursor: page.nextCursor,
    bytes: { ...state.bytes, [file]: at + lines.length },
    counts: { ...state.counts, [file]: state.counts[file] + page.data.length },
  };
  await save(folder, next);
  return next;
}

async function save(folder: string, state: State): Promise<void> {
  const path = join(folder, STATE_FILE);
  await writeFile(`${path}.partial`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.partial`, path);
}

function readState(text: string, folder: string): State {
  try {
    const state: State = JSON.parse(text);
    if (state.format === 1 && typeof state.step === 'number') return state;
  } catch {
    // The same as a file of another format.
  }
  throw new CliError('failed', `${join(folder, STATE_FILE)} cannot be read. Name another folder.`);
}
