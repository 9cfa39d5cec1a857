import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/* Runs the official conformance suite and reads its results. */

const suite = fileURLToPath(new URL('../../../../node_modules/@modelcontextprotocol/conformance/', import.meta.url));
/** For one scenario. Far more than any takes, so that a slow machine fails none. */
const TIMEOUT_MS = 120_000;

export interface Outcome {
  readonly code: number;
  readonly output: string;
}

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'INFO' | 'FAILURE' | 'WARNING' | 'SKIPPED';
  readonly errorMessage?: string;
}

/** A check that does not succeed. One that is skipped has shown nothing, so it counts as well. */
export interface Missed {
  readonly scenario: string;
  readonly check: string;
  readonly reason: string;
}

export function runNode(program: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, output: stdout + stderr }),
    );
  });
}

/**
 * Runs every scenario of a revision of the protocol against a server, and returns the checks that it misses.
 * @throws if a scenario did not run
 */
export async function missedChecks(url: string, revision: string): Promise<Missed[]> {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-conformance-'));
  try {
    const { output } = await runNode(join(suite, 'dist/index.js'), [
      ...['server', '--url', url],
      ...['--requirements', revision],
      ...['--timeout', String(TIMEOUT_MS)],
      ...['-o', folder],
    ]);
    const folders = readdirSync(folder);
    return scenariosOf(revision).flatMap((scenario) => {
      // The name of a folder ends with the time.
      const own = folders.find((name) => name.startsWith(`server-${scenario}-2`));
      if (own === undefined) throw new Error(`The scenario ${scenario} did not run: ${output.slice(-3000)}`);
      const checks = JSON.parse(readFileSync(join(folder, own, 'checks.json'), 'utf8')) as Check[];
      return checks
        .filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
        .map(({ id, status, errorMessage = status }) => ({ scenario, check: id, reason: errorMessage }));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The scenarios that the suite has for servers of a revision, including those of extensions. */
function scenariosOf(revision: string): string[] {
  const { server, not_scored } = parse(readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8')) as {
    server: string[];
    not_scored: { scenario: string; leg: string }[];
  };
  return [...server, ...not_scored.filter(({ leg }) => leg === 'server').map(({ scenario }) => scenario)];
}
